//! The address of a client, cut to the part that one client cannot change at will.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use core::str::FromStr;

use crate::error::quoted;

/// The bits of an IPv4 address, and the longest IPv4 prefix.
const V4_BITS: u8 = 32;
/// The bits of an IPv6 address, and the longest IPv6 prefix.
const V6_BITS: u8 = 128;
/// Where an IPv4 address starts in its IPv4-mapped IPv6 address.
const MAPPED_BITS: u8 = V6_BITS - V4_BITS;
/// What stands before it: `::ffff:0:0/96`.
const MAPPED_HEAD: u128 = 0xffff;

/// A client's network as a key: one IPv4 address, or one IPv6 /64.
///
/// # Why a /64
/// An IPv6 customer is given a whole /64 (2^64 addresses) and often more, and may answer from a new address for
/// every request. A limit by full IPv6 address is therefore no limit, and its keys flood the table. An IPv4 address
/// is held by one customer (or shared by many behind one NAT), so it is kept whole.
///
/// An IPv4-mapped IPv6 address (`::ffff:192.0.2.7`, what a dual-stack socket reports for an IPv4 client) is the
/// IPv4 address: else the same client would have two quotas, and all IPv4 clients together would share the one of
/// `::/64`.
///
/// ```
/// use std::net::IpAddr;
/// use tollgate::IpPrefix;
///
/// let ip = |text: &str| text.parse::<IpAddr>().unwrap();
/// // Two addresses of one customer are one key.
/// assert_eq!(IpPrefix::new(ip("2001:db8::1")), IpPrefix::new(ip("2001:db8::ffff:2")));
/// assert_ne!(IpPrefix::new(ip("2001:db8::1")), IpPrefix::new(ip("2001:db8:0:1::1")));
/// // One IPv4 client, whichever socket it came through.
/// assert_eq!(IpPrefix::new(ip("::ffff:192.0.2.7")), IpPrefix::new(ip("192.0.2.7")));
///
/// assert_eq!(IpPrefix::new(ip("2001:db8::1")).to_string(), "2001:db8::/64");
/// assert_eq!(IpPrefix::new(ip("192.0.2.7")).to_string(), "192.0.2.7");
/// assert_eq!("10.1.2.3/24".parse::<IpPrefix>()?.to_string(), "10.1.2.0/24");
/// # Ok::<(), tollgate::IpPrefixError>(())
/// ```
///
/// A value takes 17 bytes. The bits behind the prefix are zero, so equal networks are equal values. The order is by
/// address, IPv4 where its mapped addresses lie; of two prefixes that start at one address the shorter comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct IpPrefix {
    /// The IPv6 address, or the IPv4-mapped one, most significant byte first. Bytes, since a `u128` would align the
    /// key to 16 and make it 32 bytes long.
    bytes: [u8; 16],
    /// The length counted in those 128 bits, so 96 more than an IPv4 length.
    len: u8,
}

impl IpPrefix {
    /// The client at `addr`: its IPv4 address (/32), or its IPv6 /64.
    #[inline]
    pub const fn new(addr: IpAddr) -> Self {
        IpMask::DEFAULT.apply(addr)
    }

    /// The network of `addr`, `v4_len` bits long for an IPv4 address (mapped ones too) and `v6_len` for any other.
    ///
    /// For many addresses, build an [`IpMask`] once.
    ///
    /// ```
    /// use tollgate::IpPrefix;
    /// let key = IpPrefix::with_lengths("2001:db8:1:2::3".parse()?, 24, 56)?;
    /// assert_eq!(key.to_string(), "2001:db8:1::/56");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`IpMask::new`]; both lengths are checked, whichever the address needs.
    pub fn with_lengths(addr: IpAddr, v4_len: u8, v6_len: u8) -> Result<Self, IpPrefixError> {
        Ok(IpMask::new(v4_len, v6_len)?.apply(addr))
    }

    /// The first address of the network; IPv4 for a mapped one.
    #[inline]
    pub const fn addr(&self) -> IpAddr {
        let bits = self.bits();
        if self.is_v4() {
            // The cast keeps the 32 bits of the mapped address.
            IpAddr::V4(Ipv4Addr::from_bits(bits as u32))
        } else {
            IpAddr::V6(Ipv6Addr::from_bits(bits))
        }
    }

    /// The length of the prefix in bits: up to 32 when [`addr`](Self::addr) is IPv4, up to 128 when it is IPv6.
    #[inline]
    pub const fn prefix_len(&self) -> u8 {
        if self.is_v4() { self.len - MAPPED_BITS } else { self.len }
    }

    /// The first `len` of 128 `bits`.
    #[inline]
    const fn cut(bits: u128, len: u8) -> Self {
        debug_assert!(len <= V6_BITS);
        // A shift by all 128 bits is not defined, and leaves nothing.
        let bits = match u128::MAX.checked_shl((V6_BITS - len) as u32) {
            Some(mask) => bits & mask,
            None => 0,
        };
        Self { bytes: bits.to_be_bytes(), len }
    }

    #[inline]
    const fn bits(&self) -> u128 {
        u128::from_be_bytes(self.bytes)
    }

    /// Only for IPv4: the address of an IPv6 prefix would have been normalised, and a prefix shorter than 96 bits has
    /// lost the last one of the head.
    #[inline]
    const fn is_v4(&self) -> bool {
        self.bits() >> V4_BITS == MAPPED_HEAD
    }
}

/// All 128 bits of an address, IPv4 as the mapped one.
#[inline]
const fn bits_of(addr: IpAddr) -> u128 {
    match addr {
        IpAddr::V4(v4) => (MAPPED_HEAD << V4_BITS) | v4.to_bits() as u128,
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

impl Hash for IpPrefix {
    /// Two writes in place of a hashed slice. The length is one of them, since a table that keeps hashes and no keys
    /// has nothing else to tell `10.0.0.0/8` from `10.0.0.0/24`.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(self.bits());
        state.write_u8(self.len);
    }
}

impl From<IpAddr> for IpPrefix {
    #[inline]
    fn from(addr: IpAddr) -> Self {
        Self::new(addr)
    }
}

impl From<Ipv4Addr> for IpPrefix {
    #[inline]
    fn from(addr: Ipv4Addr) -> Self {
        Self::new(IpAddr::V4(addr))
    }
}

impl From<Ipv6Addr> for IpPrefix {
    #[inline]
    fn from(addr: Ipv6Addr) -> Self {
        Self::new(IpAddr::V6(addr))
    }
}

impl From<SocketAddr> for IpPrefix {
    /// The client's address; the port, which it may choose, is dropped.
    #[inline]
    fn from(addr: SocketAddr) -> Self {
        Self::new(addr.ip())
    }
}

impl fmt::Display for IpPrefix {
    /// `192.0.2.7` for one IPv4 address, else `10.0.0.0/24` or `2001:db8::/64`. An IPv6 length is always written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let addr = self.addr();
        if addr.is_ipv4() && self.prefix_len() == V4_BITS {
            return fmt::Display::fmt(&addr, f);
        }
        // As one text, so that a width pads all of it.
        f.pad(&format!("{addr}/{}", self.prefix_len()))
    }
}

impl fmt::Debug for IpPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IpPrefix({self})")
    }
}

impl FromStr for IpPrefix {
    type Err = IpPrefixError;

    /// Reads `ADDRESS` or `ADDRESS/LENGTH`. Without a length it is the network that [`IpPrefix::new`] takes; bits
    /// behind the length are dropped. The length of a mapped address counts in its 128 bits, as it is written:
    /// `::ffff:10.0.0.0/104` is `10.0.0.0/8`.
    ///
    /// # Errors
    /// [`IpPrefixError::NotAnAddress`] and [`IpPrefixError::NotALength`].
    fn from_str(text: &str) -> Result<Self, IpPrefixError> {
        let text = text.trim();
        let (addr_text, len_text) = match text.split_once('/') {
            Some((addr, len)) => (addr, Some(len)),
            None => (text, None),
        };
        let Ok(addr) = addr_text.parse::<IpAddr>() else {
            return Err(IpPrefixError::NotAnAddress {
                text: quoted(addr_text),
                nearest: guess_address(addr_text),
            });
        };
        let Some(len_text) = len_text else { return Ok(Self::new(addr)) };

        let (max, offset) = if addr.is_ipv4() { (V4_BITS, MAPPED_BITS) } else { (V6_BITS, 0) };
        match parse_len(len_text) {
            Some(len) if len <= max => Ok(Self::cut(bits_of(addr), len + offset)),
            _ => {
                let len = guess_len(len_text, addr, max);
                let nearest = Self::cut(bits_of(addr), len + offset);
                Err(IpPrefixError::NotALength { text: quoted(len_text), max, nearest })
            }
        }
    }
}

/// Digits only: `u8::from_str` would take a `+` too.
fn parse_len(text: &str) -> Option<u8> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// The length that was meant: that of a netmask, or else the longest.
fn guess_len(text: &str, addr: IpAddr, max: u8) -> u8 {
    match text.parse::<Ipv4Addr>() {
        // At most 32, so the cast keeps it.
        Ok(netmask) if addr.is_ipv4() => netmask.to_bits().leading_ones() as u8,
        _ => max,
    }
}

/// The address in a text with a port, brackets or a zone.
fn guess_address(text: &str) -> Option<IpPrefix> {
    if let Ok(socket) = text.parse::<SocketAddr>() {
        return Some(socket.into());
    }
    let bare = text.trim_matches(['[', ']', ' ']).split('%').next()?;
    bare.parse::<IpAddr>().ok().map(IpPrefix::new)
}

/// The lengths of prefixes, checked once, for a loop that cuts many addresses.
///
/// ```
/// use tollgate::IpMask;
/// let mask = IpMask::new(24, 56)?;
/// assert_eq!(mask.apply("10.1.2.3".parse()?).to_string(), "10.1.2.0/24");
/// assert_eq!(mask.apply("2001:db8:1:2::3".parse()?).to_string(), "2001:db8:1::/56");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IpMask {
    v4_len: u8,
    v6_len: u8,
}

impl IpMask {
    /// One IPv4 address, or one IPv6 /64.
    pub const DEFAULT: Self = Self { v4_len: V4_BITS, v6_len: 64 };

    /// `v4_len` bits of an IPv4 address (mapped ones too), `v6_len` bits of any other. 0 makes one key of them all.
    ///
    /// # Errors
    /// [`IpPrefixError::V4Length`] above 32, [`IpPrefixError::V6Length`] above 128.
    pub const fn new(v4_len: u8, v6_len: u8) -> Result<Self, IpPrefixError> {
        if v4_len > V4_BITS {
            return Err(IpPrefixError::V4Length { len: v4_len });
        }
        if v6_len > V6_BITS {
            return Err(IpPrefixError::V6Length { len: v6_len });
        }
        Ok(Self { v4_len, v6_len })
    }

    /// The network of `addr`.
    #[inline]
    pub const fn apply(&self, addr: IpAddr) -> IpPrefix {
        let bits = bits_of(addr);
        let is_v4 = bits >> V4_BITS == MAPPED_HEAD;
        let len = if is_v4 { self.v4_len + MAPPED_BITS } else { self.v6_len };
        IpPrefix::cut(bits, len)
    }
}

impl Default for IpMask {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Why an [`IpPrefix`] or [`IpMask`] was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IpPrefixError {
    /// The length for IPv4 is above 32.
    V4Length {
        /// The length asked for.
        len: u8,
    },
    /// The length for IPv6 is above 128.
    V6Length {
        /// The length asked for.
        len: u8,
    },
    /// What stands before the `/` is no IP address.
    NotAnAddress {
        /// The start of it.
        text: String,
        /// The prefix that was meant, where it can be told.
        nearest: Option<IpPrefix>,
    },
    /// What stands after the `/` is no length for this address.
    NotALength {
        /// The start of it.
        text: String,
        /// The longest there is.
        max: u8,
        /// The nearest prefix of the same address.
        nearest: IpPrefix,
    },
}

impl fmt::Display for IpPrefixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4Length { len } => write!(
                f,
                "IPv4 prefix length {len} is not in 0..=32: write 32 for one address, or 24 for its neighbours too"
            ),
            Self::V6Length { len } => write!(
                f,
                "IPv6 prefix length {len} is not in 0..=128: write 64 for one customer, or 128 for one address"
            ),
            Self::NotAnAddress { text, nearest: Some(nearest) } => {
                write!(f, "{text:?} is not an IP address alone: write {nearest}")
            }
            Self::NotAnAddress { text, nearest: None } => {
                write!(
                    f,
                    "{text:?} is not an IP address: write one such as 192.0.2.7, 10.0.0.0/24 or 2001:db8::/64"
                )
            }
            Self::NotALength { text, max, nearest } => {
                // One IPv4 address is displayed without its length, which is what the reader has to be shown here.
                let (addr, len) = (nearest.addr(), nearest.prefix_len());
                write!(f, "prefix length {text:?} is not a number in 0..={max}: write {addr}/{len}")
            }
        }
    }
}

impl std::error::Error for IpPrefixError {}

// The size is promised in the docs.
const _: () = assert!(size_of::<IpPrefix>() == 17 && align_of::<IpPrefix>() == 1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_keeps_the_first_bits_and_no_others() {
        for len in 0..=V6_BITS {
            let kept = IpPrefix::cut(u128::MAX, len).bits();
            assert_eq!((kept.leading_ones(), kept.count_ones()), (len.into(), len.into()), "/{len}");
        }
    }

    #[test]
    fn lengths_are_digits() {
        assert_eq!(parse_len("24"), Some(24));
        for text in ["", "+24", "-1", " 24", "2 4", "256", "x"] {
            assert_eq!(parse_len(text), None, "{text:?}");
        }
    }
}
