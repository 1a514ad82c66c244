//! The built-in analyst without its report: reading, query, checked SQL.

use crate::jobs::database::Database;
use crate::jobs::eval::Given;
use crate::meaning::query::compile;
use crate::meaning::question::{OnAmbiguity, Outcome, Reader, may_answer};
use crate::time::TimeContext;
use crate::warehouse::sql;

/// Reads `question` and compiles the best reading; abstains where `on_ambiguity` says so.
pub fn answer(
    database: &Database,
    reader: &Reader<'_>,
    question: &str,
    time: &TimeContext,
    on_ambiguity: OnAmbiguity,
) -> Given {
    let outcome = reader.read(question, time);
    let (readings, ambiguous) = match outcome {
        Outcome::NotRead(not_read) => {
            return Given {
                problem: Some(not_read.reason),
                ..Given::default()
            };
        }
        Outcome::Read { readings, ambiguous } => (readings, ambiguous),
    };
    let Some(reading) = readings.into_iter().next() else {
        return Given::default();
    };
    let given = Given {
        confidence: Some(reading.score),
        signals: Some(reading.signals.clone()),
        ..Given::default()
    };
    if !may_answer(on_ambiguity, &reading, ambiguous) {
        return Given {
            signals: None,
            problem: Some("not sure enough".to_owned()),
            ..given
        };
    }
    let query = reading.exact.as_ref().unwrap_or(&reading.query);
    let dialect = database.engine.dialect();
    let compiled = compile(query, &database.model, &database.catalog, dialect).map_err(|error| error.to_string());
    let sql = compiled.and_then(|compiled| {
        let checked = sql::check(&compiled.sql, dialect, Some(&database.catalog));
        checked.map(|_| compiled.sql).map_err(|refusal| refusal.to_string())
    });
    match sql {
        Ok(sql) => Given {
            sql: Some(sql),
            ..given
        },
        Err(problem) => Given {
            problem: Some(problem),
            ..given
        },
    }
}
