// SPDX-License-Identifier: MIT
// Arguments for a command, made up by its table: mostly such as a client gives, out of few names,
// so that one call is about what another has made; and now and then hostile ones: empty, as long as
// may be, longer, much longer, any bytes, numbers at their limits and beyond them.
#ifndef SLUICE_FUZZ_GENERATE_H
#define SLUICE_FUZZ_GENERATE_H

#include "api/command.h"
#include "draw.h"

enum {
    GIVEN_ARGUMENTS_MAX = 48,
    GIVEN_VALUES_MAX = 256, // of one argument
};

// An argument as text, as it stands on the wire; of a flag there is no value.
struct given_argument {
    const struct argument *argument;
    size_t first, count; // among the values
};

struct given {
    struct given_argument arguments[GIVEN_ARGUMENTS_MAX];
    size_t argument_count;
    struct slice values[GIVEN_ARGUMENTS_MAX + 2 * GIVEN_VALUES_MAX];
    size_t value_count;
};

struct generator {
    struct draw *draw; // borrowed
    struct buffer
        *text;        // of the values that are made up, until generator_clear; the process has one
    int64_t now_us;   // for moments
    uint32_t options; // of 256 options that may be given, so many are; drawn for each call
    uint32_t hostile; // of 256 values so many are hostile; drawn for each call
};

void generator_init(struct generator *generator, struct draw *draw, int64_t now_us);
// Before each call: what was made before is no more, and how it is to be is drawn.
void generator_clear(struct generator *generator);

// Arguments of a command in the order of its table, some of the optional ones left out.
void generate_arguments(struct generator *generator, const struct command *command,
                        struct given *out);

// One value for an argument.
struct slice generate_value(struct generator *generator, const struct argument *argument);

// A name, mostly one of few.
struct slice generate_name(struct generator *generator);

// Any bytes of a size that often is a limit.
struct slice generate_hostile(struct generator *generator);

// Text that lives as long as what else was made.
struct slice generate_print(struct generator *generator, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
