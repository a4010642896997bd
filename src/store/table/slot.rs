//! A slot of the table: a tag, and a word that says who may do what with it.

use crate::algorithm::{MAX_WORD, WORD_BITS};
use crate::sync::{AtomicU64, Ordering};

/// A slot's word: two bits of state above a value.
///
/// The value of a slot grows from owner to owner, and a state with a value never comes back after the owner has
/// changed. That is what makes a plain compare-and-swap of a word found earlier safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(u64);

/// Who a slot belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Nobody; the tag means nothing. A slot that was never used is `Vacant` with value 0.
    Vacant,
    /// The tag's key, whose word the value is.
    Time,
    /// One thread, which is about to write the tag.
    Claimed,
    /// The tag's key, which has not been charged yet: any thread of that key may charge it or kill it.
    Pending,
}

impl Word {
    pub(super) const fn new(state: State, value: u64) -> Self {
        debug_assert!(value <= MAX_WORD);
        Self((state as u64) << WORD_BITS | value)
    }

    /// Whether it is in a state: cheaper than to ask which.
    #[inline]
    pub(super) const fn is(self, state: State) -> bool {
        self.0 >> WORD_BITS == state as u64
    }

    pub(super) const fn state(self) -> State {
        match self.0 >> WORD_BITS {
            0 => State::Vacant,
            1 => State::Time,
            2 => State::Claimed,
            _ => State::Pending,
        }
    }

    #[inline]
    pub(super) const fn value(self) -> u64 {
        self.0 & MAX_WORD
    }

    /// Nobody is in the middle of something.
    pub(super) const fn is_settled(self) -> bool {
        self.is(State::Vacant) || self.is(State::Time)
    }
}

/// One key's place.
#[derive(Debug)]
pub(super) struct Slot {
    tag: AtomicU64,
    word: AtomicU64,
}

impl Slot {
    pub(super) fn new() -> Self {
        Self { tag: AtomicU64::new(0), word: AtomicU64::new(0) }
    }

    /// A slot in the middle of its life.
    #[cfg(all(loom, feature = "loom"))]
    pub(super) fn with(tag: u64, word: Word) -> Self {
        Self { tag: AtomicU64::new(tag), word: AtomicU64::new(word.0) }
    }

    /// Whether the slot may be `tag`'s: a filter that misses only what a lookup an instant earlier would have missed.
    #[inline]
    pub(super) fn may_be(&self, tag: u64) -> bool {
        self.tag() == tag
    }

    /// The tag, which counts for nothing without the word.
    #[inline]
    pub(super) fn tag(&self) -> u64 {
        // Relaxed: whoever acts on it looks again with `look`. A claimer of the same key that must not miss it is
        // ordered by the two SeqCst fences of `settle`.
        self.tag.load(Ordering::Relaxed)
    }

    /// The word, whoever owns it.
    #[inline]
    pub(super) fn word(&self) -> Word {
        // Acquire: pairs with the Release and AcqRel writes of the word below, so that the tag written before is seen.
        Word(self.word.load(Ordering::Acquire))
    }

    /// The word, if it is `tag`'s and in use.
    #[inline]
    pub(super) fn look(&self, tag: u64) -> Option<Word> {
        let word = self.word();
        // Acquire: pairs with the Release store of the tag in `publish`. It keeps this load after the word's: a tag that
        // is seen was written after the word before it was replaced, so a later exchange of that word fails.
        let owned = self.tag.load(Ordering::Acquire) == tag;
        (owned && (word.is(State::Time) || word.is(State::Pending))).then_some(word)
    }

    /// The word, if `tag` has been charged here.
    #[inline]
    pub(super) fn charged(&self, tag: u64) -> Option<Word> {
        self.look(tag).filter(|word| word.is(State::Time))
    }

    /// Whether the word is still the one found: what a denial rests on was then this key's.
    #[inline]
    pub(super) fn still(&self, word: Word) -> bool {
        // Relaxed: only equality matters, and the tag was confirmed by the Acquire load in `look`, after `word` was read.
        self.word.load(Ordering::Relaxed) == word.0
    }

    /// Replaces an owner's word by its next one.
    #[inline]
    pub(super) fn charge(&self, word: Word, next: u64) -> bool {
        self.exchange(word, Word::new(State::Time, next))
    }

    /// Takes a slot that is nobody's or idle, keeping its value.
    pub(super) fn claim(&self, word: Word) -> bool {
        debug_assert!(word.is_settled());
        self.exchange(word, Word::new(State::Claimed, word.value()))
    }

    /// Gives a claimed slot to `tag`, and returns its pending word. The word before was `Claimed`, so no other thread
    /// writes either field meanwhile.
    pub(super) fn publish(&self, tag: u64, value: u64) -> Word {
        let pending = Word::new(State::Pending, value);
        self.label(tag);
        // Release: pairs with the Acquire load of the word in `word`: who sees the pending word sees its tag.
        self.word.store(pending.0, Ordering::Release);
        pending
    }

    /// Writes the tag of a claimed slot.
    pub(super) fn label(&self, tag: u64) {
        // Release: pairs with the Acquire load of the tag in `look`. The claim comes before: who sees the new tag and
        // holds an older word fails to exchange it.
        self.tag.store(tag, Ordering::Release);
    }

    /// Charges a pending slot for the first time.
    pub(super) fn activate(&self, pending: Word, next: u64) -> bool {
        debug_assert!(pending.state() == State::Pending);
        self.exchange(pending, Word::new(State::Time, next))
    }

    /// Gives a pending slot up. The value grows by one, so that nobody activates the same pending word later.
    pub(super) fn kill(&self, pending: Word) -> bool {
        debug_assert!(pending.state() == State::Pending);
        self.exchange(pending, Word::new(State::Vacant, pending.value() + 1))
    }

    #[inline]
    fn exchange(&self, word: Word, next: Word) -> bool {
        // AcqRel: pairs with the Acquire loads of the word, and with this exchange in other threads.
        // Relaxed on failure: the caller looks again from the start.
        self.word.compare_exchange(word.0, next.0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}
