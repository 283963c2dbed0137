// SPDX-License-Identifier: MIT
// The commands of a host by name: an open hash table that is made once.
#include "api/command.h"
#include "base/ascii.h"
#include "base/nearest.h"

#include <assert.h>

struct slot {
    const struct command *command; // NULL: empty
    size_t name_size;
};

struct commands {
    const struct allocator *allocator;
    const struct command **ordered; // in the order of the tables
    size_t count;
    struct slot *slots; // by name
    size_t slot_count;  // a power of two
};

// FNV-1a over the name in capitals. The names are fixed, so a client cannot cause collisions.
static size_t hash_name(struct slice name)
{
    uint32_t hash = 2166136261U;
    for (size_t i = 0; i < name.size; i++) {
        hash = (hash ^ (uint8_t)ascii_upper(name.data[i])) * 16777619U;
    }
    return hash ^ hash >> 15;
}

static void add(struct commands *commands, const struct command *command)
{
    struct slice name = slice_from_cstr(command->name);
    size_t slot = hash_name(name) & (commands->slot_count - 1);
    while (commands->slots[slot].command) {
        assert(!ascii_equal(slice_from_cstr(commands->slots[slot].command->name), name));
        slot = (slot + 1) & (commands->slot_count - 1);
    }
    commands->slots[slot] = (struct slot){ command, name.size };
    commands->ordered[commands->count++] = command;
}

static size_t block_size(size_t count, size_t slot_count)
{
    return sizeof(struct commands) + slot_count * sizeof(struct slot) +
           count * sizeof(struct command *);
}

enum status commands_new(const struct allocator *allocator,
                         const struct command_table *const *tables, size_t count,
                         struct commands **out)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        total += tables[i]->count;
    }
    size_t slot_count = 64;
    while (slot_count < 4 * total) {
        slot_count *= 2;
    }
    struct commands *commands = mem_zalloc(allocator, block_size(total, slot_count));
    if (!commands) {
        return STATUS_NO_MEMORY;
    }
    commands->allocator = allocator;
    commands->slots = (struct slot *)(commands + 1);
    commands->ordered = (const struct command **)(commands->slots + slot_count);
    commands->slot_count = slot_count;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < tables[i]->count; j++) {
            add(commands, &tables[i]->commands[j]);
        }
    }
    *out = commands;
    return STATUS_OK;
}

void commands_free(struct commands *commands)
{
    if (commands) {
        mem_free(commands->allocator, commands, block_size(commands->count, commands->slot_count));
    }
}

// Names are nearly always in capitals, as in the table.
static bool is_name(const struct slot *slot, struct slice name)
{
    struct slice known = slice_make(slot->command->name, slot->name_size);
    return slice_equal(known, name) || ascii_equal(known, name);
}

const struct command *commands_find(const struct commands *commands, struct slice name)
{
    for (size_t at = hash_name(name);; at++) {
        const struct slot *slot = &commands->slots[at & (commands->slot_count - 1)];
        if (!slot->command || is_name(slot, name)) {
            return slot->command;
        }
    }
}

void commands_explain_unknown(const struct commands *commands, struct slice name,
                              struct error *error)
{
    struct nearest nearest = nearest_to(name);
    for (size_t i = 0; i < commands->count; i++) {
        nearest_offer(&nearest, slice_from_cstr(commands->ordered[i]->name));
    }
    if (nearest.name.size) {
        error_set(error, STATUS_INVALID, "unknown command '%.*s'; did you mean %.*s?",
                  SLICE_PRINT(slice_shown(name)), SLICE_PRINT(nearest.name));
        return;
    }
    error_set(error, STATUS_INVALID, "unknown command '%.*s' (Q.HELP lists all commands)",
              SLICE_PRINT(slice_shown(name)));
}

const struct command *commands_at(const struct commands *commands, size_t index)
{
    return index < commands->count ? commands->ordered[index] : NULL;
}
