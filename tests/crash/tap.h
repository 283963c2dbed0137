// SPDX-License-Identifier: MIT
// Stands between the process and the kernel: every call by which files change, the store's and
// LMDB's, comes through here (tap_calls.c). It writes down what is done to the files of one folder
// (trace.h), and it can make a call fail.
//
// No sync ever reaches a disk: what a power loss leaves is worked out from the trace, so a test is
// as fast as memory. All of it may be called from any thread.
#ifndef SLUICE_TESTS_CRASH_TAP_H
#define SLUICE_TESTS_CRASH_TAP_H

#include "trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

// Watches the folder; what is in it is taken to be on disk. Only one folder at a time.
void tap_watch(const char *folder);

// Begins to write down. `jitter` other than 0 is a seed for short waits around the calls, so that
// the threads of the store meet in other ways each time.
void tap_record(uint64_t jitter);

// Ends all of it. The trace is the caller's; NULL: it is thrown away.
void tap_end(struct trace *out);

// A mark in the trace.
void tap_mark(int mark, uint64_t value);

// A sync of a file whose name begins like that is from now on no sync, though it says it were. It
// shows that a test would see a sync that is missing. NULL: all syncs are.
void tap_leave_out_syncs(const char *name);

enum tap_kind {
    TAP_OPEN,
    TAP_CLOSE,
    TAP_READ,
    TAP_WRITE,
    TAP_RESIZE,
    TAP_SYNC,
    TAP_ENTRY, // a folder made; anything renamed or removed
    TAP_KINDS,
};

enum tap_harm {
    TAP_ERROR, // -1, and nothing is done
    TAP_SHORT, // only half of it is read or written; other kinds are left alone
    TAP_KILL,  // the process ends before the call
};

struct tap_fault {
    unsigned kinds; // bits 1 << tap_kind; 0: all
    uint64_t call;  // which of them, from 1 on; 0: none, they are only counted
    bool from_then_on;
    enum tap_harm harm;
    int error; // errno
};

// Counts from 0 again.
void tap_fault(const struct tap_fault *fault);

// How many calls of the fault's kinds there were, and how many of them were harmed.
uint64_t tap_calls(void);
uint64_t tap_harmed(void);

// The last call that was harmed: its kind, and a sentence.
enum tap_kind tap_harmed_kind(void);
const char *tap_harmed_what(void);

// From now on the disk has that many bytes left; what files give back is free again. When a write
// does not fit as a whole, as much as fits is written. Negative: there is no limit.
void tap_disk_left(int64_t bytes);

// What the calls come to. `offset` -1: where the descriptor stands; `flags` are pwritev2's.
int tap_open(int folder, const char *path, int flags, mode_t mode);
int tap_close(int fd);
ssize_t tap_read(int fd, void *bytes, size_t size, off_t offset);
ssize_t tap_write(int fd, const struct iovec *parts, int count, off_t offset, int flags);
int tap_resize(int fd, off_t size);
int tap_allocate(int fd, int mode, off_t offset, off_t size);
int tap_sync(int fd);
int tap_sync_all(void);
int tap_mkdir(int folder, const char *path, mode_t mode);
int tap_rename(int folder, const char *from, int to_folder, const char *to, unsigned flags);
int tap_unlink(int folder, const char *path, int flags);

// Ends the process when a watched file is changed by a call that is not understood here.
void tap_refuse(const char *call, int fd);

#endif
