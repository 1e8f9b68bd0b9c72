-- Claims a key anew if nobody has claimed or settled it since.
local name, since, anew = base .. 'reply ' .. ARGV[2], ARGV[3], tonumber(ARGV[4])
local kept = redis.call('HMGET', name, 'since', 'answer')
if kept[1] ~= since or kept[2] then return { epoch, 0 } end
redis.call('HSET', name, 'since', text(math.max(anew, since + 1)))
return { epoch, 1 }
