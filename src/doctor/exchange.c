// SPDX-License-Identifier: MIT
// The two folders are exchanged atomically if the file system supports that, so that there is
// always one complete folder. During the exchange the new folder is named PATH.damaged, never
// PATH.repaired.part: the next repair removes a folder of that name.
#include "doctor/exchange.h"

#include "os/file.h"
#include "store/create.h"
#include "store/lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert((int)EXCHANGE_PATH_SIZE >= PATH_MAX, "realpath writes as much as that");

enum {
    DAMAGED_MAX = 1000, // damaged folders that are kept
    DEPTH_MAX = 2,      // of folders in a store
};

enum status exchange_resolve(const char *path, char out[EXCHANGE_PATH_SIZE], struct error *error)
{
    return realpath(path, out) ? STATUS_OK : file_error(error, "open", path);
}

static enum status too_long(struct error *error)
{
    return error_set(error, STATUS_TOO_LARGE, "the path of the store is too long");
}

static bool is_there(const char *path)
{
    struct stat stat;
    return lstat(path, &stat) == 0;
}

static void remove_contents(int folder, int depth)
{
    DIR *entries = fdopendir(folder); // owns the descriptor from here on
    if (!entries) {
        close(folder);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(entries));) {
        int inner;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            unlinkat(dirfd(entries), entry->d_name, 0) == 0 || depth >= DEPTH_MAX) {
            continue;
        }
        inner =
            openat(dirfd(entries), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner >= 0) {
            remove_contents(inner, depth + 1);
            (void)unlinkat(dirfd(entries), entry->d_name, AT_REMOVEDIR);
        }
    }
    (void)closedir(entries);
}

void exchange_clear(const struct exchange *exchange)
{
    int folder = open(exchange->part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0) {
        remove_contents(folder, 1);
        (void)rmdir(exchange->part);
    }
}

// Removes what an interrupted repair has left, unless that repair is still running.
static enum status clear_part(const struct exchange *exchange, struct error *error)
{
    int folder, lock;
    enum status status =
        file_open(AT_FDCWD, exchange->part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, &folder, error);
    if (status) {
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    status = lock_take(folder, exchange->part, O_RDONLY, &lock, error);
    if (!status) {
        close(lock);
    }
    close(folder);
    if (status && status != STATUS_NOT_FOUND) {
        return status;
    }
    exchange_clear(exchange);
    return is_there(exchange->part) ? file_error(error, "remove", exchange->part) : STATUS_OK;
}

static enum status find_damaged(struct exchange *exchange, struct error *error)
{
    for (unsigned i = 1; i <= DAMAGED_MAX; i++) {
        int size = i == 1 ? snprintf(exchange->damaged, sizeof(exchange->damaged), "%s.damaged",
                                     exchange->path)
                          : snprintf(exchange->damaged, sizeof(exchange->damaged), "%s.damaged-%u",
                                     exchange->path, i);
        if (size < 0 || (size_t)size >= sizeof(exchange->damaged)) {
            return too_long(error);
        }
        if (!is_there(exchange->damaged)) {
            return STATUS_OK;
        }
    }
    return error_set(error, STATUS_EXISTS, "%s is there already", exchange->damaged);
}

enum status exchange_find(const char *path, struct exchange *out, struct error *error)
{
    *out = (struct exchange){ 0 };
    int size = snprintf(out->path, sizeof(out->path), "%s", path);
    int part = snprintf(out->part, sizeof(out->part), "%s.repaired.part", path);
    if (size < 0 || part < 0 || (size_t)part >= sizeof(out->part)) {
        out->part[0] = '\0';
        return too_long(error);
    }
    enum status status = find_damaged(out, error);
    if (!status) {
        status = clear_part(out, error);
    }
    if (status) {
        out->part[0] = '\0'; // the folder belongs to another repair
    }
    return status;
}

static enum status sync_above(const char *path, struct error *error)
{
    int folder;
    enum status status = file_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, &folder, error);
    if (!status) {
        status = create_sync_above(folder, error);
        close(folder);
    }
    return status;
}

static int swap_folders(const struct exchange *exchange)
{
    return renameat2(AT_FDCWD, exchange->damaged, AT_FDCWD, exchange->path, RENAME_EXCHANGE);
}

// For file systems without an atomic exchange: there is a moment without a folder.
static enum status take_in_two_steps(const struct exchange *exchange, struct error *error)
{
    if (rename(exchange->path, exchange->damaged)) {
        return file_error(error, "rename", exchange->path);
    }
    if (rename(exchange->part, exchange->path)) {
        enum status status = file_error(error, "rename", exchange->part);
        (void)rename(exchange->damaged, exchange->path);
        return status;
    }
    return sync_above(exchange->path, error);
}

enum status exchange_take(const struct exchange *exchange, struct error *error)
{
    if (rename(exchange->part, exchange->damaged)) {
        return file_error(error, "rename", exchange->part);
    }
    enum status status = sync_above(exchange->path, error);
    bool exchanged = !status && swap_folders(exchange) == 0;
    bool cannot_exchange = !status && !exchanged && (errno == EINVAL || errno == ENOSYS);
    if (!status && !exchanged) {
        status = file_error(error, "rename", exchange->path);
    } else if (!status) {
        status = sync_above(exchange->path, error);
    }
    if (!status) {
        return STATUS_OK;
    }
    // Undoes the exchange.
    if ((exchanged && swap_folders(exchange)) || rename(exchange->damaged, exchange->part)) {
        return status;
    }
    return cannot_exchange ? take_in_two_steps(exchange, error) : status;
}
