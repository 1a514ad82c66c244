//! A disk that is full: a clear error, and what was written before is whole.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{analyst, run, stderr};

const QUESTION: &str = "analyze Aug 2005 employee sales";

#[test]
fn a_timeline_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    if !Path::new("/dev/full").exists() {
        println!("skipped: there is no /dev/full here");
        return;
    }
    std::fs::create_dir(folder.path().join("out")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/dev/full", folder.path().join("out/timeline.jsonl")).unwrap();
    let output = run(folder.path(), &["ask", QUESTION, "--out", "out", "-q"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let error = stderr(&output);
    assert!(
        error.contains("cannot write the timeline out/timeline.jsonl: No space left on device"),
        "{error}"
    );
    assert!(!folder.path().join("out/report.md").exists());
}

/// Asks with a file system of `size` for the session; what is left there is copied out. `None` where nothing can be mounted.
fn ask_on_a_disk_of(size: &str, folder: &Path) -> Option<std::process::Output> {
    let script = format!(
        "mount -t tmpfs -o size={size} none disk || exit 99\n\"$ANALYST\" ask \"$QUESTION\" --out disk/out -q\ncode=$?\ncp -r disk left\nexit $code"
    );
    std::fs::create_dir_all(folder.join("disk")).unwrap();
    let ours = analyst(folder);
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .current_dir(folder)
        .env_clear()
        .envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("ANALYST", ours.get_program())
        .env("QUESTION", QUESTION);
    let output = command.output().ok()?;
    (output.status.code() != Some(99) && !stderr(&output).contains("unshare:")).then_some(output)
}

#[test]
fn a_disk_that_fills_up_leaves_whole_files() {
    let whole = tempfile::tempdir().unwrap();
    assert_eq!(
        run(whole.path(), &["ask", QUESTION, "--out", "out", "-q"])
            .status
            .code(),
        Some(0)
    );
    let report = std::fs::read_to_string(whole.path().join("out/report.md")).unwrap();
    let mut filled = 0;
    for size in ["8k", "24k", "48k", "96k", "160k", "256k", "384k", "8m"] {
        let folder = tempfile::tempdir().unwrap();
        let Some(output) = ask_on_a_disk_of(size, folder.path()) else {
            println!("skipped: nothing can be mounted here");
            return;
        };
        let error = stderr(&output);
        let left = folder.path().join("left/out");
        if output.status.code() == Some(0) {
            assert_eq!(
                std::fs::read_to_string(left.join("report.md")).unwrap(),
                report,
                "{size}"
            );
            continue;
        }
        filled += 1;
        assert!(
            error.contains("No space left on device") || output.status.code() == Some(3),
            "{size}: {error}"
        );
        // Every line that is there can be read, and no file is there in part.
        for line in std::fs::read_to_string(left.join("timeline.jsonl"))
            .unwrap_or_default()
            .lines()
        {
            serde_json::from_str::<Value>(line).unwrap();
        }
        if let Ok(evidence) = std::fs::read_to_string(left.join("evidence.json")) {
            serde_json::from_str::<Value>(&evidence).unwrap();
        }
        for part in ["results", "charts"] {
            for entry in std::fs::read_dir(left.join(part)).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                assert!(
                    !name.ends_with(".tmp") && !name.starts_with('.'),
                    "{size}: {name} was left behind"
                );
                assert!(entry.metadata().unwrap().len() > 0, "{size}: {name} is empty");
            }
        }
    }
    assert!(filled >= 3, "the disks were never full");
}
