// SPDX-License-Identifier: MIT
// The qless face. Clients of qless load a Lua script, or until mid-2013 one for each call, and call
// it. Here the script is recognised but never run, and the call goes to the engine, with exactly
// qless-core's arguments, JSON, errors and messages. The engine has the client clock.
#ifndef SLUICE_FACES_QLESS_QLESS_H
#define SLUICE_FACES_QLESS_QLESS_H

#include "api/reply.h"
#include "base/buffer.h"
#include "engine/engine.h"

// The script, recognised by its content.
enum qless_script {
    QLESS_NONE, // not one of qless's scripts: to be refused
    QLESS_API,  // qless.lua, complete: ARGV is the name of a call, the time, its arguments
    QLESS_LIB,  // qless-lib.lua, without the part that handles calls
    // And above: a script of the split generation, which has one for each call.
    QLESS_SPLIT,
};
enum qless_script qless_recognise(struct slice script);

struct qless_call {
    struct engine *engine;
    enum qless_script script; // QLESS_API, or QLESS_SPLIT and above
    struct slices keys;
    struct slices words; // ARGV
    int64_t host_us;     // the host's time, for calls without a time
    uint64_t random;
    const struct allocator *allocator;
    struct reply *reply;
    // Called when a pop has skipped this job because it is too large for a reply; may be NULL.
    void (*unfit)(void *context, struct slice jid);
    void *unfit_context;
};

// Runs a call and writes its reply, which may be an error.
void qless_run(const struct qless_call *call);

// The names of the calls, in ascending order: call with `index` from 0 until the result is empty.
struct slice qless_call_at(size_t index);

// The name that a call has in the unified script; empty if there is no such call.
struct slice qless_call_name(enum qless_script script, struct slices words);

// Whether a call is allowed on a full disk, because it does not need more space in the store. True
// for calls that will be refused anyway.
bool qless_shrinks(enum qless_script script, struct slices words);

// The sorted sets in which qless keeps a queue's jobs. Clients read some of them directly: the
// length of a queue, and when a recurring job runs next.
enum qless_set {
    QLESS_SET_NONE,      // none of these
    QLESS_SET_WORK,      // ql:q:QUEUE-work: jobs that are waiting
    QLESS_SET_LOCKS,     // -locks: jobs that are running
    QLESS_SET_SCHEDULED, // -scheduled
    QLESS_SET_DEPENDS,   // -depends
    QLESS_SET_RECUR,     // -recur: recurring jobs, by when they run next
    QLESS_SET_COMPLETED, // ql:completed: complete jobs of all queues
};
// The set that a key names; the queue is a part of the key.
enum qless_set qless_set_of(struct slice key, struct slice *queue);
size_t qless_set_count(const struct engine *engine, enum qless_set set, struct slice queue);
// The keys under which qless keeps its jobs, ql:j:JID; each is borrowed for the call of `visit`.
#define QLESS_JOB_KEY_PREFIX "ql:j:"
void qless_each_job_key(const struct engine *engine, void (*visit)(void *context, struct slice key),
                        void *context);
// When a recurring job of the queue runs next; false if there is none.
bool qless_set_next_run(const struct engine *engine, struct slice queue, struct slice jid,
                        int64_t *us_out);

// The messages that qless publishes for an event: their channels (such as ql:log, ql:w:NAME,
// ql:completed) and texts. Both are borrowed for the call.
struct qless_sink {
    void (*publish)(void *context, struct slice channel, struct slice message);
    void *context;
};
// The generation of the messages: the unified script, or the split generation, which has other
// names for some channels, or both.
enum qless_generation {
    QLESS_GENERATION_UNIFIED = 1,
    QLESS_GENERATION_SPLIT = 2,
};
void qless_publish(const struct event *event, unsigned generations, struct buffer *scratch,
                   const struct qless_sink *sink);

#endif
