//! The connection, and the circuit breaker around it.
//!
//! While it is down nobody asks Redis but one task, which tries to connect at jittered intervals. Decisions are answered by the rule's
//! outage policy meanwhile, at once.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use redis::{Cmd, RedisResult, Value, cmd};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::redis::address::{Address, Connection};
use crate::redis::events;
use crate::redis::failure::Failure;
use crate::redis::script::Script;
use crate::sync::{AtomicU64, Ordering};

/// So many deadlines missed one after another are an outage.
const MISSES: u64 = 3;

/// For a connection with its handshake; nobody waits for it but the first decisions.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// As good as none: a clock can tell it.
const LONGEST_DEADLINE: Duration = Duration::from_secs(86_400);

/// A connection that was lost sooner than this did not help, as where the server is a replica, or its user may not run scripts: before the next
/// one is a pause, longer each time.
const STEADY: Duration = Duration::from_secs(2);

/// Between two tries, doubled from the first up to the second, and half of it at random.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];

pub(super) struct Link {
    address: Address,
    deadline: Duration,
    state: ArcSwap<State>,
    /// Tells those who came before the first connection.
    changed: Notify,
    /// 1 while the task runs.
    connecting: AtomicU64,
    missed: AtomicU64,
    /// Connections that were made.
    made: AtomicU64,
    /// Connections that were lost sooner than they should, one after another.
    short_lived: AtomicU64,
    outages: AtomicU64,
    recoveries: AtomicU64,
}

#[derive(Clone)]
struct Live {
    connection: Connection,
    since: Instant,
    /// Tells it from those before: calls that fail late are no reason to give up the next one.
    number: u64,
}

enum State {
    /// Not tried yet: the first decisions wait for it, up to their deadline.
    New,
    Up(Live),
    Down(Failure),
}

impl Link {
    pub(super) fn new(address: Address, deadline: Duration) -> Self {
        Self {
            address,
            deadline: deadline.min(LONGEST_DEADLINE),
            state: ArcSwap::from_pointee(State::New),
            changed: Notify::new(),
            connecting: AtomicU64::new(0),
            missed: AtomicU64::new(0),
            made: AtomicU64::new(0),
            short_lived: AtomicU64::new(0),
            outages: AtomicU64::new(0),
            recoveries: AtomicU64::new(0),
        }
    }

    pub(super) const fn is_cluster(&self) -> bool {
        self.address.is_cluster()
    }

    pub(super) fn is_up(&self) -> bool {
        matches!(**self.state.load(), State::Up(_))
    }

    /// How often the connection was lost, and how often it came back.
    pub(super) fn changes(&self) -> [u64; 2] {
        // Relaxed: numbers to look at.
        [&self.outages, &self.recoveries].map(|count| count.load(Ordering::Relaxed))
    }

    /// Runs a script by its hash, and in full only if the server says that it does not know it: then nothing was done.
    pub(super) async fn run(
        self: &Arc<Self>,
        script: &Script,
        call: impl Fn(&mut Cmd),
    ) -> Result<Value, Failure> {
        let (by_hash, call) = (script.by_hash(&call), &call);
        self.within(|mut connection| async move {
            match connection.call(&by_hash).await {
                Err(error) if Failure::is_unknown_script(&error) => {
                    connection.call(&script.in_full(call)).await
                }
                reply => reply,
            }
        })
        .await
    }

    /// Runs a command.
    pub(super) async fn call(self: &Arc<Self>, command: &Cmd) -> Result<Value, Failure> {
        self.within(|mut connection| async move { connection.call(command).await }).await
    }

    /// What may wait for others: this gives up at the deadline.
    pub(super) async fn until_deadline<T>(&self, work: impl Future<Output = T>) -> Result<T, Failure> {
        if Handle::try_current().is_err() {
            return Err(Failure::no_runtime());
        }
        timeout(self.deadline, work).await.map_err(|_| Failure::Deadline)
    }

    async fn within<F: Future<Output = RedisResult<Value>>>(
        self: &Arc<Self>,
        ask: impl FnOnce(Connection) -> F,
    ) -> Result<Value, Failure> {
        let deadline = Instant::now() + self.deadline;
        let Live { connection, number, .. } = self.connection(deadline).await?;
        let Ok(reply) = timeout_at(deadline, ask(connection)).await else {
            // Relaxed: a number of its own. Two that miss at once may both be the third: `lose` does nothing the second time.
            if self.missed.fetch_add(1, Ordering::Relaxed) + 1 >= MISSES {
                self.lose(number, Failure::Deadline);
            }
            return Err(Failure::Deadline);
        };
        // Relaxed: as above. Written only where it changes, as all decisions share the line.
        if self.missed.load(Ordering::Relaxed) > 0 {
            self.missed.store(0, Ordering::Relaxed);
        }
        reply.map_err(|error| {
            let failure = Failure::from(error);
            if failure.is_outage() {
                self.lose(number, failure.clone());
            }
            failure
        })
    }

    /// The connection there is. Only before the first try is it waited for.
    async fn connection(self: &Arc<Self>, deadline: Instant) -> Result<Live, Failure> {
        if Handle::try_current().is_err() {
            return Err(Failure::no_runtime());
        }
        if let State::Up(live) = &**self.state.load() {
            return Ok(live.clone());
        }
        loop {
            let changed = self.changed.notified();
            match &**self.state.load() {
                State::Up(live) => return Ok(live.clone()),
                State::Down(failure) => {
                    let failure = failure.clone();
                    // The task that tried may have ended with the runtime that it was on.
                    self.connect();
                    return Err(failure);
                }
                State::New => self.connect(),
            }
            timeout_at(deadline, changed).await.map_err(|_| Failure::Deadline)?;
        }
    }

    /// The connection that decisions would have: waits for the first try, or tells what came of the last.
    pub(super) async fn check(self: &Arc<Self>) -> Result<(), Failure> {
        // The try ends by its own timeout, and tells more.
        self.connection(Instant::now() + 2 * CONNECT_TIMEOUT).await.map(drop)
    }

    /// Gives up the connection of this number, if it is not given up yet.
    fn lose(self: &Arc<Self>, number: u64, failure: Failure) {
        let down = Arc::new(State::Down(failure.clone()));
        let is_it = |state: &State| matches!(state, State::Up(live) if live.number == number);
        let before = self.state.rcu(|state| if is_it(state) { down.clone() } else { state.clone() });
        let State::Up(live) = &*before else { return };
        if live.number != number {
            return;
        }
        // Relaxed: numbers of their own, and one that the next task reads, started by whoever wrote it last.
        let is_short = live.since.elapsed() < STEADY;
        let short_lived = if is_short { self.short_lived.load(Ordering::Relaxed) + 1 } else { 0 };
        self.short_lived.store(short_lived, Ordering::Relaxed);
        self.outages.fetch_add(1, Ordering::Relaxed);
        events::lost(&failure);
        self.connect();
    }

    /// Starts the task that connects, if there is none.
    fn connect(self: &Arc<Self>) {
        // AcqRel: with the Release at the end of the task before, so that what it did was done before.
        if self.connecting.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return;
        }
        // Relaxed: see `lose`.
        let first = self.short_lived.load(Ordering::Relaxed);
        let running = Running(Arc::downgrade(self));
        in_background(async move {
            for tried in first.. {
                sleep(pause(tried)).await;
                // Nobody is left to connect for.
                let Some(link) = running.0.upgrade() else { return };
                let found = match timeout(CONNECT_TIMEOUT, link.try_connect()).await {
                    Ok(Ok(connection)) => State::Up(link.live(connection)),
                    Ok(Err(error)) => State::Down(error.into()),
                    Err(_) => State::Down(Failure::Deadline),
                };
                let is_up = matches!(found, State::Up(_));
                let before = link.state.swap(Arc::new(found));
                link.changed.notify_waiters();
                if is_up {
                    link.recovered(&before);
                    return;
                }
            }
        });
    }

    /// A connection by which scripts are run.
    async fn try_connect(&self) -> RedisResult<Connection> {
        let mut connection = self.address.connect().await?;
        connection.call(cmd("EVAL").arg("return redis.call('TIME')").arg(0)).await?;
        Ok(connection)
    }

    fn live(&self, connection: Connection) -> Live {
        // Relaxed: a number that nobody else has.
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        Live { connection, since: Instant::now(), number }
    }

    fn recovered(&self, before: &State) {
        // Relaxed: numbers to look at, and one that is right soon.
        self.missed.store(0, Ordering::Relaxed);
        if matches!(before, State::Down(_)) {
            self.recoveries.fetch_add(1, Ordering::Relaxed);
            events::recovered();
        }
    }
}

/// Runs a task beside, if there is a runtime to run it: without one, the next call that has one does it.
pub(super) fn in_background<T: Send + 'static>(
    task: impl Future<Output = T> + Send + 'static,
) -> Option<JoinHandle<T>> {
    Handle::try_current().ok().map(|runtime| runtime.spawn(task))
}

/// The task that connects, which may end by being dropped with its runtime.
struct Running(Weak<Link>);

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(link) = self.0.upgrade() {
            // Release: with the AcqRel that starts the next one.
            link.connecting.store(0, Ordering::Release);
        }
    }
}

/// Before the try of this number: none before the first.
fn pause(tried: u64) -> Duration {
    let [first, longest] = PAUSES;
    match tried.checked_sub(1) {
        None => Duration::ZERO,
        Some(doublings) => {
            let whole = first.saturating_mul(1 << doublings.min(10)).min(longest);
            let random = RandomState::new().hash_one(tried) >> 32;
            whole / 2 + (whole / 2).mul_f64(random as f64 / f64::from(u32::MAX))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_second_and_differ() {
        assert_eq!(pause(0), Duration::ZERO);
        for (tried, whole_ms) in [(1, 50), (2, 100), (5, 800), (6, 1_000), (1_000, 1_000)] {
            let pauses: Vec<_> = (0..50).map(|_| pause(tried)).collect();
            let whole = Duration::from_millis(whole_ms);
            assert!(pauses.iter().all(|&pause| pause >= whole / 2 && pause <= whole), "{pauses:?}");
            assert!(pauses.iter().any(|&pause| pause != pauses[0]));
        }
    }
}
