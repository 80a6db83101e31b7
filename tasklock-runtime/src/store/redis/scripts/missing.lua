-- ARGV: version, oldest that can work with it, a new id, tasks. Answers those that have no standing job, and should. Where the
-- server has lost its data, it is said again which version's this is.
if call('EXISTS', base .. ':store') == 0 then
    begin()
    call('HSET', base .. ':store', 'version', ARGV[1], 'oldest', ARGV[2], 'id', ARGV[3])
end
local missing = {}
for i = 4, #ARGV do
    local task = ARGV[i]
    if call('HEXISTS', base .. ':keys:' .. task, '') == 0 and present(task) == task then
        missing[#missing + 1] = task
    end
end
return missing
