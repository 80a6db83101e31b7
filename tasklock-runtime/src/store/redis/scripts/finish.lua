-- ARGV: whether the ends free places that other workers may wait for; then of each end: id, fence, owner, next at, next in,
-- outcome, error, state, what counts, keep, hold, next slot, missed slots, skipped ones, what the claim was told that follows
-- (two), whether nothing is kept of it. What counts: 0, attempts start anew; 1, this one counts; 2, it does not; 3, it was a
-- refusal. Answers the ids that were written.
local frees_place = ARGV[1] == '1'

local function bounded(at)
    return text(math.min(math.max(at, FIRST), LAST))
end

-- What a start has written while the run was under way counts, and not what its owner was told before: the slot and the due
-- time, or nothing.
local function changed_slot(row, told_at, told_in)
    if row.next_at == told_at and row.next_in == told_in or not (row.next_at or row.next_in) then
        return false
    end
    local next_at, next_in, slot = tonumber(row.next_at), tonumber(row.next_in), tonumber(row.slot_at)
    if not (next_at or next_in) or next_at and slot and next_at <= slot then
        return false
    end
    if next_in and next_in < 0 then
        return true
    end
    if next_at then
        return true, row.next_at, text(next_at + (next_in or 0))
    end
    return true, bounded(now + next_in), bounded(now + next_in)
end

local function end_run(row, e)
    local new = copy(row)
    local hold
    if e.hold then
        hold = math.min(math.max(count(row, 'claimed_at'), 0), now) + tonumber(e.hold)
    end
    local function not_before_hold(due)
        if due and hold and tonumber(due) < hold then
            return text(hold)
        end
        return due
    end
    unhold(new)
    new.state = e.state
    if e.state == 'ready' and to_cancel(row) then
        new.state = 'cancelled'
    end
    new.finished_at, new.last_outcome, new.last_error = text(now), e.outcome, e.error
    new.missed = text(count(row, 'missed') + tonumber(e.missed))
    new.skipped = text(count(row, 'skipped') + tonumber(e.skipped))
    new.hold_until = hold and hold > now and text(hold) or nil
    if e.counts == '0' then
        local slot, due = e.slot_at, e.next_at
        if e.next_in then
            slot = bounded(now + tonumber(e.next_in))
            due = slot
        end
        local has_changed, changed, changed_due = changed_slot(row, e.told_at, e.told_in)
        if has_changed then
            slot, due = changed, changed_due
        end
        if row.again and not (due and tonumber(due) < now) then
            due = text(now)
        end
        new.attempt, new.crashes, new.refusals = '0', '0', '0'
        new.begun_at, new.again, new.next_at, new.next_in = nil, nil, nil, nil
        new.slot_at = slot
        if new.state == 'ready' then
            new.due_at = not_before_hold(due)
        end
    else
        if e.counts ~= '1' then
            new.attempt = text(math.max(count(row, 'attempt') - 1, 0))
        end
        if e.counts == '3' then
            new.refusals = text(count(row, 'refusals') + 1)
        end
        new.slot_at = e.slot_at or row.slot_at
        if new.state == 'ready' then
            new.due_at = not_before_hold(bounded(now + tonumber(e.next_in)))
        end
    end
    new.prune_at = nil
    if new.state ~= 'ready' or row.task == LEASES then
        local keep = e.keep and tonumber(e.keep) or CANCELLED_KEEP
        new.prune_at = text(math.max(now + keep, hold or now))
    end
    return new
end

local finished, names = {}, {}
for i = 2, #ARGV, 17 do
    local id, away = ARGV[i], ARGV[i + 16] == '1'
    local row = held(id, ARGV[i + 1], ARGV[i + 2])
    if row then
        local new
        if not away then
            new = end_run(row, {
                next_at = number_text(ARGV[i + 3]),
                next_in = number_text(ARGV[i + 4]),
                outcome = ARGV[i + 5],
                error = given(ARGV[i + 6]),
                state = ARGV[i + 7],
                counts = ARGV[i + 8],
                keep = number_text(ARGV[i + 9]),
                hold = number_text(ARGV[i + 10]),
                slot_at = number_text(ARGV[i + 11]),
                missed = ARGV[i + 12],
                skipped = ARGV[i + 13],
                told_at = number_text(ARGV[i + 14]),
                told_in = number_text(ARGV[i + 15]),
            })
        end
        save(id, row, new)
        finished[#finished + 1] = id
        if row.task == LEASES then
            names[#names + 1] = row.unique_key
        elseif new and ARGV[i + 8] == '0' and new.due_at and not frees_place then
            call('PUBLISH', WORK, 'due ' .. new.due_at .. ' ' .. row.task)
        end
    end
end
for _, name in ipairs(names) do
    free(name, true)
end
if frees_place then
    call('PUBLISH', WORK, '')
end
return finished
