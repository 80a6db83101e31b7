-- ARGV: most. Answers how many rows were looked at, and how many deleted.
local ids = call('ZRANGEBYSCORE', base .. ':prune', '-inf', text(now), 'LIMIT', 0, ARGV[1])
local pruned = 0
for _, id in ipairs(ids) do
    local row = read(id)
    if row and (is_ended(row) or row.state == 'ready' and row.task == LEASES) then
        save(id, row, nil)
        pruned = pruned + 1
    else
        call('ZREM', base .. ':prune', id)
    end
end
return { #ids, pruned }
