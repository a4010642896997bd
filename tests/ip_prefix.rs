//! `IpPrefix`: which addresses are one client, and its text.

use std::collections::hash_map::DefaultHasher;
use std::error::Error;
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use proptest::prelude::*;
use tollgate::{IpMask, IpPrefix, IpPrefixError};

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn key(text: &str) -> IpPrefix {
    IpPrefix::new(ip(text))
}

fn hash(prefix: IpPrefix) -> u64 {
    let mut hasher = DefaultHasher::new();
    prefix.hash(&mut hasher);
    hasher.finish()
}

#[test]
fn an_ipv4_address_is_kept_whole() {
    assert_eq!(key("192.0.2.7").addr(), ip("192.0.2.7"));
    assert_eq!(key("192.0.2.7").prefix_len(), 32);
    assert_ne!(key("192.0.2.7"), key("192.0.2.6"));
}

#[test]
fn an_ipv6_address_is_cut_to_its_64() {
    let client = key("2001:db8:0:7:1:2:3:4");
    assert_eq!(client.addr(), ip("2001:db8:0:7::"));
    assert_eq!(client.prefix_len(), 64);
    // The last bit of the /64 and the first bit behind it.
    assert_eq!(key("2001:db8:0:7:8000::"), key("2001:db8:0:7::"));
    assert_ne!(key("2001:db8:0:6::"), key("2001:db8:0:7::"));
}

#[test]
fn a_mapped_address_is_the_ipv4_address() {
    let mapped = key("::ffff:192.0.2.7");
    assert_eq!(mapped, key("192.0.2.7"));
    assert_eq!(hash(mapped), hash(key("192.0.2.7")));
    assert_eq!(mapped.addr(), ip("192.0.2.7"));
    // Neighbours of the mapped range stay IPv6.
    for text in ["::fffe:192.0.2.7", "::1:ffff:192.0.2.7", "::192.0.2.7", "::"] {
        assert!(key(text).addr().is_ipv6(), "{text}");
        let whole = IpPrefix::with_lengths(ip(text), 32, 128).unwrap();
        assert_eq!(whole.addr(), ip(text));
    }
    // The length is the one for IPv4.
    let net = IpPrefix::with_lengths(ip("::ffff:10.1.2.3"), 8, 128).unwrap();
    assert_eq!((net.addr(), net.prefix_len()), (ip("10.0.0.0"), 8));
}

#[test]
fn a_length_of_zero_is_one_key_for_each_family() {
    let all = IpMask::new(0, 0).unwrap();
    assert_eq!(all.apply(ip("1.2.3.4")), all.apply(ip("255.0.0.1")));
    assert_eq!(all.apply(ip("::1")), all.apply(ip("ffff::")));
    assert_ne!(all.apply(ip("1.2.3.4")), all.apply(ip("::1")));
    assert_eq!(all.apply(ip("1.2.3.4")).to_string(), "0.0.0.0/0");
    assert_eq!(all.apply(ip("::1")).to_string(), "::/0");
}

#[test]
fn prefixes_of_one_address_and_two_lengths_differ_in_all_ways() {
    let (short, long): (IpPrefix, IpPrefix) = ("10.0.0.0/8".parse().unwrap(), "10.0.0.0/24".parse().unwrap());
    assert_ne!(short, long);
    assert_ne!(hash(short), hash(long));
    assert!(short < long);
}

#[test]
fn the_order_is_by_address() {
    let mut keys = ["2001:db8::", "10.0.0.2", "::", "9.255.255.255", "10.0.0.1"].map(key);
    keys.sort();
    let texts = keys.map(|key| key.to_string());
    assert_eq!(texts, ["::/64", "9.255.255.255", "10.0.0.1", "10.0.0.2", "2001:db8::/64"]);
}

#[test]
fn conversions_agree_with_new() {
    let (v4, v6) = (Ipv4Addr::new(192, 0, 2, 7), "2001:db8::1".parse::<Ipv6Addr>().unwrap());
    assert_eq!(IpPrefix::from(v4), key("192.0.2.7"));
    assert_eq!(IpPrefix::from(v6), key("2001:db8::1"));
    assert_eq!(IpPrefix::from(v4.to_ipv6_mapped()), key("192.0.2.7"));
    assert_eq!(IpPrefix::from(IpAddr::V4(v4)), key("192.0.2.7"));
    // Neither port nor flow label nor zone is part of the client.
    assert_eq!(IpPrefix::from(SocketAddr::from((v4, 1))), IpPrefix::from(SocketAddr::from((v4, 2))));
    assert_eq!(
        IpPrefix::from(SocketAddr::from(std::net::SocketAddrV6::new(v6, 1, 2, 3))),
        key("2001:db8::1")
    );
    assert_eq!(IpMask::default(), IpMask::new(32, 64).unwrap());
    assert_eq!(IpMask::DEFAULT, IpMask::default());
}

#[test]
fn a_key_is_small() {
    assert_eq!(size_of::<IpPrefix>(), 17);
}

#[test]
fn text_forms() {
    for (text, shown) in [
        ("192.0.2.7", "192.0.2.7"),
        ("192.0.2.7/32", "192.0.2.7"),
        ("10.1.2.3/24", "10.1.2.0/24"),
        (" 10.1.2.0/24 ", "10.1.2.0/24"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:DB8:0::/64", "2001:db8::/64"),
        ("2001:db8::1/128", "2001:db8::1/128"),
        ("2001:db8:ffff::/33", "2001:db8:8000::/33"),
        ("::/0", "::/0"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("::ffff:10.1.2.3/104", "10.0.0.0/8"),
        ("::ffff:10.1.2.3/96", "0.0.0.0/0"),
        ("::ffff:10.1.2.3/95", "::fffe:0:0/95"),
    ] {
        assert_eq!(
            text.parse::<IpPrefix>().map(|prefix| prefix.to_string()),
            Ok(shown.to_owned()),
            "{text:?}"
        );
    }
    assert_eq!(format!("{:?}", key("2001:db8::1")), "IpPrefix(2001:db8::/64)");
    assert_eq!(format!("[{:>15}]", key("2001:db8::1")), "[  2001:db8::/64]");
    assert_eq!(format!("[{:<10}]", key("10.0.0.1")), "[10.0.0.1  ]");
}

#[test]
fn refusals_name_the_value_the_reason_and_what_to_write() {
    for (text, message) in [
        ("10.0.0.7/33", r#"prefix length "33" is not a number in 0..=32: write 10.0.0.7/32"#),
        ("10.0.0.7/999", r#"prefix length "999" is not a number in 0..=32: write 10.0.0.7/32"#),
        ("10.0.0.7/+8", r#"prefix length "+8" is not a number in 0..=32: write 10.0.0.7/32"#),
        ("10.0.0.7/", r#"prefix length "" is not a number in 0..=32: write 10.0.0.7/32"#),
        (
            "10.0.0.7/255.255.255.0",
            r#"prefix length "255.255.255.0" is not a number in 0..=32: write 10.0.0.0/24"#,
        ),
        ("2001:db8::/129", r#"prefix length "129" is not a number in 0..=128: write 2001:db8::/128"#),
        ("10.0.0.7:443", r#""10.0.0.7:443" is not an IP address alone: write 10.0.0.7"#),
        ("[2001:db8::1]:443", r#""[2001:db8::1]:443" is not an IP address alone: write 2001:db8::/64"#),
        ("[2001:db8::1]", r#""[2001:db8::1]" is not an IP address alone: write 2001:db8::/64"#),
        ("fe80::1%eth0", r#""fe80::1%eth0" is not an IP address alone: write fe80::/64"#),
        (
            "example.org",
            r#""example.org" is not an IP address: write one such as 192.0.2.7, 10.0.0.0/24 or 2001:db8::/64"#,
        ),
        ("", r#""" is not an IP address: write one such as 192.0.2.7, 10.0.0.0/24 or 2001:db8::/64"#),
    ] {
        let error = text.parse::<IpPrefix>().expect_err(text);
        assert_eq!(error.to_string(), message, "{text:?}");
        let advised = message.rsplit("write one such as ").next().unwrap().rsplit("write ").next().unwrap();
        for advice in advised.split([',', ' ']).filter(|word| !word.is_empty() && *word != "or") {
            assert!(advice.parse::<IpPrefix>().is_ok(), "{text:?}: {advice:?}");
        }
    }
}

#[test]
fn lengths_out_of_range_are_refused() {
    let v4 = IpMask::new(33, 64).unwrap_err();
    assert_eq!(v4, IpPrefixError::V4Length { len: 33 });
    assert_eq!(
        v4.to_string(),
        "IPv4 prefix length 33 is not in 0..=32: write 32 for one address, or 24 for its neighbours too"
    );
    let v6 = IpMask::new(32, 129).unwrap_err();
    assert_eq!(v6, IpPrefixError::V6Length { len: 129 });
    assert_eq!(
        v6.to_string(),
        "IPv6 prefix length 129 is not in 0..=128: write 64 for one customer, or 128 for one address"
    );
    // Both are checked, whichever the address needs.
    assert_eq!(IpPrefix::with_lengths(ip("10.0.0.1"), 32, 129), Err(v6));
    assert_eq!(IpPrefix::with_lengths(ip("::1"), 33, 64), Err(v4));
    assert!(IpMask::new(32, 128).is_ok());
    let boxed: Box<dyn Error + Send + Sync> = IpMask::new(255, 0).unwrap_err().into();
    assert!(boxed.to_string().contains("255"));
}

#[test]
fn a_long_text_is_not_repeated_whole() {
    let error = "1".repeat(100_000).parse::<IpPrefix>().unwrap_err().to_string();
    assert!(error.len() < 250, "{}", error.len());
}

/// The network, bit by bit.
fn cut_slowly(addr: IpAddr, v4_len: u8, v6_len: u8) -> (IpAddr, u8) {
    match addr.to_canonical() {
        IpAddr::V4(v4) => {
            let kept =
                (0..32).filter(|bit| *bit < v4_len).map(|bit| v4.to_bits() & (1 << (31 - bit))).sum::<u32>();
            (Ipv4Addr::from_bits(kept).into(), v4_len)
        }
        IpAddr::V6(v6) => {
            let kept = (0..128)
                .filter(|bit| *bit < v6_len)
                .map(|bit| v6.to_bits() & (1 << (127 - bit)))
                .sum::<u128>();
            (Ipv6Addr::from_bits(kept).into(), v6_len)
        }
    }
}

fn addresses() -> impl Strategy<Value = IpAddr> {
    prop_oneof![
        any::<u32>().prop_map(|bits| Ipv4Addr::from_bits(bits).into()),
        any::<u32>().prop_map(|bits| Ipv4Addr::from_bits(bits).to_ipv6_mapped().into()),
        any::<u128>().prop_map(|bits| Ipv6Addr::from_bits(bits).into()),
        // Around the mapped range.
        (0xfffe_u128..=0x1_0000, any::<u32>())
            .prop_map(|(head, tail)| Ipv6Addr::from_bits(head << 32 | u128::from(tail)).into()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_prefix_is_the_first_bits(addr in addresses(), v4_len in 0..=32_u8, v6_len in 0..=128_u8) {
        let prefix = IpPrefix::with_lengths(addr, v4_len, v6_len).unwrap();
        prop_assert_eq!((prefix.addr(), prefix.prefix_len()), cut_slowly(addr, v4_len, v6_len));
        // Cutting what is cut changes nothing.
        prop_assert_eq!(IpPrefix::with_lengths(prefix.addr(), v4_len, v6_len), Ok(prefix));
    }

    #[test]
    fn text_reads_back(addr in addresses(), v4_len in 0..=32_u8, v6_len in 0..=128_u8) {
        let prefix = IpPrefix::with_lengths(addr, v4_len, v6_len).unwrap();
        prop_assert_eq!(prefix.to_string().parse(), Ok(prefix));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[0-9a-f:./%\\[\\] ]{0,24}|\\PC*") {
        match text.parse::<IpPrefix>() {
            Ok(prefix) => prop_assert_eq!(prefix.to_string().parse(), Ok(prefix)),
            Err(error) => prop_assert!(error.to_string().contains(": write ")),
        }
    }
}
