// SPDX-License-Identifier: MIT
// Documents that are made from a table of the program's.
#ifndef SLUICE_DOCUMENT_H
#define SLUICE_DOCUMENT_H

#include "base/buffer.h"

// The file docs/NAME must hold the text. With TEST_UPDATE in the environment it is written first.
void expect_document(const char *name, const struct buffer *text);

#endif
