-- ARGV: id.
local id = ARGV[1]
local row = read(id)
if not row or row.task == LEASES then
    return { 'none' }
end
if row.state == 'running' then
    return { 'running' }
end
if row.state == 'ready' and is_queued(row) then
    return { 'queued already' }
end
local holder = row.unique_key and call('HGET', base .. ':keys:' .. row.task, row.unique_key)
if holder and holder ~= id then
    return { 'taken', holder }
end
local new = copy(row)
if row.state ~= 'ready' then
    new.attempt, new.crashes, new.refusals = '0', '0', '0'
end
new.state, new.due_at = 'ready', text(math.max(now, count(row, 'hold_until')))
new.cancelled_at, new.prune_at = nil, nil
save(id, row, new)
call('PUBLISH', WORK, '')
return { 'queued' }
