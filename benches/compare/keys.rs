//! Keys, made before anything is timed: all contenders are asked for the same ones in the same order.

/// The `n`-th key of a population: spread over all of `u64`, and no two alike.
pub(crate) fn number(n: usize) -> u64 {
    // Each step can be undone, so different numbers stay different.
    let mut x = (n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^= x >> 32;
    x = x.wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^ (x >> 32)
}

/// The `n`-th key of a population, as 20 bytes.
pub(crate) fn text(n: usize) -> String {
    format!("key-{:016x}", number(n))
}

/// All keys of a population of `count`.
pub(crate) fn population<K>(count: usize, key: fn(usize) -> K) -> Vec<K> {
    (0..count).map(key).collect()
}

/// `length` keys of a population of `count`, in an order that no prefetcher guesses.
pub(crate) fn random<K>(count: usize, length: usize, key: fn(usize) -> K) -> Vec<K> {
    let mut state = 1_u64;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // The upper half of the product of 32 random bits and the count: evenly spread below the count.
        key((((state >> 32) * count as u64) >> 32) as usize)
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// Every key of a population of `count` in turn, over and over.
pub(crate) fn in_turn<K>(count: usize, length: usize, key: fn(usize) -> K) -> Vec<K> {
    (0..length.next_multiple_of(count)).map(|n| key(n % count)).collect()
}
