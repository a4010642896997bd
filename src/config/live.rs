//! Rules that are swapped while requests are checked.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::{ArcSwap, Guard};

use crate::clock::{Clock, DefaultClock};
use crate::config::Config;
use crate::config::build;
use crate::config::request::Request;
use crate::config::spec::Spec;
use crate::error::BuildError;
use crate::limits::{Limits, LimitsBuilder};

/// The limits of a file, and then of the next one. Checks never wait for a change.
///
/// ```
/// use tollgate::config::{Config, LiveLimits, Request};
/// struct Call;
/// impl Request for Call {
///     fn path(&self) -> &str { "/" }
///     fn method(&self) -> &str { "GET" }
/// }
/// let rules = |quota| format!("rules: [{{name: site, key: all, quota: {quota}}}]");
/// let live = LiveLimits::<Call>::new(Config::from_yaml(&rules("2/min"))?)?;
/// assert!((0..3).filter(|_| live.load().check(&Call).is_allowed()).count() == 2);
/// // A file that is wrong never gets this far, and the rules stay.
/// assert!(Config::from_yaml(&rules("2/fortnight")).is_err());
/// let changes = live.replace(Config::from_yaml(&rules("200/min"))?)?;
/// assert_eq!(changes.requoted, ["site"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LiveLimits<R: ?Sized, C = DefaultClock> {
    state: ArcSwap<State<R, C>>,
    /// Of whoever replaces.
    turn: Mutex<()>,
}

struct State<R: ?Sized, C> {
    config: Config,
    limits: Limits<R, C>,
}

/// The limits of now, for one request: whoever holds on to it is checked by rules that may have been replaced.
pub struct Loaded<R: ?Sized, C>(Guard<Arc<State<R, C>>>);

impl<R: ?Sized, C> Deref for Loaded<R, C> {
    type Target = Limits<R, C>;

    fn deref(&self) -> &Limits<R, C> {
        &self.0.limits
    }
}

/// What a [replacement](LiveLimits::replace) did, by the names of rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// As they were.
    pub kept: Vec<String>,
    /// With another quota: what their keys have used counts on.
    pub requoted: Vec<String>,
    /// For other requests, at another cost, as a shadow or no more, and perhaps with another quota: what their keys have used counts on.
    pub altered: Vec<String>,
    /// New, or with other keys, another algorithm, or other room for keys, so that these start anew.
    pub started: Vec<String>,
    /// Gone.
    pub removed: Vec<String>,
}

impl<R: ?Sized, C> fmt::Debug for LiveLimits<R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LiveLimits").field(&self.load().0.limits).finish()
    }
}

impl<R: ?Sized, C> fmt::Debug for Loaded<R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.limits.fmt(f)
    }
}

impl<R: Request + ?Sized + 'static> LiveLimits<R> {
    /// The limits of a file.
    ///
    /// # Errors
    /// When there is no memory for a capacity.
    pub fn new(config: Config) -> Result<Self, BuildError> {
        Self::build(config, Limits::builder())
    }
}

impl<R: ?Sized, C> LiveLimits<R, C> {
    /// The limits of now. Never waits, and writes nothing that others read.
    pub fn load(&self) -> Loaded<R, C> {
        Loaded(self.state.load())
    }
}

impl<R: Request + ?Sized + 'static, C: Clock> LiveLimits<R, C> {
    /// The limits of a file, in a builder of your own, with another clock for example.
    ///
    /// # Errors
    /// When there is no memory for a capacity.
    pub fn build(config: Config, builder: LimitsBuilder<R, C>) -> Result<Self, BuildError> {
        let limits = config.add_to(builder).build()?;
        Ok(Self { state: ArcSwap::from_pointee(State { config, limits }), turn: Mutex::new(()) })
    }

    /// Puts the rules of another file in the place of these. A rule of the same name keeps its keys, and what they have used, whatever else
    /// of it has changed: see [`RuleRef::set_quota`](crate::RuleRef::set_quota). Only what its words mean nothing to starts it anew with
    /// every key's full quota, and [`Changes::started`] says so: other keys, another algorithm, windows of another length, or another
    /// `capacity` or `overflow`. Checks under way end by the rules that they
    /// began with, matches and quotas. Of two replacements at a time one waits for the other; no
    /// check does.
    ///
    /// # Errors
    /// When there is no memory for a capacity. Then nothing changes.
    pub fn replace(&self, config: Config) -> Result<Changes, BuildError> {
        // A panic of another replacement has left the rules as they were.
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let former = self.state.load();
        let (next, stays) = next(&former, config)?;
        let changes = changes(&former.config, &next.config, &stays);
        self.state.store(Arc::new(next));
        #[cfg(feature = "tracing")]
        tracing::info!(?changes, "rules replaced");
        Ok(changes)
    }
}

/// The next file's state, and the names of the rules that stay.
fn next<R: Request + ?Sized + 'static, C: Clock>(
    former: &State<R, C>,
    config: Config,
) -> Result<(State<R, C>, Vec<String>), BuildError> {
    let stays = |spec: &&Spec| former.config.specs().any(|old| has_same_keys(old, spec));
    let mut stays: Vec<String> = config.specs().filter(stays).map(|spec| spec.name.clone()).collect();
    loop {
        let limits = assemble(former, &config, &stays)?;
        let changed = |spec: &&Spec| {
            let rule = limits.rule(&spec.name).filter(|_| stays.contains(&spec.name));
            rule.is_some_and(|rule| rule.set_quota(spec.quota).is_err())
        };
        // A window of another length cannot go on with the counts of the former.
        if let Some(failed) = config.specs().find(changed) {
            stays.retain(|name| *name != failed.name);
            continue;
        }
        let rules = config.specs().filter_map(|spec| Some((limits.rule(&spec.name)?, spec.is_shadow)));
        rules.for_each(|(rule, is_shadow)| rule.set_shadow(is_shadow));
        return Ok((State { config, limits }, stays));
    }
}

/// Whether the words of one rule mean the same in another, but for the quota.
fn has_same_keys(old: &Spec, new: &Spec) -> bool {
    let keys = |spec: &Spec| (spec.name.clone(), spec.parts.clone(), spec.algorithm.clone(), spec.capacity);
    keys(old) == keys(new) && old.overflow == new.overflow
}

fn is_same_but_quota(old: &Spec, new: &Spec) -> bool {
    *old == Spec { quota: old.quota, ..new.clone() }
}

/// New rules, but for those that stay.
fn assemble<R: Request + ?Sized + 'static, C: Clock>(
    former: &State<R, C>,
    config: &Config,
    stays: &[String],
) -> Result<Limits<R, C>, BuildError> {
    let rules = build::rules(config).into_iter();
    let builder = rules.fold(former.limits.rebuild(), |builder, rule| {
        let stays = rule.name() == build::DENY || stays.iter().any(|name| name == rule.name());
        match former.limits.rule(rule.name()).filter(|_| stays) {
            Some(kept) => builder.keep_keys(kept, rule),
            None => builder.rule(rule),
        }
    });
    config.settings(builder).build()
}

fn changes(former: &Config, config: &Config, stays: &[String]) -> Changes {
    let mut changes = Changes::default();
    for spec in config.specs() {
        let old = former.specs().find(|old| old.name == spec.name);
        let list = match old.filter(|old| stays.contains(&old.name)) {
            Some(old) if old == spec => &mut changes.kept,
            Some(old) if is_same_but_quota(old, spec) => &mut changes.requoted,
            Some(_) => &mut changes.altered,
            None => &mut changes.started,
        };
        list.push(spec.name.clone());
    }
    let gone = former.specs().filter(|old| config.specs().all(|spec| spec.name != old.name));
    changes.removed = gone.map(|old| old.name.clone()).collect();
    changes
}
