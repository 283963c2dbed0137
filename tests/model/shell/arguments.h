// SPDX-License-Identifier: MIT
// Arguments of a request, by name. `from` is the request or an object in it; NULL is an object
// without members. What is not there is empty, 0 or false; what has another type ends the program.
// Texts are borrowed from the request.
#ifndef SLUICE_TESTS_MODEL_SHELL_ARGUMENTS_H
#define SLUICE_TESTS_MODEL_SHELL_ARGUMENTS_H

#include "shell.h"

bool arg_has(const json_t *from, const char *name);
struct slice arg_text(const json_t *from, const char *name);
int64_t arg_number(const json_t *from, const char *name);
int32_t arg_number32(const json_t *from, const char *name);
uint64_t arg_unsigned(const json_t *from, const char *name);
size_t arg_size(const json_t *from, const char *name);
bool arg_flag(const json_t *from, const char *name);
enum missing_dependencies arg_missing(const json_t *from);

// Which of `words` (words.h) it is. The first when it is not there.
unsigned arg_word(const json_t *from, const char *name, const char *const *words);

// The state of a job by its name. The first when it is not there.
enum job_state arg_state(const json_t *from, const char *name);

// Who claims to hold a lease: jid, worker, queue, token.
struct holder arg_holder(const json_t *from);

// These stand in the request itself; what they give is kept in the shell until the next request.
struct slices arg_texts(struct shell *shell, const char *name);
struct page arg_page(struct shell *shell); // offset, count
// The argument `count`, at most PAGE_MAX; `absent` when it is not there.
size_t arg_count(const struct shell *shell, size_t absent);

#endif
