//! Units taken from Redis in advance, and spent by this process alone.

mod hand;
mod size;

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use crate::decision::Decision;
use crate::redis::answer::{Answer, Source};
use crate::redis::core::{Action, Core};
use hand::{Hand, Taken};
pub(super) use size::Sizes;

/// Keys that have leases at once; those beyond are decided by Redis.
const MAX_KEYS: usize = 65_536;

/// A key that spends nothing from one look to the next gives its units back.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The leases of a limiter.
pub(super) struct Leases {
    hands: flurry::HashMap<Vec<u8>, Arc<Hand>>,
    sizes: Sizes,
}

impl Leases {
    pub(super) fn new(sizes: Sizes) -> Self {
        Self { hands: flurry::HashMap::new(), sizes }
    }

    /// What this process has of a key, if there is room for it.
    fn hand(&self, core: &Arc<Core>, key: &[u8]) -> Option<Arc<Hand>> {
        let hands = self.hands.pin();
        if let Some(hand) = hands.get(key) {
            return Some(hand.clone());
        }
        if hands.is_empty() {
            give_back_when_idle(Arc::downgrade(core));
        }
        if hands.len() >= MAX_KEYS {
            return None;
        }
        match hands.try_insert(key.to_vec(), Arc::default()) {
            Ok(hand) => Some(hand.clone()),
            Err(taken) => Some(taken.current.clone()),
        }
    }
}

impl Core {
    /// Units of what this process has, or what Redis has refused until later, or else what Redis says.
    pub(super) async fn take_leased(self: &Arc<Self>, leases: &Leases, key: &[u8], cost: u64) -> Answer {
        if cost == 0 || cost > leases.sizes.largest() {
            return self.take_exact(key, cost, None).await;
        }
        let Some(hand) = leases.hand(self, key) else { return self.take_exact(key, cost, None).await };
        if let Some(answer) = self.at_hand(leases, &hand, key, cost) {
            return answer;
        }
        // One asks; who waited for it looks again at what it got.
        let mut taken = hand.taken.lock().await;
        if let Some(answer) = self.at_hand(leases, &hand, key, cost) {
            return answer;
        }
        self.fill(leases, &hand, key, cost, &mut taken).await
    }

    /// The answer that needs nobody else.
    fn at_hand(self: &Arc<Self>, leases: &Leases, hand: &Arc<Hand>, key: &[u8], cost: u64) -> Option<Answer> {
        let limit = self.rule.capacity();
        if let Some(left) = hand.spend(cost) {
            if hand.is_low(left) {
                self.fill_ahead(leases, hand, key);
            }
            return Some(Answer::decided(Decision::allowed(cost, limit, left, 0), Source::Lease));
        }
        let denied = hand.denied(cost)?;
        Some(Answer::decided(denied, Source::Lease))
    }

    /// Takes as many units as are wanted, or fewer, but the cost at least, which is spent.
    async fn fill(
        self: &Arc<Self>,
        leases: &Leases,
        hand: &Hand,
        key: &[u8],
        cost: u64,
        taken: &mut Taken,
    ) -> Answer {
        let sizes = leases.sizes.wanted(hand.demand(taken), cost);
        match self.ask(Action::Take, key, &sizes, None).await {
            Ok((reply, decision)) => {
                self.is_back(key, decision);
                let Some(&size) = reply.choice.checked_sub(1).and_then(|index| sizes.get(index)) else {
                    hand.refused(cost, leases.sizes.pause(decision));
                    return Answer::decided(decision, Source::Store);
                };
                let mark = reply.states.first().and_then(|state| self.rule.mark(state));
                hand.add(size - cost, size, mark, taken);
                let left = size - cost;
                Answer::decided(
                    Decision::allowed(cost, decision.limit(), decision.remaining() + left, 0),
                    Source::Store,
                )
            }
            Err(failure) => self.without(key, cost, failure),
        }
    }

    /// Before it is needed, by one task.
    fn fill_ahead(self: &Arc<Self>, leases: &Leases, hand: &Arc<Hand>, key: &[u8]) {
        let Ok(guard) = hand.taken.clone().try_lock_owned() else { return };
        let (core, hand, key, sizes) = (self.clone(), hand.clone(), key.to_vec(), leases.sizes);
        tokio::spawn(async move {
            let mut taken = guard;
            let wanted = sizes.wanted(hand.demand(&mut taken), 1);
            let Ok((reply, decision)) = core.ask(Action::Take, &key, &wanted, None).await else { return };
            core.is_back(&key, decision);
            match reply.choice.checked_sub(1).and_then(|index| wanted.get(index)) {
                Some(&size) => {
                    let mark = reply.states.first().and_then(|state| core.rule.mark(state));
                    hand.add(size, size, mark, &mut taken);
                }
                None => hand.refused_ahead(sizes.pause(decision)),
            }
        });
    }

    /// Gives back what is in hand of all keys that have spent nothing since the last look, or of all keys.
    pub(super) async fn give_back(&self, leases: &Leases, only_idle: bool) {
        let hands: Vec<_> = {
            let hands = leases.hands.pin();
            hands.iter().map(|(key, hand)| (key.clone(), hand.clone())).collect()
        };
        for (key, hand) in hands {
            if only_idle && !hand.is_idle() {
                continue;
            }
            let mut taken = hand.taken.lock().await;
            for (units, mark) in hand.empty(&mut taken) {
                // If the reply is lost the units may be back or not: they are not given back a second time.
                _ = self.ask_to_give_back(&key, units, mark).await;
            }
            if only_idle {
                leases.hands.pin().remove(&key);
            }
        }
    }
}

/// Looks at all keys every second, as long as there is the limiter.
fn give_back_when_idle(core: Weak<Core>) {
    let watched = core.upgrade().is_some_and(|core| core.start_watching());
    if !watched {
        return;
    }
    tokio::spawn(async move {
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            let Some(core) = core.upgrade() else { return };
            if let Some(leases) = &core.leases {
                core.give_back(leases, true).await;
            }
        }
    });
}
