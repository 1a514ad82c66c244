//! Chinese names of countries, large cities and languages, for databases that hold them in English.

use std::collections::HashMap;
use std::sync::LazyLock;

static EXONYMS: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    include_str!("exonyms.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('\t'))
        .map(|(name, spellings)| (name, spellings.split('|').collect()))
        .collect()
});

/// How databases spell what a Chinese name stands for.
pub fn spellings(name: &str) -> &'static [&'static str] {
    EXONYMS.get(name).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_country_is_known_by_all_its_spellings() {
        assert_eq!(spellings("印度"), ["India"]);
        assert!(spellings("美国").contains(&"USA"));
        assert!(spellings("不是国家").is_empty());
    }
}
