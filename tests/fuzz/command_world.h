// SPDX-License-Identifier: MIT
// An engine with the native commands, and what must hold whatever they are asked: a command answers
// with one whole value, or fails and has changed nothing; one that only reads changes nothing; one
// that writes says no more than there is room for; and the engine holds together.
#ifndef SLUICE_FUZZ_COMMAND_WORLD_H
#define SLUICE_FUZZ_COMMAND_WORLD_H

#include "api/call.h"
#include "bounded.h"

struct command_world {
    struct bounded memory; // the engine's; a world must stay where it is
    struct engine *engine;
    struct commands *commands;
    struct scratch scratch;
    struct host host;
    uint64_t random;
    int64_t now_us;
    bool compares; // each run looks whether it changed something, at the cost of two saves
    size_t room;   // for the next answer
    struct buffer before, after;
};

void command_world_init(struct command_world *world);
void command_world_release(struct command_world *world);

// Gives what became of it.
enum status command_world_run(struct command_world *world, const struct command *command,
                              struct slices words);

// Lets time pass, and does what falls due; with very much of it, a part.
void command_world_pass(struct command_world *world, int64_t pass_us);

// The engine's consistency check.
void command_world_check(struct command_world *world);

#endif
