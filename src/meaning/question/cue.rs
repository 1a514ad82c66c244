//! Function words: what a question does with the things that it names.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::meaning::query::Comparison;
use crate::meaning::question::Intent;
use crate::meaning::question::token::{self, Kind, Token};
use crate::meaning::semantic::Aggregate;

/// What a function word or phrase says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cue {
    List,
    Which,
    Who,
    When,
    Count,
    HowMuch,
    Aggregate(Aggregate),
    /// The end of a ranking, by something named elsewhere or by what the word itself speaks of.
    Superlative {
        descending: bool,
        quality: Quality,
    },
    /// "Most common": by number of rows.
    Frequent {
        descending: bool,
    },
    Group,
    Ranked,
    Direction {
        descending: bool,
    },
    Compare(Comparison),
    Between,
    Not,
    Except,
    Without,
    With,
    Whose,
    /// "All the information": every column.
    Everything,
    /// "Their": back to what is shown.
    Their,
    That,
    Of,
    In,
    Outside,
    And,
    Or,
    Both,
    But,
    Distinct,
    Contains,
    Starts,
    Ends,
    Empty,
    AgainstAverage {
        above: bool,
    },
    Intent(Intent),
    Advise,
    /// "Missed", "reached": a target.
    Target {
        reached: bool,
    },
    Filler,
}

/// What a superlative measures by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quality {
    /// Nothing: "most", "highest".
    Any,
    /// "Oldest", "youngest": an age, or a date of birth the other way round.
    Age,
    /// "Earliest", "latest": a date or year.
    Time,
    /// "Longest", "shortest": a length or duration.
    Length,
    /// "Most expensive", "cheapest": a price or cost.
    Price,
    Weight,
    Height,
    /// "Busiest": how much happens.
    Activity,
}

impl Quality {
    /// Words of fields that have this quality.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Quality::Any | Quality::Activity => &[],
            Quality::Age => &["age"],
            Quality::Time => &["date", "year", "time", "day"],
            Quality::Length => &["length", "duration", "distance", "runtime", "minutes"],
            Quality::Price => &["price", "cost", "fee", "rate", "amount"],
            Quality::Weight => &["weight"],
            Quality::Height => &["height"],
        }
    }
}

fn cue(name: &str) -> Option<Cue> {
    let superlative = |descending, quality| Cue::Superlative { descending, quality };
    Some(match name {
        "list" => Cue::List,
        "which" => Cue::Which,
        "who" => Cue::Who,
        "when" => Cue::When,
        "count" => Cue::Count,
        "how_much" => Cue::HowMuch,
        "sum" => Cue::Aggregate(Aggregate::Sum),
        "average" => Cue::Aggregate(Aggregate::Avg),
        "maximum" => Cue::Aggregate(Aggregate::Max),
        "minimum" => Cue::Aggregate(Aggregate::Min),
        "most" => superlative(true, Quality::Any),
        "least" => superlative(false, Quality::Any),
        "most_common" => Cue::Frequent { descending: true },
        "least_common" => Cue::Frequent { descending: false },
        "oldest" => superlative(true, Quality::Age),
        "youngest" => superlative(false, Quality::Age),
        "earliest" => superlative(false, Quality::Time),
        "latest" => superlative(true, Quality::Time),
        "longest" => superlative(true, Quality::Length),
        "shortest" => superlative(false, Quality::Length),
        "priciest" => superlative(true, Quality::Price),
        "cheapest" => superlative(false, Quality::Price),
        "heaviest" => superlative(true, Quality::Weight),
        "lightest" => superlative(false, Quality::Weight),
        "tallest" => superlative(true, Quality::Height),
        "busiest" => superlative(true, Quality::Activity),
        "group" => Cue::Group,
        "ranked" => Cue::Ranked,
        "ascending" => Cue::Direction { descending: false },
        "descending" => Cue::Direction { descending: true },
        "more" => Cue::Compare(Comparison::Greater),
        "at_least" => Cue::Compare(Comparison::AtLeast),
        "less" => Cue::Compare(Comparison::Less),
        "at_most" => Cue::Compare(Comparison::AtMost),
        "equal" => Cue::Compare(Comparison::Equal),
        "not_equal" => Cue::Compare(Comparison::NotEqual),
        "between" => Cue::Between,
        "not" => Cue::Not,
        "except" => Cue::Except,
        "without" => Cue::Without,
        "with" => Cue::With,
        "whose" => Cue::Whose,
        "everything" => Cue::Everything,
        "their" => Cue::Their,
        "that" => Cue::That,
        "of" => Cue::Of,
        "in" => Cue::In,
        "outside" => Cue::Outside,
        "and" => Cue::And,
        "or" => Cue::Or,
        "both" => Cue::Both,
        "but" => Cue::But,
        "distinct" => Cue::Distinct,
        "contains" => Cue::Contains,
        "starts" => Cue::Starts,
        "ends" => Cue::Ends,
        "empty" => Cue::Empty,
        "above_average" => Cue::AgainstAverage { above: true },
        "below_average" => Cue::AgainstAverage { above: false },
        "trend" => Cue::Intent(Intent::Trend),
        "compare" => Cue::Intent(Intent::Compare),
        "share" => Cue::Intent(Intent::Share),
        "growth" => Cue::Intent(Intent::Growth),
        "distribution" => Cue::Intent(Intent::Distribution),
        "outliers" => Cue::Intent(Intent::Outliers),
        "relation" => Cue::Intent(Intent::Relation),
        "why" => Cue::Intent(Intent::Why),
        "report" => Cue::Intent(Intent::Report),
        "rank" => Cue::Intent(Intent::Rank),
        "advise" => Cue::Advise,
        "missed" => Cue::Target { reached: false },
        "reached" => Cue::Target { reached: true },
        "filler" => Cue::Filler,
        _ => return None,
    })
}

/// One wording of a cue, as tokens' texts.
struct Wording {
    words: Vec<String>,
    cue: Cue,
}

/// First word → wordings that begin with it.
static WORDINGS: LazyLock<HashMap<String, Vec<Wording>>> = LazyLock::new(|| {
    let mut table: HashMap<String, Vec<Wording>> = HashMap::new();
    for line in include_str!("cues.tsv").lines().filter(|line| !line.starts_with('#')) {
        let Some((name, wordings)) = line.split_once('\t') else {
            continue;
        };
        let Some(cue) = cue(name) else { continue };
        for wording in wordings.split('|') {
            let words: Vec<String> = token::tokens(wording).into_iter().map(|token| token.text).collect();
            let Some(first) = words.first().cloned() else { continue };
            table.entry(first).or_default().push(Wording { words, cue });
        }
    }
    table
});

/// The cues whose wording begins at token `at`, with the index after their last token.
pub fn cues_at(tokens: &[Token], at: usize) -> Vec<(Cue, usize)> {
    let Some(first) = tokens.get(at).filter(|token| token.kind != Kind::Quoted) else {
        return Vec::new();
    };
    let wordings = WORDINGS.get(&first.text).map_or(&[][..], Vec::as_slice);
    wordings
        .iter()
        .filter(|wording| {
            wording.words.iter().enumerate().all(|(offset, word)| {
                tokens
                    .get(at + offset)
                    .is_some_and(|token| token.text == *word && token.kind != Kind::Quoted)
            })
        })
        .map(|wording| (wording.cue, at + wording.words.len()))
        .collect()
}

/// Is the word one that a question may hold without naming anything?
pub fn is_function_word(word: &str) -> bool {
    WORDINGS
        .get(word)
        .is_some_and(|wordings| wordings.iter().any(|wording| wording.words.len() == 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[test]
    fn every_line_of_the_table_names_a_cue() {
        let names = include_str!("cues.tsv").lines().filter(|line| !line.starts_with('#'));
        for line in names {
            let (name, _) = line.split_once('\t').unwrap();
            assert!(cue(name).is_some(), "{name}");
        }
    }

    #[rstest]
    #[case("at least 5", Cue::Compare(Comparison::AtLeast), 2)]
    #[case("最多的员工", Cue::Superlative { descending: true, quality: Quality::Any }, 2)]
    #[case("most expensive product", Cue::Superlative { descending: true, quality: Quality::Price }, 2)]
    #[case("how many orders", Cue::Count, 2)]
    fn the_longest_wording_is_among_those_found(#[case] text: &str, #[case] expected: Cue, #[case] length: usize) {
        let found = cues_at(&token::tokens(text), 0);
        let longest = found.iter().max_by_key(|(_, end)| *end).unwrap();
        assert_eq!(*longest, (expected, length));
    }
}
