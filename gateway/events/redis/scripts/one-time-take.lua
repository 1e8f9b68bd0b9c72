-- The value under a key, which is gone with it. An absent one is false, which the client sees as null.
local name = base .. 'deposit ' .. ARGV[2]
local value = redis.call('GET', name)
redis.call('DEL', name)
return { epoch, value }
