//! Which requests a rule is for, and which are left for the default.

use tollgate::config::Config;

use super::{Call, allowed, limits};

#[test]
fn a_rule_is_for_its_paths_methods_and_plans() {
    let limits = limits(
        r#"
        [[rules]]
        name = "uploads"
        path = ["/upload", "/api/*/files"]
        method = ["PUT", "POST"]
        plan = "free"
        key = "user"
        quota = "1/min"
        "#,
    );
    let call = |path, method, plan, user| Call { method, plan, user, ..Call::to(path) };
    let (free, paid) = (Some("free"), Some("paid"));
    for (path, method) in [("/upload", "PUT"), ("/api/7/files", "POST"), ("/api/a/b/files", "put")] {
        let user = Some(path);
        assert_eq!(allowed(&limits, &call(path, method, free, user), 3), 1, "{method} {path}");
    }
    for (path, method, plan, user) in [
        ("/uploads", "PUT", free, Some("a")),
        ("/upload", "GET", free, Some("a")),
        ("/upload", "PUT", paid, Some("a")),
        ("/upload", "PUT", None, Some("a")),
        ("/upload", "PUT", free, None),
    ] {
        assert_eq!(
            allowed(&limits, &call(path, method, plan, user), 3),
            3,
            "{method} {path} {plan:?} {user:?}"
        );
    }
}

#[test]
fn what_no_rule_is_for_is_unlimited_unless_a_default_says_otherwise() {
    let rules = r#"
        [[rules]]
        name = "login"
        path = "/login"
        key = "all"
        quota = "1/min"
        "#;
    let without = limits(rules);
    assert_eq!(allowed(&without, &Call::to("/other"), 100), 100);
    let with = limits(&format!("{rules}\n[default]\nkey = \"path\"\nquota = \"3/min\""));
    assert_eq!(allowed(&with, &Call::to("/other"), 100), 3);
    assert_eq!(with.check(&Call::to("/other")).rule(), Some("default"));
    assert_eq!(allowed(&with, &Call::to("/another"), 100), 3);
    assert_eq!(allowed(&with, &Call::to("/login"), 100), 1);
    assert_eq!(with.check(&Call::to("/login")).rule(), Some("login"));
}

#[test]
fn the_default_is_for_whom_no_rule_can_count() {
    let limits = limits(
        r#"
        [[rules]]
        name = "user"
        key = "user"
        quota = "5/min"
        [[rules]]
        name = "files"
        path = "/files"
        key = ["user", "attribute:tenant"]
        quota = "1/min"
        [default]
        key = "path"
        quota = "2/min"
        "#,
    );
    assert_eq!(allowed(&limits, &Call::by("alice"), 9), 5, "a rule is for who is logged in");
    assert_eq!(allowed(&limits, &Call::to("/"), 9), 2, "and none for who is not");
    let files = |user, tenant| Call { user, tenant, ..Call::to("/files") };
    assert_eq!(allowed(&limits, &files(Some("bob"), Some("a")), 9), 1);
    assert_eq!(allowed(&limits, &files(None, Some("a")), 9), 2);
}

/// Who is on a rule's own list was let through by name.
#[test]
fn the_default_is_not_for_whom_a_rule_allows() {
    let limits = limits(
        "rules = [{name = 'a', key = 'client', quota = '2/min', allow = '10.0.0.1'}]\n\
         default = {key = 'all', quota = '1/min'}",
    );
    assert_eq!(allowed(&limits, &Call::from("10.0.0.1"), 9), 9);
    assert_eq!(allowed(&limits, &Call::from("10.0.0.2"), 9), 2);
}

/// Patterns are compared as they are written: another spelling of a path is another path.
#[test]
fn a_pattern_is_for_the_path_as_it_is_written() {
    let limits = limits(
        "rules = [{name = 'a', path = ['/login', '/api/*/x', '*.php'], key = 'path', quota = '1/min'}]",
    );
    for path in ["/login", "/api/7/x", "/api/a/b/x", "/api//x", "/index.php", "/a/b.php", ".php"] {
        assert_eq!(allowed(&limits, &Call::to(path), 3), 1, "{path}");
    }
    for path in ["/login/", "//login", "/Login", "/%6cogin", "/login;a", "/login?a", "/api/x", "/x.php/", ""]
    {
        assert_eq!(allowed(&limits, &Call::to(path), 3), 3, "{path}");
    }
}

#[test]
fn what_could_fit_no_request_is_a_mistake() {
    for (setting, part) in [
        ("path = 'login'", "`path` is `login`: write a path from its `/` on"),
        ("path = 'https://example.com/login'", "write a path from its `/` on"),
        ("path = ''", "write a path from its `/` on"),
        ("path = ' /login'", "write a path from its `/` on"),
        ("path = '/login '", "leave out the white space"),
        ("path = ['/a', '/search?q=*']", "`path` is `/search?q=*`: a path comes without its query"),
        ("path = '/a#b'", "a path comes without its query"),
        ("path = []", "`path` is an empty list"),
        ("method = ''", "write one method, or a list of them, or leave it out for all"),
        ("method = 'GET, POST'", "`method` is `GET, POST`: write one method"),
        ("method = 'GET|POST'", "write one method"),
        ("method = '*'", "write one method"),
        ("method = []", "`method` is an empty list"),
        ("plan = ''", "write the name of a plan"),
        ("plan = 'free '", "write the name of a plan"),
        ("plan = '*'", "write the name of a plan"),
        ("cost = '5'", "`cost` is the text `5`: write a whole number from 1, without quotes, or the name"),
        ("cost = ' bytes'", "`cost` is the text ` bytes`"),
        ("cost = ''", "`cost` is the text ``"),
        ("key = 'attribute: tenant'", "is no part of a key"),
    ] {
        let key = if setting.starts_with("key") { "" } else { "key = 'all'\n" };
        let text = format!("[[rules]]\nname = 'a'\nquota = '1/s'\n{key}{setting}");
        let error = Config::from_toml(&text).unwrap_err();
        let [mistake] = error.mistakes() else { panic!("{setting}: {error}") };
        assert_eq!(mistake.line, text.lines().count(), "{setting}: {error}");
        assert!(mistake.message.contains(part), "{setting}: {error}");
    }
}
