//! When a ring makes way for another, and what goes over.
//!
//! A ring that is too small, too large, or cannot say a time or a number of units is ended first: its last word keeps others from
//! taking anything that the copy would miss. Whoever finds an ended ring may copy it; the first copy counts.

use crate::log::ring::{Free, Mark, Ring, View};
use crate::log::word::Layout;

/// The smallest ring has `1 << this` slots.
#[cfg(not(all(loom, feature = "loom")))]
const MIN_BITS: u32 = 4;
#[cfg(all(loom, feature = "loom"))]
const MIN_BITS: u32 = 2;

/// Makes room for a change: by passing what the newest entry has expired, as its thread may have been stopped before, or by
/// ending the ring.
#[cold]
pub(super) fn make_room(ring: &Ring, tail: Mark, head: Mark, newest_ns: u64, free: Free, window_ns: u64) {
    let expired = ring.expired(tail, head, newest_ns, window_ns);
    if expired.index() == tail.index() || !ring.lasts(head) {
        ring.end(free);
    } else {
        ring.pass(tail, expired);
    }
}

/// Whether a smaller ring would do: asked at every change, so that a ring is copied at most twice in a lap. `expired`: the
/// first entry that still counts.
#[inline]
pub(super) fn is_wasteful(ring: &Ring, view: View, expired: Mark) -> bool {
    let capacity = ring.capacity();
    if capacity <= 1 << MIN_BITS {
        return false;
    }
    let live = view.head.index() - expired.index();
    live == 0 || view.head.index() & (capacity / 2 - 1) == 0 && live <= capacity / 8
}

/// A ring for so many entries, and some more: twice as large as one that they have filled.
fn bits_for(entries: u64) -> u32 {
    let slots = entries + entries / 4 + 2;
    (u64::BITS - (slots - 1).leading_zeros()).max(MIN_BITS)
}

/// Units taken at one time, in as many entries as it takes.
fn split(layout: Layout, at_ns: u64, units: u64) -> impl Iterator<Item = (u64, u64)> {
    let whole = (units / layout.max_units()) as usize;
    let rest = Some(units % layout.max_units()).filter(|&rest| rest > 0 || whole == 0);
    std::iter::repeat_n(layout.max_units(), whole).chain(rest).map(move |units| (at_ns, units))
}

/// The first ring of a log.
pub(super) fn first(layout: Layout, at_ns: u64, units: u64) -> Box<Ring> {
    let slot_bits = bits_for(units.div_ceil(layout.max_units()));
    Box::new(Ring::new(layout, slot_bits, at_ns, split(layout, at_ns, units)))
}

/// What of an ended ring has units, from `from` on, and one more admission if there is one. Without one, an entry of no units
/// keeps the time of the newest.
#[cold]
pub(super) fn copy(
    ring: &Ring,
    head: Mark,
    newest_ns: u64,
    from: Mark,
    add: Option<(u64, u64)>,
) -> Box<Ring> {
    let layout = ring.layout;
    let (at_ns, units) = add.unwrap_or((newest_ns, 0));
    let entries = u64::from(head.index() - from.index()) + units.div_ceil(layout.max_units()).max(1);
    let kept = (from.index()..head.index()).map(|index| ring.load(index));
    let mut kept = kept.filter(|&entry| ring.units(entry) > 0).peekable();
    let base_ns = kept.peek().map_or(at_ns, |&entry| ring.time_ns(entry));
    let kept = kept.map(|entry| (ring.time_ns(entry), u64::from(ring.units(entry))));
    Box::new(Ring::new(layout, bits_for(entries), base_ns, kept.chain(split(layout, at_ns, units))))
}
