-- ARGV: what, whether it is paused from now on. Answers whether that is new.
begin()
local changed = call(ARGV[2] == '1' and 'SADD' or 'SREM', base .. ':paused', ARGV[1])
if changed == 1 then
    call('PUBLISH', WORK, '')
end
return changed
