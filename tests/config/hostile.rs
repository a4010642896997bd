//! Files that are odd, or written to do harm: refused whole, by line, in bounded time and stack.

use tollgate::config::{Config, ConfigError};

/// A rule to which lines can be added.
const RULE: &str = "[[rules]]\nname = 'a'\nkey = 'all'\nquota = '1/s'\n";

fn lines(error: &ConfigError) -> Vec<usize> {
    error.mistakes().iter().map(|mistake| mistake.line).collect()
}

/// The only mistake of a text.
fn mistake(read: Result<Config, ConfigError>) -> (usize, String) {
    let error = read.unwrap_err();
    let [mistake] = error.mistakes() else { panic!("{error}") };
    (mistake.line, mistake.message.clone())
}

#[test]
fn what_is_nested_without_end_is_refused() {
    let depth = 100_000;
    for text in [
        "- ".repeat(depth),
        "rules: ".to_owned() + &"[".repeat(depth) + &"]".repeat(depth),
        "rules: ".to_owned() + &"{a: ".repeat(depth) + &"}".repeat(depth),
        "? ".repeat(depth),
    ] {
        let (line, message) = mistake(Config::from_yaml(&text));
        // The scanner has a bound of its own for brackets.
        let is_told = message.contains("in each other") || message.contains("recursion limit");
        assert!(line == 1 && is_told, "{line}: {message}");
    }
    let steps: String = (0..3_000).map(|depth| " ".repeat(depth) + "-\n").collect();
    assert_eq!(mistake(Config::from_yaml(&steps)).0, 17);
    for text in ["rules = ".to_owned() + &"[".repeat(depth), "a.".repeat(depth) + "a = 1"] {
        assert!(Config::from_toml(&text).unwrap_err().mistakes().iter().all(|mistake| mistake.line == 1));
    }
}

/// Each alias is small, and what it stands for is not.
#[test]
fn aliases_of_aliases_are_refused() {
    let many = |of: &str| [of; 9].join(", ");
    let wide = (1..10).map(|n| format!("a{n}: &a{n} [{}]\n", many(&format!("*a{}", n - 1))));
    let wide = format!("a0: &a0 [{}]\n{}", many("x"), wide.collect::<String>());
    let (open, close) = ("[".repeat(14), "]".repeat(14));
    let deep = (1..5_000).map(|n| format!("a{n}: &a{n} {open}*a{}{close}\n", n - 1));
    let deep = format!("a0: &a0 [x]\n{}", deep.collect::<String>());
    for text in [wide, deep] {
        let (_, message) = mistake(Config::from_yaml(&text));
        assert!(message.contains("alias") || message.contains("in each other"), "{message}");
    }
}

#[test]
fn aliases_are_what_they_stand_for() {
    let yaml =
        "rules:\n- {name: a, key: &who [user, path], quota: &q 1/s}\n- {name: b, key: *who, quota: *q}\n";
    assert_eq!(Config::from_yaml(yaml).unwrap().to_string(), "a: 1/s by gcra\nb: 1/s by gcra\n");
    assert_eq!(mistake(Config::from_yaml("rules: [\n*nobody]")).0, 2);
    // What is wrong in an anchor is told once, where it is written.
    let twice = "rules:\n- &rule {name: a, key: all, quota: 1/s, hue: 1}\n- *rule\n";
    let told = Config::from_yaml(twice).unwrap_err();
    assert_eq!(told.mistakes().iter().filter(|mistake| mistake.message.contains("hue")).count(), 1);
    assert_eq!(lines(&told), [2, 2]);
}

#[test]
fn marks_at_the_beginning_and_ends_of_lines_are_as_they_come() {
    let yaml = "rules:\n- name: a\n  key: all\n  quota: 1/s\n";
    let json = "{\"rules\": [{\"name\": \"a\",\n\"key\": \"all\",\n\"quota\": \"1/s\"}]}\n";
    type Read = fn(&str) -> Result<Config, ConfigError>;
    let formats: [(&str, Read); 3] =
        [(RULE, Config::from_toml), (yaml, Config::from_yaml), (json, Config::from_json)];
    for (text, read) in formats {
        let config = read(text).unwrap();
        assert_eq!(read(&format!("\u{feff}{text}")).unwrap(), config, "{text}");
        let crlf = text.replace('\n', "\r\n");
        assert_eq!(read(&crlf).unwrap(), config, "{text}");
        assert_eq!(mistake(read(&crlf.replace("1/s", "1/fortnight"))).0, text.lines().count(), "{text}");
    }
}

/// As a file is while an editor writes it.
#[test]
fn an_empty_file_is_refused() {
    for text in ["", "\n\n", "# later\n", "\u{feff}"] {
        for read in [Config::from_toml(text), Config::from_yaml(text), Config::from_json(text)] {
            let (line, message) = mistake(read);
            assert!(line == 1 && message.contains("limits nothing"), "{text:?}: {message}");
        }
    }
    assert!(mistake(Config::from_toml("allow = '10.0.0.1'")).1.contains("limits nothing"));
    for text in ["null", "~", "7", "[]", "rules"] {
        assert!(mistake(Config::from_yaml(text)).1.contains("write a table"), "{text}");
    }
    for text in ["rules = []", "deny = '10.0.0.1'", "default = {key = 'all', quota = '1/s'}"] {
        assert!(Config::from_toml(text).is_ok(), "{text}");
    }
}

#[test]
fn names_can_be_read_and_are_nobody_elses() {
    let rule = |name: &str| format!("rules = [{{name = \"{name}\", key = 'all', quota = '1/s'}}]");
    for name in ["größe 💥", "a, b", "deny all", "x"] {
        assert!(Config::from_toml(&rule(name)).is_ok(), "{name}");
    }
    for name in ["", "  ", "a\\u0000", "\\u001b[31mred", "a\\nb"] {
        let (_, message) = mistake(Config::from_toml(&rule(name)));
        assert!(message.contains("can be read") && !message.contains(char::is_control), "{message}");
    }
    // That of another rule's own list.
    let clash = format!("{RULE}deny = '10.0.0.1'\n[[rules]]\nname = 'a: deny'\nkey = 'all'\nquota = '1/s'\n");
    let (line, message) = mistake(Config::from_toml(&clash));
    assert!(line == 7 && message.contains("comes by itself"), "{line}: {message}");
    // Quoted in a message, too.
    let (_, message) = mistake(Config::from_toml(&format!("\"\\u001b[2J\\n\" = 1\n{RULE}")));
    assert!(message.starts_with("`\\u{1b}[2J\\n` is not a setting"), "{message}");
}

#[test]
fn a_network_is_written_as_one() {
    let denied = |text: &str| Config::from_toml(&format!("deny = '{text}'"));
    for (text, part) in [
        ("10.1.2.3/8", "an address within a network: write 10.0.0.0/8, or 10.1.2.3"),
        ("2001:db8::1/32", "write 2001:db8::/32, or 2001:db8::1"),
        ("10.0.0.0/33", "is no network"),
        ("10.0.0.0/255.0.0.0", "is no network"),
        ("10.0.0", "is no network"),
        ("010.0.0.1", "is no network"),
        ("fe80::1%eth0", "is no network"),
        ("10.0.0.0/8 ", "is no network"),
        ("", "is no network"),
    ] {
        let (_, message) = mistake(denied(text));
        assert!(message.contains(part), "{text}: {message}");
    }
    // An IPv4 network may be written as mapped into IPv6.
    for (mapped, plain) in [
        ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("::ffff:0:0/96", "0.0.0.0/0"),
    ] {
        assert_eq!(denied(mapped).unwrap(), denied(plain).unwrap(), "{mapped}");
    }
}

#[test]
fn what_stands_in_the_place_of_a_setting_is_told_once() {
    for (text, expected) in [
        ("rules = 7\ndefault = 'x'\ndeny = 7", &[1, 2, 3][..]),
        ("[[rules]]\nname = 1\nkey = true\nquota = []", &[2, 3, 4]),
        ("[[rules]]\n[default]\n[[rules]]\nkey = []\nname = 'a'\nquota = ''", &[1, 1, 1, 2, 2, 4, 6]),
    ] {
        let error = Config::from_toml(text).unwrap_err();
        assert_eq!(lines(&error), expected, "{error}");
    }
}

#[test]
fn every_setting_has_one_kind_of_value() {
    let whole = ["name", "quota", "algorithm", "overflow"].map(|name| (name, ["1", "[]", "true"]));
    let texts = ["path", "method", "plan", "key", "allow", "deny"].map(|name| (name, ["1", "[[]]", "{}"]));
    let others =
        [("cost", ["1.0", "[]", "0"]), ("capacity", ["'1'", "1e3", "-1"]), ("shadow", ["1", "'true'", "[]"])];
    for (name, values) in whole.into_iter().chain(texts).chain(others) {
        for value in values {
            let rule: String =
                RULE.lines().filter(|line| !line.starts_with(name)).map(|line| format!("{line}\n")).collect();
            let text = format!("{rule}{name} = {value}");
            let (line, message) = mistake(Config::from_toml(&text));
            assert!(
                line == text.lines().count() && message.contains(": write "),
                "{text}: {line}: {message}"
            );
        }
    }
    for number in ["99999999999999999999", "1e30", "-9223372036854775809"] {
        let rule = format!("rules:\n- {{name: a, key: all, quota: 1/s,\n   capacity: {number}}}");
        assert!(mistake(Config::from_yaml(&rule)).1.contains("`capacity` is "), "{number}");
    }
}

#[test]
fn settings_that_would_do_nothing_are_refused() {
    let log = RULE.to_owned() + "algorithm = 'sliding_window_log'\n";
    for (text, part) in [
        (format!("{RULE}cost = 2"), "`cost` is 2, and the quota never has more than 1"),
        (format!("{log}capacity = 10"), "`capacity` with sliding_window_log"),
        (format!("{log}overflow = 'deny'"), "`overflow` with sliding_window_log"),
    ] {
        let (line, message) = mistake(Config::from_toml(&text));
        assert!(line == text.lines().count() && message.contains(part), "{line}: {message}");
    }
    for quota in ["unlimited", "blocked", "1/s burst 2"] {
        let rule = RULE.replace("1/s", quota) + "cost = 2";
        assert!(Config::from_toml(&rule).is_ok(), "{quota}");
    }
}
