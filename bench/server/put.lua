-- wrk: single puts with 200 bytes of data.
wrk.method = "POST"
wrk.path = "/v1/ns/bench/queues/mail/jobs"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"klass":"Send","data":{"a":"' .. string.rep("x", 190) .. '"}}'
