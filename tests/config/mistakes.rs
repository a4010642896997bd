//! What is wrong is told whole, by line.

use tollgate::config::{Config, ConfigError};

fn lines(error: &ConfigError) -> Vec<usize> {
    error.mistakes().iter().map(|mistake| mistake.line).collect()
}

#[test]
fn every_mistake_is_told_with_its_line_in_each_format() {
    let toml = r#"allow = ["10.0.0.0/33"]
colour = "red"
[[rules]]
name = "a"
path = 7
key = ["user", "shoe size"]
quota = "ten a minute"
[[rules]]
name = "b"
key = "all"
quota = "10/min burst 5"
algorithm = "fixed_window"
[[rules]]
name = "c"
key = "all"
quota = "10/min"
algorithm = "magic"
cost = 0
capacity = -1
overflow = "explode"
shadow = "yes"
[[rules]]
quota = "1/s"
[[rules]]
name = "b"
key = "all"
quota = "1/s"
[default]
key = ["client", "user", "path", "method", "plan"]
"#;
    let error = Config::from_toml(toml).unwrap_err();
    let expected = [1, 2, 5, 6, 7, 11, 17, 18, 19, 20, 21, 22, 22, 25, 28, 29];
    assert_eq!(lines(&error), expected, "{error}");
    let yaml = r#"allow: [10.0.0.0/33]
colour: red
rules:
  - name: a
    path: 7
    key: [user, shoe size]
    quota: ten a minute
  - name: b
    key: all
    quota: 10/min burst 5
    algorithm: fixed_window
  - name: c
    key: all
    quota: 10/min
    algorithm: magic
    cost: 0
    capacity: -1
    overflow: explode
    shadow: "yes"
  - quota: 1/s
  - {name: b, key: all, quota: 1/s}
default:
    key: [client, user, path, method, plan]
"#;
    let error = Config::from_yaml(yaml).unwrap_err();
    let expected = [1, 2, 5, 6, 7, 10, 15, 16, 17, 18, 19, 20, 20, 21, 23, 23];
    assert_eq!(lines(&error), expected, "{error}");
}

#[test]
fn a_message_says_what_to_write() {
    for (text, part) in [
        ("rules = 7", "`rules` is a number: write a list of tables"),
        ("rules = [7]", "a rule is a number: write a table"),
        ("default = []", "`default` is a list: write a table"),
        (
            "rule = []",
            "`rule` is not a setting: write one of rules, default, allow, deny, first_refusal_answers",
        ),
        (
            "allow = ['nowhere']",
            "`nowhere` is no network: write an address, or one with a length, as 10.0.0.0/8",
        ),
        ("allow = []", "`allow` is an empty list: write a text, or leave it out"),
        ("deny = [10]", "`deny` has a number in it: write texts"),
        ("first_refusal_answers = 1", "is a number: write true or false"),
        (
            "rules = [{name = 'deny', key = 'all', quota = '1/s'}]",
            "`deny` is the name of what comes by itself",
        ),
        ("rules = [{name = 'a', key = 'all', quota = 1}]", "`quota` is a number: write a text"),
        ("rules = [{name = 'a', key = 'all', quota = '0/s'}]", "quota"),
        ("rules = [{name = 'a', key = 'all', quota = 'unlimited', algorithm = 'magic'}]", "no algorithm"),
        (
            "rules = [{name = 'a', key = 'all', quota = '1/s', cost = 1.5}]",
            "`cost` is a fraction: write a whole",
        ),
        ("rules = [{name = 'a', key = 'attribute:', quota = '1/s'}]", "`attribute:` is no part of a key"),
    ] {
        let error = Config::from_toml(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
        assert!(error.starts_with("line 1: "), "{error}");
    }
}

#[test]
fn syntax_is_told_with_its_line() {
    assert_eq!(lines(&Config::from_toml("rules = []\n\n= 7").unwrap_err()), [3]);
    assert_eq!(lines(&Config::from_toml("a = 1\na = 2").unwrap_err()), [2]);
    assert_eq!(lines(&Config::from_yaml("rules:\n  - name: a\n bad").unwrap_err()), [3]);
    assert!(Config::from_json("{\"rules\": [}").is_err());
    assert_eq!(lines(&Config::from_yaml("{}\n---\n{}").unwrap_err()), [3]);
}

#[test]
fn a_name_twice_in_a_table_is_told() {
    for text in
        ["deny: [10.0.0.1]\ndeny: [10.0.0.2]", "{\"deny\": [\"10.0.0.1\"],\n\"deny\": [\"10.0.0.2\"]}"]
    {
        let error = Config::from_yaml(text).unwrap_err();
        assert_eq!(lines(&error), [2], "{error}");
    }
}
