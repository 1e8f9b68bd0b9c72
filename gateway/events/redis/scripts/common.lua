-- The beginning of every script. KEYS[1] is the prefix of the names of all keys, so they share one hash slot.
-- ARGV[1] is the epoch of a log that is made now: because there is none yet, or because it came back empty.
local base = KEYS[1]

local function text(number)
  return string.format('%.0f', number)
end

local function number(name)
  return tonumber(redis.call('GET', base .. name) or '0')
end

-- Microseconds: also the least position of what is appended now. Fits a double exactly for 200 years more.
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

local epoch = redis.call('GET', base .. 'epoch')
if not epoch then
  epoch = ARGV[1]
  redis.call('SET', base .. 'epoch', epoch)
  -- No place in an earlier log can pass for a place in this one. The place before the first message is one.
  redis.call('SET', base .. 'birth', text(now() - 1))
end
