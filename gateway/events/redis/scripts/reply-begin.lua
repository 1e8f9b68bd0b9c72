-- Claims a key for a first attempt, or tells what became of an earlier one.
local name, fingerprint, since, lifeSeconds = base .. 'reply ' .. ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if redis.call('HSETNX', name, 'fingerprint', fingerprint) == 1 then
  redis.call('HSET', name, 'since', since)
  redis.call('EXPIRE', name, lifeSeconds)
  return { epoch, 'first' }
end
local kept = redis.call('HMGET', name, 'fingerprint', 'since', 'answer')
return { epoch, 'known', kept[1], kept[2], kept[3] }
