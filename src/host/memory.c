// SPDX-License-Identifier: MIT
#include "host/memory.h"

#include "base/alloc.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    RESERVE_SIZE = 8 << 20,   // address space; its pages are never touched
    LOOK_SIZE_MIN = 4 << 20,  // a change of the allocated memory by this, or by the next part
    LOOK_PARTS = 64,          // of the limit, makes memory_look due
    TRIM_SIZE_MIN = 16 << 20, // freed memory is returned to the system if it has grown by this,
    TRIM_PARTS = 20,          // or by this part of the resident memory if that is more
    EXCESS_PARTS = 20,        // resident memory may exceed the limit by this part of it
    DEFAULT_PERCENT = 80,
    PATH_SIZE = 4096,
    GROUPS_SIZE = 16384, // bytes of /proc/self/cgroup: a line for each hierarchy
    MIB = 1 << 20,
    // as in base/alloc.c, which counts whole pages for blocks from this size on
    MAPPED_SIZE = 1 << 20,
};

// Sanitizers use most of the resident memory themselves, so only allocated memory is measured.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define HAS_RESIDENT false
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#        define HAS_RESIDENT false
#    endif
#endif
#ifndef HAS_RESIDENT
#    define HAS_RESIDENT true
#endif

// ---------------------------------------------------------------------------------------------
// Measurements of the system

// Reads the beginning of a small file as a string; false if it cannot be read. Allocates nothing.
static bool read_text(const char *path, char *text, size_t capacity)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, text, capacity - 1);
    if (fd >= 0) {
        (void)close(fd);
    }
    text[size > 0 ? size : 0] = '\0';
    return size > 0;
}

static uint64_t read_resident(void)
{
    char text[128], *at;
    if (!HAS_RESIDENT || !read_text("/proc/self/statm", text, sizeof(text))) {
        return mem_used();
    }
    (void)strtoull(text, &at, 10); // the size of the address space
    uint64_t resident = strtoull(at, &at, 10);
    uint64_t shared = strtoull(at, &at, 10);
    return (resident > shared ? resident - shared : 0) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// The minimum of the limits of a control group and its parents. In a container the path may be the
// one outside of it: missing folders are skipped, up to the mount point.
static uint64_t read_group(const char *top, const char *group, const char *name)
{
    char folder[PATH_SIZE], path[PATH_SIZE], text[64];
    uint64_t least = UINT64_MAX;
    (void)snprintf(folder, sizeof(folder), "%s%s", top, strcmp(group, "/") == 0 ? "" : group);
    size_t top_size = strlen(top);
    for (;;) {
        int size = snprintf(path, sizeof(path), "%s/%s", folder, name);
        if (size > 0 && (size_t)size < sizeof(path) && read_text(path, text, sizeof(text)) &&
            text[0] >= '0' && text[0] <= '9') {
            least = smaller(least, strtoull(text, NULL, 10));
        }
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < top_size) {
            return least;
        }
        *slash = '\0';
    }
}

// Whether "memory" is in a comma-separated list.
static bool has_memory(const char *controllers)
{
    for (const char *at = controllers; at; at = strchr(at, ',')) {
        at += *at == ',';
        size_t size = strcspn(at, ",");
        if (size == strlen("memory") && memcmp(at, "memory", size) == 0) {
            return true;
        }
    }
    return false;
}

// A line of /proc/self/cgroup is NUMBER:CONTROLLERS:PATH; version 2 has no controllers there.
uint64_t memory_group_limit(const char *root)
{
    char text[GROUPS_SIZE], file[PATH_SIZE], version_1[PATH_SIZE], version_2[PATH_SIZE];
    uint64_t least = UINT64_MAX;
    (void)snprintf(file, sizeof(file), "%s/proc/self/cgroup", root);
    (void)snprintf(version_1, sizeof(version_1), "%s/sys/fs/cgroup/memory", root);
    (void)snprintf(version_2, sizeof(version_2), "%s/sys/fs/cgroup", root);
    if (!read_text(file, text, sizeof(text))) {
        return least;
    }
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) {
            *next++ = '\0';
        }
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path) {
            continue;
        }
        *path++ = '\0';
        if (controllers[1] == '\0') {
            least = smaller(least, read_group(version_2, path, "memory.max"));
        } else if (has_memory(controllers + 1)) {
            least = smaller(least, read_group(version_1, path, "memory.limit_in_bytes"));
        }
    }
    return least;
}

uint64_t memory_default_limit(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGESIZE);
    uint64_t machine =
        pages > 0 && page_size > 0 ? (uint64_t)pages * (uint64_t)page_size : UINT64_MAX;
    uint64_t least = smaller(machine, memory_group_limit(""));
    return least == UINT64_MAX ? 0 : least / 100 * DEFAULT_PERCENT;
}

// ---------------------------------------------------------------------------------------------

static void take_reserve(struct memory *memory)
{
    if (!memory->reserve) {
        memory->reserve = malloc(RESERVE_SIZE);
    }
}

void memory_init(struct memory *memory, uint64_t limit)
{
    // Without this call glibc raises the threshold when a large block is freed, and keeps such
    // blocks.
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED_SIZE);
    *memory = (struct memory){ .base = UINT64_MAX };
    memory_set_limit(memory, limit);
    memory_look(memory);
}

void memory_release(struct memory *memory)
{
    free(memory->reserve);
    memory->reserve = NULL;
}

void memory_set_limit(struct memory *memory, uint64_t limit)
{
    memory->limit = limit == MEMORY_AUTO ? memory_default_limit() : limit;
}

// Memory that was freed and is still resident.
static uint64_t freed_size(const struct memory *memory)
{
    uint64_t live = memory->base + memory->looked_used;
    return memory->resident > live ? memory->resident - live : 0;
}

// The C library returns freed pages in the middle of its memory only if it is told to.
static void trim(struct memory *memory)
{
    uint64_t free_size = freed_size(memory), step = memory->resident / TRIM_PARTS;
    step = step > TRIM_SIZE_MIN ? step : TRIM_SIZE_MIN;
    if (free_size > memory->kept + step) {
        (void)malloc_trim(0);
        memory->resident = read_resident();
        memory->kept = freed_size(memory);
    }
    memory->kept = smaller(memory->kept, freed_size(memory));
}

void memory_look(struct memory *memory)
{
    take_reserve(memory);
    memory->looked_used = mem_used();
    memory->resident = read_resident();
    // The base is the smallest difference seen, when no freed memory is resident.
    uint64_t base =
        memory->resident > memory->looked_used ? memory->resident - memory->looked_used : 0;
    memory->base = smaller(memory->base, base);
    trim(memory);
}

bool memory_is_due(const struct memory *memory)
{
    uint64_t used = mem_used(), before = memory->looked_used;
    uint64_t step = memory->limit / LOOK_PARTS;
    step = step > LOOK_SIZE_MIN ? step : LOOK_SIZE_MIN;
    return !memory->reserve || (used > before ? used - before : before - used) > step;
}

uint64_t memory_live(const struct memory *memory)
{
    return memory->base + mem_used();
}

uint64_t memory_resident(const struct memory *memory)
{
    uint64_t used = mem_used();
    return memory->resident + (used > memory->looked_used ? used - memory->looked_used : 0);
}

bool memory_is_full(const struct memory *memory)
{
    if (!memory->reserve) {
        return true;
    }
    return memory->limit &&
           (memory_live(memory) >= memory->limit ||
            memory_resident(memory) >= memory->limit + memory->limit / EXCESS_PARTS);
}

enum status memory_check(const struct memory *memory, const char *setting, struct error *error)
{
    if (!memory_is_full(memory)) {
        return STATUS_OK;
    }
    if (!memory->reserve) {
        return error_set(error, STATUS_NO_MEMORY,
                         "out of memory: the system gives no more; complete, cancel or delete "
                         "jobs, or raise the process's memory limit");
    }
    return error_set(error, STATUS_NO_MEMORY,
                     "memory limit reached: %llu MiB used, %s is %llu MiB; complete, cancel or "
                     "delete jobs, or raise %s",
                     (unsigned long long)(memory_resident(memory) / MIB), setting,
                     (unsigned long long)(memory->limit / MIB), setting);
}

bool memory_free_reserve(struct memory *memory)
{
    bool was_there = memory->reserve != NULL;
    free(memory->reserve);
    memory->reserve = NULL;
    return was_there;
}
