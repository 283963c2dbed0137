// SPDX-License-Identifier: MIT
// The engine: the jobs, queues, workers, tags and configuration of one namespace, and all rules
// about them (docs/engine.md). It is in memory, runs on one thread, and uses no clock, file or
// global variable. This header has the engine as a whole and its configuration; it includes the
// headers with the calls about jobs, their runs, queues and recurring jobs.
//
// Time: every call takes `now_us`, microseconds since the epoch, from 0 to ENGINE_TIME_MAX. Two
// engines that receive the same calls hold the same bytes.
//
// Errors: every fallible call returns a status and fills `error` (which may be NULL) with a
// sentence that names the argument, the job and its state. A call that fails has changed nothing
// that can be observed.
//
// Names are 1 to ENGINE_NAME_SIZE_MAX bytes long. Each call checks the names that it receives: a
// call that returns a status rejects invalid names with INVALID; a lookup without a status finds
// nothing under them. A name is optional only where the comment of the call says so.
//
// Ownership: what a call returns (jobs, slices, views) is borrowed, and valid until the next call
// that takes the engine without const.
#ifndef SLUICE_ENGINE_ENGINE_H
#define SLUICE_ENGINE_ENGINE_H

#include "base/alloc.h"
#include "base/hash.h"
#include "base/slice.h"
#include "base/status.h"
#include "engine/event.h"
#include "engine/job/jobs.h"
#include "engine/lease/work.h"
#include "engine/queue/queues.h"
#include "engine/recurring/recur.h"
#include "engine/relations/groups.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENGINE_TIME_MAX INT64_C(253402300799999999) // the end of the year 9999

enum {
    ENGINE_NAME_SIZE_MAX = 255, // jids, names of queues, klasses, workers, tags, groups, options
};

// SERVER: time never goes back, and each call first does the work that is due by then, dated by its
// due time. CLIENT: time is what each call passes, and only pop, peek and the counts look at what
// is due.
enum engine_clock {
    ENGINE_CLOCK_SERVER,
    ENGINE_CLOCK_CLIENT,
};

struct engine;

struct engine_options {
    const struct allocator *allocator; // borrowed for the engine's life
    struct hash_seed seed;
    enum engine_clock clock;
    struct event_sink sink;
    uint64_t token;     // the tokens of all leases are larger
    bool keeps_changes; // whether the host will ask for changed records (records/changes.h)
};

MUST_USE enum status engine_new(const struct engine_options *options, struct engine **out);
// Emits no event. The engine may be NULL or partly loaded.
void engine_free(struct engine *engine);

// Does the work that is due by `now_us` and returns when the engine next needs a tick: INT64_MAX if
// nothing is to become due, `now_us` if the tick did one slice and more is due. A tick that runs out
// of memory does what it can. With the client clock a tick changes nothing; it reports the watched
// queues (lanes/watch.h) in which something is due by the host's clock.
int64_t engine_tick(struct engine *engine, int64_t now_us);

// When the engine next needs a tick, taking into account the calls since the last tick.
int64_t engine_due(const struct engine *engine);

// The latest time that the engine has seen; 0 with the client clock.
int64_t engine_time(const struct engine *engine);

// For a host whose clock was set, or whose clock is behind the engine's time. Does the work that is
// due by `now_us`, the host's time so far (0: the latest time seen), then sets the engine's time to
// `to_us`, which may be earlier or later. Durations keep what is left of them: leases, runs, what a
// rate allows, the intervals of recurring jobs. Moments stay as they are: due times, deadlines,
// locks for a time, results. Cron expressions follow the new time. INVALID if a time is out of
// range, STATE with the client clock.
MUST_USE enum status engine_set_time(struct engine *engine, int64_t now_us, int64_t to_us,
                                     struct error *error);

enum engine_clock engine_clock_of(const struct engine *engine);

// How many objects (jobs, dependencies, lanes, entries of indexes) all calls so far have visited.
// The cost of a call is measured by this count and never by time. A call that would visit more than
// about 20,000 objects does a part and leaves the rest to the calls and ticks that follow.
uint64_t engine_steps(const struct engine *engine);

// While recurring jobs are held, they make no jobs. The runs missed meanwhile are treated as if the
// engine had not been called during that time.
void engine_hold_recurring(struct engine *engine, bool held);

// The value that was set, else the default, else an empty slice.
struct slice engine_config_get(const struct engine *engine, struct slice option);
// Whether the option was set, even if to its default.
bool engine_config_is_set(const struct engine *engine, struct slice option);
// Every option that has a value, by name; `index` from 0 until it returns false.
bool engine_config_at(const struct engine *engine, size_t index, struct slice *option,
                      struct slice *value);
// OK for an option that has a meaning, and for one of the caller's own (`x-...`). Native commands
// check the name first; engine_config_set takes any name, as qless does.
MUST_USE enum status engine_config_check_name(struct slice option, struct error *error);
// Whether the value may reject what the default accepts. When a namespace is copied, such options
// are set last, because what exists may already exceed them.
bool engine_config_narrows(struct slice option, struct slice value);
MUST_USE enum status engine_config_set(struct engine *engine, int64_t now_us, struct slice option,
                                       struct slice value, struct error *error);
MUST_USE enum status engine_config_unset(struct engine *engine, int64_t now_us, struct slice option,
                                         struct error *error);

#endif
