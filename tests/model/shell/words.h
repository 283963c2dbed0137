// SPDX-License-Identifier: MIT
// The words that stand for the values of the engine's enums, each list by the name of its enum, in
// the order of its values and with NULL behind the last. Those that the engine has a word for
// itself (job_state_name, ...) are not here.
#ifndef SLUICE_TESTS_MODEL_SHELL_WORDS_H
#define SLUICE_TESTS_MODEL_SHELL_WORDS_H

extern const char *const words_backoff_kind[];
extern const char *const words_bulk_act[];
extern const char *const words_dependency_policy[];
extern const char *const words_list[];
extern const char *const words_policy_scope[];
extern const char *const words_recur_missed[];
extern const char *const words_recur_overlap[];
extern const char *const words_unique_by[];
extern const char *const words_unique_conflict[];
extern const char *const words_unique_until[];

#endif
