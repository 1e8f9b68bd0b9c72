-- Replaces entries of message ids that have not changed since they were read. Arguments: id, old, new, repeated.
for index = 2, #ARGV, 3 do
  local id, old, new = ARGV[index], ARGV[index + 1], ARGV[index + 2]
  if redis.call('HGET', base .. 'ids', id) == old then redis.call('HSET', base .. 'ids', id, new) end
end
return { epoch }
