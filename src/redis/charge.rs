//! Several limits on one request, all charged or none, in one script.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::redis::answer::{Answer, Source};
use crate::redis::core::{Action, Core};
use crate::redis::failure::Failure;
use crate::redis::key::RedisKey;
use crate::redis::limiter::RedisLimiter;
use crate::redis::reply::Reply;
use crate::redis::script::{Script, to_driver};

/// Units of a key of one limiter, to be taken together with others by [`charge_all`].
#[derive(Clone)]
#[must_use = "nothing is charged until `charge_all`"]
pub struct Charge {
    core: Arc<Core>,
    key: Vec<u8>,
    units: u64,
}

impl fmt::Debug for Charge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Charge")
            .field("key", &String::from_utf8_lossy(&self.key))
            .field("units", &self.units)
            .finish_non_exhaustive()
    }
}

impl<K: RedisKey + ?Sized> RedisLimiter<K> {
    /// Units of a key, for [`charge_all`].
    pub fn charge(&self, key: &K, units: u64) -> Charge {
        Charge { core: self.core.clone(), key: self.core.key(key), units }
    }
}

/// What was answered on several charges.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "an answer that nobody looks at limits nothing"]
pub struct Answers {
    answers: Vec<Answer>,
}

impl Answers {
    /// All were charged: go ahead. If not, none was.
    pub fn is_allowed(&self) -> bool {
        self.answers.iter().all(Answer::is_allowed)
    }

    /// The opposite of [`is_allowed`](Self::is_allowed).
    pub fn is_denied(&self) -> bool {
        !self.is_allowed()
    }

    /// Which charges were refused, in their order, and the answers. The others would have been allowed.
    pub fn refused(&self) -> impl Iterator<Item = (usize, &Answer)> {
        self.answers.iter().enumerate().filter(|(_, answer)| answer.is_denied())
    }

    /// The longest wait among those that refuse; zero if none does, or none knows.
    pub fn retry_after(&self) -> Duration {
        let waits = self.refused().filter_map(|(_, answer)| Some(answer.decision()?.retry_after()));
        waits.max().unwrap_or_default()
    }

    /// The answers, in the order of the charges.
    pub fn as_slice(&self) -> &[Answer] {
        &self.answers
    }
}

/// Takes the units of all charges, or of none, in one atomic step of Redis and one round trip.
///
/// On a cluster all keys must be in one slot: charges on the same key are, and those of limiters with the same
/// [`hash_tag`](super::RedisLimiterBuilder::hash_tag). Others are refused with [`Failure::CrossSlot`], without asking.
///
/// While Redis does not answer each charge is answered by its own outage policy; what one of them refuses is given back to the others.
///
/// # Errors
/// [`Failure::CrossSlot`], and [`Failure::ManyStores`] where the limiters have not one [`Redis`](super::Redis) handle: mistakes of the program, so that no outage policy
/// answers them. And [`Failure::Other`] where one key is charged twice, which is to be one charge.
pub async fn charge_all(charges: &[Charge]) -> Result<Answers, Failure> {
    check_together(charges)?;
    let asked: Vec<_> = charges.iter().filter(|charge| charge.core.rule.part().is_some()).collect();
    // What has no rate is decided here, and decides for all if it refuses.
    let is_blocked = charges.iter().any(|charge| {
        charge.core.rule.without_store(charge.units).is_some_and(|decision| decision.is_denied())
    });
    let never_fits =
        asked.iter().any(|charge| charge.core.taking(charge.units) == Action::Peek && charge.units > 0);
    let action = if is_blocked || never_fits { Action::Peek } else { Action::Take };
    let decided = ask(action, &asked).await.and_then(|reply| from_store(action, charges, &reply));
    let answers = decided.unwrap_or_else(|failure| from_policies(charges, &failure));
    let answers = Answers { answers };
    let is_allowed = answers.is_allowed();
    for (charge, answer) in charges.iter().zip(answers.as_slice()) {
        // As in `Limits`: who would have allowed what another refused has not.
        if is_allowed || answer.is_denied() {
            charge.core.counters.note(answer.source(), is_allowed);
        }
    }
    Ok(answers)
}

fn check_together(charges: &[Charge]) -> Result<(), Failure> {
    let Some(first) = charges.first() else { return Ok(()) };
    if charges.iter().any(|charge| !Arc::ptr_eq(&charge.core.link, &first.core.link)) {
        return Err(Failure::ManyStores);
    }
    let slot = |charge: &Charge| redis::cluster_routing::Slot::for_key(&charge.key);
    if first.core.link.is_cluster() && charges.iter().any(|charge| slot(charge) != slot(first)) {
        return Err(Failure::CrossSlot);
    }
    let mut keys: Vec<_> = charges.iter().map(|charge| &charge.key).collect();
    keys.sort_unstable();
    if keys.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Failure::Other("one key is charged twice in one call: add the units up".to_owned()));
    }
    Ok(())
}

async fn ask(action: Action, asked: &[&Charge]) -> Result<Reply, Failure> {
    let Some(first) = asked.first() else { return Ok(Reply { choice: 1, now_us: 0, states: Vec::new() }) };
    let mut arguments = Core::arguments(action, None);
    for charge in asked {
        charge.core.rule.arguments(&[charge.units], &mut arguments);
    }
    let keys: Vec<_> = asked.iter().map(|charge| charge.key.clone()).collect();
    let script = Script::of(asked.iter().filter_map(|charge| charge.core.rule.part()));
    Reply::new(first.core.link.run(&script, to_driver(&keys, &arguments)).await?)
}

fn from_store(action: Action, charges: &[Charge], reply: &Reply) -> Result<Vec<Answer>, Failure> {
    let is_charged = action == Action::Take && reply.choice > 0;
    let mut states = reply.states.iter();
    let answers: Vec<_> = charges
        .iter()
        .map(|charge| {
            if let Some(decision) = charge.core.rule.without_store(charge.units) {
                return Ok(Answer::decided(decision, Source::Local));
            }
            let state = states.next().map_or(&[][..], Vec::as_slice);
            let is_charged = is_charged && charge.units > 0;
            let decision = charge.core.rule.decision(state, reply.now_us, charge.units, is_charged);
            let decision = decision.ok_or_else(|| reply.is_foreign())?;
            Ok(Answer::decided(decision, Source::Store))
        })
        .collect::<Result<_, Failure>>()?;
    // What was not charged is not allowed, whoever says so.
    if action == Action::Take && !is_charged && answers.iter().all(Answer::is_allowed) || reply.choice > 1 {
        return Err(reply.is_foreign());
    }
    for (charge, answer) in charges.iter().zip(&answers) {
        if let (true, Source::Store, Some(decision)) = (is_charged, answer.source(), answer.decision()) {
            charge.core.is_back(&charge.key, decision);
        }
    }
    Ok(answers)
}

/// One by one, with what was taken given back if one refuses.
fn from_policies(charges: &[Charge], failure: &Failure) -> Vec<Answer> {
    let answers: Vec<_> = charges
        .iter()
        .map(|charge| match charge.core.rule.without_store(charge.units) {
            Some(decision) => Answer::decided(decision, Source::Local),
            None => charge.core.fallback.answer(&charge.key, charge.units, failure.clone()),
        })
        .collect();
    let is_allowed = answers.iter().all(Answer::is_allowed);
    for (charge, answer) in charges.iter().zip(&answers) {
        let taken = match answer.source() {
            Source::Local if charge.core.rule.part().is_some() => {
                answer.decision().map_or(0, |decision| decision.taken())
            }
            _ => 0,
        };
        if taken > 0 && is_allowed {
            charge.core.owe(&charge.key, taken);
        } else if taken > 0 {
            charge.core.fallback.undo(&charge.key, taken);
        }
    }
    answers
}
