//! The number that was meant by a text that is not a whole number.

use super::parse::split_where;

/// In lowest terms; the denominator is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fraction {
    pub(super) num: u128,
    pub(super) den: u128,
}

impl Fraction {
    pub(super) const ONE: Self = Self { num: 1, den: 1 };
}

/// Not 0, since `b` is not.
const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}

/// The first number in a text, without its sign. It may have a decimal point, thousands set apart by commas or spaces,
/// and a `k`, `M` or exponent behind it.
pub(super) fn number(text: &str) -> Option<Fraction> {
    let text = text.trim_start_matches(|c: char| !(c.is_ascii_digit() || c == '.'));
    let (digits, suffix) = split_where(text, |c| !(c.is_ascii_digit() || "_., ".contains(c)));
    let digits = digits.trim_end_matches([',', ' ']).replace('_', "");
    let (whole, decimals) = digits.split_once('.').unwrap_or((&digits, ""));
    if whole.split([',', ' ']).skip(1).any(|group| group.len() != 3) {
        return None;
    }
    let num: u128 = format!("{}{decimals}", whole.replace([',', ' '], "")).parse().ok()?;
    let den = 10_u128.checked_pow(u32::try_from(decimals.len()).ok()?)?;
    let num = num.checked_mul(multiplier(suffix)?)?;
    let divisor = gcd(num, den);
    Some(Fraction { num: num / divisor, den: den / divisor })
}

/// What a suffix multiplies a number by; 1 for a word that says something else, such as `requests`.
fn multiplier(suffix: &str) -> Option<u128> {
    match suffix.split_whitespace().next().unwrap_or("") {
        "k" | "K" => Some(1_000),
        "m" | "M" => Some(1_000_000),
        word => match word.strip_prefix(['e', 'E']).map(str::parse::<i32>) {
            Some(Ok(exponent)) => 10_u128.checked_pow(u32::try_from(exponent).ok()?),
            _ => Some(1),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_guessed_as_people_write_them() {
        for (text, num, den) in [
            (".5", 1, 2),
            ("5.", 5, 1),
            ("1,234,567.5", 2_469_135, 2),
            ("1 000 000", 1_000_000, 1),
            ("brust=20, please", 20, 1),
            ("1.5K req", 1_500, 1),
            ("2 M", 2_000_000, 1),
            ("1.5E3", 1_500, 1),
            ("10 each", 10, 1),
        ] {
            assert_eq!(number(text), Some(Fraction { num, den }), "{text:?}");
        }
    }

    #[test]
    fn what_may_mean_two_numbers_is_not_guessed() {
        let huge = "9".repeat(40);
        for text in ["", "x", ".", "1.2.3", "1,5", "1,2,3", "12 34", "1.5 5", "1e-3", "1e99", &huge] {
            assert_eq!(number(text), None, "{text:?}");
        }
    }
}
