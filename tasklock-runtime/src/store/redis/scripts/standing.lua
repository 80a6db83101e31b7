-- ARGV: task. Answers the clock, and its standing job's id and fields, if it has one.
local id = call('HGET', base .. ':keys:' .. ARGV[1], '')
local fields = id and call('HGETALL', base .. ':job:' .. id) or {}
return { text(now), #fields > 0 and { { id, fields } } or {} }
