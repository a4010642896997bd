//! A rule that was built.

use core::time::Duration;
use std::sync::Arc;

use crate::limits::current::Generation;
use crate::limits::gate::Gate;
#[cfg(feature = "config")]
use crate::limits::rule::Rule;

/// The units that a request costs.
pub(super) type Cost<R> = Box<dyn Fn(&R) -> u64 + Send + Sync>;

/// Whether a rule is for a request, besides that it has a key.
pub(super) type Only<R> = Box<dyn Fn(&R) -> bool + Send + Sync>;

/// Is told of requests that the rule refuses.
pub(super) type Watch<R> = Box<dyn Fn(&R) + Send + Sync>;

/// A rule that was built. Its gate and what goes with it may be another's, too, that was taken over.
pub(super) struct Ready<R: ?Sized> {
    pub(super) name: Box<str>,
    pub(super) gate: Arc<dyn Gate<R>>,
    pub(super) cost: Option<Cost<R>>,
    pub(super) only: Option<Only<R>>,
    /// One period of the quota when nothing is said.
    pub(super) max_debt: Option<Duration>,
    pub(super) watch: Option<Watch<R>>,
    pub(super) generation: Arc<Generation>,
    /// Which keys these are.
    #[cfg(feature = "metrics")]
    pub(super) identity: Arc<()>,
}

impl<R: ?Sized> Ready<R> {
    pub(super) fn cost(&self, request: &R) -> u64 {
        self.cost.as_ref().map_or(1, |cost| cost(request))
    }

    /// The gate, if the rule is for the request.
    pub(super) fn gate_for(&self, request: &R) -> Option<&dyn Gate<R>> {
        self.only.as_ref().is_none_or(|only| only(request)).then_some(&*self.gate)
    }

    /// Another rule over the keys of this one: for the requests and at the cost of that, found by the key of this.
    #[cfg(feature = "config")]
    pub(super) fn taken_over(&self, rule: Rule<R>) -> Self {
        Self {
            name: rule.name.into(),
            gate: self.gate.clone(),
            cost: rule.cost,
            only: rule.only,
            max_debt: self.max_debt,
            watch: rule.watch,
            generation: self.generation.clone(),
            #[cfg(feature = "metrics")]
            identity: self.identity.clone(),
        }
    }
}
