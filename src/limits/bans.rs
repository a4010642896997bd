//! Keys that are shut out for a time, whatever they have left.

use core::marker::PhantomData;
use core::time::Duration;
use std::fmt;
use std::hash::Hash;

use crate::algorithm::MAX_WORD;
use crate::error::BuildError;
use crate::limits::events;
use crate::store::{KeyHasher, Life, Lookup, Overflow, Store, Table, Turn};
use crate::time::{Now, duration_ns};

/// The word of time 0: a slot never used is below it.
const ORIGIN: u64 = 2;

/// Keys that are banned, each until a time of its own: a [`Rule::banned`](crate::Rule::banned) refuses them before
/// anything is charged.
///
/// Share it in an [`Arc`](std::sync::Arc) between the rule and whoever bans. Times are those of the limits' time line. Where
/// one is behind another that made room for a ban, a new ban may last until that one, and cannot be lifted before.
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use tollgate::{Bans, Clock, Limits, Quota, Rule};
/// struct Request { user: u64 }
/// let bans = Arc::new(Bans::<u64>::new(10_000)?);
/// let limits = Limits::builder()
///     .rule(Rule::banned("banned", bans.clone(), |request: &Request| Some(request.user)))
///     .rule(Rule::new("user", Quota::per_second(10), |request: &Request| Some(request.user)))
///     .build()?;
/// let now_ns = limits.clock().now_ns();
/// assert!(bans.ban_at(&7, Duration::from_secs(3_600), now_ns));
/// assert_eq!(limits.check(&Request { user: 7 }).rule(), Some("banned"));
/// bans.unban_at(&7, now_ns);
/// assert!(limits.check(&Request { user: 7 }).is_allowed());
/// # Ok::<(), tollgate::BuildError>(())
/// ```
///
/// # Cost
/// About 22 bytes a key of the capacity, allocated when built. A look reads one cache line. Nothing blocks.
pub struct Bans<K: ?Sized> {
    /// A word is the time at which the ban ends.
    ends: Table,
    key: PhantomData<fn(&K)>,
}

impl<K: ?Sized> fmt::Debug for Bans<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Bans").field(&self.ends).finish()
    }
}

fn life(now_ns: u64) -> Life {
    Life { fresh: ORIGIN + Now::at(now_ns).ns(), lead: 0 }
}

impl<K: ?Sized> Bans<K> {
    /// Room for so many banned keys at once. A ban that is over makes room.
    ///
    /// # Errors
    /// When the capacity is 0, or there is no memory for it.
    pub fn new(capacity: usize) -> Result<Self, BuildError> {
        Ok(Self { ends: Table::new(capacity, Overflow::Deny, KeyHasher::default())?, key: PhantomData })
    }

    /// Keys that are banned at a time.
    ///
    /// # Cost
    /// Reads the whole table.
    pub fn len_at(&self, now_ns: u64) -> usize {
        self.ends.len(life(now_ns))
    }
}

impl<K: ?Sized + Hash> Bans<K> {
    /// Shuts a key out from now on, or for longer than it is already; a ban is not made shorter. `Duration::MAX` is for good. False when
    /// there is no room: as many keys as the capacity are banned already.
    pub fn ban_at(&self, key: &K, duration: Duration, now_ns: u64) -> bool {
        let life = life(now_ns);
        let end = life.fresh.saturating_add(duration_ns(duration)).min(MAX_WORD);
        // A newcomer's word is no end of a ban. It starts at the floor, which another's time may have put after the end.
        let turn = |word, floor: u64| {
            let is_new = floor > 0 && end > life.fresh;
            if is_new || end > word { Turn::Put(end.max(floor), ()) } else { Turn::Keep(()) }
        };
        let has_room = self.ends.decide(key, self.ends.hint(key), life, turn).is_ok();
        events::banned(duration, has_room);
        has_room
    }

    /// Lifts a ban. True if there was one.
    pub fn unban_at(&self, key: &K, now_ns: u64) -> bool {
        let life = life(now_ns);
        let lift = |word| if life.is_idle(word) { Turn::Keep(false) } else { Turn::Put(life.fresh, true) };
        let is_lifted = self.ends.visit(key, lift).unwrap_or(false);
        if is_lifted {
            events::unbanned();
        }
        is_lifted
    }

    /// How long a key is still banned; zero when it is not.
    pub fn left_at(&self, key: &K, now_ns: u64) -> Duration {
        let life = life(now_ns);
        let left_ns = self.ends.visit(key, |word| Turn::Keep(word.saturating_sub(life.fresh)));
        Duration::from_nanos(left_ns.unwrap_or(0))
    }
}
