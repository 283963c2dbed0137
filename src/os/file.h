// SPDX-License-Identifier: MIT
// System calls about files. Interrupted calls are repeated, short reads and writes are continued.
// Each error message names the file and the error of the system.
#ifndef SLUICE_OS_FILE_H
#define SLUICE_OS_FILE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

// Converts errno to a status and a message: NO_SPACE for a full disk or quota, DENIED, NOT_FOUND,
// or IO.
enum status file_error(struct error *error, const char *what, const char *name);

// `flags` are those of open(2); O_CLOEXEC is added.
MUST_USE enum status file_open(int folder, const char *name, int flags, int *fd,
                               struct error *error);
MUST_USE enum status file_size(int fd, const char *name, uint64_t *size, struct error *error);

// CORRUPT if the file ends before that.
MUST_USE enum status file_read(int fd, const char *name, void *bytes, size_t size, uint64_t offset,
                               struct error *error);
MUST_USE enum status file_write(int fd, const char *name, const void *bytes, size_t size,
                                uint64_t offset, struct error *error);
MUST_USE enum status file_sync(int fd, const char *name, struct error *error);

// Writes zeros up to `size` in parts, each followed by a sync, so that syncs of other threads do
// not wait for the whole.
MUST_USE enum status file_fill(int fd, const char *name, uint64_t size, struct error *error);

// Allocates disk space for a range of a file, so that writing there cannot run out of space.
// UNSUPPORTED if the file system cannot do that.
MUST_USE enum status file_allocate(int fd, const char *name, uint64_t offset, uint64_t size,
                                   struct error *error);

// Makes the creation, renaming and removal of files in a folder durable.
MUST_USE enum status folder_sync(int folder, const char *name, struct error *error);

#endif
