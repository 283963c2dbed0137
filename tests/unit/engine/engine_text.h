// SPDX-License-Identifier: MIT
// What the files of engine_test.h share: texts that are written to a world's buffer.
#ifndef SLUICE_ENGINE_TEXT_H
#define SLUICE_ENGINE_TEXT_H

#include "engine_test.h"

enum {
    JOBS_MAX = 4096, // in one list
};

// Ends the text that was written to `w->text`, and returns it.
const char *world_text_of(struct world *w);
// Appends a name, behind a comma unless it is the first.
void world_add_name(struct world *w, struct slice name);
// Appends the jids of jobs, separated by commas.
void world_add_jobs(struct world *w, const struct job **found, size_t count);
void world_add_seconds(struct buffer *text, int64_t when_us);
void world_note_field(struct buffer *text, const char *word, struct slice value);

#endif
