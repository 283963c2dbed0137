// SPDX-License-Identifier: MIT
// Any bytes as an answer: its end is the same whether it comes at once or byte by byte, its tree
// can be walked, and its JSON is JSON.
#include "client/value.h"
#include "wire/resp_item.h"

#include "fuzz.h"
#include "json_oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds, const char *sentence)
{
    if (!holds) {
        (void)fprintf(stderr, "fuzz_resp_item: %s\n", sentence);
        abort();
    }
}

// A block of just that size, so that a sanitizer sees what is read elsewhere.
static char *copy_of(const uint8_t *data, size_t size)
{
    char *copy = malloc(size ? size : 1);
    require(copy, "there is no memory");
    if (size) {
        memcpy(copy, data, size);
    }
    return copy;
}

// How it ends when it comes byte by byte.
static enum resp_result scan_slowly(const uint8_t *data, size_t size, struct resp_scan *scan)
{
    enum resp_result result = RESP_MORE;
    struct error error = { 0 };
    resp_scan_begin(scan);
    for (size_t come = 0; come <= size && result == RESP_MORE; come++) {
        char *copy = copy_of(data, come);
        result = resp_scan_read(scan, slice_make(copy, come), &error);
        require(result == RESP_BROKEN ? error.detail[0] != '\0' : true,
                "nothing is said about what is broken");
        require(scan->position <= come, "more was seen than came");
        free(copy);
    }
    return result;
}

static size_t count_values(const struct sluice_value *value)
{
    size_t count = 1;
    bool map = sluice_value_type(value) == SLUICE_MAP;
    for (size_t i = 0; i < sluice_value_count(value); i++) {
        count += map + count_values(sluice_value_at(value, i));
        require(!map || sluice_value_key(value, i), "a pair has no key");
    }
    size_t size;
    const char *text = sluice_value_text(value, &size);
    require(!text || text[size] == '\0', "a text does not end");
    return count;
}

static void check_value(const uint8_t *data, const struct resp_scan *scan)
{
    struct sluice_value *value;
    struct sluice_error error = { .status = SLUICE_STATUS_COUNT };
    char *copy = copy_of(data, scan->position);
    enum sluice_status status = value_read_whole(slice_make(copy, scan->position), &value, &error);
    free(copy);
    require(status ? !value && error.status == status : value != NULL, "neither refused nor read");
    if (value) {
        require(count_values(value) == scan->items, "items were lost or made up");
        char *json = sluice_value_json(value);
        require(json && json_oracle_accepts(slice_from_cstr(json)), "its JSON is none");
        sluice_free(json);
    }
    sluice_value_free(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct resp_scan slow, quick;
    struct error error;
    char *copy = copy_of(data, size);
    resp_scan_begin(&quick);
    enum resp_result result = resp_scan_read(&quick, slice_make(copy, size), &error);
    free(copy);
    require(scan_slowly(data, size, &slow) == result, "pieces make a difference");
    if (result == RESP_READY) {
        require(slow.position == quick.position && slow.items == quick.items,
                "pieces make another end");
        check_value(data, &quick);
    }
    return 0;
}
