-- What happens to rows that are held, and to names: whoever waits for them, and jobs that are parked for them.

local function count(row, field)
    return number(row[field])
end

-- Lua counts exactly up to here: a greater fence might be given out twice, and its row is left alone.
local LAST_FENCE = 2 ^ 53 - 2

local function is_spent(row)
    return count(row, 'fence') > LAST_FENCE
end

-- Whether a row that waits is due, or waits for its resource.
local function is_queued(row)
    local due = tonumber(row.due_at)
    return row.parked_rank or due and due <= now
end

local function to_cancel(row)
    return row.cancelled_at and row.unique_key ~= ''
end

local function held(id, fence, owner)
    local row = read(id)
    if row and row.state == 'running' and row.fence == fence and row.owner == owner then
        return row
    end
end

local function unhold(row)
    row.owner, row.worker, row.lock_until = nil, nil, nil
    row.progress_done, row.progress_total = nil, nil
end

-- A row that is not running.
local function cancel(row)
    row.state = 'cancelled'
    row.due_at = row.due_at or row.parked_due
    row.parked_due, row.parked_rank = nil, nil
    row.cancelled_at = row.cancelled_at or text(now)
    row.finished_at = text(now)
    row.last_outcome = 'cancelled'
    row.prune_at = text(math.max(now + CANCELLED_KEEP, count(row, 'hold_until')))
end

local function give_back(row)
    unhold(row)
    row.state = 'ready'
    row.attempt = text(math.max(count(row, 'attempt') - 1, 0))
    if row.task == LEASES then
        row.prune_at = text(now + CANCELLED_KEEP)
    elseif to_cancel(row) then
        cancel(row)
    end
end

-- A row that was just taken, or is due, is put aside until its resource is free.
local function park(row)
    unhold(row)
    row.state = 'ready'
    row.attempt = text(math.max(count(row, 'attempt') - 1, 0))
    if to_cancel(row) then
        cancel(row)
        return
    end
    row.parked_due = row.due_at or text(now)
    row.parked_rank = text(count(row, 'parked_due') - count(row, 'priority') * SECOND)
    row.due_at = nil
end

local function named(name)
    local id = call('HGET', base .. ':keys:' .. LEASES, name)
    if id then
        return id, read(id)
    end
end

-- Until when somebody has the name: a row that does not say so is left alone.
local function held_until(row)
    if row and row.state == 'running' then
        local till = tonumber(row.lock_until)
        if not till then
            return now
        end
        return till >= now and till or nil
    end
end

-- Who is first in the line for a name, and for how long. Whoever has died before is taken out of it.
local function first_in_line(name)
    local line, patience = base .. ':line:' .. name, base .. ':patience:' .. name
    while true do
        local ticket = call('ZRANGE', line, 0, 0)[1]
        if not ticket then
            return nil
        end
        local till = tonumber(call('ZSCORE', patience, ticket) or 0)
        if till > now then
            return ticket, till
        end
        call('ZREM', line, ticket)
        call('ZREM', patience, ticket)
    end
end

local function leave_line(name, ticket)
    if call('ZREM', base .. ':line:' .. name, ticket) == 1 then
        call('ZREM', base .. ':patience:' .. name, ticket)
    end
end

-- A place that lasts for long enough is not written again.
local function stand_in_line(name, ticket)
    local line, patience = base .. ':line:' .. name, base .. ':patience:' .. name
    if tonumber(call('ZSCORE', patience, ticket) or 0) - now > PATIENCE / 2 then
        return
    end
    begin()
    if not call('ZSCORE', line, ticket) then
        call('ZADD', line, call('HINCRBY', LAST_KEY, 'place', 1), ticket)
    end
    call('ZADD', patience, text(now + PATIENCE), ticket)
    -- Where nobody asks for the name any more, its line goes by itself.
    call('PEXPIRE', line, 60000)
    call('PEXPIRE', patience, 60000)
end

-- Of a name that nobody holds or waits for: the first parked job of each task falls due again, unless one is due already.
-- Answers how many do.
local function unpark(name)
    if call('SISMEMBER', base .. ':parked-names', name) == 0 then
        return 0
    end
    local _, row = named(name)
    if held_until(row) or first_in_line(name) then
        return 0
    end
    local unparked = 0
    for _, task in ipairs(call('SMEMBERS', base .. ':parked-in:' .. name)) do
        local place = pair(name, task)
        local id = call('ZRANGE', base .. ':parked:' .. place, 0, 0)[1]
        if id and call('ZCOUNT', base .. ':wants:' .. place, '-inf', text(now)) == 0 then
            local job = read(id)
            if job then
                local new = copy(job)
                new.due_at = job.due_at or job.parked_due
                new.parked_due, new.parked_rank = nil, nil
                save(id, job, new)
                unparked = unparked + 1
            else
                call('ZREM', base .. ':parked:' .. place, id)
            end
        end
    end
    return unparked
end

-- A name was given back: jobs fall due that are parked for it; who is first in the line is told, or else the name is, but
-- not where nobody is known to wait and that suffices.
local function free(name, awaited_only)
    local is_parked = call('SISMEMBER', base .. ':parked-names', name) == 1
    if is_parked and unpark(name) > 0 then
        call('PUBLISH', WORK, '')
    end
    local ticket = first_in_line(name)
    if ticket then
        call('PUBLISH', NAMES, 't' .. ticket)
    elseif is_parked or not awaited_only then
        call('PUBLISH', NAMES, 'n' .. name)
    end
end

-- Takes a name that is free, for the first in the line. `before` has lost the run that is taken over, and with it both of its
-- leases. Answers the row's id and the fence, or nothing and for how long somebody else has it.
local function acquire(name, owner, worker, ttl, ticket, before)
    local id, row = named(name)
    local inherits = row and before and row.state == 'running' and row.owner == before
    local till = not inherits and held_until(row)
    local first, lasts = first_in_line(name)
    if not till and first and first ~= ticket then
        till = lasts
        if inherits then
            local new = copy(row)
            give_back(new)
            save(id, row, new)
            free(name)
        end
    end
    if row and is_spent(row) then
        return nil, 0
    end
    if till then
        if ticket then
            stand_in_line(name, ticket)
        end
        return nil, math.max(till - now, 0)
    end
    begin()
    if ticket then
        leave_line(name, ticket)
    end
    local new = row and copy(row) or { task = LEASES, unique_key = name, created_at = text(now) }
    local last = number(call('HGET', LAST_KEY, 'fence'))
    local fence = text(math.max(now, last + 1, count(new, 'fence') + 1))
    call('HSET', LAST_KEY, 'fence', fence)
    unhold(new)
    new.state, new.fence, new.owner, new.worker = 'running', fence, owner, worker
    new.attempt, new.crashes, new.claimed_at = '1', '0', text(now)
    new.lock_until = text(now + tonumber(ttl))
    new.cancelled_at, new.prune_at = nil, nil
    if not row then
        id = text(new_ids(1))
    end
    save(id, row, new)
    return id, fence
end
