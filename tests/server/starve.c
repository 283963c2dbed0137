// SPDX-License-Identifier: MIT
// Linked into a sluiced of its own (sluiced_starved): allocations fail when the test says so. The
// file that the variable STARVE_FILE names holds a struct starve, which the test writes to and
// reads from while the server runs.
//
// What is counted: all that comes from allocator_system (--wrap=realloc), libevent and OpenSSL, in
// the thread that runs the loop, in every thread, or in the threads of one name. In the last case,
// and without a sanitizer, which has a malloc of its own, LMDB's and the C library's own calls are
// counted too.
#include <event2/event.h>
#include <openssl/crypto.h>

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

struct starve {
    _Atomic uint64_t calls;   // allocations and enlargements so far
    _Atomic uint64_t first;   // the number of the first call that fails; 0: none
    _Atomic uint64_t last;    // the number of the last one
    _Atomic uint64_t threads; // 0: only the main thread's calls count and fail; 1: all; 2: `name`
    _Atomic uint64_t failed;  // how many have failed
    char name[16];            // written before `threads`
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define HAS_SANITIZER true
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#        define HAS_SANITIZER true
#    endif
#endif

static struct starve *starve;
static pid_t main_thread;

static bool counts(void)
{
    char name[16] = "";
    if (!starve) {
        return false;
    }
    switch (atomic_load(&starve->threads)) {
    case 0:
        return gettid() == main_thread;
    case 1:
        return true;
    default:
        return prctl(PR_GET_NAME, name) == 0 && strncmp(name, starve->name, sizeof(name)) == 0;
    }
}

static bool fails(void)
{
    if (!counts()) {
        return false;
    }
    uint64_t call = atomic_fetch_add(&starve->calls, 1) + 1;
    uint64_t first = atomic_load(&starve->first);
    if (first == 0 || call < first || call > atomic_load(&starve->last)) {
        return false;
    }
    atomic_fetch_add(&starve->failed, 1);
    return true;
}

#ifndef HAS_SANITIZER

// Of the C library, for everything in the process.
void *__libc_malloc(size_t size);               // NOLINT: the library's names
void *__libc_calloc(size_t count, size_t size); // NOLINT
void *__libc_realloc(void *block, size_t size); // NOLINT

static bool fails_everywhere(void)
{
    bool failing = starve && atomic_load(&starve->threads) == 2 && fails();
    if (failing) {
        errno = ENOMEM;
    }
    return failing;
}

void *malloc(size_t size) // NOLINT: the names of parameters
{
    return fails_everywhere() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) // NOLINT
{
    return fails_everywhere() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) // NOLINT
{
    return size && fails_everywhere() ? NULL : __libc_realloc(block, size);
}

#endif

void *__real_realloc(void *block, size_t size); // NOLINT: the linker's names
void *__wrap_realloc(void *block, size_t size); // NOLINT

void *__wrap_realloc(void *block, size_t size) // NOLINT
{
    return fails() ? NULL : __real_realloc(block, size);
}

static void *library_malloc(size_t size)
{
    return fails() ? NULL : malloc(size);
}

static void *library_realloc(void *block, size_t size)
{
    if (size && fails()) {
        return NULL;
    }
    return __real_realloc(block, size);
}

static void *crypto_malloc(size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return size ? library_malloc(size) : NULL;
}

static void *crypto_realloc(void *block, size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return library_realloc(block, size);
}

static void crypto_free(void *block, const char *file, int line)
{
    (void)file;
    (void)line;
    free(block);
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("STARVE_FILE");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) {
        return;
    }
    void *shared = mmap(NULL, sizeof(*starve), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (shared == MAP_FAILED) {
        abort();
    }
    main_thread = gettid();
    event_set_mem_functions(library_malloc, library_realloc, free);
    (void)CRYPTO_set_mem_functions(crypto_malloc, crypto_realloc, crypto_free);
    starve = shared;
}
