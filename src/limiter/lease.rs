//! Units taken in advance and spent by one thread.

use std::fmt;

use crate::clock::Clock;
use crate::decision::Decision;
use crate::limiter::core::{Core, Grant, Wish};
use crate::store::Store;
use crate::time::duration_ns;

/// A lease that takes more often than once in this time takes more at a time.
const OFTEN_NS: u64 = 1_000_000;
/// One that takes less often than once in this time takes less.
const SELDOM_NS: u64 = 16 * OFTEN_NS;

/// The largest lease that nobody asked for by number.
const MAX_ADAPTIVE: u64 = 1_024;
/// As a share of the limit: small limits are not leased at all.
const ADAPTIVE_SHARE: u64 = 16;

/// One thread's handle on one hot key: it takes several units from the limiter in one step, and spends them without touching what
/// threads share. Dropping it gives back what was not spent.
///
/// Made by [`DirectLimiter::lease`](crate::DirectLimiter::lease) and [`Limiter::lease`](crate::Limiter::lease). Each thread
/// makes its own; some live as long as the thread.
///
/// # Consistency
/// Units are taken before they are spent, so nothing is admitted that the limiter has not counted. They may be spent late:
/// in any interval in which the limiter alone admits up to `B`, all together admit up to `B` and the largest lease per
/// holder. Meanwhile others can be denied for units that a holder has not spent. A lease takes no more than
/// a quarter of what is left beyond what it needs at once, so that the last units go one by one.
///
/// What a decision says of the limiter, its `remaining` and `reset_after`, is what was seen when units were last
/// taken; units in hand count as remaining. A refusal is remembered: the same cost is refused without asking until the time that the refusal named,
/// even if units are given back meanwhile.
///
/// # Cost
/// An admission from what is in hand: no atomics, and no clock. Any other call is a check.
///
/// ```
/// use tollgate::{DirectLimiter, Quota};
/// let global = DirectLimiter::new(Quota::per_second(1_000_000))?;
/// std::thread::scope(|scope| {
///     for _ in 0..2 {
///         scope.spawn(|| {
///             let mut lease = global.lease();
///             assert!((0..1_000).all(|_| lease.check().is_allowed()));
///         });
///     }
/// });
/// # Ok::<(), tollgate::BuildError>(())
/// ```
#[must_use = "a lease is spent by `check`"]
pub struct Lease<'a, C: Clock, S: Store> {
    core: &'a Core<C>,
    store: &'a S,
    token: S::Token,
    hash: u64,
    size: Size,
    /// Units in hand, all of the last grant.
    held: u64,
    grant: Option<Grant>,
    /// When that was, if not by the clock.
    granted_at_ns: Option<u64>,
    seen: Seen,
    refused: Option<Refusal>,
}

/// What the last grant said of the limiter.
#[derive(Clone, Copy, Debug)]
struct Seen {
    limit: u64,
    left: u64,
    reset_after_ns: u64,
}

/// How many units to take at a time.
#[derive(Clone, Copy, Debug)]
struct Size {
    now: u64,
    max: u64,
    is_fixed: bool,
    /// When units were last taken.
    last_ns: u64,
}

/// A refusal that holds for a while.
#[derive(Clone, Copy, Debug)]
struct Refusal {
    cost: u64,
    held: u64,
    from_ns: u64,
    until_ns: u64,
    reset_ns: u64,
    seen: Seen,
}

impl<C: Clock, S: Store> fmt::Debug for Lease<'_, C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease").field("held", &self.held).field("size", &self.size).finish_non_exhaustive()
    }
}

impl Seen {
    fn by(decision: &Decision) -> Self {
        Self {
            limit: decision.limit(),
            left: decision.remaining(),
            reset_after_ns: duration_ns(decision.reset_after()),
        }
    }
}

impl Refusal {
    /// The same refusal, to the same cost with as much in hand, while it lasts. At a time before it the clock has stepped
    /// back, and all may be different.
    fn again(&self, cost: u64, held: u64, now_ns: u64) -> Option<Decision> {
        let is_same = (self.cost, self.held) == (cost, held);
        let lasts = (self.from_ns..self.until_ns).contains(&now_ns);
        let Seen { limit, left, .. } = self.seen;
        let after = |time_ns: u64| time_ns - now_ns;
        (is_same && lasts)
            .then(|| Decision::denied(limit, left, after(self.until_ns), after(self.reset_ns.max(now_ns))))
    }
}

impl Size {
    const fn fixed(units: u64) -> Self {
        let units = if units == 0 { 1 } else { units };
        Self { now: units, max: units, is_fixed: true, last_ns: 0 }
    }

    fn adaptive(limit: u64) -> Self {
        Self { now: 1, max: (limit / ADAPTIVE_SHARE).clamp(1, MAX_ADAPTIVE), is_fixed: false, last_ns: 0 }
    }

    /// The size of a grant at a time: twice the last one if that was soon spent, half if it lasted.
    fn at(self, now_ns: u64) -> Self {
        let now = match now_ns.saturating_sub(self.last_ns) {
            _ if self.is_fixed => self.now,
            ..OFTEN_NS => (self.now * 2).min(self.max),
            OFTEN_NS..SELDOM_NS => self.now,
            SELDOM_NS.. => (self.now / 2).max(1),
        };
        Self { now, last_ns: now_ns, ..self }
    }
}

impl<'a, C: Clock, S: Store> Lease<'a, C, S> {
    /// Of `units` at a time, or of as many as are used.
    pub(crate) fn new(
        core: &'a Core<C>,
        store: &'a S,
        token: S::Token,
        hash: u64,
        units: Option<u64>,
    ) -> Self {
        let size = units.map_or_else(|| Size::adaptive(core.plan().capacity()), Size::fixed);
        let seen = Seen { limit: 0, left: 0, reset_after_ns: 0 };
        Self {
            core,
            store,
            token,
            hash,
            size,
            held: 0,
            grant: None,
            granted_at_ns: None,
            seen,
            refused: None,
        }
    }

    /// Units in hand.
    pub const fn held(&self) -> u64 {
        self.held
    }

    /// Asks for one unit.
    #[inline]
    pub fn check(&mut self) -> Decision {
        self.check_n(1)
    }

    /// Asks for `cost` units: all or none. A cost of zero shows where the lease stands, and takes nothing.
    #[inline]
    pub fn check_n(&mut self, cost: u64) -> Decision {
        match self.spend(cost) {
            Some(decision) => decision,
            None => self.take(cost, self.core.now_ns(), false),
        }
    }

    /// [`check_n`](Self::check_n) at a time of your own. Such a lease is best ended by [`end_at`](Self::end_at): dropped, it
    /// gives back at the time of its last grant, and nothing if there was a call since that took units.
    #[inline]
    pub fn check_n_at(&mut self, cost: u64, now_ns: u64) -> Decision {
        match self.spend(cost) {
            Some(decision) => decision,
            None => self.take(cost, now_ns, true),
        }
    }

    /// Gives back what is in hand at a time of your own, no earlier than that of any call made meanwhile.
    pub fn end_at(mut self, now_ns: u64) {
        self.give_back(|| now_ns, false);
    }

    /// What is in hand answers, if it is enough.
    #[inline]
    fn spend(&mut self, cost: u64) -> Option<Decision> {
        // A cost of zero is for `take`, which looks.
        self.held = self.held.checked_sub(cost).filter(|_| cost > 0)?;
        Some(self.allowed(cost))
    }

    #[inline]
    fn allowed(&self, cost: u64) -> Decision {
        let Seen { limit, left, reset_after_ns } = self.seen;
        Decision::allowed(cost, limit, left.saturating_add(self.held), reset_after_ns)
    }

    #[inline(never)]
    fn take(&mut self, cost: u64, now_ns: u64, is_own_time: bool) -> Decision {
        if let Some(refused) = self.refused.and_then(|refused| refused.again(cost, self.held, now_ns)) {
            return refused;
        }
        let plan = self.core.plan();
        if cost == 0 {
            self.seen = Seen::by(&self.core.look(self.store, &self.token, plan, now_ns));
            return self.allowed(0);
        }
        let size = self.size.at(now_ns);
        let wish = Wish { cost, held: self.held, extra: size.now - 1 };
        match self.core.grant(self.store, &self.token, self.hash, plan, now_ns, wish) {
            Ok(grant) => {
                // What was in hand is spent first: the rest is all of this grant.
                self.held = grant.units - (cost - self.held);
                (self.size, self.seen) = (size, Seen::by(&grant.decision));
                self.granted_at_ns = is_own_time.then_some(now_ns);
                (self.grant, self.refused) = (Some(grant), None);
                self.allowed(cost)
            }
            Err(refusal) => self.refuse(cost, now_ns, refusal),
        }
    }

    /// The limiter's refusal, with what is in hand, remembered for as long as it lasts.
    fn refuse(&mut self, cost: u64, now_ns: u64, refusal: Decision) -> Decision {
        let seen = Seen::by(&refusal);
        let seen = Seen { left: seen.left.saturating_add(self.held), ..seen };
        if !refusal.fits_later() {
            return Decision::never_fits(seen.limit, seen.left, seen.reset_after_ns);
        }
        let refused = Refusal {
            cost,
            held: self.held,
            from_ns: now_ns,
            until_ns: now_ns.saturating_add(duration_ns(refusal.retry_after())),
            reset_ns: now_ns.saturating_add(seen.reset_after_ns),
            seen,
        };
        self.refused = Some(refused);
        refused.again(cost, self.held, now_ns).unwrap_or(refusal)
    }

    fn give_back(&mut self, now_ns: impl Fn() -> u64, alone: bool) {
        let held = core::mem::take(&mut self.held);
        if let Some(Grant { units, taken: Some(taken), .. }) = self.grant.take()
            && held > 0
        {
            let (plan, spent) = (self.core.plan(), units - held);
            self.core.settle(self.store, &self.token, plan, now_ns, units, spent, taken, alone);
        }
    }
}

impl<C: Clock, S: Store> Drop for Lease<'_, C, S> {
    fn drop(&mut self) {
        if self.held > 0 {
            // A time of the caller's own may be earlier than calls made since.
            let (core, granted_at_ns) = (self.core, self.granted_at_ns);
            self.give_back(|| granted_at_ns.unwrap_or_else(|| core.now_ns()), granted_at_ns.is_some());
        }
    }
}
