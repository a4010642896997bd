//! The exact log in the long run: a ring that grows, is lapped and shrinks, and holds a hundred thousand calls.

use super::MAX_PERIOD_NS;
use super::logs::{Holding, LOG, Ledger};
use super::oracle::{Answer, Dice, Log, Model, NS_PER_S, direct, per};

/// Crowded, calm and deserted by turns, so that there are hundreds of calls that count, a handful and none, many times over;
/// and reservations that are given back when hundreds of calls have followed.
#[test]
fn a_long_life_is_the_models() {
    for (seed, window_ns) in [(1, NS_PER_S), (2, 1_000), (3, MAX_PERIOD_NS / 100), (4, MAX_PERIOD_NS / 1_000)]
    {
        let limit = 1_000;
        let limiter = direct(LOG, per(limit, window_ns));
        let mut ledger = Ledger::new(Log::new(limit, window_ns));
        let mut held: Vec<Holding<'_>> = Vec::new();
        let mut dice = Dice::new(seed);
        let (mut now_ns, mut most, mut least) = (0, 0, limit);
        for call in 0..12_000_u64 {
            let pace = [800, 8, 400, 2, 1_000, 50][(call / 1_000) as usize % 6];
            now_ns += dice.below(2 * window_ns / pace + 1);
            match dice.below(20) {
                0 if held.len() < 50 => {
                    let units = 1 + dice.below(40);
                    let fits = ledger.log.check(units, now_ns).taken == units;
                    let reservation = limiter.reserve_at(units, now_ns);
                    assert_eq!(reservation.is_ok(), fits);
                    held.extend(
                        reservation.ok().map(|reservation| (reservation, ledger.hold(now_ns), limit)),
                    );
                }
                1 if !held.is_empty() => {
                    let (reservation, taken, _) = held.swap_remove(dice.below(held.len() as u64) as usize);
                    let (reserved, actual) = (reservation.units(), dice.below(50));
                    reservation.commit_at(actual, now_ns);
                    ledger.settle(taken, reserved, actual, now_ns);
                }
                2 => {
                    let units = dice.below(8);
                    limiter.refund_at(units, now_ns);
                    ledger.refund(units, now_ns);
                }
                _ => {
                    let cost = 1 + dice.below(2);
                    let answer = Answer::from(limiter.check_n_at(cost, now_ns));
                    assert_eq!(answer, ledger.log.check(cost, now_ns), "seed {seed}, call {call}");
                }
            }
            let cost = dice.below(limit + 1);
            let found = Answer::from(limiter.peek_n_at(cost, now_ns));
            assert_eq!(found, ledger.log.peek(cost, now_ns), "seed {seed}, call {call}");
            (most, least) = (most.max(found.remaining), least.min(found.remaining));
        }
        assert!(most > limit - 10 && least < limit / 10, "seed {seed}: {most} and {least} were left");
        held.into_iter().for_each(|(reservation, ..)| reservation.cancel_at(now_ns));
    }
}

/// One unit each microsecond, and a hundred thousand that count: everything is known without a model.
#[test]
fn a_hundred_thousand_calls_that_count() {
    const LIVE: u64 = 100_000;
    const US: u64 = 1_000;
    let limit = LIVE + 5;
    let limiter = direct(LOG, per(limit, LIVE * US));
    for call in 0..3 * LIVE + 12_345 {
        let decision = limiter.check_at(call * US);
        assert_eq!(decision.remaining(), limit - LIVE.min(call + 1), "call {call}");
    }
    let now_ns = (3 * LIVE + 12_344) * US;
    let wait_ns = |cost| limiter.peek_n_at(cost, now_ns).retry_after().as_nanos() as u64;
    for more in (1..=LIVE).step_by(97) {
        assert_eq!(wait_ns(5 + more), more * US, "{more} must go");
    }
    // The newest are given back, a thousand times over, and the oldest go first as before.
    for round in 1..=1_000 {
        limiter.refund_at(7, now_ns);
        assert_eq!(limiter.peek_at(now_ns).remaining(), 5 + 7 * round);
        assert_eq!(limiter.peek_at(now_ns).reset_after().as_nanos() as u64, (LIVE - 7 * round) * US);
    }
    assert_eq!(wait_ns(limit - 50_000), (LIVE - 50_000 - 7_000) * US);
    // A window later all are gone, and there is room for all.
    assert_eq!(limiter.check_n_at(limit, now_ns + LIVE * US).remaining(), 0);
}
