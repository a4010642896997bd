//! Units taken from Redis in advance, and spent by this process alone.

mod hand;
mod hands;
mod size;

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;
use tokio::time::{MissedTickBehavior, interval};

use crate::clock::{Clock, DefaultClock};
use crate::decision::Decision;
use crate::redis::answer::{Answer, Source};
use crate::redis::core::{Action, Core};
use crate::redis::failure::Failure;
use crate::redis::key::RedisKey;
use crate::redis::link::in_background;
use crate::sync::{AtomicU64, Ordering};
use hand::{Hand, Taken};
use hands::Hands;
pub(super) use size::Sizes;

/// A key that spends nothing from one look to the next gives its units back.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The leases of a limiter.
pub(super) struct Leases {
    hands: Hands,
    sizes: Sizes,
    clock: DefaultClock,
    /// 1 while a task looks for units that are not used.
    watched: AtomicU64,
}

impl Leases {
    pub(super) fn new(sizes: Sizes) -> Self {
        Self { hands: Hands::new(), sizes, clock: DefaultClock::default(), watched: AtomicU64::new(0) }
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

impl Core {
    /// The answer by units in hand, or by what Redis has refused until later.
    pub(super) fn at_once(self: &Arc<Self>, key: &(impl RedisKey + ?Sized), cost: u64) -> Option<Answer> {
        let leases = self.leases.as_ref().filter(|leases| leases.sizes.fits(cost))?;
        let decision = leases.hands.near(key, |hand| self.at_hand(leases, hand, cost))?;
        self.counters.note(Source::Lease, decision.is_allowed());
        Some(Answer::decided(decision, Source::Lease))
    }

    /// Units of what this process has, or what Redis has refused until later, or else what Redis says.
    pub(super) async fn take_leased(
        self: &Arc<Self>,
        leases: &Arc<Leases>,
        name: &[u8],
        cost: u64,
    ) -> Answer {
        if leases.sizes.fits(cost) {
            // Whoever waits for somebody else's call to Redis before his own has one deadline for both.
            match self.link.until_deadline(self.take_from_hand(leases, name, cost)).await {
                Ok(Some(answer)) => return answer,
                Ok(None) => {}
                Err(failure) => return self.without(name, cost, failure),
            }
        }
        self.take_exact(name, cost, None).await
    }

    /// `None` if there are too many keys.
    async fn take_from_hand(
        self: &Arc<Self>,
        leases: &Arc<Leases>,
        name: &[u8],
        cost: u64,
    ) -> Option<Answer> {
        loop {
            let hand = leases.hands.get_or_make(self.own_key(name), name)?;
            leases.watch(self);
            // One asks; who waited for it looks again at what it got.
            let taken = hand.taken.clone().lock_owned().await;
            if hand.is_gone() {
                continue;
            }
            return Some(match self.at_hand(leases, &hand, cost) {
                Some(decision) => Answer::decided(decision, Source::Lease),
                None => self.fill(leases, hand, cost, taken).await,
            });
        }
    }

    /// The decision that needs nobody else.
    #[inline]
    fn at_hand(self: &Arc<Self>, leases: &Arc<Leases>, hand: &Arc<Hand>, cost: u64) -> Option<Decision> {
        let limit = self.rule.capacity();
        let Some(left) = hand.spend(cost) else {
            return hand.denied(cost, limit, || leases.clock.now_ns());
        };
        if hand.is_low(left) {
            self.fill_ahead(leases, hand);
        }
        Some(Decision::allowed(cost, limit, left, 0))
    }

    /// Takes as many units as are wanted, or fewer, but the cost at least, which is spent.
    async fn fill(
        self: &Arc<Self>,
        leases: &Arc<Leases>,
        hand: Arc<Hand>,
        cost: u64,
        taken: OwnedMutexGuard<Taken>,
    ) -> Answer {
        let name = hand.name().to_vec();
        // Beside, so that a caller who gives up does not take with him what was granted.
        let Some(filling) = in_background(self.clone().add(leases.clone(), hand, cost, taken)) else {
            return self.without(&name, cost, Failure::no_runtime());
        };
        match filling.await.unwrap_or_else(|_| Err(Failure::no_runtime())) {
            Ok((Some(left), decision)) => {
                let left = left.saturating_add(decision.remaining());
                Answer::decided(Decision::allowed(cost, decision.limit(), left, 0), Source::Store)
            }
            Ok((None, refusal)) => Answer::decided(refusal, Source::Store),
            Err(failure) => self.without(&name, cost, failure),
        }
    }

    /// Before it is needed, by one task.
    #[cold]
    fn fill_ahead(self: &Arc<Self>, leases: &Arc<Leases>, hand: &Arc<Hand>) {
        let Ok(taken) = hand.taken.clone().try_lock_owned() else { return };
        if !hand.is_gone() {
            hand.set_low(0);
            // Without an answer, whoever finds nothing in hand asks again, and is answered by the policy.
            in_background(self.clone().add(leases.clone(), hand.clone(), 0, taken));
        }
    }

    /// Takes units: how many were added to the hand, if any, and what Redis decided.
    async fn add(
        self: Arc<Self>,
        leases: Arc<Leases>,
        hand: Arc<Hand>,
        cost: u64,
        mut taken: OwnedMutexGuard<Taken>,
    ) -> Result<(Option<u64>, Decision), Failure> {
        let now_ns = || leases.clock.now_ns();
        let per_second = hand.demand(&mut taken, now_ns());
        let wanted = leases.sizes.wanted(per_second, cost.max(1), hand.left());
        let (reply, decision) = self.ask(Action::Take, hand.name(), &wanted, None).await?;
        self.is_back(hand.name(), decision);
        let size = reply.choice.checked_sub(1).and_then(|index| wanted.get(index)).copied();
        let is_short = size != wanted.first().copied();
        if is_short {
            hand.refused(cost.max(1), leases.sizes.pause(decision), now_ns());
        }
        let Some(size) = size else { return Ok((None, decision)) };
        let mark = reply.states.first().and_then(|state| self.rule.mark(state));
        hand.add(size - cost, size, mark, &mut taken);
        hand.set_low(if is_short { 0 } else { size / 2 });
        Ok((Some(size - cost), decision))
    }

    /// After units of a key came back other than with time: Redis is to be asked again.
    pub(super) async fn forget_refusal(&self, name: &[u8]) {
        let Some(leases) = &self.leases else { return };
        if let Some(hand) = leases.hands.get(self.own_key(name)) {
            // Behind whoever asks: he may be told of the time before.
            let _taken = hand.taken.lock().await;
            hand.forget_refusal();
        }
    }

    /// Gives back what is in hand of all keys that have spent nothing since the last look, or of all keys.
    pub(super) async fn give_back(&self, leases: &Leases, only_idle: bool) {
        for hand in leases.hands.all() {
            if only_idle && !hand.is_idle() {
                continue;
            }
            let mut taken = hand.taken.lock().await;
            for (units, mark) in hand.empty(&mut taken) {
                // If the reply is lost the units may be back or not: they are not given back a second time.
                _ = self.ask_to_give_back(hand.name(), units, mark).await;
            }
            if only_idle {
                hand.forget();
                leases.hands.remove(&hand);
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
