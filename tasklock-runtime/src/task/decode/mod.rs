//! Payloads, from JSON, and what is wrong with one, told without showing it.
//!
//! A payload is never logged, and the errors of serde quote what they found. So a payload that does not
//! fit is read a second time, by a deserialiser ([`tracked`]) that keeps what is in the *program* alone:
//! what the type expects, the names of its fields and variants, and the place. What is in the *payload*
//! (values, the keys of maps, names that are unknown, the texts of a type's own errors) has no way in.

mod tracked;
mod variant;

use std::cell::{Cell, RefCell};
use std::fmt::{self, Display};
use std::marker::PhantomData;

use serde::de::{self, DeserializeOwned, DeserializeSeed, Expected, Unexpected};
use serde_json::error::Category;

use super::text::{Text, bounded};
use tracked::Seed;

/// The value of a payload; no payload is JSON's `null`. Or what is wrong with it.
pub(crate) fn decode<T: DeserializeOwned>(payload: Option<&str>) -> Result<T, String> {
    let json = payload.unwrap_or("null");
    serde_json::from_str(json).map_err(|error| {
        let what = match error.classify() {
            Category::Data => explain::<T>(json),
            _ => Explained {
                place: String::new(),
                mistake: "not valid JSON".to_owned(),
            },
        };
        let message = match payload {
            None => format!("the job has no payload: {}", what.mistake),
            Some(_) => format!(
                "the payload does not fit{} (line {}, column {}): {}",
                what.place,
                error.line(),
                error.column(),
                what.mistake
            ),
        };
        bounded(&message).to_owned()
    })
}

struct Explained {
    place: String,
    mistake: String,
}

fn explain<T: DeserializeOwned>(json: &str) -> Explained {
    let trail = Trail::default();
    let mut json = serde_json::Deserializer::from_str(json);
    // What it answers says no more than the trail does.
    let _ = Seed::new(PhantomData::<T>, &trail).deserialize(&mut json);
    Explained {
        place: trail.place(),
        mistake: trail.mistake(),
    }
}

/// What is known of a mistake on the way out to where the reading began.
#[derive(Default)]
struct Trail {
    /// The innermost first.
    steps: RefCell<Vec<Step>>,
    mistake: RefCell<Option<Mistake>>,
    /// What a value was to be, where the JSON's reader has refused it by itself.
    expected: RefCell<Option<String>>,
    /// The field or variant that was read last, where the type has it.
    name: Cell<Option<&'static str>>,
}

/// From a value to one inside it.
enum Step {
    /// A field or a variant.
    Name(&'static str),
    /// Of a map, by a key, which is the payload's.
    Key,
    /// Of a sequence.
    Index(usize),
}

impl Trail {
    fn place(&self) -> String {
        let mut place = String::new();
        for step in self.steps.borrow().iter().rev() {
            match step {
                Step::Name(name) if place.is_empty() => place.push_str(name),
                Step::Name(name) => place.extend([".", name]),
                Step::Key if place.is_empty() => place.push('*'),
                Step::Key => place.push_str(".*"),
                Step::Index(index) => place.push_str(&format!("[{index}]")),
            }
        }
        if place.is_empty() {
            place
        } else {
            format!(" at `{place}`")
        }
    }

    fn mistake(&self) -> String {
        self.taken().0
    }

    fn taken(&self) -> Mistake {
        let told = self.mistake.take();
        let expected = self.expected.take();
        told.or_else(|| expected.map(Mistake::expected))
            .unwrap_or_else(|| de::Error::custom(""))
    }

    /// From the JSON reader's error to ours.
    fn up<T, E>(&self, result: Result<T, E>) -> Result<T, Mistake> {
        result.map_err(|_| self.taken())
    }

    /// From our error to the JSON reader's, which carries nothing.
    fn down<T, E: de::Error>(&self, result: Result<T, Mistake>) -> Result<T, E> {
        result.map_err(|mistake| {
            self.mistake.replace(Some(mistake));
            E::custom("")
        })
    }

    fn step<T, E>(&self, result: Result<T, E>, step: Step) -> Result<T, E> {
        result.inspect_err(|_| self.steps.borrow_mut().push(step))
    }
}

/// What a type expects, and nothing of what it found.
#[derive(Debug)]
struct Mistake(String);

impl Mistake {
    fn expected(what: impl Display) -> Self {
        Self(format!("expected {}", Text::of(what).into_string()))
    }

    fn one_of(names: &'static [&'static str]) -> Self {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        match names.as_slice() {
            [] => Self("expected nothing".to_owned()),
            [one] => Self::expected(one),
            several => Self(format!("expected one of {}", several.join(", "))),
        }
    }
}

impl Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Mistake {}

impl de::Error for Mistake {
    /// The text may quote the payload.
    fn custom<T: Display>(_: T) -> Self {
        Self("the value is refused by its type".to_owned())
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::expected(expected)
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::expected(expected)
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> Self {
        Self::expected(expected)
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::one_of(expected)
    }

    fn unknown_field(_: &str, expected: &'static [&'static str]) -> Self {
        Self(format!("unknown field, {}", Self::one_of(expected)))
    }

    fn missing_field(field: &'static str) -> Self {
        Self(format!("missing field `{field}`"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self(format!("duplicate field `{field}`"))
    }
}

#[cfg(test)]
mod tests;
