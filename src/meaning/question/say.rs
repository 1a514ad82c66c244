//! What the reader says to people, in both languages.

use crate::meaning::question::cue::Cue;
use crate::meaning::question::phrases::Phrase;
use crate::meaning::question::types::Intent;
use crate::meaning::semantic::{Aggregate, FieldRef, Model, Words};
use crate::text::Language;

/// The reader's sentences in one language.
pub struct Say {
    pub language: Language,
}

impl Say {
    fn pick(&self, english: String, chinese: String) -> String {
        self.language.pick(english, chinese)
    }

    /// A thing's name in this language, in English where it has no other.
    pub fn name<'a>(&self, words: &'a Words) -> &'a str {
        match (self.language, &words.label_zh) {
            (Language::Chinese, Some(label)) => label,
            _ => &words.label,
        }
    }

    pub fn metric(&self, model: &Model, name: &str) -> String {
        model
            .metric(name)
            .map_or(name, |metric| self.name(&metric.words))
            .to_owned()
    }

    pub fn dataset(&self, model: &Model, name: &str) -> String {
        model
            .dataset(name)
            .map_or(name, |dataset| self.name(&dataset.words))
            .to_owned()
    }

    /// A field's name, with its dataset where the name alone is found in several.
    pub fn field(&self, model: &Model, field: &FieldRef) -> String {
        let Some((dataset, known)) = model.field(field) else {
            return field.to_string();
        };
        let label = self.name(&known.words);
        let fields = model.datasets.iter().flat_map(|dataset| &dataset.fields);
        let shared = fields.filter(|other| self.name(&other.words) == label).count() > 1;
        if shared {
            let owner = self.name(&dataset.words);
            return self.pick(format!("{label} of {owner}"), format!("{owner}的{label}"));
        }
        label.to_owned()
    }

    pub fn phrase(&self, phrase: &Phrase) -> String {
        match phrase {
            Phrase::Window { window, .. } => window.label(self.language),
            Phrase::Range { from, to } => from.hull(to).label(self.language),
            Phrase::Previous => self.pick("the period before".into(), "上一期".into()),
            Phrase::YearAgo => self.pick("a year earlier".into(), "去年同期".into()),
            Phrase::Grain(grain) => {
                let name = grain.name(self.language);
                self.pick(format!("by {name}"), format!("按{name}"))
            }
        }
    }

    /// What a function word was taken for; `None` for those that carry nothing by themselves.
    pub fn cue(&self, cue: Cue) -> Option<String> {
        let (english, chinese) = match cue {
            Cue::Count => ("number of", "数量"),
            Cue::Aggregate(Aggregate::Sum) => ("total", "合计"),
            Cue::Aggregate(Aggregate::Avg) => ("average", "平均"),
            Cue::Aggregate(Aggregate::Max) => ("maximum", "最大值"),
            Cue::Aggregate(Aggregate::Min) => ("minimum", "最小值"),
            Cue::Superlative { descending: true, .. } | Cue::Frequent { descending: true } => {
                ("highest first", "从高到低")
            }
            Cue::Superlative { .. } | Cue::Frequent { .. } => ("lowest first", "从低到高"),
            Cue::Group => ("for each", "分组"),
            Cue::Compare(_) | Cue::Between => ("comparison", "比较条件"),
            Cue::Not | Cue::Except | Cue::Without | Cue::Outside => ("not", "排除"),
            Cue::Intent(intent) => return Some(self.intent(intent).to_owned()),
            Cue::Advise => ("recommendations", "建议"),
            _ => return None,
        };
        Some(self.language.pick(english, chinese).to_owned())
    }

    pub fn intent(&self, intent: Intent) -> &'static str {
        let (english, chinese) = match intent {
            Intent::List => ("list", "列表"),
            Intent::Count => ("count", "计数"),
            Intent::Total => ("total", "汇总"),
            Intent::Rank => ("ranking", "排名"),
            Intent::Trend => ("trend", "趋势"),
            Intent::Compare => ("comparison", "对比"),
            Intent::Share => ("share", "占比"),
            Intent::Growth => ("growth", "增长"),
            Intent::Distribution => ("distribution", "分布"),
            Intent::Outliers => ("outliers", "异常"),
            Intent::Relation => ("relation", "相关性"),
            Intent::Why => ("reasons", "原因"),
            Intent::Report => ("full report", "完整分析"),
        };
        self.language.pick(english, chinese)
    }

    pub fn took(&self, text: &str, means: &str) -> String {
        self.pick(
            format!("\"{text}\" was read as {means}"),
            format!("“{text}”按“{means}”理解"),
        )
    }

    pub fn assumed(&self, metric: &str) -> String {
        self.pick(
            format!("no measure was named; {metric} was used"),
            format!("问题没有指明指标，按“{metric}”统计"),
        )
    }

    pub fn skipped(&self, words: &[String]) -> String {
        self.pick(
            format!("not understood and left out: {}", words.join(", ")),
            format!("未能理解、未采用：{}", words.join("、")),
        )
    }

    pub fn cut(&self, bytes: usize) -> String {
        self.pick(
            format!("the question is very long; only its first {bytes} bytes were read"),
            format!("问题过长，只读取了前 {bytes} 个字节"),
        )
    }

    pub fn empty(&self) -> String {
        self.pick("the question is empty".into(), "问题是空的".into())
    }

    pub fn nothing_known(&self, unknown: &[String]) -> String {
        if unknown.is_empty() {
            return self.pick(
                "the question names nothing that this database has".into(),
                "问题没有提到这个数据库里的任何内容".into(),
            );
        }
        self.pick(
            format!("this database knows nothing called {}", quoted_english(unknown)),
            format!("这个数据库里没有与{}对应的内容", quoted_chinese(unknown)),
        )
    }

    pub fn unknown_restriction(&self, word: &str) -> String {
        self.pick(
            format!("\"{word}\" is no name or value that this database has, and the answer hangs on it"),
            format!("这个数据库里找不到“{word}”，而答案取决于它"),
        )
    }

    pub fn too_much_unknown(&self, unknown: &[String]) -> String {
        self.pick(
            format!("too much of the question is unknown: {}", quoted_english(unknown)),
            format!("问题中有太多内容无法理解：{}", quoted_chinese(unknown)),
        )
    }

    pub fn nothing_to_ask(&self) -> String {
        self.pick(
            "the question does not say what to look up".into(),
            "问题没有说明要查询什么".into(),
        )
    }

    pub fn loose_ends(&self) -> String {
        self.pick(
            "the words are known, but not how they belong together".into(),
            "词语都认识，但无法确定它们之间的关系".into(),
        )
    }
}

fn quoted_english(words: &[String]) -> String {
    words
        .iter()
        .map(|word| format!("\"{word}\""))
        .collect::<Vec<_>>()
        .join(", ")
}

fn quoted_chinese(words: &[String]) -> String {
    words
        .iter()
        .map(|word| format!("“{word}”"))
        .collect::<Vec<_>>()
        .join("、")
}
