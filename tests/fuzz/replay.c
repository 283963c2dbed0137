// SPDX-License-Identifier: MIT
// Runs a fuzz target once over every file of the folders that are given, and over every prefix of
// each: an ordinary test of what the fuzzer has found before.
#include "fuzz.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    INPUT_SIZE_MAX = 1 << 20,
};

static void replay_prefixes(const uint8_t *data, size_t size)
{
    for (size_t prefix = 0; prefix <= size; prefix++) {
        // A copy of just that size, so that a sanitizer sees a read beyond the end.
        uint8_t *copy = malloc(prefix ? prefix : 1);
        if (!copy) {
            abort();
        }
        for (size_t i = 0; i < prefix; i++) {
            copy[i] = data[i];
        }
        (void)LLVMFuzzerTestOneInput(copy, prefix);
        free(copy);
        // Long inputs are cut in fewer places; the whole is always among them.
        if (prefix + 1 < size && size > 4096) {
            prefix += size / 64;
            prefix = prefix < size ? prefix : size - 1;
        }
    }
}

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        return -1;
    }
    static uint8_t data[INPUT_SIZE_MAX];
    size_t size = fread(data, 1, sizeof(data), file);
    int failed = ferror(file);
    (void)fclose(file);
    if (!failed) {
        replay_prefixes(data, size);
    }
    return failed ? -1 : 0;
}

int main(int count, char **folders)
{
    int number = 0;
    for (int i = 1; i < count; i++) {
        DIR *folder = opendir(folders[i]);
        if (!folder) {
            perror(folders[i]);
            return 1;
        }
        for (const struct dirent *entry; (entry = readdir(folder));) {
            char path[PATH_MAX];
            if (entry->d_name[0] == '.') {
                continue;
            }
            (void)snprintf(path, sizeof(path), "%s/%s", folders[i], entry->d_name);
            printf("%s %d - %s\n", replay_file(path) ? "not ok" : "ok", ++number, entry->d_name);
            (void)fflush(stdout);
        }
        (void)closedir(folder);
    }
    printf("1..%d\n", number);
    return number == 0;
}
