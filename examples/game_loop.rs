//! A game server's limits: packets, bytes and chat lines of each player, sixty times a second, by the tick's own time.
//! `cargo run --example game_loop`
//!
//! The same events give the same answers in every run, and a tick allocates nothing.

use std::time::Duration;

use tollgate::{BuildError, Limits, ManualClock, Quota, Rule};

/// What a player sent.
struct Packet {
    player: u32,
    bytes: u64,
    is_chat: bool,
}

/// What was done with a player's packets.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) passed: u32,
    pub(crate) packets: u32,
    pub(crate) bytes: u32,
    pub(crate) chat: u32,
}

const TICKS_PER_S: u64 = 60;
const PLAYERS: u32 = 4;

fn player(packet: &Packet) -> Option<u32> {
    Some(packet.player)
}

pub(crate) struct Game {
    limits: Limits<Packet, ManualClock>,
    tick: u64,
    pub(crate) tallies: [Tally; PLAYERS as usize],
}

impl Game {
    pub(crate) fn new() -> Result<Self, BuildError> {
        let limits = Limits::builder()
            .rule(Rule::new("packets", Quota::per_second(TICKS_PER_S).burst(90), player))
            .rule(Rule::new("bytes", Quota::per_second(32_000), player).cost(|packet| packet.bytes))
            .rule(Rule::new("chat", Quota::new(5, Duration::from_secs(10)), |packet: &Packet| {
                packet.is_chat.then_some(packet.player)
            }))
            // Nobody asks it: the time is the tick's.
            .clock(ManualClock::new(0))
            .build()?;
        Ok(Self { limits, tick: 0, tallies: Default::default() })
    }

    /// One tick: everything that came in since the last one has its time.
    pub(crate) fn tick(&mut self) {
        let now_ns = self.tick * 1_000_000_000 / TICKS_PER_S;
        for player in 0..PLAYERS {
            for packet in received(player, self.tick) {
                let outcome = self.limits.check_at(&packet, now_ns);
                let tally = &mut self.tallies[player as usize];
                match outcome.rule().filter(|_| outcome.is_denied()) {
                    None => tally.passed += 1,
                    Some("packets") => tally.packets += 1,
                    Some("bytes") => tally.bytes += 1,
                    Some(_) => tally.chat += 1,
                }
            }
        }
        self.tick += 1;
    }
}

/// A made-up network: one packet a tick, and each player has a habit.
fn received(player: u32, tick: u64) -> impl Iterator<Item = Packet> {
    let count = if player == 1 { 2 } else { 1 };
    let bytes = if player == 2 { 1_200 } else { 200 };
    let is_chat = player == 3 && tick.is_multiple_of(30);
    (0..count).map(move |_| Packet { player, bytes, is_chat })
}

fn main() -> Result<(), BuildError> {
    let mut game = Game::new()?;
    for _ in 0..10 * TICKS_PER_S {
        game.tick();
    }
    println!("player  passed  too many packets  bytes  chat lines");
    for (player, tally) in game.tallies.iter().enumerate() {
        let Tally { passed, packets, bytes, chat } = tally;
        println!("{player:6}  {passed:6}  {packets:16}  {bytes:5}  {chat:10}");
    }
    Ok(())
}
