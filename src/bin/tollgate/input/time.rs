//! Time stamps as logs write them, to nanoseconds since the Unix epoch.
//!
//! Everything here refuses what lies outside `0..=tollgate::MAX_NOW_NS`, the times that a limiter tells apart.

use jiff::Timestamp;
use jiff::fmt::strtime;
use tollgate::MAX_NOW_NS;

/// RFC 3339, or a Unix number.
pub(super) fn parse(text: &str) -> Option<u64> {
    if text.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && let Some(time_ns) = unix_number(text)
    {
        return Some(time_ns);
    }
    in_range(text.parse::<Timestamp>().ok()?)
}

/// `17/May/2015:10:05:03 +0000`, the text between the brackets of an access log.
pub(super) fn parse_clf(text: &str) -> Option<u64> {
    in_range(strtime::parse("%d/%b/%Y:%H:%M:%S %z", text).ok()?.to_timestamp().ok()?)
}

fn in_range(time: Timestamp) -> Option<u64> {
    u64::try_from(time.as_nanosecond()).ok().filter(|&ns| ns <= MAX_NOW_NS)
}

/// Digits, fraction and exponent in exact arithmetic: a float would round nanoseconds away.
fn unix_number(text: &str) -> Option<u64> {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    // Digits beyond the 18th of a fraction are finer than a nanosecond in every unit.
    let fraction = &fraction[..fraction.len().min(18)];
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let scale = exponent.checked_sub(fraction.len() as i32)?;
    let to_ns = match shift(digits, scale)? {
        0..100_000_000_000 => 9,
        100_000_000_000..100_000_000_000_000 => 6,
        100_000_000_000_000..100_000_000_000_000_000 => 3,
        _ => 0,
    };
    u64::try_from(shift(digits, scale.checked_add(to_ns)?)?).ok().filter(|&ns| ns <= MAX_NOW_NS)
}

/// `digits` times ten to the `scale`, rounded down.
fn shift(digits: u128, scale: i32) -> Option<u128> {
    match 10_u128.checked_pow(scale.unsigned_abs()) {
        Some(power) if scale < 0 => Some(digits / power),
        Some(power) => digits.checked_mul(power),
        None if scale < 0 || digits == 0 => Some(0),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: u64 = 1_431_857_103_000_000_000; // 2015-05-17T10:05:03Z

    #[test]
    fn times_of_access_logs() {
        assert_eq!(parse_clf("17/May/2015:10:05:03 +0000"), Some(T));
        assert_eq!(parse_clf("17/May/2015:12:05:03 +0200"), Some(T));
        assert_eq!(parse_clf("17/May/2015:00:35:03 -0930"), Some(T));
        assert_eq!(parse_clf("01/Jan/1970:00:00:00 +0000"), Some(0));
        for junk in [
            "",
            "17/May/2015:10:05:03",
            "17/Mai/2015:10:05:03 +0000",
            "31/Feb/2015:10:05:03 +0000",
            "17/May/2015:25:05:03 +0000",
            "17/May/2015:10:05:03 +0000 ",
            "31/Dec/1969:23:59:59 +0000",
            "01/Jan/2044:00:00:00 +0000",
        ] {
            assert_eq!(parse_clf(junk), None, "{junk:?}");
        }
    }

    #[test]
    fn times_of_rfc_3339() {
        assert_eq!(parse("2015-05-17T10:05:03Z"), Some(T));
        assert_eq!(parse("2015-05-17T12:05:03.000000001+02:00"), Some(T + 1));
        for junk in
            ["2015-05-17T10:05:03", "2015-05-17", "1969-12-31T23:59:59Z", "2044-01-01T00:00:00Z", "now"]
        {
            assert_eq!(parse(junk), None, "{junk:?}");
        }
    }

    #[test]
    fn unix_numbers_in_their_four_units() {
        assert_eq!(parse("1431857103"), Some(T));
        assert_eq!(parse("1431857103000"), Some(T));
        assert_eq!(parse("1431857103000000"), Some(T));
        assert_eq!(parse("1431857103000000000"), Some(T));
        assert_eq!(parse("0"), Some(0));
        assert_eq!(parse("1.431857103e9"), Some(T));
    }

    #[test]
    fn fractions_are_exact() {
        assert_eq!(parse("1431857103.123456789"), Some(T + 123_456_789));
        assert_eq!(parse("1431857103.9999999999999999999999999"), Some(T + 999_999_999));
        assert_eq!(parse("1431857103000.25"), Some(T + 250_000));
        assert_eq!(parse("14318571031.23456789e-1"), Some(T + 123_456_789));
    }

    #[test]
    fn numbers_that_are_no_time() {
        let last = MAX_NOW_NS.to_string();
        let after = (MAX_NOW_NS + 1).to_string();
        assert_eq!(parse(&last), Some(MAX_NOW_NS));
        for junk in [
            after.as_str(),
            "",
            ".",
            "1.2.3",
            "-1",
            "+5",
            "1e",
            "1e99",
            "1e2147483647",
            "4000000000",
            "١٢٣",
            "0x10",
        ] {
            assert_eq!(parse(junk), None, "{junk:?}");
        }
        assert_eq!(parse(&"9".repeat(100)), None);
    }
}
