-- Adds pets; with an argument, each client pauses for that many milliseconds between two creates.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"name":"Pet 1","categoryId":1,"status":"available"}'

function init(args)
  if args[1] then
    delay = function()
      return tonumber(args[1])
    end
  end
end
