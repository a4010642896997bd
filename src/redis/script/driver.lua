-- KEYS: a key for each rule. ARGV: the time or nothing, what to do, and for each rule its algorithm, settings, the number of
-- costs and the costs, of which the first that fits is charged: only one rule alone has more than one. All rules are charged, or none.
-- To `force`, the last key marks that it was done: a repeated call does nothing.
-- To `give_back`, the last two arguments are what `tell` told of the units when they were charged.
local now, action, at, rules = clock(ARGV[1]), ARGV[2], 3, #KEYS
if action == 'force' then rules = rules - 1 end

local states, choice = {}, 1
for i = 1, rules do
    local algorithm = algorithms[ARGV[at]]
    local s = algorithm.look(KEYS[i], at + 1, now)
    if not s then return redis.error_reply('WRONGTYPE a key holds what tollgate has not written') end
    s.algorithm, states[i], at = algorithm, s, s.after
end

for _, s in ipairs(states) do
    local fitting = 0
    for j = 1, s.costs do
        if s.algorithm.fits(s, j) then
            fitting = j
            break
        end
    end
    s.is_fitting = fitting > 0
    if choice > 0 then choice = fitting end
end

-- Only now, as nothing can be refused any more: what is marked is charged.
if action == 'force' and not redis.call('SET', KEYS[#KEYS], '1', 'NX', 'PX', '600000') then action = 'peek' end

if action ~= 'peek' then
    for _, s in ipairs(states) do
        if action == 'take' and choice > 0 then
            s.algorithm.charge(s, choice, true)
        elseif action == 'force' then
            s.algorithm.charge(s, 1, s.is_fitting)
        elseif action == 'refund' then
            s.algorithm.refund(s)
        elseif action == 'give_back' then
            s.algorithm.give_back(s, tonumber(ARGV[#ARGV - 1]), tonumber(ARGV[#ARGV]))
        end
        -- A refusal writes nothing, but what the clock left ahead of any time is put right.
        if action ~= 'take' or choice > 0 or s.moved then s.algorithm.put(s) end
    end
end

local reply = { choice, now }
for i, s in ipairs(states) do reply[i + 2] = s.algorithm.tell(s) end
return reply
