//! Algorithms by name. Read when a limiter is built, never on a decision.

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::algorithm::custom::Custom;
use crate::algorithm::fixed_window::FixedWindow;
use crate::algorithm::sliding_window_counter::SlidingWindowCounter;
use crate::algorithm::{
    Algorithm, Meter, fixed_window, gcra, leaky_bucket, sliding_window_counter, token_bucket,
};
use crate::error::BuildError;
use crate::quota::{Quota, Rate};

/// What an algorithm is told besides its rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// Where windows start, from the clock's origin.
    pub window_offset: Duration,
}

type Factory = Arc<dyn Fn(Rate, &Settings) -> Result<Arc<dyn Algorithm>, BuildError> + Send + Sync>;

static REGISTERED: RwLock<BTreeMap<String, Factory>> = RwLock::new(BTreeMap::new());

/// The one that a word is too small for: see `log`.
pub(crate) const SLIDING_WINDOW_LOG: &str = "sliding_window_log";

const BUILT_IN: [&str; 6] = [
    token_bucket::NAME,
    gcra::NAME,
    leaky_bucket::NAME,
    fixed_window::NAME,
    sliding_window_counter::NAME,
    SLIDING_WINDOW_LOG,
];

/// Adds an algorithm under a name, for this process: from then on a limiter can be built with it by that name, and every
/// method of the limiter works with it.
///
/// # Errors
/// [`BuildError::NameTaken`] when the name is a built-in's or registered already; [`BuildError::Other`] when it is empty.
///
/// ```
/// use std::sync::Arc;
/// use tollgate::algorithm::{self, Settings};
/// use tollgate::{Limiter, Quota, Rate};
/// // Half of what was asked for, by the arithmetic of another.
/// algorithm::register("cautious", |rate: Rate, settings: &Settings| {
///     let half = Quota::new(rate.limit().div_ceil(2), rate.period());
///     algorithm::build("gcra", &half, settings)
/// })?;
/// let limiter = Limiter::<str>::builder(Quota::per_second(10)).algorithm("cautious").build()?;
/// assert_eq!(limiter.check("alice").limit(), 5);
/// # Ok::<(), tollgate::BuildError>(())
/// ```
pub fn register<F>(name: &str, factory: F) -> Result<(), BuildError>
where
    F: Fn(Rate, &Settings) -> Result<Arc<dyn Algorithm>, BuildError> + Send + Sync + 'static,
{
    if name.trim().is_empty() {
        return Err(BuildError::Other(
            "an algorithm needs a name: write one, such as \"my_bucket\"".to_owned(),
        ));
    }
    // A factory does not run under the lock, so a poisoned map is still whole.
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    if BUILT_IN.contains(&name) || registered.contains_key(name) {
        return Err(BuildError::NameTaken { name: name.to_owned() });
    }
    registered.insert(name.to_owned(), Arc::new(factory));
    Ok(())
}

/// The names of all algorithms: the built-in ones, then the registered ones in alphabetical order.
pub fn names() -> Vec<String> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    BUILT_IN.iter().map(|&name| name.to_owned()).chain(registered.keys().cloned()).collect()
}

/// Whether there is an algorithm of this name, for quotas that need none.
pub(crate) fn check_name(name: &str) -> Result<(), BuildError> {
    if names().iter().any(|known| known == name) { Ok(()) } else { Err(unknown(name)) }
}

fn unknown(name: &str) -> BuildError {
    BuildError::UnknownAlgorithm { name: name.to_owned(), known: names() }
}

/// The pure arithmetic of an algorithm with a quota, for those who hold the words themselves.
///
/// # Errors
/// When the name is unknown or `sliding_window_log`, which keeps more than a word; the quota is invalid, `unlimited` or
/// `blocked` (neither has arithmetic), or does not fit the algorithm.
///
/// ```
/// use tollgate::{Now, Quota, algorithm::{self, Settings}};
/// let gcra = algorithm::build("gcra", &Quota::per_second(10), &Settings::default())?;
/// let mut word = 0;
/// for _ in 0..10 {
///     let step = gcra.decide(word, Now::at(0), 1);
///     assert!(step.decision.is_allowed());
///     word = step.word;
/// }
/// assert!(gcra.decide(word, Now::at(0), 1).decision.is_denied());
/// # Ok::<(), tollgate::BuildError>(())
/// ```
pub fn build(name: &str, quota: &Quota, settings: &Settings) -> Result<Arc<dyn Algorithm>, BuildError> {
    quota.validate()?;
    let Some(rate) = quota.rate() else {
        return Err(BuildError::Other(format!("{quota} has no arithmetic: write a rate, such as 10/s")));
    };
    build_meter(name, rate, settings).map(Meter::into_dyn)
}

/// The arithmetic of a valid rate.
pub(crate) fn build_meter(name: &str, rate: Rate, settings: &Settings) -> Result<Meter, BuildError> {
    Ok(match name {
        token_bucket::NAME => Meter::Arrival(token_bucket::new(rate)?),
        gcra::NAME => Meter::Arrival(gcra::new(rate)?),
        leaky_bucket::NAME => Meter::Arrival(leaky_bucket::new(rate)?),
        fixed_window::NAME => Meter::FixedWindow(FixedWindow::new(rate, settings.window_offset)?),
        sliding_window_counter::NAME => {
            Meter::SlidingWindowCounter(SlidingWindowCounter::new(rate, settings.window_offset)?)
        }
        SLIDING_WINDOW_LOG => return Err(BuildError::NoWord),
        other => {
            let factory = REGISTERED.read().unwrap_or_else(PoisonError::into_inner).get(other).cloned();
            Meter::Custom(Custom::new(factory.ok_or_else(|| unknown(other))?(rate, settings)?)?)
        }
    })
}
