//! The limiters that a script is run on, as one.

use tollgate::store::{Lookup, Store};
use tollgate::{BuildError, DirectLimiter, Limiter, ManualClock, Overflow, Quota};

use crate::oracle::{Answer, direct, on_manual_clock};

/// Keys of a script.
pub(crate) const KEYS: u8 = 6;

pub(crate) trait Face {
    fn knows(&self, _key: u8) -> bool {
        true
    }
    fn check(&self, key: u8, cost: u64, now_ns: u64) -> Answer;
    fn peek(&self, key: u8, cost: u64, now_ns: u64) -> Answer;
    fn refund(&self, key: u8, units: u64, now_ns: u64);
    fn reset(&self, key: u8, now_ns: u64);
    /// Reserves, and settles at once; the wait, or the refusal.
    fn hold(&self, key: u8, units: u64, actual: u64, now_ns: u64) -> Result<u128, Answer>;
    fn forget(&self, now_ns: u64);
}

macro_rules! face {
    ($key:ident, [$($arg:expr)?]) => {
        fn check(&self, $key: u8, cost: u64, now_ns: u64) -> Answer {
            self.0.check_n_at($($arg,)? cost, now_ns).into()
        }
        fn peek(&self, $key: u8, cost: u64, now_ns: u64) -> Answer {
            self.0.peek_n_at($($arg,)? cost, now_ns).into()
        }
        fn refund(&self, $key: u8, units: u64, now_ns: u64) {
            self.0.refund_at($($arg,)? units, now_ns);
        }
        fn reset(&self, $key: u8, now_ns: u64) {
            self.0.reset_at($($arg,)? now_ns);
        }
        fn hold(&self, $key: u8, units: u64, actual: u64, now_ns: u64) -> Result<u128, Answer> {
            let held = self.0.reserve_at($($arg,)? units, now_ns)?;
            assert_eq!(held.units(), units);
            let wait_ns = held.wait().as_nanos();
            if actual > 0 { held.commit_at(actual, now_ns) } else { held.cancel_at(now_ns) }
            Ok(wait_ns)
        }
    };
}

struct Direct(DirectLimiter<ManualClock>);

impl Face for Direct {
    fn knows(&self, key: u8) -> bool {
        key == 0
    }
    face!(_key, []);
    fn forget(&self, _: u64) {}
}

/// What is done to forget idle keys.
struct Keyed<S>(Limiter<u8, ManualClock, S>, fn(&Limiter<u8, ManualClock, S>, u64));

impl<S: Store + Lookup<u8>> Face for Keyed<S> {
    face!(key, [&key]);
    fn forget(&self, now_ns: u64) {
        self.1(&self.0, now_ns);
    }
}

/// A limiter of each kind, as far as the algorithm can be had in it; a table only if asked.
pub(crate) fn all(algorithm: &str, quota: Quota, in_a_table: bool) -> Vec<Box<dyn Face>> {
    let builder = || on_manual_clock::<u8>(algorithm, quota);
    let map = builder().build_map().expect("a quota that was built before");
    let mut faces: Vec<Box<dyn Face>> = vec![
        Box::new(Direct(direct(algorithm, quota))),
        Box::new(Keyed(map, |map, now_ns| _ = map.evict_idle_at(now_ns))),
    ];
    if !in_a_table {
        return faces;
    }
    // Room for the keys, and no more: forgotten ones are claimed by others.
    match builder().capacity(KEYS.into()).overflow(Overflow::Deny).build() {
        Ok(table) => faces.push(Box::new(Keyed(table, |table, _| assert_eq!(table.overflowed(), 0)))),
        Err(BuildError::LogInTable) => {}
        Err(error) => panic!("{error}"),
    }
    faces
}
