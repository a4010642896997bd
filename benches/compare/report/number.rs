//! Numbers for people.

/// Three digits that count, thousands apart.
pub(super) fn short(value: f64) -> String {
    let decimals = match value.abs() {
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    let whole = text.find('.').unwrap_or(text.len());
    let mut spaced = String::new();
    for (at, digit) in text.char_indices() {
        if at > 0 && at < whole && (whole - at).is_multiple_of(3) {
            spaced.push(' ');
        }
        spaced.push(digit);
    }
    spaced
}

/// Two digits after the point, or what it takes to show two that count.
pub(super) fn ratio(value: f64) -> String {
    if value >= 0.1 { short(value) } else { format!("{value:.4}") }
}
