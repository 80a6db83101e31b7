-- ARGV: id, what was seen of it, schedule, resource, due, slot, what follows (two), versions, whether it stays parked, whether it
-- falls due again, whether it is another slot. Answers whether it was as it was seen, and is as it should be.
local id = ARGV[1]
local row = read(id)
if not row or seen(row) ~= ARGV[2] then
    return 0
end
local new = copy(row)
new.schedule, new.resource = given(ARGV[3]), given(ARGV[4])
if ARGV[10] ~= '1' then
    new.due_at, new.parked_due, new.parked_rank = number_text(ARGV[5]), nil, nil
end
new.slot_at, new.next_at, new.next_in = number_text(ARGV[6]), number_text(ARGV[7]), number_text(ARGV[8])
new.versions, new.again = given(ARGV[9]), ARGV[11] == '1' and '1' or nil
if ARGV[12] == '1' then
    new.begun_at, new.attempt, new.crashes, new.refusals = nil, '0', '0', '0'
end
save(id, row, new)
call('PUBLISH', WORK, '')
return 1
