//! "Did you mean".

/// The candidate that differs from `word` by the fewest typing mistakes, if they are few.
pub(crate) fn did_you_mean(
    word: &str,
    candidates: impl IntoIterator<Item = &'static str>,
) -> Option<&'static str> {
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (distance(&word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len() + 1) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance, a row at a time.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 6] = ["ttl", "every", "after", "heartbeat", "on_lost", "timeout"];

    #[test]
    fn typing_mistakes() {
        for (word, meant) in [
            ("tll", "ttl"),
            ("TTL", "ttl"),
            ("evrey", "every"),
            ("heart_beat", "heartbeat"),
            ("onlost", "on_lost"),
            ("time_out", "timeout"),
        ] {
            assert_eq!(did_you_mean(word, WORDS), Some(meant), "{word}");
        }
    }

    #[test]
    fn other_words() {
        for word in ["x", "lease", "interval", "delay", "period", ""] {
            assert_eq!(did_you_mean(word, WORDS), None, "{word}");
        }
    }
}
