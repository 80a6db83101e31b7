-- What starts share: tasks and their former names.

-- The name that a former one has now, and until when it is served.
local function aliased(name)
    local value = call('HGET', base .. ':aliases', name)
    if value then
        local at = string.find(value, ':', 1, true)
        return string.sub(value, at + 1), tonumber(string.sub(value, 1, at - 1))
    end
end

local function present(name)
    local task, served = aliased(name)
    if task and served > now then
        return task
    end
    return name
end

-- The row itself, whoever runs it; or, where there is one of the present name, away with it. What was paused is.
local function rename(former, name)
    begin()
    if call('SREM', base .. ':paused', 'task:' .. former) == 1 then
        call('SADD', base .. ':paused', 'task:' .. name)
    end
    local id = call('HGET', base .. ':keys:' .. former, '')
    local row = id and read(id)
    if not row then
        return
    end
    if not call('HGET', base .. ':keys:' .. name, '') then
        local new = copy(row)
        new.task = name
        save(id, row, new)
    elseif row.state == 'ready' then
        save(id, row, nil)
    end
end

-- Jobs that wait and run, but for those whose key is taken; so many at most. Answers whether there may be more.
local function rename_jobs(former, name, most)
    local sets = { base .. ':running:' .. former }
    for _, priority in ipairs(call('SMEMBERS', base .. ':lanes:' .. former)) do
        sets[#sets + 1] = base .. ':due:' .. priority .. ':' .. former
    end
    local ids = {}
    for _, set in ipairs(sets) do
        for _, id in ipairs(call('ZRANGE', set, 0, most - 1)) do
            ids[#ids + 1] = id
        end
    end
    for _, id in ipairs(call('SRANDMEMBER', base .. ':parked-of:' .. former, most)) do
        ids[#ids + 1] = id
    end
    local renamed = 0
    for _, id in ipairs(ids) do
        local row = read(id)
        local key = row and row.unique_key
        local taken = key and (key == '' or call('HGET', base .. ':keys:' .. name, key))
        if row and not taken then
            local new = copy(row)
            new.task = name
            save(id, row, new)
            renamed = renamed + 1
            if renamed == most then
                return true
            end
        end
    end
    return false
end

-- This name is a former one from now on, and so are those that were its own.
local function alias(former, name, lasts)
    begin()
    local aliases, entry = base .. ':aliases', text(now + lasts) .. ':' .. name
    local all = call('HGETALL', aliases)
    for i = 1, #all, 2 do
        local task = aliased(all[i])
        if (task == former or task == name) and all[i] ~= former and all[i] ~= name then
            call('HSET', aliases, all[i], entry)
        end
    end
    call('HSET', aliases, former, entry)
    rename(former, name)
end

-- Whether a name is a former one, under a new one that somebody serves, which is none of these.
local function is_elsewhere(name, formers)
    local now_called = present(name)
    for _, former in ipairs(formers) do
        if former == now_called then
            return false
        end
    end
    return now_called ~= name
end

-- What a start has seen of a standing job: it writes what it makes of that, or looks again.
local SEEN = {
    'task', 'state', 'schedule', 'resource', 'due_at', 'parked_due', 'parked_rank', 'slot_at', 'begun_at', 'again', 'attempt',
    'hold_until', 'next_at', 'next_in', 'versions',
}

local function seen(row)
    local parts = {}
    for i, field in ipairs(SEEN) do
        parts[i] = row[field] and pair(field, row[field]) or ''
    end
    return table.concat(parts, '\n')
end
