// SPDX-License-Identifier: MIT
// The calls themselves, past the tap. Under a sanitizer they go through its interceptor where it
// has one: it knows from them which bytes are set and which threads met over a descriptor.
#ifndef SLUICE_TESTS_CRASH_REAL_H
#define SLUICE_TESTS_CRASH_REAL_H

#include <stddef.h>
#include <sys/types.h>

int real_openat(int folder, const char *path, int flags, mode_t mode);
int real_close(int fd);
ssize_t real_read(int fd, void *bytes, size_t size);
ssize_t real_pread(int fd, void *bytes, size_t size, off_t offset);
ssize_t real_write(int fd, const void *bytes, size_t size);
ssize_t real_pwrite(int fd, const void *bytes, size_t size, off_t offset);
int real_ftruncate(int fd, off_t size);
int real_fallocate(int fd, int mode, off_t offset, off_t size);
int real_mkdirat(int folder, const char *path, mode_t mode);
int real_renameat2(int folder, const char *from, int to_folder, const char *to, unsigned flags);
int real_unlinkat(int folder, const char *path, int flags);

// The names in a folder but `.` and `..`; each, and the array, is to be freed.
size_t real_list(const char *path, char ***names);

#endif
