//! Tick marks at round numbers: steps of 1, 2 or 5 times a power of ten.

/// A range of an axis and the marks in it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ticks {
    /// The lower end of the axis.
    pub low: f64,
    /// The upper end of the axis.
    pub high: f64,
    /// Distance between marks.
    pub step: f64,
    /// The marks, ascending, all between `low` and `high`.
    pub marks: Vec<f64>,
}

/// How an axis may be cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rule {
    /// The axis must contain zero (bars do; lines need not).
    pub zero: bool,
    /// Only whole numbers exist (counts).
    pub whole: bool,
    /// About so many steps.
    pub steps: f64,
    /// The axis ends at marks; otherwise it ends a little beyond the data.
    pub round_ends: bool,
}

/// Below this share of the largest value a line's axis starts at zero anyway: cutting it off would gain nothing.
const NEAR_ZERO: f64 = 0.5;
/// Air above and below lines and points, as a share of the data's range.
const AIR: f64 = 0.06;

/// An axis ends at a mark unless more than this share of the last step would be empty.
const MOST_EMPTY: f64 = 0.62;

/// Never more marks than this, whatever the numbers.
const MOST_MARKS: f64 = 100.0;

/// An axis for values from `low` to `high` (both finite, `low ≤ high`).
pub(super) fn ticks(low: f64, high: f64, rule: Rule) -> Ticks {
    let (low, high) = range(low, high, rule);
    let step = nice_step((high - low) / rule.steps, rule.whole);
    let (first, last) = ((low / step).floor(), (high / step).ceil());
    let (low, high) = if rule.round_ends {
        (snap(low, first * step, step), snap_up(high, last * step, step))
    } else {
        (low, high)
    };
    let slack = step * 1e-6;
    let count = (last - first).clamp(0.0, MOST_MARKS) as usize;
    let marks = (0..=count)
        .map(|index| (first + index as f64) * step)
        .map(|mark| if mark.abs() < slack { 0.0 } else { mark })
        .filter(|mark| *mark >= low - slack && *mark <= high + slack)
        .collect();
    Ticks { low, high, step, marks }
}

/// The smallest 1, 2 or 5 times a power of ten that is not below `rough`.
pub(super) fn nice_step(rough: f64, whole: bool) -> f64 {
    if !rough.is_finite() || rough <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough * (1.0 - 1e-9))
        .unwrap_or(power * 10.0);
    if whole { step.max(1.0) } else { step }
}

/// The data's range with zero and air as the rule asks; never empty.
fn range(low: f64, high: f64, rule: Rule) -> (f64, f64) {
    if rule.zero || (low == 0.0 && high == 0.0) {
        let (low, high) = (low.min(0.0), high.max(0.0));
        return if low == high { (0.0, 1.0) } else { (low, high) };
    }
    let spread = high - low;
    if spread <= high.abs().max(low.abs()) * 1e-9 {
        let pad = high.abs() * 0.1;
        return (low - pad, high + pad);
    }
    let (padded_low, padded_high) = (low - spread * AIR, high + spread * AIR);
    if low >= 0.0 && (padded_low < 0.0 || low < high * NEAR_ZERO) {
        (0.0, padded_high)
    } else if high <= 0.0 && (padded_high > 0.0 || high > low * NEAR_ZERO) {
        (padded_low, 0.0)
    } else {
        (padded_low, padded_high)
    }
}

/// The end at the mark below, unless most of a step would be empty.
fn snap(end: f64, mark: f64, step: f64) -> f64 {
    if end - mark <= step * MOST_EMPTY || mark == 0.0 {
        mark
    } else {
        end
    }
}

/// The end at the mark above, unless most of a step would be empty.
fn snap_up(end: f64, mark: f64, step: f64) -> f64 {
    if mark - end <= step * MOST_EMPTY || mark == 0.0 {
        mark
    } else {
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const BARS: Rule = Rule {
        zero: true,
        whole: false,
        steps: 5.0,
        round_ends: true,
    };
    const LINES: Rule = Rule {
        zero: false,
        whole: false,
        steps: 5.0,
        round_ends: true,
    };

    #[rstest]
    #[case::bars_start_at_zero(BARS, 40.0, 97.0, &[0.0, 20.0, 40.0, 60.0, 80.0, 100.0])]
    #[case::both_signs(BARS, -30.0, 95.0, &[-50.0, 0.0, 50.0, 100.0])]
    #[case::all_zero(BARS, 0.0, 0.0, &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0])]
    #[case::negative_bars_end_at_zero(BARS, -90.0, -10.0, &[-100.0, -80.0, -60.0, -40.0, -20.0, 0.0])]
    #[case::lines_may_start_above_zero(LINES, 900.0, 980.0, &[900.0, 920.0, 940.0, 960.0, 980.0])]
    #[case::lines_near_zero_start_there(LINES, 10.0, 90.0, &[0.0, 20.0, 40.0, 60.0, 80.0, 100.0])]
    #[case::huge(BARS, 0.0, 4.1e12, &[0.0, 1e12, 2e12, 3e12, 4e12])]
    #[case::whole_steps_for_counts(Rule { whole: true, ..BARS }, 0.0, 2.0, &[0.0, 1.0, 2.0])]
    fn marks_are_round(#[case] rule: Rule, #[case] low: f64, #[case] high: f64, #[case] marks: &[f64]) {
        let found = ticks(low, high, rule).marks;
        assert_eq!(found.len(), marks.len(), "{found:?}");
        for (found, mark) in found.iter().zip(marks) {
            assert!(
                (found - mark).abs() < 1e-9 * mark.abs().max(1.0),
                "{found} is not {mark}"
            );
        }
    }

    #[rstest]
    #[case(7.0, 7.0)]
    #[case(-3.0, -3.0)]
    #[case(1e-9, 1.0000001e-9)]
    #[case(-5.0, 5.0)]
    #[case(1e18, 9e18)]
    #[case(123456.0, 123457.0)]
    fn the_axis_holds_the_data_and_has_marks(#[case] low: f64, #[case] high: f64) {
        for rule in [BARS, LINES] {
            let ticks = ticks(low, high, rule);
            assert!(
                ticks.low <= low && ticks.high >= high && ticks.low < ticks.high,
                "{ticks:?}"
            );
            assert!((2..=12).contains(&ticks.marks.len()), "{ticks:?}");
        }
    }
}
