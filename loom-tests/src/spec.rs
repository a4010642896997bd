//! What the table does when its operations follow one another: slow, obvious, and without an atomic.

use tollgate::Overflow;
use tollgate::model::{Slot, SlotState, Stop};

use crate::rule::Rule;
use crate::table::{Op, Out};

/// The table.
#[derive(Clone, Debug)]
pub struct Spec {
    pub rule: Rule,
    pub slots: Vec<Slot>,
    pub lines: usize,
    pub floor: u64,
    pub policy: Overflow,
    /// The one overflow cell, if anything ever overflowed.
    pub cell: Option<u64>,
}

impl Spec {
    /// Applies one operation of a thread whose last answer was `last`.
    pub fn apply(&mut self, op: Op, last: Option<Out>) -> Out {
        match op {
            Op::Check { key, now, cost } => self.check(key, now, cost),
            Op::Refund { key, now, units } => self.refund(key, now, units),
            Op::GiveBack { .. } if last != Some(Out::Admit) => Out::Skipped,
            Op::GiveBack { key, now, units } => self.refund(key, now, units),
            Op::Peek { key } => Out::Saw(self.own(key, SlotState::Time).map(|i| self.slots[i].value)),
            Op::Abandon { key, now, stop } => self.abandon(key, now, stop),
        }
    }

    /// The slots that may hold `key`, nearest first.
    fn window(&self, key: u64) -> impl Iterator<Item = usize> + use<> {
        let in_line = self.slots.len() / self.lines;
        let home = ((u128::from(key) * self.lines as u128) >> 64) as usize;
        let lines = self.lines;
        (0..self.slots.len()).map(move |i| ((home + i / in_line) % lines) * in_line + i % in_line)
    }

    fn own(&self, key: u64, state: SlotState) -> Option<usize> {
        self.window(key).find(|&i| self.slots[i].tag == key && self.slots[i].state == state)
    }

    fn room(&self, key: u64, now: u64) -> Option<usize> {
        let fresh = self.rule.fresh(now);
        self.window(key).find(|&i| {
            let Slot { state, value, .. } = self.slots[i];
            matches!(state, SlotState::Vacant | SlotState::Time) && value + self.rule.lead() < fresh
        })
    }

    /// What a newcomer's word becomes: the cell's, if that still counts, and the charge.
    fn first_charge(&self, now: u64, cost: u64) -> Option<u64> {
        let (base, debt) = (self.rule.fresh(now).max(self.floor), self.cell.unwrap_or(0));
        let start = if debt + self.rule.lead() > base { debt } else { base };
        self.rule.take(start, self.floor, now, cost)
    }

    fn check(&mut self, key: u64, now: u64, cost: u64) -> Out {
        if let Some(i) = self.own(key, SlotState::Time) {
            let Some(next) = self.rule.take(self.slots[i].value, 0, now, cost) else { return Out::Deny };
            self.slots[i].value = next;
            return Out::Admit;
        }
        let pending = self.own(key, SlotState::Pending);
        let Some(i) = pending.or_else(|| self.room(key, now)) else { return self.overflow(now, cost) };
        let Some(next) = self.first_charge(now, cost) else {
            if pending.is_some() {
                self.slots[i].state = SlotState::Vacant;
                self.slots[i].value += 1;
            }
            return Out::Deny;
        };
        if pending.is_none() {
            self.raise_floor(i, now);
        }
        self.slots[i] = Slot { tag: key, state: SlotState::Time, value: next };
        Out::Admit
    }

    fn raise_floor(&mut self, i: usize, now: u64) {
        if self.slots[i].value + self.rule.lead() >= self.floor {
            self.floor = self.floor.max(self.rule.fresh(now));
        }
    }

    fn overflow(&mut self, now: u64, cost: u64) -> Out {
        if self.policy != Overflow::Share {
            return Out::NoRoom;
        }
        let Some(next) = self.first_charge(now, cost) else { return Out::Deny };
        self.cell = Some(next);
        Out::Admit
    }

    fn refund(&mut self, key: u64, now: u64, units: u64) -> Out {
        let Some(i) = self.own(key, SlotState::Time) else { return Out::Back(false) };
        let word = self.slots[i].value;
        let next = self.rule.give_back(word, now, units);
        self.slots[i].value = if next < word { next.max(self.floor.min(word)) } else { next };
        Out::Back(next != word)
    }

    fn abandon(&mut self, key: u64, now: u64, stop: Stop) -> Out {
        let own = self.own(key, SlotState::Time).or_else(|| self.own(key, SlotState::Pending));
        if own.is_none()
            && let Some(i) = self.room(key, now)
        {
            self.raise_floor(i, now);
            let published = stop == Stop::Published;
            self.slots[i].state = if published { SlotState::Pending } else { SlotState::Claimed };
            self.slots[i].tag = key;
        }
        Out::Stopped
    }
}
