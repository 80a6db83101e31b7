-- ARGV: ids of named leases that were given back, or are not ours any more.
for _, id in ipairs(ARGV) do
    local row = call('HMGET', base .. ':job:' .. id, 'task', 'unique_key')
    if row[1] == LEASES and row[2] then
        free(row[2], true)
    end
end
return 0
