//! What is behind a limiter, without the type of its keys.

use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, cmd};

use crate::decision::Decision;
use crate::redis::answer::{Answer, Source};
use crate::redis::counts::Counters;
use crate::redis::failure::Failure;
use crate::redis::key::RedisKey;
use crate::redis::lease::Leases;
use crate::redis::link::{Link, in_background};
use crate::redis::outage::{Debt, Fallback};
use crate::redis::reply::Reply;
use crate::redis::rule::{MAX_TIME_US, Rule};
use crate::redis::script::{Script, to_driver};
use crate::time::duration_ns;

/// What a script is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Take,
    Peek,
    Refund,
    /// Charge whether it fits or not, once for each mark.
    Force,
    /// Give back units of a lease, by the mark under which they were charged.
    GiveBack,
}

impl Action {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Take => "take",
            Self::Peek => "peek",
            Self::Refund => "refund",
            Self::Force => "force",
            Self::GiveBack => "give_back",
        }
    }
}

/// Room for a key that is not very long.
const KEY_LEN: usize = 40;

pub(super) struct Core {
    pub(super) link: Arc<Link>,
    pub(super) rule: Rule,
    pub(super) script: Script,
    /// The shorter one, for a decision on an arrival time.
    pub(super) one: Script,
    /// What the names of its keys begin with, and end with.
    pub(super) prefix: Vec<u8>,
    pub(super) suffix: &'static [u8],
    pub(super) fallback: Fallback,
    pub(super) counters: Counters,
    /// Where units are taken in advance.
    pub(super) leases: Option<Arc<Leases>>,
}

impl Core {
    /// The name that Redis knows a key by.
    pub(super) fn key(&self, key: &(impl RedisKey + ?Sized)) -> Vec<u8> {
        let mut name = Vec::with_capacity(self.prefix.len() + KEY_LEN);
        name.extend_from_slice(&self.prefix);
        key.append_to(&mut name);
        name.extend_from_slice(self.suffix);
        name
    }

    /// What the caller wrote of it.
    pub(super) fn own_key<'n>(&self, name: &'n [u8]) -> &'n [u8] {
        let end = name.len().saturating_sub(self.suffix.len());
        name.get(self.prefix.len()..end).unwrap_or_default()
    }

    /// The arguments before those of rules.
    pub(super) fn arguments(action: Action, now: Option<Duration>) -> Vec<String> {
        let now_us = now.map_or_else(String::new, |now| whole_us(now).to_string());
        vec![now_us, action.name().to_owned()]
    }

    /// Asks for one key: the reply, and the decision on one of the costs.
    pub(super) async fn ask(
        &self,
        action: Action,
        key: &[u8],
        costs: &[u64],
        now: Option<Duration>,
    ) -> Result<(Reply, Decision), Failure> {
        let value = match (&self.rule, action, costs) {
            (Rule::Arrival(arrival), Action::Take | Action::Peek, &[cost]) => {
                let call = |command: &mut Cmd| {
                    command.arg(1).arg(key);
                    arrival.ask_for_one(cost, now.map(whole_us), action == Action::Take, command);
                };
                self.link.run(&self.one, call).await?
            }
            _ => {
                let mut arguments = Self::arguments(action, now);
                self.rule.arguments(costs, &mut arguments);
                self.link.run(&self.script, to_driver(&[key.to_vec()], &arguments)).await?
            }
        };
        let reply = Reply::new(value)?;
        let is_charged = action == Action::Take && reply.choice > 0;
        let cost = if is_charged { costs.get(reply.choice - 1) } else { costs.last() };
        let state = reply.states.first().map_or(&[][..], Vec::as_slice);
        let cost = cost.copied().unwrap_or(0);
        let decision = self.rule.decision(state, reply.now_us, cost, is_charged && cost > 0);
        let decision = decision.ok_or_else(|| reply.is_foreign())?;
        // What was not charged is not allowed, whoever says so.
        let is_given = action == Action::Take && cost > 0 && !is_charged && decision.is_allowed();
        if reply.choice > costs.len() || is_given {
            return Err(reply.is_foreign());
        }
        Ok((reply, decision))
    }

    /// Takes units, or says why not.
    pub(super) async fn take(self: &Arc<Self>, key: &[u8], cost: u64, now: Option<Duration>) -> Answer {
        let answer = match (self.rule.without_store(cost), &self.leases) {
            (Some(decision), _) => Answer::decided(decision, Source::Local),
            (None, Some(leases)) if now.is_none() => self.take_leased(leases, key, cost).await,
            (None, _) => self.take_exact(key, cost, now).await,
        };
        self.counters.note(answer.source(), answer.is_allowed());
        answer
    }

    /// By Redis.
    pub(super) async fn take_exact(self: &Arc<Self>, key: &[u8], cost: u64, now: Option<Duration>) -> Answer {
        match self.ask(self.taking(cost), key, &[cost], now).await {
            Ok((_, decision)) => {
                self.is_back(key, decision);
                Answer::decided(decision, Source::Store)
            }
            Err(failure) => self.without(key, cost, failure),
        }
    }

    /// What never fits, and what is nothing, is not to be written.
    pub(super) const fn taking(&self, cost: u64) -> Action {
        if cost == 0 || cost > self.rule.capacity() { Action::Peek } else { Action::Take }
    }

    /// After a decision by Redis.
    pub(super) fn is_back(self: &Arc<Self>, key: &[u8], decision: Decision) {
        self.fallback.warm(key, decision.taken());
        if self.fallback.has_debts() {
            self.pay();
        }
    }

    /// The outage policy's answer.
    pub(super) fn without(&self, key: &[u8], cost: u64, failure: Failure) -> Answer {
        let answer = self.fallback.answer(key, cost, failure);
        let taken = answer.decision().map_or(0, |decision| decision.taken());
        if taken > 0 {
            self.owe(key, taken);
        }
        answer
    }

    /// Units that were admitted without Redis are to be charged there later.
    pub(super) fn owe(&self, key: &[u8], units: u64) {
        if !self.fallback.owe(key, units) {
            self.counters.forget(units);
        }
    }

    /// Charges in Redis what was admitted without it.
    fn pay(self: &Arc<Self>) {
        let mut paying = Paying { core: self.clone(), debts: self.fallback.take_debts() };
        in_background(async move {
            while let Some(debt) = paying.debts.last() {
                let paid = paying.core.pay_one(debt).await;
                if let (Some(debt), Err(failure)) = (paying.debts.pop(), paid) {
                    paying.core.fallback.keep(debt, failure.is_refusal());
                }
            }
        });
    }

    /// The mark makes sure that it is charged once, whatever becomes of the reply.
    async fn pay_one(&self, debt: &Debt) -> Result<(), Failure> {
        let mut arguments = Self::arguments(Action::Force, None);
        self.rule.arguments(&[debt.units], &mut arguments);
        let mark = [&debt.key, &b":paid:"[..], debt.mark.as_bytes()].concat();
        let keys = [debt.key.clone(), mark];
        self.link.run(&self.script, to_driver(&keys, &arguments)).await.map(drop)
    }

    /// Gives back units of a lease that have not come back by themselves.
    pub(super) async fn ask_to_give_back(
        &self,
        key: &[u8],
        units: u64,
        mark: [u64; 2],
    ) -> Result<(), Failure> {
        let mut arguments = Self::arguments(Action::GiveBack, None);
        self.rule.arguments(&[units], &mut arguments);
        // The start of a window may be negative: see `Reply`.
        arguments.extend(mark.map(|number| (number as i64).to_string()));
        self.link.run(&self.script, to_driver(&[key.to_vec()], &arguments)).await.map(drop)
    }

    pub(super) async fn refund(&self, key: &[u8], units: u64, now: Option<Duration>) -> Result<(), Failure> {
        if units == 0 || self.rule.part().is_none() {
            return Ok(());
        }
        self.ask(Action::Refund, key, &[units], now).await.map(drop)?;
        self.forget_refusal(key).await;
        Ok(())
    }

    pub(super) async fn reset(&self, key: &[u8]) -> Result<(), Failure> {
        self.link.call(cmd("DEL").arg(key)).await?;
        self.forget_refusal(key).await;
        Ok(())
    }
}

/// The task that pays, which may end by being dropped with its runtime: what it has not paid is owed still.
struct Paying {
    core: Arc<Core>,
    debts: Vec<Debt>,
}

impl Drop for Paying {
    fn drop(&mut self) {
        for debt in self.debts.drain(..) {
            self.core.fallback.keep(debt, false);
        }
    }
}

fn whole_us(time: Duration) -> u64 {
    (duration_ns(time) / 1_000).min(MAX_TIME_US)
}
