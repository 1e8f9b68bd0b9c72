-- One step of pruning: deletes messages received before a time. The log is cut at one place: messages after a younger
-- one stay, even if the clock was set back. A message whose time is further in the future than old ones are in the past was
-- received under a wrong clock, and is deleted with the old ones.
local before, idsBefore, chunk = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local future = now() / 500 - before
local dropped, through, indices = 0, nil, {}

local entries = redis.call('XRANGE', base .. 'log', '-', '+', 'COUNT', chunk)
local isDone = #entries < chunk
for _, entry in ipairs(entries) do
  local fields = entry[2]
  local received = tonumber(fields[4])
  if received >= before and received <= future then
    isDone = true
    break
  end
  dropped, through = dropped + 1, entry[1]:match('^%d+')
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
