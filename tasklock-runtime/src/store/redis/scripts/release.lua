-- ARGV: whether those who wait for names are told; then of each lease: id, fence, owner. Answers the ids that were given back.
local released, names, jobs = {}, {}, 0
for i = 2, #ARGV, 3 do
    local id = ARGV[i]
    local row = held(id, ARGV[i + 1], ARGV[i + 2])
    if row then
        local new = copy(row)
        new.prune_at = nil
        give_back(new)
        save(id, row, new)
        released[#released + 1] = id
        if row.task == LEASES then
            names[#names + 1] = row.unique_key
        else
            jobs = jobs + 1
        end
    end
end
if ARGV[1] == '1' then
    for _, name in ipairs(names) do
        free(name, true)
    end
end
if jobs > 0 then
    call('PUBLISH', WORK, '')
end
return released
