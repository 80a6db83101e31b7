-- What every script begins with: the clock, the rows, and the sets in which they are found.
--
-- KEYS[1] is a hash tag. Every other key is made of it, so all of them are in one slot of a cluster. Numbers are texts in the
-- rows, and are written by `text` alone: Lua's own way would cut their last digits off.
local call = redis.call
local base = KEYS[1]
local clock = call('TIME')
local now = clock[1] * 1000000 + clock[2]
local SECOND = 1000000
local LEASES = '$LEASES'
local PATIENCE = $PATIENCE
local FIRST, LAST = -62135596800000000, 253402300799000000
local CANCELLED_KEEP = 86400000000
local LAST_KEY = base .. ':last'
local WORK, NAMES = base .. ':work', base .. ':names'

local function text(number)
    return string.format('%.0f', number)
end

-- What is no number counts as zero: somebody may have edited it.
local function number(value)
    local found = tonumber(value or 0) or 0
    return found == found and found or 0
end

-- What was given, if anything was: the sign before a text says so.
local function given(argument)
    if argument ~= '' then
        return string.sub(argument, 2)
    end
end

-- A number, if one was given.
local function number_text(argument)
    if argument ~= '' then
        return argument
    end
end

-- Before a script's first write. A server that is out of memory, or takes no writes, refuses this one, and then nothing has
-- been written; had a deletion come first, it would stand alone.
local has_begun = false
local function begin()
    if not has_begun then
        has_begun = true
        call('HSET', LAST_KEY, 'at', text(now))
    end
end

-- The first of so many new ids. They never come twice, not even on a server that has lost its data.
local function new_ids(count)
    begin()
    local first = math.max(now, number(call('HGET', LAST_KEY, 'id')) + 1)
    call('HSET', LAST_KEY, 'id', text(first + count - 1))
    return first
end

local function read(id)
    local flat = call('HGETALL', base .. ':job:' .. id)
    if #flat == 0 then
        return nil
    end
    local row = {}
    for i = 1, #flat, 2 do
        row[flat[i]] = flat[i + 1]
    end
    -- What has no task is no row, whoever wrote it.
    return row.task and row or nil
end

local function copy(row)
    local new = {}
    for field, value in pairs(row) do
        new[field] = value
    end
    return new
end

local function flat(row)
    local fields = {}
    for field, value in pairs(row) do
        fields[#fields + 1] = field
        fields[#fields + 1] = value
    end
    return fields
end

-- Two texts as one, which no other two make.
local function pair(one, other)
    return #one .. ':' .. one .. other
end

local function due_set(row)
    if row.state == 'ready' and row.due_at then
        return base .. ':due:' .. (row.priority or '0') .. ':' .. row.task
    end
end

local function wants_set(row)
    if row.state == 'ready' and row.due_at and row.resource then
        return base .. ':wants:' .. pair(row.resource, row.task)
    end
end

local function parked_set(row)
    if row.state == 'ready' and row.parked_rank and row.resource then
        return base .. ':parked:' .. pair(row.resource, row.task)
    end
end

local function running_set(row)
    if row.state == 'running' then
        return base .. ':running:' .. row.task
    end
end

local function hold_set(row)
    if row.state and row.state ~= 'running' and row.hold_until then
        return base .. ':hold:' .. row.task
    end
end

local function prune_set(row)
    if row.state and row.state ~= 'running' and row.prune_at then
        return base .. ':prune'
    end
end

local function is_ended(row)
    return row.state == 'done' or row.state == 'dead' or row.state == 'cancelled'
end

local function keys_hash(row)
    if row.unique_key and (row.state == 'ready' or row.state == 'running') then
        return base .. ':keys:' .. row.task
    end
end

-- From the place in one set to that in another; what is no number has none. Somebody may have edited the row, and an error here
-- would be the end of the whole call, again and again.
local function move(id, from, was, to, is)
    local score = tonumber(is)
    if not score or score ~= score or math.abs(score) == math.huge then
        to = nil
    end
    if from == to and was == is then
        return
    end
    if from and from ~= to then
        call('ZREM', from, id)
    end
    if to then
        call('ZADD', to, is, id)
    end
end

local function index_parked(id, old, new)
    local from, to = parked_set(old), parked_set(new)
    move(id, from, old.parked_rank, to, new.parked_rank)
    if from == to then
        return
    end
    if from then
        call('SREM', base .. ':parked-of:' .. old.task, id)
        if call('EXISTS', from) == 0 then
            call('SREM', base .. ':parked-in:' .. old.resource, old.task)
            if call('EXISTS', base .. ':parked-in:' .. old.resource) == 0 then
                call('SREM', base .. ':parked-names', old.resource)
            end
        end
    end
    if to then
        call('SADD', base .. ':parked-of:' .. new.task, id)
        call('SADD', base .. ':parked-in:' .. new.resource, new.task)
        call('SADD', base .. ':parked-names', new.resource)
    end
end

-- Takes a row out of the sets where it was found, and puts it into those where it is to be found.
local function index(id, old, new)
    local from, to = due_set(old), due_set(new)
    move(id, from, old.due_at, to, new.due_at)
    if to and from ~= to then
        call('SADD', base .. ':lanes:' .. new.task, new.priority or '0')
    end
    if old.resource or new.resource then
        move(id, wants_set(old), old.due_at, wants_set(new), new.due_at)
        index_parked(id, old, new)
    end
    move(id, running_set(old), old.lock_until, running_set(new), new.lock_until)
    if old.owner ~= new.owner then
        if old.owner then
            call('SREM', base .. ':token:' .. old.owner, id)
        end
        if new.owner then
            call('SADD', base .. ':token:' .. new.owner, id)
        end
    end
    from, to = keys_hash(old), keys_hash(new)
    if from ~= to then
        if from and call('HGET', from, old.unique_key) == id then
            call('HDEL', from, old.unique_key)
        end
        if to then
            call('HSET', to, new.unique_key, id)
        end
    end
    move(id, hold_set(old), old.hold_until, hold_set(new), new.hold_until)
    move(id, prune_set(old), old.prune_at, prune_set(new), new.prune_at)
    if is_ended(old) ~= is_ended(new) then
        if is_ended(new) then
            call('ZADD', base .. ':ended', id, id)
        else
            call('ZREM', base .. ':ended', id)
        end
    end
end

-- Writes a row that was `old`, or was not there, and is `new`, or is not there any more.
local function save(id, old, new)
    begin()
    local key = base .. ':job:' .. id
    local set, unset = {}, {}
    for field, value in pairs(new or {}) do
        if not old or old[field] ~= value then
            set[#set + 1] = field
            set[#set + 1] = value
        end
    end
    for field in pairs(new and old or {}) do
        if new[field] == nil then
            unset[#unset + 1] = field
        end
    end
    if #set > 0 then
        call('HSET', key, unpack(set))
    end
    if #unset > 0 then
        call('HDEL', key, unpack(unset))
    end
    if not new then
        call('DEL', key)
    end
    if not (old and new) and (old or new).task ~= LEASES then
        if new then
            call('ZADD', base .. ':all', id, id)
        else
            call('ZREM', base .. ':all', id)
        end
    end
    index(id, old or {}, new or {})
end
