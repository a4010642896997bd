//! What a user would write: the usual GCRA script, with the time as a floating-point number of seconds.

use redis::Script;
use redis::aio::MultiplexedConnection;

const TEXT: &str = "
local burst, interval = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local tat = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local new = tat + interval * ARGV[3]
if new - now > burst * interval + 0.000001 then
    return {0, tostring(tat - now)}
end
redis.call('SET', KEYS[1], string.format('%.6f', new), 'EX', math.max(1, math.ceil(new - now)))
return {1, tostring(new - now)}
";

#[derive(Clone)]
pub(crate) struct ByHand {
    connection: MultiplexedConnection,
    script: Script,
    limit: u64,
}

impl ByHand {
    pub(crate) async fn new(url: &str, limit: u64) -> Self {
        let connection = redis::Client::open(url).unwrap().get_multiplexed_async_connection().await.unwrap();
        Self { connection, script: Script::new(TEXT), limit }
    }

    pub(crate) async fn check(&mut self, key: &str, cost: u64) -> bool {
        let mut call = self.script.key(key);
        call.arg(self.limit).arg(1.0 / self.limit as f64).arg(cost);
        let (allowed, _): (u64, String) = call.invoke_async(&mut self.connection).await.unwrap();
        allowed == 1
    }
}
