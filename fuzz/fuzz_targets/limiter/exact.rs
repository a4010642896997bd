//! Every answer is the model's.

use tollgate::{MAX_NOW_NS, Quota, Verdict};

use crate::face::{self, Face, KEYS};
use crate::oracle::{Admitted, Model, model, worst_case};
use crate::script::{Clock, Op, Rate, Step};

/// One key with its model in each limiter that knows it.
struct Run<'a> {
    faces: &'a [Box<dyn Face>],
    model: &'a mut dyn Model,
    key: u8,
    now_ns: u64,
}

impl Run<'_> {
    fn each(&self) -> impl Iterator<Item = &dyn Face> {
        self.faces.iter().map(|face| &**face).filter(|face| face.knows(self.key))
    }

    /// Asks all; the units taken, and when to come back.
    fn check(&mut self, cost: u64) -> (u64, Option<u64>) {
        let (read_ns, before) = (self.model.read(self.now_ns), self.model.peek(0, self.now_ns));
        let answer = self.model.check(cost, self.now_ns);
        for face in self.each() {
            assert_eq!(face.check(self.key, cost, self.now_ns), answer);
            if answer.taken == 0 {
                assert_eq!(face.peek(self.key, 0, self.now_ns), before, "nothing was charged");
            }
            let peek = |cost, now_ns| face.peek(self.key, cost, now_ns).verdict;
            assert_eq!(peek(answer.remaining, self.now_ns), Verdict::Allowed);
            assert_ne!(peek(answer.remaining + 1, self.now_ns), Verdict::Allowed);
            let ready_ns = u128::from(read_ns) + answer.retry_after_ns;
            if answer.verdict == Verdict::Denied && ready_ns <= u128::from(MAX_NOW_NS) {
                assert_eq!(peek(cost, ready_ns as u64), Verdict::Allowed);
                assert_eq!(peek(cost, ready_ns as u64 - 1), Verdict::Denied);
            }
        }
        let ready_ns = (answer.verdict == Verdict::Denied)
            .then(|| (u128::from(read_ns) + answer.retry_after_ns).min(u64::MAX.into()) as u64);
        (answer.taken, ready_ns)
    }

    /// Units that fit are held and settled at once, which is a check of what they cost.
    fn hold(&mut self, units: u64, actual: u64) {
        let asked = self.model.peek(units, self.now_ns);
        let fits = self.model.peek(units.max(actual), self.now_ns).verdict == Verdict::Allowed;
        let expected = match asked.verdict {
            Verdict::Allowed if fits => Ok(0),
            Verdict::NeverFits => Err(asked),
            // A debt, of which this model knows nothing.
            _ => return,
        };
        for face in self.each() {
            assert_eq!(face.hold(self.key, units, actual, self.now_ns), expected);
        }
        if expected.is_ok() {
            assert_eq!(self.model.check(units, self.now_ns).taken, units);
            self.model.refund(units.saturating_sub(actual), self.now_ns);
            let excess = actual.saturating_sub(units);
            assert_eq!(self.model.check(excess, self.now_ns).taken, excess);
        }
    }
}

pub(crate) fn run(algorithm: &str, rate: Rate, quota: Quota, mut clock: Clock, script: &[Step]) {
    // Whatever was given back, a table's key is never as good as at a time before that of an insert. A lone model knows of
    // no such time, and forward there is none.
    let gives_back = |op| matches!(op, Op::Refund(_) | Op::Reset | Op::Hold(..));
    let in_a_table = clock.is_steady() || !script.iter().any(|step| gives_back(step.op));
    let faces = face::all(algorithm, quota, in_a_table);
    let mut models: Vec<_> =
        (0..KEYS).map(|_| model(algorithm, rate.limit, rate.period_ns, rate.burst)).collect();
    let mut admitted = vec![Admitted::default(); models.len()];
    for step in script {
        let now_ns = clock.step(step.to);
        // Where time goes back a newcomer starts at the time of those who were forgotten, which a lone model does not see.
        let key = if clock.is_steady() { step.key % KEYS } else { 0 };
        let model = &mut *models[usize::from(key)];
        let read_ns = model.read(now_ns);
        let mut run = Run { faces: &faces, model, key, now_ns };
        let units = |units: crate::script::Units| units.of(rate.burst);
        match step.op {
            Op::Check(cost) => {
                let (taken, ready_ns) = run.check(units(cost));
                admitted[usize::from(key)].push(read_ns, taken);
                clock.ready_ns = ready_ns.unwrap_or(clock.ready_ns);
            }
            Op::Peek(cost) => {
                let answer = run.model.peek(units(cost), now_ns);
                run.each().for_each(|face| assert_eq!(face.peek(key, units(cost), now_ns), answer));
            }
            Op::Refund(of) => {
                run.model.refund(units(of), now_ns);
                run.each().for_each(|face| face.refund(key, units(of), now_ns));
            }
            Op::Reset => {
                run.model.reset(now_ns);
                run.each().for_each(|face| face.reset(key, now_ns));
            }
            Op::Hold(of, actual) => run.hold(units(of), units(actual)),
            Op::Settle(..) => {}
            Op::Forget if clock.is_steady() => faces.iter().for_each(|face| face.forget(now_ns)),
            Op::Forget => {}
        }
        let here = run.model.peek(0, now_ns);
        run.each().for_each(|face| assert_eq!(face.peek(key, 0, now_ns), here));
    }
    // What is given back may be admitted again.
    if !script.iter().any(|step| gives_back(step.op)) {
        let bound = worst_case(algorithm, rate.limit, rate.burst);
        assert!(admitted.into_iter().all(|admitted| admitted.most_in(rate.period_ns) <= bound));
    }
}
