-- The beginning of every script. KEYS[1] is the prefix of the names of all keys, so they share one hash slot.
-- ARGV[1] is the epoch of a new log, which is made here if the server has none (yet, or since it came back empty), a space,
-- and the newest position that the gateway knows, or 0.
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

local newEpoch, known = ARGV[1]:match('^(%S+) (%d+)$')
known = tonumber(known)
local epoch = redis.call('GET', base .. 'epoch')
if not epoch then
  epoch = newEpoch
  redis.call('SET', base .. 'epoch', epoch)
  -- Positions of an earlier log are below this one, so they are not valid here. The position before the first message is.
  redis.call('SET', base .. 'birth', text(now() - 1))
end

-- A known position is missing: this server was a replica that had not received it. Nobody knows what else is missing, so the
-- log gets a new epoch, and every reader with a position before now gets RESYNC. The end of the log moves here too, and above
-- the known position. Otherwise readers at the end would be before `birth` and get RESYNC again and again.
if known > number('birth') and known > number('pruned')
  and #redis.call('XRANGE', base .. 'log', text(known) .. '-0', text(known) .. '-0') == 0 then
  epoch = 'cut-' .. newEpoch
  redis.call('SET', base .. 'epoch', epoch)
  local cut = text(math.max(now() - 1, number('head'), known))
  redis.call('MSET', base .. 'birth', cut, base .. 'head', cut)
end
