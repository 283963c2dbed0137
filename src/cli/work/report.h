// SPDX-License-Identifier: MIT
// The threads that report about jobs to the queue. The reports about one job are sent in the order
// in which they were made.
#ifndef SLUICE_CLI_WORK_REPORT_H
#define SLUICE_CLI_WORK_REPORT_H

#include "cli/core/cli.h"
#include "cli/work/lines.h"
#include "cli/work/verdict.h"

#include <pthread.h>

struct work;
struct work_slot;

enum work_report_kind {
    WORK_REPORT_START,
    WORK_REPORT_PROGRESS,
    WORK_REPORT_LOG,
    WORK_REPORT_CHECKPOINT,
    WORK_REPORT_VERDICT, // the last one about a job; frees the job
    WORK_REPORT_FOLDER,  // not about a job: removes the folder of a process that has ended
};

struct work_report {
    struct work_report *next;
    struct work_slot *slot;
    struct sluice_job *job;
    enum work_report_kind kind;
    int64_t pid;
    double fraction;
    char *text; // owned; or NULL
    struct work_verdict verdict;
};

struct work_reporter {
    struct work *work;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct work_report *first, **last;
    bool stop;
};

bool work_reporters_start(struct work *work);
// Waits until every report is sent.
void work_reporters_join(struct work *work);

void work_report_start(struct work_slot *slot, int64_t pid);
void work_report_line(struct work_slot *slot, const struct work_line *line);
// The last report about the slot's job. Takes over `verdict`.
void work_report_verdict(struct work_slot *slot, struct work_verdict verdict);
// Removes the folder of a process that has ended. Takes over `folder`.
void work_report_folder(struct work_slot *slot, char *folder);

#endif
