-- ARGV: version, oldest that can work with it, a new id. Answers the version and the oldest one.
local store = base .. ':store'
local version = call('HGET', store, 'version')
if not version or tonumber(version) < tonumber(ARGV[1]) then
    begin()
    call('HSET', store, 'version', ARGV[1], 'oldest', ARGV[2])
    call('HSETNX', store, 'id', ARGV[3])
end
return call('HMGET', store, 'version', 'oldest')
