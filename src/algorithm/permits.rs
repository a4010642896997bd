//! A word that counts permits, and when the last one was taken.
//!
//! | bits | meaning |
//! |---|---|
//! | 61 | a permit is out |
//! | 60..16 | when a permit was last taken, in ticks of 131 µs |
//! | 15..0 | permits that are out |
//!
//! With a permit out the word is above every fresh one, so no store forgets it. With none it is the time of the last, which is idle
//! from the next tick on, and never again the word of a newcomer in its place.

use crate::algorithm::WORD_BITS;
use crate::time::{MAX_NOW_NS, Now};

const COUNT_BITS: u32 = 16;
const TICK_BITS: u32 = 17;
const OUT: u64 = 1 << (WORD_BITS - 1);

/// The most permits of one key.
pub(crate) const MAX_PERMITS: u64 = (1 << COUNT_BITS) - 1;

const _: () = assert!(fresh(MAX_NOW_NS) < OUT);

/// The word of a key that never had a permit.
pub(crate) const fn fresh(now_ns: u64) -> u64 {
    // One tick on, so that a slot never used is below it at any time.
    ((Now::at(now_ns).ns() >> TICK_BITS) + 1) << COUNT_BITS
}

/// Permits that are out. A store may hand out a word that was never put, with no permit out and any low bits.
pub(crate) const fn count(word: u64) -> u64 {
    if word & OUT == 0 { 0 } else { word & MAX_PERMITS }
}

/// The word with one permit more, if there are fewer than `max`.
pub(crate) fn take(word: u64, fresh: u64, max: u64) -> Option<u64> {
    let since = (word & !OUT & !MAX_PERMITS).max(fresh);
    (count(word) < max).then_some(OUT | since | (count(word) + 1))
}

/// The word with one permit fewer.
pub(crate) const fn put_back(word: u64) -> u64 {
    match count(word) {
        0 => word,
        1 => word & !OUT & !MAX_PERMITS,
        _ => word - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_up_to_the_most_and_back() {
        for max in [1, 2, MAX_PERMITS] {
            let mut word = fresh(0);
            for count_before in 0..max {
                assert_eq!(count(word), count_before);
                let next = take(word, fresh(0), max).unwrap();
                assert!(next > word && next > fresh(MAX_NOW_NS));
                word = next;
            }
            assert_eq!(take(word, fresh(MAX_NOW_NS), max), None);
            for _ in 0..max {
                word = put_back(word);
            }
            assert_eq!(word, fresh(0));
            assert_eq!(put_back(word), word);
        }
    }

    #[test]
    fn an_earlier_time_does_not_make_a_word_older() {
        let later = take(fresh(0), fresh(1 << 40), 2).unwrap();
        assert_eq!(take(later, fresh(0), 2).unwrap(), later + 1);
    }
}
