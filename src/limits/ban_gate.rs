//! Bans as a rule: they refuse, and are never charged.

use core::time::Duration;

use crate::decision::Decision;
use crate::error::BuildError;
use crate::limiter::Plan;
use crate::limits::gate::{Asked, Gate, Room};
use crate::quota::Quota;
use crate::time::duration_ns;

/// Bans behind the function that finds the key of a request.
pub(super) struct BanGate<F, L> {
    /// For how long the key of a request is banned, at a time.
    pub(super) left: F,
    /// Keys that are banned at a time.
    pub(super) len: L,
    pub(super) plan: Plan,
}

impl<R, F, L> Gate<R> for BanGate<F, L>
where
    R: ?Sized,
    F: Fn(&R, u64) -> Duration + Send + Sync,
    L: Fn(u64) -> usize + Send + Sync,
{
    /// Who is not banned meets no rule here.
    fn look(&self, asked: &Asked<'_, R>) -> Option<Decision> {
        let left_ns = duration_ns((self.left)(asked.request, asked.now_ns));
        (left_ns > 0).then(|| Decision::denied(0, 0, left_ns, left_ns))
    }

    fn take(&self, asked: &Asked<'_, R>) -> Option<Decision> {
        self.look(asked)
    }

    fn hold(
        &self,
        asked: &Asked<'_, R>,
        _: &dyn Fn() -> u64,
        _: &mut dyn FnMut() -> bool,
    ) -> Option<Decision> {
        self.look(asked)
    }

    fn penalize(&self, _: &Asked<'_, R>, _: u64) -> Option<Decision> {
        None
    }

    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn change(&self, _: &Plan, _: Quota, _: u64) -> Result<Plan, BuildError> {
        Err(BuildError::Other("bans have no quota: use Bans::ban_at and Bans::unban_at".to_owned()))
    }

    fn len(&self, _: &Plan, now_ns: u64) -> usize {
        (self.len)(now_ns)
    }

    fn room(&self) -> Room {
        Room::default()
    }
}
