//! Rules, checked once when they are put together.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::cell::{Apart, HighMark};
use crate::clock::DefaultClock;
use crate::error::BuildError;
use crate::limits::counts::Counters;
use crate::limits::current::Current;
use crate::limits::events;
use crate::limits::ready::Ready;
use crate::limits::{Limits, Rule, RuleRef, TimeLine};

/// Settings of [`Limits`].
#[must_use = "nothing is limited until `build`"]
pub struct LimitsBuilder<R: ?Sized, C = DefaultClock> {
    rules: Vec<Entry<R>>,
    stops_at_first: bool,
    counts: bool,
    time: Arc<TimeLine<C>>,
}

/// A rule, and what is known of it.
enum Entry<R: ?Sized> {
    New(Rule<R>),
    Kept(Arc<Ready<R>>, Box<Current>),
    /// One whose keys were charged by another clock's time.
    Foreign(Box<str>),
}

impl<R: ?Sized> Entry<R> {
    fn name(&self) -> &str {
        match self {
            Self::New(rule) => rule.name(),
            Self::Kept(ready, _) => &ready.name,
            Self::Foreign(name) => name,
        }
    }

    fn on_another_clock(self) -> Self {
        match self {
            Self::Kept(ready, _) => Self::Foreign(ready.name.clone()),
            other => other,
        }
    }

    fn build(self) -> Result<(Arc<Ready<R>>, Current), BuildError> {
        match self {
            Self::New(rule) => {
                let is_shadow = rule.is_shadow();
                rule.build().map(|ready| {
                    let current = Current::new(ready.gate.plan().clone(), is_shadow);
                    (Arc::new(ready), current)
                })
            }
            Self::Kept(ready, current) => Ok((ready, *current)),
            Self::Foreign(name) => {
                let why = "it is of limits with another clock: start from `rebuild` of those";
                Err(BuildError::Rule {
                    name: name.into(),
                    error: Box::new(BuildError::Other(why.to_owned())),
                })
            }
        }
    }
}

impl<R: ?Sized, C> fmt::Debug for LimitsBuilder<R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.rules.iter().map(Entry::name);
        f.debug_tuple("LimitsBuilder").field(&names.collect::<Vec<_>>()).finish()
    }
}

impl<R: ?Sized> LimitsBuilder<R> {
    pub(super) fn new() -> Self {
        Self::on(TimeLine::new(DefaultClock::default()))
    }
}

impl<R: ?Sized, C> LimitsBuilder<R, C> {
    pub(super) fn on(time: Arc<TimeLine<C>>) -> Self {
        Self { rules: Vec::new(), stops_at_first: false, counts: false, time }
    }

    /// Adds a rule. They are charged in the order in which they are added: put those that many requests share last.
    pub fn rule(mut self, rule: Rule<R>) -> Self {
        self.rules.push(Entry::New(rule));
        self
    }

    /// Adds a rule of limits that these are to replace, as it is: with its keys, what they have used, and its quota of now. Both
    /// limits charge the same keys from then on; change quotas of the next only. Counts start anew.
    pub fn keep(mut self, rule: RuleRef<'_, R, C>) -> Self {
        let (ready, current) = (rule.ready().clone(), rule.current());
        let entry = if Arc::ptr_eq(&rule.limits().time, &self.time) {
            Entry::Kept(ready, Box::new(current))
        } else {
            Entry::Foreign(ready.name.clone())
        };
        self.rules.push(entry);
        self
    }

    /// [`keep`](Self::keep), but for the requests and at the cost of another rule, by the same keys. Calls under way by the former
    /// limits go on with what those say.
    #[cfg(feature = "config")]
    pub(crate) fn keep_keys(self, kept: RuleRef<'_, R, C>, rule: Rule<R>) -> Self {
        let mut builder = self.keep(kept);
        if let Some(Entry::Kept(ready, _)) = builder.rules.last_mut() {
            *ready = Arc::new(ready.taken_over(rule));
        }
        builder
    }

    /// The first rule that refuses answers, and those after it are not asked: for tiers, the most specific first. When nothing
    /// is said all are asked, and the longest wait answers.
    pub fn first_refusal_answers(mut self) -> Self {
        self.stops_at_first = true;
        self
    }

    /// Counts what each rule answers, for [`RuleRef::counts`](crate::RuleRef::counts). Costs each check an addition per rule that
    /// applies, where threads do not meet.
    pub fn counters(mut self) -> Self {
        self.counts = true;
        self
    }

    /// The limits.
    ///
    /// # Errors
    /// When a rule is refused, or two have one name; the error says which, and what to write instead.
    pub fn build(self) -> Result<Limits<R, C>, BuildError> {
        for (index, rule) in self.rules.iter().enumerate() {
            if self.rules[..index].iter().any(|former| former.name() == rule.name()) {
                return Err(BuildError::RuleNameTaken { name: rule.name().to_owned() });
            }
        }
        let built = self.rules.into_iter().map(Entry::build).collect::<Result<Vec<_>, _>>()?;
        let (rules, plans): (Vec<_>, Vec<_>) = built.into_iter().unzip();
        events::built(rules.iter().map(|rule| &*rule.name));
        Ok(Limits {
            counters: self.counts.then(|| Counters::new(rules.len())),
            rules: rules.into(),
            plans: ArcSwap::from_pointee(plans),
            stops_at_first: self.stops_at_first,
            time: self.time,
        })
    }
}

impl<R: ?Sized> LimitsBuilder<R> {
    /// Where time comes from when it is not an argument.
    pub fn clock<C>(self, clock: C) -> LimitsBuilder<R, C> {
        let Self { rules, stops_at_first, counts, .. } = self;
        let rules = rules.into_iter().map(Entry::on_another_clock).collect();
        LimitsBuilder { rules, stops_at_first, counts, time: TimeLine::new(clock) }
    }
}

impl<C> TimeLine<C> {
    fn new(clock: C) -> Arc<Self> {
        Arc::new(Self { clock, latest_ns: Apart(HighMark::new(0)) })
    }
}
