// SPDX-License-Identifier: MIT
// The queue looks at each item for itself. What they need together is added up here, and asked for
// at the end: how much room there must be, and whether what jobs depend on comes with the file.
#include "cli/commands/items_check.h"

#include "cli/core/call.h"
#include "cli/core/json.h"

#include <stdlib.h>
#include <string.h>

enum {
    SLOTS_FIRST = 1024,
    SHOWN_MAX = 20, // lines of a kind; the others are counted
};

// Names that were seen: their hashes alone, so that a million of them take 16 MB.
struct seen {
    uint64_t *slots; // 0: free
    size_t count, room;
};

struct queue_sum {
    char *name;
    int64_t jobs, bytes;
};

// A job that depends on one that is not in the namespace.
struct need {
    uint64_t hash;
    int64_t line;
    char *name;
};

struct items_check {
    const struct tool *tool;
    const char *name; // of the file
    struct seen jids;
    struct queue_sum *queues;
    size_t queue_count;
    struct need *needs;
    size_t need_count;
    int64_t fits, existing, jobs, bytes, new_queues, recurring;
    int64_t problems;
};

struct items_check *items_check_new(const struct tool *tool, const char *name)
{
    struct items_check *check = tool_allocate(sizeof *check);
    check->tool = tool;
    check->name = name;
    return check;
}

// ---------------------------------------------------------------------------------------------
// Names that were seen

// FNV-1a; never 0.
static uint64_t hash_of(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (; *name; name++) {
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3;
    }
    return hash ? hash : 1;
}

static size_t slot_of(const struct seen *seen, uint64_t hash)
{
    size_t at = (size_t)hash & (seen->room - 1);
    while (seen->slots[at] && seen->slots[at] != hash) {
        at = (at + 1) & (seen->room - 1);
    }
    return at;
}

static bool has_seen(const struct seen *seen, uint64_t hash)
{
    return seen->room && seen->slots[slot_of(seen, hash)] == hash;
}

static void see(struct seen *seen, uint64_t hash)
{
    if (2 * seen->count >= seen->room) {
        const struct seen old = *seen;
        seen->room = old.room ? 2 * old.room : SLOTS_FIRST;
        seen->slots = tool_allocate(seen->room * sizeof *seen->slots);
        for (size_t i = 0; i < old.room; i++) {
            if (old.slots[i]) {
                seen->slots[slot_of(seen, old.slots[i])] = old.slots[i];
            }
        }
        tool_free(old.slots);
    }
    size_t at = slot_of(seen, hash);
    seen->count += !seen->slots[at];
    seen->slots[at] = hash;
}

// ---------------------------------------------------------------------------------------------
// Lines

static void complain_of(struct items_check *check, int64_t line, const char *what, const char *name)
{
    if (check->problems++ < SHOWN_MAX) {
        tool_complain("%s:%lld: %s %s", check->name, (long long)line, what, name);
    }
}

static struct queue_sum *sum_of(struct items_check *check, const char *name)
{
    // Most jobs are in the queue of the job before.
    for (size_t i = check->queue_count; i > 0; i--) {
        if (!strcmp(check->queues[i - 1].name, name)) {
            return &check->queues[i - 1];
        }
    }
    check->queues = tool_resize(check->queues, (check->queue_count + 1) * sizeof *check->queues);
    check->queues[check->queue_count] = (struct queue_sum){ .name = tool_copy(name, strlen(name)) };
    return &check->queues[check->queue_count++];
}

static void add_needs(struct items_check *check, int64_t line, const struct sluice_value *missing)
{
    for (size_t i = 0; i < sluice_value_count(missing); i++) {
        const char *jid = sluice_value_text(sluice_value_at(missing, i), NULL);
        check->needs = tool_resize(check->needs, (check->need_count + 1) * sizeof *check->needs);
        check->needs[check->need_count++] = (struct need){ .hash = hash_of(jid),
                                                           .line = line,
                                                           .name = tool_copy(jid, strlen(jid)) };
    }
}

static void add_job(struct items_check *check, int64_t line, const char *jid,
                    const struct sluice_value *said)
{
    const char *queue = sluice_value_text(sluice_value_get(said, "queue"), NULL);
    int64_t bytes = sluice_value_integer(sluice_value_get(said, "bytes"));
    if (has_seen(&check->jids, hash_of(jid))) {
        complain_of(check, line, "there is another line before with the job", jid);
        return;
    }
    see(&check->jids, hash_of(jid));
    if (queue) {
        struct queue_sum *sum = sum_of(check, queue);
        sum->jobs++;
        sum->bytes += bytes;
        check->jobs++;
        check->bytes += bytes;
    }
}

void items_check_add(struct items_check *check, int64_t line, const struct sluice_value *said)
{
    const char *kind = sluice_value_text(sluice_value_get(said, "kind"), NULL);
    const char *name = sluice_value_text(sluice_value_get(said, "name"), NULL);
    const char *outcome = sluice_value_text(sluice_value_get(said, "outcome"), NULL);
    if (!strcmp(kind, "namespace") || !strcmp(kind, "number")) {
        return;
    }
    if (!strcmp(outcome, "exists")) {
        check->existing++;
        if (check->existing <= SHOWN_MAX) {
            tool_complain("%s:%lld: %s %s is there already and would stay as it is", check->name,
                          (long long)line, kind, name ? name : "");
        }
        return;
    }
    check->fits++;
    check->new_queues += !strcmp(kind, "queue");
    check->recurring += !strcmp(kind, "recurring");
    if (!strcmp(kind, "job") && name) {
        add_job(check, line, name, said);
    }
    if (!strcmp(outcome, "depends")) {
        add_needs(check, line, sluice_value_get(said, "missing"));
    }
}

// ---------------------------------------------------------------------------------------------
// All of them

static void check_needs(struct items_check *check)
{
    for (size_t i = 0; i < check->need_count; i++) {
        if (!has_seen(&check->jids, check->needs[i].hash)) {
            complain_of(check, check->needs[i].line,
                        "it depends on a job that is neither in the namespace nor in the file:",
                        check->needs[i].name);
        }
        tool_free(check->needs[i].name);
    }
}

static int ask_room(struct items_check *check, char *item)
{
    struct words words = { 0 };
    struct sluice_value *answer = NULL;
    words_add(&words, "Q.RESTORE.CHECK");
    words_add(&words, "--");
    words_add(&words, item);
    int code = words_call(check->tool, &words, &answer);
    const struct sluice_value *said = sluice_value_at(answer, 0);
    if (!code && sluice_value_type(said) == SLUICE_FAULT) {
        check->problems++;
        tool_complain("%s as a whole does not fit: %s", check->name, sluice_value_text(said, NULL));
    }
    sluice_value_free(answer);
    tool_free(words.items);
    tool_free(item);
    return code;
}

static int check_room(struct items_check *check)
{
    int code =
        ask_room(check, tool_format("{\"room\":{\"jobs\":%lld,\"bytes\":%lld,"
                                    "\"queues\":%lld,\"recurring\":%lld}}",
                                    (long long)check->jobs, (long long)check->bytes,
                                    (long long)check->new_queues, (long long)check->recurring));
    for (size_t i = 0; i < check->queue_count; i++) {
        const struct queue_sum *sum = &check->queues[i];
        char *name = json_quote(sum->name, strlen(sum->name));
        if (!code) {
            code = ask_room(check, tool_format("{\"room\":{\"queue\":%s,\"jobs\":%lld,"
                                               "\"bytes\":%lld}}",
                                               name, (long long)sum->jobs, (long long)sum->bytes));
        }
        tool_free(name);
        tool_free(sum->name);
    }
    return code;
}

int items_check_end(struct items_check *check, int64_t refused)
{
    check_needs(check);
    int code = check_room(check);
    if (check->tool->json) {
        print(stdout, "{\"fits\":%lld,\"existing\":%lld,\"refused\":%lld,\"problems\":%lld}\n",
              (long long)check->fits, (long long)check->existing, (long long)refused,
              (long long)check->problems);
    } else {
        print(stdout, "%lld would be restored, %lld are there already, %lld would be refused\n",
              (long long)check->fits, (long long)check->existing, (long long)refused);
        if (check->problems) {
            print(stdout, "%lld other problems\n", (long long)check->problems);
        }
    }
    code = code ? code : refused || check->problems ? EXIT_REFUSED : EXIT_DONE;
    tool_free(check->jids.slots);
    tool_free(check->queues);
    tool_free(check->needs);
    tool_free(check);
    return code;
}
