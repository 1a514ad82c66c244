//! What the analyst says when it does not answer: what it understood, what it did not, and what it could.

use crate::builtin::show;
use crate::insight::report::escape;
use crate::meaning::question::{NotRead, Reading, Span};
use crate::text::Language;

/// The question was not read: nothing is guessed.
pub fn abstain(not_read: &NotRead) -> String {
    let language = not_read.language;
    let mut out = format!("<!-- outcome: abstained -->\n{}", not_read.reason);
    if !not_read.understood.is_empty() {
        let heading = language.pick("What was understood:", "已理解的部分：");
        out.push_str(&format!("\n\n{heading}\n\n{}", spans(&not_read.understood)));
    }
    if !not_read.near.is_empty() {
        let heading = language.pick("Names that are spelled alike:", "拼写相近的名称：");
        let names: Vec<String> = not_read.near.iter().map(|name| escape::cell(name)).collect();
        out.push_str(&format!("\n\n{heading} {}", show::list(&names, language)));
    }
    if !not_read.suggestions.is_empty() {
        let heading = language.pick("Questions that this database can answer:", "此数据库可以回答的问题：");
        let lines: Vec<String> = not_read
            .suggestions
            .iter()
            .map(|question| format!("- {question}"))
            .collect();
        out.push_str(&format!("\n\n{heading}\n\n{}", lines.join("\n")));
    }
    out
}

/// Two readings fit: which one is meant?
pub fn clarify(first: &Reading, second: &Reading) -> String {
    let language = first.language;
    let question = language.pick(
        "The question can be read in two ways. Which one is meant?",
        "问题有两种理解，请确认是哪一种：",
    );
    format!(
        "<!-- outcome: clarify -->\n{question}\n\n1. {}\n2. {}",
        in_words(first),
        in_words(second)
    )
}

/// One reading, and it is not sure enough to be answered where one may abstain.
pub fn unsure(reading: &Reading) -> String {
    let language = reading.language;
    let text = language.pick(
        "The question was read as follows, but not surely enough to answer it. Is this what is meant?",
        "问题的理解如下，但把握不足，因此没有作答。请确认是否是这个意思：",
    );
    format!("<!-- outcome: clarify -->\n{text}\n\n1. {}", in_words(reading))
}

/// The reading that was not taken, for the notes.
pub fn also(taken: &Reading, other: &Reading) -> String {
    match taken.language {
        Language::English => format!("The question can also be read so: {}", in_words(other)),
        Language::Chinese => format!("问题也可以这样理解：{}", in_words(other)),
    }
}

/// A reading as the list of what its words were taken to mean.
pub fn in_words(reading: &Reading) -> String {
    let parts: Vec<String> = reading
        .spans
        .iter()
        .map(|span| format!("“{}” → {}", escape::cell(&span.text), escape::cell(&span.means)))
        .collect();
    parts.join("; ")
}

fn spans(spans: &[Span]) -> String {
    let lines: Vec<String> = spans
        .iter()
        .map(|span| format!("- “{}” → {}", escape::cell(&span.text), escape::cell(&span.means)))
        .collect();
    lines.join("\n")
}

/// A tool failed where the answer cannot do without it.
pub fn failed(language: Language, reason: &str) -> String {
    match language {
        Language::English => format!("<!-- outcome: failed -->\nThe question could not be answered: {reason}"),
        Language::Chinese => format!("<!-- outcome: failed -->\n无法回答该问题：{reason}"),
    }
}
