// SPDX-License-Identifier: MIT
// A job as Fresnel describes a task: its number, one of Fresnel's states, and the times out of its
// history. Every job whose jid is a number, from 1 to TASK_ID_MAX, is a task.
#ifndef SLUICE_API_TASK_H
#define SLUICE_API_TASK_H

#include "api/reply.h"
#include "engine/engine.h"

enum task_state {
    TASK_READY,    // in line, or to come, and not tried yet
    TASK_RESERVED, // handed out to a worker, which has not said that it has begun
    TASK_RUNNING,
    TASK_FAILED, // tried, and to be tried again
    TASK_ERROR,  // it passed its retry limit, or failed for good
    TASK_COMPLETE,
    TASK_STATE_COUNT,
};

extern const char *const task_state_words[]; // ends with NULL

enum {
    TASK_JID_SIZE = 20, // digits of the largest number
};

#define TASK_ID_MAX INT64_C(9007199254740991) // the largest that every reader of JSON can hold

// The jid of a task, in `text`; and back: false when it is no number as that would have written.
struct slice task_jid(uint64_t id, char text[TASK_JID_SIZE]);
bool task_id(struct slice jid, uint64_t *out);

enum task_state task_state(const struct job_view *view);

// That a task is to run later is kept as an entry of its history: the word, and as data the moment
// as a JSON string.
#define TASK_SCHEDULED SLICE("scheduled")

// Of the error of a task that is one of many no more than this is shown.
enum {
    TASK_ERROR_SHORT_MAX = 1024,
};

// With the whole error output of its last attempt that did not work, or `brief`ly.
void reply_task(struct reply *reply, const struct engine *engine, const struct job *job,
                bool brief);

#endif
