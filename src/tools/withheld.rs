//! What a model is told in place of values that it may not see.

use crate::config::Share;

/// In place of the rows of `id`.
pub(super) fn rows(share: Share, id: &str) -> String {
    let why = match share {
        Share::Aggregates => "they are no aggregates, and you are shown aggregated rows only",
        Share::Schema | Share::Samples => "you are shown no values",
    };
    format!(
        "the rows are kept and not shown to you: {why} (share = {}). Compute with metric_compute and chart by id; [{id}] on a \
         line of its own puts the rows into the report",
        share.as_str()
    )
}

/// In place of the database's own words.
pub(super) fn words(share: Share) -> String {
    format!(
        "the database did not run the statement to its end; its words may quote values, which you are not shown (share = {}). \
         Check functions, casts and the types of what is compared with sql_validate and schema_probe",
        share.as_str()
    )
}

/// In place of what `tool` says about the values of `source`.
pub(super) fn advice(share: Share, tool: &str, source: &str, columns: &[String]) -> String {
    format!(
        "{tool}: the arguments do not fit the values of {source}, which you are not shown (share = {}); its columns are {}",
        share.as_str(),
        columns.join(", ")
    )
}
