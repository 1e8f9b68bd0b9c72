-- Claims a key again unless another attempt has claimed or settled it since.
local name, since, at = base .. 'reply ' .. ARGV[2], ARGV[3], tonumber(ARGV[4])
local stored = redis.call('HMGET', name, 'since', 'answer')
if stored[1] ~= since or stored[2] then return { epoch, 0 } end
redis.call('HSET', name, 'since', text(math.max(at, since + 1)), 'claimed', text(now()))
return { epoch, 1 }
