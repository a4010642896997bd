-- A sorted set with one entry for each admitted call: its time is the score, and its name says how many units were admitted
-- before it and by it, `before:units`, padded so that entries of one time stay in order. So the units between two entries are
-- one subtraction, and nothing is ever added up.
-- Settings: window, limit. Each cost: units.
local function entry(name)
    local before, units = string.match(name or '', '^(%d+):(%d+)$')
    if not before then return nil end
    return tonumber(before), tonumber(units)
end

algorithms.l = {
    look = function(key, at, now)
        local window, limit, costs = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
        local s = { key = key, now = now, window = window, limit = limit, used = 0, before = 0, after_last = 0 }
        s.costs, s.cost_at, s.after = costs, at + 3, at + 3 + costs
        local last = redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')
        if not last[1] then return s end
        local before, units = entry(last[1])
        if not before then return nil end
        s.newest, s.after_last = tonumber(last[2]), before + units
        -- No earlier than what is there.
        s.stamp = math.max(now, s.newest)
        s.oldest = string.format('(%.0f', s.stamp - window)
        local first = redis.call('ZRANGEBYSCORE', key, s.oldest, '+inf', 'LIMIT', 0, 1)
        if first[1] then
            s.before, s.first_units = entry(first[1])
            if not s.before then return nil end
            s.used = s.after_last - s.before
        end
        -- Further ahead than a window: the clock stepped back. All that counts is charged now, once.
        if s.newest > now + window then s.moved, s.stamp, s.newest = true, now, now end
        return s
    end,

    -- Nothing always does, of a limit that was lowered too.
    fits = function(s, choice)
        local units = tonumber(ARGV[s.cost_at + choice - 1])
        return units == 0 or s.used + units <= s.limit
    end,

    -- What does not fit fills the window.
    charge = function(s, choice)
        local units = math.min(tonumber(ARGV[s.cost_at + choice - 1]), s.limit - s.used)
        if units <= 0 then return end
        s.added = units
        s.used, s.stamp = s.used + s.added, s.stamp or s.now
        s.newest = s.stamp
    end,

    -- The newest units.
    refund = function(s)
        local left = math.min(tonumber(ARGV[s.cost_at]), s.used)
        s.used, s.after_last = s.used - left, s.after_last - left
        while left > 0 do
            local last = redis.call('ZRANGE', s.key, -1, -1, 'WITHSCORES')
            local before, units = entry(last[1])
            redis.call('ZREM', s.key, last[1])
            if units > left then
                local name = string.format('%016.0f:%.0f', before, units - left)
                redis.call('ZADD', s.key, last[2], name)
            end
            left = left - math.min(left, units)
        end
    end,

    -- Units of the newest entry only: to take them from an older one, all later ones would have to be written anew.
    give_back = function(s, stamp, mark)
        if stamp == s.newest and mark == s.after_last then algorithms.l.refund(s) end
    end,

    put = function(s)
        if s.moved then
            redis.call('DEL', s.key)
            local kept = s.used - (s.added or 0)
            redis.call('ZADD', s.key, string.format('%.0f', s.now), string.format('%016.0f:%.0f', 0, kept))
            s.after_last = kept
        elseif s.oldest then
            redis.call('ZREMRANGEBYSCORE', s.key, '-inf', string.sub(s.oldest, 2))
        end
        if s.added then
            local name = string.format('%016.0f:%.0f', s.after_last, s.added)
            redis.call('ZADD', s.key, string.format('%.0f', s.stamp), name)
            s.after_last = s.after_last + s.added
        end
        redis.call('PEXPIRE', s.key, ttl_ms((s.newest or s.now) + s.window - s.now))
    end,

    -- With the time of the entry by whose end the last cost fits: by doubling from the oldest, then by halves.
    tell = function(s)
        local need = s.used + tonumber(ARGV[s.after - 1]) - s.limit
        if s.added or s.moved or need <= 0 or need > s.used then return { s.used, s.newest or s.now, s.newest or s.now, s.after_last } end
        local low = redis.call('ZCOUNT', s.key, '-inf', string.sub(s.oldest, 2))
        local function is_enough(rank)
            local before, units = entry(redis.call('ZRANGE', s.key, rank, rank)[1])
            return before + units - s.before >= need
        end
        local step, last = 1, redis.call('ZCARD', s.key) - 1
        local high = low
        while high < last and not is_enough(high) do
            low, high, step = high + 1, math.min(last, high + step), step * 2
        end
        while low < high do
            local middle = math.floor((low + high) / 2)
            if is_enough(middle) then high = middle else low = middle + 1 end
        end
        local found = redis.call('ZRANGE', s.key, high, high, 'WITHSCORES')
        return { s.used, s.newest, tonumber(found[2]), s.after_last }
    end,
}
