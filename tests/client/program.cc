// SPDX-License-Identifier: MIT
// A C++ program that uses libsluice: the header is clean there, and everything can be called.
#include <sluice/async.h>
#include <sluice/list.h>
#include <sluice/pool.h>
#include <sluice/sluice.h>

#include <poll.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace
{

int points = 0;

void expect(bool good, const char *what)
{
    std::printf("%s %d - %s\n", good ? "ok" : "not ok", ++points, what);
    if (!good) {
        std::exit(1);
    }
}

struct Release {
    void operator()(sluice *queue) const
    {
        sluice_close(queue);
    }
    void operator()(sluice_job *job) const
    {
        sluice_job_free(job);
    }
    void operator()(sluice_value *value) const
    {
        sluice_value_free(value);
    }
    void operator()(char *text) const
    {
        sluice_free(text);
    }
};

using Queue = std::unique_ptr<sluice, Release>;
using Job = std::unique_ptr<sluice_job, Release>;
using Value = std::unique_ptr<sluice_value, Release>;

Queue open_queue(const std::string &url)
{
    struct sluice *queue = nullptr;
    sluice_error error{};
    sluice_open_options options{};
    options.ns = "cpp";
    expect(sluice_open(url.c_str(), &options, &queue, &error) == SLUICE_OK, "open");
    return Queue(queue);
}

Job take(sluice *queue)
{
    sluice_job *job = nullptr;
    expect(sluice_next(queue, "mail", SLUICE_FOREVER, &job, nullptr) == SLUICE_OK, "next");
    return Job(job);
}

// The second job, without a call that blocks.
void run_async(sluice *queue)
{
    const char *const queues[] = { "mail", nullptr };
    sluice_take_options options = {};
    options.queues = queues;
    sluice_async *async = nullptr;
    sluice_job *job = nullptr;
    size_t taken = 0;
    expect(sluice_async_new(queue, &async, nullptr) == SLUICE_OK, "an asynchronous handle");
    expect(sluice_async_take(async, &options, &job, 1, &taken, nullptr) == SLUICE_OK, "begin");
    pollfd of = { sluice_async_fd(async), POLLIN, 0 };
    expect(poll(&of, 1, 60000) == 1, "readable");
    expect(sluice_async_finish(async, nullptr) == SLUICE_OK && taken == 1, "finish");
    sluice_async_free(async);
    sluice_settle_options outcome = {};
    outcome.verdict = SLUICE_FAIL;
    outcome.group = "group";
    outcome.message = "why";
    expect(sluice_settle_many(&job, &outcome, 1, nullptr, nullptr) == SLUICE_OK, "settle many");
    sluice_job_free(job);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        return 2;
    }
    const Queue queue = open_queue("sluice://127.0.0.1:" + std::string(argv[1]));
    // A type that has the name of a function could not be named like this.
    std::vector<sluice_put_options> puts(2);
    for (sluice_put_options &put : puts) {
        put.queue = "mail";
        put.klass = "Send";
        put.data = "{\"to\":\"ann\"}";
    }
    std::vector<sluice_result> results(puts.size());
    expect(sluice_put_many(queue.get(), puts.data(), puts.size(), results.data(), nullptr) ==
               SLUICE_OK,
           "put many");
    const char *jid = results[0].jid;
    sluice_put_options empty = {};
    empty.size = 0;
    sluice_error error;
    expect(sluice_put(queue.get(), &empty, nullptr, &error) == SLUICE_INVALID &&
               std::strstr(error.message, "size"),
           "options without a size are refused");
    const Job job = take(queue.get());
    expect(std::strcmp(sluice_job_jid(job.get()), jid) == 0, "the same job");
    expect(sluice_keepalive(job.get(), nullptr, nullptr, nullptr) == SLUICE_OK, "keepalive");
    expect(sluice_done(job.get(), "{\"sent\":true}", nullptr) == SLUICE_OK, "done");
    sluice_value *answer = nullptr;
    expect(sluice_wait(queue.get(), jid, 0, &answer, nullptr) == SLUICE_OK, "wait");
    const Value value(answer);
    const std::unique_ptr<char, Release> json(sluice_value_json(value.get()));
    expect(std::strstr(json.get(), "\"result\":{\"sent\":true}") != nullptr, "the result");
    run_async(queue.get());
    std::printf("1..%d\n", points);
    return 0;
}
