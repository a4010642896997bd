//! Units taken from Redis in advance, and spent by this process alone.

mod hand;
mod size;

use std::cell::Cell;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use crate::decision::Decision;
use crate::redis::answer::{Answer, Source};
use crate::redis::core::{Action, Core};
use crate::redis::failure::Failure;
use crate::redis::key::RedisKey;
use crate::redis::link::in_background;
use crate::sync::{AtomicU64, Ordering};
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
    /// 1 while a task looks for units that are not used.
    watched: AtomicU64,
}

impl Leases {
    pub(super) fn new(sizes: Sizes) -> Self {
        Self { hands: flurry::HashMap::new(), sizes, watched: AtomicU64::new(0) }
    }

    /// What this process has of a key, made if there is room for it.
    fn hand(&self, core: &Arc<Core>, key: &[u8]) -> Option<Arc<Hand>> {
        let hands = self.hands.pin();
        if let Some(hand) = hands.get(key) {
            return Some(hand.clone());
        }
        if hands.len() >= MAX_KEYS {
            return None;
        }
        self.watch(core);
        match hands.try_insert(key.to_vec(), Arc::default()) {
            Ok(hand) => Some(hand.clone()),
            Err(taken) => Some(taken.current.clone()),
        }
    }

    /// Looks at all keys every second, as long as there is the limiter.
    fn watch(&self, core: &Arc<Core>) {
        // AcqRel: with the Release at the end of the task before, so that what it did was done before.
        if self.watched.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return;
        }
        let watching = Watching(Arc::downgrade(core));
        in_background(async move {
            let mut looks = interval(LOOK_EVERY);
            looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                looks.tick().await;
                let Some(core) = watching.core() else { return };
                if let Some(leases) = &core.leases {
                    core.give_back(leases, true).await;
                }
            }
        });
    }
}

thread_local! {
    /// For the key of a decision that needs nobody else: nothing is allocated.
    static KEY: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl Core {
    /// The answer by units in hand, or by what Redis has refused until later.
    pub(super) fn at_once(self: &Arc<Self>, key: &(impl RedisKey + ?Sized), cost: u64) -> Option<Answer> {
        let leases = self.leases.as_ref().filter(|_| cost > 0)?;
        // Taken out, so that a key that asks for another while it is written finds an empty one.
        let mut bytes = KEY.take();
        bytes.clear();
        self.append_key(key, &mut bytes);
        let answer =
            leases.hands.pin().get(&bytes[..]).and_then(|hand| self.at_hand(leases, hand, &bytes, cost));
        KEY.set(bytes);
        answer.inspect(|answer| self.counters.note(answer))
    }

    /// Units of what this process has, or what Redis has refused until later, or else what Redis says.
    pub(super) async fn take_leased(self: &Arc<Self>, leases: &Leases, key: &[u8], cost: u64) -> Answer {
        if cost == 0 || cost > leases.sizes.largest() {
            return self.take_exact(key, cost, None).await;
        }
        while let Some(hand) = leases.hand(self, key) {
            // One asks; who waited for it looks again at what it got.
            let mut taken = hand.taken.lock().await;
            if taken.is_gone {
                continue;
            }
            if let Some(answer) = self.at_hand(leases, &hand, key, cost) {
                return answer;
            }
            return self.fill(leases, &hand, key, cost, &mut taken).await;
        }
        self.take_exact(key, cost, None).await
    }

    /// The answer that needs nobody else.
    fn at_hand(self: &Arc<Self>, leases: &Leases, hand: &Arc<Hand>, key: &[u8], cost: u64) -> Option<Answer> {
        let limit = self.rule.capacity();
        if let Some(left) = hand.spend(cost) {
            if hand.is_low(left) && hand.denied(1).is_none() {
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
        match self.add(leases.sizes, hand, key, cost, taken).await {
            Ok((Some(left), decision)) => {
                let left = left.saturating_add(decision.remaining());
                Answer::decided(Decision::allowed(cost, decision.limit(), left, 0), Source::Store)
            }
            Ok((None, refusal)) => Answer::decided(refusal, Source::Store),
            Err(failure) => self.without(key, cost, failure),
        }
    }

    /// Before it is needed, by one task.
    fn fill_ahead(self: &Arc<Self>, leases: &Leases, hand: &Arc<Hand>, key: &[u8]) {
        let Ok(mut taken) = hand.taken.clone().try_lock_owned() else { return };
        if taken.is_gone {
            return;
        }
        let (core, hand, key, sizes) = (self.clone(), hand.clone(), key.to_vec(), leases.sizes);
        in_background(async move {
            // Without an answer, whoever finds nothing in hand asks again, and is answered by the policy.
            _ = core.add(sizes, &hand, &key, 0, &mut taken).await;
        });
    }

    /// Takes units: how many were added to the hand, if any, and what Redis decided.
    async fn add(
        self: &Arc<Self>,
        sizes: Sizes,
        hand: &Hand,
        key: &[u8],
        cost: u64,
        taken: &mut Taken,
    ) -> Result<(Option<u64>, Decision), Failure> {
        let wanted = sizes.wanted(hand.demand(taken), cost.max(1));
        let (reply, decision) = self.ask(Action::Take, key, &wanted, None).await?;
        self.is_back(key, decision);
        let size = reply.choice.checked_sub(1).and_then(|index| wanted.get(index)).copied();
        if size != wanted.first().copied() {
            hand.refused(cost.max(1), sizes.pause(decision));
        }
        let Some(size) = size else { return Ok((None, decision)) };
        let mark = reply.states.first().and_then(|state| self.rule.mark(state));
        hand.add(size - cost, size, mark, taken);
        Ok((Some(size - cost), decision))
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
                taken.is_gone = true;
                leases.hands.pin().remove(&key);
            }
        }
    }
}

/// The task that looks for units that are not used, which may end by being dropped with its runtime.
struct Watching(Weak<Core>);

impl Watching {
    fn core(&self) -> Option<Arc<Core>> {
        self.0.upgrade()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        if let Some(leases) = self.core().as_ref().and_then(|core| core.leases.as_ref()) {
            // Release: with the AcqRel that starts the next one.
            leases.watched.store(0, Ordering::Release);
        }
    }
}
