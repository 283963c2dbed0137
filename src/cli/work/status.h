// SPDX-License-Identifier: MIT
// What a person sees: whole lines, and on a terminal below them one that says how things stand.
#ifndef SLUICE_CLI_WORK_STATUS_H
#define SLUICE_CLI_WORK_STATUS_H

#include "cli/work/verdict.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct work_status {
    pthread_mutex_t mutex;
    bool terminal; // standard error is one, and the line is wanted
    bool shared;   // standard output is one too
    bool tally;    // it ends with a line of how all jobs ended
    bool drawn;    // the line is on the screen
    double began;
    double drawn_at;
    size_t running;
    size_t counts[WORK_OUTCOME_COUNT];
    // Jobs that ended a second, lately.
    double rate, rate_at;
    size_t rate_count;
    const char *note; // "ending", or NULL
};

void work_status_init(struct work_status *status, bool wanted, bool verbose);
void work_status_release(struct work_status *status);

// A line on standard error, with a prefix in brackets or NULL. From any thread.
void work_say(struct work_status *status, const char *prefix, const char *text, size_t size);
__attribute__((format(printf, 2, 3))) void work_complain(struct work_status *status,
                                                         const char *format, ...);
// A line on standard output.
void work_print(struct work_status *status, const char *text);

// The line below, when it is time for it.
void work_status_draw(struct work_status *status, double now);
// How long until it is; below 0: it never is.
double work_status_due(struct work_status *status, double now);
// Takes the line away, for good, and says how all jobs ended.
void work_status_end(struct work_status *status, double now);

#endif
