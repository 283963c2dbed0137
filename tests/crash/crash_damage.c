// SPDX-License-Identifier: MIT
// Damage larger than a byte: files that are gone, cut, longer, exchanged, from another store or of
// another version; and folders that cannot be a store, or are one that another process has open.
#include "small.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// docs/file-format.md
enum {
    SECTOR_SIZE = 512,
    HEADER_VERSION_AT = 4,
    HEADER_ID_AT = 16,
    ID_SIZE = 16,
    KEY_SIZE = 21,
    OWN_RECORD_SIZE = 4 + ID_SIZE + 8 + 8 + 4 + 4 + 8 + 8 + 8,
};

struct scene {
    struct small small, other; // two stores
    char folder[IMAGE_PATH_MAX];
    unsigned refused, opened;
};

static uint64_t seed_given = 1;

static int scene_start(void **state)
{
    static struct scene scene;
    small_init(&scene.small, seed_given);
    small_init(&scene.other, seed_given);
    folder_make_scratch(scene.folder, SCRATCH_IN_MEMORY);
    *state = &scene;
    return 0;
}

static int scene_end(void **state)
{
    struct scene *scene = *state;
    small_release(&scene->small);
    small_release(&scene->other);
    folder_remove(scene->folder);
    return 0;
}

// Opens a store that was damaged. `what` names the damage.
static enum status try_image(struct scene *scene, const struct image *image, const char *what,
                             struct error *error)
{
    bool opened;
    image_write(image, scene->folder);
    if (!small_try(scene->small.digest, image, scene->folder, &opened, error)) {
        fail_msg("%s: the promise is broken", what);
    }
    if (opened) {
        scene->opened++;
        return STATUS_OK;
    }
    scene->refused++;
    return error->status;
}

static bool is_journal(const char *name)
{
    return strncmp(name, "journal-", 8) == 0;
}

static bool is_folder(const struct image_file *file)
{
    return file->name[strlen(file->name) - 1] == '/';
}

// Files without which, or with any other bytes in which, a store still is what it was.
static bool is_of_no_account(const char *name)
{
    return strcmp(name, "lock") == 0 || strcmp(name, "reserve") == 0 ||
           strcmp(name, "base/lock.mdb") == 0;
}

// ---------------------------------------------------------------------------------------------
// Whole files

static void each_file(struct scene *scene, const struct image *from,
                      void (*damage)(struct scene *scene, const struct image *from,
                                     const struct image_file *file))
{
    for (size_t i = 0; i < from->count; i++) {
        if (!is_folder(&from->files[i])) {
            damage(scene, from, &from->files[i]);
        }
    }
}

static void each_file_of_both(struct scene *scene,
                              void (*damage)(struct scene *scene, const struct image *from,
                                             const struct image_file *file))
{
    each_file(scene, &scene->small.killed, damage);
    each_file(scene, &scene->small.closed, damage);
}

static void remove_file(struct scene *scene, const struct image *from,
                        const struct image_file *file)
{
    struct image image;
    struct error error;
    image_copy(&image, from);
    image_remove(&image, file->name);
    enum status status = try_image(scene, &image, file->name, &error);
    if (is_of_no_account(file->name) && status) {
        fail_msg("without %s it is refused: %s", file->name, error_sentence(&error));
    } else if (!is_of_no_account(file->name) && status != STATUS_CORRUPT) {
        fail_msg("without %s it is not CORRUPT: %s", file->name, status_name(status));
    }
    image_release(&image);
}

static void test_damage__a_file_that_is_gone(void **state)
{
    each_file_of_both(*state, remove_file);
}

static void test_damage__a_base_that_is_gone(void **state)
{
    struct scene *scene = *state;
    const struct image *const images[] = { &scene->small.killed, &scene->small.closed };
    for (size_t i = 0; i < 2; i++) {
        struct image image;
        struct error error;
        image_copy(&image, images[i]);
        while (image.count && strncmp(image.files[0].name, "base", 4) == 0) {
            image_remove(&image, image.files[0].name);
        }
        assert_int_equal(try_image(scene, &image, "no base", &error), STATUS_CORRUPT);
        image_release(&image);
    }
}

static void resize_file(struct scene *scene, const struct image *from,
                        const struct image_file *file, size_t size)
{
    struct image image;
    struct error error;
    image_copy(&image, from);
    image_resize(&image, file->name, size);
    enum status status = try_image(scene, &image, file->name, &error);
    if (is_journal(file->name) && status != STATUS_CORRUPT) {
        fail_msg("%s with %zu bytes is not CORRUPT: %s", file->name, size, status_name(status));
    }
    image_release(&image);
}

static void cut_file(struct scene *scene, const struct image *from, const struct image_file *file)
{
    const size_t sizes[] = { 0,
                             1,
                             100,
                             SECTOR_SIZE,
                             4096,
                             8192,
                             file->size / 2,
                             file->size - 4096,
                             file->size - SECTOR_SIZE,
                             file->size - 1 };
    for (size_t i = 0; TEST_ROW(i, sizes); i++) {
        if (sizes[i] < file->size) {
            resize_file(scene, from, file, sizes[i]);
        }
    }
}

static void test_damage__a_file_that_was_cut_short(void **state)
{
    each_file_of_both(*state, cut_file);
}

static void lengthen_file(struct scene *scene, const struct image *from,
                          const struct image_file *file)
{
    static const size_t more[] = { 1, SECTOR_SIZE, 4096, 65536 };
    for (size_t i = 0; TEST_ROW(i, more); i++) {
        resize_file(scene, from, file, file->size + more[i]);
    }
}

static void test_damage__a_file_that_is_longer(void **state)
{
    each_file_of_both(*state, lengthen_file);
}

// Puts other bytes into a file.
static void replace_bytes(struct image *image, const char *name, const struct image_file *by)
{
    image_resize(image, name, by->size);
    struct image_file *file = image_find(image, name);
    memcpy(file->bytes, by->bytes, by->size);
    file->used = by->used;
}

static void swap_with_others(struct scene *scene, const struct image *from,
                             const struct image_file *file)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct image_file *other = &from->files[i];
        if (!is_journal(file->name) || !is_journal(other->name) ||
            strcmp(file->name, other->name) >= 0) {
            continue;
        }
        struct image image;
        struct error error;
        image_copy(&image, from);
        replace_bytes(&image, file->name, other);
        replace_bytes(&image, other->name, file);
        assert_int_equal(try_image(scene, &image, "segments exchanged", &error), STATUS_CORRUPT);
        // The same segment twice.
        replace_bytes(&image, other->name, other);
        assert_int_equal(try_image(scene, &image, "a segment twice", &error), STATUS_CORRUPT);
        image_release(&image);
    }
}

static void test_damage__segments_that_were_exchanged(void **state)
{
    each_file_of_both(*state, swap_with_others);
}

static void take_from_other(struct scene *scene, const struct image *from,
                            const struct image_file *file)
{
    const struct image *images[] = { &scene->other.killed, &scene->other.closed };
    for (size_t i = 0; i < 2; i++) {
        const struct image_file *other = image_find(images[i], file->name);
        if (!other) {
            continue;
        }
        struct image image;
        struct error error;
        image_copy(&image, from);
        replace_bytes(&image, file->name, other);
        enum status status = try_image(scene, &image, file->name, &error);
        if (!is_of_no_account(file->name) && status != STATUS_CORRUPT) {
            fail_msg("with the %s of another store it is not CORRUPT: %s", file->name,
                     status_name(status));
        }
        image_release(&image);
    }
}

static void test_damage__a_file_of_another_store(void **state)
{
    each_file_of_both(*state, take_from_other);
}

// Of the same store, from before a checkpoint: the journal may have all that is missing, or not.
static void test_damage__a_base_from_earlier(void **state)
{
    struct scene *scene = *state;
    const struct image *const images[] = { &scene->small.killed, &scene->small.closed };
    for (size_t i = 0; i < 2; i++) {
        struct image image;
        struct error error;
        image_copy(&image, images[i]);
        replace_bytes(&image, "base/data.mdb", image_find(&scene->small.earlier, "base/data.mdb"));
        (void)try_image(scene, &image, "an earlier base", &error);
        image_release(&image);
    }
}

// ---------------------------------------------------------------------------------------------
// Versions

static void expect_version(struct scene *scene, const struct image *image, const char *what)
{
    struct error error;
    enum status status = try_image(scene, image, what, &error);
    if (status != STATUS_UNSUPPORTED || !strstr(error.detail, "4321")) {
        fail_msg("%s of version 4321: %s: %s", what, status_name(status), error_sentence(&error));
    }
}

static void journal_of_the_future(struct scene *scene, const struct image *from,
                                  const struct image_file *file)
{
    if (!is_journal(file->name)) {
        return;
    }
    struct image image;
    image_copy(&image, from);
    unsigned char *header = image_find(&image, file->name)->bytes;
    bytes_store_u32(header + HEADER_VERSION_AT, 4321);
    bytes_store_u32(header, crc32c(0, header + 4, SECTOR_SIZE - 4));
    expect_version(scene, &image, file->name);
    image_release(&image);
}

static void test_damage__a_journal_of_a_version_to_come(void **state)
{
    each_file_of_both(*state, journal_of_the_future);
}

// The store's own record, wherever it stands in LMDB's file: there may be older ones of it.
static unsigned set_base_version(struct image *image, uint32_t version)
{
    static const unsigned char key[KEY_SIZE];
    unsigned char id[ID_SIZE];
    unsigned found = 0;
    memcpy(id, image_find(image, "journal-000")->bytes + HEADER_ID_AT, ID_SIZE);
    struct image_file *file = image_find(image, "base/data.mdb");
    for (size_t at = 8; at < file->used && at + OWN_RECORD_SIZE <= file->size; at++) {
        unsigned char *record = file->bytes + at - 4;
        if (memcmp(file->bytes + at, id, ID_SIZE) != 0) {
            continue;
        }
        uint32_t crc = crc32c(crc32c(0, key, KEY_SIZE), record, OWN_RECORD_SIZE);
        if (bytes_load_u32(record - 4) == crc) {
            bytes_store_u32(record, version);
            bytes_store_u32(record - 4, crc32c(crc32c(0, key, KEY_SIZE), record, OWN_RECORD_SIZE));
            found++;
        }
    }
    return found;
}

static void test_damage__a_base_of_a_version_to_come(void **state)
{
    struct scene *scene = *state;
    const struct image *const images[] = { &scene->small.killed, &scene->small.closed };
    for (size_t i = 0; i < 2; i++) {
        struct image image;
        image_copy(&image, images[i]);
        assert_true(set_base_version(&image, 4321) > 0);
        expect_version(scene, &image, "the base");
        image_release(&image);
    }
}

// ---------------------------------------------------------------------------------------------
// Folders

static void expect_refused(const char *path, struct error *error)
{
    struct store *store;
    uint64_t digest;
    *error = (struct error){ 0 };
    enum status status = small_open(path, &store, &digest, error);
    assert_int_not_equal(status, STATUS_OK);
    assert_int_equal(status, error->status);
    assert_string_not_equal(error->detail, "");
    assert_non_null(strstr(error->detail, path));
}

static void test_damage__a_folder_that_is_a_file(void **state)
{
    struct scene *scene = *state;
    char path[IMAGE_PATH_MAX + 16];
    struct error error;
    struct image before;
    image_write(&scene->small.closed, scene->folder);
    // A file of the store itself.
    (void)snprintf(path, sizeof(path), "%s/journal-000", scene->folder);
    image_read(&before, scene->folder);
    expect_refused(path, &error);
    assert_int_equal(error.status, STATUS_IO);
    assert_true(image_is_at(&before, scene->folder, ""));
    image_release(&before);
}

static void test_damage__a_folder_in_one_that_is_not_there(void **state)
{
    const struct scene *scene = *state;
    char path[IMAGE_PATH_MAX + 16];
    struct error error;
    (void)snprintf(path, sizeof(path), "%s/none/store", scene->folder);
    expect_refused(path, &error);
    assert_int_equal(error.status, STATUS_NOT_FOUND);
}

static int in_a_process(int (*act)(const char *path), const char *path)
{
    int how;
    (void)fflush(stdout);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        _exit(act(path));
    }
    assert_true(waitpid(pid, &how, 0) == pid);
    assert_true(WIFEXITED(how));
    return WEXITSTATUS(how);
}

enum {
    NOBODY = 65534,
};

static int is_denied(const char *path)
{
    struct store *store;
    uint64_t digest;
    struct error error = { 0 };
    if (geteuid() == 0 && (setgid(NOBODY) || setuid(NOBODY))) {
        return 1;
    }
    enum status status = small_open(path, &store, &digest, &error);
    (void)printf("# %s: %s\n", status_name(status), error.detail);
    (void)fflush(stdout);
    return status == STATUS_DENIED && error.detail[0] ? 0 : 1;
}

// Everything belongs to the user `nobody`, so that a test run as root can become that user.
static void give_away(const struct image *image, const char *folder)
{
    assert_int_equal(chown(folder, NOBODY, NOBODY), 0);
    for (size_t i = 0; i < image->count; i++) {
        char path[IMAGE_PATH_MAX + 32];
        (void)snprintf(path, sizeof(path), "%s/%s", folder, image->files[i].name);
        assert_int_equal(chown(path, NOBODY, NOBODY), 0);
    }
}

static void test_damage__what_it_has_no_right_to(void **state)
{
    struct scene *scene = *state;
    const struct image *image = &scene->small.closed;
    static const char *const names[] = { "", "lock", "journal-000", "base", "base/data.mdb" };
    image_write(image, scene->folder);
    if (geteuid() == 0) {
        give_away(image, scene->folder);
    }
    for (size_t i = 0; TEST_ROW_NAMED(i, names, names[i]); i++) {
        char path[IMAGE_PATH_MAX + 32];
        (void)snprintf(path, sizeof(path), "%s/%s", scene->folder, names[i]);
        assert_int_equal(chmod(path, 0), 0);
        int code = in_a_process(is_denied, scene->folder);
        assert_int_equal(chmod(path, 0700), 0);
        assert_int_equal(code, 0);
    }
    assert_true(image_is_at(image, scene->folder, "lock"));
}

// ---------------------------------------------------------------------------------------------
// Two at once

static int finds_it_busy(const char *path)
{
    char pid[32];
    struct store *store;
    uint64_t digest;
    struct error error = { 0 };
    (void)snprintf(pid, sizeof(pid), "%ld", (long)getppid());
    enum status status = small_open(path, &store, &digest, &error);
    bool fits = status == STATUS_BUSY && strstr(error.detail, pid);
    if (!fits) {
        (void)fprintf(stderr, "%s: %s\n", status_name(status), error.detail);
    }
    return fits ? 0 : 1;
}

static void test_damage__a_store_that_is_open_is_busy(void **state)
{
    struct scene *scene = *state;
    struct store *store;
    uint64_t digest;
    image_write(&scene->small.killed, scene->folder);
    assert_int_equal(small_open(scene->folder, &store, &digest, NULL), STATUS_OK);
    // For another process, and for this one.
    assert_int_equal(in_a_process(finds_it_busy, scene->folder), 0);
    struct store *second;
    struct error error = { 0 };
    assert_int_equal(small_open(scene->folder, &second, &digest, &error), STATUS_BUSY);
    // The first one is not the worse for it.
    uint64_t group;
    const struct store_record record = { .key.record = { RECORD_ENGINE, 7, 7 },
                                         .bytes = SLICE("more") };
    assert_int_equal(store_append(store, &record, 1, &group, NULL), STATUS_OK);
    assert_int_equal(store_wait(store, group, NULL), STATUS_OK);
    assert_int_equal(store_close(store, NULL), STATUS_OK);
    // And the lock is gone with it.
    assert_int_equal(small_open(scene->folder, &store, &digest, NULL), STATUS_OK);
    assert_int_equal(store_close(store, NULL), STATUS_OK);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "--seed") == 0) {
        seed_given = strtoull(argv[2], NULL, 10);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage__a_file_that_is_gone),
        cmocka_unit_test(test_damage__a_base_that_is_gone),
        cmocka_unit_test(test_damage__a_file_that_was_cut_short),
        cmocka_unit_test(test_damage__a_file_that_is_longer),
        cmocka_unit_test(test_damage__segments_that_were_exchanged),
        cmocka_unit_test(test_damage__a_file_of_another_store),
        cmocka_unit_test(test_damage__a_base_from_earlier),
        cmocka_unit_test(test_damage__a_journal_of_a_version_to_come),
        cmocka_unit_test(test_damage__a_base_of_a_version_to_come),
        cmocka_unit_test(test_damage__a_folder_that_is_a_file),
        cmocka_unit_test(test_damage__a_folder_in_one_that_is_not_there),
        cmocka_unit_test(test_damage__what_it_has_no_right_to),
        cmocka_unit_test(test_damage__a_store_that_is_open_is_busy),
    };
    return cmocka_run_group_tests_name("damage", tests, scene_start, scene_end);
}
