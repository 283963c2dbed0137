// SPDX-License-Identifier: MIT
// Headers that list what a client accepts, with weights (RFC 9110, section 12.4.2):
//
//     Accept: application/json, text/*;q=0.5
//
//     while (http_accept_next(&list, &item)) {
//         ... item.value, item.weight ...
//     }
#ifndef SLUICE_WIRE_HTTP_ACCEPT_H
#define SLUICE_WIRE_HTTP_ACCEPT_H

#include "base/slice.h"

#include <stdbool.h>

struct http_accept {
    struct slice value; // without blanks and parameters; borrowed from the list
    double weight;      // 0: not accepted; a malformed weight means not accepted too
};

// Removes the next item from the list; false at its end.
bool http_accept_next(struct slice *list, struct http_accept *out);

#endif
