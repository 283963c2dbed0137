// SPDX-License-Identifier: MIT
// A folder goes back and forth between a server and a program that has its queue in its own
// process: all is there, and both say the same about it.
#include "process.h"
#include "test.h"

#include <sluice/sluice.h>

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *program;

struct exchange {
    char folder[64];
    char data[96];
    struct process process;
    struct sluice *queue; // whichever way it is reached
};

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *walk)
{
    (void)about;
    (void)type;
    (void)walk;
    return remove(path);
}

static int setup(void **state)
{
    struct exchange *exchange = calloc(1, sizeof(*exchange));
    (void)snprintf(exchange->folder, sizeof(exchange->folder), "/tmp/sluice-folder-XXXXXX");
    assert_non_null(mkdtemp(exchange->folder));
    (void)snprintf(exchange->data, sizeof(exchange->data), "%s/queue", exchange->folder);
    process_init(&exchange->process);
    *state = exchange;
    return 0;
}

static int teardown(void **state)
{
    struct exchange *exchange = *state;
    sluice_close(exchange->queue);
    process_release(&exchange->process);
    (void)nftw(exchange->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(exchange);
    return 0;
}

static void open_url(struct exchange *exchange, const char *url)
{
    struct sluice_error error;
    const struct sluice_open_options options = SLUICE_OPEN(.ns = "app", .worker = "w");
    sluice_close(exchange->queue);
    if (sluice_open(url, &options, &exchange->queue, &error)) {
        fail_msg("%s", error.message);
    }
}

static void open_here(struct exchange *exchange)
{
    char url[128];
    (void)snprintf(url, sizeof(url), "file:%s", exchange->data);
    open_url(exchange, url);
}

static void open_there(struct exchange *exchange)
{
    static const char *const none[] = { NULL };
    char url[64];
    sluice_close(exchange->queue);
    exchange->queue = NULL;
    process_start(&exchange->process, program, exchange->data, none);
    assert_true(process_ready(&exchange->process));
    (void)snprintf(url, sizeof(url), "sluice://127.0.0.1:%u", exchange->process.port);
    open_url(exchange, url);
}

static void stop_there(struct exchange *exchange)
{
    sluice_close(exchange->queue);
    exchange->queue = NULL;
    assert_int_equal(kill(exchange->process.pid, SIGTERM), 0);
    assert_int_equal(process_wait(&exchange->process), 0);
}

static void put(struct exchange *exchange, const char *jid)
{
    const char *const tags[] = { "urgent", NULL };
    struct sluice_error error;
    const struct sluice_put_options job =
        SLUICE_PUT(.queue = "mail", .klass = "Send", .data = "{\"to\":\"ann\"}", .jid = jid,
                   .priority = 5, .tags = tags);
    if (sluice_put(exchange->queue, &job, NULL, &error)) {
        fail_msg("%s", error.message);
    }
}

static struct sluice_job *take(struct exchange *exchange, const char *jid)
{
    struct sluice_job *job;
    struct sluice_error error;
    if (sluice_next(exchange->queue, "mail", 0, &job, &error)) {
        fail_msg("%s", error.message);
    }
    assert_string_equal(sluice_job_jid(job), jid);
    return job;
}

static void take_and_settle(struct exchange *exchange, const char *jid)
{
    struct sluice_job *job = take(exchange, jid);
    assert_int_equal(sluice_done(job, "[1]", NULL), SLUICE_OK);
    sluice_job_free(job);
}

static void test_folder__goes_back_and_forth(void **state)
{
    struct exchange *exchange = *state;
    open_here(exchange);
    put(exchange, "ann");
    put(exchange, "bob");
    take_and_settle(exchange, "ann");
    open_there(exchange);
    put(exchange, "eve");
    take_and_settle(exchange, "bob");
    stop_there(exchange);
    open_here(exchange);
    take_and_settle(exchange, "eve");
    struct sluice_job *job;
    assert_int_equal(sluice_next(exchange->queue, "mail", 0, &job, NULL), SLUICE_TIMED_OUT);
}

static void test_folder__a_folder_that_a_server_made_opens_here(void **state)
{
    struct exchange *exchange = *state;
    open_there(exchange);
    put(exchange, "ann");
    struct sluice_job *held = take(exchange, "ann");
    int64_t token = sluice_job_token(held);
    sluice_job_free(held);
    stop_there(exchange);
    // What was taken there can be settled here: the lease is in the folder.
    open_here(exchange);
    char text[32];
    (void)snprintf(text, sizeof(text), "%lld", (long long)token);
    const char *words[] = { "Q.COMPLETE", "ann", "w", "TOKEN", text };
    struct sluice_error error;
    if (sluice_call(exchange->queue, words, NULL, 5, NULL, &error)) {
        fail_msg("%s", error.message);
    }
}

static void test_folder__only_one_of_them_has_it_open(void **state)
{
    struct exchange *exchange = *state;
    struct sluice *second;
    struct sluice_error error;
    char url[128], wanted[64];
    open_there(exchange);
    (void)snprintf(url, sizeof(url), "file:%s", exchange->data);
    assert_int_equal(sluice_open(url, NULL, &second, &error), SLUICE_BUSY);
    (void)snprintf(wanted, sizeof(wanted), "is open in process %ld", (long)exchange->process.pid);
    assert_non_null(strstr(error.message, wanted));
    stop_there(exchange);
    open_here(exchange);
    static const char *const none[] = { NULL };
    process_start(&exchange->process, program, exchange->data, none);
    assert_false(process_ready(&exchange->process));
    assert_int_not_equal(process_wait(&exchange->process), 0);
}

// ---------------------------------------------------------------------------------------------
// The same questions

static const char *const questions[][6] = {
    { "Q.GET", "ann", "nobody" },
    { "Q.HISTORY", "ann" },
    { "Q.QUEUES" },
    { "Q.QUEUE", "mail" },
    { "Q.COUNT", "QUEUE", "mail" },
    { "Q.JOBS", "waiting", "mail" },
    { "Q.TAGGED", "urgent" },
    { "Q.CONFIG.GET", "heartbeat" },
    { "Q.NAMESPACES" },
    { "Q.HELP", "Q.NAMESPACE.CREATE" },
    { "Q.PRIORITIES", "mail" },
    { "Q.CRON", "0 3 * * *", "ZONE", "Europe/Berlin", "AFTER", "2026-01-01T00:00:00Z" },
    // Refusals
    { "Q.NOTHING" },
    { "Q.PUT" },
    { "Q.PUT", "mail", "Send", "{" },
    { "Q.PUT", "mail", "Send", "{}", "PRIORITY", "x" },
    { "Q.COMPLETE", "nobody", "w" },
    { "Q.COMPLETE", "bob", "w" },
    { "Q.NAMESPACE.CREATE", "app" },
    { "Q.NAMESPACE.DELETE", "nothing" },
    { "Q.BACKUP", "relative" },
    { "Q.MPUT", "3", "mail", "Send", "{", "x" },
};

enum {
    QUESTIONS = sizeof(questions) / sizeof(questions[0]),
};

// Takes the age and the rates of queues, which change with time, out of a text as JSON. They are last.
static void drop_times(char *text)
{
    for (char *age; (age = strstr(text, ",\"age\":"));) {
        const char *end = strstr(age, "}}");
        assert_non_null(end);
        const char *rest = end + 1;
        memmove(age, rest, strlen(rest) + 1);
    }
}

static char *ask(struct exchange *exchange, const char *const words[6])
{
    struct sluice_value *value = NULL;
    struct sluice_error error;
    size_t count = 0;
    while (count < 6 && words[count]) {
        count++;
    }
    enum sluice_status status = sluice_call(exchange->queue, words, NULL, count, &value, &error);
    char *text;
    if (status) {
        assert_true(asprintf(&text, "%s %s", sluice_status_name(status), error.message) > 0);
    } else {
        char *json = sluice_value_json(value);
        assert_non_null(json);
        text = strdup(json);
        assert_non_null(text);
        sluice_free(json);
        drop_times(text);
    }
    sluice_value_free(value);
    return text;
}

static void test_folder__both_say_the_same(void **state)
{
    struct exchange *exchange = *state;
    char *here[QUESTIONS];
    open_here(exchange);
    put(exchange, "ann");
    put(exchange, "bob");
    take_and_settle(exchange, "ann");
    open_here(exchange); // a worker listens as long as its handle is open
    for (size_t i = 0; i < QUESTIONS; i++) {
        here[i] = ask(exchange, questions[i]);
    }
    open_there(exchange);
    for (size_t i = 0; i < QUESTIONS; i++) {
        char *there = ask(exchange, questions[i]);
        assert_string_equal(here[i], there);
        free(here[i]);
        free(there);
    }
}

int main(int count, char **words)
{
    assert_true(count > 1);
    program = words[1];
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_folder__##name, setup, teardown)
        TEST(goes_back_and_forth),
        TEST(a_folder_that_a_server_made_opens_here),
        TEST(only_one_of_them_has_it_open),
        TEST(both_say_the_same),
    };
    return cmocka_run_group_tests_name("server_folder", tests, NULL, NULL);
}
