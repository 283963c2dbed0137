// SPDX-License-Identifier: MIT
// What becomes of a job: by how its process ended, or by what it answered.
#ifndef SLUICE_CLI_WORK_VERDICT_H
#define SLUICE_CLI_WORK_VERDICT_H

#include "cli/core/cli.h"
#include "cli/work/lines.h"

enum work_verdict_kind {
    WORK_VERDICT_NONE,
    WORK_VERDICT_DONE,
    WORK_VERDICT_FAIL,
    WORK_VERDICT_RETRY,
    WORK_VERDICT_RETURN, // to the front of its queue, and no retry is counted
    WORK_VERDICT_DROP,   // it is not ours any more: nothing is said
};

struct work_verdict {
    enum work_verdict_kind kind;
    double delay; // of a retry; SLUICE_BACKOFF: as its backoff says
    // Owned, or NULL.
    char *result, *group, *message;
};

void work_verdict_release(struct work_verdict *verdict);

// How a job ended, for people and counts.
enum work_outcome {
    WORK_OUTCOME_DONE,
    WORK_OUTCOME_FAILED,
    WORK_OUTCOME_RETRIED,
    WORK_OUTCOME_RETURNED,
    WORK_OUTCOME_LOST,
    WORK_OUTCOME_CANCELED,
    WORK_OUTCOME_UNTOLD, // the queue could not be told
    WORK_OUTCOME_COUNT,
};

const char *work_outcome_name(enum work_outcome outcome);

struct work_verdict_rules {
    const char *group; // instead of exit:N and signal:NAME; or NULL
    // Of both: "3", "signal", "signal:KILL". The first says more than EX_TEMPFAIL does.
    struct texts retry_on, fail_on;
};

// The first word of the rules that is none; NULL: all are.
const char *work_verdict_rules_check(const struct work_verdict_rules *rules);

// What a process wrote to standard output.
struct work_output {
    char *data;
    size_t size, capacity;
    bool over; // there was more than the maximum
};

// By the end of a process, as waitpid says it.
struct work_verdict work_verdict_of_exit(const struct work_verdict_rules *rules, int status,
                                         const struct work_output *output,
                                         const struct work_tail *tail);

// Of a process that ended in the middle of a job, whatever it ended with: what it did of the job is
// not known, so it is tried again.
struct work_verdict work_verdict_of_crash(const struct work_verdict_rules *rules, int status,
                                          const struct work_tail *tail);

// A line that a process of a pool answered.
enum work_answer_kind {
    WORK_ANSWER_VERDICT,
    WORK_ANSWER_LINE,  // what a line of standard error can say too
    WORK_ANSWER_WRONG, // it is no answer
};

struct work_answer {
    enum work_answer_kind kind;
    struct work_verdict verdict;
    struct work_line line;
    char *text;  // owned: what `line` points to
    char *wrong; // owned: what is wrong, a part of a sentence
};

struct work_answer work_answer_parse(const char *line, const char *jid);
// Of which job a line speaks; for tool_free. NULL: it does not say.
char *work_answer_jid(const char *line);

#endif
