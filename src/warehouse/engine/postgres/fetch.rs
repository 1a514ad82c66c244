//! One statement's rows into a frame: by COPY, which costs half as much a row, or row by row where COPY cannot.

use std::time::Instant;

use futures_util::TryStreamExt;
use sqlx::postgres::{PgConnection, PgStatement};
use sqlx::{AssertSqlSafe, Column, Executor, Row, SqlSafeStr, Statement, TypeInfo, ValueRef};

use super::decode::Codec;
use crate::warehouse::engine::server::{self, Failure};
use crate::warehouse::engine::wire::Reader;
use crate::warehouse::engine::{EngineError, RunLimits};
use crate::warehouse::fetch::{Fetched, TypedFrame, TypedValue};

/// The first bytes of COPY's binary format; flags and the length of an extension, both 4 bytes, come after them.
const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";

/// Runs one statement and keeps the first of its rows, as many as `limits` allow.
pub(super) async fn fetch(connection: &mut PgConnection, sql: &str, limits: &RunLimits) -> Result<Fetched, Failure> {
    let started = Instant::now();
    let text = AssertSqlSafe(sql.to_owned()).into_sql_str();
    // What is prepared is exactly one statement, so it cannot reach out of the parentheses that COPY puts round it.
    let statement = connection.prepare(text).await.map_err(Failure::Server)?;
    let mut codecs = vec![];
    let mut described = vec![];
    for column in statement.columns() {
        let (codec, declared) = (Codec::of(column.type_info()), column.type_info().name().to_lowercase());
        described.push((column.name().to_owned(), declared.clone(), codec.logical(&declared)));
        codecs.push(codec);
    }
    let mut rows = Rows {
        frame: TypedFrame::new(described),
        codecs,
        limits,
    };
    let truncated = match copyable(sql) {
        Some(sql) if !rows.codecs.is_empty() => rows.copy(connection, sql).await?,
        _ => rows.walk(connection, statement).await?,
    };
    let (frame, columns) = rows.frame.finish().map_err(|error| Failure::Own(error.into()))?;
    Ok(Fetched {
        frame,
        columns,
        truncated,
        elapsed: started.elapsed(),
    })
}

/// The statement as it can stand in COPY: a query, and without a semicolon, be it only inside a text.
fn copyable(sql: &str) -> Option<&str> {
    let query = sql.trim_end().trim_end_matches(';');
    (server::is_planned(sql) && !query.contains(';')).then_some(query)
}

/// Rows on their way into a frame.
struct Rows<'l> {
    frame: TypedFrame,
    codecs: Vec<Codec>,
    limits: &'l RunLimits,
}

impl Rows<'_> {
    fn are_enough(&self) -> bool {
        self.frame.rows() >= self.limits.max_rows || self.frame.bytes() >= self.limits.max_bytes
    }

    /// Takes rows one by one; true when there are more than may be kept.
    async fn walk(&mut self, connection: &mut PgConnection, statement: PgStatement) -> Result<bool, Failure> {
        let mut rows = statement.query().fetch(connection);
        while let Some(row) = rows.try_next().await.map_err(|error| self.late(error))? {
            if self.are_enough() {
                return Ok(true);
            }
            let codecs: &[Codec] = &self.codecs;
            let value = |at: usize| {
                let value = row.try_get_raw(at)?;
                Ok(match (value.is_null(), codecs.get(at)) {
                    (false, Some(codec)) => codec.read(value.as_bytes().map_err(sqlx::Error::Decode)?),
                    _ => TypedValue::Null,
                })
            };
            self.frame.push_row(value).map_err(Failure::Server)?;
        }
        Ok(false)
    }

    /// As [`Rows::walk`], from COPY's binary format.
    async fn copy(&mut self, connection: &mut PgConnection, sql: &str) -> Result<bool, Failure> {
        // The line break ends a comment that the statement may end with.
        let copy = format!("COPY (\n{sql}\n) TO STDOUT (FORMAT binary)");
        // Where COPY is refused, sqlx does not read the server's answer to its end.
        let mut messages = connection.copy_out_raw(&copy).await.map_err(Failure::Spoilt)?;
        let mut is_first = true;
        while let Some(message) = messages.try_next().await.map_err(|error| self.late(error))? {
            let mut reader = Reader(&message);
            if is_first {
                skip_header(&mut reader).ok_or_else(torn)?;
                is_first = false;
            }
            // The server sends a row a message; the last one says by a count of -1 that there are no more.
            while let Ok(fields) = usize::try_from(reader.i16().unwrap_or(-1)) {
                if self.are_enough() {
                    return Ok(true);
                }
                if fields != self.codecs.len() {
                    return Err(torn());
                }
                let codecs: &[Codec] = &self.codecs;
                let value = |at: usize| {
                    let bytes = reader.sized().ok_or_else(torn)?;
                    Ok(match (bytes, codecs.get(at)) {
                        (Some(bytes), Some(codec)) => codec.read(bytes),
                        _ => TypedValue::Null,
                    })
                };
                self.frame.push_row(value)?;
            }
        }
        Ok(false)
    }

    fn late(&self, error: sqlx::Error) -> Failure {
        Failure::Late(error, self.frame.rows())
    }
}

fn skip_header(reader: &mut Reader<'_>) -> Option<()> {
    let signature = reader.take(SIGNATURE.len())?;
    reader.i32()?;
    let extension = usize::try_from(reader.i32()?).ok()?;
    reader.take(extension)?;
    (signature == SIGNATURE).then_some(())
}

fn torn() -> Failure {
    Failure::Own(EngineError::Interrupted(
        "the server sent rows that cannot be read".to_owned(),
    ))
}
