-- ARGV: before which id, most rows, how many to look at, task, states. The newest first. Answers before which id to go on, or
-- nothing, and the rows.
local before, most, look, task = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), given(ARGV[4])
local states, set = {}, base .. ':ended'
for i = 5, #ARGV do
    states[ARGV[i]] = true
    if not is_ended({ state = ARGV[i] }) then
        set = base .. ':all'
    end
end
local ids = call('ZREVRANGEBYSCORE', set, before, '-inf', 'LIMIT', 0, look)
local rows = {}
for _, id in ipairs(ids) do
    local key = base .. ':job:' .. id
    local row = call('HMGET', key, 'state', 'task')
    if states[row[1]] and (not task or row[2] == task) then
        rows[#rows + 1] = { id, call('HGETALL', key) }
        if #rows == most then
            return { '', rows }
        end
    end
end
return { #ids == look and ids[#ids] or '', rows }
