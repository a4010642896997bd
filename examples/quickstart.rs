//! Ten lines, and what they print. `cargo run --example quickstart`

use tollgate::{Limiter, ManualClock, Quota};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let quota: Quota = "2/s burst 3".parse()?;
    let limiter = Limiter::<str>::builder(quota).clock(ManualClock::new(0)).build()?;
    for call in 1..=4 {
        let decision = limiter.check("203.0.113.7");
        let (left, wait) = (decision.remaining(), decision.retry_after());
        println!("call {call}: allowed {}, {left} left, retry after {wait:?}", decision.is_allowed());
    }
    limiter.clock().advance(std::time::Duration::from_millis(500));
    println!("half a second later: allowed {}", limiter.check("203.0.113.7").is_allowed());
    Ok(())
}

// call 1: allowed true, 2 left, retry after 0ns
// call 2: allowed true, 1 left, retry after 0ns
// call 3: allowed true, 0 left, retry after 0ns
// call 4: allowed false, 0 left, retry after 500ms
// half a second later: allowed true
