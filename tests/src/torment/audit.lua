-- In front of a script of the store's: what it writes in rows is recorded in the same step. See `scripts.rs`.
local redis, record = (function(real)
    local LEASES = '$LEASES'
    local prefix = KEYS[1] .. ':job:'
    -- Whatever is not known to read is taken for a write.
    local reads = { HGETALL = true, HMGET = true, HGET = true, HEXISTS = true, EXISTS = true }
    local before, order = {}, {}

    local function image(key)
        local flat, row = real.call('HGETALL', key), {}
        for i = 1, #flat, 2 do
            row[flat[i]] = flat[i + 1]
        end
        return #flat > 0 and row or nil
    end

    local function call(command, ...)
        if not reads[command] then
            for i = 1, select('#', ...) do
                local key = select(i, ...)
                if type(key) == 'string' and string.sub(key, 1, #prefix) == prefix and not before[key] then
                    before[key] = { row = image(key) }
                    order[#order + 1] = key
                end
            end
        end
        return real.call(command, ...)
    end

    local function with(row, changes)
        local new = {}
        for field, value in pairs(row) do
            new[field] = value
        end
        for field, value in pairs(changes) do
            new[field] = value
        end
        return new
    end

    -- The owner of a lease, if whoever has called shows its token; else it is somebody else who writes.
    local function whose(row)
        for _, argument in ipairs(ARGV) do
            if argument == row.owner then
                return row.owner
            end
        end
        return 'not ' .. (row.owner or 'nobody')
    end

    local function record()
        -- Jobs first: whoever takes a run over inherits its name by that.
        local jobs, names, taken = {}, {}, {}
        for _, key in ipairs(order) do
            local old, new = before[key].row, image(key)
            local is_name = (new or old or {}).task == LEASES
            local list = is_name and names or jobs
            list[#list + 1] = { id = string.sub(key, #prefix + 1), old = old, new = new }
            if old and new and not is_name and old.state == 'running' and old.fence ~= new.fence then
                taken[old.owner or ''] = true
            end
        end
        local entries = {}
        local function add(op, one, row, held, owner, till, was, state)
            entries[#entries + 1] = {
                op, one.id, held.fence or 0, owner or '', till or 0, was, state, row.last_outcome or cjson.null,
                row.attempt or 0, row.crashes or 0, row.task or '', row.unique_key or cjson.null,
                row.payload or cjson.null, row.resource or cjson.null,
            }
        end
        local function ended(one, old, new)
            -- Of a run that is taken over the name may be given back by whoever does that.
            local owner = taken[old.owner or ''] and old.owner or whose(old)
            local op = new.finished_at ~= old.finished_at and 'finish' or 'release'
            add(op, one, new, old, owner, nil, 'running', new.state)
        end
        local function compare(one)
            local old, new = one.old, one.new
            if not old and not new then
                return
            elseif not old then
                local op = new.state == 'running' and 'acquire' or 'enter'
                add(op, one, new, new, new.owner, new.lock_until, '', new.state)
            elseif not new then
                if old.state == 'running' then
                    add('finish', one, old, old, whose(old), nil, 'running', 'gone')
                else
                    add('delete', one, old, old, old.owner, nil, old.state, 'gone')
                end
            elseif new.state == 'running' and (old.state ~= 'running' or old.fence ~= new.fence) then
                add('acquire', one, new, new, new.owner, new.lock_until, old.state, 'running')
            elseif old.state == 'running' and new.state ~= 'running' and old.fence ~= new.fence then
                -- Taken over and put aside in one step: nobody has seen it run.
                local nobody = 'put aside under ' .. new.fence
                local ran = with(new, { state = 'running', owner = nobody, attempt = (new.attempt or 0) + 1 })
                add('acquire', one, ran, ran, nobody, nil, 'running', 'running')
                taken[nobody] = true
                ended(one, ran, new)
            elseif old.state == 'running' and new.state ~= 'running' then
                ended(one, old, new)
            elseif new.state == 'running' then
                if old.lock_until ~= new.lock_until then
                    add('renew', one, {}, new, whose(new), new.lock_until, '', '')
                end
                if not old.cancelled_at and new.cancelled_at then
                    add('mark', one, new, new, new.owner, nil, 'running', 'running')
                end
            elseif old.state ~= new.state then
                local op = old.state == 'ready' and new.state == 'cancelled' and 'cancel'
                    or old.state ~= 'ready' and new.state == 'ready' and 'retry' or 'odd'
                add(op, one, new, new, new.owner, nil, old.state, new.state)
            end
        end
        for _, list in ipairs({ jobs, names }) do
            for _, one in ipairs(list) do
                compare(one)
            end
        end
        if #entries == 0 then
            return
        end
        local clock = real.call('TIME')
        local at = string.format('%.0f', clock[1] * 1000000 + clock[2])
        local step = real.call('INCR', KEYS[1] .. ':audit-steps')
        for _, entry in ipairs(entries) do
            entry[#entry + 1] = at
            entry[#entry + 1] = step
            real.call('RPUSH', KEYS[1] .. ':audit', cjson.encode(entry))
        end
    end

    return setmetatable({ call = call }, { __index = real }), record
end)(redis)
local function verb()
