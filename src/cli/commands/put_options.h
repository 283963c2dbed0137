// SPDX-License-Identifier: MIT
// The options of a job: on the command line, and as the keys of a line of JSON.
#ifndef SLUICE_CLI_COMMANDS_PUT_OPTIONS_H
#define SLUICE_CLI_COMMANDS_PUT_OPTIONS_H

#include "cli/core/cli.h"

struct put_options {
    struct sluice_put_options put; // first: options are read into its fields
    struct texts tags, depends;
    bool bulk, wait, raw;
    double wait_for;
};

enum {
    PUT_OPTION_COUNT = 25,
};
extern const struct option put_option_table[PUT_OPTION_COUNT];

// Turns an option that is given as 0 into SLUICE_ZERO or SLUICE_NONE: 0 itself means "not given".
void put_options_settle(struct put_options *options, const struct option *option);
// Sets the size and the lists.
void put_options_finish(struct put_options *options);

// Reads {"queue":"mail","klass":"Send","data":{...},"priority":5,...}. Gives NULL, or what is
// wrong.
const char *put_options_read(struct put_options *options, const char *line);
void put_options_release(struct put_options *options); // of one that was read

#endif
