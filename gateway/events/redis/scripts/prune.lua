-- One step of pruning: deletes messages received before a time. The log is cut at one place, after an old message and before
-- the first young one, even if the clock was set back. A message further ahead of now than `before` is behind it is neither
-- old nor young. With an old message after it, it came under a wrong clock and is deleted. Otherwise the clock may be wrong
-- now. After a whole chunk of such messages, the first other message decides. It is found by halving: there may be many.
local before, idsBefore, chunk = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local future = now() / 500 - before
local dropped, through = 0, nil

local entries = redis.call('XRANGE', base .. 'log', '-', '+', 'COUNT', chunk)
local isDone, isAllFuture = #entries < chunk, #entries == chunk
for count, entry in ipairs(entries) do
  local received = tonumber(entry[2][4])
  if received < before then dropped, through = count, entry[1]:match('^%d+') end
  if received <= future then isAllFuture = false end
  if received >= before and received <= future then
    isDone = true
    break
  end
end
if isAllFuture then
  local function receivedAfter(place)
    local entry = redis.call('XRANGE', base .. 'log', '(' .. text(place) .. '-0', '+', 'COUNT', 1)[1]
    return entry and tonumber(entry[2][4]) or math.huge
  end
  local last = entries[chunk][1]:match('^%d+')
  local low, high = tonumber(last), number('head') - 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if receivedAfter(middle) > future then low = middle + 1 else high = middle end
  end
  isDone = receivedAfter(low) >= before
  if not isDone then dropped, through = chunk, last end
end

local indices = {}
for count = 1, dropped do
  local fields = entries[count][2]
  if fields[8] ~= '' then indices['user' .. fields[8]] = true end
  if fields[14] ~= '' then indices['subject' .. fields[14]] = true end
end
if through then
  -- A full server allows only commands that free memory, so one comes first. After it the script may also write.
  redis.call('XTRIM', base .. 'log', 'MINID', text(tonumber(through) + 1))
  redis.call('SET', base .. 'pruned', through)
  redis.call('ZREMRANGEBYSCORE', base .. 'dead', '-inf', through)
  for index in pairs(indices) do redis.call('ZREMRANGEBYSCORE', base .. index, '-inf', through) end
end

local pruned = text(number('pruned'))
local facts = redis.call('ZRANGEBYSCORE', base .. 'facts-by-position', '-inf', pruned, 'LIMIT', 0, chunk)
for _, member in ipairs(facts) do
  local key, name = member:sub(1, 64), member:sub(65)
  local position = redis.call('HGET', base .. 'facts ' .. name, key):match('^%S+ (%d+) ')
  redis.call('ZREM', base .. 'facts-by-time ' .. name, string.format('%016.0f', position) .. key)
  redis.call('HDEL', base .. 'facts ' .. name, key)
  redis.call('ZREM', base .. 'facts-by-position', member)
end

local ids = redis.call('ZRANGEBYSCORE', base .. 'ids-by-time', '-inf', '(' .. idsBefore, 'LIMIT', 0, chunk)
for _, id in ipairs(ids) do
  redis.call('HDEL', base .. 'ids', id)
  redis.call('ZREM', base .. 'ids-by-time', id)
end
return { epoch, dropped, isDone and #facts < chunk and #ids < chunk and 1 or 0 }
