// SPDX-License-Identifier: MIT
// A namespace is dumped, restored in an empty engine, and dumped again: both dumps are the same.
#include "transcript.h"

#include "base/json.h"
#include "engine/check/check.h"
#include "fault_alloc.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>

// ---------------------------------------------------------------------------------------------
// Dumps

struct dump {
    struct buffer text; // the items, a line each
    char next[256];     // the cursor of the page that follows, or empty
    bool is_next;
    size_t pages;
};

// A reply that keeps the items and the cursor.
struct kept_reply {
    struct reply reply;
    struct dump *dump;
};

static struct dump *dump_of(struct reply *reply)
{
    return ((struct kept_reply *)(void *)reply)->dump;
}

static void keep_json(struct reply *reply, struct slice valid)
{
    assert_int_equal(json_validate(valid, 128, NULL), STATUS_OK);
    assert_null(memchr(valid.data, '\n', valid.size));
    buffer_append(&dump_of(reply)->text, valid);
    buffer_append_char(&dump_of(reply)->text, '\n');
}

static void keep_text(struct reply *reply, struct slice text)
{
    struct dump *dump = dump_of(reply);
    if (dump->is_next) {
        assert_true(text.size < sizeof(dump->next));
        memcpy(dump->next, text.data, text.size);
        dump->next[text.size] = '\0';
    }
    dump->is_next = slice_equal(text, SLICE("next"));
}

static void keep_null(struct reply *reply)
{
    dump_of(reply)->is_next = false;
}

static void keep_count(struct reply *reply, size_t count)
{
    (void)reply;
    (void)count;
}

static void keep_integer(struct reply *reply, int64_t value)
{
    (void)reply;
    (void)value;
}

static const struct reply_ops kept_form = {
    .null = keep_null,
    .text = keep_text,
    .json = keep_json,
    .integer = keep_integer,
    .list = keep_count,
    .map = keep_count,
    .end = keep_null,
};

static void dump_page(struct talk *talk, size_t count, struct dump *dump)
{
    char line[400];
    (void)snprintf(line, sizeof(line), "Q.DUMP app COUNT %zu%s%s", count,
                   dump->next[0] ? " CURSOR " : "", dump->next);
    struct slices words = split(talk, line);
    struct kept_reply kept = { { &kept_form }, dump };
    struct error error = { 0 };
    struct call call = {
        .command = commands_find(talk->commands, words.items[0]),
        .ns = words.items[1],
        .engine = talk->engine,
        .now_us = talk->now_us,
        .reply = &kept.reply,
        .host = &talk->host,
    };
    (void)engine_tick(talk->engine, talk->now_us);
    dump->next[0] = '\0';
    assert_int_equal(call_run(&call, (struct slices){ words.items + 2, words.count - 2 },
                              &talk->scratch, &error),
                     STATUS_OK);
    dump->pages++;
}

// All pages.
static void dump_all(struct talk *talk, size_t count, struct dump *dump)
{
    *dump = (struct dump){ 0 };
    buffer_init(&dump->text, &allocator_system, 1 << 26);
    do {
        dump_page(talk, count, dump);
    } while (dump->next[0]);
    buffer_append_char(&dump->text, '\0');
    assert_int_equal(dump->text.status, STATUS_OK);
}

static void dump_free(struct dump *dump)
{
    buffer_release(&dump->text);
}

static size_t items_of(const struct dump *dump, struct slice *items, size_t room)
{
    size_t count = 0;
    for (const char *at = dump->text.data; *at; at = strchr(at, '\n') + 1) {
        assert_true(count < room);
        items[count++] = slice_make(at, (size_t)(strchr(at, '\n') - at));
    }
    return count;
}

static int compare_items(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

enum {
    ITEMS_MAX = 1 << 16,
    PASSES_MAX = 20,
};

static void assert_same(const struct dump *a, const struct dump *b, bool in_any_order)
{
    static struct slice of_a[ITEMS_MAX], of_b[ITEMS_MAX];
    size_t count_a = items_of(a, of_a, ITEMS_MAX), count_b = items_of(b, of_b, ITEMS_MAX);
    if (in_any_order) {
        qsort(of_a, count_a, sizeof(*of_a), compare_items);
        qsort(of_b, count_b, sizeof(*of_b), compare_items);
    }
    for (size_t i = 0; i < count_a && i < count_b; i++) {
        // A number that is restored before jobs is counted up by them.
        bool counted = in_any_order && slice_starts_with(of_a[i], SLICE("{\"number\""));
        if (!slice_equal(of_a[i], of_b[i]) && !counted) {
            print_error("%.*s\nhas become\n%.*s\n", SLICE_PRINT(of_a[i]), SLICE_PRINT(of_b[i]));
            fail();
        }
    }
    assert_int_equal(count_a, count_b);
}

// ---------------------------------------------------------------------------------------------
// Restoring

// Restores items, `at_once` in a call.
static const char *restore(struct talk *talk, const struct slice *items, size_t count)
{
    struct slice *words = talk->words;
    words[0] = SLICE("Q.RESTORE");
    words[1] = SLICE("app");
    words[2] = SLICE("--");
    memcpy(words + 3, items, count * sizeof(*items));
    return run_words(talk, words, count + 3);
}

static bool is_job(struct slice item)
{
    return slice_starts_with(item, SLICE("{\"job\"")) ||
           slice_starts_with(item, SLICE("{\"depends\""));
}

// The jobs the other way round, behind all others.
static void turn_jobs(struct slice *items, size_t count)
{
    static struct slice turned[ITEMS_MAX];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_job(items[i])) {
            turned[used++] = items[i];
        }
    }
    for (size_t i = count; i > 0; i--) {
        if (is_job(items[i - 1])) {
            turned[used++] = items[i - 1];
        }
    }
    memcpy(items, turned, count * sizeof(*items));
}

static void restore_all(struct talk *talk, const struct dump *dump, bool backwards)
{
    static struct slice items[ITEMS_MAX];
    size_t count = items_of(dump, items, ITEMS_MAX);
    if (backwards) {
        turn_jobs(items, count);
    }
    // What depends on a job of a later call is restored when all others are there.
    for (size_t pass = 0; pass < PASSES_MAX; pass++) {
        for (size_t i = 0; i < count; i += 1000) {
            const char *said = restore(talk, items + i, count - i < 1000 ? count - i : 1000);
            const char *wrong = strstr(said, "(error)");
            if (wrong && (pass == PASSES_MAX - 1 || strncmp(wrong, "(error) NOT_FOUND", 17) != 0)) {
                print_error("%s\n", wrong);
                fail();
            }
        }
    }
}

static void complain(void *context, const char *sentence)
{
    (void)context;
    print_error("%s\n", sentence);
}

static void assert_copies(struct talk *talk, bool backwards, bool in_any_order)
{
    struct dump before, after;
    struct talk *copy = talk_new(&allocator_system);
    copy->now_us = talk->now_us;
    dump_all(talk, 1000, &before);
    restore_all(copy, &before, backwards);
    assert_int_equal(engine_check(copy->engine, false, complain, NULL), 0);
    dump_all(copy, 7, &after);
    assert_same(&before, &after, in_any_order);
    talk_free(copy);
    dump_free(&before);
    dump_free(&after);
}

// ---------------------------------------------------------------------------------------------
// A conversation with every kind of thing

static const char *const everything[] = {
    "Q.CONFIG.SET app heartbeat 120",
    "Q.CONFIG.SET app x-own 'a \"value\"'",
    "Q.CONFIG.SET app q-fair 1",
    "Q.LIMIT.SET app QUEUE q DOMAIN d-* RATE 10 PERIOD 60 BURST 5",
    "Q.LIMIT.SET app CONCURRENCY 7",
    "Q.LIMIT.SET app QUEUE q RATE 0",
    "Q.POLICY.SET app klass K BACKOFF list:1,2,3:300:20 TIMEOUT 600 LEASE 30",
    "Q.POLICY.SET app queue q MAX-CRASHES 3 RESULT-TTL 0 LEASE 0",
    "Q.PUT app q K '{\"a\":[1, 2]}' JID plain PRIORITY -5 RETRIES 3 TAG x TAG y DOMAIN d-1",
    "Q.PUT app q K {} JID keyed UNIQUE lock UNIQUE-UNTIL started",
    "Q.PUT app q K '{\"c\":1}' JID contents UNIQUE-CONTENTS UNIQUE-UNTIL time UNIQUE-FOR 500",
    ("Q.PUT app q K {} JID deadline DEADLINE 1784009999 BACKOFF fixed:5 LEASE 7.5 "
     "ON-DEPENDENCY-FAILURE hold"),
    "Q.PUT app other K {} JID later DELAY 500 TAG x",
    "Q.PUT app q K {} JID chain1 DEPENDS plain DEPENDS later DELAY 900",
    "Q.PUT app other K {} JID chain2 DEPENDS chain1",
    "Q.PUT app fails K {} JID failing",
    "Q.POP app w1 1 fails",
    "Q.LOG app failing w1 'a line'",
    "Q.LOG app failing w1 \"\\xff\\x00 line\"",
    "Q.CHECKPOINT app failing w1 '{\"at\":3}'",
    "Q.PROGRESS app failing w1 0.25 MESSAGE 'a quarter'",
    "Q.FAIL app failing w1 smtp 'connection refused'",
    "Q.PUT app fails K {} JID held DEPENDS failing ON-DEPENDENCY-FAILURE fail",
    "Q.PUT app fails K {} JID failed-too DEPENDS failing DEPENDS plain",
    "Q.NOTE app failing put DATA '{\"my\":\"word\"}'",
    "Q.NOTE app plain looked",
    "Q.PUT app done K {} JID done RESULT-TTL 900",
    "Q.POP app w1 1 done",
    "Q.COMPLETE app done w1 RESULT '{\"ok\":true}'",
    "Q.PUT app done K {} JID forever RESULT-TTL 900",
    "Q.POP app w1 1 done",
    "Q.COMPLETE app forever w1 RESULT 7",
    "Q.PUT app done K [] JID vanished UNIQUE-CONTENTS UNIQUE-UNTIL time UNIQUE-FOR 700",
    "Q.POP app w1 1 done",
    "Q.COMPLETE app vanished w1 RESULT [1]",
    "Q.PUT app done K {} JID vanished2 UNIQUE v UNIQUE-UNTIL time UNIQUE-FOR 700",
    "Q.CANCEL app vanished2",
    "Q.CONFIG.SET app jobs-history-count 2",
    "Q.PUT app runs K {} JID running DOMAIN d-2",
    "Q.PUT app runs K {} JID running2",
    "Q.PUT app runs K {} JID timed",
    "Q.PUT app runs K {} JID retried",
    "Q.POP app w2 4 runs",
    "Q.START app running w2 77",
    "Q.TIMEOUT app timed",
    "Q.RETRY app retried w2 DELAY 100 GROUP net MESSAGE 'try later'",
    "Q.RECUR app tick q K {} INTERVAL 60 TAG t BACKLOG 3 DOMAIN d-3 TIMEOUT 5",
    "Q.RECUR app cron other K '{\"x\":1}' CRON '0 3 * * *' ZONE Europe/Berlin OVERLAP skip",
    "Q.TRACK app plain",
    "Q.TRACK app forever",
    "Q.PUT app q K {} JID gone",
    "Q.TRACK app gone",
    "Q.CANCEL app gone",
    "Q.PAUSE app other never-seen",
    "Q.PRIORITY app keyed 4",
    "Q.CONFIG.SET app max-jobs 3",
    "Q.CONFIG.SET app max-tags 1",
    "Q.CONFIG.SET app q-max-bytes 1",
};

static void say_everything(struct talk *talk)
{
    for (size_t i = 0; TEST_ROW_NAMED(i, everything, everything[i]); i++) {
        const char *said = run(talk, everything[i]);
        if (strncmp(said, "(error)", 7) == 0) {
            print_error("> %s\n%s\n", everything[i], said);
            fail();
        }
        passes(talk, 0.001);
    }
}

static void test_transfer__a_copy_has_everything(void **state)
{
    struct talk *t = *state;
    say_everything(t);
    assert_copies(t, false, false);
}

static void test_transfer__leases_that_run_out_leave_jobs_in_their_places(void **state)
{
    struct talk *t = *state;
    say_everything(t);
    passes(t, 125);
    assert_copies(t, false, false);
    passes(t, 600);
    assert_copies(t, false, false);
}

// All of it fits one call, the settings that narrow what may be there apart.
static void test_transfer__jobs_may_come_in_any_order(void **state)
{
    struct talk *t = *state;
    say_everything(t);
    (void)run(t, "Q.CONFIG.UNSET app max-jobs");
    (void)run(t, "Q.CONFIG.UNSET app max-tags");
    (void)run(t, "Q.CONFIG.UNSET app q-max-bytes");
    assert_copies(t, true, true);
}

static void test_transfer__restoring_again_changes_nothing(void **state)
{
    struct talk *t = *state;
    struct dump before, after;
    say_everything(t);
    dump_all(t, 1000, &before);
    static struct slice items[ITEMS_MAX];
    size_t count = items_of(&before, items, ITEMS_MAX);
    const char *said = restore(t, items, count);
    assert_null(strstr(said, "(error)"));
    if (strstr(said, "restored")) {
        print_error("%s\n", said);
        fail();
    }
    dump_all(t, 1, &after);
    assert_same(&before, &after, false);
    dump_free(&before);
    dump_free(&after);
}

static void test_transfer__a_broken_restore_is_completed_by_another(void **state)
{
    struct talk *t = *state;
    struct dump before, after;
    static struct slice items[ITEMS_MAX];
    say_everything(t);
    dump_all(t, 1000, &before);
    size_t count = items_of(&before, items, ITEMS_MAX);
    for (size_t broken = 0; broken < count; broken++) {
        struct talk *copy = talk_new(&allocator_system);
        copy->now_us = t->now_us;
        (void)restore(copy, items, broken);
        restore_all(copy, &before, false);
        dump_all(copy, 1000, &after);
        assert_same(&before, &after, false);
        dump_free(&after);
        talk_free(copy);
    }
    dump_free(&before);
}

static void test_transfer__a_restored_job_goes_on_as_it_would_have(void **state)
{
    struct talk *t = *state;
    says(t,
         "Q.RESTORE app '{\"job\":{\"jid\":\"j\",\"klass\":\"K\",\"queue\":\"q\",\"state\":"
         "\"waiting\",\"retries\":3,\"remaining\":0,\"attempts\":3}}'",
         "1) \"restored\"");
    says(t, "Q.POP app w 1 q", "1)  1# \"jid\" => \"j\"\n...");
    says(t, "Q.RETRY app j w", "(integer) -1");
    says(t, "Q.FAILURES app",
         "1# \"total\" => (integer) 1\n"
         "2# \"failures\" => 1) 1# \"group\" => \"failed-retries-q\"\n...");
}

static void test_transfer__a_job_whose_dependencies_are_complete_goes_on(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.PUT app q K {} JID done");
    (void)run(t, "Q.POP app w 1 q");
    (void)run(t, "Q.COMPLETE app done w");
    says(t,
         "Q.RESTORE app '{\"job\":{\"jid\":\"j\",\"klass\":\"K\",\"queue\":\"q\",\"state\":"
         "\"depends\",\"depends\":[\"done\"]}}'",
         "1) \"restored\"");
    says(t, "Q.COUNT app STATE waiting", "(integer) 1");
    // Also one whose dependency is gone by then.
    (void)run(t, "Q.CONFIG.SET app jobs-history-count 0");
    says(t, "Q.COUNT app STATE complete", "(integer) 0");
    says(t,
         "Q.RESTORE app '{\"job\":{\"jid\":\"k\",\"klass\":\"K\",\"queue\":\"q\",\"state\":"
         "\"depends\",\"depends\":[\"done\"]}}'",
         "1) \"restored\"");
    says(t, "Q.COUNT app STATE waiting", "(integer) 2");
}

// ---------------------------------------------------------------------------------------------
// What is refused

static void test_transfer__what_makes_no_sense_is_refused_and_changes_nothing(void **state)
{
#define JOB(rest) "{\"job\":{\"jid\":\"new\",\"klass\":\"K\",\"queue\":\"q\"," rest "}}"
    static const struct {
        const char *item, *said;
    } cases[] = {
        { "[]", "INVALID an item must be an object with one member" },
        { "{}", "INVALID an item must be an object with one member" },
        { "{\"job\":1}", "INVALID an item must be an object with one member" },
        { "{\"job\":{},\"queue\":{}}", "INVALID an item must be an object with one member" },
        { "{\"what\":{}}", "INVALID items of the kind \"what\" are not known" },
        { "{\"job\":{}}", "INVALID job: jid is missing" },
        { JOB("\"state\":\"dreaming\""), "INVALID job: state must be one of scheduled," },
        { JOB("\"state\":\"running\""), "INVALID job new: a lease cannot be restored" },
        { JOB("\"state\":\"waiting\",\"state\":\"failed\""),
          "INVALID job: \"state\" is given twice" },
        { JOB("\"state\":\"waiting\",\"color\":1"), "INVALID job: \"color\" is not known" },
        { JOB("\"state\":\"waiting\",\"priority\":1e12"), "INVALID job: priority must be a whole" },
        { JOB("\"state\":\"waiting\",\"priority\":\"1\""),
          "INVALID job: priority must be a whole" },
        { JOB("\"state\":\"waiting\",\"retries\":-1"), "INVALID job: retries must be a whole" },
        { JOB("\"state\":\"waiting\",\"remaining\":-1"), "INVALID job new: remaining must not" },
        { JOB("\"state\":\"waiting\",\"attempts\":65536"), "INVALID job: attempts must be" },
        { JOB("\"state\":\"waiting\",\"created\":-1"), "INVALID job: created must be a time" },
        { JOB("\"state\":\"waiting\",\"created\":1e300"), "INVALID job: created must be a time" },
        { JOB("\"state\":\"waiting\",\"moved\":\"soon\""), "INVALID job: moved must be a time" },
        { JOB("\"state\":\"waiting\",\"rank\":\"lost\""), "INVALID job new: only a stalled job" },
        { JOB("\"state\":\"scheduled\""), "INVALID job new: a scheduled job needs the time" },
        { JOB("\"state\":\"waiting\",\"scheduled\":5"), "INVALID job new: only a job that is sch" },
        { JOB("\"state\":\"depends\""), "INVALID job new: a job in the state depends needs" },
        { JOB("\"state\":\"depends\",\"depends\":[\"nobody\"]"), "NOT_FOUND job nobody, a depend" },
        { JOB("\"state\":\"depends\",\"depends\":[\"new\"]"), "NOT_FOUND job new, a dependency" },
        { JOB("\"state\":\"depends\",\"depends\":[1]"), "INVALID job: depends must be a string" },
        { JOB("\"state\":\"waiting\",\"depends\":[\"plain\"]"),
          "INVALID job new: only a job that" },
        { JOB("\"state\":\"failed\""), "INVALID job new: a failed job needs the group" },
        { JOB("\"state\":\"failed\",\"failure\":{}"), "INVALID failure: group is missing" },
        { JOB("\"state\":\"failed\",\"failure\":{\"group\":\"\"}"), "INVALID job new: a failed" },
        { JOB("\"state\":\"waiting\",\"tags\":[\"\"]"), "INVALID tag must not be empty" },
        { JOB("\"state\":\"waiting\",\"tags\":[\"a\",\"b\"]"), "TOO_LARGE 2 tags" },
        { JOB("\"state\":\"waiting\",\"tags\":[\"a\"],\"tagged\":[1,2]"),
          "INVALID job: tagged mu" },
        { JOB("\"state\":\"waiting\",\"unique\":{\"by\":\"key\"}"), "INVALID the key of uniqu" },
        { JOB("\"state\":\"waiting\",\"unique\":{\"by\":\"contents\",\"key\":\"short\"}"),
          "INVALID the SHA-256 of contents has 32 bytes" },
        { JOB("\"state\":\"waiting\",\"unique\":{\"by\":\"key\",\"key\":\"lock\"}"), "exists" },
        { JOB("\"state\":\"waiting\",\"unique\":{\"by\":\"key\",\"key\":\"k\",\"until\":\"time\"}"),
          "INVALID unique: until time, and nothing else, needs until-time" },
        { JOB("\"state\":\"waiting\",\"history\":[{\"when\":1,\"what\":\"popped\"}]"),
          "INVALID history: its first entry must be the put that created the job" },
        { JOB("\"state\":\"waiting\",\"history\":[{\"when\":1,\"what\":\"put\",\"queue\":\"q\"},"
              "{\"when\":1,\"what\":\"eaten\"}]"),
          "INVALID \"eaten\" is no word of a history" },
        { JOB("\"state\":\"waiting\",\"history\":[{\"when\":1,\"what\":\"put\"}]"),
          "INVALID the queue of the first put must not be empty" },
        { JOB("\"state\":\"waiting\",\"history\":[{\"what\":\"put\"}]"), "INVALID history: when" },
        { JOB("\"state\":\"waiting\",\"options\":{\"backoff\":\"sometimes\"}"), "INVALID BACKOFF" },
        { JOB("\"state\":\"waiting\",\"klass\":{\"hex\":\"0\"}"),
          "INVALID job: \"klass\" is given" },
        { JOB("\"state\":\"waiting\",\"domain\":{\"hex\":\"0\"}"),
          "INVALID job: domain must be wr" },
        { JOB("\"state\":\"waiting\",\"domain\":{\"hex\":\"zz\"}"),
          "INVALID job: domain must be w" },
        { "{\"job\":{\"jid\":\"new\",\"klass\":\"K\",\"state\":\"waiting\"}}",
          "INVALID queue must not be empty" },
        { "{\"queue\":{\"name\":\"\"}}", "INVALID queue must not be empty" },
        { "{\"queue\":{\"name\":\"n\",\"first-seen\":-5}}", "INVALID queue: first-seen must be" },
        { "{\"tracked\":{\"jid\":\"\"}}", "INVALID jid must not be empty" },
        { "{\"option\":{\"name\":\"hartbeat\",\"value\":\"1\"}}", "INVALID" },
        { "{\"option\":{\"name\":\"grace-period\",\"value\":\"soon\"}}", "INVALID" },
        { "{\"limit\":{\"rate\":-1}}", "INVALID limit: rate must be" },
        { "{\"policy\":{\"scope\":\"klass\",\"name\":\"N\",\"options\":{}}}",
          "INVALID policy: it" },
        { "{\"recurring\":{\"jid\":\"n\",\"klass\":\"K\",\"queue\":\"q\"}}", "INVALID interval" },
        { "{\"recurring\":{\"jid\":\"n\",\"klass\":\"K\",\"queue\":\"q\",\"cron\":\"0 0 * * *\","
          "\"zone\":\"Mars/Base\"}}",
          "NOT_FOUND time zone Mars/Base is not known" },
        { "{\"number\":{\"last\":1e18}}", "INVALID number: last must be" },
        { "{\"number\":{\"last\":-1}}", "INVALID number: last must be" },
        { "{\"namespace\":{\"format\":2}}", "UNSUPPORTED the format is 2" },
        { "{\"namespace\":{\"format\":1,\"clock\":\"client\"}}", "STATE the namespace has the se" },
        { "{\"depends\":{\"jid\":\"plain\",\"depends\":[\"later\"]}}", "STATE job plain has not" },
        { "{\"depends\":{\"jid\":\"failing\",\"depends\":[\"held\"]}}",
          "INVALID job failing cannot depend on held, which depends on it" },
    };
    struct talk *t = *state;
    struct dump before, after;
    say_everything(t);
    (void)run(t, "Q.CONFIG.UNSET app max-jobs");
    (void)run(t, "Q.CONFIG.UNSET app q-max-bytes");
    dump_all(t, 1000, &before);
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].item); i++) {
        const struct slice item = slice_from_cstr(cases[i].item);
        const char *said = restore(t, &item, 1);
        if (!strstr(said, cases[i].said)) {
            print_error("%s\n%s\ninstead of %s\n", cases[i].item, said, cases[i].said);
            fail();
        }
        dump_all(t, 1000, &after);
        assert_same(&before, &after, false);
        dump_free(&after);
        assert_int_equal(engine_check(t->engine, false, complain, NULL), 0);
    }
    dump_free(&before);
#undef JOB
}

static void test_transfer__quotas_hold(void **state)
{
    struct talk *t = *state;
    const struct slice job = SLICE("{\"job\":{\"jid\":\"j\",\"klass\":\"K\",\"queue\":\"q\","
                                   "\"state\":\"waiting\"}}");
    const struct slice done = SLICE("{\"job\":{\"jid\":\"d\",\"klass\":\"K\",\"queue\":\"q\","
                                    "\"state\":\"complete\"}}");
    (void)run(t, "Q.PUT app q K {}");
    (void)run(t, "Q.CONFIG.SET app max-jobs 1");
    says(t, "Q.COUNT app", "(integer) 1");
    assert_non_null(strstr(restore(t, &job, 1), "TOO_LARGE the namespace has 1 jobs"));
    assert_non_null(strstr(restore(t, &done, 1), "restored")); // it does not count
    (void)run(t, "Q.CONFIG.SET app max-jobs 0");
    (void)run(t, "Q.CONFIG.SET app q-max-bytes 3");
    assert_non_null(strstr(restore(t, &job, 1), "TOO_LARGE queue q has 2 bytes of jobs"));
    (void)run(t, "Q.CONFIG.SET app q-max-bytes 4");
    assert_non_null(strstr(restore(t, &job, 1), "restored"));
}

static void test_transfer__a_circle_is_refused(void **state)
{
    struct talk *t = *state;
    const struct slice items[] = {
        SLICE("{\"job\":{\"jid\":\"a\",\"klass\":\"K\",\"queue\":\"q\",\"state\":\"depends\","
              "\"depends\":[\"b\"]}}"),
        SLICE("{\"job\":{\"jid\":\"b\",\"klass\":\"K\",\"queue\":\"q\",\"state\":\"depends\","
              "\"depends\":[\"c\"]}}"),
        SLICE("{\"job\":{\"jid\":\"c\",\"klass\":\"K\",\"queue\":\"q\",\"state\":\"depends\","
              "\"depends\":[\"a\"]}}"),
    };
    assert_string_equal(restore(t, items, 3),
                        "1) (error) NOT_FOUND job b, a dependency, does not exist\n"
                        "2) (error) NOT_FOUND job c, a dependency, does not exist\n"
                        "3) (error) NOT_FOUND job a, a dependency, does not exist");
    says(t, "Q.QUEUES app",
         "1# \"total\" => (integer) 0\n2# \"queues\" => (empty array)\n3# \"next\" => (nil)");
}

static void test_transfer__what_depends_on_what_comes_later_is_restored_with_it(void **state)
{
    struct talk *t = *state;
    enum {
        LENGTH = 500,
    };
    static char text[LENGTH][160];
    struct slice items[LENGTH];
    // A chain with its end first.
    for (int i = 0; i < LENGTH; i++) {
        (void)snprintf(text[i], sizeof(text[i]),
                       "{\"job\":{\"jid\":\"j%d\",\"klass\":\"K\",\"queue\":\"q\",\"state\":"
                       "\"%s\",\"depends\":[%s\"j%d\"]}}",
                       i, i < LENGTH - 1 ? "depends" : "waiting",
                       i < LENGTH - 1 ? "" : "],\"tags\":[", i + 1);
        items[i] = slice_from_cstr(text[i]);
    }
    assert_null(strstr(restore(t, items, LENGTH), "(error)"));
    says(t, "Q.COUNT app STATE depends", "(integer) 499");
}

static void test_transfer__cursors_that_no_page_gave_are_refused(void **state)
{
    struct talk *t = *state;
    static const char *const wrong[] = {
        "x",           "1",          "1-2-3-4",
        "1-2-3-4-5-6", "99-0-0-0-0", "4-0-9-0-0",
        "-1-0-0-0-0",  "1-0-0-0-",   "4-18446744073709551615-0-0-0"
    };
    for (size_t i = 0; TEST_ROW_NAMED(i, wrong, wrong[i]); i++) {
        char line[100];
        (void)snprintf(line, sizeof(line), "Q.DUMP app CURSOR %s", wrong[i]);
        says(t, line, "(error) INVALID Q.DUMP: CURSOR is not from an earlier page");
    }
}

// ---------------------------------------------------------------------------------------------
// Checks

static void test_transfer__a_check_says_what_would_happen_and_changes_nothing(void **state)
{
    struct talk *t = *state;
    struct talk *copy = talk_new(&allocator_system);
    struct dump dump, empty, after;
    static struct slice items[ITEMS_MAX];
    say_everything(t);
    dump_all(t, 1000, &dump);
    dump_all(copy, 1000, &empty);
    size_t count = items_of(&dump, items, ITEMS_MAX);
    copy->now_us = t->now_us;
    struct slice *words = copy->words;
    words[0] = SLICE("Q.RESTORE.CHECK");
    words[1] = SLICE("app");
    words[2] = SLICE("--");
    memcpy(words + 3, items, count * sizeof(*items));
    assert_null(strstr(run_words(copy, words, count + 3), "(error)"));
    dump_all(copy, 1000, &after);
    assert_same(&empty, &after, false);
    talk_free(copy);
    dump_free(&dump);
    dump_free(&empty);
    dump_free(&after);
}

static void test_transfer__room_is_asked_for(void **state)
{
    struct talk *t = *state;
    (void)run(t, "Q.CONFIG.SET app max-jobs 10");
    (void)run(t, "Q.CONFIG.SET app q-max-bytes 100");
    (void)run(t, "Q.PUT app p K {}");
    says(t, "Q.RESTORE.CHECK app '{\"room\":{\"jobs\":9}}'", "1) 1# \"kind\" => \"room\"\n...");
    says(
        t, "Q.RESTORE.CHECK app '{\"room\":{\"jobs\":10}}'",
        "1) (error) TOO_LARGE the namespace has 1 jobs that are not complete and may have 10: ...");
    says(t, "Q.RESTORE.CHECK app '{\"room\":{\"queue\":\"q\",\"jobs\":10,\"bytes\":101}}'",
         "1) (error) TOO_LARGE queue q has 0 bytes of jobs and may have 100: ...");
}

// ---------------------------------------------------------------------------------------------
// Memory

static void test_transfer__without_memory_nothing_changes(void **state)
{
    struct talk *t = *state;
    static struct slice items[ITEMS_MAX];
    struct dump dump, before, after;
    say_everything(t);
    dump_all(t, 1000, &dump);
    size_t count = items_of(&dump, items, ITEMS_MAX);
    struct fault_alloc fault;
    fault_alloc_init(&fault);
    struct talk *copy = talk_new(&fault.allocator);
    copy->now_us = t->now_us;
    // Each item with its first allocation failing, its second, and so on until it is restored.
    for (size_t i = 0; i < count; i++) {
        dump_all(copy, 1000, &before);
        for (size_t round = 1;; round++) {
            fault.fail_at = fault.calls + round;
            fault.failed = false;
            const char *said = restore(copy, &items[i], 1);
            fault.fail_at = 0;
            if (!strstr(said, "(error)")) {
                break;
            }
            assert_non_null(strstr(said, "memory"));
            dump_all(copy, 1000, &after);
            assert_same(&before, &after, false);
            dump_free(&after);
            assert_int_equal(engine_check(copy->engine, false, complain, NULL), 0);
        }
        dump_free(&before);
    }
    dump_all(copy, 1000, &after);
    assert_same(&dump, &after, false);
    dump_free(&dump);
    dump_free(&after);
    talk_free(copy);
    fault_alloc_release(&fault);
}

// ---------------------------------------------------------------------------------------------
// At random

// A line with numbers in place of % and the letters behind: j jid, q queue, w worker, t tag, d
// domain, n a small number.
static void fill_in(struct random *random, const char *pattern, char *line, size_t size)
{
    size_t used = 0;
    for (const char *at = pattern; *at; at++) {
        assert_true(used + 16 < size);
        if (*at != '%') {
            line[used++] = *at;
            continue;
        }
        at++;
        uint64_t most = *at == 'j' ? 40 : *at == 'n' ? 100 : 3;
        if (*at != 'n') {
            line[used++] = *at;
        }
        used += (size_t)snprintf(line + used, size - used, "%llu",
                                 (unsigned long long)random_below(random, most));
    }
    line[used] = '\0';
}

static void test_transfer__random_namespaces_are_copied(void **state)
{
    static const char *const patterns[] = {
        "Q.PUT app %q K {\"n\":%n} JID %j",
        "Q.PUT app %q K {} JID %j TAG %t TAG %t PRIORITY %n",
        "Q.PUT app %q K {} JID %j DELAY %n",
        "Q.PUT app %q K {} JID %j DEPENDS %j DEPENDS %j",
        "Q.PUT app %q K {} JID %j DEPENDS %j ON-DEPENDENCY-FAILURE fail",
        "Q.PUT app %q K {} JID %j DEPENDS %j ON-DEPENDENCY-FAILURE run DELAY %n",
        "Q.PUT app %q K {} JID %j DOMAIN %d RETRIES 1",
        "Q.PUT app %q K {} JID %j UNIQUE %t ON-CONFLICT refuse",
        "Q.PUT app %q K {\"n\":%n} JID %j UNIQUE-CONTENTS UNIQUE-UNTIL time UNIQUE-FOR %n",
        "Q.POP app %w 1 %q",
        "Q.POP app %w 3 %q %q",
        "Q.COMPLETE app %j %w RESULT [%n]",
        "Q.COMPLETE app %j %w NEXT %q",
        "Q.FAIL app %j %w %t message",
        "Q.RETRY app %j %w",
        "Q.RETRY app %j %w DELAY %n GROUP %t MESSAGE m",
        "Q.TIMEOUT app %j",
        "Q.CANCEL app %j",
        "Q.TRACK app %j",
        "Q.UNTRACK app %j",
        "Q.PRIORITY app %j %n",
        "Q.TAG app %j %t",
        "Q.UNTAG app %j %t",
        "Q.NOTE app %j noted",
        "Q.PROGRESS app %j %w 0.5",
        "Q.CHECKPOINT app %j %w {}",
        "Q.UNFAIL app %t %q 2",
        "Q.PAUSE app %q",
        "Q.UNPAUSE app %q",
        "Q.RECUR app r%j %q K {} INTERVAL 9%n",
        "Q.DEPENDS.ON app %j %j",
        "Q.DEPENDS.OFF app %j %j",
        "Q.CONFIG.SET app %q-fair 1",
        "Q.FORGET app %q",
    };
    struct talk *t = *state;
    struct random random;
    random_init(&random);
    char line[200];
    for (size_t i = 0; i < 4000; i++) {
        size_t pattern = (size_t)random_below(&random, sizeof(patterns) / sizeof(patterns[0]));
        fill_in(&random, patterns[pattern], line, sizeof(line));
        (void)run(t, line);
        passes(t, (double)random_below(&random, 3000) / 1000);
        if (i % 200 == 0) {
            // What depends on a job made later is restored behind it.
            assert_copies(t, false, true);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK_TEST(test_transfer__a_copy_has_everything),
        TALK_TEST(test_transfer__leases_that_run_out_leave_jobs_in_their_places),
        TALK_TEST(test_transfer__jobs_may_come_in_any_order),
        TALK_TEST(test_transfer__restoring_again_changes_nothing),
        TALK_TEST(test_transfer__a_broken_restore_is_completed_by_another),
        TALK_TEST(test_transfer__a_restored_job_goes_on_as_it_would_have),
        TALK_TEST(test_transfer__a_job_whose_dependencies_are_complete_goes_on),
        TALK_TEST(test_transfer__what_makes_no_sense_is_refused_and_changes_nothing),
        TALK_TEST(test_transfer__quotas_hold),
        TALK_TEST(test_transfer__a_circle_is_refused),
        TALK_TEST(test_transfer__what_depends_on_what_comes_later_is_restored_with_it),
        TALK_TEST(test_transfer__cursors_that_no_page_gave_are_refused),
        TALK_TEST(test_transfer__a_check_says_what_would_happen_and_changes_nothing),
        TALK_TEST(test_transfer__room_is_asked_for),
        TALK_TEST(test_transfer__without_memory_nothing_changes),
        TALK_TEST(test_transfer__random_namespaces_are_copied),
    };
    return cmocka_run_group_tests_name("transfer", tests, NULL, NULL);
}
