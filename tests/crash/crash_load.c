// SPDX-License-Identifier: MIT
// A store with every kind of record in it, loaded into engines as the server and the library do it,
// with one byte changed: it is either refused with a sentence, or gives whole engines. Whichever it
// is, what was loaded by then can be released.
#include "patient.h"

#include "base/crc32c.h"
#include "engine/check/check.h"
#include "host/namespaces.h"
#include "random.h"
#include "store/journal/segments.h"
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    KINDS = RECORD_END, // RECORD_TAG is no record
    NOW_S = 2000000000,
};

static uint64_t seed = 1;
static unsigned long long flips = 200;

struct scene {
    struct patient patient;
    char folder[IMAGE_PATH_MAX];
};

// Told of when the process aborts.
static char trying[IMAGE_PATH_MAX];

static void on_abort(int signal_number)
{
    (void)signal_number;
    ssize_t written = write(STDERR_FILENO, trying, strlen(trying));
    (void)written;
}

static int scene_start(void **state)
{
    static struct scene scene;
    (void)signal(SIGABRT, on_abort);
    patient_init(&scene.patient, seed);
    folder_make_scratch(scene.folder, SCRATCH_IN_MEMORY);
    *state = &scene;
    return 0;
}

static int scene_end(void **state)
{
    struct scene *scene = *state;
    patient_release(&scene->patient);
    folder_remove(scene->folder);
    return 0;
}

// ---------------------------------------------------------------------------------------------
// Loading

// A host's namespaces, and how many records of each kind came to them.
struct load {
    struct namespaces namespaces;
    size_t kinds[KINDS];
    uint32_t sums[KINDS]; // of their bytes; the same in any order of the records
};

static void ignore_event(void *context, struct ns *ns, const struct event *event)
{
    (void)context;
    (void)ns;
    (void)event;
}

static enum status visit(void *context, struct store_key key, struct slice bytes,
                         struct error *error)
{
    struct load *load = context;
    if (key.space && (size_t)key.record.kind < KINDS) {
        load->kinds[key.record.kind]++;
        load->sums[key.record.kind] += crc32c(0, bytes.data, bytes.size);
    }
    return namespaces_visit(&load->namespaces, key, bytes, error);
}

static void report(void *context, const char *sentence)
{
    (void)context;
    fail_msg("%s%s", trying, sentence);
}

static void ignore_log(void *context, const char *sentence)
{
    (void)context;
    (void)sentence;
}

static enum status load_folder(const char *path, struct load *load, struct error *error)
{
    struct host_clock clock;
    host_clock_init(&clock, (struct clock_reading){ (int64_t)NOW_S * 1000000, 0 });
    const struct namespaces_options options = { .allocator = &allocator_system,
                                                .seed = { 1, 2 },
                                                .clock = &clock,
                                                .count_max = 100,
                                                .event = ignore_event,
                                                .log = ignore_log };
    const struct store_options store_options = { .path = path,
                                                 .allocator = &allocator_system,
                                                 .segment_size = UINT64_C(16) * 1024,
                                                 .reserve_size = 4096,
                                                 .checkpoint_us = INT64_C(3600) * 1000000 };
    const struct store_visitor visitor = { .visit = visit, .context = load };
    *load = (struct load){ 0 };
    assert_int_equal(namespaces_init(&load->namespaces, &options, error), STATUS_OK);
    enum status status = store_open(&store_options, &visitor, &load->namespaces.store, error);
    if (!status) {
        status = namespaces_loaded(&load->namespaces, (int64_t)NOW_S * 1000000, error);
        for (struct ns *ns = load->namespaces.first; ns && !status; ns = ns->next) {
            assert_int_equal(engine_check(ns->engine, false, report, NULL), 0);
        }
        assert_int_equal(store_close(load->namespaces.store, NULL), STATUS_OK);
    }
    namespaces_release(&load->namespaces);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Tests

static void test_load__there_is_a_record_of_every_kind(void **state)
{
    struct scene *scene = *state;
    struct load load;
    struct error error = { 0 };
    image_write(&scene->patient.closed, scene->folder);
    assert_int_equal(load_folder(scene->folder, &load, &error), STATUS_OK);
    for (size_t kind = 1; kind < KINDS; kind++) {
        if (load.kinds[kind] == 0) {
            fail_msg("there is no record of kind %zu", kind);
        }
    }
}

// What records consist of in each version of the file format, by the records of one store: how many
// there are of each kind, and a sum of their checksums.
//
// When this fails, the bytes of a record have changed, or there is a new kind. A program that does
// not know them takes them for damage. So raise STORE_VERSION, describe the change in
// docs/file-format.md, keep a folder of the version before in tests/server, and then replace the table
// by what the test prints. When only the workload of the tests has changed, replace the table alone.
static void test_load__records_change_only_with_the_version(void **state)
{
    const int version = 2;
    static const struct {
        size_t count;
        uint32_t sum;
    } wanted[KINDS] = {
        [1] = { 3, 0x4fcc64f7 },  [2] = { 3, 0x467d0671 },    [3] = { 13, 0x2412d990 },
        [4] = { 4, 0x40dade6a },  [5] = { 3, 0x1368c5b7 },    [6] = { 18, 0x4c7602a3 },
        [7] = { 17, 0x0b6ca10b }, [8] = { 9, 0xc44d6313 },    [9] = { 15, 0x5dd11239 },
        [10] = { 5, 0x69d640a4 }, [11] = { 553, 0x75aafd7e }, [12] = { 553, 0xf0209b5a },
        [13] = { 3, 0xf82c8a00 }, [14] = { 302, 0x15c61c25 }, [15] = { 3, 0x5b2777f1 },
        [16] = { 3, 0xf9c088e9 }, [17] = { 46, 0x2b52f6ee },  [18] = { 33, 0x7485749b },
        [19] = { 4, 0x0a7912bb },
    };
    struct patient patient;
    struct scene *scene = *state;
    struct load load;
    struct error error = { 0 };
    bool same = version == STORE_VERSION;
    patient_init(&patient, 1); // whatever the seed of the other tests is
    image_write(&patient.closed, scene->folder);
    patient_release(&patient);
    assert_int_equal(load_folder(scene->folder, &load, &error), STATUS_OK);
    for (size_t kind = 1; kind < KINDS; kind++) {
        same &= load.kinds[kind] == wanted[kind].count && load.sums[kind] == wanted[kind].sum;
    }
    for (size_t kind = 1; kind < KINDS && !same; kind++) {
        print_message("# [%zu] = { %zu, 0x%08x },\n", kind, load.kinds[kind], load.sums[kind]);
    }
    assert_true(same);
}

// A byte that is not 0, for most of a file is unused.
static size_t pick(const struct image_file *file, struct random *random)
{
    size_t at;
    do {
        at = (size_t)random_below(random, file->used);
    } while (!file->bytes[at]);
    return at;
}

static void flip(const struct scene *scene, const char *name, size_t at, unsigned bit)
{
    char path[2 * IMAGE_PATH_MAX];
    unsigned char byte = 0;
    (void)snprintf(path, sizeof(path), "%s/%s", scene->folder, name);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0 && pread(fd, &byte, 1, (off_t)at) == 1);
    byte = (unsigned char)(byte ^ 1U << bit);
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
    (void)close(fd);
}

// How many were refused after an engine had been begun to be loaded.
static size_t try_flips(struct scene *scene, const struct image *image, const char *name,
                        unsigned long long count)
{
    struct random random = { seed };
    size_t begun = 0;
    const struct image_file *file = image_find(image, name);
    assert_non_null(file);
    for (unsigned long long i = 0; i < count; i++) {
        struct load load;
        struct error error = { 0 };
        size_t at = pick(file, &random);
        unsigned bit = (unsigned)random_below(&random, 8);
        (void)snprintf(trying, sizeof(trying), "%s, byte %zu, bit %u: ", name, at, bit);
        image_write(image, scene->folder);
        flip(scene, name, at, bit);
        enum status status = load_folder(scene->folder, &load, &error);
        if (status && (!error.detail[0] || status == STATUS_INVALID)) {
            fail_msg("%srefused as %s: %s", trying, status_name(status), error.detail);
        }
        begun += status && load.kinds[RECORD_BODY];
    }
    trying[0] = '\0';
    return begun;
}

static void test_load__a_changed_byte_of_the_base_is_refused_with_a_sentence(void **state)
{
    struct scene *scene = *state;
    size_t begun = try_flips(scene, &scene->patient.closed, "base/data.mdb", flips);
    // Otherwise it would not be tried what becomes of an engine that is half loaded.
    assert_true(begun > flips / 10);
}

static void test_load__a_changed_byte_of_a_journal_is_refused_with_a_sentence(void **state)
{
    struct scene *scene = *state;
    const struct image *killed = &scene->patient.killed;
    for (size_t i = 0; i < killed->count; i++) {
        if (strncmp(killed->files[i].name, "journal-", 8) == 0 && killed->files[i].used) {
            (void)try_flips(scene, killed, killed->files[i].name, flips / 20);
        }
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0) {
            seed = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--flips") == 0) {
            flips = strtoull(argv[i + 1], NULL, 10);
        }
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load__there_is_a_record_of_every_kind),
        cmocka_unit_test(test_load__records_change_only_with_the_version),
        cmocka_unit_test(test_load__a_changed_byte_of_the_base_is_refused_with_a_sentence),
        cmocka_unit_test(test_load__a_changed_byte_of_a_journal_is_refused_with_a_sentence),
    };
    return cmocka_run_group_tests_name("load", tests, scene_start, scene_end);
}
