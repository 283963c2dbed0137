// SPDX-License-Identifier: MIT
#include "arguments.h"

#include "image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t number(const char *text)
{
    char *end = NULL;
    errno = 0;
    uint64_t value = strtoull(text, &end, 0);
    REQUIRE(errno == 0 && end != text && !*end, "not a number");
    return value;
}

const char *arguments_read(struct arguments *arguments, int count, char **list)
{
    REQUIRE(count >= 2 && count % 2 == 0, "usage: SLUICED [--seed S] [--kills N]");
    for (int i = 2; i < count; i += 2) {
        bool seed = strcmp(list[i], "--seed") == 0;
        REQUIRE(seed || strcmp(list[i], "--kills") == 0, "no such option");
        *(seed ? &arguments->seed : &arguments->count) = number(list[i + 1]);
    }
    printf("# replay with --seed %llu --kills %llu\n", (unsigned long long)arguments->seed,
           (unsigned long long)arguments->count);
    return list[1];
}
