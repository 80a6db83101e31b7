-- ARGV, of each lease: id, fence, owner, ttl, done, of how much in all. Answers the ids that are confirmed. A run that is to be
-- cancelled is not renewed, and learns so.
local renewed = {}
for i = 1, #ARGV, 6 do
    local id = ARGV[i]
    local key = base .. ':job:' .. id
    local row = call('HMGET', key, 'state', 'fence', 'owner', 'lock_until', 'cancelled_at', 'unique_key', 'task')
    local cancelled = row[5] and row[6] ~= ''
    if row[1] == 'running' and row[2] == ARGV[i + 1] and row[3] == ARGV[i + 2] and not cancelled then
        begin()
        local till = text(math.max(number(row[4]), now + tonumber(ARGV[i + 3])))
        if ARGV[i + 4] ~= '' then
            call('HSET', key, 'lock_until', till, 'progress_done', ARGV[i + 4], 'progress_total', ARGV[i + 5])
        else
            call('HSET', key, 'lock_until', till)
        end
        call('ZADD', base .. ':running:' .. row[7], till, id)
        renewed[#renewed + 1] = id
    end
end
return renewed
