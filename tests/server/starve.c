// SPDX-License-Identifier: MIT
// Linked into a sluiced of its own (sluiced_starved): allocations fail when the test says so. The
// file that the variable STARVE_FILE names holds a struct starve, which the test writes to and
// reads from while the server runs.
//
// What is counted: all that comes from allocator_system (--wrap=realloc), libevent and OpenSSL, in
// the thread that runs the loop, or in every thread. LMDB's, zlib's and curl's own calls are not.
#include <event2/event.h>
#include <openssl/crypto.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct starve {
    _Atomic uint64_t calls;   // allocations and enlargements so far
    _Atomic uint64_t first;   // the number of the first call that fails; 0: none
    _Atomic uint64_t last;    // the number of the last one
    _Atomic uint64_t threads; // 0: only the main thread's calls count and fail; 1: all
    _Atomic uint64_t failed;  // how many have failed
};

static struct starve *starve;
static pid_t main_thread;

static bool fails(void)
{
    if (!starve || (!atomic_load(&starve->threads) && gettid() != main_thread)) {
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
