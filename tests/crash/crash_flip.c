// SPDX-License-Identifier: MIT
// Every byte of a small store is changed in turn, and the store opened: it is either refused, with
// nothing changed on disk, or it gives exactly what was in it.
#include "small.h"

#include "random.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    WORKERS = 2,
    HANG_S = 60,         // an opening that takes longer hangs
    NEAR = 16,           // zeros so near to other bytes count as used
    ZEROS_SAMPLED = 61,  // of the other zeros one in so many is changed,
    ZEROS_AT_END = 8192, // and behind the last other byte of a file one in so many
    FAILURES_MAX = 5,    // of a worker, told before it gives up
};

// Only one change in so many is tried, where it takes longer.
static size_t stride = 1;

struct change {
    size_t file;
    size_t offset;
    unsigned char value;
};

// What is to be tried with an image.
struct trial {
    const struct image *image;
    uint64_t digest;
    bool live; // the journal has what the base has not
    struct change *changes;
    size_t count, capacity;
    size_t bytes; // that are changed
    char name[128];
};

// ---------------------------------------------------------------------------------------------
// What is changed

static void add_change(struct trial *trial, struct change change)
{
    if (trial->count == trial->capacity) {
        trial->capacity = 2 * trial->capacity + 1024;
        trial->changes = realloc(trial->changes, trial->capacity * sizeof(*trial->changes));
        REQUIRE(trial->changes, "no memory");
    }
    trial->changes[trial->count++] = change;
}

static bool is_used(const struct image_file *file, size_t offset)
{
    size_t first = offset > NEAR ? offset - NEAR : 0;
    for (size_t i = first; i < file->used && i <= offset + NEAR; i++) {
        if (file->bytes[i]) {
            return true;
        }
    }
    return false;
}

static bool is_wanted(const struct image_file *file, size_t offset, struct random *random)
{
    uint64_t zeros = offset < file->used ? ZEROS_SAMPLED : ZEROS_AT_END;
    return is_used(file, offset) || random_below(random, zeros) == 0;
}

static void add_byte(struct trial *trial, struct random *random, size_t file, size_t offset)
{
    const struct image_file *in = &trial->image->files[file];
    unsigned char now = in->bytes[offset];
    unsigned char flipped = (unsigned char)(now ^ 1U << random_below(random, 8));
    add_change(trial, (struct change){ file, offset, flipped });
    bool journal = trial->live && strncmp(in->name, "journal", 7) == 0;
    if (journal && now && flipped) {
        add_change(trial, (struct change){ file, offset, 0 });
    }
    if (journal && now != 0xff && flipped != 0xff) {
        add_change(trial, (struct change){ file, offset, 0xff });
    }
    trial->bytes++;
}

static void trial_init(struct trial *trial, const struct small *small, bool live,
                       struct random *random)
{
    const struct image *image = live ? &small->killed : &small->closed;
    *trial = (struct trial){ .image = image, .digest = small->digest, .live = live };
    size_t seen = 0;
    for (size_t file = 0; file < image->count; file++) {
        for (size_t at = 0; at < image->files[file].size; at++) {
            if (is_wanted(&image->files[file], at, random) && seen++ % stride == 0) {
                add_byte(trial, random, file, at);
            }
        }
    }
    (void)snprintf(trial->name, sizeof(trial->name),
                   "test_flip__each_of_%zu_bytes_of_a_store_that_was_%s", trial->bytes,
                   live ? "killed" : "closed");
}

// ---------------------------------------------------------------------------------------------
// Trying it

static void poke(const char *folder, const char *name, size_t offset, unsigned char value)
{
    char path[IMAGE_PATH_MAX];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    REQUIRE(fd >= 0 && pwrite(fd, &value, 1, (off_t)offset) == 1, path);
    (void)close(fd);
}

static void tell(const struct trial *trial, size_t index, const char *what)
{
    const struct change *change = &trial->changes[index];
    const struct image_file *file = &trial->image->files[change->file];
    (void)fprintf(stderr, "%s, byte %zu, 0x%02x made 0x%02x: %s\n", file->name, change->offset,
                  file->bytes[change->offset], change->value, what);
}

// Every WORKERS-th change. `at` says which one is being tried. Gives how many broke the promise.
static unsigned try_changes(const struct trial *trial, size_t first, size_t *at)
{
    char folder[IMAGE_PATH_MAX];
    unsigned failures = 0;
    struct image image;
    folder_make_scratch(folder, SCRATCH_IN_MEMORY);
    image_copy(&image, trial->image);
    image_write(&image, folder);
    for (size_t i = first; i < trial->count && failures < FAILURES_MAX; i += WORKERS) {
        const struct change *change = &trial->changes[i];
        struct image_file *file = &image.files[change->file];
        unsigned char before = file->bytes[change->offset];
        size_t used = file->used;
        *at = i;
        (void)alarm(HANG_S);
        file->bytes[change->offset] = change->value;
        image_use(file, change->offset + 1);
        poke(folder, file->name, change->offset, change->value);
        bool opened;
        struct error error;
        if (!small_try(trial->digest, &image, folder, &opened, &error)) {
            tell(trial, i, "the promise is broken");
            failures++;
            opened = true;
        }
        file->bytes[change->offset] = before;
        file->used = used;
        if (opened) {
            image_write(&image, folder);
        } else {
            poke(folder, file->name, change->offset, before);
        }
    }
    image_release(&image);
    folder_remove(folder);
    return failures;
}

// In processes of their own, so that a crash can be told of.
static void test_flip(void **state)
{
    const struct trial *trial = *state;
    size_t *at = mmap(NULL, WORKERS * sizeof(*at), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED);
    pid_t pids[WORKERS];
    (void)fflush(stdout);
    for (size_t i = 0; i < WORKERS; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0) {
            _exit(try_changes(trial, i, &at[i]) ? 1 : 0);
        }
    }
    unsigned failures = 0;
    for (size_t i = 0; i < WORKERS; i++) {
        int how;
        assert_true(waitpid(pids[i], &how, 0) == pids[i]);
        if (WIFSIGNALED(how)) {
            tell(trial, at[i], WTERMSIG(how) == SIGALRM ? "the opening hangs" : "a crash");
        }
        failures += how != 0;
    }
    (void)munmap(at, WORKERS * sizeof(*at));
    assert_int_equal(failures, 0);
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0) {
            seed = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--stride") == 0) {
            stride = strtoull(argv[i + 1], NULL, 10);
        }
    }
    struct random random = { seed };
    struct small small;
    struct trial killed, closed;
    small_init(&small, seed);
    trial_init(&killed, &small, true, &random);
    trial_init(&closed, &small, false, &random);
    const struct CMUnitTest tests[] = {
        { killed.name, test_flip, NULL, NULL, &killed },
        { closed.name, test_flip, NULL, NULL, &closed },
    };
    int failures = cmocka_run_group_tests_name("flip", tests, NULL, NULL);
    free(killed.changes);
    free(closed.changes);
    small_release(&small);
    return failures;
}
