-- ARGV: ids. Answers the clock, and of each row that is there its id and fields.
local rows = {}
for _, id in ipairs(ARGV) do
    local fields = call('HGETALL', base .. ':job:' .. id)
    if #fields > 0 then
        rows[#rows + 1] = { id, fields }
    end
end
return { text(now), rows }
