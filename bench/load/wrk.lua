-- Posts GraphQL requests one after the other, round and round, and prints what came of it as one line of JSON.
-- After `--`: a file with one request a line (a bearer token, a tab, a JSON body), and how many of them to leave out at first.

local requests = {}
local turn = 0

function init(args)
  for line in io.lines(args[1]) do
    local token, body = line:match("^(.-)\t(.*)$")
    local headers = {
      ["Content-Type"] = "application/json",
      ["Accept"] = "application/json",
      ["Authorization"] = "Bearer " .. token,
    }
    requests[#requests + 1] = wrk.format("POST", nil, headers, body)
  end
  turn = tonumber(args[2])
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format(
    '\n{"requests":%d,"seconds":%.6f,"failed":%d,"p50Ms":%.4f,"p99Ms":%.4f}\n',
    summary.requests, summary.duration / 1e6, failed,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3
  ))
end
