-- The fingerprint of a claimed key.
return { epoch, redis.call('HGET', base .. 'reply ' .. ARGV[2], 'fingerprint') }
