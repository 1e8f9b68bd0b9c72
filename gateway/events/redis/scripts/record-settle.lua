-- Stores the answer of a claimed key, or frees the key where there is no answer ('').
local name, answer = base .. 'reply ' .. ARGV[2], ARGV[3]
if answer ~= '' then
  if redis.call('EXISTS', name) == 1 then redis.call('HSET', name, 'answer', answer) end
elseif redis.call('HEXISTS', name, 'answer') == 0 then
  redis.call('DEL', name)
end
return { epoch }
