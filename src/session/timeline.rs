//! The append-only file of a session's events: written first, told to listeners second.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use crate::session::event::{EVENT_VERSION, Event, EventKind};
use crate::session::retrace::{Met, Retrace};
use crate::text::redact;

/// Somebody who wants to know what happens: a face, a test, a stream to a browser.
pub trait Listener: Send + Sync {
    /// Called in the order of the events, after the event is in the file; must not block for long.
    fn hear(&self, event: &Event);
}

/// A listener that went away is no reason to stop a run.
impl Listener for UnboundedSender<Event> {
    fn hear(&self, event: &Event) {
        let _ = self.send(event.clone());
    }
}

/// Why an event could not be written or a file not be read.
#[derive(Debug, thiserror::Error)]
pub enum TimelineError {
    #[error("cannot write the timeline {}: {source}; what was written before is intact", .path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot read the timeline {}: {source}", .path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error(
        "the run does not go the way that {} recorded: event {seq} is {expected}, and now {found} came (the database, the \
         configuration or the program has changed since); ask the question anew",
        .path.display()
    )]
    Differs {
        path: PathBuf,
        seq: u64,
        expected: &'static str,
        found: &'static str,
    },
}

/// The events of one session, numbered from 1 without gaps.
pub struct Timeline {
    path: PathBuf,
    inner: Mutex<Inner>,
}

struct Inner {
    /// `None` for a timeline that lives in memory only.
    file: Option<File>,
    next_seq: u64,
    /// How much of the file is whole lines, so that a failed write can be taken back.
    whole_bytes: u64,
    listeners: Vec<Arc<dyn Listener>>,
    /// What a resumed run records for the second time.
    retrace: Retrace,
}

impl Timeline {
    /// A timeline that keeps nothing: events go to listeners alone.
    pub fn in_memory() -> Self {
        Self::over(PathBuf::new(), None, 1, 0)
    }

    /// A new, empty file; one that was there is emptied.
    pub fn create(path: &Path) -> Result<Self, TimelineError> {
        let file = File::create(path).map_err(|source| TimelineError::Write {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self::over(path.to_owned(), Some(file), 1, 0))
    }

    /// Goes on with an existing file: what it says, and the timeline that appends to it.
    ///
    /// A torn last line is cut off the file; numbering goes on after the last event.
    pub fn open(path: &Path) -> Result<(Self, Recording), TimelineError> {
        let recording = read(path)?;
        let failed = |source| TimelineError::Write {
            path: path.to_owned(),
            source,
        };
        let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        if recording.torn_bytes > 0 {
            file.set_len(recording.whole_bytes).map_err(failed)?;
        }
        let next_seq = recording.events.last().map_or(1, |e| e.seq.saturating_add(1));
        Ok((
            Self::over(path.to_owned(), Some(file), next_seq, recording.whole_bytes),
            recording,
        ))
    }

    fn over(path: PathBuf, file: Option<File>, next_seq: u64, whole_bytes: u64) -> Self {
        Self {
            path,
            inner: Mutex::new(Inner {
                file,
                next_seq,
                whole_bytes,
                listeners: Vec::new(),
                retrace: Retrace::default(),
            }),
        }
    }

    /// Where the file is; empty for one in memory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// From now on `listener` hears every event.
    pub fn listen(&self, listener: Arc<dyn Listener>) {
        self.lock().listeners.push(listener);
    }

    /// From now on, events that `steps` holds are neither written nor told again.
    pub fn retrace(&self, steps: Retrace) {
        self.lock().retrace = steps;
    }

    /// Numbers `kind`, takes secrets out, writes it, and then tells the listeners. Returns its number; 0 for what is not
    /// stored. An event that a resumed run recorded before is not written again.
    pub fn record(&self, kind: EventKind) -> Result<u64, TimelineError> {
        let mut inner = self.lock();
        let seq = if kind.is_stored() { inner.next_seq } else { 0 };
        let failed = |source| TimelineError::Write {
            path: self.path.clone(),
            source,
        };
        let (event, line) = redacted(Event::now(seq, kind)).map_err(|e| failed(e.into()))?;
        if seq > 0 {
            if !inner.retrace.is_over() {
                match inner.retrace.meet(&event.kind) {
                    Met::Known(seq) => return Ok(seq),
                    Met::Lost => return Ok(0),
                    Met::New => {}
                    Met::Differs(difference) => {
                        return Err(TimelineError::Differs {
                            path: self.path.clone(),
                            seq: difference.seq,
                            expected: difference.expected,
                            found: difference.found,
                        });
                    }
                }
            }
            inner.append(line).map_err(failed)?;
            inner.next_seq = inner.next_seq.saturating_add(1);
        }
        for listener in &inner.listeners {
            listener.hear(&event);
        }
        Ok(seq)
    }

    /// Has the disk keep what was written so far: called at the end of each turn. Events may be recorded meanwhile.
    pub fn sync(&self) -> Result<(), TimelineError> {
        let file = self.lock().file.as_ref().map(File::try_clone);
        let synced = file.map_or(Ok(()), |file| file.and_then(|file| file.sync_data()));
        synced.map_err(|source| TimelineError::Write {
            path: self.path.clone(),
            source,
        })
    }

    /// A listener that panicked leaves the file sound, since it is written before listeners hear.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Writes one whole line, or leaves the file as it was.
    fn append(&mut self, mut line: String) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        line.push('\n');
        match file.write_all(line.as_bytes()).and_then(|()| file.flush()) {
            Ok(()) => {
                self.whole_bytes = self.whole_bytes.saturating_add(line.len() as u64);
                Ok(())
            }
            Err(error) => {
                let _ = file.set_len(self.whole_bytes);
                Err(error)
            }
        }
    }
}

/// The event without passwords and keys, and its line. Most events have none and stay as they are.
fn redacted(event: Event) -> serde_json::Result<(Event, String)> {
    let line = serde_json::to_string(&event)?;
    if matches!(redact(&line), Cow::Borrowed(_)) {
        return Ok((event, line));
    }
    let mut value = serde_json::to_value(&event)?;
    redact_value(&mut value);
    let line = value.to_string();
    Ok((serde_json::from_value(value)?, line))
}

/// Takes secrets out of all texts of a value: by their own shape, or because their field's name tells that they are one.
fn redact_value(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(clean) = redact(text) {
                *text = clean;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redact_value),
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                redact_value(value);
                if let Value::String(text) = value
                    && let Cow::Owned(named) = redact(&format!("{name}={text}"))
                    && let Some(clean) = named.strip_prefix(&format!("{name}="))
                {
                    clean.clone_into(text);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What a timeline file says.
#[derive(Debug, Default, PartialEq)]
pub struct Recording {
    pub events: Vec<Event>,
    /// Lines in the middle that could not be read, by number from 1, with the reason; they were skipped.
    pub damaged: Vec<(usize, String)>,
    /// Bytes of a last line that was still being written when the process ended.
    pub torn_bytes: u64,
    whole_bytes: u64,
}

/// Reads a timeline: whole lines become events, a torn last one is set aside, damaged ones are named.
pub fn read(path: &Path) -> Result<Recording, TimelineError> {
    let bytes = std::fs::read(path).map_err(|source| TimelineError::Read {
        path: path.to_owned(),
        source,
    })?;
    Ok(read_bytes(&bytes))
}

fn read_bytes(bytes: &[u8]) -> Recording {
    let mut recording = Recording::default();
    let mut lines = bytes.split_inclusive(|b| *b == b'\n').enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        let is_last = lines.peek().is_none();
        match parse_line(line) {
            Ok(Some(event)) if line.ends_with(b"\n") => recording.events.push(event),
            Ok(None) if line.ends_with(b"\n") => {}
            // A process that dies while it writes leaves a last line without its end.
            _ if is_last && !line.ends_with(b"\n") => {
                recording.torn_bytes = line.len() as u64;
                break;
            }
            Ok(_) => {}
            Err(problem) => recording.damaged.push((index + 1, problem)),
        }
        recording.whole_bytes = recording.whole_bytes.saturating_add(line.len() as u64);
    }
    recording
}

/// The event of one line; `None` for a blank one.
fn parse_line(line: &[u8]) -> Result<Option<Event>, String> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let event: Event = serde_json::from_slice(line).map_err(|e| e.to_string())?;
    if event.v > EVENT_VERSION {
        return Err(format!(
            "version {} is newer than this program, which reads {EVENT_VERSION}",
            event.v
        ));
    }
    Ok(Some(event))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(text: &str) -> EventKind {
        EventKind::Notice { text: text.into() }
    }

    fn texts(recording: &Recording) -> Vec<(u64, String)> {
        let text = |e: &Event| match &e.kind {
            EventKind::Notice { text } => text.clone(),
            other => format!("{other:?}"),
        };
        recording.events.iter().map(|e| (e.seq, text(e))).collect()
    }

    /// Reads the file whenever it hears of an event, and keeps whether the event was there already.
    struct Checks(PathBuf, Mutex<Vec<bool>>);

    impl Listener for Checks {
        fn hear(&self, event: &Event) {
            let there = read(&self.0).unwrap().events.contains(event);
            self.1.lock().unwrap().push(there || event.seq == 0);
        }
    }

    #[test]
    fn an_event_is_in_the_file_before_a_listener_hears_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("timeline.jsonl");
        let timeline = Timeline::create(&path).unwrap();
        let checks = Arc::new(Checks(path, Mutex::default()));
        timeline.listen(checks.clone());
        assert_eq!(timeline.record(notice("a")).unwrap(), 1);
        assert_eq!(timeline.record(EventKind::TextDelta { text: "…".into() }).unwrap(), 0);
        assert_eq!(timeline.record(notice("b")).unwrap(), 2);
        assert_eq!(*checks.1.lock().unwrap(), [true, true, true]);
    }

    #[test]
    fn secrets_reach_neither_the_file_nor_a_listener() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("timeline.jsonl");
        let timeline = Timeline::create(&path).unwrap();
        let (ear, mut heard) = tokio::sync::mpsc::unbounded_channel();
        timeline.listen(Arc::new(ear));
        let arguments = serde_json::json!({"url": "postgres://me:hunter2@host/db", "password": "hunter2", "top": 5});
        let kind = EventKind::ToolStarted {
            call_id: "1".into(),
            tool: "t".into(),
            arguments,
            artifact_id: None,
        };
        timeline.record(kind).unwrap();
        timeline
            .record(notice("the key sk-abcdefghijkl123 was \"refused\""))
            .unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("hunter2") && !text.contains("abcdefghijkl"), "{text}");
        let recording = read(&path).unwrap();
        assert_eq!((recording.events.len(), recording.damaged.len()), (2, 0));
        assert!(
            text.contains(r#""url":"postgres://me:***@host/db","password":"***","top":5"#),
            "{text}"
        );
        assert_eq!(heard.try_recv().unwrap(), recording.events[0]);
    }

    #[test]
    fn a_torn_last_line_is_cut_off_and_numbering_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("timeline.jsonl");
        let timeline = Timeline::create(&path).unwrap();
        timeline.record(notice("a")).unwrap();
        timeline.record(notice("b")).unwrap();
        drop(timeline);
        let whole = std::fs::read(&path).unwrap();
        let first_line = whole.iter().position(|b| *b == b'\n').unwrap() + 1;
        for cut in first_line + 1..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (timeline, recording) = Timeline::open(&path).unwrap();
            assert_eq!(texts(&recording), [(1, "a".to_owned())]);
            assert_eq!(recording.torn_bytes as usize, cut - first_line);
            timeline.record(notice("c")).unwrap();
            let again = read(&path).unwrap();
            assert_eq!(texts(&again), [(1, "a".to_owned()), (2, "c".to_owned())]);
            assert_eq!((again.torn_bytes, again.damaged.len()), (0, 0));
        }
    }

    #[test]
    fn a_damaged_line_in_the_middle_is_named_and_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("timeline.jsonl");
        let timeline = Timeline::create(&path).unwrap();
        for text in ["a", "b", "c"] {
            timeline.record(notice(text)).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap().replace("\"b\"", "\"b");
        std::fs::write(&path, text).unwrap();
        let recording = read(&path).unwrap();
        assert_eq!(texts(&recording), [(1, "a".to_owned()), (3, "c".to_owned())]);
        assert_eq!(recording.damaged.iter().map(|d| d.0).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_missing_file_is_named_in_the_error() {
        let error = read(Path::new("/nowhere/timeline.jsonl")).unwrap_err().to_string();
        assert!(
            error.starts_with("cannot read the timeline /nowhere/timeline.jsonl: No such file"),
            "{error}"
        );
    }
}
