//! From a request to the key of a rule.

use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A function from a request to a key, which may borrow from the request; `None` where the rule does not apply.
///
/// Every `Fn(&R) -> Option<K>` is one. A closure needs the type of its argument written out, `|request: &Request| …`, and
/// returns a key of its own; a key that borrows, such as `Option<&str>`, comes from a named function.
pub trait KeyOf<'r, R: ?Sized + 'r>: Fn(&'r R) -> Option<Self::Key> {
    /// The key.
    type Key: Hash;
}

impl<'r, R: ?Sized + 'r, K: Hash, F: Fn(&'r R) -> Option<K>> KeyOf<'r, R> for F {
    type Key = K;
}

/// The hasher of a table whose keys are hashes already: a rule's key is hashed once, whatever its type.
pub(super) type Prehashed = BuildHasherDefault<AsItIs>;

/// Hashes a `u64` to itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AsItIs(u64);

impl Hasher for AsItIs {
    #[inline]
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 = self.0.rotate_left(8) ^ u64::from(byte));
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
