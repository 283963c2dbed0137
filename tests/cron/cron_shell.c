// SPDX-License-Identifier: MIT
// cron_next behind a pipe, for the check in Python. One request a line, times in microseconds:
//
//     zone OFFSET [AT OFFSET]...   the zone of what follows; offsets are in seconds
//     runs START END TEXT          "ok" and the runs of [START, END)
//     next AFTER TEXT              "ok" and the run after it
//
// A text that is refused is answered with "no" and the sentence. A request that is not understood
// ends the program, since it is a mistake in the check.
#include "engine/recurring/cron.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRANSITIONS_MAX = 4096,
};

struct shell {
    struct zone_transition transitions[TRANSITIONS_MAX];
    struct zone_rules zone;
};

static _Noreturn void die(const char *what, const char *line)
{
    (void)fprintf(stderr, "cron_shell: %s: %s\n", what, line);
    exit(2);
}

static int64_t number(const char **line)
{
    char *end;
    int64_t value = strtoll(*line, &end, 10);
    if (end == *line) {
        die("not a number", *line);
    }
    *line = end;
    return value;
}

static void set_zone(struct shell *shell, const char *line)
{
    shell->zone = (struct zone_rules){ .transitions = shell->transitions };
    shell->zone.offset_s = (int32_t)number(&line);
    while (*line) {
        if (shell->zone.count == TRANSITIONS_MAX) {
            die("too many transitions", line);
        }
        struct zone_transition *transition = &shell->transitions[shell->zone.count++];
        transition->at_us = number(&line);
        transition->offset_s = (int32_t)number(&line);
    }
    puts("ok");
}

// The expression is what is left of the line after a space.
static bool read_cron(const char *line, struct cron *cron)
{
    struct error error;
    if (*line != ' ') {
        die("no text", line);
    }
    if (cron_parse(slice_from_cstr(line + 1), cron, &error)) {
        printf("no %s\n", error_sentence(&error));
        return false;
    }
    return true;
}

static void print_runs(const struct shell *shell, const char *line)
{
    struct cron cron;
    int64_t start_us = number(&line);
    int64_t end_us = number(&line);
    if (!read_cron(line, &cron)) {
        return;
    }
    printf("ok");
    for (int64_t at_us = start_us - 1; (at_us = cron_next(&cron, &shell->zone, at_us)) < end_us;) {
        printf(" %" PRId64, at_us);
    }
    puts("");
}

static void print_next(const struct shell *shell, const char *line)
{
    struct cron cron;
    int64_t after_us = number(&line);
    if (read_cron(line, &cron)) {
        printf("ok %" PRId64 "\n", cron_next(&cron, &shell->zone, after_us));
    }
}

static void answer(struct shell *shell, const char *line)
{
    if (strncmp(line, "zone ", 5) == 0) {
        set_zone(shell, line + 5);
    } else if (strncmp(line, "runs ", 5) == 0) {
        print_runs(shell, line + 5);
    } else if (strncmp(line, "next ", 5) == 0) {
        print_next(shell, line + 5);
    } else {
        die("not a request", line);
    }
    if (fflush(stdout)) {
        die("cannot write", line);
    }
}

int main(void)
{
    static struct shell shell;
    char *line = NULL;
    size_t line_capacity = 0;
    ssize_t line_size;
    while ((line_size = getline(&line, &line_capacity, stdin)) > 0) {
        line[line_size - 1] = '\0'; // the end of the line
        answer(&shell, line);
    }
    free(line);
    return 0;
}
