//! Chance that repeats: SplitMix64, the same numbers on every machine and in every release.

/// The one seed of the whole database.
const SEED: u64 = 2015;

/// A source of repeatable chance.
///
/// SplitMix64 by Sebastiano Vigna (public domain, <https://prng.di.unimi.it/splitmix64.c>), after Steele, Lea & Flood
/// (2014), "Fast Splittable Pseudorandom Number Generators". Written out here because a library may change its stream
/// between releases, and these numbers must never change.
pub struct Dice {
    state: u64,
}

impl Dice {
    /// Dice of their own for each `key`, so that a change in one corner of the company leaves all others as they are.
    pub fn of(key: &[u64]) -> Self {
        let mut dice = Self { state: SEED };
        for part in key {
            dice.state = dice.next() ^ part.wrapping_mul(0xD1B5_4A32_D192_ED03);
        }
        dice
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `0..limit`; 0 when `limit` is 0.
    pub fn below(&mut self, limit: u32) -> u32 {
        let high = self.next() >> 32;
        // 32 bits times 32 bits fit 64, and the high half of the product is below `limit`.
        u32::try_from((high * u64::from(limit)) >> 32).unwrap_or(0)
    }

    /// A number in `low..=high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = u32::try_from(high - low + 1).unwrap_or(1);
        low + i64::from(self.below(span))
    }

    /// True in `per_mille` of 1,000 cases.
    pub fn chance(&mut self, per_mille: u32) -> bool {
        self.below(1_000) < per_mille
    }

    /// One of `items`, each as likely as the other; none of an empty list.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let at = self.below(u32::try_from(items.len()).ok()?);
        items.get(usize::try_from(at).ok()?)
    }

    /// One of `items`, each as likely as its weight; none of an empty list.
    pub fn weighted<'a, T>(&mut self, items: &'a [T], weight: impl Fn(&T) -> u32) -> Option<&'a T> {
        let mut left = self.below(items.iter().map(&weight).sum());
        for item in items {
            let own = weight(item);
            if left < own {
                return Some(item);
            }
            left -= own;
        }
        None
    }

    /// Puts `items` in another order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(u32::try_from(last + 1).unwrap_or(1));
            items.swap(last, usize::try_from(other).unwrap_or(last));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Dice;

    #[test]
    fn the_stream_is_splitmix64_as_published() {
        let mut dice = Dice { state: 1_234_567 };
        let first: Vec<u64> = (0..3).map(|_| dice.next()).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn weights_are_kept() {
        let mut dice = Dice::of(&[1]);
        let items = [("often", 90_u32), ("seldom", 10)];
        let often = (0..1_000)
            .filter(|_| dice.weighted(&items, |i| i.1).is_some_and(|i| i.0 == "often"))
            .count();
        assert!((870..930).contains(&often), "{often}");
    }
}
