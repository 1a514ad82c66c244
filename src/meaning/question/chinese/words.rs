//! Single words: numbers with their multiples, counts and totals behind what they count, names, ranges, dates that are
//! missing, amounts that are added up.

use crate::meaning::query::Literal;
use crate::meaning::question::chinese::{is_of, next, previous, set, text, what};
use crate::meaning::question::cue::{Cue, Quality};
use crate::meaning::question::draft::{Node, What};
use crate::meaning::question::phrases::Phrase;
use crate::meaning::question::scope::Scope;
use crate::meaning::semantic::{Aggregate, FieldRef, Unit};

/// What stands behind a dataset's name and counts its rows: "客户数", "租赁次数".
const COUNTS: [&str; 9] = ["数", "数量", "次数", "总数", "个数", "笔数", "人数", "总量", "数目"];
/// Numbers are multiplied by the word behind them.
const MULTIPLES: [(&str, i64); 4] = [("千", 1_000), ("万", 10_000), ("百万", 1_000_000), ("亿", 100_000_000)];

/// "30万", "28%" of a metric that is a fraction.
pub(super) fn multiples(nodes: &mut Vec<Node>, scope: &Scope<'_>) {
    let fraction = nodes.iter().any(|node| match &node.what {
        What::Metric(name) => scope
            .model
            .metric(name)
            .is_some_and(|metric| metric.unit == Unit::Fraction),
        _ => false,
    });
    let mut at = 0;
    while at + 1 < nodes.len() {
        let number = match what(nodes, at) {
            Some(What::Number(Literal::Integer(number))) => Some(number.to_string()),
            Some(What::Number(Literal::Number(number))) => Some(number.to_string()),
            _ => None,
        };
        let number: Option<rust_decimal::Decimal> = number.and_then(|number| number.parse().ok());
        let behind = text(nodes, at + 1);
        let factor = MULTIPLES
            .iter()
            .find(|(word, _)| *word == behind)
            .map(|(_, factor)| *factor);
        let changed = match (number, factor) {
            (Some(number), Some(factor)) => number.checked_mul(factor.into()),
            (Some(number), None) if fraction && behind == "%" => number.checked_div(100.into()),
            _ => None,
        };
        if let Some(changed) = changed {
            set(nodes, at, What::Number(crate::meaning::question::literal(changed)));
            nodes.remove(at + 1);
        }
        at += 1;
    }
}

/// "付款金额": the noun in front belongs to the field.
pub(super) fn compounds(nodes: &mut [Node]) {
    for at in 0..nodes.len() {
        if let (Some(What::Dataset(dataset)), Some(What::Field(field))) = (what(nodes, at), what(nodes, at + 1))
            && *dataset == field.dataset
        {
            set(nodes, at, What::Cue(Cue::Filler));
        }
    }
}

/// "客户的名称": what names a customer, whatever else has a field called so.
pub(super) fn names_of_things(nodes: &mut Vec<Node>, scope: &Scope<'_>) {
    let mut at = 0;
    while at < nodes.len() {
        let is_name = matches!(text(nodes, at), "名称" | "名字" | "姓名" | "名");
        let owner = previous(nodes, at).and_then(|before| match what(nodes, before) {
            Some(What::Dataset(dataset)) => Some(dataset.clone()),
            _ => None,
        });
        if let (true, Some(What::Field(_) | What::Unknown), Some(owner)) = (is_name, what(nodes, at), owner) {
            let label = scope.label(&owner);
            if let (false, Some(named)) = (label.is_empty(), nodes.get(at).cloned()) {
                let parts = label.into_iter().map(|field| Node {
                    what: What::Field(field),
                    ..named.clone()
                });
                nodes.splice(at..=at, parts);
            }
        }
        at += 1;
    }
}

/// "在1000到2000之间": both numbers, and the word that ties them in front.
pub(super) fn ranges(nodes: &mut Vec<Node>, scope: &Scope<'_>) {
    for at in (1..nodes.len()).rev() {
        // "在1000到2000之间" behind a price: numbers, not years.
        let Some(What::Time {
            phrase: Phrase::Range { from, to },
            ..
        }) = what(nodes, at)
        else {
            continue;
        };
        let (from, to) = (from.start.year(), to.start.year());
        let before = (0..at)
            .rev()
            .find(|place| !matches!(what(nodes, *place), Some(What::Cue(Cue::Filler | Cue::In | Cue::Of))));
        let of_number = before.is_some_and(|before| {
            matches!(what(nodes, before), Some(What::Field(field))
                if scope.is_numeric(field) && !scope.is_year(field) && !scope.is_time(field))
        });
        let digits = format!("{from}");
        if let (true, true, Some(node)) = (of_number, text(nodes, at).starts_with(&digits), nodes.get(at).cloned()) {
            let number = |year: i16| What::Number(Literal::Integer(year.into()));
            let parts = [What::Cue(Cue::Between), number(from), number(to)];
            nodes.splice(at..=at, parts.into_iter().map(|what| Node { what, ..node.clone() }));
        }
    }
    years_that_are_numbers(nodes);
    let mut at = 0;
    while at + 2 < nodes.len() {
        let tied = matches!(text(nodes, at + 1), "到" | "至" | "和" | "与" | "-" | "~" | "—");
        let between = (at + 3..nodes.len().min(at + 5)).find(|place| text(nodes, *place) == "之间");
        let numbers = matches!(
            (what(nodes, at), what(nodes, at + 2)),
            (Some(What::Number(_)), Some(What::Number(_)))
        );
        if numbers && tied && (between.is_some() || matches!(text(nodes, at + 1), "到" | "至")) {
            if let Some(between) = between {
                set(nodes, between, What::Cue(Cue::Filler));
            }
            set(nodes, at + 1, What::Cue(Cue::Between));
            nodes.swap(at, at + 1);
            at += 2;
        }
        at += 1;
    }
}

/// "1000到2000": where one end is no year, the other is none either.
fn years_that_are_numbers(nodes: &mut [Node]) {
    for at in 0..nodes.len() {
        let Some(What::Time { bare_year: true, .. }) = what(nodes, at) else {
            continue;
        };
        let beside = [at.checked_sub(2), Some(at + 2)];
        let tied = beside
            .into_iter()
            .flatten()
            .any(|place| matches!(what(nodes, place), Some(What::Number(_))));
        if let (true, Ok(number)) = (tied, text(nodes, at).parse::<i64>()) {
            set(nodes, at, What::Number(Literal::Integer(number)));
        }
    }
}

/// "书名以Z开头": the word in front of what the text begins with.
pub(super) fn beginnings_and_ends(nodes: &mut [Node]) {
    for at in 1..nodes.len() {
        let cue = match text(nodes, at) {
            "开头" | "打头" | "开始" => Cue::Starts,
            "结尾" | "结束" => Cue::Ends,
            _ => continue,
        };
        let said = !matches!(
            what(nodes, at - 1),
            Some(What::Dataset(_) | What::Field(_) | What::Metric(_))
        );
        if said && matches!(text(nodes, at.saturating_sub(2)), "以" | "用" | "是") {
            if !matches!(what(nodes, at - 1), Some(What::Quoted(_))) {
                set(nodes, at - 1, What::Unknown);
            }
            set(nodes, at, What::Cue(cue));
            nodes.swap(at - 1, at);
        }
    }
}

/// "平均每笔交易金额": an average over all, not a group.
pub(super) fn averages_of_each(nodes: &mut [Node]) {
    for at in 1..nodes.len() {
        let averages = matches!(what(nodes, at - 1), Some(What::Cue(Cue::Aggregate(Aggregate::Avg))));
        if averages && matches!(what(nodes, at), Some(What::Cue(Cue::Group))) {
            set(nodes, at, What::Cue(Cue::Filler));
        }
    }
}

/// "客户数": customers are counted.
pub(super) fn counted_rows(nodes: &mut Vec<Node>) {
    let mut at = 0;
    while at < nodes.len() {
        let mut end = at + 1;
        let mut said = String::new();
        let longest = COUNTS.iter().map(|word| word.chars().count()).max().unwrap_or(0);
        let mut found = None;
        while end < nodes.len() && said.chars().count() < longest {
            said.push_str(text(nodes, end));
            end += 1;
            if COUNTS.contains(&said.as_str()) {
                found = Some(end);
            }
        }
        if let (Some(What::Dataset(_)), Some(end)) = (what(nodes, at), found) {
            let mut counter = nodes.get(at).cloned();
            if let Some(counter) = &mut counter {
                counter.what = What::Cue(Cue::Count);
            }
            nodes.drain(at + 1..end);
            nodes.splice(at..at, counter);
            at += 1;
        }
        at += 1;
    }
}

/// "付款总额", "付款金额合计": the word that adds up stands behind what it adds up.
pub(super) fn totals_behind(nodes: &mut [Node], scope: &Scope<'_>) {
    for at in 0..nodes.len() {
        let Some(behind) = nodes.get(at + 1..).and_then(|_| next(nodes, at + 1)) else {
            continue;
        };
        let Some(What::Cue(Cue::Aggregate(function))) = what(nodes, behind).cloned() else {
            continue;
        };
        // "目录价的平均值" stands at the end; what an aggregate in front is of follows it.
        let field = match what(nodes, at) {
            Some(What::Field(field)) if scope.is_numeric(field) => field.clone(),
            Some(What::Dataset(dataset)) if function == Aggregate::Sum && behind == at + 1 => {
                match money_of(dataset, scope) {
                    Some(field) => field,
                    None => continue,
                }
            }
            _ => continue,
        };
        let takes_next = next(nodes, behind + 1).is_some_and(|place| {
            matches!(what(nodes, place), Some(What::Field(other)) if scope.is_numeric(other))
                || matches!(what(nodes, place), Some(What::Metric(_)))
        });
        if takes_next {
            continue;
        }
        set(nodes, at, What::Cue(Cue::Aggregate(function)));
        set(nodes, behind, What::Field(field));
    }
}

/// The one amount of money of a dataset that may be added up.
fn money_of(dataset: &str, scope: &Scope<'_>) -> Option<FieldRef> {
    let known = scope.model.dataset(dataset)?;
    let mut amounts = known
        .fields
        .iter()
        .filter(|field| field.aggregation == Some(Aggregate::Sum) && field.unit == Some(Unit::Money));
    let first = amounts.next()?;
    amounts.next().is_none().then(|| FieldRef::new(dataset, &first.name))
}

/// "借阅次数超过40次": more than 40 rentals.
pub(super) fn counts_compared(nodes: &mut [Node]) {
    for at in 0..nodes.len() {
        let (Some(What::Cue(Cue::Count)), Some(What::Dataset(_))) = (what(nodes, at), what(nodes, at + 1)) else {
            continue;
        };
        let Some(compare) = next(nodes, at + 2) else { continue };
        let Some(number) = next(nodes, compare + 1) else {
            continue;
        };
        if let (Some(What::Cue(Cue::Compare(operator))), Some(What::Number(said))) =
            (what(nodes, compare).cloned(), what(nodes, number).cloned())
        {
            let dataset = what(nodes, at + 1).cloned().unwrap_or(What::Cue(Cue::Filler));
            set(nodes, at, What::Cue(Cue::Compare(operator)));
            set(nodes, at + 1, What::Number(said));
            set(nodes, compare, dataset);
            set(nodes, number, What::Cue(Cue::Filler));
        }
    }
}

/// "最高租金": an extreme of the amount, unless things are picked by it ("最高租金的电影").
pub(super) fn extremes(nodes: &mut [Node], scope: &Scope<'_>) {
    for at in 0..nodes.len() {
        let Some(What::Cue(Cue::Superlative {
            descending,
            quality: Quality::Any,
        })) = what(nodes, at).cloned()
        else {
            continue;
        };
        let of_amount = matches!(what(nodes, at + 1), Some(What::Field(field)) if scope.is_numeric(field));
        let picks = is_of(what(nodes, at + 2)) && next(nodes, at + 2).is_some();
        if of_amount && !picks && text(nodes, at).starts_with('最') {
            let function = if descending { Aggregate::Max } else { Aggregate::Min };
            set(nodes, at, What::Cue(Cue::Aggregate(function)));
        }
    }
}

/// "没有门店的省份": a name that is also the name of its table stands for the things themselves.
pub(super) fn heads(nodes: &mut [Node], scope: &Scope<'_>) {
    for at in 1..nodes.len() {
        let Some(What::Field(field)) = what(nodes, at).cloned() else {
            continue;
        };
        let own = scope.model.dataset(&field.dataset);
        let is_label = own.is_some_and(|own| own.label == [field.field.clone()]);
        let is_called_so = own.is_some_and(|own| {
            let said = text(nodes, at);
            own.words.label_zh.as_deref() == Some(said) || own.words.synonyms.iter().any(|word| word == said)
        });
        if is_label && is_called_so && is_of(what(nodes, at - 1)) {
            set(nodes, at, What::Dataset(field.dataset));
        }
    }
}

/// "还没出院的病人": what has no date of it yet.
pub(super) fn missing_dates(nodes: &mut [Node], scope: &Scope<'_>) {
    for at in 0..nodes.len() {
        if !matches!(what(nodes, at), Some(What::Cue(Cue::Not | Cue::Without))) {
            continue;
        }
        let Some(place) = next(nodes, at + 1) else { continue };
        let Some(What::Field(field)) = what(nodes, place).cloned() else {
            continue;
        };
        let compared = next(nodes, place + 1).is_some_and(|after| {
            matches!(
                what(nodes, after),
                Some(What::Cue(Cue::Compare(_) | Cue::Between) | What::Time { .. } | What::Value { .. })
            )
        });
        if scope.is_time(&field) && !compared {
            set(nodes, at, What::Field(field));
            set(nodes, place, What::Cue(Cue::Empty));
        }
    }
}

/// "近两周的收款金额": an amount that may be added up is, where nothing lists rows.
pub(super) fn amounts(nodes: &mut Vec<Node>, scope: &Scope<'_>) {
    let asks_how_much = nodes.iter().any(|node| matches!(node.what, What::Cue(Cue::HowMuch)));
    let lists = nodes.iter().enumerate().any(|(at, node)| match node.what {
        What::Cue(Cue::List | Cue::Whose | Cue::With) => true,
        What::Cue(Cue::Superlative { .. }) => true,
        // "退款金额是什么" asks for the amount itself.
        What::Cue(Cue::Which) => next(nodes, at + 1).is_some(),
        What::Dataset(_) => {
            let grouped =
                previous(nodes, at).is_some_and(|before| matches!(what(nodes, before), Some(What::Cue(Cue::Group))));
            !grouped
                && !asks_how_much
                && next(nodes, at + 1).is_some_and(|after| matches!(what(nodes, after), Some(What::Field(_))))
                && is_of(what(nodes, at + 1))
        }
        _ => false,
    });
    if lists {
        return;
    }
    let mut at = 0;
    while at < nodes.len() {
        let adds = matches!(what(nodes, at), Some(What::Field(field))
            if scope.model.field(field).is_some_and(|(_, known)| known.aggregation == Some(Aggregate::Sum)));
        let before = previous(nodes, at).and_then(|before| what(nodes, before));
        let aggregated = matches!(
            before,
            Some(What::Cue(Cue::Aggregate(_) | Cue::Group | Cue::Count | Cue::And))
        );
        let compared = next(nodes, at + 1).is_some_and(|after| {
            matches!(
                what(nodes, after),
                Some(
                    What::Cue(Cue::Compare(_) | Cue::Between | Cue::AgainstAverage { .. } | Cue::Empty)
                        | What::Number(_)
                )
            )
        });
        if adds && !aggregated && !compared {
            let sum = nodes.get(at).cloned().map(|node| Node {
                what: What::Cue(Cue::Aggregate(Aggregate::Sum)),
                ..node
            });
            nodes.splice(at..at, sum);
            at += 1;
        }
        at += 1;
    }
}
