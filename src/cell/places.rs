//! Who stood where in line when he gave units back: those behind have moved up, those in front have not.

use std::collections::VecDeque;

/// One return by which later units moved up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    pub(super) hash: u64,
    /// Of the units that were given back. Later units of a key have higher places.
    pub(super) place: u64,
    /// What had been given back in the lane before.
    pub(super) sum: u64,
    pub(super) given: u64,
}

/// The last returns of a lane, so many at most. What is forgotten is taken to have moved everybody, which is strict.
#[derive(Debug)]
pub(super) struct Places {
    /// From the oldest on, so by sums that grow.
    lefts: VecDeque<Left>,
    max: usize,
}

impl Places {
    /// Allocates with the first return: most limiters see none.
    pub(super) const fn new(max: usize) -> Self {
        Self { lefts: VecDeque::new(), max }
    }

    pub(super) fn add(&mut self, left: Left) {
        if self.lefts.capacity() < self.max {
            self.lefts.reserve_exact(self.max);
        }
        if self.lefts.len() == self.max {
            self.lefts.pop_front();
        }
        self.lefts.push_back(left);
    }

    /// The last return was not made: it moved nobody.
    pub(super) fn void_last(&mut self) {
        if let Some(left) = self.lefts.back_mut() {
            left.place = u64::MAX;
        }
    }

    pub(super) fn clear(&mut self) {
        self.lefts.clear();
    }

    /// Of what was given back since `sum`, what did not move the units of a key at a place.
    pub(super) fn not_moving(&self, hash: u64, place: u64, sum: u64) -> u64 {
        let since = self.lefts.iter().rev().take_while(|left| left.sum >= sum);
        since.filter(|left| left.hash != hash || left.place > place).map(|left| left.given).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(max: usize, lefts: &[(u64, u64, u64)]) -> Places {
        let (mut places, mut sum) = (Places::new(max), 0);
        for &(hash, place, given) in lefts {
            places.add(Left { hash, place, sum, given });
            sum += given;
        }
        places
    }

    #[test]
    fn who_is_in_front_of_a_return_or_of_another_key_is_not_moved() {
        let places = places(8, &[(1, 10, 1), (1, 30, 2), (2, 10, 4)]);
        assert_eq!(places.not_moving(1, 5, 0), 7);
        assert_eq!(places.not_moving(1, 10, 0), 6, "at the same place: not known to be in front");
        assert_eq!(places.not_moving(1, 20, 0), 6);
        assert_eq!(places.not_moving(1, 40, 0), 4);
        assert_eq!(places.not_moving(3, 40, 0), 7);
    }

    #[test]
    fn what_was_before_is_not_looked_at() {
        let places = places(8, &[(1, 10, 1), (1, 30, 2), (2, 10, 4)]);
        assert_eq!([1, 2, 3, 7].map(|sum| places.not_moving(1, 5, sum)), [6, 4, 4, 0]);
    }

    #[test]
    fn the_oldest_is_forgotten_first() {
        let mut places = places(2, &[(1, 10, 1), (1, 30, 2), (1, 20, 4)]);
        assert_eq!(places.not_moving(1, 5, 0), 6);
        places.clear();
        assert_eq!(places.not_moving(1, 5, 0), 0);
    }

    #[test]
    fn a_return_that_was_not_made_moves_nobody() {
        let mut places = places(8, &[(1, 10, 1), (1, 30, 2)]);
        assert_eq!(places.not_moving(1, 40, 0), 0);
        places.void_last();
        assert_eq!(places.not_moving(1, 40, 0), 2);
    }
}
