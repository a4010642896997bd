//! Several limits on one request: all are charged, or none. `README.md` beside this file says why that holds.

mod ban_gate;
mod bans;
mod builder;
mod call;
mod counts;
mod current;
mod events;
mod gate;
mod key;
mod outcome;
mod ready;
mod rule;
mod rule_ref;
mod top_denied;

pub use bans::Bans;
pub use builder::LimitsBuilder;
pub use counts::Counts;
pub use key::KeyOf;
pub use outcome::Outcome;
pub use rule::Rule;
pub use rule_ref::RuleRef;
pub use top_denied::{Denied, TopDenied};

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::cell::{Apart, HighMark};
use crate::clock::{Clock, DefaultClock};
use crate::decision::Decision;

use call::Call;
use counts::Counters;
use current::Current;
use outcome::Tally;
use ready::Ready;

/// Several rules for one kind of request `R`, checked at once: all are charged, or none.
///
/// Each [`Rule`] says whose request it is, and how much is allowed. A rule whose key is `None` does not apply, and a request to
/// which no rule applies is allowed.
///
/// ```
/// use tollgate::{Limits, Quota, Rule};
/// struct Request { user: u64, endpoint: &'static str }
/// let limits = Limits::builder()
///     .rule(Rule::new("burst", Quota::per_second(2), |request: &Request| Some(request.user)))
///     .rule(Rule::new("day", Quota::per_day(1_000), |request: &Request| Some(request.user)))
///     .rule(Rule::new("uploads", Quota::per_second(50), |request: &Request| {
///         (request.endpoint == "/upload").then_some(())
///     }))
///     .build()?;
/// let request = Request { user: 7, endpoint: "/" };
/// assert!(limits.check_at(&request, 0).is_allowed());
/// assert!(limits.check_at(&request, 0).is_allowed());
/// let denied = limits.check_at(&request, 0);
/// assert_eq!((denied.rule(), denied.retry_after().as_millis()), (Some("burst"), 500));
/// // What was refused by one rule was charged to none.
/// assert_eq!(limits.rule("day").unwrap().peek_at(&request, 0).unwrap().remaining(), 998);
/// # Ok::<(), tollgate::BuildError>(())
/// ```
///
/// # Tiers
/// User, endpoint and global are rules in that order, the most specific first, where the first refusal answers. A tier that is
/// absent is a key that is `None`, or a rule that was not added.
///
/// ```
/// use tollgate::{Limits, Quota, Rule};
/// struct Request { user: Option<u64>, path: String }
/// fn path(request: &Request) -> Option<&str> {
///     Some(&request.path)
/// }
/// let limits = Limits::builder()
///     .rule(Rule::new("user", Quota::per_second(1), |request: &Request| request.user))
///     .rule(Rule::new("endpoint", Quota::per_second(100), path))
///     .rule(Rule::global("global", Quota::per_second(1_000)))
///     .first_refusal_answers()
///     .build()?;
/// let request = |user| Request { user, path: "/".to_owned() };
/// assert!(limits.check_at(&request(Some(7)), 0).is_allowed());
/// assert_eq!(limits.check_at(&request(Some(7)), 0).rule(), Some("user"));
/// assert_eq!(limits.check_at(&request(None), 0).rule(), Some("endpoint"));
/// # Ok::<(), tollgate::BuildError>(())
/// ```
///
/// # Consistency
/// A refusal that was there before the check began charges nothing and writes nothing. Where several calls race for the last units
/// of a rule, one may have been charged by other rules before it is refused; it gives back exactly those units, but for those of a
/// rule whose [quota is changed](RuleRef::set_quota) meanwhile, where they come back with time. No
/// interleaving makes any rule admit more than it allows. Until they are given back, another call may be refused for
/// them: for at most the units that calls under way have taken of that rule, and never by the rule that was added last.
///
/// # Cost
/// Per rule that applies, two reads of its word and one compare-and-swap; with one rule twice the work of a
/// [`Limiter`](crate::Limiter). Rules that apply are charged one within the other: each takes up to 2 kB of the caller's stack meanwhile,
/// most in a build that is not optimised, and a thousand fit the 2 MB of a thread. Nothing is allocated. Only a call that gives units
/// back, and only while another gives units of the same rule back, waits.
pub struct Limits<R: ?Sized, C = DefaultClock> {
    rules: Box<[Arc<Ready<R>>]>,
    /// The quotas of now, by the rule's index.
    plans: ArcSwap<Vec<Current>>,
    stops_at_first: bool,
    counters: Option<Counters>,
    time: Arc<TimeLine<C>>,
}

/// The time of all limits that share keys.
struct TimeLine<C> {
    clock: C,
    /// The latest time that a caller passed: see `Call::back_ns`.
    latest_ns: Apart<HighMark>,
}

impl<R: ?Sized, C> fmt::Debug for Limits<R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plans = self.plans.load();
        let quotas =
            self.rules.iter().zip(plans.iter()).map(|(rule, current)| (&rule.name, current.plan.quota()));
        f.debug_map().entries(quotas).finish()
    }
}

impl<R: ?Sized> Limits<R> {
    /// Rules, to be added one by one.
    pub fn builder() -> LimitsBuilder<R> {
        LimitsBuilder::new()
    }
}

impl<R: ?Sized, C> Limits<R, C> {
    /// The clock.
    pub fn clock(&self) -> &C {
        &self.time.clock
    }

    /// Other limits, to take the place of these: with rules of these that they [`keep`](LimitsBuilder::keep), and the same clock.
    ///
    /// Put them where requests find them, such as an `ArcSwap` of the crate of that name: checks under way end by the rules that they
    /// began with.
    ///
    /// ```
    /// use tollgate::{Limits, Quota, Rule};
    /// let user = |user: &u64| Some(*user);
    /// let limits = Limits::builder().rule(Rule::new("user", Quota::per_minute(2), user)).build()?;
    /// assert!(limits.check_at(&7, 0).is_allowed());
    /// let next = limits
    ///     .rebuild()
    ///     .keep(limits.rule("user").unwrap())
    ///     .rule(Rule::global("global", Quota::per_minute(100)))
    ///     .build()?;
    /// assert!(next.check_at(&7, 0).is_allowed());
    /// assert_eq!(next.check_at(&7, 0).rule(), Some("user"));
    /// # Ok::<(), tollgate::BuildError>(())
    /// ```
    pub fn rebuild(&self) -> LimitsBuilder<R, C> {
        LimitsBuilder::on(self.time.clone())
    }

    /// The rule of a name.
    pub fn rule(&self, name: &str) -> Option<RuleRef<'_, R, C>> {
        self.rules().find(|rule| rule.name() == name)
    }

    /// The rules, in the order in which they were added.
    pub fn rules(&self) -> impl Iterator<Item = RuleRef<'_, R, C>> {
        (0..self.rules.len()).map(|index| RuleRef::new(self, index))
    }
}

impl<R: ?Sized, C: Clock> Limits<R, C> {
    /// Asks all rules that apply, and charges all of them or none.
    pub fn check(&self, request: &R) -> Outcome<'_> {
        self.decide(request, self.time.clock.now_ns(), false)
    }

    /// [`check`](Self::check) at a time of your own.
    ///
    /// All calls must use one time line, and where threads pass times of their own, the clock is to be a
    /// [`ManualClock`](crate::ManualClock) or on that time line too: units are given back at the latest time that is known.
    ///
    /// # Cost
    /// A time later than any before is written where all threads read it: pass one time for many checks.
    pub fn check_at(&self, request: &R, now_ns: u64) -> Outcome<'_> {
        self.decide(request, now_ns, true)
    }

    /// What [`check`](Self::check) would answer. Nothing is charged.
    pub fn peek(&self, request: &R) -> Outcome<'_> {
        self.peek_at(request, self.time.clock.now_ns())
    }

    /// [`peek`](Self::peek) at a time of your own.
    pub fn peek_at(&self, request: &R, now_ns: u64) -> Outcome<'_> {
        let call = Call { limits: self, plans: &self.plans.load(), is_peek: true, request, now_ns };
        self.outcome(call.look().0)
    }

    fn decide(&self, request: &R, now_ns: u64, is_callers_time: bool) -> Outcome<'_> {
        let call = Call { limits: self, plans: &self.plans.load(), is_peek: false, request, now_ns };
        let (tally, last) = call.look();
        if tally.is_refused() {
            return self.outcome(tally);
        }
        if is_callers_time {
            // Before a charge is put, so that whoever finds the word finds the time.
            self.time.latest_ns.raise(now_ns);
        }
        self.outcome(call.charge(last))
    }

    fn outcome(&self, tally: Tally) -> Outcome<'_> {
        match tally.verdict() {
            Some((index, decision)) => Outcome::new(Some(&self.rules[index].name), decision),
            None => Outcome::new(None, Decision::allowed(0, u64::MAX, u64::MAX, 0)),
        }
    }
}
