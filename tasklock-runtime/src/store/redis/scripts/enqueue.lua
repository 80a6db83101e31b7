-- ARGV, of each job: task, payload, priority, unique key, due at, due in, resource. Answers of each: its id, and whether it is new.
local answers, first = {}, nil
for i = 1, #ARGV, 7 do
    local task, key = ARGV[i], given(ARGV[i + 3])
    local holder = key and call('HGET', base .. ':keys:' .. task, key)
    if holder then
        answers[#answers + 1] = { holder, 0 }
    else
        first = first or new_ids((#ARGV - i + 1) / 7)
        local id = text(first)
        first = first + 1
        save(id, nil, {
            task = task,
            state = 'ready',
            payload = given(ARGV[i + 1]),
            priority = ARGV[i + 2],
            unique_key = key,
            resource = given(ARGV[i + 6]),
            due_at = number_text(ARGV[i + 4]) or text(math.min(now + tonumber(ARGV[i + 5]), LAST)),
            created_at = text(now),
        })
        answers[#answers + 1] = { id, 1 }
    end
end
if first then
    call('PUBLISH', WORK, '')
end
return answers
