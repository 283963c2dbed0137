// SPDX-License-Identifier: MIT
// Stands between a process and its clocks (LD_PRELOAD): a test sets them while the process runs.
// SET_CLOCK names a file of two numbers of 64 bits, in microseconds: how far the wall clock was
// set, and how much time has passed that did not (for both clocks, as in a suspend).
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t none[2];
static const volatile int64_t *shifts = none;

static __attribute__((constructor)) void begin(void)
{
    const char *path = getenv("SET_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *map = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(none), PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) {
        static const char sentence[] = "SET_CLOCK names no file\n";
        (void)!write(STDERR_FILENO, sentence, sizeof(sentence) - 1);
        _exit(99);
    }
    shifts = map;
    (void)close(fd);
}

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
int clock_gettime(clockid_t clock, struct timespec *out)
{
    int failed = (int)syscall(SYS_clock_gettime, clock, out);
    if (failed || (clock != CLOCK_REALTIME && clock != CLOCK_BOOTTIME)) {
        return failed;
    }
    int64_t shift_us = shifts[1] + (clock == CLOCK_REALTIME ? shifts[0] : 0);
    int64_t us = (int64_t)out->tv_nsec / 1000 + shift_us % 1000000 + 1000000;
    out->tv_sec += shift_us / 1000000 + us / 1000000 - 1;
    out->tv_nsec = us % 1000000 * 1000 + out->tv_nsec % 1000;
    return 0;
}
