//! What each setting does.

use proptest::prelude::*;
use tollgate::config::Config;

use super::{Call, allowed, limits};

#[test]
fn networks_are_allowed_and_denied_however_they_are_written() {
    let limits = limits(
        r#"
        allow = ["10.0.0.0/8", "2001:db8:1::/48"]
        deny = ["203.0.113.7", "10.1.0.0/16", "2001:db8::/32"]
        [[rules]]
        name = "client"
        key = "client"
        quota = "1/min"
        "#,
    );
    for (client, expected) in [
        ("10.9.9.9", 5),
        ("10.1.2.3", 5),
        ("::ffff:10.9.9.9", 5),
        ("2001:db8:1::5", 5),
        ("203.0.113.7", 0),
        ("::ffff:203.0.113.7", 0),
        ("2001:db8:2::5", 0),
        ("203.0.113.8", 1),
        ("2001:db9::1", 1),
    ] {
        assert_eq!(allowed(&limits, &Call::from(client), 5), expected, "{client}");
    }
    let denied = limits.check(&Call::from("203.0.113.7"));
    assert_eq!((denied.rule(), denied.decision().fits_later()), (Some("deny"), false));
    // Without an address there is nobody to look for, and nothing to count by.
    assert_eq!(allowed(&limits, &Call::to("/"), 5), 5);
}

#[test]
fn a_rule_has_lists_of_its_own() {
    let limits = limits(
        r#"
        [[rules]]
        name = "admin"
        path = "/admin"
        key = "client"
        quota = "1/min"
        allow = "10.1.0.0/16"
        deny = ["10.0.0.0/8"]
        "#,
    );
    let call = |path, client: &str| Call { path, ..Call::from(client) };
    assert_eq!(allowed(&limits, &call("/admin", "192.0.2.1"), 5), 1);
    assert_eq!(allowed(&limits, &call("/admin", "10.1.0.1"), 5), 5, "who is on both is allowed");
    assert_eq!(allowed(&limits, &call("/admin", "10.2.0.1"), 5), 0);
    assert_eq!(limits.check(&call("/admin", "10.2.0.1")).rule(), Some("admin: deny"));
    assert_eq!(allowed(&limits, &call("/", "10.2.0.1"), 5), 5, "elsewhere nobody is denied");
}

#[test]
fn an_ipv6_client_is_its_64_and_ten_thousand_made_up_addresses_reset_nobody() {
    let limits = limits("[[rules]]\nname = 'client'\nkey = 'client'\nquota = '1/min'\ncapacity = 1000");
    assert_eq!(allowed(&limits, &Call::from("2001:db8::1"), 1), 1);
    assert_eq!(allowed(&limits, &Call::from("2001:db8::2"), 1), 0, "of the same network");
    for made_up in 0..10_000_u32 {
        _ = limits
            .check(&Call { client: Some((0x0a00_0000 + made_up).to_be_bytes().into()), ..Call::to("/") });
    }
    assert_eq!(allowed(&limits, &Call::from("2001:db8::1"), 1), 0);
}

#[test]
fn a_request_costs_what_the_rule_says() {
    let limits = limits(
        r#"
        rules = [
            { name = "five", path = "/five", key = "all", quota = "20/min", cost = 5 },
            { name = "bytes", path = "/bytes", key = "all", quota = "1000/min", cost = "bytes" },
        ]
        "#,
    );
    assert_eq!(allowed(&limits, &Call::to("/five"), 10), 4);
    let bytes = |bytes| Call { bytes, ..Call::to("/bytes") };
    assert_eq!(limits.check(&bytes(Some(900))).remaining(), 100);
    assert!(limits.check(&bytes(Some(101))).is_denied());
    assert_eq!(limits.check(&bytes(None)).remaining(), 99);
}

#[test]
fn a_shadow_refuses_nothing_and_counts() {
    let limits = limits("[[rules]]\nname = 'soon'\nkey = 'all'\nquota = '2/min'\nshadow = true");
    assert_eq!(allowed(&limits, &Call::to("/"), 5), 5);
    assert_eq!(limits.rule("soon").unwrap().counts().unwrap().shadow_denied, 3);
}

#[test]
fn every_algorithm_and_an_exact_log() {
    for algorithm in tollgate::algorithm::names() {
        let rule = format!(
            "[[rules]]\nname = 'a'\nkey = ['user', 'path']\nquota = '3/min'\nalgorithm = '{algorithm}'"
        );
        let limits = limits(&rule);
        assert_eq!(allowed(&limits, &Call::by("alice"), 5), 3, "{algorithm}");
        assert_eq!(allowed(&limits, &Call::by("bob"), 5), 3, "{algorithm}");
    }
}

#[test]
fn unlimited_and_blocked_are_quotas() {
    let limits = limits(
        "rules = [{name = 'a', path = '/a', key = 'all', quota = 'unlimited'}, {name = 'b', path = '/b', key = 'all', quota = 'blocked'}]",
    );
    assert_eq!(allowed(&limits, &Call::to("/a"), 5), 5);
    assert_eq!(allowed(&limits, &Call::to("/b"), 5), 0);
}

#[test]
fn tiers_answer_by_the_first_that_refuses() {
    let rules = |first: bool| {
        format!(
            "first_refusal_answers = {first}\nrules = [\
             {{name = 'user', key = 'user', quota = '1/s'}}, {{name = 'all', key = 'all', quota = '1/h'}}]"
        )
    };
    for (first, expected) in [(true, "user"), (false, "all")] {
        let limits = limits(&rules(first));
        assert_eq!(allowed(&limits, &Call::by("alice"), 1), 1);
        assert_eq!(limits.check(&Call::by("alice")).rule(), Some(expected));
    }
}

#[test]
fn attributes_are_parts_of_keys() {
    let limits = limits("[[rules]]\nname = 'tenant'\nkey = 'attribute:tenant'\nquota = '1/min'");
    let of = |tenant| Call { tenant, ..Call::to("/") };
    assert_eq!(allowed(&limits, &of(Some("a")), 3), 1);
    assert_eq!(allowed(&limits, &of(Some("b")), 3), 1);
    assert_eq!(allowed(&limits, &of(None), 3), 3, "who has none is not counted");
}

#[test]
fn a_check_is_by_whole_parts() {
    let limits = limits("[[rules]]\nname = 'a'\nkey = ['user', 'attribute:tenant']\nquota = '1/min'");
    let of = |user, tenant| Call { user: Some(user), tenant: Some(tenant), ..Call::to("/") };
    assert_eq!(allowed(&limits, &of("a", "b:c"), 2), 1);
    assert_eq!(allowed(&limits, &of("a:b", "c"), 2), 1);
    assert_eq!(allowed(&limits, &of("", "ab"), 2), 1);
    assert_eq!(allowed(&limits, &of("ab", ""), 2), 1);
}

proptest! {
    /// Two different pairs are two keys.
    #[test]
    fn different_pairs_never_share(one in "[ab:\u{0}\u{ff}]{0,4}", two in "[ab:\u{0}\u{ff}]{0,4}", cut in 0..5_usize) {
        let whole: String = one + &two;
        let cuts: Vec<usize> = whole.char_indices().map(|(at, _)| at).chain([whole.len()]).collect();
        let at = |nth: usize| cuts[nth % cuts.len()];
        let leak = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        let pair = |at: usize| Call {
            user: Some(leak(&whole[..at])),
            tenant: Some(leak(&whole[at..])),
            ..Call::to("/")
        };
        for algorithm in ["gcra", "sliding_window_log"] {
            let rule = format!(
                "[[rules]]\nname = 'a'\nkey = ['user', 'attribute:tenant']\nquota = '1/min'\nalgorithm = '{algorithm}'"
            );
            let limits = limits(&rule);
            prop_assert_eq!(allowed(&limits, &pair(at(cut)), 1), 1);
            let other = at(cut + 1);
            prop_assert_eq!(allowed(&limits, &pair(other), 1), usize::from(other != at(cut)));
        }
    }
}

#[test]
fn the_three_formats_say_the_same() {
    let toml = r#"
        first_refusal_answers = true
        deny = ["203.0.113.0/24"]

        [[rules]]
        name = "login"
        path = "/login"
        key = ["client", "method"]
        quota = "5/min burst 10"
        cost = 2
        capacity = 1000
        overflow = "deny"

        [default]
        key = "all"
        quota = "100/s"
        shadow = true
        "#;
    let yaml = r#"
first_refusal_answers: true
deny: [203.0.113.0/24]
rules:
  - name: login
    path: /login
    key: [client, method]
    quota: 5/min burst 10
    cost: 2
    capacity: 1000
    overflow: deny
default: {key: all, quota: 100/s, shadow: true}
"#;
    let json = "{\n\t\"first_refusal_answers\": true,\n\t\"deny\": [\"203.0.113.0/24\"],\n\t\"rules\": [\n\t\t{\n\
        \t\t\t\"name\": \"login\", \"path\": \"/login\", \"key\": [\"client\", \"method\"],\n\
        \t\t\t\"quota\": \"5/min burst 10\", \"cost\": 2, \"capacity\": 1000, \"overflow\": \"deny\"\n\t\t}\n\t],\n\
        \t\"default\": {\"key\": \"all\", \"quota\": \"100/s\", \"shadow\": true}\n}\n";
    let config = Config::from_toml(toml).unwrap();
    assert_eq!(config, Config::from_yaml(yaml).unwrap());
    assert_eq!(config, Config::from_json(json).unwrap());
    for (name, text) in
        [("a.toml", toml), ("a.yaml", yaml), ("b.yml", yaml), ("a.json", json), ("rules", toml)]
    {
        assert_eq!(config, Config::from_named(name.as_ref(), text).unwrap(), "{name}");
    }
    assert_eq!(config.to_string(), "login: 5/min burst 10 by gcra\ndefault: 100/s by gcra, shadow\n");
}

#[test]
fn an_empty_list_of_rules_limits_nothing() {
    for config in [Config::from_toml("rules = []"), Config::from_yaml("rules: []")] {
        let limits = config.unwrap().limits::<Call>().unwrap();
        assert!((0..100).all(|_| limits.check(&Call::to("/")).is_allowed()));
    }
}
