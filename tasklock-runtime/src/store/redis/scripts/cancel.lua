-- ARGV: id. A run is told by its next heartbeat, which is not confirmed.
local id = ARGV[1]
local row = read(id)
if not row or row.task == LEASES then
    return 'none'
end
if row.unique_key == '' then
    return 'standing'
end
if row.state ~= 'ready' and row.state ~= 'running' then
    return 'ended'
end
local new = copy(row)
if row.state == 'ready' then
    cancel(new)
else
    new.cancelled_at = row.cancelled_at or text(now)
end
save(id, row, new)
return row.state
