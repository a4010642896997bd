-- The start of a window and its count.
-- Settings: period, shift of the windows, limit. Each cost: units.
algorithms.f = {
    look = function(key, at, now)
        local period, shift, limit = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
        local costs = tonumber(ARGV[at + 3])
        local start = now - math.fmod(now + shift, period)
        local s = { key = key, now = now, start = start, count = 0, period = period, limit = limit }
        s.costs, s.cost_at, s.after = costs, at + 4, at + 4 + costs
        local stored = redis.call('GET', key)
        if not stored then return s end
        local stored_start, count = string.match(stored, '^(-?%d+):(%d+)$')
        if not stored_start then return nil end
        stored_start = tonumber(stored_start)
        if stored_start < start then return s end
        -- Ahead: the clock stepped back. By more than a window, it would block for as long as that.
        s.start, s.moved = math.min(stored_start, start + period), stored_start > start + period
        s.count = tonumber(count)
        return s
    end,

    -- Nothing always does, of a limit that was lowered too.
    fits = function(s, choice)
        local units = tonumber(ARGV[s.cost_at + choice - 1])
        return units == 0 or s.count + units <= s.limit
    end,

    -- What does not fit fills the window.
    charge = function(s, choice)
        local filled = s.count + tonumber(ARGV[s.cost_at + choice - 1])
        s.count = math.max(s.count, math.min(s.limit, filled))
    end,

    refund = function(s) s.count = math.max(0, s.count - tonumber(ARGV[s.cost_at])) end,

    -- Units of the window that began at a stamp.
    give_back = function(s, stamp)
        if stamp == s.start then s.count = math.max(0, s.count - tonumber(ARGV[s.cost_at])) end
    end,

    put = function(s)
        if s.count == 0 then
            redis.call('DEL', s.key)
            return
        end
        local word = string.format('%.0f:%.0f', s.start, s.count)
        redis.call('SET', s.key, word, 'PX', ttl_ms(s.start + s.period - s.now))
    end,

    tell = function(s) return { s.start, s.count } end,
}
