//! One limit for several processes: run this in two terminals, and watch them share a hundred a second.
//!
//! `cargo run --features redis --example fleet -- redis://127.0.0.1:6379/`

use std::time::Duration;

use tollgate::Quota;
use tollgate::redis::{Mode, Outage, Redis, RedisLimiter};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().unwrap_or_else(|| "redis://127.0.0.1:6379/".to_owned());
    let seconds: u32 = arguments.next().map_or(Ok(10), |seconds| seconds.parse())?;

    let redis = Redis::open(&url)?;
    let limiter = RedisLimiter::<str>::builder("fleet", Quota::per_second(100).burst(20))
        .mode(Mode::Leased { max_units: 5 }) // Mode::Exact asks Redis each time
        .outage(Outage::Local { share: 0.5 }) // this is one of two
        .build(&redis)?;

    // Twice of what the limit allows to both.
    let mut ticks = tokio::time::interval(Duration::from_millis(5));
    for second in 1..=seconds {
        let (mut admitted, mut failure) = (0, None);
        for _ in 0..200 {
            ticks.tick().await;
            let answer = limiter.check("everybody").await;
            admitted += u32::from(answer.is_allowed());
            failure = answer.failure().cloned().or(failure);
        }
        let process = std::process::id();
        println!("process {process}, second {second}: {admitted} of 200 admitted; {:?}", limiter.counts());
        // Each process goes on by its share meanwhile, which looks just like sharing.
        if let Some(failure) = failure {
            println!("process {process}, not all by Redis: {failure}");
        }
    }
    limiter.give_back().await;
    Ok(())
}
