//! Keys as bytes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::key::IpPrefix;

/// A key that can be written as bytes, so that machines agree on it. Two keys that differ have different bytes.
///
/// Redis takes any bytes, so nothing is escaped. The parts of a tuple are written with their lengths: `("a", "b:c")` and `("a:b", "c")`
/// are two keys.
pub trait RedisKey {
    /// Appends the bytes.
    fn append_to(&self, bytes: &mut Vec<u8>);

    /// The bytes, where the key has them as they are: a decision by a lease copies nothing then.
    #[inline]
    fn as_bytes(&self) -> Option<&[u8]> {
        None
    }
}

impl<K: RedisKey + ?Sized> RedisKey for &K {
    fn append_to(&self, bytes: &mut Vec<u8>) {
        (**self).append_to(bytes);
    }

    #[inline]
    fn as_bytes(&self) -> Option<&[u8]> {
        (**self).as_bytes()
    }
}

macro_rules! like_slice {
    ($([$($parameter:tt)*] $type:ty),*) => {$(
        impl<$($parameter)*> RedisKey for $type {
            fn append_to(&self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(self.as_ref());
            }

            #[inline]
            fn as_bytes(&self) -> Option<&[u8]> {
                Some(self.as_ref())
            }
        }
    )*};
}

like_slice!([] [u8], [const N: usize] [u8; N], [] Vec<u8>, [] str, [] String);

/// No key: one limit for all.
impl RedisKey for () {
    fn append_to(&self, _: &mut Vec<u8>) {}
}

macro_rules! as_text {
    ($($type:ty)*) => {$(
        impl RedisKey for $type {
            fn append_to(&self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(self.to_string().as_bytes());
            }
        }
    )*};
}

as_text!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize bool char IpAddr Ipv4Addr Ipv6Addr IpPrefix);

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: RedisKey),*> RedisKey for ($($name,)*) {
            fn append_to(&self, bytes: &mut Vec<u8>) {
                #[allow(non_snake_case, reason = "a name for each type and its value")]
                let ($($name,)*) = self;
                $(append_part($name, bytes);)*
            }
        }
    };
}

tuples!(A B);
tuples!(A B C);
tuples!(A B C D);

/// A part with its length in front.
fn append_part(part: &impl RedisKey, bytes: &mut Vec<u8>) {
    let mut own = Vec::new();
    part.append_to(&mut own);
    bytes.extend_from_slice(format!("{}:", own.len()).as_bytes());
    bytes.extend_from_slice(&own);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(key: &impl RedisKey) -> Vec<u8> {
        let mut bytes = Vec::new();
        key.append_to(&mut bytes);
        bytes
    }

    #[test]
    fn tuples_that_differ_have_different_bytes() {
        assert_ne!(bytes(&("a", "b:c")), bytes(&("a:b", "c")));
        assert_ne!(bytes(&("", "ab")), bytes(&("a", "b")));
        assert_ne!(bytes(&(("a", "b"), "c")), bytes(&("a", ("b", "c"))));
        assert_eq!(bytes(&("alice", 7_u64)), b"5:alice1:7");
    }
}
