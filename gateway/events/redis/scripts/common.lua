-- The beginning of every script. KEYS[1] is the prefix of the names of all keys, so they share one hash slot.
-- ARGV[1] is the epoch of a new log, which is made here if the server has none (yet, or since it came back empty).
local base = KEYS[1]

local function text(number)
  return string.format('%.0f', number)
end

local function number(name)
  return tonumber(redis.call('GET', base .. name) or '0')
end

-- Microseconds, which are also the least position of an append now. Doubles hold them exactly for 200 years more.
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

local epoch = redis.call('GET', base .. 'epoch')
if not epoch then
  epoch = ARGV[1]
  redis.call('SET', base .. 'epoch', epoch)
  -- Positions of an earlier log are below this one, so they are not valid here. The position before the first message is.
  redis.call('SET', base .. 'birth', text(now() - 1))
end
