-- What the driver does for one arrival time and one cost, taken or looked at, without its tables: the most common call, in half the
-- time. ARGV: the time or nothing; whether to charge; and as packed doubles, which is one argument instead of five: the cost as us and
-- num, a full burst as us and num, den. The word is that of `arrival.lua`. The reply is packed as well: the choice, the time, and the state.
local now
if ARGV[1] == '' then
    local time = redis.call('TIME')
    now = time[1] * 1000000 + time[2]
else
    now = ARGV[1] + 0
end
local cost_us, cost_num, full_us, top_num, den = struct.unpack('<ddddd', ARGV[3])
local top_us = now + full_us
local us, num, returned, moved = now, 0, 0, false

local stored = redis.call('GET', KEYS[1])
if stored then
    local mark, stored_us, stored_num, stored_den, stored_returned = 0
    if #stored == 33 then mark, stored_us, stored_num, stored_den, stored_returned = struct.unpack('<Bdddd', stored) end
    if mark ~= 97 then return redis.error_reply('WRONGTYPE a key holds what tollgate has not written') end
    returned = stored_returned
    -- Of another quota: rounded up.
    if stored_den ~= den then stored_us, stored_num = stored_us + 1, 0 end
    if stored_us >= now then us, num = stored_us, stored_num end
    -- Further ahead than a full burst: the clock stepped back, or the quota was lowered.
    if us > top_us or us == top_us and num > top_num then us, num, moved = top_us, top_num, true end
end

local next_us, next_num, choice = us + cost_us, num + cost_num, 0
if next_num >= den then next_us, next_num = next_us + 1, next_num - den end
if next_us < top_us or next_us == top_us and next_num <= top_num then choice = 1 end
if ARGV[2] == '1' and (choice == 1 or moved) then
    if choice == 1 then us, num = next_us, next_num end
    -- As `ttl_ms` of the prelude.
    local ttl_ms = math.ceil((us + 1 - now) / 1000) + (ARGV[1] == '' and 1 or 60000)
    redis.call('SET', KEYS[1], struct.pack('<Bdddd', 97, us, num, den, returned), 'PX', ttl_ms)
end
return struct.pack('<ddddd', choice, now, us, num, returned)
