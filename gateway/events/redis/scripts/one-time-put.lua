-- Stores a value under a key for this many milliseconds.
redis.call('SET', base .. 'deposit ' .. ARGV[2], ARGV[3], 'PX', ARGV[4])
return { epoch }
