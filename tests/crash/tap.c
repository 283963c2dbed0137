// SPDX-License-Identifier: MIT
#include "tap.h"

#include "real.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATH_SIZE = 4096,
    BLOCK = 4096, // what a file system gives out at a time
};

struct inode {
    dev_t device;
    ino_t number;
    uint32_t file;
    char name[TRACE_NAME_SIZE]; // its last one
};

static struct {
    pthread_mutex_t lock;
    atomic_bool on;
    bool recording;
    struct trace trace;
    struct inode *inodes; // a number that is used again stands for the last inode that has it
    size_t inodes_count, inodes_capacity;
    uint64_t jitter;
    bool leave_out;
    char leave_out_name[TRACE_NAME_SIZE];
    struct tap_fault fault;
    uint64_t calls, harmed;
    enum tap_kind harmed_kind;
    char harmed_what[256];
    int64_t disk_left; // negative: no limit
} tap = { .lock = PTHREAD_MUTEX_INITIALIZER, .disk_left = -1 };

static void lock(void)
{
    int failed = pthread_mutex_lock(&tap.lock);
    assert(!failed);
}

static void unlock(void)
{
    int failed = pthread_mutex_unlock(&tap.lock);
    assert(!failed);
}

static struct inode *inode_of(const struct stat *stat)
{
    for (size_t i = tap.inodes_count; i-- > 0;) {
        struct inode *inode = &tap.inodes[i];
        if (inode->number == stat->st_ino && inode->device == stat->st_dev) {
            return inode;
        }
    }
    return NULL;
}

static void name_inode(struct inode *inode, const char *name)
{
    (void)snprintf(inode->name, sizeof(inode->name), "%s", name);
}

static uint32_t add_inode(const struct stat *stat, const char *name)
{
    if (tap.inodes_count == tap.inodes_capacity) {
        tap.inodes_capacity = tap.inodes_capacity * 2 + 64;
        tap.inodes = realloc(tap.inodes, tap.inodes_capacity * sizeof(*tap.inodes));
        assert(tap.inodes);
    }
    struct inode *inode = &tap.inodes[tap.inodes_count++];
    *inode = (struct inode){
        .device = stat->st_dev,
        .number = stat->st_ino,
        .file = trace_file(&tap.trace, S_ISDIR(stat->st_mode)),
    };
    name_inode(inode, name);
    return inode->file;
}

// A watched file that a descriptor stands for. With the lock held.
static struct inode *watched_fd(int fd, struct stat *stat)
{
    return fstat(fd, stat) == 0 ? inode_of(stat) : NULL;
}

// The folder that a path leads to, when it is watched, and the name in it.
struct place {
    uint32_t folder;
    char name[TRACE_NAME_SIZE];
};

static bool watched_path(int folder, const char *path, struct place *out)
{
    char parent[PATH_SIZE];
    size_t size = strlen(path);
    if (size == 0 || size >= sizeof(parent)) {
        return false;
    }
    memcpy(parent, path, size + 1);
    while (size > 1 && parent[size - 1] == '/') {
        parent[--size] = 0;
    }
    char *slash = strrchr(parent, '/');
    const char *name = slash ? slash + 1 : parent;
    if (strlen(name) >= sizeof(out->name)) {
        return false;
    }
    (void)snprintf(out->name, sizeof(out->name), "%.*s", (int)sizeof(out->name) - 1, name);
    if (slash) {
        slash[slash == parent] = 0; // "/name" stands in "/"
    }
    struct stat stat;
    if (fstatat(folder, slash ? parent : ".", &stat, 0) != 0) {
        return false;
    }
    const struct inode *inode = inode_of(&stat);
    out->folder = inode ? inode->file : TRACE_NO_FILE;
    return inode;
}

static void watch_what_is_there(const char *path, uint32_t folder);

static void watch_entry(const char *path, uint32_t folder, const char *name)
{
    char inner[PATH_SIZE];
    (void)snprintf(inner, sizeof(inner), "%s/%s", path, name);
    struct stat stat;
    int known = lstat(inner, &stat);
    assert(known == 0);
    uint32_t file = add_inode(&stat, name);
    trace_start(&tap.trace, folder, name, file);
    if (S_ISDIR(stat.st_mode)) {
        watch_what_is_there(inner, file);
    }
}

static void watch_what_is_there(const char *path, uint32_t folder)
{
    char **names = NULL;
    size_t count = real_list(path, &names);
    for (size_t i = 0; i < count; i++) {
        watch_entry(path, folder, names[i]);
        free(names[i]);
    }
    free((void *)names);
}

void tap_watch(const char *folder)
{
    lock();
    assert(!tap.on);
    trace_init(&tap.trace);
    struct stat is;
    int known = stat(folder, &is);
    assert(known == 0);
    add_inode(&is, folder[0] ? "." : "");
    watch_what_is_there(folder, 0);
    tap.fault = (struct tap_fault){ 0 };
    tap.calls = tap.harmed = 0;
    tap.harmed_what[0] = 0;
    tap.disk_left = -1;
    tap.leave_out = false;
    tap.jitter = 0;
    tap.on = true;
    unlock();
}

void tap_record(uint64_t jitter)
{
    lock();
    tap.recording = true;
    tap.jitter = jitter;
    unlock();
}

void tap_end(struct trace *out)
{
    lock();
    tap.on = tap.recording = false;
    if (out) {
        *out = tap.trace;
    } else {
        trace_release(&tap.trace);
    }
    trace_init(&tap.trace);
    free(tap.inodes);
    tap.inodes = NULL;
    tap.inodes_count = tap.inodes_capacity = 0;
    tap.disk_left = -1;
    unlock();
}

void tap_mark(int mark, uint64_t value)
{
    lock();
    if (tap.recording) {
        trace_mark(&tap.trace, mark, value);
    }
    unlock();
}

void tap_leave_out_syncs(const char *name)
{
    lock();
    tap.leave_out = true;
    (void)snprintf(tap.leave_out_name, sizeof(tap.leave_out_name), "%s", name ? name : "");
    unlock();
}

void tap_fault(const struct tap_fault *fault)
{
    lock();
    tap.fault = *fault;
    tap.calls = tap.harmed = 0;
    unlock();
}

uint64_t tap_calls(void)
{
    lock();
    uint64_t calls = tap.calls;
    unlock();
    return calls;
}

uint64_t tap_harmed(void)
{
    lock();
    uint64_t harmed = tap.harmed;
    unlock();
    return harmed;
}

enum tap_kind tap_harmed_kind(void)
{
    return tap.harmed_kind;
}

const char *tap_harmed_what(void)
{
    return tap.harmed_what;
}

void tap_disk_left(int64_t bytes)
{
    lock();
    tap.disk_left = bytes;
    unlock();
}

// Lets other threads run now and then.
static void jitter(void)
{
    lock();
    uint64_t number = 0;
    if (tap.jitter) {
        tap.jitter ^= tap.jitter << 13;
        tap.jitter ^= tap.jitter >> 7;
        tap.jitter ^= tap.jitter << 17;
        number = tap.jitter;
    }
    unlock();
    if (number % 16 == 1) {
        (void)usleep((useconds_t)(number >> 8) % 300);
    } else if (number % 4 == 1) {
        (void)sched_yield();
    }
}

// Whether the call that is about to be made is one that is to be harmed. With the lock held.
static bool harm(enum tap_kind kind, const char *what, const char *name)
{
    const struct tap_fault *fault = &tap.fault;
    if (fault->kinds && !(fault->kinds & 1U << kind)) {
        return false;
    }
    if (fault->harm == TAP_SHORT && kind != TAP_READ && kind != TAP_WRITE) {
        return false;
    }
    tap.calls++;
    bool hit = fault->call &&
               (tap.calls == fault->call || (fault->from_then_on && tap.calls > fault->call));
    if (!hit) {
        return false;
    }
    tap.harmed++;
    tap.harmed_kind = kind;
    (void)snprintf(tap.harmed_what, sizeof(tap.harmed_what), "%s of %s", what, name);
    if (fault->harm == TAP_KILL) {
        (void)kill(getpid(), SIGKILL);
    }
    errno = fault->error;
    return true;
}

static bool harm_fails(enum tap_kind kind, const char *what, const char *name)
{
    return harm(kind, what, name) && tap.fault.harm == TAP_ERROR;
}

// How much of a range a file has no blocks for. What was allocated and never written looks like a
// hole as well; so holes are only looked for in a file that has fewer blocks than its size needs.
static int64_t blocks_needed(int fd, off_t offset, off_t size)
{
    struct stat is;
    if (fstat(fd, &is) == 0 && (int64_t)is.st_blocks * 512 >= is.st_size) {
        off_t has = (is.st_size + BLOCK - 1) / BLOCK * BLOCK;
        off_t needs = (offset + size + BLOCK - 1) / BLOCK * BLOCK;
        off_t from = offset / BLOCK * BLOCK;
        from = from > has ? from : has;
        return needs > from ? needs - from : 0;
    }
    off_t stood = lseek(fd, 0, SEEK_CUR);
    int64_t needed = 0;
    off_t at = offset;
    while (at < offset + size) {
        off_t hole = lseek(fd, at, SEEK_HOLE);
        if (hole < 0) { // behind the end
            hole = at;
        }
        off_t data = lseek(fd, hole, SEEK_DATA);
        if (data < 0 || data > offset + size) {
            data = offset + size;
        }
        if (hole < offset + size) {
            off_t from = hole / BLOCK * BLOCK;
            off_t to = (data + BLOCK - 1) / BLOCK * BLOCK;
            needed += to - from;
        }
        at = data;
    }
    (void)lseek(fd, stood, SEEK_SET);
    return needed;
}

// How many bytes of a write fit on the disk.
static size_t bytes_that_fit(int fd, off_t offset, size_t size)
{
    if (tap.disk_left < 0) {
        return size;
    }
    int64_t needed = blocks_needed(fd, offset, (off_t)size);
    if (needed <= tap.disk_left) {
        return size;
    }
    size_t fits = size;
    while (fits && blocks_needed(fd, offset, (off_t)fits) > tap.disk_left) {
        size_t block = (size_t)(offset + (off_t)fits - 1) % BLOCK + 1;
        fits -= block < fits ? block : fits;
    }
    return fits;
}

static void settle_blocks(blkcnt_t before, int fd)
{
    struct stat after;
    if (tap.disk_left >= 0 && fstat(fd, &after) == 0) {
        int64_t left = tap.disk_left - (int64_t)(after.st_blocks - before) * 512;
        tap.disk_left = left > 0 ? left : 0;
    }
}

int tap_open(int folder, const char *path, int flags, mode_t mode)
{
    if (!tap.on) {
        return real_openat(folder, path, flags, mode);
    }
    lock();
    struct place place;
    int fd = -1;
    if (!tap.on || !watched_path(folder, path, &place)) {
        fd = real_openat(folder, path, flags, mode);
    } else if (!harm_fails(TAP_OPEN, "open", place.name)) {
        struct stat is;
        bool was_there = fstatat(folder, path, &is, 0) == 0;
        fd = real_openat(folder, path, flags, mode);
        if (fd >= 0 && !was_there) {
            int known = fstat(fd, &is);
            assert(known == 0);
            uint32_t file = add_inode(&is, place.name);
            if (tap.recording) {
                trace_end(&tap.trace, trace_entry(&tap.trace, place.folder, place.name, file));
            }
        } else if (fd >= 0 && flags & O_TRUNC && tap.recording) {
            trace_end(&tap.trace, trace_size(&tap.trace, inode_of(&is)->file, 0));
        }
    }
    int error = errno;
    unlock();
    errno = error;
    return fd;
}

int tap_close(int fd)
{
    if (!tap.on) {
        return real_close(fd);
    }
    lock();
    struct stat is;
    const struct inode *inode = watched_fd(fd, &is);
    bool fails = inode && harm_fails(TAP_CLOSE, "close", inode->name);
    int error = errno;
    int result = real_close(fd);
    unlock();
    if (fails) {
        errno = error;
        return -1;
    }
    return result;
}

ssize_t tap_read(int fd, void *bytes, size_t size, off_t offset)
{
    if (tap.on) {
        lock();
        struct stat is;
        const struct inode *inode = watched_fd(fd, &is);
        bool harmed = inode && size && harm(TAP_READ, "read", inode->name);
        bool fails = harmed && tap.fault.harm == TAP_ERROR;
        int error = errno;
        unlock();
        if (fails) {
            errno = error;
            return -1;
        }
        if (harmed && size > 1) {
            size /= 2;
        }
    }
    return offset < 0 ? real_read(fd, bytes, size) : real_pread(fd, bytes, size, offset);
}

// A write that is under way.
struct writing {
    int fd;
    off_t offset;
    bool positioned; // pwrite
    bool direct;
    char *bytes;
    size_t size;
    size_t op;
};

static void gather(struct writing *writing, const struct iovec *parts, int count)
{
    for (int i = 0; i < count; i++) {
        writing->size += parts[i].iov_len;
    }
    writing->bytes = malloc(writing->size + 1);
    assert(writing->bytes);
    size_t at = 0;
    for (int i = 0; i < count; i++) {
        if (parts[i].iov_len) {
            memcpy(writing->bytes + at, parts[i].iov_base, parts[i].iov_len);
        }
        at += parts[i].iov_len;
    }
}

// What becomes of a write to a watched file: 0, or errno. With the lock held.
static int begin_write(struct writing *writing, const struct inode *inode, const struct stat *is)
{
    int flags = fcntl(writing->fd, F_GETFL);
    writing->direct |= (flags & O_DSYNC) != 0;
    if (flags & O_APPEND) {
        writing->offset = is->st_size;
    } else if (!writing->positioned) {
        writing->offset = lseek(writing->fd, 0, SEEK_CUR);
    }
    if (harm(TAP_WRITE, "write", inode->name)) {
        if (tap.fault.harm == TAP_ERROR) {
            return tap.fault.error;
        }
        writing->size = writing->size > 1 ? writing->size / 2 : writing->size;
    }
    size_t fits = bytes_that_fit(writing->fd, writing->offset, writing->size);
    if (fits == 0 && writing->size) {
        return ENOSPC;
    }
    writing->size = fits;
    if (tap.recording) {
        writing->op = trace_write(&tap.trace, inode->file, (uint64_t)writing->offset,
                                  writing->bytes, writing->size, writing->direct);
    }
    return 0;
}

static ssize_t really_write(const struct writing *writing)
{
    return writing->positioned
               ? real_pwrite(writing->fd, writing->bytes, writing->size, writing->offset)
               : real_write(writing->fd, writing->bytes, writing->size);
}

static ssize_t write_watched(struct writing *writing, const struct inode *inode,
                             const struct stat *is)
{
    int failed = begin_write(writing, inode, is);
    bool recording = tap.recording;
    unlock();
    if (failed) {
        errno = failed;
        return -1;
    }
    jitter();
    lock();
    ssize_t done = really_write(writing);
    int error = errno;
    settle_blocks(is->st_blocks, writing->fd);
    if (recording && tap.recording) {
        tap.trace.ops[writing->op].size = done > 0 ? (size_t)done : 0;
        trace_end(&tap.trace, writing->op);
    }
    unlock();
    jitter();
    errno = error;
    return done;
}

ssize_t tap_write(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    struct writing writing = {
        .fd = fd,
        .offset = offset,
        .positioned = offset >= 0,
        .direct = flags & (RWF_DSYNC | RWF_SYNC),
    };
    gather(&writing, parts, count);
    ssize_t done = 0;
    if (!tap.on) {
        done = really_write(&writing);
    } else {
        lock();
        struct stat is;
        const struct inode *inode = watched_fd(fd, &is);
        if (inode) {
            done = write_watched(&writing, inode, &is);
        } else {
            unlock();
            done = really_write(&writing);
        }
    }
    int error = errno;
    free(writing.bytes);
    errno = error;
    return done;
}

int tap_resize(int fd, off_t size)
{
    if (!tap.on) {
        return real_ftruncate(fd, size);
    }
    lock();
    struct stat is;
    const struct inode *inode = watched_fd(fd, &is);
    int result = -1;
    if (!inode) {
        result = real_ftruncate(fd, size);
    } else if (!harm_fails(TAP_RESIZE, "resize", inode->name)) {
        result = real_ftruncate(fd, size);
        settle_blocks(is.st_blocks, fd);
        if (result == 0 && tap.recording && size != is.st_size) {
            trace_end(&tap.trace, trace_size(&tap.trace, inode->file, (uint64_t)size));
        }
    }
    int error = errno;
    unlock();
    errno = error;
    return result;
}

int tap_allocate(int fd, int mode, off_t offset, off_t size)
{
    if (!tap.on) {
        return real_fallocate(fd, mode, offset, size);
    }
    lock();
    struct stat is;
    const struct inode *inode = watched_fd(fd, &is);
    int result = -1;
    if (inode && mode & ~FALLOC_FL_KEEP_SIZE) {
        tap_refuse("fallocate with that mode", fd);
    }
    if (!inode) {
        result = real_fallocate(fd, mode, offset, size);
    } else if (!harm_fails(TAP_RESIZE, "allocation", inode->name)) {
        if (tap.disk_left >= 0 && blocks_needed(fd, offset, size) > tap.disk_left) {
            errno = ENOSPC;
        } else {
            result = real_fallocate(fd, mode, offset, size);
            settle_blocks(is.st_blocks, fd);
        }
        bool grown = !(mode & FALLOC_FL_KEEP_SIZE) && offset + size > is.st_size;
        if (result == 0 && tap.recording && grown) {
            trace_end(&tap.trace, trace_size(&tap.trace, inode->file, (uint64_t)(offset + size)));
        }
    }
    int error = errno;
    unlock();
    errno = error;
    return result;
}

static bool left_out(const struct inode *inode)
{
    size_t size = strlen(tap.leave_out_name);
    return tap.leave_out && strncmp(inode->name, tap.leave_out_name, size) == 0;
}

int tap_sync(int fd)
{
    if (!tap.on) {
        return fcntl(fd, F_GETFD) < 0 ? -1 : 0;
    }
    lock();
    struct stat is;
    const struct inode *inode = watched_fd(fd, &is);
    if (!inode) {
        unlock();
        return fcntl(fd, F_GETFD) < 0 ? -1 : 0;
    }
    bool record = tap.recording && !left_out(inode);
    size_t op = record ? trace_sync(&tap.trace, inode->file) : 0;
    bool fails = harm_fails(TAP_SYNC, "sync", inode->name);
    int error = errno;
    if (record && fails) {
        tap.trace.ops[op].failed = true;
        tap.trace.ops[op].interrupted = error == EINTR;
    }
    unlock();
    jitter();
    lock();
    if (record && tap.recording) {
        trace_end(&tap.trace, op);
    }
    unlock();
    jitter();
    errno = error;
    return fails ? -1 : 0;
}

int tap_sync_all(void)
{
    lock();
    for (uint32_t file = 0; tap.recording && file < tap.trace.files_count; file++) {
        trace_end(&tap.trace, trace_sync(&tap.trace, file));
    }
    unlock();
    return 0;
}

int tap_mkdir(int folder, const char *path, mode_t mode)
{
    if (!tap.on) {
        return real_mkdirat(folder, path, mode);
    }
    lock();
    struct place place;
    int result = -1;
    if (!watched_path(folder, path, &place)) {
        result = real_mkdirat(folder, path, mode);
    } else if (!harm_fails(TAP_ENTRY, "mkdir", place.name)) {
        result = real_mkdirat(folder, path, mode);
        struct stat is;
        if (result == 0 && fstatat(folder, path, &is, 0) == 0) {
            uint32_t file = add_inode(&is, place.name);
            if (tap.recording) {
                trace_end(&tap.trace, trace_entry(&tap.trace, place.folder, place.name, file));
            }
        }
    }
    int error = errno;
    unlock();
    errno = error;
    return result;
}

int tap_rename(int folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    if (!tap.on) {
        return real_renameat2(folder, from, to_folder, to, flags);
    }
    lock();
    struct place source;
    struct place target;
    bool watched = watched_path(folder, from, &source);
    int result = -1;
    if (watched != watched_path(to_folder, to, &target) || (watched && flags & ~1U)) {
        tap_refuse("rename from or to another folder", -1);
    }
    if (!watched) {
        result = real_renameat2(folder, from, to_folder, to, flags);
    } else if (!harm_fails(TAP_ENTRY, "rename", source.name)) {
        struct stat is;
        int known = fstatat(folder, from, &is, 0);
        result = real_renameat2(folder, from, to_folder, to, flags);
        if (result == 0 && known == 0) {
            struct inode *inode = inode_of(&is);
            name_inode(inode, target.name);
            if (tap.recording) {
                size_t op = trace_entry(&tap.trace, target.folder, target.name, inode->file);
                trace_entry_too(&tap.trace, source.folder, source.name, TRACE_NO_FILE);
                trace_end(&tap.trace, op);
            }
        }
    }
    int error = errno;
    unlock();
    errno = error;
    return result;
}

int tap_unlink(int folder, const char *path, int flags)
{
    if (!tap.on) {
        return real_unlinkat(folder, path, flags);
    }
    lock();
    struct place place;
    int result = -1;
    if (!watched_path(folder, path, &place)) {
        result = real_unlinkat(folder, path, flags);
    } else if (!harm_fails(TAP_ENTRY, "unlink", place.name)) {
        struct stat is;
        int known = fstatat(folder, path, &is, AT_SYMLINK_NOFOLLOW);
        result = real_unlinkat(folder, path, flags);
        if (result == 0 && known == 0 && tap.disk_left >= 0) {
            tap.disk_left += (int64_t)is.st_blocks * 512;
        }
        if (result == 0 && tap.recording) {
            trace_end(&tap.trace, trace_entry(&tap.trace, place.folder, place.name, TRACE_NO_FILE));
        }
    }
    int error = errno;
    unlock();
    errno = error;
    return result;
}

void tap_refuse(const char *call, int fd)
{
    struct stat is;
    if (fd < 0 || (tap.on && fstat(fd, &is) == 0 && inode_of(&is))) {
        (void)fprintf(stderr, "the tap does not understand: %s\n", call);
        abort();
    }
}
