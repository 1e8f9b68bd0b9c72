-- Stores a message once, with its index entries and facts. Texts that may be missing are '' or '=' and the text.
-- `bodyHash` is '' for an id that cannot come again (`isNewId` in log.ts): it is not stored for comparison.
local id, bodyHash, receivedAt, type, user, client, team, subject, version, origin, dead, body, hasMessageId,
  contentSince, contentKeys = unpack(ARGV, 2, 16)
local firstFact = 17 + tonumber(contentKeys)

local known = bodyHash ~= '' and redis.call('HGET', base .. 'ids', id)
if known then
  local position, hash = known:match('^(%d+) (.*)$')
  return { epoch, position, 1, hash }
end

local function remember(key, position, hash)
  redis.call('HSET', base .. 'ids', key, position .. ' ' .. hash)
  redis.call('ZADD', base .. 'ids-by-time', receivedAt, key)
end

-- The same rule as `Content` in log.ts. In place of a body's hash, the entry of a content has whether its webhook came.
for index = 17, firstFact - 1 do
  local key = ARGV[index]
  local time = redis.call('ZSCORE', base .. 'ids-by-time', key)
  if time and tonumber(time) > tonumber(contentSince) then
    local position, webhookCame = redis.call('HGET', base .. 'ids', key):match('^(%d+) (.*)$')
    if hasMessageId == '1' and webhookCame == '1' then break end
    if hasMessageId == '1' then redis.call('HSET', base .. 'ids', key, position .. ' 1') end
    if bodyHash ~= '' then remember(id, position, bodyHash) end
    return { epoch, position, 1, bodyHash }
  end
end

local head = number('head')
-- The position is never used twice, not even after a server failed before it had replicated the position.
local position = text(math.max(head + 1, now()))

-- The same rule as `isAdvance` in log.ts.
local latest = subject ~= '' and redis.call('HGET', base .. 'subjects', subject)
local function advances()
  if subject == '' or dead ~= '' then return false, '' end
  if not latest then return true, user end
  local latestVersion, latestUser = latest:match('^(%S+) %d+ (.*)$')
  local owner = user ~= '' and user or latestUser
  if tonumber(version) > tonumber(latestVersion) then return true, owner end
  local isMoved = origin == 'reconciled' and user ~= '' and user ~= latestUser
  return isMoved and tonumber(version) == tonumber(latestVersion), owner
end
local isChange, owner = advances()
if isChange then redis.call('HSET', base .. 'subjects', subject, version .. ' ' .. position .. ' ' .. owner) end

redis.call('XADD', base .. 'log', position .. '-0', 'id', id, 'at', receivedAt, 'type', type, 'user', user,
  'client', client, 'team', team, 'subject', subject, 'version', version, 'origin', origin, 'dead', dead,
  'change', isChange and '1' or '0', 'body', body)
if bodyHash ~= '' then remember(id, position, bodyHash) end
if firstFact > 17 then remember(ARGV[17], position, hasMessageId) end

-- The index marks changes, so that readers of changes read nothing else.
local member = isChange and position .. '+' or position
if dead ~= '' then
  redis.call('ZADD', base .. 'dead', position, position)
else
  if user ~= '' then redis.call('ZADD', base .. 'user' .. user, position, member) end
  if subject ~= '' then redis.call('ZADD', base .. 'subject' .. subject, position, member) end
end

-- Facts: four arguments each. Equal times are ordered by position, then by key, like the member's text.
for index = firstFact, #ARGV, 4 do
  local name, key, at, value = unpack(ARGV, index, index + 3)
  local earlier = redis.call('HGET', base .. 'facts ' .. name, key)
  if earlier then
    local earlierPosition = earlier:match('^%S+ (%d+) ')
    redis.call('ZREM', base .. 'facts-by-time ' .. name, string.format('%016.0f', earlierPosition) .. key)
  end
  redis.call('HSET', base .. 'facts ' .. name, key,
    at .. ' ' .. position .. ' ' .. receivedAt .. ' ' .. value)
  redis.call('ZADD', base .. 'facts-by-time ' .. name, at, string.format('%016.0f', position) .. key)
  redis.call('ZADD', base .. 'facts-by-position', position, key .. name)
end

-- `previous` links each entry to the one before, so a reader that misses an entry notices it at the next.
redis.call('XADD', base .. 'bus', 'MAXLEN', '~', '10000', position .. '-0', 'previous', text(head), 'user', user,
  'subject', subject, 'version', version, 'dead', dead)
redis.call('SET', base .. 'head', position)
return { epoch, position, 0, bodyHash }
