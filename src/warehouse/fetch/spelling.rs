//! What texts look like, and how values are spelled where a column must hold them as text.

/// What every text value of a column has looked like so far.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Unseen,
    Date,
    DateTime,
    Other,
}

/// Is this `YYYY-MM-DD`, or that followed by a time? Only the shape is looked at, and the ranges of month and day.
pub(crate) fn look_of(text: &[u8]) -> Look {
    let digits =
        |range: std::ops::Range<usize>| text.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    let two = |at: usize| match text.get(at..at + 2) {
        Some([tens, ones]) => u32::from(*tens) * 10 + u32::from(*ones) - 11 * u32::from(b'0'),
        _ => u32::MAX,
    };
    let date = digits(0..4)
        && text.get(4) == Some(&b'-')
        && digits(5..7)
        && text.get(7) == Some(&b'-')
        && digits(8..10)
        && (1..=12).contains(&two(5))
        && (1..=31).contains(&two(8));
    match text.get(10) {
        None if date => Look::Date,
        Some(b' ' | b'T')
            if date
                && digits(11..13)
                && text.get(13) == Some(&b':')
                && digits(14..16)
                && two(11) < 24
                && two(14) < 60 =>
        {
            Look::DateTime
        }
        _ => Look::Other,
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("x'{digits}'")
}
