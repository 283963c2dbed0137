// SPDX-License-Identifier: MIT
#include "scratch.h"

#include "disk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void scratch_make(char path[SCRATCH_PATH_SIZE], const char *name)
{
    const char *place = getenv("TMPDIR"); // NOLINT(concurrency-mt-unsafe)
    if (access("/dev/shm", W_OK) == 0) {
        place = "/dev/shm";
    }
    (void)snprintf(path, SCRATCH_PATH_SIZE, "%.200s/sluice-%s-XXXXXX", place ? place : "/tmp",
                   name);
    if (!mkdtemp(path)) {
        perror(path);
        exit(2); // NOLINT(concurrency-mt-unsafe)
    }
}

void scratch_empty(const char *path)
{
    struct disk none;
    disk_init(&none);
    disk_store(&none, path);
    disk_release(&none);
}

void scratch_remove(const char *path)
{
    if (access(path, F_OK) == 0) {
        scratch_empty(path);
        (void)rmdir(path);
    }
}

uint64_t argument_number(const char *text)
{
    char *end = NULL;
    errno = 0;
    uint64_t value = strtoull(text, &end, 0);
    if (errno || end == text || *end) {
        (void)fprintf(stderr, "not a number: %s\n", text);
        exit(2); // NOLINT(concurrency-mt-unsafe)
    }
    return value;
}
