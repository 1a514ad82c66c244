//! `analyst eval`: a suite of questions with gold SQL, and how many are answered rightly.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use indicatif::ProgressBar;

use crate::builtin;
use crate::faces::cli::ask::interrupt;
use crate::faces::cli::options::{Ambiguity, Shared, skills, today};
use crate::faces::cli::progress::{print, watched};
use crate::faces::cli::{Failure, models};
use crate::jobs::eval::{self, Agent, Case, Contestant, Item, Part, Report, Scorer, Settings, Split};
use crate::session::event::Outcome;

/// Databases at the same time when nobody says.
const JOBS: usize = 2;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Questions with gold SQL, one JSON object a line: {"id", "question", "gold_sql": [..], "db", "order_matters"}
    suite: PathBuf,
    /// Folder that the suite's databases are named against; the suite's own if left out
    #[arg(long, value_name = "DIR")]
    databases: Option<PathBuf>,
    /// Only the first N questions
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Databases that run at the same time
    #[arg(long, short, value_name = "N")]
    jobs: Option<usize>,
    /// Write everything to this file too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Go on with the questions that the --json file does not have yet
    #[arg(long, requires = "json")]
    resume: bool,
    /// The rule of the headline: strict, spider, bird or lenient
    #[arg(long, value_name = "RULE", default_value = "strict", value_parser = |text: &str| text.parse::<Scorer>())]
    scorer: Scorer,
    /// Only COUNT of the suite's databases, shuffled by SEED
    #[arg(long, value_name = "SEED:COUNT", value_parser = |text: &str| text.parse::<Split>())]
    split: Option<Split>,
    /// The databases that --split leaves out, in place of those that it takes
    #[arg(long, requires = "split")]
    held_out: bool,
    /// What to do with a question that has two readings, or one that is not sure
    #[arg(long, value_enum, default_value_t = Ambiguity::Abstain)]
    on_ambiguity: Ambiguity,
    #[command(flatten)]
    shared: Shared,
}

pub async fn run(args: Args) -> Result<ExitCode, Failure> {
    let config = args.shared.resolve(args.jobs)?;
    let (cases, skipped) = cases(&args)?;
    let contestant = if config.model == builtin::NAME {
        Contestant::Builtin
    } else {
        Contestant::Agent(Box::new(Agent {
            model: models::model(&config, &models::Gates::of(&config))?,
            skills: Arc::new(skills()),
            folder: config.output.home.clone(),
            config: config.clone(),
        }))
    };
    let settings = Settings {
        contestant,
        model: config.model.clone(),
        jobs: args.jobs.unwrap_or(JOBS),
        scorer: args.scorer,
        on_ambiguity: args.on_ambiguity.into(),
        as_of: config.as_of,
        today: today(),
        semantic: config.semantic_path().map(PathBuf::from),
    };
    let known = match (&args.json, args.resume) {
        (Some(path), true) => eval::known_items(path).map_err(|error| Failure::failed(error.to_string()))?,
        _ => HashMap::new(),
    };
    let mut kept = args.json.as_deref().map(|path| kept(path, args.resume)).transpose()?;
    let bar = watched(args.shared.quiet).then(|| ProgressBar::new(u64::try_from(cases.len()).unwrap_or(u64::MAX)));
    let cancel = interrupt();
    let mut lost = None;
    let mut tell = |item: &Item| {
        if let Some(file) = &mut kept
            && let Err(error) = keep(file, item)
        {
            lost = Some(error);
        }
        if let Some(bar) = &bar {
            bar.inc(1);
        }
    };
    let items = eval::run(&cases, &known, &settings, &cancel, &mut tell).await;
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    if let Some(error) = lost {
        return Err(Failure::failed(format!("cannot keep the items: {error}")));
    }
    let report = Report::new(&args.suite, &settings, skipped, items);
    if let Some(path) = &args.json
        && !cancel.is_cancelled()
    {
        report.write(path).map_err(|error| Failure::failed(error.to_string()))?;
        // What it held is in the report now.
        let _ = std::fs::remove_file(eval::partial(path));
    }
    print(report.text().trim_end())?;
    let code = if cancel.is_cancelled() {
        Outcome::Interrupted.exit_code()
    } else {
        0
    };
    Ok(ExitCode::from(code))
}

/// The questions to ask, and how many are left out because their gold asks for today.
fn cases(args: &Args) -> Result<(Vec<Case>, usize), Failure> {
    let mut cases =
        eval::read(&args.suite, args.databases.as_deref()).map_err(|error| Failure::usage(error.to_string()))?;
    if let Some(split) = args.split {
        let part = if args.held_out { Part::HeldOut } else { Part::Taken };
        cases = split.of(cases, part);
    }
    let all = cases.len();
    cases.retain(|case| !case.reads_the_clock());
    let skipped = all - cases.len();
    cases.truncate(args.limit.unwrap_or(usize::MAX));
    if cases.is_empty() {
        return Err(Failure::usage(format!(
            "nothing is left of {} to ask",
            args.suite.display()
        )));
    }
    Ok((cases, skipped))
}

fn kept(path: &Path, resume: bool) -> Result<File, Failure> {
    let partial = eval::partial(path);
    OpenOptions::new()
        .create(true)
        .write(true)
        .append(resume)
        .truncate(!resume)
        .open(&partial)
        .map_err(|error| Failure::failed(format!("cannot write {}: {error}", partial.display())))
}

fn keep(file: &mut File, item: &Item) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(item)?;
    line.push(b'\n');
    file.write_all(&line)
}
