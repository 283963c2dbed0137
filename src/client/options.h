// SPDX-License-Identifier: MIT
// Structs of options as programs pass them. The first member is the
// size that the struct has in the program's header, which may be older or newer than the library.
#ifndef SLUICE_CLIENT_OPTIONS_H
#define SLUICE_CLIENT_OPTIONS_H

#include <sluice/list.h>
#include <sluice/pool.h>
#include <sluice/sluice.h>

// Each copies the given struct; members that the program does not know get their defaults. INVALID:
// the struct is NULL or its size is not set. UNSUPPORTED: the program sets members that this
// library does not know. `out` has the defaults then.
enum sluice_status open_options_read(const struct sluice_open_options *given, // NULL: defaults
                                     struct sluice_open_options *out, struct sluice_error *error);
enum sluice_status put_options_read(const struct sluice_put_options *given,
                                    struct sluice_put_options *out, struct sluice_error *error);
enum sluice_status take_options_read(const struct sluice_take_options *given,
                                     struct sluice_take_options *out, struct sluice_error *error);
enum sluice_status settle_options_read(const struct sluice_settle_options *given,
                                       struct sluice_settle_options *out,
                                       struct sluice_error *error);
enum sluice_status list_options_read(const struct sluice_list_open_options *given, // NULL: defaults
                                     struct sluice_list_open_options *out,
                                     struct sluice_error *error);
enum sluice_status pool_options_read(const struct sluice_pool_new_options *given,
                                     struct sluice_pool_new_options *out,
                                     struct sluice_error *error);

// Returns an element of an array. The first element has the size of all.
const struct sluice_put_options *put_options_at(const struct sluice_put_options *puts,
                                                size_t index);
const struct sluice_settle_options *settle_options_at(const struct sluice_settle_options *settles,
                                                      size_t index);

#endif
