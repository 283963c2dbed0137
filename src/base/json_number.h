// SPDX-License-Identifier: MIT
// The canonical text of a JSON number.
#ifndef SLUICE_BASE_JSON_NUMBER_H
#define SLUICE_BASE_JSON_NUMBER_H

#include "base/buffer.h"
#include "base/slice.h"

// Appends a number that is valid JSON in a form that is the same for all texts of the same value,
// exactly, whatever its size: 1, 1.0, 1e0 and 10E-1 become 1; -0 becomes 0. Without an exponent if
// that takes at most 20 zeros after the digits, or 6 between the point and the digits; otherwise as
// digits without a point, and an exponent: 15e30. A number whose exponent has more than 16 digits
// is unchanged.
void json_number_append(struct slice number, struct buffer *out);

#endif
