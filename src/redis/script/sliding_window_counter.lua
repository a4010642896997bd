-- The start of a window, its count, and the count of the window before.
-- Settings: period, shift of the windows, limit. Each cost: units.

-- Whether a * b <= c * d. Counts are below 2^27 and times below 2^49, so halves of the times keep every product exact.
local function is_at_most(a, b, c, d)
    local half = 16777216
    local left, right = a * math.fmod(b, half), c * math.fmod(d, half)
    local left_high = a * math.floor(b / half) + math.floor(left / half)
    local right_high = c * math.floor(d / half) + math.floor(right / half)
    if left_high ~= right_high then return left_high < right_high end
    return math.fmod(left, half) <= math.fmod(right, half)
end

algorithms.c = {
    look = function(key, at, now)
        local period, shift, limit = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
        local costs = tonumber(ARGV[at + 3])
        local start = now - math.fmod(now + shift, period)
        local s = { key = key, now = now, start = start, current = 0, previous = 0, period = period, limit = limit }
        s.costs, s.cost_at, s.after = costs, at + 4, at + 4 + costs
        local stored = redis.call('GET', key)
        if not stored then return s end
        local stored_start, current, previous = string.match(stored, '^(-?%d+):(%d+):(%d+)$')
        if not stored_start then return nil end
        stored_start = tonumber(stored_start)
        if stored_start >= start then
            -- Ahead: the clock stepped back. By more than a window, it would block for as long as that.
            s.start, s.moved = math.min(stored_start, start + period), stored_start > start + period
            s.current, s.previous = tonumber(current), tonumber(previous)
        elseif stored_start == start - period then
            s.previous = tonumber(current)
        end
        return s
    end,

    -- Nothing always does, of a limit that was lowered too.
    fits = function(s, choice)
        local units = tonumber(ARGV[s.cost_at + choice - 1])
        local room = s.limit - s.current - units
        if units == 0 then return true end
        if room < 0 then return false end
        local covered = s.period - math.max(0, s.now - s.start)
        return is_at_most(s.previous, covered, room, s.period)
    end,

    -- What does not fit fills the window: more than the limit would weigh on the next one, and those after it.
    charge = function(s, choice)
        local filled = s.current + tonumber(ARGV[s.cost_at + choice - 1])
        s.current = math.max(s.current, math.min(s.limit, filled))
    end,

    refund = function(s)
        local units = tonumber(ARGV[s.cost_at])
        local from_current = math.min(units, s.current)
        s.current = s.current - from_current
        s.previous = math.max(0, s.previous - (units - from_current))
    end,

    -- Units of the window that began at a stamp.
    give_back = function(s, stamp)
        local units = tonumber(ARGV[s.cost_at])
        if stamp == s.start then
            s.current = math.max(0, s.current - units)
        elseif stamp == s.start - s.period then
            s.previous = math.max(0, s.previous - units)
        end
    end,

    put = function(s)
        if s.current == 0 and s.previous == 0 then
            redis.call('DEL', s.key)
            return
        end
        local word = string.format('%.0f:%.0f:%.0f', s.start, s.current, s.previous)
        redis.call('SET', s.key, word, 'PX', ttl_ms(s.start + 2 * s.period - s.now))
    end,

    tell = function(s) return { s.start, s.current, s.previous } end,
}
