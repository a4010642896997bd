//! Multiplication by a fixed fraction without a division.

/// A factor `whole + num / den`, with `num < den`, applied to values up to [`Ratio::MAX_INPUT`].
///
/// The product is exact, or `u64::MAX` where it does not fit: the high half of one multiplication by `magic = floor(2^64 * num / den)` is the quotient or
/// one less (Granlund and Montgomery, "Division by invariant integers using multiplication", 1994), and the remainder
/// says which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ratio {
    whole: u64,
    num: u64,
    den: u64,
    magic: u64,
    /// The common case: a whole number of nanoseconds per unit.
    is_one: bool,
}

impl Ratio {
    /// The largest value that may be multiplied, and the largest denominator.
    pub(crate) const MAX_INPUT: u64 = 1 << 62;

    /// `num / den`, for `den` from 1 to [`Ratio::MAX_INPUT`].
    pub(crate) const fn new(num: u64, den: u64) -> Self {
        debug_assert!(den > 0 && den <= Self::MAX_INPUT);
        let (whole, num) = (num / den, num % den);
        let den = if num == 0 { 1 } else { den };
        let magic = (((num as u128) << 64) / den as u128) as u64;
        Self { whole, num, den, magic, is_one: den == 1 && whole == 1 }
    }

    /// `value * ratio`, rounded down.
    #[inline]
    pub(crate) const fn floor(&self, value: u64) -> u64 {
        if self.is_one { value } else { self.divide(value).0 }
    }

    /// `value * ratio`, rounded up.
    #[inline]
    pub(crate) const fn ceil(&self, value: u64) -> u64 {
        if self.is_one {
            return value;
        }
        let (quotient, remainder) = self.divide(value);
        if remainder > 0 { quotient.saturating_add(1) } else { quotient }
    }

    /// Quotient and remainder of `value * (whole * den + num)` by `den`. Out of line: most quotas never get here.
    #[inline(never)]
    const fn divide(&self, value: u64) -> (u64, u64) {
        debug_assert!(value <= Self::MAX_INPUT);
        let estimate = ((value as u128 * self.magic as u128) >> 64) as u64;
        // The true remainder is below 2 * den <= 2^63, so the arithmetic may wrap on the way.
        let rest = value.wrapping_mul(self.num).wrapping_sub(estimate.wrapping_mul(self.den));
        let (quotient, remainder) =
            if rest >= self.den { (estimate + 1, rest - self.den) } else { (estimate, rest) };
        (self.whole.saturating_mul(value).saturating_add(quotient), remainder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn identity_is_exact() {
        let one = Ratio::new(7, 7);
        assert_eq!((one.floor(Ratio::MAX_INPUT), one.ceil(5)), (Ratio::MAX_INPUT, 5));
    }

    #[test]
    fn the_estimate_is_corrected() {
        // 3 * floor(2^64 / 3) is just below 2^64: without the correction 3 * (1/3) would be 0.
        assert_eq!(Ratio::new(1, 3).floor(3), 1);
        assert_eq!(Ratio::new(1, 3).ceil(4), 2);
    }

    proptest! {
        #[test]
        fn equals_the_wide_division(
            value in 0..=Ratio::MAX_INPUT,
            den in (0..62u32).prop_flat_map(|bits| 1..=1u64 << bits),
            num in (0..64u32).prop_flat_map(|bits| 0..=u64::MAX >> bits),
        ) {
            let ratio = Ratio::new(num, den);
            let product = u128::from(value) * u128::from(num);
            let saturated = |wide: u128| u64::try_from(wide).unwrap_or(u64::MAX);
            prop_assert_eq!(ratio.floor(value), saturated(product / u128::from(den)));
            prop_assert_eq!(ratio.ceil(value), saturated(product.div_ceil(u128::from(den))));
        }
    }
}
