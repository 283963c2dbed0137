// SPDX-License-Identifier: MIT
#include "ledger.h"

#include "test.h"

#include "base/num.h"

#include <string.h>

const char *const ledger_namespaces[LEDGER_NAMESPACES] = { "strict", "kind" };
const char *const ledger_graces[LEDGER_NAMESPACES] = { "0", "0.1" };
const char ledger_heartbeat[] = "0.25";

static const int64_t grace_us[LEDGER_NAMESPACES] = { 0, 100000 };
static const char *const act_names[] = { "complete", "fail", "retry", "complete with a next queue",
                                         "heartbeat" };

void ledger_init(struct ledger *ledger)
{
    *ledger = (struct ledger){ 0 };
}

void ledger_release(struct ledger *ledger)
{
    free(ledger->entries);
    ledger_init(ledger);
}

// ---------------------------------------------------------------------------------------------
// Names

void ledger_jid(size_t job, char jid[LEDGER_JID_SIZE])
{
    (void)snprintf(jid, LEDGER_JID_SIZE, "j%zu", job);
}

size_t ledger_job(const struct ledger *ledger, struct slice jid)
{
    uint64_t job = 0;
    if (jid.size < 2 || jid.data[0] != 'j' || num_parse_u64(slice_sub(jid, 1, SIZE_MAX), &job) ||
        job >= ledger->count) {
        fail_msg("violation: the job %.*s was never put", SLICE_PRINT(jid));
    }
    return (size_t)job;
}

void ledger_data(size_t job, struct buffer *out)
{
    buffer_clear(out);
    buffer_printf(out, "{\"n\":%zu,\"pad\":\"", job);
    for (size_t i = job * 7919 % 331; i > 0; i--) {
        buffer_append_char(out, (char)('a' + (job + i) % 26));
    }
    buffer_append(out, SLICE("\"}"));
}

// ---------------------------------------------------------------------------------------------
// Puts

size_t ledger_put_sent(struct ledger *ledger)
{
    if (ledger->count == ledger->capacity) {
        ledger->capacity = ledger->capacity ? 2 * ledger->capacity : 1024;
        ledger->entries = realloc(ledger->entries, ledger->capacity * sizeof(struct entry));
        assert_non_null(ledger->entries);
    }
    ledger->entries[ledger->count] = (struct entry){ .put = PUT_SENT };
    ledger->open++;
    return ledger->count++;
}

void ledger_put_acknowledged(struct ledger *ledger, size_t job)
{
    ledger->puts++;
    ledger->entries[job].put = PUT_THERE;
}

void ledger_put_unknown(struct ledger *ledger, size_t job)
{
    ledger->unknown++;
    if (ledger->entries[job].put == PUT_SENT) {
        ledger->entries[job].put = PUT_UNKNOWN;
    }
}

// ---------------------------------------------------------------------------------------------
// Leases

// Until then, as far as is known, the lease is its holder's.
static int64_t held_until(const struct entry *entry, size_t job)
{
    return entry->expires_low_us + grace_us[ledger_namespace(job)];
}

// An answer that was written later may be read sooner, on another connection.
static void check_earlier(const struct entry *entry, size_t job, uint64_t token, int64_t expires_us)
{
    if (token == entry->token) {
        fail_msg("violation: j%zu was handed out twice with the token %llu", job,
                 (unsigned long long)token);
    }
    if (expires_us + grace_us[ledger_namespace(job)] > entry->popped_us) {
        fail_msg("violation: j%zu was handed out with the token %llu, and with %llu before that "
                 "lease was over",
                 job, (unsigned long long)token, (unsigned long long)entry->token);
    }
}

void ledger_popped(struct ledger *ledger, size_t job, uint64_t token, int64_t expires_us,
                   struct slice data)
{
    struct entry *entry = &ledger->entries[job];
    int64_t popped_us = expires_us - LEDGER_HEARTBEAT_US;
    struct buffer wanted;
    buffer_init(&wanted, &allocator_system, 1 << 12);
    ledger_data(job, &wanted);
    if (!slice_equal(buffer_slice(&wanted), data)) {
        fail_msg("violation: j%zu has other data than it was put with", job);
    }
    buffer_release(&wanted);
    ledger->pops++;
    if (token <= entry->token) {
        check_earlier(entry, job, token, expires_us);
        return;
    }
    if (entry->complete || entry->failed) {
        fail_msg("violation: j%zu was handed out after it was acknowledged to be %s", job,
                 entry->complete ? "complete" : "failed");
    }
    if (entry->token && !entry->maybe_back && popped_us < held_until(entry, job)) {
        fail_msg("violation: j%zu was handed out with the token %llu %lld us before the lease with "
                 "the token %llu was over, which had been handed out %lld us ago, ran out %s at "
                 "%lld, had %u acts that end it%s, and after which the server was down from %lld "
                 "to %lld",
                 job, (unsigned long long)token, (long long)(held_until(entry, job) - popped_us),
                 (unsigned long long)entry->token, (long long)(popped_us - entry->popped_us),
                 entry->expires_low_us == entry->expires_up_us ? "exactly" : "at least",
                 (long long)(entry->expires_low_us - entry->popped_us), entry->ends,
                 entry->maybe_complete ? " (one completes it)" : "",
                 (long long)(ledger->dead_us - entry->popped_us),
                 (long long)(ledger->started_us - entry->popped_us));
    }
    ledger->again += entry->token != 0;
    ledger->open += entry->out;
    *entry = (struct entry){ .put = PUT_THERE,
                             .token = token,
                             .token_before = entry->maybe_back ? 0 : entry->token,
                             .popped_us = popped_us,
                             .expires_low_us = expires_us,
                             .expires_up_us = expires_us };
}

void ledger_act_sent(struct ledger *ledger, size_t job, uint64_t token, enum lease_act act)
{
    struct entry *entry = &ledger->entries[job];
    if (token != entry->token) {
        return;
    }
    entry->ends += act != ACT_HEARTBEAT;
    entry->maybe_complete |= act == ACT_COMPLETE;
    entry->maybe_failed |= act == ACT_FAIL;
    entry->maybe_back |= act == ACT_RETRY || act == ACT_NEXT;
}

static void end_for_good(struct ledger *ledger, struct entry *entry, bool complete)
{
    ledger->open -= !entry->out;
    entry->out = true;
    entry->complete = complete;
    entry->failed = !complete;
}

void ledger_act_acknowledged(struct ledger *ledger, size_t job, uint64_t token, enum lease_act act,
                             int64_t expires_us)
{
    struct entry *entry = &ledger->entries[job];
    bool ends = act == ACT_COMPLETE || act == ACT_FAIL;
    ledger->acts++;
    if (token != entry->token) {
        bool overlaps = act == ACT_HEARTBEAT && token == entry->token_before &&
                        expires_us + grace_us[ledger_namespace(job)] > entry->popped_us;
        if (ends || overlaps) {
            fail_msg("violation: %s of j%zu with the token %llu was taken though it was handed out "
                     "with %llu",
                     act_names[act], job, (unsigned long long)token,
                     (unsigned long long)entry->token);
        }
        return;
    }
    // Sent again by one who did not hear the answer, it is answered once more.
    bool repeats = entry->unheard[act] &&
                   (act == ACT_COMPLETE ? entry->complete : act == ACT_FAIL && entry->failed);
    if ((entry->complete || entry->failed) && !repeats) {
        fail_msg("violation: %s of j%zu was taken after it had ended", act_names[act], job);
    }
    if (ends) {
        end_for_good(ledger, entry, act == ACT_COMPLETE);
    } else if (act == ACT_HEARTBEAT) {
        entry->expires_low_us = entry->expires_up_us = expires_us;
    }
}

void ledger_next_answered_complete(struct ledger *ledger, size_t job, uint64_t token)
{
    const struct entry *entry = &ledger->entries[job];
    if (token == entry->token && !entry->unheard[ACT_COMPLETE]) {
        fail_msg("violation: j%zu was completed for good by its %s", job, act_names[ACT_NEXT]);
    }
    ledger_act_acknowledged(ledger, job, token, ACT_COMPLETE, 0);
}

void ledger_act_refused(struct ledger *ledger, size_t job, uint64_t token, enum lease_act act,
                        int64_t heard_us, struct slice why)
{
    struct entry *entry = &ledger->entries[job];
    ledger->refusals++;
    // With or without a next queue it repeats those that were sent before.
    bool completes = act == ACT_COMPLETE || act == ACT_NEXT;
    bool done = (completes && entry->complete) || (act == ACT_FAIL && entry->failed);
    unsigned unheard =
        completes ? entry->unheard[ACT_COMPLETE] + entry->unheard[ACT_NEXT] : entry->unheard[act];
    if (token != entry->token || (heard_us >= held_until(entry, job) && !done)) {
        return;
    }
    unsigned mine = (act != ACT_HEARTBEAT) + unheard;
    if (done || entry->ends <= mine) {
        fail_msg("violation: %s of j%zu by the holder of the lease was refused: %.*s",
                 act_names[act], job, SLICE_PRINT(why));
    }
    // It was said before, by one who did not hear the answer: that has worked.
    if (entry->maybe_complete && !entry->maybe_failed && !entry->maybe_back) {
        end_for_good(ledger, entry, true);
    }
}

void ledger_act_unknown(struct ledger *ledger, size_t job, uint64_t token, enum lease_act act)
{
    struct entry *entry = &ledger->entries[job];
    ledger->unknown++;
    if (token != entry->token) {
        return;
    }
    if (act == ACT_HEARTBEAT) {
        entry->expires_up_us = INT64_MAX;
        return;
    }
    entry->unheard[act]++;
    if (act == ACT_COMPLETE || act == ACT_FAIL) {
        ledger->open -= !entry->out;
        entry->out = true;
    }
}

// ---------------------------------------------------------------------------------------------
// Kills

// A lease that ran out while no worker could renew it begins anew when the server is back.
void ledger_down(struct ledger *ledger, int64_t dead_us, int64_t started_us)
{
    ledger->dead_us = dead_us;
    ledger->started_us = started_us;
    for (size_t job = 0; job < ledger->count; job++) {
        struct entry *entry = &ledger->entries[job];
        if (!entry->token || entry->complete || entry->failed) {
            continue;
        }
        int64_t grace = grace_us[ledger_namespace(job)];
        bool ran_out = entry->expires_low_us > dead_us && entry->expires_up_us <= started_us;
        bool grace_ran_out =
            entry->expires_low_us + grace > dead_us && entry->expires_up_us <= started_us - grace;
        if (ran_out || grace_ran_out) {
            entry->expires_low_us = started_us + LEDGER_HEARTBEAT_US;
            ledger->renewed++;
        }
        // One that ran out while the server loaded was renewed too, which cannot be seen.
        entry->expires_up_us = INT64_MAX;
    }
}

void ledger_settle(const struct ledger *ledger, size_t job, struct slice state)
{
    const struct entry *entry = &ledger->entries[job];
    bool fits;
    if (state.size == 0) {
        fits = entry->put != PUT_THERE;
    } else if (entry->complete || slice_equal(state, SLICE("complete"))) {
        fits = slice_equal(state, SLICE("complete")) && !entry->failed &&
               (entry->complete || entry->maybe_complete);
    } else {
        fits = slice_equal(state, SLICE("failed")) && (entry->failed || entry->maybe_failed);
    }
    if (!fits) {
        fail_msg("violation: in the end j%zu is %.*s, though it was %s and %s", job,
                 state.size ? (int)state.size : 4, state.size ? state.data : "gone",
                 entry->put == PUT_THERE ? "put" : "perhaps put",
                 entry->complete         ? "completed"
                 : entry->failed         ? "failed"
                 : entry->maybe_complete ? "perhaps completed"
                                         : "not completed");
    }
}
