// SPDX-License-Identifier: MIT
#include "answer.h"

#include "parts.h"

static int64_t number(const char *at)
{
    bool negative = *at == '-';
    int64_t value = 0;
    for (at += negative; *at >= '0' && *at <= '9'; at++) {
        value = 10 * value + (*at - '0');
    }
    return negative ? -value : value;
}

static void add_leaf(struct answer *answer, const char *data, size_t size)
{
    if (answer->leaf_count == ANSWER_LEAVES_MAX) {
        die("a reply has more than %d parts", ANSWER_LEAVES_MAX);
    }
    answer->leaves[answer->leaf_count++] = slice_make(data, size);
}

bool answer_read(struct answer *answer, struct slice input)
{
    const char *at = input.data, *end = input.data + input.size;
    answer->errors = answer->leaf_count = 0;
    for (int64_t missing = 1; missing > 0; missing--) {
        const char *line = at;
        at = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        if (!at) {
            return false;
        }
        size_t text_size = (size_t)(at - line) - 2; // without the type and the carriage return
        at++;
        switch (*line) {
        case '*':
        case '~':
            missing += number(line + 1) > 0 ? number(line + 1) : 0;
            break;
        case '%':
            missing += 2 * number(line + 1);
            break;
        case '$': {
            int64_t size = number(line + 1);
            if (size < 0) {
                add_leaf(answer, at, 0);
                break;
            }
            if (end - at < size + 2) {
                return false;
            }
            add_leaf(answer, at, (size_t)size);
            at += size + 2;
            break;
        }
        case '-':
            answer->errors++;
            add_leaf(answer, line + 1, text_size);
            break;
        default:
            add_leaf(answer, line + 1, text_size);
            break;
        }
    }
    answer->size = (size_t)(at - input.data);
    return true;
}
