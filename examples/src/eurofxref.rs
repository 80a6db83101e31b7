//! Reads the European Central Bank's files of daily exchange rates against the euro:
//! `eurofxref.csv` (one day, dates like `02 January 2025`) and `eurofxref-hist.csv` (many days, dates
//! like `2025-01-02`). `N/A` is a day without a rate of this currency.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use jiff::civil::Date;

/// One unit of the euro in one currency on one day.
#[derive(Debug, Clone, PartialEq)]
pub struct Rate {
    /// The day.
    pub day: Date,
    /// Three capital letters.
    pub currency: String,
    /// More than 0.
    pub rate: f64,
}

/// What is wrong with a file, and where.
#[derive(Debug, PartialEq)]
pub struct Mistake {
    file: PathBuf,
    /// Line and column, counted from 1 in characters; `None` if it is the whole file.
    place: Option<(usize, usize)>,
    problem: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for Mistake {}

/// A field of a line, trimmed, with the column at which it begins.
type Field<'a> = (usize, &'a str);

/// Reads a whole file, or nothing of it.
///
/// # Errors
///
/// The file cannot be read, or the first [`Mistake`] in it.
pub fn read(file: &Path) -> Result<Vec<Rate>, Mistake> {
    let mistake = |place, problem| Mistake {
        file: file.to_owned(),
        place,
        problem,
    };
    let text = std::fs::read_to_string(file)
        .map_err(|error| mistake(None, format!("cannot be read: {error}")))?;
    parse(&text).map_err(|(line, column, problem)| mistake(Some((line, column)), problem))
}

type At = (usize, usize, String);

fn parse(text: &str) -> Result<Vec<Rate>, At> {
    let mut lines = text
        .lines()
        .zip(1..)
        .filter(|(line, _)| !line.trim().is_empty())
        .map(|(line, number)| (number, fields(line)));
    let (number, header) = lines.next().ok_or((1, 1, "the file is empty".to_owned()))?;
    let currencies = currencies(&header).map_err(|(column, what)| (number, column, what))?;
    let mut rates = Vec::new();
    let mut days = HashSet::new();
    for (number, fields) in lines {
        let at = |(column, problem)| (number, column, problem);
        let (day, values) = row(&fields, currencies.len()).map_err(at)?;
        if !days.insert(day) {
            return Err(at((1, format!("{day} has a line above already"))));
        }
        for (currency, field) in currencies.iter().zip(values) {
            rates.extend(rate(day, currency, *field).map_err(at)?);
        }
    }
    Ok(rates)
}

/// The fields of a line. The bank ends each line with a comma, which begins no field.
fn fields(line: &str) -> Vec<Field<'_>> {
    let mut column = 1;
    let mut fields: Vec<Field<'_>> = line
        .split(',')
        .map(|field| {
            let blanks = field
                .chars()
                .take_while(|char| char.is_whitespace())
                .count();
            let start = column + blanks;
            column += field.chars().count() + 1;
            (start, field.trim())
        })
        .collect();
    fields.pop_if(|(_, field)| field.is_empty());
    fields
}

fn currencies<'a>(header: &[Field<'a>]) -> Result<Vec<&'a str>, (usize, String)> {
    let Some(((column, "Date"), currencies)) = header.split_first() else {
        let column = header.first().map_or(1, |(column, _)| *column);
        return Err((column, "the header does not begin with \"Date\"".into()));
    };
    if currencies.is_empty() {
        return Err((*column, "the header names no currency".into()));
    }
    let mut seen = HashSet::new();
    for (column, code) in currencies {
        if code.len() != 3 || !code.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err((*column, format!("{code:?} is not a currency's code")));
        }
        if !seen.insert(code) {
            return Err((*column, format!("{code} is named twice")));
        }
    }
    Ok(currencies.iter().map(|(_, code)| *code).collect())
}

/// The day, and as many values as there are currencies.
fn row<'a, 'b>(
    fields: &'b [Field<'a>],
    currencies: usize,
) -> Result<(Date, &'b [Field<'a>]), (usize, String)> {
    let Some(((column, date), values)) = fields.split_first() else {
        return Err((1, "there is no date".into()));
    };
    let day = date
        .parse()
        .or_else(|_| Date::strptime("%d %B %Y", date))
        .map_err(|_| (*column, format!("{date:?} is not a date")))?;
    if values.len() != currencies {
        let (column, _) = *values
            .get(currencies)
            .or(values.last())
            .unwrap_or(&fields[0]);
        let problem = format!(
            "the header has {currencies} currencies, this line {} rates",
            values.len()
        );
        return Err((column, problem));
    }
    Ok((day, values))
}

fn rate(
    day: Date,
    currency: &str,
    (column, field): Field<'_>,
) -> Result<Option<Rate>, (usize, String)> {
    if field == "N/A" {
        return Ok(None);
    }
    match field.parse::<f64>() {
        // Rust reads "inf" and "NaN" too.
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(Some(Rate {
            day,
            currency: currency.to_owned(),
            rate,
        })),
        _ => Err((column, format!("{field:?} is not a rate of {currency}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> (usize, usize, String) {
        match parse(text) {
            Ok(rates) => panic!("accepted: {rates:?}"),
            Err(at) => at,
        }
    }

    #[test]
    fn both_of_the_banks_files_are_read() {
        let rate = |currency: &str, rate| Rate {
            day: jiff::civil::date(2025, 1, 2),
            currency: currency.into(),
            rate,
        };
        let rates = vec![rate("USD", 1.25), rate("JPY", 160.5)];
        let daily = "Date, USD, JPY, \n02 January 2025, 1.25, 160.5, \n";
        let historical = "Date,USD,BGN,JPY,\r\n2025-01-02,1.25,N/A,160.5,\r\n\r\n";
        assert_eq!(parse(daily), Ok(rates.clone()));
        assert_eq!(parse(historical), Ok(rates));
    }

    #[test]
    fn mistakes_are_found_where_they_are() {
        for (text, line, column, problem_part) in [
            ("", 1, 1, "empty"),
            ("Day, USD, ", 1, 1, "\"Date\""),
            ("Date, ", 1, 1, "no currency"),
            ("Date, USD, dollar, ", 1, 12, "\"dollar\""),
            ("Date, USD, USD, ", 1, 12, "twice"),
            ("Date, USD, \n\n30 February 2025, 1.2, ", 3, 1, "date"),
            (
                "Date, USD, \n2025-01-02, 1.2x, ",
                2,
                13,
                "\"1.2x\" is not a rate of USD",
            ),
            ("Date, USD, \n2025-01-02, NaN, ", 2, 13, "\"NaN\""),
            ("Date, USD, \n2025-01-02, -1.2, ", 2, 13, "\"-1.2\""),
            ("Date, USD, JPY, \n2025-01-02, , 160, ", 2, 13, "\"\""),
            (
                "Date, USD, JPY, \n2025-01-02, 1.2, ",
                2,
                13,
                "2 currencies, this line 1",
            ),
            (
                "Date, USD, \n2025-01-02, 1.2, 160, ",
                2,
                18,
                "1 currencies, this line 2",
            ),
            (
                "Date, USD, \n2025-01-02, 1.2\n02 January 2025, 1.3",
                3,
                1,
                "above",
            ),
        ] {
            let at = problem(text);
            assert_eq!((at.0, at.1), (line, column), "{text:?}: {}", at.2);
            assert!(at.2.contains(problem_part), "{text:?}: {}", at.2);
        }
    }
}
