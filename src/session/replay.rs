//! A session shown again: its events, in their order and at their pace, to a listener like any other.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::session::event::Event;
use crate::session::timeline::Listener;

/// A pause that nobody would sit through again, such as the night between an interruption and its resumption.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Tells `events` to `listener`, `speed` times as fast as they happened; 0 is at once. Ends early when cancelled.
///
/// Needs neither the database nor the model.
pub async fn replay(events: &[Event], speed: f64, listener: &dyn Listener, cancel: &CancellationToken) {
    let mut before = None;
    for event in events {
        let at = event.at.parse::<jiff::Timestamp>().ok();
        if let Some(pause) = pause(before, at, speed) {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = cancel.cancelled() => return,
            }
        }
        before = at.or(before);
        listener.hear(event);
    }
}

/// How long to wait between two moments; `None` for no time at all.
fn pause(before: Option<jiff::Timestamp>, at: Option<jiff::Timestamp>, speed: f64) -> Option<Duration> {
    if speed <= 0.0 {
        return None;
    }
    let gap = Duration::try_from(at?.duration_since(before?)).ok()?;
    Some(gap.min(LONGEST_PAUSE).div_f64(speed)).filter(|pause| !pause.is_zero())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("2026-11-30T16:15:02.000Z", "2026-11-30T16:15:03.000Z", 1.0, Some(1000))]
    #[case("2026-11-30T16:15:02.000Z", "2026-11-30T16:15:03.000Z", 4.0, Some(250))]
    #[case("2026-11-30T16:15:02.000Z", "2026-12-01T16:15:03.000Z", 1.0, Some(10_000))]
    #[case("2026-11-30T16:15:02.000Z", "2026-11-30T16:15:03.000Z", 0.0, None)]
    #[case("2026-11-30T16:15:02.000Z", "2026-11-30T16:15:02.000Z", 1.0, None)]
    // A clock that was set back is no pause.
    #[case("2026-11-30T16:15:02.000Z", "2026-11-30T16:15:01.000Z", 1.0, None)]
    fn pauses_are_those_of_the_run(
        #[case] before: &str,
        #[case] at: &str,
        #[case] speed: f64,
        #[case] millis: Option<u64>,
    ) {
        let moment = |text: &str| text.parse().ok();
        assert_eq!(
            pause(moment(before), moment(at), speed),
            millis.map(Duration::from_millis)
        );
    }
}
