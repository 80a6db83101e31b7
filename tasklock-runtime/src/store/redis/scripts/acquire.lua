-- ARGV, of each name: it, owner, worker, ttl, ticket. Answers of each: id and fence, or nothing and for how long it is held.
local answers = {}
for i = 1, #ARGV, 5 do
    local id, what = acquire(ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], given(ARGV[i + 4]))
    answers[#answers + 1] = { id or '', id and what or text(what) }
end
return answers
