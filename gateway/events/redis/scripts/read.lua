-- The events of an index after a place, or of the whole log where the index is ''. The script examines a bounded
-- number of bytes, and its answer contains how far it came.
local after, limit, index, onlyChanges, user, subject, isDead = unpack(ARGV, 2, 8)
local types = nil
if #ARGV > 8 then
  types = {}
  for place = 10, #ARGV do types[ARGV[place]] = true end
end
after, limit = tonumber(after), tonumber(limit)

local head = number('head')
-- Dead letters are read by people, from any place: a list of them has no gaps.
if isDead == '0' then
  if after > 0 and after < number('birth') then return { epoch, 'other-epoch' } end
  if after > head then return { epoch, 'beyond-end' } end
  if after < number('pruned') then return { epoch, 'pruned', text(number('pruned')) } end
  -- A valid place is that of a message, the one right before a message, the end of the log, its birth, or the end of the
  -- pruned part. Any other place was lost when an older copy of the server's files was restored.
  if after > 0 and after ~= head and after ~= number('birth') and after ~= number('pruned')
    and #redis.call('XRANGE', base .. 'log', text(after) .. '-0', text(after + 1) .. '-0', 'COUNT', 1) == 0 then
    return { epoch, 'other-epoch' }
  end
end

local chunk = 10
-- The most bytes that are examined, because the script blocks the server for everybody.
local budget = 4 * 1024 * 1024

-- Up to a chunk of { position, fields } after a place; fields are missing for entries that are not changes, which need not be read.
local function listAfter(from)
  local list = {}
  if index == '' then
    for _, entry in ipairs(redis.call('XRANGE', base .. 'log', '(' .. from .. '-0', '+', 'COUNT', chunk)) do
      list[#list + 1] = { entry[1]:match('^%d+'), entry[2] }
    end
    return list
  end
  local members = redis.call('ZRANGEBYSCORE', base .. index, '(' .. from, '+inf', 'LIMIT', 0, chunk)
  for _, member in ipairs(members) do
    local position = member:match('^%d+')
    local isWanted = onlyChanges == '0' or member:sub(-1) == '+'
    local entry = isWanted and redis.call('XRANGE', base .. 'log', position .. '-0', position .. '-0')[1]
    list[#list + 1] = { position, entry and entry[2] or nil }
  end
  return list
end

-- Fields in the order of append.lua: name, value, name, value.
local function matches(fields)
  return (fields[20] ~= '') == (isDead == '1')
    and (onlyChanges == '0' or fields[22] == '1')
    and (user == '' or fields[8] == user)
    and (subject == '' or fields[14] == subject)
    and (types == nil or types[fields[6]] == true)
end

local events, from = {}, text(after)
repeat
  local list = listAfter(from)
  for _, item in ipairs(list) do
    local position, fields = item[1], item[2]
    from = position
    budget = budget - 64 - (fields and #fields[24] or 0)
    if fields and matches(fields) then
      events[#events + 1] = { position, fields[2], fields[4], fields[6], fields[8], fields[10], fields[12],
        fields[14], fields[16], fields[18], fields[20], fields[24] }
    end
    if #events >= limit or budget <= 0 then return { epoch, 'events', from, events } end
  end
until #list < chunk
return { epoch, 'events', text(head), events }
