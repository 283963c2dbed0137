// SPDX-License-Identifier: MIT
// qless's own face: its clients load a Lua script, or until mid-2013 one for each call, and call
// it; here the script is recognised, never run, and the call goes to the engine, with exactly
// qless-core's arguments, JSON, errors and messages. The engine has the client clock.
#ifndef SLUICE_FACES_QLESS_QLESS_H
#define SLUICE_FACES_QLESS_QLESS_H

#include "api/reply.h"
#include "base/buffer.h"
#include "engine/engine.h"

// Which script it is, by its content.
enum qless_script {
    QLESS_NONE, // not one of qless's: to be refused
    QLESS_API,  // qless.lua, the whole of it: ARGV is the name of a call, the time, its arguments
    QLESS_LIB,  // qless-lib.lua, without the part that answers calls
    // And above: one of the scripts of the generation before, which has one for each call.
    QLESS_SPLIT,
};
enum qless_script qless_recognise(struct slice script);

struct qless_call {
    struct engine *engine;
    enum qless_script script; // QLESS_API, or QLESS_SPLIT and above
    struct slices keys;
    struct slices words; // ARGV
    int64_t host_us;     // the host's time, for calls that do not say one
    uint64_t random;
    const struct allocator *allocator;
    struct reply *reply;
    // A pop has passed over this job, since it does not fit an answer; may be NULL.
    void (*unfit)(void *context, struct slice jid);
    void *unfit_context;
};

// Runs a call and says its answer, also when that is an error.
void qless_run(const struct qless_call *call);

// The names of the calls, in ascending order: `index` from 0 until it is empty.
struct slice qless_call_at(size_t index);

// The name of a call, by its words, as the unified script has it; empty when there is no such call.
struct slice qless_call_name(enum qless_script script, struct slices words);

// Whether a call, by its words, leaves less to store, or no more: what a full disk still allows. So
// does one that will be refused anyway.
bool qless_shrinks(enum qless_script script, struct slices words);

// The sorted sets in which qless keeps a queue's jobs, some of which clients read by themselves: a
// queue's length, and when a recurring job runs next.
enum qless_set {
    QLESS_SET_NONE,      // none of these
    QLESS_SET_WORK,      // ql:q:QUEUE-work: jobs that are waiting
    QLESS_SET_LOCKS,     // -locks: jobs that are running
    QLESS_SET_SCHEDULED, // -scheduled
    QLESS_SET_DEPENDS,   // -depends
    QLESS_SET_RECUR,     // -recur: recurring jobs, by when they run next
    QLESS_SET_COMPLETED, // ql:completed: complete jobs of all queues
};
// Which set a key names; the queue is a part of the key.
enum qless_set qless_set_of(struct slice key, struct slice *queue);
size_t qless_set_count(const struct engine *engine, enum qless_set set, struct slice queue);
// The keys under which qless keeps its jobs, ql:j:JID, one after the other, each borrowed for the
// call of `visit`.
#define QLESS_JOB_KEY_PREFIX "ql:j:"
void qless_each_job_key(const struct engine *engine, void (*visit)(void *context, struct slice key),
                        void *context);
// When a recurring job of the queue runs next; false when there is none.
bool qless_set_next_run(const struct engine *engine, struct slice queue, struct slice jid,
                        int64_t *us_out);

// The messages that qless publishes for an event: their channels (such as ql:log, ql:w:NAME,
// ql:completed) and texts, one after the other. Both are borrowed for the call.
struct qless_sink {
    void (*publish)(void *context, struct slice channel, struct slice message);
    void *context;
};
// Whose messages: those of the unified script, or of the generation before, which has other names
// for some channels, or both.
enum qless_generation {
    QLESS_GENERATION_UNIFIED = 1,
    QLESS_GENERATION_SPLIT = 2,
};
void qless_publish(const struct event *event, unsigned generations, struct buffer *scratch,
                   const struct qless_sink *sink);

#endif
