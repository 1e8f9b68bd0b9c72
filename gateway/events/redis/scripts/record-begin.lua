-- Claims a key for a first attempt, or returns the state of an earlier one.
local name, fingerprint, since, lifeSeconds = base .. 'reply ' .. ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if redis.call('HSETNX', name, 'fingerprint', fingerprint) == 1 then
  redis.call('HSET', name, 'since', since)
  redis.call('EXPIRE', name, lifeSeconds)
  return { epoch, 'first' }
end
local stored = redis.call('HMGET', name, 'fingerprint', 'since', 'answer')
return { epoch, 'known', stored[1], stored[2], stored[3] }
