//! The exact log: at most so many units in any trailing window.
//!
//! One word for each admitted call, whatever its cost, in a ring that grows and shrinks with use. `README.md` argues why no
//! interleaving admits too much.

mod current;
mod given;
#[cfg(all(loom, feature = "loom"))]
pub(crate) mod model;
mod rebuild;
mod ring;
mod seek;
mod sums;
mod witness;
mod word;

pub(crate) use current::{Current, Found, Guard};

use crate::log::ring::{Mark, Ring, View};
use crate::log::word::Layout;
use crate::sync::Backoff;

/// Keeps its thread from losing what it reads in a log.
pub(crate) type Pin = crossbeam_epoch::Guard;

/// A guard of this thread.
#[inline]
pub(crate) fn pin() -> Pin {
    crossbeam_epoch::pin()
}

/// So many units in a trailing window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// At least 1, and at most [`MAX_UNITS`].
    pub(crate) units: u64,
    /// At least 1, and at most 2^59 - 1.
    pub(crate) window_ns: u64,
}

/// The most units of a span: sums are modulo 2^32, and debts may be twice as high.
pub(crate) const MAX_UNITS: u64 = 1 << 24;

/// What is done when units fit, or do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Nothing is ever taken.
    Look,
    /// They are taken if they fit.
    Take,
    /// They are taken. Units beyond twice the limit are not counted: what is over is no more to be had for it.
    Charge,
}

/// A question to a log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) span: Span,
    pub(crate) now_ns: u64,
    pub(crate) cost: u64,
    pub(crate) mode: Mode,
}

/// What a log answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The units were taken.
    Taken {
        /// They stop counting one window after this.
        stamp_ns: u64,
        /// Units that count now, these included.
        live: u64,
    },
    /// Nothing was taken.
    Found {
        /// Units that count now.
        live: u64,
        /// How long until the cost fits, if it ever does; 0 if it does now.
        wait_ns: u64,
        /// How long until no unit counts.
        reset_after_ns: u64,
    },
}

/// The log is dead: its key is to be looked up again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dead;

/// The admissions of one key.
#[derive(Debug)]
pub struct Log {
    ring: Current<Box<Ring>>,
}

impl Ask {
    /// Units to take where so many count.
    fn takes(&self, live: u64) -> u64 {
        match self.mode {
            Mode::Take if self.cost <= self.span.units.saturating_sub(live) => self.cost,
            Mode::Charge => self.cost.min((2 * self.span.units).saturating_sub(live)),
            Mode::Look | Mode::Take => 0,
        }
    }
}

impl Log {
    pub(crate) fn new() -> Self {
        Self { ring: Current::new() }
    }

    /// Nothing is ever taken again.
    pub(crate) fn is_dead(&self, guard: &impl Guard) -> bool {
        matches!(self.ring.get(guard), Found::Dead)
    }

    /// Asks. A log that was never charged starts no earlier than `floor_ns`, which is read after it was found so.
    ///
    /// # Errors
    /// When the log is dead.
    pub(crate) fn ask(
        &self,
        guard: &impl Guard,
        floor_ns: impl Fn() -> u64,
        ask: &Ask,
    ) -> Result<Answer, Dead> {
        loop {
            let answer = match self.ring.get(guard) {
                Found::Value(_) => self.ask_charged(guard, ask),
                Found::Unset => self.ask_unset(floor_ns(), ask),
                Found::Dead => return Err(Dead),
            };
            if let Some(answer) = answer {
                return Ok(answer);
            }
        }
    }

    /// [`ask`](Self::ask), if the log was ever charged and is not dead.
    // Always: an answer is four words long, and would be written to memory and read again at once.
    #[inline(always)]
    pub(crate) fn ask_charged(&self, guard: &impl Guard, ask: &Ask) -> Option<Answer> {
        // Whoever was faster has the ring's lines, and does the next calls at a fraction of what taking them back costs. Bounded,
        // so it waits for nobody.
        let backoff = Backoff::new();
        while let Found::Value(ring) = self.ring.get(guard) {
            if let Some(answer) = self.ask_ring(guard, ring, ask) {
                return Some(answer);
            }
            backoff.spin();
        }
        None
    }

    /// `None`: something moved meanwhile.
    #[inline(always)]
    fn ask_ring(&self, guard: &impl Guard, ring: &Ring, ask: &Ask) -> Option<Answer> {
        let view = ring.view()?;
        let window_ns = ask.span.window_ns;
        let at_ns = ask.now_ns.max(view.newest_ns);
        let expired = ring.expired(view.tail, view.head, at_ns, window_ns);
        let live = u64::from(view.head.since(expired));
        let cost = ask.takes(live);
        if cost == 0 {
            let answer = found(ring, view.head, view.newest_ns, expired, ask);
            return ring.is_still(view).then_some(answer);
        }
        let is_done = if view.is_ended {
            self.ring.replace(
                guard,
                ring,
                Some(rebuild::copy(ring, view.head, view.newest_ns, expired, Some((at_ns, cost)))),
            )
        } else if rebuild::is_wasteful(ring, view, expired) {
            ring.end(view.free);
            false
        } else if ring.fits(view, at_ns, cost) {
            ring.take(view, at_ns, cost, expired)
        } else {
            rebuild::make_room(ring, view.tail, view.head, view.newest_ns, view.free, window_ns);
            false
        };
        is_done.then_some(Answer::Taken { stamp_ns: at_ns, live: live + cost })
    }

    #[cold]
    fn ask_unset(&self, floor_ns: u64, ask: &Ask) -> Option<Answer> {
        let cost = ask.takes(0);
        if cost == 0 {
            return Some(Answer::Found { live: 0, wait_ns: 0, reset_after_ns: 0 });
        }
        let stamp_ns = ask.now_ns.max(floor_ns);
        let ring = rebuild::first(Layout::new(ask.span.units, ask.span.window_ns), stamp_ns, cost);
        self.ring.start(ring).then_some(Answer::Taken { stamp_ns, live: cost })
    }

    /// Gives back units taken at `stamp_ns`, or else the newest, as far as they count at `now_ns`. `part` says how many, of
    /// how many were given already and how many are at hand; it is asked after the log was read and before it is changed, and 0
    /// ends it.
    pub(crate) fn give_back(
        &self,
        guard: &impl Guard,
        span: Span,
        now_ns: u64,
        stamp_ns: Option<u64>,
        mut part: impl FnMut(u64, u64) -> u64,
    ) {
        let (mut given, mut newest_ns) = (0, None);
        while let Found::Value(ring) = self.ring.get(guard) {
            let Some(view) = ring.view() else { continue };
            let expired = ring.expired(view.tail, view.head, now_ns.max(view.newest_ns), span.window_ns);
            let target = match stamp_ns {
                Some(stamp_ns) => ring.stamped(view, expired, stamp_ns),
                None => ring.newest(view, expired, newest_ns.unwrap_or(view.newest_ns)),
            };
            let Some((index, entry)) = target else {
                if ring.is_still(view) {
                    return;
                }
                continue;
            };
            if view.is_ended {
                let next = rebuild::copy(ring, view.head, view.newest_ns, view.tail, None);
                self.ring.replace(guard, ring, Some(next));
                continue;
            }
            if !ring.has_slot(view) {
                rebuild::make_room(ring, view.tail, view.head, view.newest_ns, view.free, span.window_ns);
                continue;
            }
            let units = part(given, ring.units(entry).into());
            if units == 0 {
                return;
            }
            if ring.give_back(view, index, entry, units as u32) {
                given += units;
                // The rest are not what others take from now on.
                newest_ns.get_or_insert(view.newest_ns);
            }
        }
    }

    /// Forgets all units, if any count. `before` is called when they are about to go.
    pub(crate) fn reset(&self, guard: &impl Guard, span: Span, now_ns: u64, mut before: impl FnMut()) {
        while let Found::Value(ring) = self.ring.get(guard) {
            let Some(view) = ring.view() else { continue };
            let expired = ring.expired(view.tail, view.head, now_ns.max(view.newest_ns), span.window_ns);
            if view.head.since(expired) == 0 {
                if ring.is_still(view) {
                    return;
                }
            } else if view.is_ended {
                before();
                let next = rebuild::copy(ring, view.head, view.newest_ns, view.head, None);
                if self.ring.replace(guard, ring, Some(next)) {
                    return;
                }
            } else {
                ring.end(view.free);
            }
        }
    }

    /// Whether nothing would be lost, from `now_ns` on, if the log was forgotten.
    pub(crate) fn is_idle(&self, guard: &impl Guard, span: Span, now_ns: u64) -> bool {
        loop {
            let Found::Value(ring) = self.ring.get(guard) else { return true };
            let Some(view) = ring.view() else { continue };
            let is_idle = is_idle(ring, view, span, now_ns);
            if ring.is_still(view) {
                return is_idle;
            }
        }
    }

    /// Kills the log if it is idle. `before` is called when it is about to die: from then on nothing may start before
    /// `now_ns`.
    pub(crate) fn die_if_idle(
        &self,
        guard: &impl Guard,
        span: Span,
        now_ns: u64,
        mut before: impl FnMut(),
    ) -> bool {
        loop {
            let ring = match self.ring.get(guard) {
                Found::Dead => return false,
                Found::Unset if self.ring.die() => return true,
                Found::Unset => continue,
                Found::Value(ring) => ring,
            };
            let Some(view) = ring.view() else { continue };
            if !is_idle(ring, view, span, now_ns) {
                if ring.is_still(view) {
                    return false;
                }
            } else if view.is_ended {
                before();
                if self.ring.replace(guard, ring, None) {
                    return true;
                }
            } else {
                ring.end(view.free);
            }
        }
    }
}

fn is_idle(ring: &Ring, view: View, span: Span, now_ns: u64) -> bool {
    view.newest_ns <= now_ns
        && view.head.since(ring.expired(view.tail, view.head, now_ns, span.window_ns)) == 0
}

/// The answer where nothing is taken. Of a torn view it may be wrong, and is thrown away.
// A view is handed over in parts: as a whole it would have to be in memory.
#[inline(never)]
fn found(ring: &Ring, head: Mark, newest_ns: u64, expired: Mark, ask: &Ask) -> Answer {
    let Span { units: limit, window_ns } = ask.span;
    let at_ns = ask.now_ns.max(newest_ns);
    let live = u64::from(head.since(expired));
    // When so many of the units that count are gone.
    let gone_after_ns = |units: u64| {
        let entry = ring.load(ring.nth(expired, head, units as u32));
        (ring.time_ns(entry) + window_ns).saturating_sub(at_ns)
    };
    let newest = ring.load(head.index().wrapping_sub(1));
    let reset_after_ns = match live {
        0 => 0,
        _ if ring.units(newest) > 0 => (newest_ns + window_ns).saturating_sub(at_ns),
        _ => gone_after_ns(live),
    };
    // Nothing always fits, even beside a debt.
    let fits = ask.cost == 0 || ask.cost > limit || live + ask.cost <= limit;
    Answer::Found {
        live,
        wait_ns: if fits { 0 } else { gone_after_ns(live + ask.cost - limit) },
        reset_after_ns,
    }
}
