-- wrk: lives of jobs. Replies arrive in any order, so each request does the next possible step:
-- complete a popped job, pop a job that was put, or else put a job.
local put = '{"klass":"Send","data":{"a":"' .. string.rep("x", 190) .. '"}}'
local pop = '{"queues":["mail"],"worker":"wrk"}'
local headers = { ["Content-Type"] = "application/json" }
local popped, waiting = {}, 0

request = function()
    local job = table.remove(popped)
    if job then
        return wrk.format("POST", "/v1/ns/bench/jobs/" .. job.jid .. "/complete", headers,
                          '{"worker":"wrk","token":' .. job.token .. '}')
    end
    if waiting > 0 then
        waiting = waiting - 1
        return wrk.format("POST", "/v1/ns/bench/pop", headers, pop)
    end
    return wrk.format("POST", "/v1/ns/bench/queues/mail/jobs", headers, put)
end

response = function(status, _, body)
    local jid = string.match(body, '"jid":"([^"]+)"')
    local token = string.match(body, '"token":(%d+)')
    if token then
        popped[#popped + 1] = { jid = jid, token = token }
    elseif status == 201 then
        waiting = waiting + 1
    end
end
