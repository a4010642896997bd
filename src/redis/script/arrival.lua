-- A theoretical arrival time: whole microseconds, and num / den of another. Then, in microseconds, what leases have given back, by
-- which the units of later ones have moved up. Idle keys are absent. The word is an `a` and these four as packed doubles, which are
-- read and written in half the time of decimal digits.
-- Settings: a full burst as us and num, den. Each cost: us and num.
algorithms.a = {
    look = function(key, at, now)
        local full_us, full_num, den = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
        local costs = tonumber(ARGV[at + 3])
        local s = { key = key, now = now, us = now, num = 0, den = den, returned = 0, costs = costs, cost_at = at + 4 }
        s.top_us, s.top_num, s.after = now + full_us, full_num, at + 4 + 2 * costs
        local stored = redis.call('GET', key)
        if not stored then return s end
        local mark, us, num, stored_den, returned = 0
        if #stored == 33 then mark, us, num, stored_den, returned = struct.unpack('<Bdddd', stored) end
        if mark ~= 97 then return nil end
        s.returned = returned
        -- Of another quota: rounded up.
        if stored_den ~= den then us, num = us + 1, 0 end
        if us >= now then s.us, s.num = us, num end
        -- Further ahead than a full burst: the clock stepped back, or the quota was lowered.
        if s.us > s.top_us or s.us == s.top_us and s.num > s.top_num then
            s.us, s.num, s.moved = s.top_us, s.top_num, true
        end
        return s
    end,

    fits = function(s, choice)
        local at = s.cost_at + 2 * choice - 2
        local us, num = s.us + tonumber(ARGV[at]), s.num + tonumber(ARGV[at + 1])
        if num >= s.den then us, num = us + 1, num - s.den end
        s.next_us, s.next_num = us, num
        return us < s.top_us or us == s.top_us and num <= s.top_num
    end,

    -- After `fits` with the same choice. What does not fit fills the burst.
    charge = function(s, _, fitted)
        if fitted then
            s.us, s.num = s.next_us, s.next_num
        else
            s.us, s.num = s.top_us, s.top_num
        end
    end,

    refund = function(s)
        s.us, s.num = s.us - tonumber(ARGV[s.cost_at]), s.num - tonumber(ARGV[s.cost_at + 1])
        if s.num < 0 then s.us, s.num = s.us - 1, s.num + s.den end
        if s.us < s.now then s.us, s.num = s.now, 0 end
    end,

    -- Of units whose charge left the arrival time at a stamp, what has not come back by itself, in whole microseconds.
    give_back = function(s, stamp, mark)
        if mark > s.returned then return end
        local to_come = stamp - (s.returned - mark) - s.now
        local given = math.min(tonumber(ARGV[s.cost_at]), to_come, s.us - s.now)
        if given <= 0 then return end
        s.us, s.returned = s.us - given, s.returned + given
    end,

    put = function(s)
        if s.us == s.now and s.num == 0 then
            redis.call('DEL', s.key)
            return
        end
        redis.call('SET', s.key, struct.pack('<Bdddd', 97, s.us, s.num, s.den, s.returned), 'PX', ttl_ms(s.us + 1 - s.now))
    end,

    tell = function(s) return { s.us, s.num, s.returned } end,
}
