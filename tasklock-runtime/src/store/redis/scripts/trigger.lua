-- ARGV: task, or a former name of it.
local task = present(ARGV[1])
local id = call('HGET', base .. ':keys:' .. task, '')
local row = id and read(id)
if not row then
    return 'none'
end
if row.state ~= 'ready' then
    return 'running'
end
if is_queued(row) then
    return 'queued already'
end
local new = copy(row)
new.due_at = text(math.max(now, count(row, 'hold_until')))
save(id, row, new)
call('PUBLISH', WORK, '')
return 'queued'
