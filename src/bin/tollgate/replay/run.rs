//! Every request of every key, decided.

use rayon::prelude::*;

use super::{Event, History, Peak, Plan, Timeline, peak};

/// As many of the keys that were denied most are reported.
const TOP: usize = 10;

/// The log and what became of it.
pub(crate) struct Outcome {
    pub(crate) history: History,
    /// One for each plan, in the order they were given in.
    pub(crate) results: Vec<PlanOutcome>,
    pub(crate) timeline: Timeline,
    /// The times of the first and the last request.
    pub(crate) span_ns: (u64, u64),
}

/// What one plan did.
pub(crate) struct PlanOutcome {
    pub(crate) plan: Plan,
    pub(crate) tally: Tally,
    /// How much single keys ask for in the plan's period; `None` where the quota has no period.
    pub(crate) peak: Option<Peak>,
}

/// What one plan allowed and denied. Adding tallies gives the same whatever the order, which is why the number of
/// threads does not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) allowed: u64,
    pub(crate) denied: u64,
    /// Keys that were denied at least once.
    pub(crate) denied_keys: u64,
    /// Index and denials of the keys denied most, by denials and then by the key's text.
    pub(crate) top: Vec<(usize, u64)>,
    /// By the columns of the timeline.
    pub(crate) allowed_columns: Vec<u64>,
    pub(crate) denied_columns: Vec<u64>,
}

/// Decides all requests under all plans, each key in the order of its times unless `as_written`.
pub(crate) fn run(mut history: History, plans: &[Plan], as_written: bool) -> Outcome {
    if !as_written {
        // A stable sort: requests of one time stay in the order of their lines. Keys do not touch one another, so
        // this is the order of the whole log as far as any key can tell.
        history.events_mut().par_iter_mut().for_each(|events| events.sort_by_key(|event| event.time_ns));
    }
    let span_ns = span(&history);
    let timeline = Timeline::over(span_ns);
    let tallies = decide(&history, plans, &timeline);
    let results = plans
        .iter()
        .zip(tallies)
        .map(|(plan, tally)| {
            let period_ns = plan.quota.rate().map(|rate| rate.period_ns());
            let peak = period_ns.map(|period_ns| peak::over_keys(history.events(), period_ns));
            PlanOutcome { plan: plan.clone(), tally, peak }
        })
        .collect();
    Outcome { history, results, timeline, span_ns }
}

fn span(history: &History) -> (u64, u64) {
    history
        .events()
        .par_iter()
        .flatten_iter()
        .map(|event| (event.time_ns, event.time_ns))
        .reduce(|| (u64::MAX, 0), |a, b| (a.0.min(b.0), a.1.max(b.1)))
}

fn decide(history: &History, plans: &[Plan], timeline: &Timeline) -> Vec<Tally> {
    let fresh = || vec![Tally::new(timeline.columns()); plans.len()];
    history
        .events()
        .par_iter()
        .enumerate()
        .fold(fresh, |mut tallies, (key, events)| {
            for (plan, tally) in plans.iter().zip(&mut tallies) {
                tally.replay(plan, key, events, history, timeline);
            }
            tallies
        })
        .reduce(fresh, |mut sums, tallies| {
            for (sum, tally) in sums.iter_mut().zip(tallies) {
                sum.add(tally, history);
            }
            sums
        })
}

impl Tally {
    fn new(columns: usize) -> Self {
        Self {
            allowed: 0,
            denied: 0,
            denied_keys: 0,
            top: Vec::new(),
            allowed_columns: vec![0; columns],
            denied_columns: vec![0; columns],
        }
    }

    /// Decides all requests of one key.
    fn replay(&mut self, plan: &Plan, key: usize, events: &[Event], history: &History, timeline: &Timeline) {
        let limiter = plan.limiter().expect("every plan was built once before the log was read");
        let mut denied = 0;
        for event in events {
            let column = timeline.column(event.time_ns);
            // A cost of 0 is a peek, which only a blocked quota denies.
            if limiter.check_n_at(event.cost, event.time_ns).is_allowed() {
                self.allowed += 1;
                self.allowed_columns[column] += 1;
            } else {
                denied += 1;
                self.denied_columns[column] += 1;
            }
        }
        if denied > 0 {
            self.denied += denied;
            self.denied_keys += 1;
            self.top.push((key, denied));
            self.cut_top(history);
        }
    }

    fn add(&mut self, other: Self, history: &History) {
        self.allowed += other.allowed;
        self.denied += other.denied;
        self.denied_keys += other.denied_keys;
        self.top.extend(other.top);
        self.cut_top(history);
        for (sum, count) in self.allowed_columns.iter_mut().zip(other.allowed_columns) {
            *sum += count;
        }
        for (sum, count) in self.denied_columns.iter_mut().zip(other.denied_columns) {
            *sum += count;
        }
    }

    fn cut_top(&mut self, history: &History) {
        self.top.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| history.key(a.0).cmp(history.key(b.0))));
        self.top.truncate(TOP);
    }
}
