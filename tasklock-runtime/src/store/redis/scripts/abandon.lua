-- ARGV: token. Gives back whatever it holds; answers how much that was.
local names, count_of = {}, 0
for _, id in ipairs(call('SMEMBERS', base .. ':token:' .. ARGV[1])) do
    local row = read(id)
    if row and row.state == 'running' and row.owner == ARGV[1] then
        local new = copy(row)
        give_back(new)
        save(id, row, new)
        count_of = count_of + 1
        if row.task == LEASES then
            names[#names + 1] = row.unique_key
        end
    end
end
for _, name in ipairs(names) do
    free(name, true)
end
if count_of > #names then
    call('PUBLISH', WORK, '')
end
return count_of
