// SPDX-License-Identifier: MIT
// Proves the tools that the crash tests go by: that the tap sees every call, LMDB's among them, and
// that the states of a power loss are those that the rules in power.h allow, and all kinds of them.
#include "power.h"
#include "scratch.h"
#include "tap.h"

#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SECTOR = 512,
    STATES = 300,
    PATH_SIZE = 256,
};

static char folder[SCRATCH_PATH_SIZE];

static int setup(void **state)
{
    (void)state;
    scratch_make(folder, "power");
    tap_watch(folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    tap_end(NULL);
    scratch_remove(folder);
    return 0;
}

static const char *in_folder(const char *name)
{
    static char path[2 * PATH_SIZE];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static int make_file(const char *name, int flags)
{
    int fd = open(in_folder(name), O_RDWR | O_CREAT | flags, 0600);
    assert_true(fd >= 0);
    return fd;
}

static void sync_folder(const char *name)
{
    int fd = open(in_folder(name), O_RDONLY | O_DIRECTORY);
    assert_true(fd >= 0);
    assert_int_equal(fsync(fd), 0);
    assert_int_equal(close(fd), 0);
}

// Writes sectors that are filled with a letter.
static void fill(int fd, char letter, size_t from, size_t count)
{
    char *bytes = malloc(count * SECTOR);
    assert_non_null(bytes);
    memset(bytes, letter, count * SECTOR);
    ssize_t size = (ssize_t)(count * SECTOR);
    assert_int_equal(pwrite(fd, bytes, count * SECTOR, (off_t)(from * SECTOR)), size);
    free(bytes);
}

// A file of a state, a letter a sector: '.' for zeros, '!' for one that is mixed. "(none)" when
// there is no such file.
static const char *letters(const struct disk *disk, const char *name)
{
    static char line[64];
    uint32_t number = disk_find(disk, 0, name);
    if (number == TRACE_NO_FILE) {
        return "(none)";
    }
    struct disk_file *file = &disk->files[number];
    size_t count = (file->size + SECTOR - 1) / SECTOR;
    assert_true(count < sizeof(line));
    for (size_t i = 0; i < count; i++) {
        const char *bytes = disk_bytes(file, i * SECTOR, SECTOR);
        line[i] = '.';
        if (bytes[0]) {
            line[i] = bytes[0];
        }
        if (memcmp(bytes, bytes + 1, SECTOR - 1) != 0) {
            line[i] = '!';
        }
    }
    line[count] = 0;
    return line;
}

// All the forms that a file has in the states at the end of what was recorded, each once, in order.
static const char *forms(const struct trace *trace, const char *name)
{
    static char all[4096];
    char seen[64][64];
    size_t count = 0;
    struct power *power = power_new(trace, NULL);
    power_go(power, trace->count);
    struct disk disk;
    disk_init(&disk);
    for (size_t i = 0; i < STATES; i++) {
        power_state(power, 1, i, &disk);
        const char *form = letters(&disk, name);
        size_t at = 0;
        while (at < count && strcmp(seen[at], form) < 0) {
            at++;
        }
        if (at < count && strcmp(seen[at], form) == 0) {
            continue;
        }
        assert_true(count < 64);
        memmove(seen[at + 1], seen[at], (count - at) * sizeof(seen[0]));
        (void)snprintf(seen[at], sizeof(seen[at]), "%s", form);
        count++;
    }
    size_t size = 0;
    all[0] = 0;
    for (size_t i = 0; i < count; i++) {
        size += (size_t)snprintf(all + size, sizeof(all) - size, "%s%s", i ? " " : "", seen[i]);
    }
    disk_release(&disk);
    power_free(power);
    return all;
}

static void expect_forms(const char *name, const char *wanted)
{
    struct trace trace;
    tap_end(&trace);
    assert_string_equal(forms(&trace, name), wanted);
    trace_release(&trace);
}

static void test_power__what_was_synced_is_there(void **state)
{
    (void)state;
    tap_record(0);
    int fd = make_file("a", 0);
    fill(fd, 'x', 0, 3);
    assert_int_equal(fdatasync(fd), 0);
    sync_folder("");
    assert_int_equal(close(fd), 0);
    expect_forms("a", "xxx");
}

static void test_power__a_file_without_a_sync_of_its_folder_may_not_be(void **state)
{
    (void)state;
    tap_record(0);
    int fd = make_file("a", 0);
    fill(fd, 'x', 0, 1);
    assert_int_equal(fsync(fd), 0);
    assert_int_equal(close(fd), 0);
    expect_forms("a", "(none) x");
}

static void test_power__a_write_is_torn_between_sectors_and_its_size_apart(void **state)
{
    (void)state;
    tap_record(0);
    int fd = make_file("a", 0);
    sync_folder("");
    fill(fd, 'x', 0, 2);
    assert_int_equal(close(fd), 0);
    expect_forms("a", " .. .x x. xx");
}

static void test_power__sectors_that_are_written_twice_are_old_first_or_second(void **state)
{
    (void)state;
    tap_record(0);
    int fd = make_file("a", 0);
    fill(fd, 'o', 0, 2);
    sync_folder("");
    assert_int_equal(fdatasync(fd), 0);
    fill(fd, 'x', 0, 2);
    fill(fd, 'y', 1, 1);
    assert_int_equal(close(fd), 0);
    expect_forms("a", "oo ox oy xo xx xy");
}

static void test_power__a_part_of_a_sector_comes_with_what_was_there_before(void **state)
{
    (void)state;
    tap_record(0);
    int fd = make_file("a", 0);
    fill(fd, 'o', 0, 1);
    sync_folder("");
    assert_int_equal(fdatasync(fd), 0);
    char half[SECTOR / 2];
    memset(half, 'x', sizeof(half));
    assert_int_equal(pwrite(fd, half, sizeof(half), 0), sizeof(half));
    assert_int_equal(pwrite(fd, half, sizeof(half), sizeof(half)), sizeof(half));
    assert_int_equal(close(fd), 0);
    expect_forms("a", "! o x");
}

static void test_power__a_direct_write_is_there_it_alone(void **state)
{
    (void)state;
    tap_record(0);
    int fd = make_file("a", 0);
    fill(fd, 'o', 0, 2);
    sync_folder("");
    assert_int_equal(fdatasync(fd), 0);
    fill(fd, 'x', 0, 2);
    int direct = open(in_folder("a"), O_WRONLY | O_DSYNC);
    fill(direct, 'd', 1, 1);
    assert_int_equal(close(direct), 0);
    assert_int_equal(close(fd), 0);
    expect_forms("a", "od xd");
}

static void test_power__a_rename_is_there_or_not(void **state)
{
    (void)state;
    tap_record(0);
    int fd = make_file("new", 0);
    fill(fd, 'n', 0, 1);
    assert_int_equal(fdatasync(fd), 0);
    assert_int_equal(close(fd), 0);
    fd = make_file("a", 0);
    fill(fd, 'o', 0, 1);
    assert_int_equal(fdatasync(fd), 0);
    assert_int_equal(close(fd), 0);
    sync_folder("");
    char from[2 * PATH_SIZE];
    (void)snprintf(from, sizeof(from), "%s", in_folder("new"));
    assert_int_equal(rename(from, in_folder("a")), 0);
    expect_forms("a", "n o");
}

static void test_power__a_file_that_was_removed_may_still_be(void **state)
{
    (void)state;
    tap_record(0);
    int fd = make_file("a", 0);
    fill(fd, 'o', 0, 1);
    assert_int_equal(fdatasync(fd), 0);
    assert_int_equal(close(fd), 0);
    sync_folder("");
    assert_int_equal(unlink(in_folder("a")), 0);
    expect_forms("a", "(none) o");
}

static void test_power__a_size_is_there_or_not(void **state)
{
    (void)state;
    tap_record(0);
    int fd = make_file("a", 0);
    fill(fd, 'o', 0, 3);
    assert_int_equal(fdatasync(fd), 0);
    sync_folder("");
    assert_int_equal(ftruncate(fd, SECTOR), 0);
    assert_int_equal(posix_fallocate(fd, 0, (off_t)2 * SECTOR), 0);
    assert_int_equal(close(fd), 0);
    expect_forms("a", "o o. oo ooo");
}

static void test_power__a_sync_that_failed_is_none(void **state)
{
    (void)state;
    tap_record(0);
    int fd = make_file("a", 0);
    sync_folder("");
    fill(fd, 'x', 0, 1);
    tap_fault(&(struct tap_fault){ .kinds = 1U << TAP_SYNC, .call = 1, .error = EIO });
    assert_int_equal(fdatasync(fd), -1);
    assert_int_equal(errno, EIO);
    assert_int_equal(fdatasync(fd), 0); // too late
    assert_int_equal(close(fd), 0);
    expect_forms("a", " . x");
}

// ---------------------------------------------------------------------------------------------
// LMDB

static void put(MDB_env *env, unsigned number, size_t size)
{
    MDB_txn *txn = NULL;
    MDB_dbi dbi = 0;
    assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
    assert_int_equal(mdb_dbi_open(txn, NULL, 0, &dbi), 0);
    char *bytes = calloc(1, size);
    assert_non_null(bytes);
    memset(bytes, (int)('a' + number % 26), size);
    MDB_val key = { sizeof(number), &number };
    MDB_val value = { size, bytes };
    assert_int_equal(mdb_put(txn, dbi, &key, &value, 0), 0);
    assert_int_equal(mdb_txn_commit(txn), 0);
    free(bytes);
}

static MDB_env *open_base(const char *path)
{
    MDB_env *env = NULL;
    assert_int_equal(mdb_env_create(&env), 0);
    assert_int_equal(mdb_env_set_mapsize(env, 1 << 24), 0);
    assert_int_equal(mdb_env_open(env, path, MDB_NOTLS, 0600), 0);
    return env;
}

static size_t entries(MDB_env *env)
{
    MDB_stat stat;
    assert_int_equal(mdb_env_stat(env, &stat), 0);
    return stat.ms_entries;
}

enum {
    LMDB_STEPS = 12,
};

static void record_lmdb(struct trace *trace)
{
    tap_record(0);
    assert_int_equal(mkdir(in_folder("base"), 0700), 0);
    sync_folder("");
    MDB_env *env = open_base(in_folder("base"));
    sync_folder("base");
    for (unsigned i = 1; i <= LMDB_STEPS; i++) {
        put(env, i, i % 3 ? 100 : 20000);
        tap_mark(0, i);
    }
    mdb_env_close(env);
    tap_end(trace);
}

static void test_tap__the_whole_trace_gives_the_folder_as_it_is(void **state)
{
    (void)state;
    struct trace trace;
    record_lmdb(&trace);
    struct power *power = power_new(&trace, NULL);
    power_go(power, trace.count);
    struct disk disk;
    disk_load(&disk, folder);
    char what[256] = "";
    if (!disk_same(power_seen(power), &disk, what)) {
        fail_msg("%s", what);
    }
    size_t direct = 0;
    for (size_t i = 0; i < trace.count; i++) {
        direct += trace.ops[i].kind == TRACE_WRITE && trace.ops[i].direct;
    }
    assert_true(direct >= LMDB_STEPS);
    disk_release(&disk);
    power_free(power);
    trace_release(&trace);
}

static void test_power__lmdb_keeps_its_promise_in_every_state(void **state)
{
    (void)state;
    struct trace trace;
    record_lmdb(&trace);
    struct power *power = power_new(&trace, NULL);
    struct disk disk;
    disk_init(&disk);
    size_t cut = 0;
    while (trace.ops[cut].kind != TRACE_MARK) {
        cut++;
    }
    size_t done = 1;
    for (; cut <= trace.count; cut++) {
        power_go(power, cut);
        if (cut > 0 && trace.ops[cut - 1].kind == TRACE_MARK) {
            done = trace.ops[cut - 1].value;
        }
        for (size_t i = 0; power_changes_next(power) && i < 8; i++) {
            power_state(power, 1, i, &disk);
            disk_store(&disk, folder);
            MDB_env *env = open_base(in_folder("base"));
            size_t found = entries(env);
            mdb_env_close(env);
            assert_true(found == done || found == done + 1);
        }
    }
    disk_release(&disk);
    power_free(power);
    trace_release(&trace);
}

// ---------------------------------------------------------------------------------------------
// Faults

static void test_tap__the_call_that_was_named_fails_and_no_other(void **state)
{
    (void)state;
    int fd = make_file("a", 0);
    tap_fault(&(struct tap_fault){ .kinds = 1U << TAP_WRITE, .call = 2, .error = EIO });
    assert_int_equal(write(fd, "12", 2), 2);
    assert_int_equal(write(fd, "34", 2), -1);
    assert_int_equal(errno, EIO);
    assert_int_equal(write(fd, "56", 2), 2);
    assert_int_equal(tap_calls(), 3);
    assert_int_equal(tap_harmed(), 1);
    assert_string_equal(tap_harmed_what(), "write of a");
    char bytes[8] = "";
    assert_int_equal(pread(fd, bytes, sizeof(bytes), 0), 4);
    assert_string_equal(bytes, "1256");
    assert_int_equal(close(fd), 0);
}

static void test_tap__a_short_write_writes_half(void **state)
{
    (void)state;
    int fd = make_file("a", 0);
    tap_fault(&(struct tap_fault){ .call = 1, .harm = TAP_SHORT });
    assert_int_equal(write(fd, "1234", 4), 2);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 2);
    assert_int_equal(close(fd), 0);
}

static void test_tap__a_full_disk_takes_what_needs_no_new_block(void **state)
{
    (void)state;
    int fd = make_file("a", 0);
    int other = make_file("b", 0);
    static char bytes[3 * 4096] = { 1 };
    assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
    tap_disk_left(0);
    assert_int_equal(pwrite(fd, bytes, 4096, 0), 4096);
    assert_int_equal(pwrite(fd, bytes, 4096, sizeof(bytes)), -1);
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(posix_fallocate(fd, 0, 2 * sizeof(bytes)), ENOSPC);
    tap_disk_left(4096);
    assert_int_equal(pwrite(other, bytes, sizeof(bytes), 0), 4096);
    assert_int_equal(pwrite(other, bytes, 4096, 4096), -1);
    assert_int_equal(unlink(in_folder("a")), 0);
    assert_int_equal(pwrite(other, bytes, 4096, 4096), 4096);
    tap_disk_left(-1);
    assert_int_equal(close(fd), 0);
    assert_int_equal(close(other), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_power__what_was_synced_is_there),
        TEST(test_power__a_file_without_a_sync_of_its_folder_may_not_be),
        TEST(test_power__a_write_is_torn_between_sectors_and_its_size_apart),
        TEST(test_power__sectors_that_are_written_twice_are_old_first_or_second),
        TEST(test_power__a_part_of_a_sector_comes_with_what_was_there_before),
        TEST(test_power__a_direct_write_is_there_it_alone),
        TEST(test_power__a_rename_is_there_or_not),
        TEST(test_power__a_file_that_was_removed_may_still_be),
        TEST(test_power__a_size_is_there_or_not),
        TEST(test_power__a_sync_that_failed_is_none),
        TEST(test_tap__the_whole_trace_gives_the_folder_as_it_is),
        TEST(test_power__lmdb_keeps_its_promise_in_every_state),
        TEST(test_tap__the_call_that_was_named_fails_and_no_other),
        TEST(test_tap__a_short_write_writes_half),
        TEST(test_tap__a_full_disk_takes_what_needs_no_new_block),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
