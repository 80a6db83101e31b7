-- ARGV: task, how long a former name lasts in µs, most jobs to rename, whether it has a standing job, former names. Answers whether it
-- goes by a newer name; the clock; its standing job's id, fields, and what a write has to find unchanged.
local task, formers = ARGV[1], {}
for i = 5, #ARGV do
    formers[#formers + 1] = ARGV[i]
end
if is_elsewhere(task, formers) then
    return { 1, text(now) }
end
local newer = aliased(task)
if newer then
    begin()
    call('HDEL', base .. ':aliases', task)
    rename(newer, task)
    rename_jobs(newer, task, tonumber(ARGV[3]))
end
for _, former in ipairs(formers) do
    alias(former, task, tonumber(ARGV[2]))
end
local id = ARGV[4] == '1' and call('HGET', base .. ':keys:' .. task, '')
local row = id and read(id)
if row then
    return { 0, text(now), id, flat(row), seen(row) }
end
return { 0, text(now) }
