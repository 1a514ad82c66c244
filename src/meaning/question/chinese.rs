//! Chinese puts what restricts a thing in front of it, and what is counted or added up in front of the word that says so:
//! "工资高于平均值的职员有多少位". The pieces are put into the order that the walk reads: "how many clerks whose
//! salary is above average".

use crate::meaning::query::Literal;
use crate::meaning::question::cue::{Cue, Quality};
use crate::meaning::question::draft::{Node, What};
use crate::meaning::question::phrases::Phrase;
use crate::meaning::question::scope::Scope;
use crate::meaning::semantic::{Aggregate, FieldRef, Unit};

/// What stands behind a dataset's name and counts its rows: "客户数", "租赁次数".
const COUNTS: [&str; 9] = ["数", "数量", "次数", "总数", "个数", "笔数", "人数", "总量", "数目"];
/// Numbers are multiplied by the word behind them.
const MULTIPLES: [(&str, i64); 4] = [("千", 1_000), ("万", 10_000), ("百万", 1_000_000), ("亿", 100_000_000)];

/// Puts the pieces of a Chinese question in order.
pub fn arrange(nodes: &mut Vec<Node>, scope: &Scope<'_>) {
    multiples(nodes, scope);
    compounds(nodes);
    names_of_things(nodes, scope);
    ranges(nodes, scope);
    beginnings_and_ends(nodes);
    averages_of_each(nodes);
    counted_rows(nodes);
    counts_compared(nodes);
    sorted_by(nodes);
    extremes(nodes, scope);
    totals_behind(nodes, scope);
    missing_dates(nodes, scope);
    heads(nodes, scope);
    qualifiers(nodes);
    ranked_things(nodes, scope);
    clauses(nodes);
    counts_behind(nodes, scope);
    amounts(nodes, scope);
}

fn what(nodes: &[Node], at: usize) -> Option<&What> {
    nodes.get(at).map(|node| &node.what)
}

fn text(nodes: &[Node], at: usize) -> &str {
    nodes.get(at).map_or("", |node| node.text.as_str())
}

fn set(nodes: &mut [Node], at: usize, new: What) {
    if let Some(node) = nodes.get_mut(at) {
        node.what = new;
    }
}

fn is_filler(what: Option<&What>) -> bool {
    matches!(what, Some(What::Cue(Cue::Filler)))
}

fn is_of(what: Option<&What>) -> bool {
    matches!(what, Some(What::Cue(Cue::Of)))
}

/// The first node from `at` on that is no mere particle.
fn next(nodes: &[Node], at: usize) -> Option<usize> {
    (at..nodes.len()).find(|place| !is_filler(what(nodes, *place)) && !is_of(what(nodes, *place)))
}

/// The last node before `at` that is no mere particle.
fn previous(nodes: &[Node], at: usize) -> Option<usize> {
    (0..at.min(nodes.len()))
        .rev()
        .find(|place| !is_filler(what(nodes, *place)) && !is_of(what(nodes, *place)))
}

/// "30万", "28%" of a metric that is a fraction.
fn multiples(nodes: &mut Vec<Node>, scope: &Scope<'_>) {
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
            set(nodes, at, What::Number(super::literal(changed)));
            nodes.remove(at + 1);
        }
        at += 1;
    }
}

/// "付款金额": the noun in front belongs to the field.
fn compounds(nodes: &mut [Node]) {
    for at in 0..nodes.len() {
        if let (Some(What::Dataset(dataset)), Some(What::Field(field))) = (what(nodes, at), what(nodes, at + 1))
            && *dataset == field.dataset
        {
            set(nodes, at, What::Cue(Cue::Filler));
        }
    }
}

/// "客户的名称": what names a customer, whatever else has a field called so.
fn names_of_things(nodes: &mut Vec<Node>, scope: &Scope<'_>) {
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
fn ranges(nodes: &mut Vec<Node>, scope: &Scope<'_>) {
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
fn beginnings_and_ends(nodes: &mut [Node]) {
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
fn averages_of_each(nodes: &mut [Node]) {
    for at in 1..nodes.len() {
        let averages = matches!(what(nodes, at - 1), Some(What::Cue(Cue::Aggregate(Aggregate::Avg))));
        if averages && matches!(what(nodes, at), Some(What::Cue(Cue::Group))) {
            set(nodes, at, What::Cue(Cue::Filler));
        }
    }
}

/// "客户数": customers are counted.
fn counted_rows(nodes: &mut Vec<Node>) {
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
fn totals_behind(nodes: &mut [Node], scope: &Scope<'_>) {
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
fn counts_compared(nodes: &mut [Node]) {
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

/// "按价格从高到低列出": what it is sorted by goes to the end.
fn sorted_by(nodes: &mut Vec<Node>) {
    for at in 0..nodes.len() {
        let is_group = matches!(what(nodes, at), Some(What::Cue(Cue::Group))) && text(nodes, at).starts_with('按');
        let Some(key) = next(nodes, at + 1).filter(|_| is_group) else {
            continue;
        };
        let Some(direction) = next(nodes, key + 1) else {
            continue;
        };
        let is_key = matches!(what(nodes, key), Some(What::Field(_) | What::Metric(_)));
        if is_key
            && matches!(what(nodes, direction), Some(What::Cue(Cue::Direction { .. })))
            && next(nodes, direction + 1).is_some()
        {
            set(nodes, at, What::Cue(Cue::Ranked));
            let sorting: Vec<Node> = nodes.drain(at..=direction).collect();
            nodes.extend(sorting);
            return;
        }
    }
}

/// "最高租金": an extreme of the amount, unless things are picked by it ("最高租金的电影").
fn extremes(nodes: &mut [Node], scope: &Scope<'_>) {
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
fn heads(nodes: &mut [Node], scope: &Scope<'_>) {
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
fn missing_dates(nodes: &mut [Node], scope: &Scope<'_>) {
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

/// "荷兰顾客的消费额", "大阪门店有哪些店员": the noun behind a value only says whose value it is, where something else is
/// asked for.
fn qualifiers(nodes: &mut [Node]) {
    for at in 1..nodes.len() {
        let Some(What::Dataset(dataset)) = what(nodes, at).cloned() else {
            continue;
        };
        let qualified = previous(nodes, at).is_some_and(|before| {
            let of_value = match (
                what(nodes, before),
                previous(nodes, before).and_then(|first| what(nodes, first)),
            ) {
                (Some(What::Value { .. }), _) => true,
                // "制造行业客户", "各行业客户".
                (Some(What::Field(field)), Some(What::Value { field: other, .. })) => field == other,
                (Some(What::Field(field)), Some(What::Cue(Cue::Group))) => field.dataset == dataset,
                _ => false,
            };
            of_value && (before + 1..at).all(|place| !is_of(what(nodes, place)))
        });
        let is_other = |node: &Node| match &node.what {
            What::Dataset(other) => *other != dataset,
            What::Metric(_) => true,
            What::Field(field) => field.dataset != dataset,
            _ => false,
        };
        let asks_else = nodes.get(at + 1..).unwrap_or_default().iter().any(is_other)
            || nodes
                .get(..at)
                .unwrap_or_default()
                .iter()
                .any(|node| matches!(node.what, What::Metric(_)));
        let grouped = nodes
            .get(..at)
            .unwrap_or_default()
            .iter()
            .rev()
            .take_while(|node| !matches!(node.what, What::Dataset(_) | What::Metric(_) | What::Field(_)))
            .any(|node| matches!(node.what, What::Cue(Cue::Group | Cue::Which)));
        if qualified && asks_else && !grouped {
            set(nodes, at, What::Cue(Cue::Filler));
        }
    }
}

/// "学生最多的前三个班级", "哪个部门的职员最多": first the things that are ranked, then what by.
fn ranked_things(nodes: &mut Vec<Node>, scope: &Scope<'_>) {
    let Some(at) = nodes
        .iter()
        .position(|node| matches!(node.what, What::Cue(Cue::Superlative { .. })))
    else {
        return;
    };
    let Some(What::Cue(Cue::Superlative { descending, quality })) = what(nodes, at).cloned() else {
        return;
    };
    let Some(key) = at.checked_sub(1).filter(|key| {
        matches!(what(nodes, *key), Some(What::Dataset(_) | What::Cue(Cue::Count)))
            || matches!(what(nodes, *key), Some(What::Field(field)) if scope.is_numeric(field))
    }) else {
        return;
    };
    let from = match key.checked_sub(1).and_then(|before| what(nodes, before)) {
        Some(What::Cue(Cue::Aggregate(_) | Cue::Count)) => key - 1,
        _ => key,
    };
    let superlative = What::Cue(Cue::Superlative {
        descending,
        quality: if quality == Quality::Time {
            quality
        } else {
            Quality::Any
        },
    });
    let by: Vec<Node> = nodes.get(from..=key).unwrap_or_default().to_vec();
    let by: Vec<Node> = by
        .into_iter()
        .filter(|node| node.what != What::Cue(Cue::Count))
        .collect();
    let Some(word) = nodes.get(at).cloned().map(|node| Node {
        what: superlative,
        ..node
    }) else {
        return;
    };
    if is_of(what(nodes, at + 1)) {
        behind_the_thing(nodes, (from, at), word, by, scope);
    } else if nodes.get(at + 1..).unwrap_or_default().iter().all(|node| {
        matches!(
            node.what,
            What::Punctuation | What::Time { .. } | What::Cue(Cue::Filler | Cue::Of)
        )
    }) {
        asked_with_which(nodes, (from, at), word, by, scope);
    }
}

/// "… 最多的前五个国家": the thing stands behind.
fn behind_the_thing(nodes: &mut Vec<Node>, (from, at): (usize, usize), word: Node, by: Vec<Node>, scope: &Scope<'_>) {
    let mut count = None;
    let mut thing = None;
    for place in at + 1..nodes.len() {
        match what(nodes, place) {
            Some(What::Number(_)) => count = nodes.get(place).cloned(),
            Some(What::Cue(Cue::Superlative { .. } | Cue::Filler | Cue::Of)) => {}
            Some(What::Dataset(_)) => {
                thing = Some(place);
                break;
            }
            Some(What::Field(field)) if !scope.is_numeric(field) => {
                thing = Some(place);
                break;
            }
            _ => return,
        }
    }
    let Some(thing) = thing else { return };
    let Some(Node { what: subject, .. }) = nodes.get(thing) else {
        return;
    };
    // What rows of another dataset hold is added up for each thing.
    let of_others = by.iter().rev().find_map(|node| match (&node.what, subject) {
        (What::Field(field), What::Dataset(dataset)) => {
            Some(field.dataset != *dataset && !scope.points_at(dataset, &field.dataset))
        }
        _ => None,
    });
    let sums = of_others == Some(true) && !by.iter().any(|node| matches!(node.what, What::Cue(Cue::Aggregate(_))));
    let add_up = sums.then(|| Node {
        what: What::Cue(Cue::Aggregate(Aggregate::Sum)),
        ..word.clone()
    });
    let with = Node {
        what: What::Cue(Cue::With),
        ..word.clone()
    };
    let tail: Vec<Node> = [with].into_iter().chain([word]).chain(add_up).chain(by).collect();
    let thing_node = nodes.get(thing).cloned();
    nodes.splice(thing..=thing, count.into_iter().chain(thing_node).chain(tail));
    nodes.drain(from..thing);
}

/// "哪个部门的职员最多": the thing is asked for in front.
fn asked_with_which(nodes: &mut Vec<Node>, (from, at): (usize, usize), word: Node, by: Vec<Node>, scope: &Scope<'_>) {
    let Some(thing) = previous(nodes, from) else { return };
    if matches!(
        what(nodes, thing),
        Some(What::Time {
            phrase: Phrase::Grain(_),
            ..
        })
    ) {
        // "哪个月的理赔最多": the months are ranked.
        let count = Node {
            what: What::Cue(Cue::Count),
            ..word.clone()
        };
        let counted = matches!(by.last().map(|node| &node.what), Some(What::Dataset(_)));
        let count = counted.then_some(count);
        nodes.splice(from..=at, [word].into_iter().chain(count).chain(by));
        return;
    }
    let is_thing = matches!(what(nodes, thing), Some(What::Dataset(_) | What::Field(_)));
    let asked = previous(nodes, thing).is_some_and(|place| matches!(what(nodes, place), Some(What::Cue(Cue::Which))));
    if !(is_thing && asked && is_of(what(nodes, from.saturating_sub(1)))) {
        return;
    }
    if let Some(What::Field(field)) = what(nodes, thing).cloned()
        && scope.label(&field.dataset) == [field.clone()]
    {
        set(nodes, thing, What::Dataset(field.dataset));
    }
    let with = Node {
        what: What::Cue(Cue::With),
        ..word.clone()
    };
    nodes.splice(from - 1..=at, [with, word].into_iter().chain(by));
}

/// "没有选课的学生", "价格高于1000的商品": the clause goes behind the thing.
fn clauses(nodes: &mut Vec<Node>) {
    let mut at = 0;
    while at < nodes.len() {
        let head = next(nodes, at).filter(|head| matches!(what(nodes, *head), Some(What::Dataset(_))));
        if let (true, Some(head)) = (is_of(what(nodes, at)), head) {
            let start = clause_start(nodes, at);
            let clause = nodes.get(start..at).unwrap_or_default();
            let restricts = clause.iter().any(|node| {
                matches!(
                    node.what,
                    What::Cue(
                        Cue::Compare(_)
                            | Cue::Between
                            | Cue::AgainstAverage { .. }
                            | Cue::Not
                            | Cue::Without
                            | Cue::Contains
                            | Cue::Starts
                            | Cue::Ends
                            | Cue::Empty
                    )
                )
            });
            let named = clause
                .iter()
                .any(|node| matches!(node.what, What::Dataset(_) | What::Field(_) | What::Metric(_)));
            if restricts && named {
                let mut moved: Vec<Node> = nodes.drain(start..=at).collect();
                if let Some(tie) = moved.pop() {
                    let place = head - (at + 1 - start) + 1;
                    let tie = Node {
                        what: What::Cue(Cue::Whose),
                        ..tie
                    };
                    nodes.splice(place..place, [tie].into_iter().chain(moved));
                    at = place;
                }
            }
        }
        at += 1;
    }
}

/// Where the clause that ends before `end` begins: after what asks, groups or lists, and after times.
fn clause_start(nodes: &[Node], end: usize) -> usize {
    let outside = |node: &Node| {
        matches!(
            node.what,
            What::Punctuation
                | What::Time { .. }
                | What::Cue(
                    Cue::List
                        | Cue::Which
                        | Cue::Who
                        | Cue::Group
                        | Cue::Count
                        | Cue::Of
                        | Cue::Aggregate(_)
                        | Cue::Whose
                )
        )
    };
    let before = nodes.get(..end).unwrap_or_default();
    before.iter().rposition(outside).map_or(0, |place| place + 1)
}

/// "客户有多少家": the word that counts goes in front of what is counted.
fn counts_behind(nodes: &mut Vec<Node>, scope: &Scope<'_>) {
    let Some(at) = nodes.iter().rposition(|node| node.what == What::Cue(Cue::Count)) else {
        return;
    };
    let counts_next = next(nodes, at + 1).is_some_and(|place| {
        matches!(
            what(nodes, place),
            Some(What::Dataset(_) | What::Field(_) | What::Metric(_) | What::Cue(Cue::Distinct))
        )
    });
    if counts_next {
        return;
    }
    // Behind an amount it asks how much that is.
    let counted = nodes
        .get(..at)
        .unwrap_or_default()
        .iter()
        .rposition(|node| matches!(node.what, What::Dataset(_) | What::Metric(_) | What::Field(_)));
    let Some(counted) = counted else { return };
    match what(nodes, counted) {
        Some(What::Field(field)) if scope.is_numeric(field) && !scope.is_key(field) => {
            let in_clause = nodes
                .get(..counted)
                .unwrap_or_default()
                .iter()
                .rposition(|node| node.what == What::Cue(Cue::Whose))
                .and_then(|tie| tie.checked_sub(1));
            match in_clause {
                Some(head) if matches!(what(nodes, head), Some(What::Dataset(_))) => move_before(nodes, at, head),
                _ => set(nodes, at, What::Cue(Cue::HowMuch)),
            }
        }
        Some(What::Metric(_)) => set(nodes, at, What::Cue(Cue::HowMuch)),
        Some(What::Dataset(_) | What::Field(_)) => {
            let tie = nodes
                .get(..counted)
                .unwrap_or_default()
                .iter()
                .rposition(|node| node.what == What::Cue(Cue::Whose));
            let head = tie
                .and_then(|tie| tie.checked_sub(1))
                .filter(|head| matches!(what(nodes, *head), Some(What::Dataset(_))));
            move_before(nodes, at, head.unwrap_or(counted));
        }
        _ => {}
    }
}

fn move_before(nodes: &mut Vec<Node>, from: usize, to: usize) {
    if from > to && from < nodes.len() {
        let node = nodes.remove(from);
        nodes.insert(to, node);
    }
}

/// "近两周的收款金额": an amount that may be added up is, where nothing lists rows.
fn amounts(nodes: &mut Vec<Node>, scope: &Scope<'_>) {
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
