//! Quotas as text: what is read, how it is written, and what a refusal says.

use std::error::Error;
use std::time::Duration;

use proptest::prelude::*;
use tollgate::{BuildError, ParseQuotaError, ParseQuotaErrorKind as Kind, Quota};

const TEN_YEARS_NS: u64 = 315_576_000_000_000_000;

fn parse(text: &str) -> Result<Quota, ParseQuotaError> {
    text.parse()
}

fn refusal(text: &str) -> ParseQuotaError {
    parse(text).expect_err(text)
}

fn secs(limit: u64, secs: u64) -> Quota {
    Quota::new(limit, Duration::from_secs(secs))
}

#[test]
fn quotas_are_read_and_written() {
    for (text, quota) in [
        ("100/min", Quota::per_minute(100)),
        ("10/s burst 20", Quota::per_second(10).burst(20)),
        ("5/10s", secs(5, 10)),
        ("1/250ms", Quota::new(1, Duration::from_millis(250))),
        ("1000000/day", Quota::per_day(1_000_000)),
        ("7/h", Quota::per_hour(7)),
        ("9/week", secs(9, 604_800)),
        ("1/ns", Quota::new(1, Duration::from_nanos(1))),
        ("1/7us", Quota::new(1, Duration::from_micros(7))),
        ("90/61s", secs(90, 61)),
        ("90/61min", secs(90, 3_660)),
        ("90/25h", secs(90, 90_000)),
        ("90/8day", secs(90, 691_200)),
        ("1/1000000001ns", Quota::new(1, Duration::from_nanos(1_000_000_001))),
        ("1/87660h", secs(1, 315_576_000)),
        ("1000000000/s", Quota::per_second(1_000_000_000)),
        ("1/s burst 18446744073709551615", Quota::per_second(1).burst(u64::MAX)),
        // A burst that equals the limit is still a burst that was written.
        ("10/s burst 10", Quota::per_second(10).burst(10)),
        ("unlimited", Quota::unlimited()),
        ("blocked", Quota::blocked()),
    ] {
        assert_eq!(parse(text), Ok(quota), "{text:?}");
        assert_eq!(quota.to_string(), text);
    }
}

#[test]
fn many_ways_to_write_one_quota() {
    for (text, shown) in [
        ("60/60s", "60/min"),
        ("1/1s", "1/s"),
        ("1/1000ms", "1/s"),
        ("1/24hours", "1/day"),
        ("1/7d", "1/week"),
        ("007/s", "7/s"),
        ("1_000_000/s", "1000000/s"),
        ("1/1_500ms", "1/1500ms"),
        ("5 / 10 s", "5/10s"),
        ("  5/10s\t", "5/10s"),
        ("5/ 10s", "5/10s"),
        ("10/s   burst\t20", "10/s burst 20"),
        ("10/S BURST 20", "10/s burst 20"),
        ("10 per minute", "10/min"),
        ("10 Per 5 Minutes burst 3", "10/5min burst 3"),
        ("Unlimited", "unlimited"),
        (" BLOCKED ", "blocked"),
    ] {
        assert_eq!(parse(text).map(|quota| quota.to_string()), Ok(shown.to_owned()), "{text:?}");
    }
    for (ns, names) in [
        (1, "ns NS nsec nsecs nano nanos nanosecond nanoseconds"),
        (1_000, "us \u{b5}s \u{3bc}s usec usecs micro micros microsecond microseconds"),
        (1_000_000, "ms msec msecs milli millis millisecond milliseconds"),
        (1_000_000_000, "s sec secs second seconds Second"),
        (60_000_000_000, "m min mins minute minutes M"),
        (3_600_000_000_000, "h hr hrs hour hours"),
        (86_400_000_000_000, "d day days"),
        (604_800_000_000_000, "w wk wks week weeks"),
    ] {
        for name in names.split(' ') {
            assert_eq!(
                parse(&format!("1/3{name}")),
                Ok(Quota::new(1, Duration::from_nanos(3 * ns))),
                "{name}"
            );
        }
    }
}

#[test]
fn a_width_pads_the_whole_text() {
    assert_eq!(format!("[{:>15}]", Quota::per_second(10).burst(20)), "[  10/s burst 20]");
    assert_eq!(format!("[{:<10}]", Quota::blocked()), "[blocked   ]");
}

#[test]
fn quotas_that_are_not_valid_can_still_be_shown() {
    for (quota, shown) in [
        (Quota::per_second(0), "0/s"),
        (Quota::new(10, Duration::ZERO), "10/0ns"),
        (Quota::per_second(10).burst(0), "10/s burst 0"),
        (Quota::new(1, Duration::MAX), "1/18446744073709551615999999999ns"),
    ] {
        assert!(quota.validate().is_err());
        assert_eq!(quota.to_string(), shown);
    }
}

/// Text, kind, message without the quoted text, suggestions in order.
#[rustfmt::skip]
fn refusals() -> Vec<(&'static str, Kind, &'static str, &'static [&'static str])> {
    vec![
        ("", Kind::Empty, "no limit and no period: write `100/min`, `unlimited` or `blocked`", &["100/min", "unlimited", "blocked"]),
        ("  ", Kind::Empty, "no limit and no period: write `100/min`, `unlimited` or `blocked`", &["100/min", "unlimited", "blocked"]),
        // The limit.
        ("/s", Kind::NoLimit, "no limit before the period: write `1/s`", &["1/s"]),
        ("0/s", Kind::Refused(BuildError::LimitZero), "limit 0 could mean nothing or everything: write `blocked` or `unlimited`", &["blocked", "unlimited"]),
        ("0", Kind::Refused(BuildError::LimitZero), "limit 0 could mean nothing or everything: write `blocked` or `unlimited`", &["blocked", "unlimited"]),
        ("0.0/s", Kind::NotWhole, "limit `0.0` is not a whole number: write `blocked` or `unlimited`", &["blocked", "unlimited"]),
        ("-1/s", Kind::Negative, "limit `-1` is negative: write `1/s`, `unlimited` or `blocked`", &["1/s", "unlimited", "blocked"]),
        ("-1", Kind::Negative, "limit `-1` is negative: write `1/s`, `unlimited` or `blocked`", &["1/s", "unlimited", "blocked"]),
        ("1.5/s", Kind::NotWhole, "limit `1.5` is not a whole number: write `3/2s`", &["3/2s"]),
        ("1.5/s burst 3", Kind::NotWhole, "limit `1.5` is not a whole number: write `3/2s burst 3`", &["3/2s burst 3"]),
        ("0.1/min", Kind::NotWhole, "limit `0.1` is not a whole number: write `1/10min`", &["1/10min"]),
        ("2.0/min", Kind::NotWhole, "limit `2.0` is not a whole number: write `2/min`", &["2/min"]),
        ("3.14159265358979/week", Kind::NotWhole, "limit `3.14159265358979` is not a whole number: write `1639/87660h`", &["1639/87660h"]),
        ("+10/s", Kind::NotWhole, "limit `+10` is not a whole number: write `10/s`", &["10/s"]),
        ("10k/s", Kind::NotWhole, "limit `10k` is not a whole number: write `10000/s`", &["10000/s"]),
        ("1e6/day", Kind::NotWhole, "limit `1e6` is not a whole number: write `1000000/day`", &["1000000/day"]),
        ("1,000/s", Kind::NotWhole, "limit `1,000` is not a whole number: write `1000/s`", &["1000/s"]),
        ("10 req/s", Kind::NotWhole, "limit `10 req` is not a whole number: write `10/s`", &["10/s"]),
        ("_1/s", Kind::NotWhole, "limit `_1` is not a whole number: write `1/s`", &["1/s"]),
        ("many/s", Kind::NotWhole, "limit `many` is not a whole number: write `100/min`, `unlimited` or `blocked`", &["100/min", "unlimited", "blocked"]),
        ("none", Kind::NotWhole, "limit `none` is not a whole number: write `100/min`, `unlimited` or `blocked`", &["100/min", "unlimited", "blocked"]),
        ("99999999999999999999/s", Kind::TooLarge, "limit `99999999999999999999` is too large: write `1000000000/s`", &["1000000000/s"]),
        ("99999999999999999999", Kind::TooLarge, "limit `99999999999999999999` is too large: write `1000000000/s`", &["1000000000/s"]),
        // The period.
        ("10", Kind::NoPeriod, "no period after the limit: write `10/s` or `10/min`", &["10/s", "10/min"]),
        ("10/", Kind::NoPeriod, "no period after the limit: write `10/s` or `10/min`", &["10/s", "10/min"]),
        ("10/ burst 20", Kind::NoPeriod, "no period after the limit: write `10/s burst 20` or `10/min burst 20`", &["10/s burst 20", "10/min burst 20"]),
        ("10/5", Kind::NoUnit, "period `5` has no unit: write `10/5s`", &["10/5s"]),
        ("10/5 burst 20", Kind::NoUnit, "period `5` has no unit: write `10/5s burst 20`", &["10/5s burst 20"]),
        ("10/5/s", Kind::NotWhole, "period `5/` is not a whole number: write `10/5s`", &["10/5s"]),
        ("10/1.5s", Kind::NotWhole, "period `1.5` is not a whole number: write `10/1500ms`", &["10/1500ms"]),
        ("1/0.5ns", Kind::NotWhole, "period `0.5` is not a whole number: write `1/ns`", &["1/ns"]),
        ("1/1.7ns", Kind::NotWhole, "period `1.7` is not a whole number: write `1/2ns`", &["1/2ns"]),
        ("10/*s", Kind::NotWhole, "period `*` is not a whole number: write `10/s`", &["10/s"]),
        ("10/-5s", Kind::Negative, "period `-5` is negative: write `10/5s`", &["10/5s"]),
        ("10/99999999999999999999s", Kind::TooLarge, "period `99999999999999999999` is too large: write `1/87660h`", &["1/87660h"]),
        ("10/fortnight", Kind::UnknownUnit, "unknown unit `fortnight`: write one of ns, us, ms, s, min, h, day, week, as in `10/min`", &["10/min"]),
        ("10/3parsec burst 4", Kind::UnknownUnit, "unknown unit `parsec`: write one of ns, us, ms, s, min, h, day, week, as in `10/3min burst 4`", &["10/3min burst 4"]),
        ("10/month", Kind::CalendarUnit, "unit `month` has no fixed length: write `10/30day`", &["10/30day"]),
        ("10/2years", Kind::CalendarUnit, "unit `years` has no fixed length: write `10/730day`", &["10/730day"]),
        ("10/1h30m", Kind::CompoundPeriod, "period `1h30m` has more than one unit: write `10/90min`", &["10/90min"]),
        ("10/1h 30m burst 5", Kind::CompoundPeriod, "period `1h 30m` has more than one unit: write `10/90min burst 5`", &["10/90min burst 5"]),
        ("10/0s", Kind::Refused(BuildError::PeriodZero), "period `0s` is zero and has no rate: write `10/s`", &["10/s"]),
        ("10/0ns", Kind::Refused(BuildError::PeriodZero), "period `0ns` is zero and has no rate: write `1/ns`", &["1/ns"]),
        ("10/4000day", Kind::Refused(BuildError::PeriodTooLong { period: Duration::from_secs(345_600_000) }), "period `4000day` is above ten years: write `9/87660h`", &["9/87660h"]),
        ("1/18446744073709551615 weeks", Kind::Refused(BuildError::PeriodTooLong { period: Duration::MAX }), "period `18446744073709551615 weeks` is above ten years: write `1/87660h`", &["1/87660h"]),
        ("5/ns", Kind::Refused(BuildError::RateTooHigh { limit: 5, max: 1 }), "limit 5 is more than one unit per nanosecond: write `1/ns`", &["1/ns"]),
        ("1000000001/s", Kind::Refused(BuildError::RateTooHigh { limit: 1_000_000_001, max: 1_000_000_000 }), "limit 1000000001 is more than one unit per nanosecond: write `1000000000/s`", &["1000000000/s"]),
        // The burst, and what else may follow.
        ("10/s burst 0", Kind::Refused(BuildError::BurstZero { limit: 10 }), "burst 0 would refuse everything: write `10/s burst 1`, `10/s` or `blocked`", &["10/s burst 1", "10/s", "blocked"]),
        ("10/s burst", Kind::NoBurst, "no number after `burst`: write `10/s burst 20` or `10/s`", &["10/s burst 20", "10/s"]),
        ("10/s burst -5", Kind::Negative, "burst `-5` is negative: write `10/s burst 5`", &["10/s burst 5"]),
        ("10/s burst 2.5", Kind::NotWhole, "burst `2.5` is not a whole number: write `10/s burst 2`", &["10/s burst 2"]),
        ("10/s burst big", Kind::NotWhole, "burst `big` is not a whole number: write `10/s`", &["10/s"]),
        ("10/s burst 99999999999999999999", Kind::TooLarge, "burst `99999999999999999999` is too large: write `10/s burst 18446744073709551615`", &["10/s burst 18446744073709551615"]),
        ("10/s brust 20", Kind::Extra, "`brust 20` is not understood: write `10/s burst 20`", &["10/s burst 20"]),
        ("10/s burst=20", Kind::Extra, "`burst=20` is not understood: write `10/s burst 20`", &["10/s burst 20"]),
        ("10/s, burst 20", Kind::Extra, "`, burst 20` is not understood: write `10/s burst 20`", &["10/s burst 20"]),
        ("10/s 20", Kind::Extra, "`20` is not understood: write `10/s burst 20`", &["10/s burst 20"]),
        ("10/s please", Kind::Extra, "`please` is not understood: write `10/s`", &["10/s"]),
        ("10/s burst 20 extra", Kind::Extra, "`extra` is not understood: write `10/s burst 20`", &["10/s burst 20"]),
        ("blocked/s", Kind::NotWhole, "limit `blocked` is not a whole number: write `100/min`, `unlimited` or `blocked`", &["100/min", "unlimited", "blocked"]),
        // Of several faults, the first.
        ("-2/fortnight brust 7", Kind::Negative, "limit `-2` is negative: write `2/min burst 7`, `unlimited` or `blocked`", &["2/min burst 7", "unlimited", "blocked"]),
    ]
}

#[test]
fn refusals_name_the_value_the_reason_and_what_to_write() {
    for (text, kind, message, suggestions) in refusals() {
        let error = refusal(text);
        assert_eq!(error.to_string(), format!("quota {:?}: {message}", text.trim()), "{text:?}");
        assert_eq!(error.kind(), &kind, "{text:?}");
        assert_eq!(error.suggestions(), suggestions, "{text:?}");
    }
}

#[test]
fn what_a_refusal_advises_can_be_read_and_is_canonical() {
    for (text, ..) in refusals() {
        for advice in refusal(text).suggestions() {
            assert_eq!(parse(advice).map(|quota| quota.to_string()).as_ref(), Ok(advice), "{text:?}");
        }
    }
}

#[test]
fn the_build_error_is_the_source() {
    let error = refusal("10/s burst 0");
    assert_eq!(error.source().unwrap().downcast_ref(), Some(&BuildError::BurstZero { limit: 10 }));
    assert!(refusal("10").source().is_none());
    // An error can cross threads and `?`.
    let boxed: Box<dyn Error + Send + Sync> = error.into();
    assert!(boxed.is::<ParseQuotaError>());
}

#[test]
fn a_long_text_is_not_repeated_whole() {
    for text in
        ["9".repeat(100_000), format!("10/{}", "é".repeat(100_000)), format!("10/s {}", "b ".repeat(50_000))]
    {
        let message = refusal(&text).to_string();
        assert!(message.contains('…') && message.len() < 500, "{message}");
    }
}

fn periods() -> impl Strategy<Value = u64> {
    let units =
        [1, 1_000, 1_000_000, 1_000_000_000, 60_000_000_000, 3_600_000_000_000, 86_400_000_000_000_u64];
    prop_oneof![
        1..=TEN_YEARS_NS,
        // Every size, not the large ones only.
        (0..58_u32).prop_flat_map(|bits| 1..=1_u64 << bits),
        (prop::sample::select(units.to_vec()), 1..=3_652_u64).prop_map(|(unit, count)| unit * count),
    ]
}

fn quotas() -> impl Strategy<Value = Quota> {
    let rates = (periods(), any::<u64>(), 0..64_u32, prop::option::of(1..=u64::MAX)).prop_map(
        |(period_ns, limit, shift, burst)| {
            let quota = Quota::new((limit >> shift).clamp(1, period_ns), Duration::from_nanos(period_ns));
            burst.map_or(quota, |units| quota.burst(units))
        },
    );
    prop_oneof![1 => Just(Quota::unlimited()), 1 => Just(Quota::blocked()), 30 => rates]
}

/// The canonical units, from long to short.
const UNITS: [(&str, u64); 8] = [
    ("week", 604_800_000_000_000),
    ("day", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn every_valid_quota_reads_back(quota in quotas()) {
        prop_assert_eq!(quota.validate(), Ok(()));
        prop_assert_eq!(parse(&quota.to_string()), Ok(quota));
    }

    #[test]
    fn a_period_is_written_in_the_largest_unit_that_divides_it(period_ns in periods()) {
        let (unit, ns) = UNITS.into_iter().find(|(_, ns)| period_ns % ns == 0).unwrap();
        let count = if period_ns == ns { String::new() } else { (period_ns / ns).to_string() };
        let text = Quota::new(1, Duration::from_nanos(period_ns)).to_string();
        prop_assert_eq!(text, format!("1/{}{}", count, unit));
    }

    #[test]
    fn a_decimal_limit_is_refused_with_the_exact_rate(hundredths in 1..100_000_u64) {
        let text = format!("{}.{:02}/s", hundredths / 100, hundredths % 100);
        let advice = refusal(&text).suggestions()[0].clone();
        let rate = parse(&advice).unwrap().rate().unwrap();
        // limit / period = hundredths / 100 s
        prop_assert_eq!(u128::from(rate.limit()) * 100_000_000_000, u128::from(hundredths) * u128::from(rate.period_ns()));
    }

    #[test]
    fn what_is_read_is_valid_and_what_is_refused_gets_advice_that_is(
        text in "[-+]?[0-9_.,ke ]{0,25}(/| per )[-0-9. ]{0,25}(ns|us|ms|s|min|h|day|week|month|x|)( ?(burst|brust) ?[-0-9.]{0,22}x?)?|\\PC*",
    ) {
        match parse(&text) {
            Ok(quota) => {
                prop_assert_eq!(quota.validate(), Ok(()));
                prop_assert_eq!(parse(&quota.to_string()), Ok(quota));
            }
            Err(error) => {
                prop_assert!(!error.suggestions().is_empty());
                for advice in error.suggestions() {
                    prop_assert!(parse(advice).is_ok(), "{} for {}", advice, text);
                    let quoted = format!("`{advice}`");
                    prop_assert!(error.to_string().contains(&quoted), "{} for {}", advice, text);
                }
            }
        }
    }
}
