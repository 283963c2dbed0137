// SPDX-License-Identifier: MIT
// What the user of top orders the queue to do.
#ifndef SLUICE_CLI_TOP_ORDER_H
#define SLUICE_CLI_TOP_ORDER_H

#include <sluice/sluice.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum order_kind {
    ORDER_NONE,
    ORDER_PAUSE,
    ORDER_UNPAUSE,
    ORDER_CANCEL,      // a job
    ORDER_TAKE_BACK,   // a running job is taken from its worker, to be tried again
    ORDER_UNFAIL,      // a failed job is tried again
    ORDER_RETRY_GROUP, // all jobs that failed in a group are
};

struct order {
    enum order_kind kind;
    char name[SLUICE_NAME_SIZE]; // of the queue, the job or the group
    char worker[SLUICE_NAME_SIZE];
    int64_t token;
};

// Runs the order and writes a sentence about the outcome. False: it was not done, or that is not
// known.
bool order_run(struct sluice *queue, const struct order *order, char *note, size_t size);

#endif
