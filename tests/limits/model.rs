//! Random rules and requests against the oracle's models, one after another: all are asked, and then all charged, or none.

use proptest::collection::vec;
use proptest::prelude::*;
use tollgate::{Limits, ManualClock, Rule};

use super::oracle::{ALL, Answer, Model, model, per};
use super::{MS, S, limits};
use super::{Request, by_user};

const USERS: usize = 3;
const ENDPOINTS: [&str; 2] = ["/", "/upload"];

/// What a rule counts by.
#[derive(Clone, Copy, Debug)]
enum Scope {
    User,
    Endpoint,
    Everybody,
}

#[derive(Clone, Copy, Debug)]
struct Spec {
    scope: Scope,
    algorithm: &'static str,
    limit: u64,
    period_ns: u64,
    has_cost: bool,
    in_table: bool,
}

impl Spec {
    fn rule(&self, name: &str) -> Rule<Request> {
        let quota = per(self.limit, self.period_ns);
        let rule = match self.scope {
            Scope::User if self.in_table => Rule::new(name, quota, by_user),
            Scope::User => Rule::exact(name, quota, by_user),
            Scope::Endpoint => Rule::exact(name, quota, |request: &Request| Some(request.endpoint)),
            Scope::Everybody => Rule::global(name, quota),
        };
        let rule = rule.algorithm(self.algorithm);
        if self.has_cost { rule.cost(|request| request.cost) } else { rule }
    }

    /// The model of a request's key, if the rule applies.
    fn key(&self, request: &Request) -> Option<usize> {
        match self.scope {
            Scope::User => request.user.map(|user| user as usize),
            Scope::Endpoint => ENDPOINTS.iter().position(|&endpoint| endpoint == request.endpoint),
            Scope::Everybody => Some(0),
        }
    }

    fn cost(&self, request: &Request) -> u64 {
        if self.has_cost { request.cost } else { 1 }
    }
}

fn specs() -> impl Strategy<Value = Vec<Spec>> {
    let scope = prop_oneof![Just(Scope::User), Just(Scope::Endpoint), Just(Scope::Everybody)];
    let period_ns = prop_oneof![Just(S), Just(10 * S), Just(7 * S / 3)];
    let spec = (scope, prop::sample::select(ALL.to_vec()), 1..9_u64, period_ns, any::<[bool; 2]>());
    let spec = spec.prop_map(|(scope, algorithm, limit, period_ns, [has_cost, in_table])| {
        let in_table = in_table && algorithm != "sliding_window_log";
        Spec { scope, algorithm, limit, period_ns, has_cost, in_table }
    });
    vec(spec, 1..6)
}

/// A request, and the milliseconds before it.
fn steps() -> impl Strategy<Value = Vec<(Request, u64)>> {
    let user = prop_oneof![4 => (0..USERS as u64).prop_map(Some), 1 => Just(None)];
    let request = (user, prop::sample::select(ENDPOINTS.to_vec()), 0..5_u64)
        .prop_map(|(user, endpoint, cost)| Request { user, endpoint, cost });
    let pause = prop_oneof![4 => Just(0_u64), 4 => 1..400_u64, 1 => 1_000..9_000_u64];
    vec((request, pause), 1..60)
}

struct Sequential<'a> {
    specs: &'a [Spec],
    models: Vec<Vec<Box<dyn Model>>>,
}

impl<'a> Sequential<'a> {
    fn new(specs: &'a [Spec]) -> Self {
        let fresh = |spec: &Spec| model(spec.algorithm, spec.limit, spec.period_ns, spec.limit);
        let models = specs.iter().map(|spec| (0..USERS).map(|_| fresh(spec)).collect()).collect();
        Self { specs, models }
    }

    /// The answers of all rules that apply, when each is asked.
    fn answers(&mut self, request: &Request, now_ns: u64) -> Vec<(usize, Answer)> {
        let looks: Vec<_> = self.each(request, |model, cost| model.peek(cost, now_ns));
        if looks.iter().any(|(_, answer)| answer.taken == 0 && answer.verdict != tollgate::Verdict::Allowed) {
            return looks;
        }
        self.each(request, |model, cost| model.check(cost, now_ns))
    }

    fn each(
        &mut self,
        request: &Request,
        ask: impl Fn(&mut dyn Model, u64) -> Answer,
    ) -> Vec<(usize, Answer)> {
        let rules = self.specs.iter().zip(&mut self.models).enumerate();
        rules
            .filter_map(|(index, (spec, models))| {
                let key = spec.key(request)?;
                Some((index, ask(&mut *models[key], spec.cost(request))))
            })
            .collect()
    }
}

/// The answer that counts of several, as the documentation has it.
fn verdict(answers: &[(usize, Answer)]) -> Option<(usize, Answer)> {
    use tollgate::Verdict::{Allowed, Denied, NeverFits};
    let of = |verdict| answers.iter().copied().filter(move |(_, answer)| answer.verdict == verdict);
    let longest = |former: (usize, Answer), next: (usize, Answer)| {
        if next.1.retry_after_ns > former.1.retry_after_ns { next } else { former }
    };
    let least = |former: (usize, Answer), next: (usize, Answer)| {
        if next.1.remaining < former.1.remaining { next } else { former }
    };
    of(NeverFits).next().or_else(|| of(Denied).reduce(longest)).or_else(|| of(Allowed).reduce(least))
}

fn name(index: usize) -> String {
    format!("rule {index}")
}

fn same(limits: &Limits<Request, ManualClock>, model: &mut Sequential<'_>, request: &Request, now_ns: u64) {
    let peek = limits.peek_at(request, now_ns);
    let answers = model.answers(request, now_ns);
    let outcome = limits.check_at(request, now_ns);
    assert_eq!(peek, outcome);
    let expected = verdict(&answers);
    assert_eq!(outcome.rule().map(str::to_owned), expected.map(|(index, _)| name(index)));
    if let Some((_, answer)) = expected {
        assert_eq!(Answer::from(outcome.decision()), answer);
    }
    // And every rule stands where its model does: nothing more and nothing less was charged.
    for (index, answer) in model.each(request, |model, _| model.peek(0, now_ns)) {
        let stands = limits.rule(&name(index)).unwrap().peek_at(request, now_ns).unwrap();
        assert_eq!(Answer::from(stands), answer, "rule {index}");
    }
}

proptest! {
    #[test]
    fn one_after_another_is_what_the_models_say(specs in specs(), steps in steps(), start_ms in 0..100_000_u64) {
        let limits = limits(specs.iter().enumerate().map(|(index, spec)| spec.rule(&name(index))));
        let mut model = Sequential::new(&specs);
        let mut now_ns = start_ms * MS;
        for (request, pause_ms) in steps {
            now_ns += pause_ms * MS;
            same(&limits, &mut model, &request, now_ns);
        }
    }
}
