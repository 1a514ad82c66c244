//! CSV and its kin: delimiter and types are found by reading the file, and nothing in it is lost.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use csv::{ByteRecord, Reader, ReaderBuilder};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, params_from_iter};

use super::{NewColumn, create, extension};
use crate::warehouse::fetch::{Look, look_of, unique_name};

const DELIMITERS: &[u8] = b",;\t|";

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Digits that a 64-bit float keeps; numbers with more stay text.
const FLOAT_DIGITS: usize = 15;

/// Reads `file` into a new table. The first line names the columns; empty fields are NULL.
///
/// The error is the reason in words, with the line where there is one.
pub(super) fn load(file: &Path, table: &str, connection: &Connection) -> Result<(), String> {
    let delimiter = delimiter(file).map_err(|error| error.to_string())?;
    let mut reader = reader(file, delimiter)?;
    let header = reader.byte_headers().map_err(words)?.clone();
    if header.is_empty() {
        return Err("it is empty; the first line must name the columns".to_owned());
    }
    let mut guesses: Vec<Guess> = header.iter().map(|_| Guess::default()).collect();
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(words)? {
        record
            .iter()
            .zip(&mut guesses)
            .for_each(|(field, guess)| guess.look(field));
    }
    let mut seen = HashSet::new();
    let columns = header.iter().zip(&guesses).enumerate().map(|(at, (name, guess))| {
        let name = text(name).trim().to_owned();
        let name = if name.is_empty() {
            format!("column_{}", at + 1)
        } else {
            name
        };
        NewColumn {
            name: unique_name(name, &mut seen),
            declared: guess.declared(),
        }
    });
    let insert = create(connection, table, &columns.collect::<Vec<_>>()).map_err(|error| error.to_string())?;
    let mut insert = connection.prepare(&insert).map_err(|error| error.to_string())?;
    let mut reader = self::reader(file, delimiter)?;
    while reader.read_byte_record(&mut record).map_err(words)? {
        // SQLite turns the text of numbers into numbers by the type that the column was declared with.
        let fields = record.iter().map(|field| match field {
            b"" => ToSqlOutput::Borrowed(ValueRef::Null),
            field if std::str::from_utf8(field).is_ok() => ToSqlOutput::Borrowed(ValueRef::Text(field)),
            field => ToSqlOutput::Owned(text(field).into()),
        });
        insert
            .execute(params_from_iter(fields))
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn reader(file: &Path, delimiter: u8) -> Result<Reader<BufReader<File>>, String> {
    let mut opened = File::open(file).map_err(|error| error.to_string())?;
    let mut head = [0; BYTE_ORDER_MARK.len()];
    let marked = opened.read_exact(&mut head).is_ok() && head == BYTE_ORDER_MARK;
    let start = if marked { BYTE_ORDER_MARK.len() as u64 } else { 0 };
    opened.seek(SeekFrom::Start(start)).map_err(|error| error.to_string())?;
    Ok(ReaderBuilder::new()
        .delimiter(delimiter)
        .from_reader(BufReader::new(opened)))
}

/// A tab in `.tsv`, else the candidate that the first line has most of.
fn delimiter(file: &Path) -> std::io::Result<u8> {
    if extension(file) == "tsv" {
        return Ok(b'\t');
    }
    let mut line = vec![];
    BufReader::new(File::open(file)?).read_until(b'\n', &mut line)?;
    let mut quoted = false;
    let outside: Vec<u8> = line
        .into_iter()
        .filter(|byte| {
            quoted ^= *byte == b'"';
            !quoted
        })
        .collect();
    let count = |delimiter: &u8| outside.iter().filter(|byte| *byte == delimiter).count();
    let best = DELIMITERS
        .iter()
        .rev()
        .max_by_key(|delimiter| count(delimiter))
        .copied();
    Ok(best.filter(|best| count(best) > 0).unwrap_or(b','))
}

/// Text in UTF-8, or else in Latin-1, in which every byte is a character.
fn text(bytes: &[u8]) -> String {
    std::str::from_utf8(bytes).map_or_else(|_| bytes.iter().map(|byte| char::from(*byte)).collect(), str::to_owned)
}

fn words(error: csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            format!("line {line} has {len} fields, and the first line names {expected_len}")
        }
        _ => error.to_string(),
    }
}

/// What all fields of a column could still be.
#[derive(Debug, Default)]
struct Guess {
    seen: bool,
    no_integer: bool,
    no_number: bool,
    no_date: bool,
    no_datetime: bool,
}

impl Guess {
    fn look(&mut self, field: &[u8]) {
        if field.is_empty() {
            return;
        }
        self.seen = true;
        self.no_integer = self.no_integer || !is_integer(field);
        self.no_number = self.no_number || !is_number(field);
        if !(self.no_date && self.no_datetime) {
            let look = look_of(field);
            self.no_date |= look != Look::Date;
            self.no_datetime |= look != Look::DateTime;
        }
    }

    fn declared(&self) -> &'static str {
        match self {
            Self { seen: false, .. } => "TEXT",
            Self { no_integer: false, .. } => "INTEGER",
            Self { no_number: false, .. } => "REAL",
            Self { no_date: false, .. } => "DATE",
            Self { no_datetime: false, .. } => "DATETIME",
            _ => "TEXT",
        }
    }
}

/// Digits alone with an optional minus, that fit 64 bits. `007` is a code and no number.
fn is_integer(field: &[u8]) -> bool {
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    !digits.is_empty()
        && digits.iter().all(u8::is_ascii_digit)
        && (digits.len() == 1 || digits.first() != Some(&b'0'))
        && std::str::from_utf8(field).is_ok_and(|text| text.parse::<i64>().is_ok())
}

/// A number that a 64-bit float holds with all its digits.
fn is_number(field: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(field) else {
        return false;
    };
    let digits = text.strip_prefix('-').unwrap_or(text);
    let mantissa = digits.split(['e', 'E']).next().unwrap_or_default();
    let significant = mantissa
        .trim_start_matches(['0', '.'])
        .bytes()
        .filter(u8::is_ascii_digit)
        .count();
    let is_code = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    let plain = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    plain && !is_code && significant <= FLOAT_DIGITS && text.parse::<f64>().is_ok_and(f64::is_finite)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&["1", "-20", ""], "INTEGER")]
    #[case(&["1", "2.5", "1e3"], "REAL")]
    #[case(&["123456789012345678"], "INTEGER")]
    #[case(&["123456789012345678", "0.5"], "TEXT")]
    #[case(&["007", "008"], "TEXT")]
    #[case(&["1", "x"], "TEXT")]
    #[case(&["x", "1"], "TEXT")]
    #[case(&["99999999999999999999"], "TEXT")]
    #[case(&["0.1234567890123456789"], "TEXT")]
    #[case(&["inf"], "TEXT")]
    #[case(&["2005-08-01"], "DATE")]
    #[case(&["2005-08-01 10:00:00", "2005-08-01T11:00"], "DATETIME")]
    #[case(&["2005-08-01", "2005-08-01 10:00"], "TEXT")]
    #[case(&[""], "TEXT")]
    fn the_type_of_a_column_is_what_all_its_fields_are(#[case] fields: &[&str], #[case] declared: &str) {
        let mut guess = Guess::default();
        fields.iter().for_each(|field| guess.look(field.as_bytes()));
        assert_eq!(guess.declared(), declared);
    }
}
