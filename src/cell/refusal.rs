//! What was refused last, for those who would only hear the same.

use crate::sync::{AtomicU64, Ordering, fence};

/// A refusal: what it refused, for how long it is worth remembering, when the cost fits, and when its key is idle if nothing more is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) cost: u64,
    /// 0 is no time.
    pub(crate) until_ns: u64,
    pub(crate) fits_at_ns: u64,
    pub(crate) idle_at_ns: u64,
}

/// The last refusal, written by one thread at a time and read without waiting.
///
/// `until_ns` is the seal: 0 while the rest is written. A reader that finds the same before and after has read what belongs to it.
#[derive(Debug)]
pub(crate) struct Refusal {
    cost: AtomicU64,
    until_ns: AtomicU64,
    fits_at_ns: AtomicU64,
    idle_at_ns: AtomicU64,
}

impl Refusal {
    pub(crate) fn new() -> Self {
        let [cost, until_ns, fits_at_ns, idle_at_ns] = [(); 4].map(|()| AtomicU64::new(0));
        Self { cost, until_ns, fits_at_ns, idle_at_ns }
    }

    /// Puts another in its place. Nobody else may write meanwhile, and who writes next must have synchronised with who wrote last.
    pub(crate) fn set(&self, refused: Refused) {
        // Relaxed: the fence below passes it on.
        self.until_ns.store(0, Ordering::Relaxed);
        // Release: pairs with the Acquire fence in `get`: whoever reads what is written below finds that seal broken.
        fence(Ordering::Release);
        // Relaxed: as above.
        self.cost.store(refused.cost, Ordering::Relaxed);
        self.fits_at_ns.store(refused.fits_at_ns, Ordering::Relaxed);
        self.idle_at_ns.store(refused.idle_at_ns, Ordering::Relaxed);
        // Release: pairs with the Acquire load in `get`: the rest is written.
        self.until_ns.store(refused.until_ns, Ordering::Release);
    }

    /// The last one, unless it is being written.
    #[inline]
    pub(crate) fn get(&self) -> Option<Refused> {
        // Acquire: pairs with the Release store in `set`.
        let until_ns = self.until_ns.load(Ordering::Acquire);
        // Relaxed: what they belong to is found out below.
        let cost = self.cost.load(Ordering::Relaxed);
        let fits_at_ns = self.fits_at_ns.load(Ordering::Relaxed);
        let idle_at_ns = self.idle_at_ns.load(Ordering::Relaxed);
        // Acquire: pairs with the Release fence in `set`.
        fence(Ordering::Acquire);
        // Relaxed: the fence above orders it.
        let is_whole = until_ns > 0 && self.until_ns.load(Ordering::Relaxed) == until_ns;
        is_whole.then_some(Refused { cost, until_ns, fits_at_ns, idle_at_ns })
    }
}
