//! What limits have counted, for the [`metrics`] facade.

use std::collections::HashMap;
use std::sync::Arc;

use metrics::{Label, SharedString, counter, gauge};

use crate::clock::Clock;
use crate::limits::{Counts, Limits, RuleRef};

/// Publishes what limits have counted: nothing is done in a check, and as much as this takes whenever it is asked for.
///
/// | metric | kind | labels |
/// |---|---|---|
/// | `tollgate_decisions_total` | counter | `limits`, `rule`, `outcome`: `allowed`, `denied`, `shadow_denied` |
/// | `tollgate_overflowed_total` | counter of new keys that found no room | `limits`, `rule` |
/// | `tollgate_reclaimed_total` | counter of idle keys that made room for others | `limits`, `rule` |
/// | `tollgate_keys` | gauge of keys that are not idle | `limits`, `rule` |
///
/// Decisions are there if the limits were built with [`counters`](crate::LimitsBuilder::counters).
///
/// ```
/// use tollgate::metrics::Publisher;
/// use tollgate::{Limits, Quota, Rule};
/// let limits = Limits::builder()
///     .rule(Rule::<()>::global("all", Quota::per_second(10)))
///     .counters()
///     .build()?;
/// let mut publisher = Publisher::new("api");
/// // Every few seconds, or when somebody asks:
/// publisher.publish(&limits);
/// # Ok::<(), tollgate::BuildError>(())
/// ```
#[derive(Debug)]
pub struct Publisher {
    limits: SharedString,
    /// What was published last, by rule.
    last: HashMap<SharedString, Last>,
}

/// What only grows.
type Sums = [u64; 5];

/// The sums that were published last, of which counts and of which keys. Both are kept, so that nothing else has their address.
#[derive(Debug, Default)]
struct Last {
    sums: Sums,
    identities: [Option<Arc<()>>; 2],
}

impl Last {
    /// What has been added to the sums since, or is all that there is of those that began anew.
    fn replace(&mut self, sums: Sums, identities: [Option<Arc<()>>; 2]) -> Sums {
        let is_same = |index: usize| match (&self.identities[index], &identities[index]) {
            (Some(last), Some(now)) => Arc::ptr_eq(last, now),
            _ => false,
        };
        let [counts, keys] = [0, 1].map(is_same);
        let was = [counts, counts, counts, keys, keys];
        let since = std::array::from_fn(|index| {
            let before = if was[index] { self.sums[index] } else { 0 };
            sums[index].saturating_sub(before)
        });
        *self = Self { sums, identities };
        since
    }
}

const OUTCOMES: [&str; 3] = ["allowed", "denied", "shadow_denied"];

impl Publisher {
    /// For limits that are known by this name.
    pub fn new(limits: &str) -> Self {
        Self { limits: SharedString::from_shared(limits.into()), last: HashMap::new() }
    }

    /// Publishes what was counted since the last time. Limits that take the place of others go on with their counters; what the others counted since they
    /// were published last is lost, unless they are published once more, before those that take their place.
    ///
    /// # Cost
    /// Reads the whole store of each rule. Not for a request.
    pub fn publish<R: ?Sized, C: Clock>(&mut self, limits: &Limits<R, C>) {
        let now_ns = limits.clock().now_ns();
        for rule in limits.rules() {
            let name = SharedString::from_shared(Arc::from(rule.name()));
            self.publish_rule(&rule, name, now_ns);
        }
    }

    fn publish_rule<R: ?Sized, C>(&mut self, rule: &RuleRef<'_, R, C>, name: SharedString, now_ns: u64) {
        let labels = vec![Label::new("limits", self.limits.clone()), Label::new("rule", name.clone())];
        let counts = rule.counts();
        let sums = sums(counts.unwrap_or_default(), rule.overflowed(), rule.reclaimed());
        let since = self.last.entry(name).or_default().replace(sums, rule.identities());
        let [decisions @ .., overflowed, reclaimed] = since;
        if counts.is_some() {
            for (outcome, count) in OUTCOMES.into_iter().zip(decisions) {
                let labels = [&labels[..], &[Label::new("outcome", outcome)]].concat();
                counter!("tollgate_decisions_total", labels).increment(count);
            }
        }
        counter!("tollgate_overflowed_total", labels.clone()).increment(overflowed);
        counter!("tollgate_reclaimed_total", labels.clone()).increment(reclaimed);
        gauge!("tollgate_keys", labels).set(rule.len_at(now_ns) as f64);
    }
}

fn sums(counts: Counts, overflowed: u64, reclaimed: u64) -> Sums {
    let Counts { allowed, denied, shadow_denied, .. } = counts;
    [allowed, denied, shadow_denied, overflowed, reclaimed]
}
