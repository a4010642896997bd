//! The default way to hash keys.

use std::fmt;
use std::hash::{BuildHasher, Hasher};

/// Keyed with random bits when made, and documented by the authors of `ahash`, which does the work, to resist floods of
/// chosen keys. How it hashes may change in any version.
#[derive(Clone, Default)]
pub struct KeyHasher(ahash::RandomState);

impl fmt::Debug for KeyHasher {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHasher")
    }
}

impl BuildHasher for KeyHasher {
    type Hasher = KeyState;

    #[inline]
    fn build_hasher(&self) -> KeyState {
        KeyState(self.0.build_hasher())
    }
}

/// The state of one hash by [`KeyHasher`].
#[derive(Clone)]
pub struct KeyState(ahash::AHasher);

impl fmt::Debug for KeyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyState")
    }
}

macro_rules! forward {
    ($($write:ident: $value:ty),*) => {$(
        #[inline]
        fn $write(&mut self, value: $value) {
            self.0.$write(value);
        }
    )*};
}

impl Hasher for KeyState {
    #[inline]
    fn finish(&self) -> u64 {
        self.0.finish()
    }

    forward!(write: &[u8], write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_u128: u128, write_usize: usize);
}
