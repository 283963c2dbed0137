// SPDX-License-Identifier: MIT
// What becomes of jobs that depend on one that has failed: docs/engine.md, "Dependencies that
// fail".
#ifndef SLUICE_ENGINE_RELATIONS_CASCADE_H
#define SLUICE_ENGINE_RELATIONS_CASCADE_H

#include "engine/engine.h"

struct edge;

// A job has failed, or got a dependent while it was, or a job came into the state depends: notes
// what has failed if that is to be dealt with.
void cascade_note_all(struct engine *engine, struct job *failed);
void cascade_note(struct engine *engine, const struct edge *edge);
void cascade_note_placed(struct engine *engine, const struct job *job);

// Puts a failed job among those noted, behind all that failed before; for loading too.
void cascade_insert(struct engine *engine, struct job *job);

// It is failed no more.
void cascade_forget(struct engine *engine, struct job *job);

// Deals with what was noted, at most a slice of it. Says whether there may be more.
bool cascade_run(struct engine *engine);

#endif
