// SPDX-License-Identifier: MIT
// What a process did to the files of a folder, call by call, in the order in which it did it.
//
// Files and folders have numbers: an inode keeps its number whatever it is called; the folder that
// is watched is 0. A call stands in the trace when it begins, and TRACE_END with its index when it
// returns; what other threads did meanwhile stands between the two.
#ifndef SLUICE_TESTS_CRASH_TRACE_H
#define SLUICE_TESTS_CRASH_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    TRACE_NAME_SIZE = 64,
};

#define TRACE_NO_FILE UINT32_MAX
#define TRACE_NO_END  SIZE_MAX

enum trace_kind {
    TRACE_WRITE, // bytes into a file
    TRACE_SIZE,  // a new size for it
    TRACE_ENTRY, // names that stand for other files than before, both at once
    TRACE_SYNC,  // of a file or a folder
    TRACE_END,   // of the operation with index `of`
    TRACE_MARK,  // what the test said, `mark` and `value`
};

// A name in a folder stands for that file from now on, or for none.
struct trace_entry {
    uint32_t folder; // TRACE_NO_FILE: there is no second entry
    uint32_t file;   // TRACE_NO_FILE: the name is gone
    char name[TRACE_NAME_SIZE];
};

struct trace_op {
    enum trace_kind kind;
    uint32_t file;
    bool direct;      // TRACE_WRITE: on disk when it returns, it alone
    bool failed;      // TRACE_SYNC: it was told to fail
    bool interrupted; // and only for the moment
    int mark;
    uint64_t value;
    uint64_t offset; // TRACE_WRITE; of TRACE_SIZE the new size
    size_t size;
    size_t bytes; // TRACE_WRITE: where they stand in the trace's bytes
    size_t of;
    size_t end; // index of its TRACE_END
    struct trace_entry entries[2];
};

// What was there when the trace began. A folder stands before what is in it.
struct trace_start {
    struct trace_entry entry;
    bool folder;
};

struct trace {
    struct trace_op *ops;
    size_t count, capacity;
    char *bytes;
    size_t bytes_size, bytes_capacity;
    struct trace_start *starts;
    size_t starts_count, starts_capacity;
    bool *folders; // by number
    uint32_t files_count, files_capacity;
};

void trace_init(struct trace *trace);
void trace_release(struct trace *trace);

// A new number.
uint32_t trace_file(struct trace *trace, bool folder);
void trace_start(struct trace *trace, uint32_t folder, const char *name, uint32_t file);

// Each appends an operation and returns its index.
size_t trace_write(struct trace *trace, uint32_t file, uint64_t offset, const void *bytes,
                   size_t size, bool direct);
size_t trace_size(struct trace *trace, uint32_t file, uint64_t size);
size_t trace_sync(struct trace *trace, uint32_t file);
size_t trace_mark(struct trace *trace, int mark, uint64_t value);
size_t trace_entry(struct trace *trace, uint32_t folder, const char *name, uint32_t file);
// A second entry for the operation that was appended last.
void trace_entry_too(struct trace *trace, uint32_t folder, const char *name, uint32_t file);
void trace_end(struct trace *trace, size_t op);

// "write of 1024 bytes at 512 to 3", in a buffer that the next call uses again.
const char *trace_sentence(const struct trace *trace, size_t index);

// To a file and back, so that a state can be looked at again. False: errno says why.
bool trace_save(const struct trace *trace, const char *path);
bool trace_load(struct trace *trace, const char *path);

#endif
