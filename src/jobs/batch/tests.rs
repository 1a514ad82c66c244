//! Batches with runners that do as they are told.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Answers, fails, panics or abstains by what the question says, and counts how many run at once.
#[derive(Default)]
struct Fake {
    /// As many as must run before any of them goes on.
    together: Option<tokio::sync::Barrier>,
    running: AtomicUsize,
    most: AtomicUsize,
    asked: Mutex<Vec<String>>,
    /// The batch's own, for a question that stops it.
    stop: CancellationToken,
}

#[async_trait]
impl Runner for Fake {
    async fn run(
        &self,
        question: &Question,
        before: &[Found],
        folder: &Path,
        _cancel: &CancellationToken,
    ) -> Result<Ran, String> {
        self.asked.lock().unwrap().push(question.question.clone());
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        match &self.together {
            // Nobody goes on before so many run; a wait that is never met ends, and the count tells.
            Some(together) => drop(tokio::time::timeout(Duration::from_secs(20), together.wait()).await),
            None => tokio::time::sleep(Duration::from_millis(20)).await,
        }
        self.running.fetch_sub(1, Ordering::SeqCst);
        let outcome = match question.question.as_str() {
            "panic" => panic!("a fault"),
            "no database" => return Err("no such file: shop.sqlite".to_owned()),
            "riddle" => Outcome::Abstained,
            "stop" => {
                self.stop.cancel();
                Outcome::Interrupted
            }
            _ => Outcome::Answered,
        };
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("report.md"), "# Report\n").unwrap();
        let usage = Usage {
            input: 10,
            cached: 0,
            output: 2,
        };
        Ok(Ran {
            outcome,
            headline: format!("on {}", question.question),
            text: match before {
                [] => "12 [q1].".to_owned(),
                found => found.iter().map(|f| format!("{} → {}", f.question, f.answer)).collect(),
            },
            usage,
            cost: None,
            answer: Some("q1".into()),
        })
    }
}

fn questions(texts: &[&str]) -> Vec<Question> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.txt");
    fs::write(&path, texts.join("\n")).unwrap();
    read(&path).unwrap()
}

fn settings(jobs: usize) -> Settings {
    Settings {
        jobs,
        retries: 0,
        about: String::new(),
        language: Language::English,
    }
}

async fn ran(texts: &[&str], out: &Path, settings: Settings) -> Summary {
    let runner = Fake::default();
    let stop = runner.stop.clone();
    run(questions(texts), Arc::new(runner), out, settings, &stop, &|_| {})
        .await
        .unwrap()
}

#[tokio::test]
async fn no_question_stops_the_others() {
    let out = tempfile::tempdir().unwrap();
    let summary = ran(&["a", "panic", "no database", "riddle", "b|c"], out.path(), settings(2)).await;
    let outcomes: Vec<_> = summary.rows.iter().map(|r| (r.id.as_str(), r.outcome)).collect();
    assert_eq!(
        outcomes,
        [
            ("a", Outcome::Answered),
            ("panic", Outcome::Failed),
            ("no-database", Outcome::Failed),
            ("riddle", Outcome::Abstained),
            ("b-c", Outcome::Answered),
        ]
    );
    assert_eq!(summary.exit_code(), 1);
    let index = fs::read_to_string(out.path().join("index.md")).unwrap();
    assert!(
        index.starts_with("# Questions and answers\n\n5: 2 answered, 1 not answered, 2 failed · "),
        "{index}"
    );
    assert!(index.contains("36 tokens"), "{index}");
    for row in [
        "| 1 | [a](<a/report.md>) | answered | on a | ",
        "| 3 | no database | failed | no such file: shop.sqlite | ",
        "| 5 | [b\\|c](<b-c/report.md>) | answered | on b\\|c | ",
    ] {
        assert!(index.contains(row), "{row} in\n{index}");
    }
}

#[tokio::test]
async fn results_are_lines_in_the_order_of_the_file() {
    let out = tempfile::tempdir().unwrap();
    let summary = ran(&["a", "b", "c"], out.path(), settings(2)).await;
    let text = fs::read_to_string(out.path().join("results.jsonl")).unwrap();
    let rows: Vec<Row> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(rows, summary.rows);
    assert_eq!(rows.iter().map(|r| r.id.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert!(
        text.starts_with(r#"{"v":1,"id":"a","question":"a","database":null,"outcome":"answered","headline":"on a""#),
        "{text}"
    );
    assert_eq!(summary.exit_code(), 0);
}

#[tokio::test]
async fn as_many_run_at_once_as_are_asked_for() {
    for jobs in [1, 3] {
        let out = tempfile::tempdir().unwrap();
        let runner = Arc::new(Fake {
            together: Some(tokio::sync::Barrier::new(jobs)),
            ..Fake::default()
        });
        let settings = settings(jobs);
        let all = questions(&["a", "b", "c", "d", "e", "f"]);
        run(
            all,
            runner.clone(),
            out.path(),
            settings,
            &CancellationToken::new(),
            &|_| {},
        )
        .await
        .unwrap();
        assert_eq!(runner.most.load(Ordering::SeqCst), jobs);
    }
}

#[tokio::test]
async fn an_interrupted_batch_begins_nothing_more_and_writes_its_index() {
    let out = tempfile::tempdir().unwrap();
    let settings = Settings {
        language: Language::Chinese,
        ..settings(1)
    };
    let summary = ran(&["a", "stop", "b", "c"], out.path(), settings).await;
    assert_eq!((summary.rows.len(), summary.exit_code()), (2, 130));
    let index = fs::read_to_string(out.path().join("index.md")).unwrap();
    assert!(
        index.starts_with("# 问题与回答\n\n4: 1 已回答, 1 已中断, 2 未开始 · "),
        "{index}"
    );
}

#[tokio::test]
async fn progress_is_told_as_it_happens() {
    let out = tempfile::tempdir().unwrap();
    let told = Mutex::new(Vec::new());
    let tell = |progress: Progress<'_>| {
        told.lock().unwrap().push(match progress {
            Progress::Started { question } => format!("start {}", question.id),
            Progress::Finished { row, done, total } => format!("end {} {done}/{total}", row.id),
        });
    };
    let settings = settings(1);
    let runner = Arc::new(Fake::default());
    run(
        questions(&["a", "b"]),
        runner,
        out.path(),
        settings,
        &CancellationToken::new(),
        &tell,
    )
    .await
    .unwrap();
    assert_eq!(*told.lock().unwrap(), ["start a", "end a 1/2", "start b", "end b 2/2"]);
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let runner = Arc::new(Fake::default());
    let error = run(
        questions(&["a"]),
        runner,
        &file.join("out"),
        settings(2),
        &CancellationToken::new(),
        &|_| {},
    )
    .await;
    let text = error.unwrap_err().to_string();
    assert!(
        text.starts_with("cannot create the folder ") && text.ends_with("choose another place with --out DIR"),
        "{text}"
    );
}

#[tokio::test]
async fn what_failed_is_tried_again_and_what_comes_after_it_says_why_it_was_not_run() {
    let out = tempfile::tempdir().unwrap();
    let mut all = questions(&["no database", "a", "b", "c"]);
    all[1].after = vec!["no-database".into()];
    all[3].after = vec!["b".into()];
    let runner = Arc::new(Fake::default());
    let settings = Settings {
        retries: 2,
        ..settings(1)
    };
    let summary = run(
        all,
        runner.clone(),
        out.path(),
        settings,
        &CancellationToken::new(),
        &|_| {},
    )
    .await
    .unwrap();
    let asked = runner.asked.lock().unwrap().clone();
    assert_eq!(asked.iter().filter(|question| *question == "no database").count(), 3);
    assert!(!asked.contains(&"a".to_owned()));
    let row = |at: usize| (summary.rows[at].outcome, summary.rows[at].headline.as_str());
    assert_eq!(
        row(1),
        (
            Outcome::Failed,
            "not run, since no-database, which it comes after, failed"
        )
    );
    // The one after another sees its answer, without its citations.
    assert_eq!(summary.rows[3].text, "b → 12.");
}
