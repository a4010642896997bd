//! Threads on few keys of several rules. What is asserted holds for every interleaving.

use std::thread;

use tollgate::{Limits, ManualClock, Quota, Rule};

use super::oracle::{ALL, ARRIVAL, Admitted, Dice, TABLE_ALGORITHMS, per, worst_case};
use super::{MS, Request, S, by_user, left, limits};

const USERS: u64 = 3;

/// Runs `work` on so many threads at once, and returns what each made.
fn on_threads<T: Send>(threads: u64, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let work = &work;
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|id| scope.spawn(move || work(id))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn request(dice: &mut Dice) -> Request {
    Request { user: Some(dice.below(USERS)), endpoint: "/", cost: 1 + dice.below(3) }
}

fn by_endpoint(request: &Request) -> Option<&str> {
    Some(request.endpoint)
}

/// A user's rule, an endpoint's and one for all, each of which runs out.
fn three(algorithm: &str, in_tables: bool) -> Limits<Request, ManualClock> {
    let user = Quota::per_second(150);
    let rules = [
        if in_tables { Rule::new("user", user, by_user) } else { Rule::exact("user", user, by_user) },
        if in_tables {
            Rule::new("endpoint", Quota::per_second(400), by_endpoint)
        } else {
            Rule::exact("endpoint", Quota::per_second(400), |request: &Request| Some(request.endpoint))
        },
        Rule::global("global", Quota::per_second(390)),
    ];
    limits(rules.map(|rule| rule.algorithm(algorithm).cost(|request: &Request| request.cost)))
}

/// All at one time: when all is quiet, each rule has left exactly what was not admitted, so nothing was lost and nothing taken
/// twice by those that were charged and then refused.
#[test]
fn nothing_is_lost_when_all_is_quiet() {
    let now_ns = 5 * S;
    for threads in [2, 3, 4, 8] {
        for (algorithm, in_tables) in
            TABLE_ALGORITHMS.map(|name| (name, true)).into_iter().chain(ALL.map(|name| (name, false)))
        {
            let limits = three(algorithm, in_tables);
            let admitted = on_threads(threads, |id| {
                let (mut dice, mut admitted) = (Dice::new(id), [0; USERS as usize]);
                for _ in 0..1_200 / threads {
                    let request = request(&mut dice);
                    if limits.check_at(&request, now_ns).is_allowed() {
                        admitted[request.user.unwrap() as usize] += request.cost;
                    }
                }
                admitted
            });
            let of = |user: u64| admitted.iter().map(|admitted| admitted[user as usize]).sum::<u64>();
            let total: u64 = (0..USERS).map(of).sum();
            let what = format!("{algorithm}, {threads} threads");
            for user in 0..USERS {
                let request = Request { user: Some(user), endpoint: "/", cost: 1 };
                assert_eq!(left(&limits, "user", &request, now_ns), 150 - of(user), "{what}");
                assert_eq!(left(&limits, "endpoint", &request, now_ns), 400 - total, "{what}");
                assert_eq!(left(&limits, "global", &request, now_ns), 390 - total, "{what}");
            }
            // More was asked of each than there is. Whoever was refused lacked no more than what seven others held at once, three
            // units each: so much of the endpoint's, which runs out before the users' do, may be left, and two that were too few.
            assert!(total > 400 - 7 * 3 - 3, "{what}: {total}");
        }
    }
}

/// Every thread has a clock of its own: some stale, some ahead, some going back.
#[test]
fn clocks_that_disagree_stay_within_each_bound() {
    let (user_limit, limit, period_ns) = (20, 45, 10 * MS);
    for threads in [2, 4, 8] {
        for algorithm in ARRIVAL {
            let limits = limits([
                Rule::exact("user", per(user_limit, period_ns), by_user).algorithm(algorithm),
                Rule::global("global", per(limit, period_ns)).algorithm(algorithm),
            ]);
            let parts = on_threads(threads, |id| {
                let mut dice = Dice::new(id);
                let mut admitted = [(); USERS as usize + 1].map(|()| Admitted::default());
                let mut now_ns = S;
                for _ in 0..8_000 / threads {
                    now_ns = if dice.below(20) == 0 {
                        now_ns - dice.below(MS)
                    } else {
                        now_ns + dice.below(MS / 10)
                    };
                    let request = request(&mut dice);
                    if limits.check_at(&request, now_ns).is_allowed() {
                        admitted[request.user.unwrap() as usize].push(now_ns, 1);
                        admitted[USERS as usize].push(now_ns, 1);
                    }
                }
                admitted
            });
            let mut admitted = [(); USERS as usize + 1].map(|()| Admitted::default());
            for part in parts {
                admitted.iter_mut().zip(part).for_each(|(all, part)| all.extend(part));
            }
            assert!(admitted[USERS as usize].total() > 100, "{algorithm}: hardly anything was admitted");
            for (index, admitted) in admitted.into_iter().enumerate() {
                let limit = if index == USERS as usize { limit } else { user_limit };
                let most = admitted.most_in(period_ns);
                assert!(
                    most <= worst_case(algorithm, limit, limit),
                    "{algorithm}, {threads} threads: {most}"
                );
            }
        }
    }
}
