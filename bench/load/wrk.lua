-- Posts GraphQL requests one after the other, round and round, and prints what came of it as one line of JSON.
-- After `--`: a file with one request a line (a bearer token, a tab, a JSON body), and the turn to begin with.
-- Each ############ of a body is another number in every turn, as in requests.ts.

local lines = {}
local formatted = {}
local threads = {}
-- Global: `done` reads it from the thread.
turn = 0

function setup(thread)
  threads[#threads + 1] = thread
end

function init(args)
  for line in io.lines(args[1]) do lines[#lines + 1] = line end
  turn = tonumber(args[2])
end

-- The pieces of a request between its numbers.
local function split(line)
  local token, body = line:match("^(.-)\t(.*)$")
  local headers = {
    ["Content-Type"] = "application/json",
    ["Accept"] = "application/json",
    ["Authorization"] = "Bearer " .. token,
  }
  local text = wrk.format("POST", nil, headers, body)
  local pieces, from = {}, 1
  while true do
    local first, last = text:find("############", from, true)
    pieces[#pieces + 1] = text:sub(from, (first or 0) - 1)
    if not first then return pieces end
    from = last + 1
  end
end

function request()
  local index = turn % #lines + 1
  local pieces = formatted[index] or split(lines[index])
  formatted[index] = pieces
  local number = turn * (#pieces - 1)
  turn = turn + 1
  if #pieces == 1 then return pieces[1] end
  local parts = { pieces[1] }
  for piece = 2, #pieces do
    parts[#parts + 1] = string.format("%012d", number + piece - 2)
    parts[#parts + 1] = pieces[piece]
  end
  return table.concat(parts)
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format(
    '\n{"requests":%d,"nextTurn":%d,"seconds":%.6f,"failed":%d,"p50Ms":%.4f,"p99Ms":%.4f}\n',
    summary.requests, threads[1]:get("turn"), summary.duration / 1e6, failed,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3
  ))
end
