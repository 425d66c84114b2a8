-- Adds pets, each with an Idempotency-Key of its own; the argument is the beginning of them all.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"name":"Pet 1","categoryId":1,"status":"available"}'
local count = 0

function init(args)
  prefix = args[1]
end

function request()
  count = count + 1
  wrk.headers["Idempotency-Key"] = prefix .. count
  return wrk.format()
end
