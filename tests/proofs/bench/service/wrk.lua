-- Sends the requests of a file in turn, and prints what wrk has counted as one line of JSON.
-- The file: `<length>\n` and that many bytes of a whole HTTP request, again and again.

local requests, index = {}, 0

function init(args)
  local file = assert(io.open(args[1], "rb"))
  while true do
    local length = file:read("*n")
    if not length then break end
    file:read(1)
    requests[#requests + 1] = file:read(length)
  end
  file:close()
end

function request()
  index = index % #requests + 1
  return requests[index]
end

function done(summary)
  local e = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"microseconds":%d,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, e.status, e.connect + e.read + e.write + e.timeout))
end
