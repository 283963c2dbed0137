// SPDX-License-Identifier: MIT
// System calls about files, done to the end: interrupted ones again, short ones on. Each error is a
// sentence that names the file and what the system said.
#ifndef SLUICE_OS_FILE_H
#define SLUICE_OS_FILE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

// The status and sentence for errno: NO_SPACE for a full disk or quota, DENIED, NOT_FOUND, or IO.
enum status file_error(struct error *error, const char *what, const char *name);

// `flags` as for open(2); O_CLOEXEC is added.
MUST_USE enum status file_open(int folder, const char *name, int flags, int *fd,
                               struct error *error);
MUST_USE enum status file_size(int fd, const char *name, uint64_t *size, struct error *error);

// CORRUPT when the file ends before that.
MUST_USE enum status file_read(int fd, const char *name, void *bytes, size_t size, uint64_t offset,
                               struct error *error);
MUST_USE enum status file_write(int fd, const char *name, const void *bytes, size_t size,
                                uint64_t offset, struct error *error);
MUST_USE enum status file_sync(int fd, const char *name, struct error *error);

// Writes zeros up to `size`, a part at a time and each synced, so that others who sync do not wait
// for all of it.
MUST_USE enum status file_fill(int fd, const char *name, uint64_t size, struct error *error);

// Enlarges a file, so that writing there will not find the disk full. UNSUPPORTED where the file
// system cannot do that.
MUST_USE enum status file_allocate(int fd, const char *name, uint64_t offset, uint64_t size,
                                   struct error *error);

// Makes what was made, renamed or removed in a folder durable.
MUST_USE enum status folder_sync(int folder, const char *name, struct error *error);

#endif
