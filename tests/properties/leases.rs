//! Leases: all that is admitted by several holders, in any window, is within the limiter's bound and what the holders had in hand; and
//! in the end exactly what was spent is taken.

use proptest::collection::vec;
use proptest::prelude::*;

use super::oracle::{ALL, Admitted, NS_PER_S, direct, per, worst_case};

/// Who asks (a holder, or nobody in particular), after how many tenths of a second, for how much, and whether the holder's
/// lease is then ended and made anew.
type Step = (usize, u64, u64, bool);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let pause = prop_oneof![4 => Just(0_u64), 4 => 1..4_u64, 1 => 10..25_u64];
    vec((0..4_usize, pause, 0..6_u64, prop::bool::weighted(0.1)), 1..80)
}

proptest! {
    #[test]
    fn holders_admit_no_more_than_the_bound_and_what_they_hold(
        steps in steps(), limit in 1..40_u64, size in 1..9_u64, start_ns in 0..100 * NS_PER_S,
    ) {
        for algorithm in ALL {
            let limiter = direct(algorithm, per(limit, NS_PER_S));
            let mut leases = [(); 3].map(|()| limiter.lease_n(size));
            let mut admitted = Admitted::default();
            let mut now_ns = start_ns;
            for &(who, pause, cost, ends) in &steps {
                now_ns += pause * (NS_PER_S / 10);
                let decision = match leases.get_mut(who) {
                    Some(lease) => lease.check_n_at(cost, now_ns),
                    None => limiter.check_n_at(cost, now_ns),
                };
                prop_assert_eq!(decision.taken(), if decision.is_allowed() { cost } else { 0 });
                admitted.push(now_ns, decision.taken());
                if ends && who < leases.len() {
                    core::mem::replace(&mut leases[who], limiter.lease_n(size)).end_at(now_ns);
                }
            }
            let most = admitted.most_in(NS_PER_S);
            let in_hand = u128::from(3 * (size - 1));
            prop_assert!(most <= worst_case(algorithm, limit, limit) + in_hand, "{}: {}", algorithm, most);
            leases.into_iter().for_each(|lease| lease.end_at(now_ns));
        }
    }

    #[test]
    fn at_one_instant_what_is_taken_is_what_was_spent(steps in steps(), limit in 1..40_u64, size in 1..9_u64) {
        let now_ns = 50 * NS_PER_S;
        for algorithm in ALL {
            let limiter = direct(algorithm, per(limit, NS_PER_S));
            let mut leases = [(); 3].map(|()| limiter.lease_n(size));
            let mut spent = 0;
            for &(who, _, cost, _) in &steps {
                spent += match leases.get_mut(who) {
                    Some(lease) => lease.check_n_at(cost, now_ns).taken(),
                    None => limiter.check_n_at(cost, now_ns).taken(),
                };
                let held: u64 = leases.iter().map(|lease| lease.held()).sum();
                prop_assert_eq!(limiter.peek_at(now_ns).remaining(), limit - spent - held, "{}", algorithm);
            }
            leases.into_iter().for_each(|lease| lease.end_at(now_ns));
            prop_assert_eq!(limiter.peek_at(now_ns).remaining(), limit - spent, "{}", algorithm);
        }
    }
}
