//! How raw values are distributed, in columns with round edges.

use super::number::Format;
use super::page::Page;
use super::plot::{self, Plot};
use super::references;
use super::scene::{Anchor, Area, Shape};
use super::spec::{ReferenceLine, Unit};
use super::style::{ACCENT, INK, MARGIN, SMALL, WIDTH};
use super::ticks::{Rule, Ticks, nice_step, ticks};

/// Columns, at least and at most.
const FEWEST_BINS: f64 = 5.0;
const MOST_BINS: f64 = 50.0;
/// Even a single value must be seen.
const LOWEST: f64 = 1.5;
/// Whole numbers in so small a range get a column each.
const MOST_WHOLE: f64 = 25.0;

/// Columns of equal width.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bins {
    /// Lower edge of the first column.
    pub start: f64,
    pub width: f64,
    pub counts: Vec<usize>,
    /// Each column is one whole number, in its middle.
    pub one_each: bool,
}

/// Bins by Freedman and Diaconis (1981): width `2 · IQR / ∛n`, rounded to 1, 2 or 5 times a power of ten.
///
/// `values`: finite, ascending, at least one.
pub(super) fn bins(values: &[f64]) -> Bins {
    let (low, high) = (
        values.first().copied().unwrap_or(0.0),
        values.last().copied().unwrap_or(0.0),
    );
    let range = high - low;
    let whole = values.iter().all(|value| value.fract() == 0.0 && value.abs() < 1e15);
    if whole && range <= MOST_WHOLE {
        return counted(values, low - 0.5, 1.0, range as usize + 1, true);
    }
    if range <= low.abs().max(high.abs()) * 1e-9 {
        let width = nice_step((low.abs() * 0.05).max(f64::MIN_POSITIVE), whole);
        return counted(values, low - width / 2.0, width, 1, false);
    }
    let rough = 2.0 * (quantile(values, 0.75) - quantile(values, 0.25)) / (values.len() as f64).cbrt();
    // Many equal values leave no spread in the middle half: Sturges' number of columns then.
    let rough = if rough > 0.0 {
        rough
    } else {
        range / ((values.len() as f64).log2() + 1.0)
    };
    let mut width = nice_step(rough.clamp(range / MOST_BINS, range / FEWEST_BINS) * 0.75, whole);
    while range / width > MOST_BINS {
        width = nice_step(width * 1.5, whole);
    }
    let start = (low / width).floor() * width;
    let count = ((high - start) / width + 1e-9).floor() as usize + 1;
    counted(values, start, width, count, false)
}

fn counted(values: &[f64], start: f64, width: f64, count: usize, one_each: bool) -> Bins {
    let mut counts = vec![0; count.max(1)];
    let last = counts.len() - 1;
    for value in values {
        let index = (((value - start) / width + 1e-9).floor().max(0.0) as usize).min(last);
        if let Some(count) = counts.get_mut(index) {
            *count += 1;
        }
    }
    Bins {
        start,
        width,
        counts,
        one_each,
    }
}

/// Linear interpolation between the neighbours.
fn quantile(values: &[f64], share: f64) -> f64 {
    let place = share * (values.len().saturating_sub(1)) as f64;
    let at = |index: f64| values.get(index as usize).copied().unwrap_or(0.0);
    at(place.floor()) + (at(place.ceil()) - at(place.floor())) * place.fract()
}

/// Draws the histogram of `values` (finite, ascending).
pub(super) fn draw(page: &mut Page, values: &[f64]) {
    let bins = bins(values);
    let name = page.spec.y.label.clone().unwrap_or_else(|| page.words.frequency());
    page.axis_name(Some(&name), MARGIN);
    let most = bins.counts.iter().copied().max().unwrap_or(1) as f64;
    let counts = Format {
        unit: &Unit::Count,
        language: page.spec.language,
    };
    let axis = ticks(
        0.0,
        most,
        Rule {
            zero: true,
            whole: true,
            steps: 5.0,
            round_ends: true,
        },
    );
    let marks = &page.spec.reference_lines;
    let x_axis = x_axis(&bins, marks);
    let left = plot::left(page, &axis, counts);
    let x = |value: f64| left + (value - x_axis.low) / (x_axis.high - x_axis.low) * (WIDTH - MARGIN - left);
    let marks = references::above(page, marks, page.x_format(), &x);
    let plot = plot::open(page, axis, counts, true, 0.0);
    for (index, count) in bins.counts.iter().enumerate() {
        let left = bins.start + index as f64 * bins.width;
        let (from, to) = (x(left), x(left + bins.width));
        let gap = if to - from > 4.0 { 0.75 } else { 0.0 };
        if *count > 0 {
            page.bar(
                Area::new(
                    from + gap,
                    plot.y(0.0),
                    to - gap,
                    plot.y(*count as f64).min(plot.y(0.0) - LOWEST),
                ),
                ACCENT,
            );
        }
    }
    plot::baseline(page, &plot);
    for mark in marks {
        let (from, to) = ((mark.x, mark.top), (mark.x, plot.area.y1));
        page.draw(Shape::Dashes {
            from,
            to,
            color: INK,
            width: 1.0,
        });
    }
    plot::number_axis(page, &plot, &x_axis, page.x_format(), &x);
    let label = page
        .spec
        .x
        .label
        .clone()
        .or_else(|| page.spec.series.first().map(|series| series.name.clone()));
    x_label(page, label, &plot);
    if !bins.one_each && bins.counts.len() > 1 {
        let width = page.x_format().label(bins.width);
        let note = page.words.bin_width(&width);
        page.notes.push(note);
    }
}

/// The axis under the columns, long enough for the reference lines; ticks at edges, or in the middle of columns that
/// are one number each.
fn x_axis(bins: &Bins, marks: &[ReferenceLine]) -> Ticks {
    let end = bins.start + bins.counts.len() as f64 * bins.width;
    let low = marks.iter().map(|mark| mark.value).fold(bins.start, f64::min);
    let high = marks.iter().map(|mark| mark.value).fold(end, f64::max);
    if bins.counts.len() == 1 {
        // A single column would fill the page.
        let middle = bins.start + bins.width / 2.0;
        let (low, high) = (low - 3.0 * bins.width, high + 3.0 * bins.width);
        return Ticks {
            low,
            high,
            step: bins.width,
            marks: vec![middle],
        };
    }
    let step = nice_step(((high - low) / 10.0).max(bins.width), bins.one_each);
    let first = (low / step).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    Ticks {
        low,
        high,
        step,
        marks: (first..=last).map(|index| index as f64 * step).collect(),
    }
}

fn x_label(page: &mut Page, label: Option<String>, plot: &Plot) {
    let Some(label) = label else { return };
    page.label(
        &label,
        plot.area.x1,
        page.y + SMALL.size,
        Anchor::End,
        SMALL,
        super::style::GREY,
    );
    page.y += SMALL.leading() + 2.0;
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::whole_numbers_one_by_one(&[1.0, 1.0, 2.0, 4.0], 0.5, 1.0, &[2, 1, 0, 1])]
    #[case::one_value(&[7.5, 7.5], 7.25, 0.5, &[2])]
    #[case::round_edges(&[0.3, 1.2, 1.4, 2.2, 2.3, 2.5, 3.1, 4.9], 0.0, 1.0, &[1, 2, 3, 1, 1])]
    fn columns(#[case] values: &[f64], #[case] start: f64, #[case] width: f64, #[case] counts: &[usize]) {
        let bins = bins(values);
        assert_eq!((bins.start, bins.width, bins.counts.as_slice()), (start, width, counts));
    }

    #[test]
    fn every_value_is_counted_in_a_fair_number_of_columns() {
        let mut values: Vec<f64> = (0..5000)
            .map(|index| (f64::from(index) * 0.7).sin() * 300.0 + 1000.0)
            .collect();
        values.push(9_000.0);
        values.sort_by(f64::total_cmp);
        let bins = bins(&values);
        assert_eq!(bins.counts.iter().sum::<usize>(), 5001);
        assert!((5..=51).contains(&bins.counts.len()), "{}", bins.counts.len());
    }
}
