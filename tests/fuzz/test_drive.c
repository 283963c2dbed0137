// SPDX-License-Identifier: MIT
// The drivers of drive.h by a seed, for so many steps: test_drive NAME STEPS. The seed is printed,
// and SLUICE_SEED replays it.
#include "drive.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct driver {
    const char *name;
    void (*drive)(struct draw *draw, size_t steps, struct drive_counts *counts);
} drivers[] = {
    { "command", drive_command },
    { "http", drive_http },
    { "qless", drive_qless },
};

// Says how often each worked; gives how many never did.
static size_t report(const struct drive_counts *counts)
{
    size_t idle = 0;
    for (size_t i = 0; i < counts->count; i++) {
        const struct drive_count *item = &counts->items[i];
        printf("# %s%s%s: %zu of %zu\n", item->method ? item->method : "",
               item->method && *item->method ? " " : "", item->name ? item->name : "?",
               item->worked, item->tried);
        idle += item->worked == 0;
    }
    return idle;
}

int main(int count, char **words)
{
    for (size_t i = 0; count == 3 && i < sizeof(drivers) / sizeof(drivers[0]); i++) {
        if (strcmp(words[1], drivers[i].name) == 0) {
            struct random random;
            random_init(&random);
            struct draw draw = draw_from_seed(random_u64(&random));
            static struct drive_counts counts;
            drivers[i].drive(&draw, strtoull(words[2], NULL, 10), &counts);
            size_t idle = report(&counts);
            printf("ok 1 - %s steps of drive_%s break nothing\n", words[2], words[1]);
            // Some need luck: an operation that is still under way, a task's number.
            bool good = idle * 10 <= counts.count;
            printf("%s 2 - of %zu all but %zu worked\n1..2\n", good ? "ok" : "not ok", counts.count,
                   idle);
            return !good;
        }
    }
    (void)fprintf(stderr, "usage: %s command|http|qless STEPS\n", words[0]);
    return 2;
}
