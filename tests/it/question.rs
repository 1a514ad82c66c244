//! Reading questions over real databases: the sample one with its model, and Sakila with a drafted one.

use analyst::demo;
use analyst::meaning::query;
use analyst::meaning::question::{Outcome, Reader, Reading};
use analyst::meaning::semantic::{self, Model};
use analyst::time::{TimeContext, Window};
use analyst::warehouse::catalog::Catalog;
use analyst::warehouse::catalog::values::ValueIndex;
use analyst::warehouse::engine::{Engine, RunLimits, Target};
use analyst::warehouse::{profile, sql};
use jiff::civil::date;
use tokio_util::sync::CancellationToken;

use crate::sql_guard::shared;

/// A database, ready for questions.
struct Place {
    engine: Engine,
    catalog: Catalog,
    values: ValueIndex,
    time: TimeContext,
}

impl Place {
    async fn open(path: &std::path::Path, data: Option<Window>) -> Self {
        let target = Target::parse(path.to_str().unwrap()).unwrap();
        let engine = Engine::connect(&target).await.unwrap();
        let mut catalog = engine.introspect().await.unwrap();
        let values = profile::survey(&engine, &mut catalog, &CancellationToken::new())
            .await
            .unwrap();
        let time = TimeContext::resolve(None, date(2026, 11, 30), data);
        Self {
            engine,
            catalog,
            values,
            time,
        }
    }

    fn read(&self, model: &Model, question: &str) -> Reading {
        match Reader::new(model, &self.catalog, &self.values).read(question, &self.time) {
            Outcome::Read { readings, .. } => readings.into_iter().next().unwrap(),
            Outcome::NotRead(not_read) => panic!("{question}: {}", not_read.reason),
        }
    }

    /// The rows that answer a reading, each as text with its cells joined by ` | `.
    async fn answer(&self, model: &Model, reading: &Reading) -> Vec<String> {
        let compiled = query::compile(&reading.query, model, &self.catalog, self.engine.dialect()).unwrap();
        let checked = sql::check(&compiled.sql, self.engine.dialect(), Some(&self.catalog)).unwrap();
        let fetched = self
            .engine
            .run(&checked, &RunLimits::default(), &CancellationToken::new())
            .await
            .unwrap();
        (0..fetched.frame.height())
            .map(|row| {
                let cells = fetched.frame.get(row).unwrap();
                cells
                    .iter()
                    .map(|cell| cell.str_value().into_owned())
                    .collect::<Vec<_>>()
                    .join(" | ")
            })
            .collect()
    }
}

#[tokio::test]
async fn every_question_of_the_sample_file_is_read_and_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sales.sqlite");
    demo::write(&path, demo::Existing::Replace).unwrap();
    let place = Place::open(&path, Window::new(date(2003, 1, 1), date(2005, 12, 13))).await;
    let model = semantic::load(include_str!("../../fixtures/sales/semantic.yaml"), &place.catalog).unwrap();
    let questions = include_str!("../../fixtures/sales/questions.txt");
    for question in questions
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
    {
        let reading = place.read(&model, question);
        assert_eq!(reading.unread, Vec::<String>::new(), "{question}");
        assert!(!place.answer(&model, &reading).await.is_empty(), "{question}");
    }
}

#[tokio::test]
async fn sakila_is_read_without_a_model() {
    let Some(file) = shared("data/db/sakila.sqlite") else {
        return;
    };
    let place = Place::open(&file, Window::new(date(2005, 5, 24), date(2006, 2, 15))).await;
    let model = semantic::draft(&place.catalog);
    for question in ["Which employee sold the most in August 2005?", "2005年8月谁卖得最多？"] {
        let rows = place.answer(&model, &place.read(&model, question)).await;
        assert_eq!(rows.len(), 1, "{question}: {rows:?}");
        assert!(
            rows[0].contains("Stephens") && rows[0].contains("12218.48"),
            "{question}: {rows:?}"
        );
    }
    let rows = place
        .answer(
            &model,
            &place.read(&model, "compare Aug 2005 and Jul 2005 sales by employee"),
        )
        .await;
    assert_eq!(rows.len(), 4, "{rows:?}");
    let rows = place
        .answer(&model, &place.read(&model, "how many customers are there"))
        .await;
    assert_eq!(rows, ["599"]);
}
