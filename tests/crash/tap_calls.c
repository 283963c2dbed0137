// SPDX-License-Identifier: MIT
// The C library's calls by which files change, defined here. A symbol of the program itself comes
// before that of a shared library, and before the weak ones of a sanitizer; so LMDB finds these
// too. They have names of their own in C and take the library's only in the object file: headers
// may have made macros or inline functions of the latter.
#include "tap.h"

#include "real.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#define CALL(name)        __asm__(name) __attribute__((used, visibility("default")))
#define SAME(name, other) __asm__(name) __attribute__((visibility("default"), alias(other)))

int call_open(const char *path, int flags, ...) CALL("open");
int call_open64(const char *path, int flags, ...) SAME("open64", "open");
int call_open_2(const char *path, int flags) CALL("__open_2");
int call_open64_2(const char *path, int flags) SAME("__open64_2", "__open_2");
int call_openat(int folder, const char *path, int flags, ...) CALL("openat");
int call_openat64(int folder, const char *path, int flags, ...) SAME("openat64", "openat");
int call_openat_2(int folder, const char *path, int flags) CALL("__openat_2");
int call_openat64_2(int folder, const char *path, int flags) SAME("__openat64_2", "__openat_2");
int call_creat(const char *path, mode_t mode) CALL("creat");
int call_creat64(const char *path, mode_t mode) SAME("creat64", "creat");
int call_close(int fd) CALL("close");

static mode_t mode_given(int flags, va_list arguments)
{
    return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(arguments, int) : 0;
}

int call_open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_given(flags, arguments);
    va_end(arguments);
    return tap_open(AT_FDCWD, path, flags, mode);
}

int call_open_2(const char *path, int flags)
{
    return tap_open(AT_FDCWD, path, flags, 0);
}

int call_openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_given(flags, arguments);
    va_end(arguments);
    return tap_open(folder, path, flags, mode);
}

int call_openat_2(int folder, const char *path, int flags)
{
    return tap_open(folder, path, flags, 0);
}

int call_creat(const char *path, mode_t mode)
{
    return tap_open(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int call_close(int fd)
{
    return tap_close(fd);
}

ssize_t call_read(int fd, void *bytes, size_t size) CALL("read");
ssize_t call_read_chk(int fd, void *bytes, size_t size, size_t room) CALL("__read_chk");
ssize_t call_pread(int fd, void *bytes, size_t size, off_t offset) CALL("pread");
ssize_t call_pread64(int fd, void *bytes, size_t size, off_t offset) SAME("pread64", "pread");
ssize_t call_pread_chk(int fd, void *bytes, size_t size, off_t offset, size_t room)
    CALL("__pread_chk");
ssize_t call_pread64_chk(int fd, void *bytes, size_t size, off_t offset, size_t room)
    SAME("__pread64_chk", "__pread_chk");

ssize_t call_read(int fd, void *bytes, size_t size)
{
    return tap_read(fd, bytes, size, -1);
}

ssize_t call_read_chk(int fd, void *bytes, size_t size, size_t room)
{
    return tap_read(fd, bytes, size < room ? size : room, -1);
}

ssize_t call_pread(int fd, void *bytes, size_t size, off_t offset)
{
    return tap_read(fd, bytes, size, offset);
}

ssize_t call_pread_chk(int fd, void *bytes, size_t size, off_t offset, size_t room)
{
    return tap_read(fd, bytes, size < room ? size : room, offset);
}

ssize_t call_write(int fd, const void *bytes, size_t size) CALL("write");
ssize_t call_pwrite(int fd, const void *bytes, size_t size, off_t offset) CALL("pwrite");
ssize_t call_pwrite64(int fd, const void *bytes, size_t size, off_t offset)
    SAME("pwrite64", "pwrite");
ssize_t call_writev(int fd, const struct iovec *parts, int count) CALL("writev");
ssize_t call_pwritev(int fd, const struct iovec *parts, int count, off_t offset) CALL("pwritev");
ssize_t call_pwritev64(int fd, const struct iovec *parts, int count, off_t offset)
    SAME("pwritev64", "pwritev");
ssize_t call_pwritev2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
    CALL("pwritev2");
ssize_t call_pwritev64v2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
    SAME("pwritev64v2", "pwritev2");

ssize_t call_write(int fd, const void *bytes, size_t size)
{
    return tap_write(fd, &(struct iovec){ (void *)bytes, size }, 1, -1, 0);
}

ssize_t call_pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    return tap_write(fd, &(struct iovec){ (void *)bytes, size }, 1, offset, 0);
}

ssize_t call_writev(int fd, const struct iovec *parts, int count)
{
    return tap_write(fd, parts, count, -1, 0);
}

ssize_t call_pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
    return tap_write(fd, parts, count, offset, 0);
}

ssize_t call_pwritev2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    return tap_write(fd, parts, count, offset, flags);
}

int call_ftruncate(int fd, off_t size) CALL("ftruncate");
int call_ftruncate64(int fd, off_t size) SAME("ftruncate64", "ftruncate");
int call_truncate(const char *path, off_t size) CALL("truncate");
int call_truncate64(const char *path, off_t size) SAME("truncate64", "truncate");
int call_fallocate(int fd, int mode, off_t offset, off_t size) CALL("fallocate");
int call_fallocate64(int fd, int mode, off_t offset, off_t size) SAME("fallocate64", "fallocate");
int call_posix_fallocate(int fd, off_t offset, off_t size) CALL("posix_fallocate");
int call_posix_fallocate64(int fd, off_t offset, off_t size)
    SAME("posix_fallocate64", "posix_fallocate");

int call_ftruncate(int fd, off_t size)
{
    return tap_resize(fd, size);
}

int call_truncate(const char *path, off_t size)
{
    int fd = real_openat(AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    int result = tap_resize(fd, size);
    int error = errno;
    (void)real_close(fd);
    errno = error;
    return result;
}

int call_fallocate(int fd, int mode, off_t offset, off_t size)
{
    return tap_allocate(fd, mode, offset, size);
}

int call_posix_fallocate(int fd, off_t offset, off_t size)
{
    int before = errno;
    int failed = tap_allocate(fd, 0, offset, size) == 0 ? 0 : errno;
    errno = before;
    return failed;
}

int call_fsync(int fd) CALL("fsync");
int call_fdatasync(int fd) CALL("fdatasync");
int call_syncfs(int fd) CALL("syncfs");
void call_sync(void) CALL("sync");

int call_fsync(int fd)
{
    return tap_sync(fd);
}

int call_fdatasync(int fd)
{
    return tap_sync(fd);
}

int call_syncfs(int fd)
{
    (void)fd;
    return tap_sync_all();
}

void call_sync(void)
{
    (void)tap_sync_all();
}

int call_mkdir(const char *path, mode_t mode) CALL("mkdir");
int call_mkdirat(int folder, const char *path, mode_t mode) CALL("mkdirat");
int call_rename(const char *from, const char *to) CALL("rename");
int call_renameat(int folder, const char *from, int to_folder, const char *to) CALL("renameat");
int call_renameat2(int folder, const char *from, int to_folder, const char *to, unsigned flags)
    CALL("renameat2");
int call_unlink(const char *path) CALL("unlink");
int call_unlinkat(int folder, const char *path, int flags) CALL("unlinkat");
int call_rmdir(const char *path) CALL("rmdir");
int call_remove(const char *path) CALL("remove");

int call_mkdir(const char *path, mode_t mode)
{
    return tap_mkdir(AT_FDCWD, path, mode);
}

int call_mkdirat(int folder, const char *path, mode_t mode)
{
    return tap_mkdir(folder, path, mode);
}

int call_rename(const char *from, const char *to)
{
    return tap_rename(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int call_renameat(int folder, const char *from, int to_folder, const char *to)
{
    return tap_rename(folder, from, to_folder, to, 0);
}

int call_renameat2(int folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    return tap_rename(folder, from, to_folder, to, flags);
}

int call_unlink(const char *path)
{
    return tap_unlink(AT_FDCWD, path, 0);
}

int call_unlinkat(int folder, const char *path, int flags)
{
    return tap_unlink(folder, path, flags);
}

int call_rmdir(const char *path)
{
    return tap_unlink(AT_FDCWD, path, AT_REMOVEDIR);
}

int call_remove(const char *path)
{
    int result = tap_unlink(AT_FDCWD, path, 0);
    return result != 0 && errno == EISDIR ? tap_unlink(AT_FDCWD, path, AT_REMOVEDIR) : result;
}

ssize_t call_copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t size,
                             unsigned flags) CALL("copy_file_range");
ssize_t call_sendfile(int to, int from, off_t *at, size_t size) CALL("sendfile");
ssize_t call_sendfile64(int to, int from, off_t *at, size_t size) SAME("sendfile64", "sendfile");

// A system may not have these between two files; the caller has to copy by hand then.
ssize_t call_copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t size,
                             unsigned flags)
{
    (void)from, (void)from_at, (void)to, (void)to_at, (void)size, (void)flags;
    errno = ENOSYS;
    return -1;
}

ssize_t call_sendfile(int to, int from, off_t *at, size_t size)
{
    (void)to, (void)from, (void)at, (void)size;
    errno = EINVAL;
    return -1;
}
