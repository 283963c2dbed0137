// SPDX-License-Identifier: MIT
// A folder for one job alone, removed with everything in it.
#ifndef SLUICE_CLI_WORK_SANDBOX_H
#define SLUICE_CLI_WORK_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

enum {
    WORK_FILE_NAME_SIZE = 240, // with the 0: a file's name, and room for what stands behind it
};

// A name of any bytes as that of a file: letters, digits, `-`, `_` and `.` as they are, others as
// %XX; a long one is cut, and ends with a hash of the whole.
void work_file_name(const char *name, char out[WORK_FILE_NAME_SIZE]);

// Makes FOLDER if need be (0700), and checks that no other user can put something in its place or
// into it: it is a folder and no symbolic link, this user's own and writable for it alone; the
// folders above it are this user's or root's, and writable for others only with the sticky bit.
// Gives its path without any links, for tool_free; NULL with a sentence that begins with the
// option's name, for tool_free.
char *work_folder_open(const char *option, const char *folder, char **wrong);

// Makes FOLDER/NAME, or FOLDER/NAME.2 and so on when there is one already, for this user alone
// (0700), and FOLDER if need be. Gives its path, for tool_free; NULL with errno.
char *work_sandbox_make(const char *folder, const char *name);

// Removes a folder and all in it. Symbolic links are removed, never followed; folders that were
// made read-only are made writable. False with errno: something is left, and as much as could be
// is gone.
bool work_sandbox_remove(const char *path);

#endif
