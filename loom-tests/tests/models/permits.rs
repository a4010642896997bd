//! Permits in a table: a word with one out is never forgotten, and none is handed out twice.

use loom_tests::rule::Rule;
use loom_tests::table::{Op, Out, Outcome, Scenario, scenario, time, vacant};
use tollgate::model::{Slot, permits};

const K1: u64 = 1;
const K2: u64 = 2;
const K8: u64 = 8;
/// What a permit's word counts time in.
const TICK: u64 = 1 << 17;
const FLOOR: u64 = permits_word(0, false);

/// The word of a key whose permit was taken at a tick, and is out or was put back.
const fn permits_word(tick: u64, is_out: bool) -> u64 {
    // As the table in `algorithm/permits.rs` says.
    (tick + 1) << 16 | if is_out { 1 << 61 | 1 } else { 0 }
}

const fn take(key: u64, tick: u64) -> Op {
    Op::Check { key, now: tick * TICK, cost: 1 }
}

const fn put_back(key: u64) -> Op {
    Op::GiveBack { key, now: 0, units: 1 }
}

/// One permit of each key, in two slots of one line.
fn one_permit(name: &'static str, slots: [Slot; 2]) -> Scenario {
    scenario(name, Rule::Permits { max: 1 }, 1, FLOOR, &slots)
}

#[test]
fn the_words_are_those_of_the_crate() {
    assert_eq!(permits::fresh(3 * TICK), permits_word(3, false));
    assert_eq!(permits::take(permits_word(3, false), 0, 1), Some(permits_word(3, true)));
}

#[test]
fn two_ask_for_the_last_permit() {
    one_permit("two_ask_for_the_last_permit", [vacant(0), vacant(0)])
        .thread(&[take(K1, 5)])
        .thread(&[take(K1, 5)])
        .run();
}

#[test]
fn a_permit_goes_from_hand_to_hand() {
    one_permit("a_permit_goes_from_hand_to_hand", [time(K1, permits_word(5, false)), vacant(0)])
        .thread(&[take(K1, 5), put_back(K1)])
        .thread(&[take(K1, 5), put_back(K1)])
        .run();
}

/// Who found the slot taken had raised the floor before, and what is put back is no lower.
fn refused_and_raised_the_floor(outcome: &Outcome) -> bool {
    outcome.count(Out::NoRoom) == 1 && outcome.words_of(K1) == [permits_word(9, false)]
}

/// The only slot is of a key whose permit is put back while another key looks for room.
#[test]
fn a_permit_is_put_back_while_another_key_wants_its_slot() {
    one_permit("put_back_while_wanted", [time(K1, permits_word(5, false)), time(K8, permits_word(5, true))])
        .thread(&[take(K1, 7), put_back(K1)])
        .thread(&[take(K2, 9)])
        .also(refused_and_raised_the_floor)
        .run();
}

/// Whose earlier time alone would not have made room, but who is there before the one that did.
fn the_first_finds_the_place_made_by_the_second(outcome: &Outcome) -> bool {
    let outs = &outcome.outs;
    outs[0] == [Out::Admit]
        && outs[1].last() == Some(&Out::Deny)
        && outcome.words_of(K1) == [permits_word(9, true)]
}

/// Its key comes back to a slot that another key has had meanwhile, and the one who looked before is late.
#[test]
fn a_slot_that_was_anothers_meanwhile() {
    one_permit("anothers_meanwhile", [time(K1, permits_word(5, false)), time(K8, permits_word(5, true))])
        .thread(&[take(K1, 5)])
        .thread(&[take(K2, 7), put_back(K2), take(K1, 9)])
        .also(the_first_finds_the_place_made_by_the_second)
        .bounds(1, Some(1), Some(3))
        .run();
}
