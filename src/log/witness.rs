//! Makes loom fail a model in which a ring is read that is dropped, or may be dropped meanwhile. Nothing otherwise: shuttle
//! would not see it.

#[cfg(not(all(loom, feature = "loom", not(feature = "shuttle"))))]
pub(super) use absent::Witness;
#[cfg(all(loom, feature = "loom", not(feature = "shuttle")))]
pub(super) use present::Witness;

#[cfg(not(all(loom, feature = "loom", not(feature = "shuttle"))))]
mod absent {
    #[derive(Debug)]
    pub(in crate::log) struct Witness;

    impl Witness {
        pub(in crate::log) const fn new() -> Self {
            Self
        }

        #[inline]
        pub(in crate::log) const fn look(&self) {}
    }
}

#[cfg(all(loom, feature = "loom", not(feature = "shuttle")))]
mod present {
    #![allow(unsafe_code)]

    use crate::sync::UnsafeCell;

    /// Read whenever the ring is, and written when it is dropped.
    #[derive(Debug)]
    pub(in crate::log) struct Witness(UnsafeCell<()>);

    // SAFETY: nothing is ever read or written through the cell's pointer.
    unsafe impl Sync for Witness {}

    impl Witness {
        pub(in crate::log) fn new() -> Self {
            Self(UnsafeCell::new(()))
        }

        pub(in crate::log) fn look(&self) {
            self.0.with(|_| ());
        }
    }

    impl Drop for Witness {
        fn drop(&mut self) {
            self.0.with_mut(|_| ());
        }
    }
}
