//! Many keys at one time.

use crate::decision::Decision;
use crate::limiter::core::Core;
use crate::limiter::plan::Plan;
use crate::store::Lookup;

/// Keys that are looked for together: their lines fit the nearest cache with room to spare, and there are more of them than
/// a processor has reads under way.
const BATCH: usize = 32;

impl<C> Core<C> {
    /// Decides on each key and cost in turn, and appends the decisions. What the next keys will read is fetched before the
    /// first of them is decided on, so that they wait for memory together.
    pub(crate) fn decide_many<'k, Q: ?Sized + 'k, S: Lookup<Q>>(
        &self,
        store: &S,
        plan: &Plan,
        now_ns: u64,
        asked: impl IntoIterator<Item = (&'k Q, u64)>,
        decisions: &mut Vec<Decision>,
    ) {
        let mut asked = asked.into_iter().fuse().map(|(key, cost)| {
            let hint = store.hint(key);
            store.prefetch(hint);
            (key, hint, cost)
        });
        while let Some(first) = asked.next() {
            let mut batch = [first; BATCH];
            let mut count = 1;
            // In this order: a key is taken only when there is a place for it.
            for (place, next) in batch[1..].iter_mut().zip(&mut asked) {
                *place = next;
                count += 1;
            }
            decisions.reserve(count);
            for &(key, hint, cost) in &batch[..count] {
                // Two ways to push: a decision that came by either would be copied in large words just after it was written in
                // small ones, which a processor waits for.
                match self.decide_at_once(store, hint, plan, now_ns, cost) {
                    Some(decision) => decisions.push(decision),
                    None => decisions.push(self.decide_otherwise(store, key, hint, plan, now_ns, cost)),
                }
            }
        }
    }
}
