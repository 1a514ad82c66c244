//! `bash`: a command on this machine, which a person has seen and said yes to.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::tools::approval::{Asked, approved};
use crate::tools::files::OWN;
use crate::tools::{Call, Effect, Reply, Tool, ToolError, Workbench, args};

/// Seconds that a command may run, unless it asks for more.
const TIMEOUT: u64 = 30;
const LONGEST_TIMEOUT: u64 = 600;
/// Bytes of each stream that the model is told: the rest is read and dropped.
const LONGEST_OUTPUT: usize = 16_000;
/// How often a running command is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(15);
/// How long a stream is read after the command has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// The only variables that a command has beside its HOME: keys and passwords stay with the program.
const VARIABLES: [&str; 3] = ["PATH", "LANG", "TZ"];

/// What the model sends.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// One command line; it starts in the session's files/.
    command: String,
    /// Seconds until it is ended (30, at most 600).
    #[serde(default)]
    timeout: Option<u64>,
}

/// What the model is told.
#[derive(Debug, Serialize)]
struct Ran {
    /// Missing where the command was ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    timed_out: bool,
    stdout: String,
    stderr: String,
    /// More was printed than is shown.
    truncated: bool,
}

/// The tool.
pub struct Bash;

#[async_trait]
impl Tool for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn description(&self) -> &'static str {
        "Runs a shell command on the user's machine, in the session's files/. The user sees each command and may say no. \
         For data use sql_execute."
    }

    fn schema(&self) -> Value {
        args::schema::<Args>()
    }

    fn effect(&self) -> Effect {
        Effect::Write
    }

    async fn call(&self, call: Call, at: &Workbench) -> Result<Reply, ToolError> {
        let args: Args = args::parse(self.name(), call.arguments)?;
        if args.command.trim().is_empty() {
            return Err(ToolError::FixTheCall("bash: `command` is empty".into()));
        }
        let asked = Asked::Shell {
            command: args.command.clone(),
        };
        approved(at.person.as_ref(), asked).await?;
        let folder = at.folders.root.join(OWN);
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let timeout = Duration::from_secs(args.timeout.unwrap_or(TIMEOUT).clamp(1, LONGEST_TIMEOUT));
        let cancel = call.cancel.clone();
        let ran = tokio::task::spawn_blocking(move || run(&args.command, &folder, timeout, &cancel))
            .await
            .map_err(|error| ToolError::CannotBeDone(format!("bash: the command was lost: {error}")))??;
        let summary = match (ran.timed_out, ran.exit_code) {
            (true, _) => format!("ended after {} s", timeout.as_secs()),
            (false, Some(code)) => format!("exit code {code}"),
            (false, None) => "ended by a signal".to_owned(),
        };
        Reply::json(&ran, summary)
    }
}

fn failed(error: std::io::Error) -> ToolError {
    ToolError::CannotBeDone(format!("bash: {error}"))
}

/// Runs `command` to its end, to its timeout or to `cancel`; nothing that it started is left behind.
fn run(command: &str, folder: &Path, timeout: Duration, cancel: &CancellationToken) -> Result<Ran, ToolError> {
    let mut shell = Command::new("bash");
    shell
        .args(["--noprofile", "--norc", "-c", command])
        .current_dir(folder)
        .env_clear()
        .envs(
            VARIABLES
                .iter()
                .filter_map(|name| Some((name, std::env::var_os(name)?))),
        )
        .env("HOME", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    in_group_of_its_own(&mut shell);
    let mut child = shell.spawn().map_err(failed)?;
    let streams = (child.stdout.take().map(drain), child.stderr.take().map(drain));
    let status = watched(&mut child, timeout, cancel);
    // What the command left running holds the streams open, too.
    end_group(&mut child);
    let status = status?;
    let (stdout, more_out) = collected(streams.0);
    let (stderr, more_err) = collected(streams.1);
    if cancel.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    Ok(Ran {
        exit_code: status.and_then(|status| status.code()),
        timed_out: status.is_none(),
        stdout,
        stderr,
        truncated: more_out || more_err,
    })
}

/// How the command ended; `None` when its time was over or `cancel` fired.
fn watched(child: &mut Child, timeout: Duration, cancel: &CancellationToken) -> Result<Option<ExitStatus>, ToolError> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok(Some(status));
        }
        if began.elapsed() >= timeout || cancel.is_cancelled() {
            return Ok(None);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

#[cfg(unix)]
fn in_group_of_its_own(shell: &mut Command) {
    use std::os::unix::process::CommandExt;
    shell.process_group(0);
}

#[cfg(not(unix))]
fn in_group_of_its_own(_shell: &mut Command) {}

/// Ends the command with everything that it started. The standard library can end one process, and the shell's own `kill`
/// a group.
fn end_group(child: &mut Child) {
    if cfg!(unix) {
        let kill = format!("kill -KILL -{}", child.id());
        let _ = Command::new("sh")
            .args(["-c", &kill])
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// The beginning of a stream, and whether there was more.
type Kept = Arc<Mutex<(Vec<u8>, bool)>>;

/// Reads a stream to its end on a thread, and keeps its beginning.
fn drain(mut stream: impl Read + Send + 'static) -> (JoinHandle<()>, Kept) {
    let kept = Kept::default();
    let filled = Arc::clone(&kept);
    let thread = std::thread::spawn(move || {
        let mut block = [0; 8_192];
        while let Ok(count @ 1..) = stream.read(&mut block) {
            let read = block.get(..count).unwrap_or_default();
            let mut kept = filled.lock().unwrap_or_else(PoisonError::into_inner);
            let room = LONGEST_OUTPUT.saturating_sub(kept.0.len());
            kept.1 |= read.len() > room;
            kept.0.extend(read.iter().take(room));
        }
    });
    (thread, kept)
}

/// What was read of a stream. One that is held open by a process that left the group is not waited for.
fn collected(stream: Option<(JoinHandle<()>, Kept)>) -> (String, bool) {
    let Some((thread, kept)) = stream else {
        return (String::new(), false);
    };
    let began = Instant::now();
    while !thread.is_finished() && began.elapsed() < LAST_WORDS {
        std::thread::sleep(LOOK_EVERY);
    }
    let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    (String::from_utf8_lossy(&kept.0).into_owned(), kept.1)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    fn run_here(command: &str, seconds: u64) -> Ran {
        let folder = tempfile::tempdir().unwrap();
        run(
            command,
            folder.path(),
            Duration::from_secs(seconds),
            &CancellationToken::new(),
        )
        .unwrap()
    }

    #[test]
    fn a_command_has_its_code_its_streams_and_no_variable_of_ours() {
        let ran = run_here("echo out; echo err >&2; exit 3", 20);
        assert_eq!(
            (ran.exit_code, ran.stdout.as_str(), ran.stderr.as_str()),
            (Some(3), "out\n", "err\n")
        );
        assert!(!ran.timed_out && !ran.truncated);
        let variables = run_here("env | cut -d= -f1 | sort | tr '\\n' ' '", 20).stdout;
        assert!(!variables.contains("CARGO"), "{variables}");
    }

    #[test]
    fn long_output_is_cut_and_read_to_its_end() {
        let ran = run_here("yes 甲 | head -c 3000000; echo done >&2", 20);
        assert!(ran.truncated && ran.stdout.len() <= LONGEST_OUTPUT + 3 && ran.stderr == "done\n");
    }

    #[test]
    fn a_command_that_takes_too_long_is_ended_with_all_that_it_started() {
        let began = Instant::now();
        let ran = run_here("sleep 300 & echo $!; sleep 300", 1);
        assert!(ran.timed_out && ran.exit_code.is_none());
        assert!(began.elapsed() < Duration::from_secs(60), "the streams were held open");
        let started = ran.stdout.trim().to_owned();
        assert!(!is_alive(&started), "{started} is alive");
        let left = run_here("sleep 300 & echo $!", 20);
        assert_eq!(left.exit_code, Some(0));
        assert!(!is_alive(left.stdout.trim()), "what it left running is alive");
    }

    /// A process that was ended and not yet collected counts as ended.
    fn is_alive(id: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        stat.rsplit_once(") ")
            .is_some_and(|(_, rest)| !rest.starts_with('Z') && !rest.starts_with('X'))
    }
}
