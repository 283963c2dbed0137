// SPDX-License-Identifier: MIT
// One text for all the texts of a number in JSON.
#ifndef SLUICE_BASE_JSON_NUMBER_H
#define SLUICE_BASE_JSON_NUMBER_H

#include "base/buffer.h"
#include "base/slice.h"

// Appends a number that is valid JSON in the form that all texts of the same value share, exactly,
// whatever its size: 1, 1.0, 1e0 and 10E-1 become 1; -0 becomes 0. Without an exponent where that
// takes at most 20 zeros behind the digits, or 6 between the point and the digits; else as digits
// without a point, and an exponent: 15e30. A number whose exponent has more than 16 digits stays as
// it is written.
void json_number_append(struct slice number, struct buffer *out);

#endif
