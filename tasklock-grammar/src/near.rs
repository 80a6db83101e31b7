//! Names that are nearly another.

/// The nearest of these names, if it is near: one slip in four letters, three in all. Short words may have one, from three
/// letters on.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = wanted.chars().count();
    let most = (letters / 4).clamp(usize::from(letters > 2), 3);
    names
        .into_iter()
        .map(|name| (distance(wanted, name, most), name))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// How many letters to add, take away or replace to make one text of the other; more than `most` if it is
/// more.
pub(crate) fn distance(one: &str, other: &str, most: usize) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > most {
        return most + 1;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for column in 0..other.len() {
            let replaced = diagonal + usize::from(*letter != other[column]);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_is_found_if_it_is_near() {
        let names = ["every", "after", "cron", "off"];
        for (wanted, found) in [
            ("evry", Some("every")),
            ("crn", Some("cron")),
            ("off", Some("off")),
            ("of", None),
            ("hourly", None),
            ("", None),
        ] {
            assert_eq!(nearest(wanted, names), found, "{wanted}");
        }
    }
}
