-- Claims a key for a first attempt, or returns the state of an earlier one. Its age is by this server's clock, because the
-- clocks of gateways differ.
local name, fingerprint, since, lifeSeconds = base .. 'reply ' .. ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if redis.call('HSETNX', name, 'fingerprint', fingerprint) == 1 then
  redis.call('HSET', name, 'since', since, 'claimed', text(now()))
  redis.call('EXPIRE', name, lifeSeconds)
  return { epoch, 'first' }
end
local stored = redis.call('HMGET', name, 'fingerprint', 'since', 'answer', 'claimed')
-- A record of an earlier version has only the time of its gateway.
local age = now() - (stored[4] or stored[2] * 1000)
return { epoch, 'known', stored[1], stored[2], stored[3], text(math.floor(age / 1000)) }
