//! The final answer: what its first line says about it, and which of two texts is the answer.

use crate::session::event::Outcome;

/// A model's answer, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// `answered`, `clarify` or `abstained`.
    pub outcome: Outcome,
    /// The result that answers the question by itself, where the model named one.
    pub result: Option<String>,
    /// The markdown without its marks.
    pub body: String,
}

impl Answer {
    /// Reads the marks on the first lines: `<!-- outcome: abstained -->`, `<!-- outcome: clarify -->`, `<!-- answer: q1 -->`.
    ///
    /// Other comments stay in the body.
    pub fn read(text: &str) -> Self {
        let mut answer = Self {
            outcome: Outcome::Answered,
            result: None,
            body: String::new(),
        };
        let mut rest = text.trim_start();
        while let Some((mark, after)) = rest.strip_prefix("<!--").and_then(|r| r.split_once("-->")) {
            let fields: Vec<_> = mark.split([';', ',']).filter_map(|f| f.split_once(':')).collect();
            let mut known = false;
            for (name, value) in fields {
                match (name.trim(), value.trim()) {
                    ("outcome", "abstained" | "abstain") => answer.outcome = Outcome::Abstained,
                    ("outcome", "clarify") => answer.outcome = Outcome::Clarify,
                    ("outcome", "answered") => answer.outcome = Outcome::Answered,
                    ("answer", id) => answer.result = Some(id.trim_matches(['[', ']']).to_owned()),
                    _ => continue,
                }
                known = true;
            }
            if !known {
                break;
            }
            rest = after.trim_start();
        }
        rest.trim_end().clone_into(&mut answer.body);
        answer
    }

    /// The lines of the body's lists: the readings that a question back offers.
    pub fn list_items(&self) -> Vec<String> {
        let item = |line: &str| {
            let line = line.trim();
            let numbered = line
                .split_once(['.', ')', '、'])
                .filter(|(n, _)| n.parse::<u8>().is_ok())
                .map(|(_, text)| text);
            numbered
                .or_else(|| line.strip_prefix(['-', '*', '•']))
                .map(|text| text.trim().to_owned())
        };
        self.body
            .lines()
            .filter_map(item)
            .filter(|text| !text.is_empty())
            .collect()
    }
}

/// Which text is the answer when a model answered, was asked to tidy up, and then said something else?
///
/// "All done." must not replace a report: the later text wins only when it says more than that.
pub fn choose(earlier: Option<String>, later: String) -> String {
    let Some(earlier) = earlier else { return later };
    let words = later.trim().trim_matches(['`', '*', '.', '"']);
    let keeps = words.is_empty() || words.eq_ignore_ascii_case("unchanged");
    let loses_sources = cites(&earlier) && !cites(&later);
    if keeps || loses_sources { earlier } else { later }
}

/// Does the text cite a result, as in `[q1]`?
pub fn cites(text: &str) -> bool {
    text.split('[')
        .skip(1)
        .filter_map(|rest| rest.split_once(']'))
        .any(|(id, _)| {
            let mut letters = id.chars();
            let prefix = letters.next().is_some_and(|c| matches!(c, 'q' | 'm' | 'c'));
            prefix && !letters.as_str().is_empty() && letters.as_str().chars().all(|c| c.is_ascii_digit())
        })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Sales were 5 [q1].", Outcome::Answered, None, "Sales were 5 [q1].")]
    #[case("<!-- answer: q1 -->\n# Sales\n", Outcome::Answered, Some("q1"), "# Sales")]
    #[case(
        "\n<!-- outcome: abstained -->\n\nNo such table.",
        Outcome::Abstained,
        None,
        "No such table."
    )]
    #[case(
        "<!--outcome:clarify-->\n<!-- answer: [q2] -->Which year?",
        Outcome::Clarify,
        Some("q2"),
        "Which year?"
    )]
    #[case("<!-- outcome: answered; answer: q3 -->\nx", Outcome::Answered, Some("q3"), "x")]
    #[case("<!-- a note -->\nx", Outcome::Answered, None, "<!-- a note -->\nx")]
    #[case(
        "text\n<!-- outcome: abstained -->",
        Outcome::Answered,
        None,
        "text\n<!-- outcome: abstained -->"
    )]
    fn marks_on_the_first_lines_are_read_and_stripped(
        #[case] text: &str,
        #[case] outcome: Outcome,
        #[case] result: Option<&str>,
        #[case] body: &str,
    ) {
        let answer = Answer::read(text);
        assert_eq!(
            (answer.outcome, answer.result.as_deref(), answer.body.as_str()),
            (outcome, result, body)
        );
    }

    #[test]
    fn readings_are_the_items_of_the_list() {
        let answer = Answer::read("Which do you mean?\n\n1. net sales\n2) gross sales\n- orders\n2005 was good.\n");
        assert_eq!(answer.list_items(), ["net sales", "gross sales", "orders"]);
    }

    #[rstest]
    #[case(None, "new", "new")]
    #[case(Some("report [q1]"), "UNCHANGED", "report [q1]")]
    #[case(Some("report [q1]"), " ", "report [q1]")]
    #[case(Some("report [q1]"), "All steps are completed.", "report [q1]")]
    #[case(Some("report [q1]"), "better report [q1][q2]", "better report [q1][q2]")]
    #[case(Some("no source"), "also none", "also none")]
    fn an_afterthought_does_not_replace_a_report(
        #[case] earlier: Option<&str>,
        #[case] later: &str,
        #[case] chosen: &str,
    ) {
        assert_eq!(choose(earlier.map(str::to_owned), later.to_owned()), chosen);
    }
}
