//! Text from a log, made safe to show on a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// `text` in at most `width_max` columns. Control characters are escaped: whoever writes into a log must not be able
/// to write to the terminal of whoever reads it.
pub(crate) fn printable(text: &str, width_max: usize) -> String {
    let mut shown = String::new();
    let mut width = 0;
    // The end of `shown` where an ellipsis would still fit.
    let mut cut = 0;
    for c in text.chars() {
        let start = shown.len();
        match c {
            '\\' | '"' | '\'' => shown.push(c),
            // Letters come back as they are.
            _ => shown.extend(c.escape_debug()),
        }
        width += if shown[start..].len() == c.len_utf8() {
            c.width().unwrap_or(0)
        } else {
            shown[start..].width()
        };
        if width > width_max {
            shown.truncate(cut);
            shown.push('…');
            return shown;
        }
        if width < width_max {
            cut = shown.len();
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_shown_as_it_is_if_it_fits() {
        assert_eq!(printable("10.0.0.1", 8), "10.0.0.1");
        assert_eq!(printable(r#"/a "b" 'c' \d é €"#, 40), r#"/a "b" 'c' \d é €"#);
        assert_eq!(printable("", 0), "");
    }

    #[test]
    fn long_text_is_cut_with_an_ellipsis() {
        assert_eq!(printable("10.0.0.12", 8), "10.0.0.…");
        assert_eq!(printable("日本語", 6), "日本語");
        assert_eq!(printable("日本語", 5), "日本…");
        assert_eq!(printable("日本語", 4), "日…");
    }

    #[test]
    fn nothing_reaches_the_terminal() {
        assert_eq!(printable("a\x1b[2Jb\n\r\t\0\u{202e}c", 80), "a\\u{1b}[2Jb\\n\\r\\t\\0\\u{202e}c");
    }

    proptest! {
        #[test]
        fn it_fits_and_is_printable(text in any::<String>(), width_max in 1_usize..30) {
            let shown = printable(&text, width_max);
            prop_assert!(shown.chars().filter_map(UnicodeWidthChar::width).sum::<usize>() <= width_max, "{}", shown);
            prop_assert!(!shown.contains(char::is_control));
        }
    }
}
