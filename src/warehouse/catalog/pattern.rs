//! Names in which `*` stands for any letters and `?` for one.

/// Does `name` fit `pattern`? Both are compared as they are spelt.
pub(crate) fn fits_pattern(pattern: &str, name: &str) -> bool {
    matches(&pattern.chars().collect::<Vec<_>>(), &name.chars().collect::<Vec<_>>())
}

fn matches(pattern: &[char], name: &[char]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        (['*', rest @ ..], _) => {
            matches(rest, name) || name.split_first().is_some_and(|(_, left)| matches(pattern, left))
        }
        (['?', rest @ ..], [_, left @ ..]) => matches(rest, left),
        ([one, rest @ ..], [other, left @ ..]) => one == other && matches(rest, left),
        _ => false,
    }
}
