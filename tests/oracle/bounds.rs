//! The published worst cases, checked on what was really admitted.

use std::collections::VecDeque;

/// The most that may be admitted in any trailing window of one period.
pub(crate) fn worst_case(algorithm: &str, limit: u64, burst: u64) -> u128 {
    let (limit, burst) = (u128::from(limit), u128::from(burst));
    match algorithm {
        "fixed_window" => 2 * limit,
        "sliding_window_counter" => 2 * limit - 1,
        "sliding_window_log" => limit,
        _ => limit + burst - 1,
    }
}

/// Everything that was admitted: when, and how many units.
#[derive(Clone, Debug, Default)]
pub(crate) struct Admitted(Vec<(u64, u64)>);

impl Admitted {
    pub(crate) fn push(&mut self, at_ns: u64, units: u64) {
        self.0.push((at_ns, units));
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub(crate) fn total(&self) -> u128 {
        self.0.iter().map(|&(_, units)| u128::from(units)).sum()
    }

    /// The most in any `(t, t + period]`.
    pub(crate) fn most_in(mut self, period_ns: u64) -> u128 {
        self.0.sort_unstable();
        let mut inside = VecDeque::new();
        let (mut sum, mut most) = (0_u128, 0);
        for (at_ns, units) in self.0 {
            inside.push_back((at_ns, units));
            sum += u128::from(units);
            while let Some(&(oldest_ns, gone)) = inside.front()
                && at_ns - oldest_ns >= period_ns
            {
                inside.pop_front();
                sum -= u128::from(gone);
            }
            most = most.max(sum);
        }
        most
    }
}

/// Admissions of which only a first and a last possible time are known: when the caller read the clock, and when it had the
/// answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct AdmittedBetween(Vec<(u64, u64, u64)>);

impl AdmittedBetween {
    pub(crate) fn push(&mut self, first_ns: u64, last_ns: u64, units: u64) {
        assert!(first_ns <= last_ns);
        if units > 0 {
            self.0.push((first_ns, last_ns, units));
        }
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The most that lies in some window of one period for certain.
    pub(crate) fn surely_most_in(mut self, period_ns: u64) -> u128 {
        self.0.sort_unstable();
        let window = |start: usize| {
            let end_ns = self.0[start].0 + period_ns;
            let inside = self.0[start..].iter().take_while(move |&&(first_ns, ..)| first_ns < end_ns);
            inside
                .filter(|&&(_, last_ns, _)| last_ns < end_ns)
                .map(|&(.., units)| u128::from(units))
                .sum::<u128>()
        };
        (0..self.0.len()).map(window).max().unwrap_or(0)
    }
}
