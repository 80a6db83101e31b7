-- ARGV: id, fence, owner, resource. The job is given back in the same step: a run has no resource that it does not hold.
local row = held(ARGV[1], ARGV[2], ARGV[3])
if row then
    local new = copy(row)
    new.resource = row.resource or ARGV[4]
    give_back(new)
    save(ARGV[1], row, new)
    call('PUBLISH', WORK, '')
end
return 0
