// SPDX-License-Identifier: MIT
// What a program left behind is not to be trusted: it may have made links to elsewhere, folders
// without any rights, or folders so deep in one another that no path reaches them; and a process
// of it that got away may be changing them meanwhile. So folders are opened one by one, without
// following links, and everything is named relative to an open folder.
#include "cli/work/sandbox.h"

#include "cli/core/cli.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DEPTH_MAX = 32,    // folders open at once; what lies deeper is moved up first
    NUMBER_MAX = 1000, // folders of the same name
    HASH_SIZE = 17,    // "-" and sixteen digits
    FOLDER_MODE = 0700,
};

// ---------------------------------------------------------------------------------------------
// Names

static bool is_plain(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || (c == '.' && !first);
}

static uint64_t hash(const char *text)
{
    uint64_t value = 14695981039346656037U; // FNV-1a
    for (; *text; text++) {
        value = (value ^ (unsigned char)*text) * 1099511628211U;
    }
    return value;
}

void work_file_name(const char *name, char out[WORK_FILE_NAME_SIZE])
{
    size_t size = 0, room = WORK_FILE_NAME_SIZE - HASH_SIZE - 4;
    for (const char *at = name; *at; at++) {
        if (size > room) {
            (void)snprintf(out + size, WORK_FILE_NAME_SIZE - size, "-%016llx",
                           (unsigned long long)hash(name));
            return;
        }
        if (is_plain(*at, at == name)) {
            out[size++] = *at;
        } else {
            size += (size_t)snprintf(out + size, 4, "%%%02X", (unsigned char)*at);
        }
    }
    out[size] = '\0';
}

// ---------------------------------------------------------------------------------------------
// Making

static bool is_above_safe(const struct stat *status)
{
    bool shared = status->st_mode & (S_IWGRP | S_IWOTH);
    return (status->st_uid == 0 || status->st_uid == geteuid()) &&
           (!shared || (status->st_mode & S_ISVTX));
}

// Cuts `path`, which has no links in it, at each of its folders from the root on.
static char *check_above(const char *option, char *path)
{
    for (char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
        struct stat status;
        char next = at[1];
        at[1] = '\0'; // with the '/', so that the first one is the root
        bool safe = !stat(path, &status) && is_above_safe(&status);
        char *wrong =
            safe ? NULL
                 : tool_format("%s: other users can change the folder %s above it", option, path);
        at[1] = next;
        if (wrong) {
            return wrong;
        }
    }
    return NULL;
}

static char *check_folder(const char *option, const char *folder)
{
    struct stat status;
    if (lstat(folder, &status)) {
        return tool_format("%s %s: %s", option, folder, strerrordesc_np(errno));
    }
    if (!S_ISDIR(status.st_mode)) {
        return tool_format("%s %s is a link or a file, and must be a folder", option, folder);
    }
    if (status.st_uid != geteuid()) {
        return tool_format("%s %s belongs to another user", option, folder);
    }
    if (status.st_mode & (S_IWGRP | S_IWOTH)) {
        return tool_format("%s %s can be written by other users: chmod go-w", option, folder);
    }
    return NULL;
}

// "box/" and "box/." would be followed if box were a link.
static char *without_end(const char *folder)
{
    size_t size = strlen(folder);
    while (size > 1 && (folder[size - 1] == '/' ||
                        (size > 2 && folder[size - 1] == '.' && folder[size - 2] == '/'))) {
        size--;
    }
    return tool_format("%.*s", (int)size, folder);
}

char *work_folder_open(const char *option, const char *folder, char **wrong)
{
    char *name = without_end(folder);
    char *path = NULL;
    *wrong = mkdir(name, FOLDER_MODE) != 0 && errno != EEXIST
                 ? tool_format("%s %s cannot be made: %s", option, name, strerrordesc_np(errno))
                 : check_folder(option, name);
    if (!*wrong) {
        char *real = realpath(name, NULL);
        path = real ? tool_format("%s", real) : NULL;
        *wrong = real ? check_above(option, path)
                      : tool_format("%s %s: %s", option, name, strerrordesc_np(errno));
        free(real);
    }
    tool_free(name);
    if (*wrong) {
        tool_free(path);
        return NULL;
    }
    return path;
}

char *work_sandbox_make(const char *folder, const char *name)
{
    char file[WORK_FILE_NAME_SIZE];
    work_file_name(name, file);
    if (mkdir(folder, FOLDER_MODE) != 0 && errno != EEXIST) {
        return NULL;
    }
    for (int number = 1; number < NUMBER_MAX; number++) {
        char *path = number == 1 ? tool_format("%s/%s", folder, file)
                                 : tool_format("%s/%s.%d", folder, file, number);
        if (mkdir(path, FOLDER_MODE) == 0) {
            return path;
        }
        int failed = errno;
        tool_free(path);
        errno = failed;
        if (failed != EEXIST) {
            return NULL;
        }
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Removing

struct removal {
    int top;      // the folder that is to be removed
    int moved;    // folders that were moved up so far
    int failed;   // the first errno; 0
    bool changed; // whether something is gone since this was last cleared
};

static void note(struct removal *removal, int error)
{
    if (!removal->failed && error != ENOENT) {
        removal->failed = error;
    }
}

// Opens a folder for listing, whatever its rights are; -1 with errno. The rights are changed by way
// of the open folder, so that a link put in its place meanwhile leads nowhere.
static int open_folder(int parent, const char *name)
{
    int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    (void)chmod(path, FOLDER_MODE); // when it is another's, the next call says so
    int opened = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = errno;
    (void)close(fd);
    errno = failed;
    return opened;
}

static void remove_inside(struct removal *removal, int folder, int depth);

// A folder that lies too deep goes to the top, where its turn comes.
static void move_up(struct removal *removal, int parent, const char *name)
{
    char up[64];
    for (int i = 0; i < NUMBER_MAX; i++) {
        (void)snprintf(up, sizeof(up), ".sluice-removed-%d", removal->moved++);
        if (renameat(parent, name, removal->top, up) == 0) {
            removal->changed = true;
            return;
        }
        if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) {
            break;
        }
    }
    note(removal, errno);
}

static void remove_folder(struct removal *removal, int parent, const char *name, int depth)
{
    int fd = open_folder(parent, name);
    if (fd < 0) {
        note(removal, errno);
        return;
    }
    if (depth == DEPTH_MAX) {
        (void)close(fd);
        move_up(removal, parent, name);
        return;
    }
    remove_inside(removal, fd, depth + 1);
    if (unlinkat(parent, name, AT_REMOVEDIR) == 0) {
        removal->changed = true;
    } else {
        note(removal, errno);
    }
}

static void remove_entry(struct removal *removal, int parent, const char *name, int depth)
{
    if (unlinkat(parent, name, 0) == 0) {
        removal->changed = true;
    } else if (errno == EISDIR || errno == EPERM) {
        remove_folder(removal, parent, name, depth);
    } else {
        note(removal, errno);
    }
}

// Takes over `folder`.
static void remove_inside(struct removal *removal, int folder, int depth)
{
    DIR *list = fdopendir(folder);
    if (!list) {
        note(removal, errno);
        (void)close(folder);
        return;
    }
    struct dirent *entry;
    while ((entry = readdir(list))) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            remove_entry(removal, dirfd(list), entry->d_name, depth);
        }
    }
    (void)closedir(list);
}

bool work_sandbox_remove(const char *path)
{
    struct removal removal = { .top = open_folder(AT_FDCWD, path) };
    if (removal.top < 0) {
        return errno == ENOENT;
    }
    // Again as long as it helps: what was moved up is seen the next time, and a list may leave
    // out what changed while it was read.
    int left;
    do {
        removal.changed = false;
        removal.failed = 0;
        int folder = openat(removal.top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder >= 0) {
            remove_inside(&removal, folder, 0);
        }
        left = rmdir(path);
    } while (left != 0 && removal.changed);
    int failed = removal.failed ? removal.failed : errno;
    (void)close(removal.top);
    errno = failed;
    return left == 0;
}
