-- ARGV: token, worker, limit, most suspects, whether to sweep, whether in a hurry, what to say of this look before its instants;
-- then of each task: name, queue, ttl, most runs or nothing, with how many crashes it is a suspect.
--
-- Answers the clock, how long until something happens or nothing, whether jobs were parked, and the rows: id, whether it was
-- taken over, the second lease's id and fence or nothing, fields.
local token, worker, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])
local suspects, sweeps, hurries, saying = tonumber(ARGV[4]), ARGV[5] == '1', ARGV[6] == '1', ARGV[7]
-- What one script may put aside: the rest waits for the next one.
local PARK_MOST = 1000
-- How many expired rows are looked at, of a task and of all, if all of them are suspects.
local EXPIRED_MOST, EXPIRED_MOST_OF_ALL = 1000, 10000

local paused = {}
for _, what in ipairs(call('SMEMBERS', base .. ':paused')) do
    paused[what] = true
end
local tasks = {}
for i = 8, #ARGV, 5 do
    if not paused['task:' .. ARGV[i]] and not paused['queue:' .. ARGV[i + 1]] then
        tasks[#tasks + 1] = {
            name = ARGV[i],
            ttl = tonumber(ARGV[i + 2]),
            most = tonumber(ARGV[i + 3]),
            suspect = tonumber(ARGV[i + 4]),
        }
    end
end

local function make_room()
    for _, task in ipairs(tasks) do
        if task.most then
            local running = call('ZCARD', base .. ':running:' .. task.name)
            local held = call('ZCOUNT', base .. ':hold:' .. task.name, '(' .. text(now), '+inf')
            task.room = math.max(task.most - running - held, 0)
        end
    end
end

local function any_parked()
    for _, task in ipairs(tasks) do
        if call('EXISTS', base .. ':parked-of:' .. task.name) == 1 then
            return true
        end
    end
end

local claims, parked = {}, 0
local busy = {}

-- Whether the row is the caller's from now on; else it was put aside.
local function take(id, row, task, takeover)
    local new = copy(row)
    new.fence = text(math.max(now, count(row, 'fence') + 1))
    new.attempt = text(count(row, 'attempt') + 1)
    if takeover then
        new.crashes = text(count(row, 'crashes') + 1)
    end
    unhold(new)
    new.state, new.claimed_at = 'running', text(now)
    if row.unique_key == '' then
        new.begun_at = row.begun_at or text(now)
    end
    new.owner, new.worker, new.lock_until = token, worker, text(now + task.ttl)
    local name, lease, fence = row.resource, false, false
    if name then
        if takeover or not busy[name] then
            lease, fence = acquire(name, token, worker, task.ttl, nil, takeover and row.owner)
        end
        if not lease then
            busy[name] = true
            park(new)
            save(id, row, new)
            parked = parked + 1
            return false
        end
    end
    save(id, row, new)
    claims[#claims + 1] = { id, takeover and 1 or 0, lease or '', fence or '', flat(new) }
    return true
end

local function by_rank(one, other)
    if one.rank ~= other.rank then
        return one.rank < other.rank
    end
    return one.id < other.id
end

local function take_expired()
    local expired = {}
    local most = math.min(math.max(math.floor(EXPIRED_MOST_OF_ALL / math.max(#tasks, 1)), 20), EXPIRED_MOST)
    for _, task in ipairs(tasks) do
        local set = base .. ':running:' .. task.name
        local found = call('ZRANGEBYSCORE', set, '-inf', '(' .. text(now), 'WITHSCORES', 'LIMIT', 0, most)
        for i = 1, #found, 2 do
            expired[#expired + 1] = { rank = tonumber(found[i + 1]), id = found[i], task = task, set = set }
        end
    end
    table.sort(expired, by_rank)
    for _, one in ipairs(expired) do
        if #claims == limit then
            return
        end
        local row = read(one.id)
        local is_suspect = row and count(row, 'crashes') >= one.task.suspect
        if not row or row.state ~= 'running' or is_spent(row) then
            call('ZREM', one.set, one.id)
        elseif not is_suspect or suspects > 0 then
            if is_suspect then
                suspects = suspects - 1
            end
            take(one.id, row, one.task, true)
        end
    end
end

-- The next due rows of a lane, a page of them: those of the page before are due no more.
local function fill(lane, page)
    lane.found = call('ZRANGEBYSCORE', lane.set, '-inf', text(now), 'WITHSCORES', 'LIMIT', 0, page)
    lane.is_last = #lane.found < 2 * page
    lane.at = -1
end

local function advance(lane, page)
    lane.at = lane.at + 2
    if lane.at > #lane.found and not lane.is_last then
        fill(lane, page)
        lane.at = 1
    end
    lane.id = lane.found[lane.at]
    lane.rank = lane.id and tonumber(lane.found[lane.at + 1]) - lane.priority * SECOND
    return lane.id ~= nil
end

-- The lane whose first row comes first is at the top.
local function sift(heap, at)
    local lane = heap[at]
    while true do
        local child = 2 * at
        if child < #heap and by_rank(heap[child + 1], heap[child]) then
            child = child + 1
        end
        if child > #heap or not by_rank(heap[child], lane) then
            break
        end
        heap[at] = heap[child]
        at = child
    end
    heap[at] = lane
end

-- A lane for each priority of each task: no more of them is read than is taken, and a page of each.
local function lanes()
    local all = {}
    for _, task in ipairs(tasks) do
        if task.room ~= 0 then
            for _, priority in ipairs(call('SMEMBERS', base .. ':lanes:' .. task.name)) do
                local set = base .. ':due:' .. priority .. ':' .. task.name
                all[#all + 1] = { task = task, priority = tonumber(priority) or 0, set = set }
            end
        end
    end
    local page = math.min(limit - #claims, math.ceil(limit / math.max(#all, 1)) + 1)
    local heap = {}
    for _, lane in ipairs(all) do
        fill(lane, page)
        if advance(lane, page) then
            heap[#heap + 1] = lane
        end
    end
    for at = math.floor(#heap / 2), 1, -1 do
        sift(heap, at)
    end
    return heap, page
end

local function take_due()
    if #claims == limit then
        return
    end
    local heap, page = lanes()
    while #heap > 0 and #claims < limit and parked < PARK_MOST do
        local lane = heap[1]
        local task = lane.task
        if task.room ~= 0 then
            local row = read(lane.id)
            if not row or row.state ~= 'ready' or is_spent(row) then
                call('ZREM', lane.set, lane.id)
            elseif take(lane.id, row, task, false) and task.room then
                task.room = task.room - 1
            end
        end
        if task.room == 0 or not advance(lane, page) then
            heap[1] = heap[#heap]
            heap[#heap] = nil
        end
        if #heap > 1 then
            sift(heap, 1)
        end
    end
end

local function first_of(set)
    return tonumber(call('ZRANGE', set, 0, 0, 'WITHSCORES')[2])
end

-- When something can happen to these tasks next: a row falls due, if there is room for it, or else a place is held no longer;
-- a lease expires; or somebody has to look whether the holder of a resource has died.
local function next_event()
    local at = math.huge
    for _, task in ipairs(tasks) do
        at = math.min(at, first_of(base .. ':running:' .. task.name) or at)
        if task.room == 0 then
            local hold = base .. ':hold:' .. task.name
            local found = call('ZRANGEBYSCORE', hold, '(' .. text(now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
            at = math.min(at, tonumber(found[2]) or at)
        else
            for _, priority in ipairs(call('SMEMBERS', base .. ':lanes:' .. task.name)) do
                local due = first_of(base .. ':due:' .. priority .. ':' .. task.name)
                if due then
                    at = math.min(at, due)
                else
                    call('SREM', base .. ':lanes:' .. task.name, priority)
                end
            end
        end
    end
    if any_parked() then
        at = math.min(at, now + SECOND)
    end
    return at < math.huge and at or nil
end

if sweeps and any_parked() then
    local unparked = 0
    for _, name in ipairs(call('SRANDMEMBER', base .. ':parked-names', PARK_MOST)) do
        unparked = unparked + unpark(name)
    end
    if unparked > 0 then
        call('PUBLISH', WORK, '')
    end
end
if not hurries then
    take_expired()
end
make_room()
take_due()
make_room()
local at = next_event()
if parked >= PARK_MOST then
    at = now
end
if saying ~= '' and #claims > 0 and (not at or at > now) then
    call('PUBLISH', WORK, saying .. text(now) .. ' ' .. (at and text(at) or ''))
end
return { text(now), at and text(math.max(at - now, 0)) or '', parked > 0 and 1 or 0, claims }
