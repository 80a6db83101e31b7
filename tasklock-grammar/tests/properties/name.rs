//! Names: accepted exactly if all of the documented rules hold.

use proptest::prelude::*;
use tasklock_grammar::{MAX_NAME_BYTES, check_name};

fn plainly(name: &str) -> bool {
    let ends = [name.chars().next(), name.chars().next_back()];
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && ends.into_iter().flatten().all(|c| !c.is_whitespace())
        && !name.chars().any(char::is_control)
}

/// Texts of one to four bytes a character, around the longest length; some with what a name must not
/// have.
fn nearly() -> impl Strategy<Value = String> {
    let letter = prop::sample::select(vec!['x', 'ö', '日', '👩', '\u{301}']);
    let odd = prop::sample::select(vec![
        ' ', '\t', '\n', '\0', '\u{7f}', '\u{85}', '\u{a0}', '\u{2028}', '\u{3000}', '\u{feff}',
        '\u{202e}', '\u{200b}',
    ]);
    let fill = (letter.clone(), 0_usize..=MAX_NAME_BYTES + 4)
        .prop_map(|(letter, bytes)| letter.to_string().repeat(bytes / letter.len_utf8()));
    let exact = (letter, 0_usize..=4).prop_map(|(letter, less)| {
        let bytes = MAX_NAME_BYTES + 2 - less;
        let mut name = letter.to_string().repeat(bytes / letter.len_utf8());
        name.extend(std::iter::repeat_n('x', bytes - name.len()));
        name
    });
    let with_odd = (fill.clone(), odd, any::<prop::sample::Index>()).prop_map(|(name, odd, at)| {
        let mut chars: Vec<char> = name.chars().collect();
        chars.insert(at.index(chars.len() + 1), odd);
        chars.into_iter().collect()
    });
    prop_oneof![fill, exact, with_odd]
}

proptest! {
    #![proptest_config(super::cases(2_000))]

    #[test]
    fn a_name_is_accepted_exactly_if_the_rules_hold(
        name in prop_oneof![3 => nearly(), 1 => any::<String>()],
    ) {
        let checked = check_name(&name);
        prop_assert_eq!(checked.is_ok(), plainly(&name), "{:?}", name);
        let Err(error) = checked else {
            return Ok(());
        };
        prop_assert!(!error.message().contains(char::is_control), "{error:?}");
        if error.message().contains("at most") {
            prop_assert!(error.message().contains(&name.len().to_string()), "{error:?}");
        }
    }
}
