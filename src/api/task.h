// SPDX-License-Identifier: MIT
// A job as Fresnel describes a task: its number, one of Fresnel's states, and the times from its
// history. Every job whose jid is a number from 1 to TASK_ID_MAX is a task.
#ifndef SLUICE_API_TASK_H
#define SLUICE_API_TASK_H

#include "api/reply.h"
#include "engine/engine.h"

enum task_state {
    TASK_READY,    // waiting or scheduled, and not tried yet
    TASK_RESERVED, // popped by a worker that has not reported the start
    TASK_RUNNING,
    TASK_FAILED, // was tried, and will be tried again
    TASK_ERROR,  // reached its retry limit, or failed permanently
    TASK_COMPLETE,
    TASK_STATE_COUNT,
};

extern const char *const task_state_words[]; // end with NULL

enum {
    TASK_JID_SIZE = 20, // digits of the largest number
};

#define TASK_ID_MAX INT64_C(9007199254740991) // the largest that every JSON parser can represent

// The jid of a task, in `text`; and the reverse: false if it is not in the format of task_jid.
struct slice task_jid(uint64_t id, char text[TASK_JID_SIZE]);
bool task_id(struct slice jid, uint64_t *out);

enum task_state task_state(const struct job_view *view);

// An entry of the history records that a task is scheduled: this word, and as data the time as a
// JSON string.
#define TASK_SCHEDULED SLICE("scheduled")

// In a list, the error of a task is truncated to this size.
enum {
    TASK_ERROR_SHORT_MAX = 1024,
};

// Writes a task with the complete error of its last failed attempt, or `brief`ly.
void reply_task(struct reply *reply, const struct engine *engine, const struct job *job,
                bool brief);

#endif
