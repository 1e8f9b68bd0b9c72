-- Facts of one user and kind, the latest first, each after its key; or the fact of one key.
local name, key, from, before, limit = unpack(ARGV, 2, 6)
if key ~= '' then
  local fact = redis.call('HGET', base .. 'facts ' .. name, key)
  local at = fact and tonumber(fact:match('^%S+'))
  local isIn = fact and (from == '' or at >= tonumber(from)) and (before == '' or at < tonumber(before))
  return { epoch, isIn and tonumber(limit) > 0 and { key, fact } or {} }
end
local facts = {}
local max, min = before == '' and '+inf' or '(' .. before, from == '' and '-inf' or from
local members = redis.call('ZREVRANGEBYSCORE', base .. 'facts-by-time ' .. name, max, min, 'LIMIT', 0, limit)
for _, member in ipairs(members) do
  facts[#facts + 1] = member:sub(17)
  facts[#facts + 1] = redis.call('HGET', base .. 'facts ' .. name, member:sub(17))
end
return { epoch, facts }
