-- ARGV: task, schedule, due, resource, slot, version. A new standing job, if there is none. Answers whether it was written.
local task = ARGV[1]
if call('HGET', base .. ':keys:' .. task, '') then
    return 0
end
save(text(new_ids(1)), nil, {
    task = task,
    state = 'ready',
    unique_key = '',
    priority = '0',
    schedule = given(ARGV[2]),
    due_at = number_text(ARGV[3]),
    resource = given(ARGV[4]),
    slot_at = number_text(ARGV[5]),
    versions = given(ARGV[6]),
    created_at = text(now),
})
call('PUBLISH', WORK, '')
return 1
