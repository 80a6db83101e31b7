-- ARGV: task, how long a former name lasts, with how much left it is said again, most jobs to rename, former names. Answers
-- whether there may be more to rename.
local task, formers, lapsing = ARGV[1], {}, false
for i = 5, #ARGV do
    formers[#formers + 1] = ARGV[i]
end
if is_elsewhere(task, formers) then
    return 0
end
for _, former in ipairs(formers) do
    local name, served = aliased(former)
    lapsing = lapsing or name ~= task or served <= now + tonumber(ARGV[3])
end
local more = 0
for _, former in ipairs(formers) do
    if lapsing then
        alias(former, task, tonumber(ARGV[2]))
    elseif call('HEXISTS', base .. ':keys:' .. former, '') == 1
        or call('SISMEMBER', base .. ':paused', 'task:' .. former) == 1 then
        rename(former, task)
    end
    if rename_jobs(former, task, tonumber(ARGV[4])) then
        more = 1
    end
end
if has_begun then
    call('PUBLISH', WORK, '')
end
return more
