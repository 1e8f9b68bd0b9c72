-- The subjects in an index that have changed since a time in microseconds: a position is never an earlier one.
local index, since = unpack(ARGV, 2, 3)

local subjects, seen = {}, {}
for _, member in ipairs(redis.call('ZRANGEBYSCORE', base .. index, since, '+inf')) do
  local position = member:match('^%d+')
  local entry = member:sub(-1) == '+' and redis.call('XRANGE', base .. 'log', position .. '-0', position .. '-0')[1]
  -- The field's text, with '=' in front as append.lua stores texts that may be missing.
  local subject = entry and entry[2][14]:sub(2)
  if subject and not seen[subject] then
    seen[subject] = true
    subjects[#subjects + 1] = subject
  end
end
return { epoch, subjects }
