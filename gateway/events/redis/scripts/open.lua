-- The end of the log, and the key of cursors where one is stored here: the given one, if there is none yet.
local given = ARGV[2]
local key = redis.call('GET', base .. 'cursor-key')
if not key and given ~= '' then
  key = given
  redis.call('SET', base .. 'cursor-key', key)
end
return { epoch, text(number('head')), key or '' }
