// SPDX-License-Identifier: MIT
// Compared with what the C library makes of the same files.
#include "host/zones/zoneinfo.h"

#include "fault_alloc.h"
#include "random.h"
#include "test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int32_t offset_at(const struct zone_rules *rules, int64_t at_s)
{
    int32_t offset_s = rules->offset_s;
    size_t low = 0;
    size_t high = rules->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rules->transitions[middle].at_us <= at_s * 1000000) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low ? rules->transitions[low - 1].offset_s : offset_s;
}

static void compare_at(const char *name, const struct zone_rules *rules, int64_t at_s)
{
    struct tm local;
    time_t at = (time_t)at_s;
    assert_non_null(localtime_r(&at, &local));
    if (local.tm_gmtoff != offset_at(rules, at_s)) {
        fail_msg("%s at %lld: %ld, not %d", name, (long long)at_s, local.tm_gmtoff,
                 offset_at(rules, at_s));
    }
}

// From the first transition to the end of 2099, around each transition and at random.
static void compare(struct random *random, const char *name, const struct zone_rules *rules)
{
    static const int64_t last = 4102444799;   // 2099-12-31T23:59:59Z
    static const int64_t first = -2208988800; // 1900
    assert_int_equal(setenv("TZ", name, 1), 0);
    tzset();
    for (size_t i = 0; i < rules->count; i++) {
        int64_t at_s = rules->transitions[i].at_us / 1000000;
        if (at_s > first && at_s < last) {
            compare_at(name, rules, at_s - 1);
            compare_at(name, rules, at_s);
        }
    }
    for (int i = 0; i < 300; i++) {
        compare_at(name, rules, first + (int64_t)random_below(random, (uint64_t)(last - first)));
    }
}

static void test_zoneinfo__offsets_are_those_of_the_c_library(void **state)
{
    (void)state;
    struct zoneinfo *zoneinfo;
    struct random random;
    struct error error;
    char line[512];
    int zones = 0;
    random_init(&random);
    assert_int_equal(zoneinfo_new(&allocator_system, NULL, &zoneinfo), STATUS_OK);
    FILE *table = fopen("/usr/share/zoneinfo/tzdata.zi", "re");
    if (!table) {
        zoneinfo_free(zoneinfo);
        skip();
    }
    // "Z Europe/Berlin ..." is a zone, "L Europe/Berlin Arctic/Longyearbyen" a link.
    while (fgets(line, sizeof(line), table)) {
        char *name = NULL;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == 'Z' && line[1] == ' ') {
            name = line + 2;
            name[strcspn(name, " ")] = '\0';
        } else if (line[0] == 'L' && line[1] == ' ') {
            name = strrchr(line, ' ') + 1;
        }
        char path[600];
        (void)snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", name ? name : "");
        if (!name || access(path, R_OK)) {
            continue;
        }
        struct zone_rules rules;
        enum status status = zoneinfo_find(zoneinfo, slice_from_cstr(name), &rules, &error);
        if (status) {
            fail_msg("%s", error_sentence(&error));
        }
        compare(&random, name, &rules);
        zones++;
    }
    (void)fclose(table);
    print_message("# %d zones\n", zones);
    assert_true(zones > 300);
    zoneinfo_free(zoneinfo);
}

static void test_zoneinfo__what_was_read_is_kept(void **state)
{
    (void)state;
    struct zoneinfo *zoneinfo;
    struct error error;
    struct zone_rules a;
    struct zone_rules b;
    assert_int_equal(zoneinfo_new(&allocator_system, NULL, &zoneinfo), STATUS_OK);
    assert_int_equal(zoneinfo_find(zoneinfo, SLICE("Europe/Berlin"), &a, &error), STATUS_OK);
    assert_int_equal(zoneinfo_find(zoneinfo, SLICE("Europe/Paris"), &b, &error), STATUS_OK);
    assert_int_equal(zoneinfo_find(zoneinfo, SLICE("Europe/Berlin"), &b, &error), STATUS_OK);
    assert_ptr_equal(a.transitions, b.transitions);
    assert_int_equal(zoneinfo_find(zoneinfo, SLICE("UTC"), &b, &error), STATUS_OK);
    assert_int_equal(b.count, 0);
    assert_int_equal(b.offset_s, 0);
    zoneinfo_free(zoneinfo);
}

static void test_zoneinfo__names_that_lead_elsewhere_are_not_looked_for(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool valid;
    } cases[] = {
        { "Europe/Berlin", true },
        { "Etc/GMT+5", true },
        { "America/Argentina/La_Rioja", true },
        { "America/Port-au-Prince", true },
        { "UTC", true },
        { "", false },
        { "/etc/passwd", false },
        { "..", false },
        { "Europe/../UTC", false },
        { "Europe//Berlin", false },
        { "Europe/", false },
        { "/", false },
        { "Europe/Berlin ", false },
        { "tzdata.zi", false },
        { "Europe\\Berlin", false },
        { "Z\xc3\xbcrich", false },
    };
    struct zoneinfo *zoneinfo;
    assert_int_equal(zoneinfo_new(&allocator_system, NULL, &zoneinfo), STATUS_OK);
    for (size_t i = 0; TEST_ROW_NAMED(i, cases, cases[i].name); i++) {
        struct zone_rules rules;
        struct error error;
        struct slice name = slice_from_cstr(cases[i].name);
        assert_int_equal(zoneinfo_name_is_valid(name), cases[i].valid);
        if (!cases[i].valid) {
            assert_int_equal(zoneinfo_find(zoneinfo, name, &rules, &error), STATUS_NOT_FOUND);
        }
    }
    char endless[300];
    memset(endless, 'a', sizeof(endless));
    assert_false(zoneinfo_name_is_valid(slice_make(endless, 256)));
    assert_true(zoneinfo_name_is_valid(slice_make(endless, 255)));
    assert_false(zoneinfo_name_is_valid(slice_make("a\0b", 3)));
    zoneinfo_free(zoneinfo);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void test_zoneinfo__what_is_no_zone_is_refused(void **state)
{
    (void)state;
    const char *root = getenv("TMPDIR");
    struct zoneinfo *zoneinfo;
    struct zone_rules rules;
    struct error error;
    char folder[64];
    char path[128];
    (void)snprintf(folder, sizeof(folder), "%s/sluice-XXXXXX", root ? root : "/tmp");
    assert_non_null(mkdtemp(folder));
    write_file(folder, "Empty", "");
    write_file(folder, "Text", "this is not a time zone, but it is long enough to be one");
    (void)snprintf(path, sizeof(path), "%s/Folder", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/Pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(zoneinfo_new(&allocator_system, folder, &zoneinfo), STATUS_OK);
    assert_int_equal(zoneinfo_find(zoneinfo, SLICE("None"), &rules, &error), STATUS_NOT_FOUND);
    assert_string_equal(error.detail, "there is no time zone 'None'");
    assert_int_equal(zoneinfo_find(zoneinfo, SLICE("Folder"), &rules, &error), STATUS_NOT_FOUND);
    assert_int_equal(zoneinfo_find(zoneinfo, SLICE("Pipe"), &rules, &error), STATUS_NOT_FOUND);
    assert_int_equal(zoneinfo_find(zoneinfo, SLICE("Empty"), &rules, &error), STATUS_CORRUPT);
    assert_int_equal(zoneinfo_find(zoneinfo, SLICE("Text"), &rules, &error), STATUS_CORRUPT);
    zoneinfo_free(zoneinfo);
    static const char *const names[] = { "Empty", "Text", "Folder", "Pipe" };
    for (size_t i = 0; TEST_ROW_NAMED(i, names, names[i]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

static void test_zoneinfo__a_lack_of_memory_is_told_and_leaves_nothing(void **state)
{
    (void)state;
    struct fault_alloc fault;
    FAULT_ALLOC_EACH(&fault)
    {
        struct zoneinfo *zoneinfo;
        struct zone_rules rules;
        struct error error;
        enum status status = zoneinfo_new(&fault.allocator, NULL, &zoneinfo);
        if (status == STATUS_OK) {
            status = zoneinfo_find(zoneinfo, SLICE("Europe/Berlin"), &rules, &error);
            zoneinfo_free(zoneinfo);
        }
        FAULT_ALLOC_EXPECT(&fault, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zoneinfo__offsets_are_those_of_the_c_library),
        cmocka_unit_test(test_zoneinfo__what_was_read_is_kept),
        cmocka_unit_test(test_zoneinfo__names_that_lead_elsewhere_are_not_looked_for),
        cmocka_unit_test(test_zoneinfo__what_is_no_zone_is_refused),
        cmocka_unit_test(test_zoneinfo__a_lack_of_memory_is_told_and_leaves_nothing),
    };
    return cmocka_run_group_tests_name("zoneinfo", tests, NULL, NULL);
}
