-- Times are whole microseconds of Unix time: doubles hold them exactly, and twice the longest period besides.
-- Numbers are written by '%.0f', as Lua's own conversion keeps 14 digits only.

local function clock(given)
    if given ~= '' then return tonumber(given) end
    local time = redis.call('TIME')
    return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

-- One more than needed: Redis tells time for expiry in milliseconds, cut off. A caller's own time may be slower than Redis's: a minute
-- is left for that.
local function ttl_ms(us)
    local spare_ms = ARGV[1] == '' and 1 or 60000
    return string.format('%.0f', math.max(1, math.ceil(us / 1000)) + spare_ms)
end

local algorithms = {}
