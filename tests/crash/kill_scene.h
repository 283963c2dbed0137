// SPDX-License-Identifier: MIT
// A store, the children that work on it and are killed one after the other, and what the store may
// be after that. A promise that was broken fails the test that is running.
#ifndef SLUICE_TESTS_CRASH_KILL_SCENE_H
#define SLUICE_TESTS_CRASH_KILL_SCENE_H

#include "image.h"
#include "kill.h"
#include "random.h"

// What the store may be: after which steps, and the digest after each.
struct window {
    uint64_t *digests;
    size_t capacity;
    size_t low, high;
};

// What a backup may hold.
struct backup {
    bool begun, made;
    size_t low, high;
};

struct scene {
    char root[IMAGE_PATH_MAX], store[IMAGE_PATH_MAX], copy[IMAGE_PATH_MAX], backups[IMAGE_PATH_MAX];
    enum store_durability durability;
    struct random random;
    struct window window;
    struct backup backup[CHILD_BACKUPS_MAX];
    // What happened, to be told at the end.
    unsigned kills, kills_opening, kills_closing, kills_working;
    unsigned backups_made, backups_begun;
    uint64_t steps;
};

// When a child is killed.
struct plan {
    enum message_kind from; // once it has said that,
    uint64_t messages;      // that many times,
    uint64_t spin;          // and a moment later; or
    uint64_t kill_at;       // by itself, at that call
    uint64_t steps;         // if it gets so far, it closes the store and ends
};

// From the arguments --seed and --kills.
void scene_read_arguments(int count, char **list, uint64_t *seed, unsigned *kills);

void scene_init(struct scene *scene, enum store_durability durability, uint64_t seed,
                enum scratch_kind scratch);
void scene_release(struct scene *scene);

// Forgets the store: the next child makes a new one.
void scene_clear(struct scene *scene);

// A child is started and killed. Gives whether it was: it may have ended before. Looks at the
// backups it made.
bool scene_run(struct scene *scene, const struct plan *plan);

// Opens the store, or a copy of it, and looks whether it is what it may be.
void scene_check(struct scene *scene);

// A line about what happened.
void scene_tell(const struct scene *scene);

#endif
