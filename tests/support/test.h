// SPDX-License-Identifier: MIT
// cmocka with what it needs in front of it.
#ifndef SLUICE_TEST_H
#define SLUICE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "row.h"

#define assert_slice_equal(given, string)                                                          \
    do {                                                                                           \
        struct slice slice_given_ = (given);                                                       \
        struct slice slice_wanted_ = slice_from_cstr(string);                                      \
        assert_int_equal(slice_given_.size, slice_wanted_.size);                                   \
        if (slice_wanted_.size) {                                                                  \
            assert_memory_equal(slice_given_.data, slice_wanted_.data, slice_wanted_.size);        \
        }                                                                                          \
    } while (0)

#endif
