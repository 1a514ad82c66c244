//! The specimens: every kind of chart, in English and Chinese, with ordinary and with odd data. The tests lay them out too.

use super::{
    Annotation, ChartKind, ChartSpec, Chinese, Data, English, Grain, Language, Point, ReferenceLine, Scale, Series,
    Unit,
};

/// Every specimen with its name.
pub fn all() -> Vec<(&'static str, ChartSpec)> {
    [rankings(), columns(), lines(), shares(), points(), odd_ones()].concat()
}

const PEOPLE: [(&str, f64); 12] = [
    ("Leslie Jennings", 41_280.55),
    ("Gerard Hernandez", 38_914.10),
    ("Pamela Castillo", 33_022.75),
    ("Larry Bott", 27_410.00),
    ("Barry Jones", 26_870.40),
    ("George Vanauf", 22_145.90),
    ("Loui Bondur", 19_308.25),
    ("Andy Fixter", 17_990.00),
    ("Steve Patterson", 15_402.60),
    ("Foon Yue Tseng", 12_218.48),
    ("Mami Nishi", 9_870.15),
    ("Martin Gerard", 2_140.00),
];

fn new(kind: ChartKind, title: &str, subtitle: &str, language: Language) -> ChartSpec {
    let mut spec = ChartSpec::new(kind, title, language);
    spec.subtitle = (!subtitle.is_empty()).then(|| subtitle.to_string());
    spec
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

fn full(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().copied().map(Some).collect()
}

fn note(at: &str, text: &str) -> Annotation {
    Annotation {
        at: at.into(),
        text: text.into(),
    }
}

fn line_at(value: f64, label: &str) -> ReferenceLine {
    ReferenceLine {
        value,
        label: label.into(),
    }
}

/// Numbers between 0 and 1 that look random and are the same every time.
fn noise(seed: u64) -> impl Iterator<Item = f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    })
}

fn days(count: i64) -> Vec<String> {
    let start = jiff::civil::date(2005, 8, 1);
    (0..count)
        .filter_map(|day| start.checked_add(jiff::Span::new().days(day)).ok())
        .map(|day| day.to_string())
        .collect()
}

fn months(from_year: i32, count: i32) -> Vec<String> {
    (0..count)
        .map(|month| format!("{}-{:02}", from_year + month / 12, month % 12 + 1))
        .collect()
}

fn ranking() -> ChartSpec {
    let mut spec = new(
        ChartKind::Bar,
        "Leslie Jennings sold most in August 2005; Martin Gerard collapsed",
        "Net sales by employee, 1–31 August 2005, US dollars",
        English,
    );
    spec.y.unit = Unit::money("USD");
    spec.y.label = Some("Net sales".into());
    spec.categories = PEOPLE.iter().map(|(name, _)| name.to_string()).collect();
    spec.series = vec![Series::values(
        "Net sales",
        PEOPLE.iter().map(|(_, value)| Some(*value)),
    )];
    spec.note = Some(
        "Cancelled orders are left out; returns are subtracted. Orders without an employee (3) are not shown.".into(),
    );
    spec.source = Some("sample sales database, q3".into());
    spec
}

fn rankings() -> Vec<(&'static str, ChartSpec)> {
    let plain = ranking();
    let mut marked = ranking();
    marked.highlight = names(&["Leslie Jennings", "Martin Gerard"]);
    marked.annotations = vec![
        note("Leslie Jennings", "one order of $21,300 makes half of it"),
        note("Martin Gerard", "86% below his own average of the last 12 months"),
    ];
    marked.reference_lines = vec![line_at(20_000.0, "Target"), line_at(18_650.0, "Median")];
    let mut chinese = new(
        ChartKind::Bar,
        "八月销售额：詹宁斯第一，马丁·杰拉德大幅下滑",
        "2005 年 8 月 1 日至 31 日各员工净销售额（人民币）",
        Chinese,
    );
    chinese.y.unit = Unit::money("CNY");
    chinese.categories = names(&[
        "莱斯利·詹宁斯",
        "杰拉德·埃尔南德斯",
        "帕梅拉·卡斯蒂略",
        "张伟（华东大区重点客户部）",
        "王芳",
        "马丁·杰拉德",
    ]);
    chinese.series = vec![Series::values(
        "净销售额",
        full(&[1_412_805.5, 889_141.0, 630_227.0, 274_100.0, 98_704.0, 21_400.0]),
    )];
    chinese.highlight = names(&["马丁·杰拉德"]);
    chinese.annotations = vec![note("马丁·杰拉德", "比其过去 12 个月平均值低 86%")];
    chinese.note = Some("不含已取消订单；退货已扣除。".into());
    chinese.source = Some("销售样例数据库，q3".into());
    let mut change = new(
        ChartKind::Bar,
        "Ships and trains fell, motorcycles gained a third",
        "Change of net sales against August 2004",
        English,
    );
    change.y.unit = Unit::Percent;
    change.categories = names(&[
        "Motorcycles",
        "Classic Cars",
        "Vintage Cars",
        "Planes",
        "Trucks and Buses",
        "Trains",
        "Ships",
    ]);
    change.series = vec![Series::values(
        "Change",
        full(&[0.334, 0.121, 0.004, -0.018, -0.072, -0.21, -0.385]),
    )];
    change.annotations = vec![note("Ships", "two customers left")];
    let mut many = new(
        ChartKind::Bar,
        "Two hundred customers, few of them large",
        "Net sales by customer, 2005",
        English,
    );
    many.y.unit = Unit::money("USD");
    many.categories = (1..=200).map(|index| format!("Customer number {index}")).collect();
    many.series = vec![Series::values(
        "Net sales",
        (1..=200).map(|index| Some(180_000.0 / f64::from(index))),
    )];
    let mut long = new(
        ChartKind::Bar,
        "Long names are wrapped and, if need be, cut, and so is a very long title that somebody wrote without thinking of those who have to read it",
        "Orders",
        English,
    );
    long.y.unit = Unit::Count;
    long.categories = names(&[
        "Australian Collectors, Co. (formerly Anderson & Sons Import-Export Proprietary Limited, Melbourne)",
        "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
        "La Rochelle Gifts",
        "Euro+ Shopping Channel",
    ]);
    long.series = vec![Series::values("Orders", vec![Some(55.0), Some(31.0), None, Some(4.0)])];
    vec![
        ("bar_plain", plain),
        ("bar_marked", marked),
        ("bar_zh", chinese),
        ("bar_change", change),
        ("bar_200", many),
        ("bar_long", long),
    ]
}

fn columns() -> Vec<(&'static str, ChartSpec)> {
    let mut monthly = new(
        ChartKind::Bar,
        "August was the best month since March",
        "Net sales by month",
        English,
    );
    monthly.x.scale = Scale::Time { grain: Grain::Month };
    monthly.y.unit = Unit::money("USD");
    monthly.categories = months(2004, 24)
        .into_iter()
        .filter(|month| month != "2005-06")
        .collect();
    let values: Vec<f64> = noise(3).take(23).map(|value| 180_000.0 + 160_000.0 * value).collect();
    monthly.series = vec![Series::values("Net sales", full(&values))];
    monthly.highlight = names(&["2005-08"]);
    monthly.annotations = vec![
        note("2005-08", "one order of $21,300"),
        note("2005-12", "to 12 December only"),
    ];
    monthly.reference_lines = vec![line_at(250_000.0, "Target")];
    let mut daily = new(
        ChartKind::Bar,
        "Three days without a single order",
        "Orders per day, August 2005",
        English,
    );
    daily.x.scale = Scale::Time { grain: Grain::Day };
    daily.y.unit = Unit::Count;
    daily.categories = days(31);
    daily.series = vec![Series::values(
        "Orders",
        noise(5).take(31).enumerate().map(|(day, value)| {
            if (13..16).contains(&day) {
                None
            } else {
                Some((value * 40.0 + 8.0).round())
            }
        }),
    )];
    daily.annotations = vec![note("2005-08-15", "no orders from 14 to 16 August")];
    let mut few = new(ChartKind::Bar, "Paris leads", "Orders by office", English);
    few.categories = names(&["Paris", "NYC", "Tokyo"]);
    few.y.unit = Unit::Count;
    few.series = vec![Series::values("Orders", full(&[812.0, 640.0, 128.0]))];
    let mut grouped = new(
        ChartKind::GroupedBar,
        "Every office grew but Tokyo",
        "Net sales by office, August",
        English,
    );
    grouped.categories = names(&["Paris", "NYC", "San Francisco", "Boston", "London", "Sydney", "Tokyo"]);
    grouped.y.unit = Unit::money("USD");
    grouped.series = vec![
        Series::values(
            "August 2005",
            full(&[
                412_000.0, 388_000.0, 301_500.0, 240_100.0, 199_000.0, 187_000.0, 52_000.0,
            ]),
        ),
        Series::values(
            "August 2004",
            full(&[
                350_000.0, 371_000.0, 266_000.0, 236_000.0, 141_000.0, 160_000.0, 88_000.0,
            ]),
        ),
    ];
    grouped.highlight = names(&["August 2005"]);
    let mut long = grouped.clone();
    long.categories = PEOPLE.iter().map(|(name, _)| name.to_string()).collect();
    long.series = vec![
        Series::values("Actual", PEOPLE.iter().map(|(_, value)| Some(*value))),
        Series::values(
            "Target",
            PEOPLE
                .iter()
                .enumerate()
                .map(|(index, _)| (index != 4).then_some(20_000.0)),
        ),
    ];
    long.highlight = names(&["Actual"]);
    long.title = "Seven of twelve missed their target".into();
    long.subtitle = Some("Net sales and target by employee, August 2005".into());
    let mut quarters = new(
        ChartKind::GroupedBar,
        "各产品线季度销售额",
        "2004–2005 年，人民币",
        Chinese,
    );
    quarters.x.scale = Scale::Time { grain: Grain::Quarter };
    quarters.categories = names(&[
        "2004-Q1", "2004-Q2", "2004-Q3", "2004-Q4", "2005-Q1", "2005-Q2", "2005-Q3", "2005-Q4",
    ]);
    quarters.y.unit = Unit::money("CNY");
    quarters.y.label = Some("净销售额".into());
    quarters.series = ["经典汽车", "老爷车", "摩托车"]
        .iter()
        .zip(11..)
        .map(|(name, seed)| {
            Series::values(
                *name,
                noise(seed).take(8).map(|value| Some(200_000.0 + 900_000.0 * value)),
            )
        })
        .collect();
    vec![
        ("column_months", monthly),
        ("column_days", daily),
        ("column_few", few),
        ("grouped", grouped),
        ("grouped_rows", long),
        ("grouped_zh", quarters),
    ]
}

fn walk(seed: u64, count: usize, start: f64, step: f64) -> Vec<f64> {
    let mut value = start;
    noise(seed)
        .take(count)
        .map(|noise| {
            value += (noise - 0.48) * step;
            value
        })
        .collect()
}

fn lines() -> Vec<(&'static str, ChartSpec)> {
    let mut single = new(
        ChartKind::Line,
        "Sales dipped in June and came back",
        "Net sales by month, January 2003 to December 2005",
        English,
    );
    single.x.scale = Scale::Time { grain: Grain::Month };
    single.y.unit = Unit::money("USD");
    single.categories = months(2003, 36);
    single.series = vec![Series::values("Net sales", full(&walk(7, 36, 310_000.0, 60_000.0)))];
    single.highlight = names(&["2005-08"]);
    single.annotations = vec![
        note("2005-06", "one employee left"),
        note("2005-12", "to 12 December only"),
    ];
    single.reference_lines = vec![line_at(330_000.0, "Target")];
    let mut gaps = new(
        ChartKind::Line,
        "Three days without orders",
        "Orders per day, August 2005",
        English,
    );
    gaps.x.scale = Scale::Time { grain: Grain::Day };
    gaps.y.unit = Unit::Count;
    gaps.categories = days(31)
        .into_iter()
        .filter(|day| {
            !matches!(
                day.as_str(),
                "2005-08-14" | "2005-08-15" | "2005-08-16" | "2005-08-22" | "2005-08-24"
            )
        })
        .collect();
    gaps.series = vec![Series::values(
        "Orders",
        noise(9).take(26).map(|value| Some((value * 40.0 + 20.0).round())),
    )];
    let mut multi = new(
        ChartKind::MultiLine,
        "The gap between the offices is closing",
        "Net sales by office and month, 2005",
        English,
    );
    multi.x.scale = Scale::Time { grain: Grain::Month };
    multi.y.unit = Unit::money("USD");
    multi.categories = months(2005, 12);
    multi.series = [
        "Paris",
        "New York",
        "San Francisco and the western states",
        "Tokyo",
        "London",
    ]
    .iter()
    .zip(21..)
    .map(|(name, seed)| {
        Series::values(
            *name,
            full(&walk(seed, 12, 30_000.0 + 2_000.0 * (seed % 3) as f64, 9_000.0)),
        )
    })
    .collect();
    let mut many = new(
        ChartKind::MultiLine,
        "Two of fifteen employees stand out",
        "Net sales by employee and month, US dollars",
        English,
    );
    many.x.scale = Scale::Time { grain: Grain::Month };
    many.y.unit = Unit::money("USD");
    many.categories = months(2004, 20);
    many.series = (1..=15)
        .zip(31..)
        .map(|(index, seed)| Series::values(format!("Employee {index}"), full(&walk(seed, 20, 25_000.0, 8_000.0))))
        .collect();
    many.highlight = names(&["Employee 3", "Employee 8"]);
    let mut unhighlighted = many.clone();
    unhighlighted.highlight.clear();
    unhighlighted.title = "Nobody was named".into();
    let mut chinese = new(
        ChartKind::MultiLine,
        "华东与华北差距缩小",
        "2005 年各大区每日销售额",
        Chinese,
    );
    chinese.x.scale = Scale::Time { grain: Grain::Day };
    chinese.y.unit = Unit::money("CNY");
    chinese.y.label = Some("销售额".into());
    chinese.categories = days(92);
    chinese.series = ["华东大区", "华北大区"]
        .iter()
        .zip(51..)
        .map(|(name, seed)| Series::values(*name, full(&walk(seed, 92, 250_000.0, 30_000.0))))
        .collect();
    let mut ended = multi.clone();
    ended.title = "One employee left in June".into();
    if let Some(Series {
        data: Data::Values(values),
        ..
    }) = ended.series.get_mut(1)
    {
        values.iter_mut().skip(6).for_each(|value| *value = None);
    }
    let mut dense = new(
        ChartKind::Line,
        "Ten thousand points",
        "A random walk over numbers",
        English,
    );
    dense.x.scale = Scale::Number;
    dense.x.label = Some("Step".into());
    dense.series = vec![Series::points(
        "Walk",
        walk(61, 10_000, 0.0, 4.0)
            .into_iter()
            .enumerate()
            .map(|(x, y)| (x as f64, y)),
    )];
    let mut names_along = new(
        ChartKind::Line,
        "Conversion by step",
        "Share of visitors who reach each step",
        English,
    );
    names_along.y.unit = Unit::Percent;
    names_along.categories = names(&["Visit", "Product page", "Basket", "Check-out", "Payment"]);
    names_along.series = vec![Series::values("Share", full(&[1.0, 0.62, 0.21, 0.12, 0.094]))];
    vec![
        ("line", single),
        ("line_gaps", gaps),
        ("multi", multi),
        ("multi_15", many),
        ("multi_15_plain", unhighlighted),
        ("multi_zh", chinese),
        ("multi_ended", ended),
        ("line_10k", dense),
        ("line_names", names_along),
    ]
}

fn shares() -> Vec<(&'static str, ChartSpec)> {
    let mut stack = new(
        ChartKind::Share,
        "Classic cars make almost half of sales",
        "Share of net sales by product line, August 2005",
        English,
    );
    stack.y.unit = Unit::money("USD");
    stack.categories = names(&["Classic Cars", "Vintage Cars", "Motorcycles", "Planes"]);
    stack.series = vec![Series::values(
        "Net sales",
        full(&[412_000.0, 241_000.0, 130_000.0, 96_000.0]),
    )];
    let mut sorted = stack.clone();
    sorted.categories = PEOPLE
        .iter()
        .map(|(name, _)| name.to_string())
        .chain(["Julie Firrelli".into(), "Leslie Thompson".into()])
        .collect();
    sorted.series = vec![Series::values(
        "Net sales",
        PEOPLE
            .iter()
            .map(|(_, value)| Some(*value))
            .chain([Some(800.0), Some(350.0)]),
    )];
    sorted.title = "Three employees bring in more than 40%".into();
    sorted.subtitle = Some("Share of net sales by employee, August 2005".into());
    sorted.highlight = names(&["Leslie Jennings", "Gerard Hernandez", "Pamela Castillo"]);
    let mut chinese = stack.clone();
    chinese.language = Chinese;
    chinese.title = "经典汽车占销售额近一半".into();
    chinese.subtitle = Some("2005 年 8 月各产品线净销售额占比".into());
    chinese.categories = names(&["经典汽车", "老爷车", "摩托车", "飞机模型"]);
    chinese.y.unit = Unit::money("CNY");
    let mut stacks = new(
        ChartKind::Share,
        "Ships lost ground in every office",
        "Share of net sales by product line",
        English,
    );
    stacks.categories = names(&["Paris", "New York", "San Francisco", "Tokyo", "London", "Closed office"]);
    stacks.series = [
        ("Classic Cars", 3.0),
        ("Vintage Cars", 2.0),
        ("Planes", 1.0),
        ("Ships", 0.6),
    ]
    .iter()
    .zip(71..)
    .map(|((name, weight), seed)| {
        Series::values(
            *name,
            noise(seed)
                .take(5)
                .map(|value| Some(weight * (0.5 + value)))
                .chain([None]),
        )
    })
    .collect();
    vec![
        ("share_stack", stack),
        ("share_sorted", sorted),
        ("share_zh", chinese),
        ("share_stacks", stacks),
    ]
}

fn points() -> Vec<(&'static str, ChartSpec)> {
    let mut few = new(
        ChartKind::Scatter,
        "Large orders do not come from many orders",
        "Employees by number of orders and average order value, August 2005",
        English,
    );
    few.x.label = Some("Orders".into());
    few.x.unit = Unit::Count;
    few.y.label = Some("Average order value".into());
    few.y.unit = Unit::money("USD");
    few.highlight = names(&["Leslie Jennings"]);
    few.annotations = vec![note("Martin Gerard", "only two orders")];
    few.series = vec![Series {
        name: "Employees".into(),
        data: Data::Points(
            PEOPLE
                .iter()
                .zip(noise(81))
                .map(|((name, total), value)| {
                    let orders = if total < &3000.0 {
                        2.0
                    } else {
                        (10.0 + 20.0 * value).round()
                    };
                    Point {
                        x: orders,
                        y: total / orders,
                        label: Some(name.to_string()),
                    }
                })
                .collect(),
        ),
    }];
    let mut cloud = new(
        ChartKind::Scatter,
        "Customers who order often order small",
        "One dot per customer, 2003 to 2005",
        English,
    );
    cloud.x.label = Some("Orders".into());
    cloud.y.label = Some("Average order value".into());
    cloud.y.unit = Unit::money("USD");
    let (xs, ys): (Vec<f64>, Vec<f64>) = (noise(82).take(300).collect(), noise(83).take(300).collect());
    cloud.series = vec![Series {
        name: "Customers".into(),
        data: Data::Points(
            xs.iter()
                .zip(&ys)
                .enumerate()
                .map(|(index, (x, y))| Point {
                    x: 5.0 + x * x * 60.0 + if index == 17 { 90.0 } else { 0.0 },
                    y: 900.0 * y + 4000.0 / (5.0 + x * 20.0) + if index == 5 { 2200.0 } else { 0.0 },
                    label: Some(format!("Customer {index}")),
                })
                .collect(),
        ),
    }];
    let mut dense = new(ChartKind::Scatter, "一万个点", "每个点是一条订单明细", Chinese);
    dense.x.label = Some("数量".into());
    dense.y.label = Some("金额".into());
    dense.y.unit = Unit::money("CNY");
    let both: Vec<(f64, f64)> = noise(84)
        .zip(noise(85))
        .take(10_000)
        .map(|(x, y)| (x * 100.0, (x + y) * 9_000.0))
        .collect();
    dense.series = vec![
        Series::points("线下", both.iter().copied().step_by(2)),
        Series::points("线上", both.iter().skip(1).step_by(2).map(|(x, y)| (*x, y * 0.6))),
    ];
    let mut histogram = new(
        ChartKind::Histogram,
        "Most orders are worth less than $1,000",
        "Orders by value, August 2005",
        English,
    );
    histogram.x.label = Some("Order value".into());
    histogram.x.unit = Unit::money("USD");
    let mut values: Vec<f64> = noise(86)
        .take(900)
        .map(|value| (-(1.0 - value).ln()) * 620.0 + 40.0)
        .collect();
    values.push(9_300.0);
    histogram.reference_lines = vec![line_at(470.0, "Median"), line_at(690.0, "Mean")];
    histogram.series = vec![Series::values("Order value", full(&values))];
    let mut whole = new(ChartKind::Histogram, "Items per order", "", English);
    whole.x.label = Some("Items".into());
    whole.series = vec![Series::values(
        "Items",
        noise(87)
            .zip(noise(88))
            .take(500)
            .map(|(left, right)| Some(((left + right) * 6.0).floor() + 1.0)),
    )];
    vec![
        ("scatter", few),
        ("scatter_300", cloud),
        ("scatter_10k_zh", dense),
        ("histogram", histogram),
        ("histogram_whole", whole),
    ]
}

fn odd_ones() -> Vec<(&'static str, ChartSpec)> {
    let bar = |title: &str, categories: &[&str], values: &[Option<f64>]| {
        let mut spec = new(ChartKind::Bar, title, "", English);
        spec.y.label = Some("Net sales, US dollars".into());
        spec.categories = names(categories);
        spec.series = vec![Series::values("Net sales", values.iter().copied())];
        spec
    };
    let mut one_point = new(ChartKind::Line, "One point", "", English);
    one_point.x.scale = Scale::Time { grain: Grain::Month };
    one_point.categories = names(&["2005-08"]);
    one_point.series = vec![Series::values("Net sales", [Some(512.0)])];
    let mut same = new(ChartKind::Line, "Identical values", "", English);
    same.x.scale = Scale::Time { grain: Grain::Year };
    same.categories = (2001..2006).map(|year| year.to_string()).collect();
    same.series = vec![Series::values("Net sales", full(&[7.0; 5]))];
    let mut same_histogram = new(ChartKind::Histogram, "Identical values", "", English);
    same_histogram.series = vec![Series::values("Net sales", full(&[0.99; 40]))];
    let mut grouped_negative = new(ChartKind::GroupedBar, "Mixed signs", "Profit by quarter", English);
    grouped_negative.x.scale = Scale::Time { grain: Grain::Quarter };
    grouped_negative.categories = names(&["2005-Q1", "2005-Q2", "2005-Q3", "2005-Q4"]);
    grouped_negative.y.unit = Unit::money("EUR");
    grouped_negative.series = vec![
        Series::values("Paris", full(&[1.2e6, -0.4e6, 0.8e6, 2.4e6])),
        Series::values("London", full(&[-0.2e6, -0.9e6, 0.1e6, 0.5e6])),
    ];
    let mut long_days = new(ChartKind::Bar, "Two years of days", "Orders per day", English);
    long_days.x.scale = Scale::Time { grain: Grain::Day };
    long_days.categories = days(700);
    long_days.series = vec![Series::values(
        "Orders",
        noise(91).take(700).map(|value| Some((value * 90.0).round())),
    )];
    let mut equal_points = new(ChartKind::Scatter, "One point, many times", "", English);
    equal_points.series = vec![Series::points("Same", [(3.0, 4.0); 5])];
    vec![
        ("odd_one_category", bar("One category", &["Paris"], &[Some(81_234.5)])),
        (
            "odd_all_zero",
            bar("All zero", &["Paris", "London", "Tokyo office"], &[Some(0.0); 3]),
        ),
        (
            "odd_all_null",
            bar("All null", &["Paris", "London"], &[None, Some(f64::NAN)]),
        ),
        (
            "odd_sizes",
            bar(
                "Huge and small",
                &[
                    "Whole market of the world",
                    "Our company",
                    "A kiosk",
                    "Nothing",
                    "A loss",
                ],
                &[Some(4.2e12), Some(3.1e9), Some(12_345.678), Some(0.0), Some(-8.0e11)],
            ),
        ),
        (
            "odd_tiny",
            bar(
                "Tiny numbers",
                &["First", "Second", "Third one, a bit longer"],
                &[Some(0.000_012), Some(0.000_034), Some(0.000_001_5)],
            ),
        ),
        ("odd_one_point", one_point),
        ("odd_same", same),
        ("odd_same_histogram", same_histogram),
        ("odd_negative_groups", grouped_negative),
        ("odd_700_days", long_days),
        ("odd_equal_points", equal_points),
    ]
}
