// SPDX-License-Identifier: MIT
#include "host/memory.h"

#include "base/alloc.h"

#include "test.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

// Memory that is in use, as jobs are.
static char *use(size_t size)
{
    char *block = mem_alloc(&allocator_system, size);
    assert_non_null(block);
    memset(block, 1, size);
    return block;
}

static void test_memory__is_full_at_its_limit_and_not_when_some_was_freed(void **state)
{
    (void)state;
    struct memory memory;
    struct error error;
    memory_init(&memory, 0);
    memory_set_limit(&memory, memory_live(&memory) + 32 * MIB);
    assert_false(memory_is_full(&memory));
    assert_int_equal(memory_check(&memory, "max-memory", &error), STATUS_OK);

    char *block = use(40 * MIB);
    assert_true(memory_is_full(&memory)); // without another look
    assert_int_equal(memory_check(&memory, "max-memory", &error), STATUS_NO_MEMORY);
    assert_non_null(strstr(error.detail, "raise max-memory"));

    mem_free(&allocator_system, block, 40 * MIB);
    memory_look(&memory);
    assert_false(memory_is_full(&memory));
    memory_release(&memory);
}

static void test_memory__what_is_allocated_is_counted_between_two_looks(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory, 0);
    uint64_t live = memory_live(&memory), resident = memory_resident(&memory);
    assert_false(memory_is_due(&memory));
    char *block = use(16 * MIB);
    assert_true(memory_live(&memory) >= live + 16 * MIB);
    assert_true(memory_live(&memory) < live + 17 * MIB);
    assert_true(memory_resident(&memory) >= resident + 16 * MIB);
    assert_true(memory_is_due(&memory));
    memory_look(&memory);
    assert_false(memory_is_due(&memory));
    mem_free(&allocator_system, block, 16 * MIB);
    assert_true(memory_live(&memory) < live + MIB);
    memory_release(&memory);
}

static void test_memory__without_a_limit_it_is_never_full(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory, 0);
    char *block = use(64 * MIB);
    assert_false(memory_is_full(&memory));
    mem_free(&allocator_system, block, 64 * MIB);
    memory_release(&memory);
}

static void
test_memory__after_the_reserve_was_used_it_is_full_until_there_is_one_again(void **state)
{
    (void)state;
    struct memory memory;
    struct error error;
    memory_init(&memory, 0);
    assert_true(memory_free_reserve(&memory));
    assert_false(memory_free_reserve(&memory));
    assert_true(memory_is_full(&memory));
    assert_true(memory_is_due(&memory));
    assert_int_equal(memory_check(&memory, "max-memory", &error), STATUS_NO_MEMORY);
    assert_non_null(strstr(error.detail, "the system gives no more"));
    memory_look(&memory);
    assert_false(memory_is_full(&memory));
    assert_true(memory_free_reserve(&memory));
    memory_release(&memory);
}

static void test_memory__the_default_limit_is_a_part_of_the_machine(void **state)
{
    (void)state;
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t limit = memory_default_limit();
    assert_true(limit > 0);
    assert_true(limit <= machine / 100 * 80);
    struct memory memory;
    memory_init(&memory, MEMORY_AUTO);
    assert_int_equal(memory.limit, limit);
    memory_release(&memory);
}

// ---------------------------------------------------------------------------------------------
// Control groups, made up in a folder

struct group_file {
    const char *path, *text;
};

struct group_case {
    const char *what;
    struct group_file files[8];
    uint64_t limit;
};

#define OWN "/proc/self/cgroup"
#define V1  "/sys/fs/cgroup/memory"
#define V2  "/sys/fs/cgroup"

static const struct group_case group_cases[] = {
    { "nothing", { { 0 } }, UINT64_MAX },
    { "no limit", { { OWN, "0::/app\n" }, { V2 "/app/memory.max", "max\n" } }, UINT64_MAX },
    { "the group's", { { OWN, "0::/app\n" }, { V2 "/app/memory.max", "1073741824\n" } }, 1 << 30 },
    { "a container's, which is the root of what it sees",
      { { OWN, "0::/\n" }, { V2 "/memory.max", "536870912\n" } },
      1 << 29 },
    { "the group around it has less",
      { { OWN, "0::/slice/app\n" },
        { V2 "/slice/app/memory.max", "1073741824\n" },
        { V2 "/slice/memory.max", "268435456\n" } },
      1 << 28 },
    { "the group around it alone has one",
      { { OWN, "0::/a/b/c\n" },
        { V2 "/a/b/c/memory.max", "max\n" },
        { V2 "/a/b/memory.max", "max\n" },
        { V2 "/a/memory.max", "268435456\n" } },
      1 << 28 },
    { "groups without the controller are passed over",
      { { OWN, "0::/a/b\n" }, { V2 "/a/memory.max", "268435456\n" } },
      1 << 28 },
    { "a group beside it does not count",
      { { OWN, "0::/a\n" }, { V2 "/a/memory.max", "max\n" }, { V2 "/ab/memory.max", "1\n" } },
      UINT64_MAX },
    { "the path is that of the host, the mount is the container's",
      { { OWN, "0::/kubepods/pod1/abc\n" }, { V2 "/memory.max", "268435456\n" } },
      1 << 28 },
    { "no line's end", { { OWN, "0::/a" }, { V2 "/a/memory.max", "268435456" } }, 1 << 28 },
    { "version 1",
      { { OWN, "5:cpu,cpuacct:/x\n4:memory:/app\n1:name=systemd:/y\n" },
        { V1 "/app/memory.limit_in_bytes", "268435456\n" },
        { V1 "/memory.limit_in_bytes", "9223372036854771712\n" } },
      1 << 28 },
    { "version 1, with others in one hierarchy",
      { { OWN, "4:hugetlb,memory,pids:/app\n" },
        { V1 "/app/memory.limit_in_bytes", "268435456\n" } },
      1 << 28 },
    { "version 1, the group around it has less",
      { { OWN, "4:memory:/docker/abc\n" },
        { V1 "/docker/abc/memory.limit_in_bytes", "9223372036854771712\n" },
        { V1 "/docker/memory.limit_in_bytes", "268435456\n" } },
      1 << 28 },
    { "version 1, the path is that of the host",
      { { OWN, "4:memory:/docker/abc\n" }, { V1 "/memory.limit_in_bytes", "268435456\n" } },
      1 << 28 },
    { "version 1, a hierarchy that only has the word in its name",
      { { OWN, "4:name=memory2:/app\n3:memoryx:/app\n" },
        { V1 "/app/memory.limit_in_bytes", "1\n" } },
      UINT64_MAX },
    { "both versions",
      { { OWN, "4:memory:/app\n0::/app\n" },
        { V1 "/app/memory.limit_in_bytes", "268435456\n" },
        { V2 "/unified/app/memory.max", "1\n" } },
      1 << 28 },
    { "damaged lines",
      { { OWN, "\n:\n0\n0:\nx::\n0::/a\n" }, { V2 "/a/memory.max", "268435456\n" } },
      1 << 28 },
    { "a value that is none",
      { { OWN, "0::/a\n" }, { V2 "/a/memory.max", "-1\n" }, { V2 "/memory.max", "" } },
      UINT64_MAX },
};

// Makes the folders on the way to a file.
static void make_folders(char *path)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        (void)mkdir(path, 0700);
        *at = '/';
    }
}

static void write_file(const char *root, const struct group_file *file)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s%s", root, file->path);
    make_folders(path);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_true(fputs(file->text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static int remove_one(const char *path, const struct stat *stat, int kind, struct FTW *where)
{
    (void)stat;
    (void)kind;
    (void)where;
    return remove(path);
}

static uint64_t limit_of(const struct group_file *files, size_t count)
{
    char root[] = "/tmp/sluice-groups-XXXXXX";
    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < count && files[i].path; i++) {
        write_file(root, &files[i]);
    }
    uint64_t limit = memory_group_limit(root);
    assert_int_equal(nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
    return limit;
}

static void test_memory__control_groups_limit_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(group_cases) / sizeof(group_cases[0]); i++) {
        const struct group_case *one = &group_cases[i];
        uint64_t limit = limit_of(one->files, sizeof(one->files) / sizeof(one->files[0]));
        if (limit != one->limit) {
            fail_msg("%s: %llu", one->what, (unsigned long long)limit);
        }
    }
}

static void test_memory__control_groups_with_many_hierarchies_are_read_to_the_end(void **state)
{
    (void)state;
    char text[12000];
    size_t size = 0;
    for (int i = 0; size < 10000; i++) {
        size +=
            (size_t)snprintf(text + size, sizeof(text) - size, "%d:name=some%d:/%0150d\n", i, i, 0);
    }
    (void)snprintf(text + size, sizeof(text) - size, "0::/a\n");
    const struct group_file files[] = { { OWN, text }, { V2 "/a/memory.max", "268435456\n" } };
    assert_int_equal(limit_of(files, 2), 1 << 28);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory__is_full_at_its_limit_and_not_when_some_was_freed),
        cmocka_unit_test(test_memory__what_is_allocated_is_counted_between_two_looks),
        cmocka_unit_test(test_memory__without_a_limit_it_is_never_full),
        cmocka_unit_test(
            test_memory__after_the_reserve_was_used_it_is_full_until_there_is_one_again),
        cmocka_unit_test(test_memory__the_default_limit_is_a_part_of_the_machine),
        cmocka_unit_test(test_memory__control_groups_limit_it),
        cmocka_unit_test(test_memory__control_groups_with_many_hierarchies_are_read_to_the_end),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
