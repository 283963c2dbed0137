// SPDX-License-Identifier: MIT
// A store is damaged in many ways, and the doctor called: it finds something whenever it does not
// open, and nothing when it does; after a repair it opens, its engines are sound, every job whose
// records were not hit is there, and the damaged folder is kept as it was.
#include "patient.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "doctor/doctor.h"
#include "random.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// docs/file-format.md
enum {
    SECTOR_SIZE = 512,
    SECTOR_GROUP_AT = 8,
    GROUPS_MAX = 4096,
    // LMDB's
    PAGE_SIZE = 4096,
    PAGE_FLAGS_AT = 10,
    PAGE_BRANCH = 1,
};

struct scene {
    struct patient patient, other;
    char root[IMAGE_PATH_MAX];
    char path[IMAGE_PATH_MAX + 16], damaged[IMAGE_PATH_MAX + 16], copy[IMAGE_PATH_MAX + 16];
    struct random random;
    unsigned sound, repaired; // folders
    size_t kept, lost;        // jobs
};

static uint64_t seed_given = 1;
static size_t flips = 160;
static size_t every = 1; // of the sizes that are tried

static int scene_start(void **state)
{
    static struct scene scene;
    patient_init(&scene.patient, seed_given);
    patient_init(&scene.other, seed_given + 100);
    scene.random = (struct random){ seed_given };
    folder_make_scratch(scene.root, SCRATCH_IN_MEMORY);
    (void)snprintf(scene.path, sizeof(scene.path), "%s/store", scene.root);
    (void)snprintf(scene.damaged, sizeof(scene.damaged), "%s/store.damaged", scene.root);
    (void)snprintf(scene.copy, sizeof(scene.copy), "%s/copy", scene.root);
    *state = &scene;
    return 0;
}

static int scene_end(void **state)
{
    struct scene *scene = *state;
    (void)printf("# %zu jobs; %u damaged folders were sound, %u repaired, with %zu jobs kept and "
                 "%zu lost\n",
                 scene->patient.count, scene->sound, scene->repaired, scene->kept, scene->lost);
    patient_release(&scene->patient);
    patient_release(&scene->other);
    folder_remove(scene->root);
    return 0;
}

// ---------------------------------------------------------------------------------------------
// What the doctor reports

struct said {
    size_t bad;
    double share;
    bool goes_back; // the share
    char last[512]; // bad sentence
    char words[8192];
};

static void hear(void *context, bool bad, double share, const char *sentence)
{
    struct said *said = context;
    said->goes_back |= share < said->share || share > 1;
    said->share = share;
    if (!sentence) {
        return;
    }
    size_t used = strlen(said->words);
    (void)snprintf(said->words + used, sizeof(said->words) - used, "%s%s\n", bad ? "! " : "  ",
                   sentence);
    if (bad) {
        said->bad++;
        (void)snprintf(said->last, sizeof(said->last), "%s", sentence);
    }
}

static enum status call_doctor(const char *path, enum doctor_remedy remedy, struct said *said,
                               struct error *error)
{
    *said = (struct said){ 0 };
    *error = (struct error){ 0 };
    const struct doctor_options options = { .path = path,
                                            .allocator = &allocator_system,
                                            .remedy = remedy,
                                            .now_us = INT64_C(1700000000) * 1000000,
                                            .report = hear,
                                            .context = said };
    enum status status = doctor_run(&options, error);
    assert_false(said->goes_back);
    return status;
}

// ---------------------------------------------------------------------------------------------
// What must be left

static const struct image_file *base_of(const struct image *image)
{
    return image_find(image, "base/data.mdb");
}

static bool is_same(const struct image_file *a, const struct image_file *b)
{
    return a && b && a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

// Marks the groups of which a sector is not what it was.
static void mark_groups(const struct image *before, const struct image *now, bool hit[GROUPS_MAX])
{
    for (size_t i = 0; i < before->count; i++) {
        const struct image_file *file = &before->files[i];
        const struct image_file *there = image_find(now, file->name);
        if (strncmp(file->name, "journal-", 8) != 0) {
            continue;
        }
        for (size_t at = SECTOR_SIZE; at + SECTOR_SIZE <= file->size; at += SECTOR_SIZE) {
            uint64_t group = bytes_load_u64(file->bytes + at + SECTOR_GROUP_AT);
            if (group < GROUPS_MAX &&
                (!there || at + SECTOR_SIZE > there->size ||
                 memcmp(file->bytes + at, there->bytes + at, SECTOR_SIZE) != 0)) {
                hit[group] = true;
            }
        }
    }
}

// How many jobs are gone that should be there, and how many in all.
static size_t count_missing(struct scene *scene, const struct image *before,
                            const struct image *now, const struct inventory *inventory,
                            size_t *lost)
{
    const struct patient *patient = &scene->patient;
    uint64_t covered = before == &patient->closed ? patient->last : patient->covered;
    bool hit[GROUPS_MAX] = { false };
    bool base_is_same = is_same(base_of(before), base_of(now));
    size_t missing = 0;
    mark_groups(before, now, hit);
    *lost = 0;
    for (size_t i = 0; i < patient->count; i++) {
        const struct patient_job *job = &patient->jobs[i];
        bool has = inventory_has(inventory, job);
        bool body = (job->body_group <= covered && base_is_same) || !hit[job->body_group];
        bool head = (job->head_group <= covered && base_is_same) || !hit[job->head_group];
        // With a base that was hit, only what is in the journal's tail is certain.
        body = body && (base_is_same || job->body_group > covered);
        head = head && (base_is_same || job->head_group > covered);
        *lost += !has;
        missing += !has && body && head;
        if (!has && body && head) {
            (void)fprintf(stderr, "job %s of namespace %u is gone (groups %llu and %llu)\n",
                          job->jid, job->space, (unsigned long long)job->body_group,
                          (unsigned long long)job->head_group);
        }
    }
    return missing;
}

struct trial {
    const struct image *before;
    const char *what;
    size_t lost_max; // jobs
};

#define ANY_NUMBER SIZE_MAX

// Checks and repairs a folder that holds a damaged image.
static void repair(struct scene *scene, const struct trial *trial, const struct image *image)
{
    struct said said;
    struct error error;
    struct inventory inventory;
    size_t lost;
    enum status status = call_doctor(scene->path, DOCTOR_REPAIR, &said, &error);
    if (status) {
        fail_msg("%s: it is not repaired: %s\n%s", trial->what, error_sentence(&error), said.words);
    }
    if (!image_is_at(image, scene->damaged, "lock")) {
        fail_msg("%s: the damaged folder is not as it was", trial->what);
    }
    if (!inventory_take(&inventory, scene->path)) {
        fail_msg("%s: what was repaired is not sound\n%s", trial->what, said.words);
    }
    if (count_missing(scene, trial->before, image, &inventory, &lost) || lost > trial->lost_max) {
        fail_msg("%s: %zu jobs are lost\n%s", trial->what, lost, said.words);
    }
    scene->repaired++;
    scene->lost += lost;
    scene->kept += scene->patient.count - lost;
    inventory_release(&inventory);
    folder_remove(scene->damaged);
}

static void try_image(struct scene *scene, const struct trial *trial, const struct image *image)
{
    struct said said;
    struct error error;
    image_write(image, scene->copy);
    image_write(image, scene->path);
    bool opens = folder_opens(scene->copy);
    enum status status = call_doctor(scene->path, DOCTOR_CHECK, &said, &error);
    if (!image_is_at(image, scene->path, "")) {
        fail_msg("%s: a check has changed something", trial->what);
    }
    if (opens != (status == STATUS_OK) || (said.bad > 0) != (status == STATUS_CORRUPT)) {
        fail_msg("%s: it %s, and the doctor says %s: %s\n%s", trial->what,
                 opens ? "opens" : "does not open", status_name(status), error_sentence(&error),
                 said.words);
    }
    if (opens) {
        scene->sound++;
    } else {
        repair(scene, trial, image);
    }
}

// ---------------------------------------------------------------------------------------------
// Bytes

static void flip_in(struct scene *scene, const struct image *before, const char *name, size_t at,
                    unsigned char value, size_t lost_max)
{
    struct image image;
    char what[128];
    image_copy(&image, before);
    struct image_file *file = image_find(&image, name);
    (void)snprintf(what, sizeof(what), "%s byte %zu 0x%02x made 0x%02x", name, at, file->bytes[at],
                   value);
    file->bytes[at] = value;
    image_use(file, at + 1);
    try_image(scene, &(struct trial){ before, what, lost_max }, &image);
    image_release(&image);
}

static void flip_some(struct scene *scene, const struct image *before)
{
    for (size_t i = 0; i < flips / 2; i++) {
        const struct image_file *file;
        size_t at;
        // Bytes that are not zero count.
        do {
            file = &before->files[random_below(&scene->random, before->count)];
            at = file->used ? random_below(&scene->random, file->used) : 0;
        } while (!file->used || (!file->bytes[at] && random_below(&scene->random, 8)));
        unsigned char value =
            file->bytes[at] ^ (unsigned char)(1U << random_below(&scene->random, 8));
        bool journal = strncmp(file->name, "journal-", 8) == 0;
        // A byte of the base belongs to one record.
        flip_in(scene, before, file->name, at, value, journal ? ANY_NUMBER : 1);
    }
}

static void test_doctor__bytes_of_a_store_that_was_killed(void **state)
{
    struct scene *scene = *state;
    flip_some(scene, &scene->patient.killed);
}

static void test_doctor__bytes_of_a_store_that_was_closed(void **state)
{
    struct scene *scene = *state;
    flip_some(scene, &scene->patient.closed);
}

// A header that is torn when a segment is used again: opening refuses, and nothing is lost.
static void test_doctor__a_torn_header_loses_nothing(void **state)
{
    struct scene *scene = *state;
    const struct image *const images[] = { &scene->patient.killed, &scene->patient.closed };
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < images[i]->count; k++) {
            const char *name = images[i]->files[k].name;
            if (strncmp(name, "journal-", 8) == 0) {
                flip_in(scene, images[i], name, 33, 0x5a, 0);
            }
        }
    }
}

// Without any branch of the base's tree, of all times: its leaves are found all the same.
static void test_doctor__branches_that_are_gone_lose_nothing(void **state)
{
    struct scene *scene = *state;
    const struct image *const images[] = { &scene->patient.killed, &scene->patient.closed };
    for (size_t i = 0; i < 2; i++) {
        struct image image;
        unsigned branches = 0;
        image_copy(&image, images[i]);
        struct image_file *file = image_find(&image, "base/data.mdb");
        for (size_t at = (size_t)2 * PAGE_SIZE; at < file->used; at += PAGE_SIZE) {
            if (bytes_load_u64(file->bytes + at) == at / PAGE_SIZE &&
                bytes_load_u16(file->bytes + at + PAGE_FLAGS_AT) == PAGE_BRANCH) {
                memset(file->bytes + at, 0, PAGE_SIZE);
                branches++;
            }
        }
        assert_true(branches > 0);
        try_image(scene, &(struct trial){ images[i], "no branches", 0 }, &image);
        image_release(&image);
    }
}

// Both meta pages: all that is left of the base is pages, old ones among them.
static void test_doctor__a_base_without_a_beginning(void **state)
{
    struct scene *scene = *state;
    const struct image *const images[] = { &scene->patient.killed, &scene->patient.closed };
    for (size_t i = 0; i < 2; i++) {
        struct image image;
        image_copy(&image, images[i]);
        memset(image_find(&image, "base/data.mdb")->bytes, 0, (size_t)2 * PAGE_SIZE);
        try_image(scene, &(struct trial){ images[i], "no meta pages", 0 }, &image);
        image_release(&image);
    }
}

// Arbitrary changes all over: whatever the doctor makes of it must be sound.
static void test_doctor__much_damage(void **state)
{
    struct scene *scene = *state;
    for (size_t i = 0; i < flips / 4; i++) {
        const struct image *before = i % 2 ? &scene->patient.killed : &scene->patient.closed;
        struct image image;
        image_copy(&image, before);
        uint64_t count = 1 + random_below(&scene->random, 200);
        for (uint64_t k = 0; k < count; k++) {
            struct image_file *file = &image.files[random_below(&scene->random, image.count)];
            if (file->used) {
                size_t at = random_below(&scene->random, file->used);
                file->bytes[at] = (unsigned char)random_u64(&scene->random);
            }
        }
        char what[64];
        (void)snprintf(what, sizeof(what), "change %zu of many bytes", i);
        const struct trial trial = { before, what, ANY_NUMBER };
        image_write(&image, scene->copy);
        image_write(&image, scene->path);
        if (!folder_opens(scene->copy)) {
            struct said said;
            struct error error;
            assert_int_equal(call_doctor(scene->path, DOCTOR_CHECK, &said, &error), STATUS_CORRUPT);
            repair(scene, &trial, &image);
        }
        image_release(&image);
    }
}

// ---------------------------------------------------------------------------------------------
// Files

static bool is_file(const struct image_file *file)
{
    return file->name[strlen(file->name) - 1] != '/';
}

static void each_file(struct scene *scene,
                      void (*damage)(struct scene *scene, const struct image *before,
                                     const struct image_file *file))
{
    const struct image *const images[] = { &scene->patient.killed, &scene->patient.closed };
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < images[i]->count; k++) {
            if (is_file(&images[i]->files[k])) {
                damage(scene, images[i], &images[i]->files[k]);
            }
        }
    }
}

static void remove_file(struct scene *scene, const struct image *before,
                        const struct image_file *file)
{
    struct image image;
    image_copy(&image, before);
    image_remove(&image, file->name);
    try_image(scene, &(struct trial){ before, file->name, ANY_NUMBER }, &image);
    image_release(&image);
}

static void test_doctor__a_file_that_is_gone(void **state)
{
    each_file(*state, remove_file);
}

static void resize_file(struct scene *scene, const struct image *before,
                        const struct image_file *file)
{
    if (strcmp(file->name, "base/data.mdb") != 0 && strncmp(file->name, "journal-", 8) != 0) {
        return;
    }
    const size_t sizes[] = { 0,
                             100,
                             SECTOR_SIZE,
                             4096,
                             8192,
                             file->size / 2,
                             file->size - 1,
                             file->size + 512,
                             file->size + 4096 };
    for (size_t i = 0; TEST_ROW(i, sizes); i++) {
        static size_t tried;
        char what[128];
        struct image image;
        if (tried++ % every) {
            continue;
        }
        (void)snprintf(what, sizeof(what), "%s with %zu of %zu bytes", file->name, sizes[i],
                       file->size);
        image_copy(&image, before);
        image_resize(&image, file->name, sizes[i]);
        try_image(scene, &(struct trial){ before, what, sizes[i] > file->size ? 0 : ANY_NUMBER },
                  &image);
        image_release(&image);
    }
}

static void test_doctor__a_file_of_another_size(void **state)
{
    each_file(*state, resize_file);
}

static void replace_bytes(struct image *image, const char *name, const struct image_file *by)
{
    image_resize(image, name, by->size);
    struct image_file *file = image_find(image, name);
    memcpy(file->bytes, by->bytes, by->size);
    file->used = by->used;
}

static void swap_file(struct scene *scene, const struct image *before,
                      const struct image_file *file)
{
    struct image image;
    char what[128];
    const struct image_file *other = image_find(before, "journal-000");
    if (strncmp(file->name, "journal-", 8) != 0 || file == other) {
        return;
    }
    image_copy(&image, before);
    replace_bytes(&image, file->name, other);
    replace_bytes(&image, "journal-000", file);
    (void)snprintf(what, sizeof(what), "%s exchanged with journal-000", file->name);
    // Where a sector stands does not matter.
    struct trial trial = { before, what, 0 };
    try_image(scene, &trial, &image);
    image_release(&image);
}

static void test_doctor__segments_that_were_exchanged_lose_nothing(void **state)
{
    each_file(*state, swap_file);
}

static void take_from_other(struct scene *scene, const struct image *before,
                            const struct image_file *file)
{
    struct image image;
    const struct image_file *other = image_find(&scene->other.closed, file->name);
    if (!other || strcmp(file->name, "base/data.mdb") == 0) {
        return;
    }
    image_copy(&image, before);
    replace_bytes(&image, file->name, other);
    try_image(scene, &(struct trial){ before, file->name, ANY_NUMBER }, &image);
    image_release(&image);
}

static void test_doctor__a_segment_of_another_store(void **state)
{
    each_file(*state, take_from_other);
}

// ---------------------------------------------------------------------------------------------
// Folders

static void test_doctor__a_sound_folder_is_left_alone(void **state)
{
    struct scene *scene = *state;
    struct said said;
    struct error error;
    image_write(&scene->patient.closed, scene->path);
    assert_int_equal(call_doctor(scene->path, DOCTOR_REPAIR, &said, &error), STATUS_OK);
    assert_int_equal(said.bad, 0);
    assert_true(said.share >= 1);
    assert_true(image_is_at(&scene->patient.closed, scene->path, ""));
    assert_int_not_equal(access(scene->damaged, F_OK), 0);
}

static void test_doctor__folders_that_are_kept_are_numbered(void **state)
{
    struct scene *scene = *state;
    struct said said;
    struct error error;
    struct image image;
    char second[sizeof(scene->damaged) + 2];
    (void)snprintf(second, sizeof(second), "%s-2", scene->damaged);
    image_copy(&image, &scene->patient.closed);
    image_find(&image, "journal-001")->bytes[0] ^= 1;
    for (int i = 0; i < 2; i++) {
        image_write(&image, scene->path);
        assert_int_equal(call_doctor(scene->path, DOCTOR_REPAIR, &said, &error), STATUS_OK);
        assert_true(image_is_at(&image, i ? second : scene->damaged, "lock"));
    }
    folder_remove(scene->damaged);
    folder_remove(second);
    image_release(&image);
}

static void test_doctor__no_store_is_not_found(void **state)
{
    struct scene *scene = *state;
    struct said said;
    struct error error;
    char path[IMAGE_PATH_MAX + 16];
    (void)snprintf(path, sizeof(path), "%s/none", scene->root);
    assert_int_equal(call_doctor(path, DOCTOR_CHECK, &said, &error), STATUS_NOT_FOUND);
    assert_non_null(strstr(error.detail, path));
    assert_int_equal(call_doctor(scene->root, DOCTOR_REPAIR, &said, &error), STATUS_NOT_FOUND);
    assert_non_null(strstr(error.detail, scene->root));
}

// A header of a version to come, whose checksum is right.
static void test_doctor__another_version_is_not_touched(void **state)
{
    struct scene *scene = *state;
    struct said said;
    struct error error;
    struct image image;
    image_copy(&image, &scene->patient.closed);
    unsigned char *header = image_find(&image, "journal-001")->bytes;
    bytes_store_u32(header + 4, 4321);
    bytes_store_u32(header, crc32c(0, header + 4, SECTOR_SIZE - 4));
    image_write(&image, scene->path);
    for (int remedy = DOCTOR_CHECK; remedy <= DOCTOR_REPAIR; remedy++) {
        assert_int_equal(call_doctor(scene->path, (enum doctor_remedy)remedy, &said, &error),
                         STATUS_UNSUPPORTED);
        assert_non_null(strstr(error.detail, "4321"));
        assert_true(image_is_at(&image, scene->path, ""));
    }
    // Also when something else is wrong, which opening comes to first.
    image_find(&image, "journal-000")->bytes[40] ^= 1;
    image_write(&image, scene->path);
    assert_int_equal(call_doctor(scene->path, DOCTOR_REPAIR, &said, &error), STATUS_UNSUPPORTED);
    assert_true(image_is_at(&image, scene->path, ""));
    image_release(&image);
}

static void test_doctor__a_store_that_is_open_is_busy(void **state)
{
    struct scene *scene = *state;
    struct said said;
    struct error error;
    char pid[32];
    image_write(&scene->patient.closed, scene->path);
    struct store *store = folder_open(scene->path);
    assert_non_null(store);
    (void)snprintf(pid, sizeof(pid), "process %ld", (long)getpid());
    for (int remedy = DOCTOR_CHECK; remedy <= DOCTOR_REPAIR; remedy++) {
        assert_int_equal(call_doctor(scene->path, (enum doctor_remedy)remedy, &said, &error),
                         STATUS_BUSY);
        assert_non_null(strstr(error.detail, pid));
    }
    assert_int_equal(store_close(store, NULL), STATUS_OK);
    assert_int_equal(call_doctor(scene->path, DOCTOR_CHECK, &said, &error), STATUS_OK);
}

// The process ends as soon as so much of the work is done.
struct interrupted {
    double at;
};

static void interrupt(void *context, bool bad, double share, const char *sentence)
{
    const struct interrupted *interrupted = context;
    (void)bad;
    (void)sentence;
    if (share >= interrupted->at) {
        _exit(7);
    }
}

static void run_interrupted(const char *path, double at)
{
    struct interrupted interrupted = { at };
    (void)fflush(stdout);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const struct doctor_options options = { .path = path,
                                                .allocator = &allocator_system,
                                                .remedy = DOCTOR_REPAIR,
                                                .report = interrupt,
                                                .context = &interrupted };
        _exit(doctor_run(&options, NULL) ? 1 : 0);
    }
    int how;
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 7);
}

static void test_doctor__an_interrupted_repair_leaves_the_folder_as_it_was(void **state)
{
    struct scene *scene = *state;
    static const double shares[] = { 0, 0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95 };
    struct image image;
    image_copy(&image, &scene->patient.killed);
    image_find(&image, "journal-001")->bytes[0] ^= 1;
    for (size_t i = 0; TEST_ROW(i, shares); i++) {
        image_write(&image, scene->path);
        run_interrupted(scene->path, shares[i]);
        assert_true(image_is_at(&image, scene->path, "lock"));
        assert_int_not_equal(access(scene->damaged, F_OK), 0);
    }
    // What it left does no harm.
    repair(scene, &(struct trial){ &scene->patient.killed, "after interruptions", ANY_NUMBER },
           &image);
    image_release(&image);
}

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0) {
            seed_given = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--flips") == 0) {
            flips = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--every") == 0) {
            every = strtoull(argv[i + 1], NULL, 10);
        }
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doctor__a_sound_folder_is_left_alone),
        cmocka_unit_test(test_doctor__a_torn_header_loses_nothing),
        cmocka_unit_test(test_doctor__a_file_that_is_gone),
        cmocka_unit_test(test_doctor__a_file_of_another_size),
        cmocka_unit_test(test_doctor__segments_that_were_exchanged_lose_nothing),
        cmocka_unit_test(test_doctor__a_segment_of_another_store),
        cmocka_unit_test(test_doctor__bytes_of_a_store_that_was_killed),
        cmocka_unit_test(test_doctor__bytes_of_a_store_that_was_closed),
        cmocka_unit_test(test_doctor__branches_that_are_gone_lose_nothing),
        cmocka_unit_test(test_doctor__a_base_without_a_beginning),
        cmocka_unit_test(test_doctor__much_damage),
        cmocka_unit_test(test_doctor__folders_that_are_kept_are_numbered),
        cmocka_unit_test(test_doctor__no_store_is_not_found),
        cmocka_unit_test(test_doctor__another_version_is_not_touched),
        cmocka_unit_test(test_doctor__a_store_that_is_open_is_busy),
        cmocka_unit_test(test_doctor__an_interrupted_repair_leaves_the_folder_as_it_was),
    };
    return cmocka_run_group_tests_name("doctor", tests, scene_start, scene_end);
}
