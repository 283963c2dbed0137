// SPDX-License-Identifier: MIT
// Reading and canceling any job, whether or not a worker holds it.
#include "client/queue.h"
#include "client/repeat.h"
#include "client/value.h"

enum sluice_status sluice_get(struct sluice *sluice, const char *jid, struct sluice_value **out,
                              struct sluice_error *error)
{
    if (out) {
        *out = NULL;
    }
    const char *null = !sluice ? "sluice" : !jid ? "jid" : !out ? "out" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    struct words words;
    const struct ask ask = { .repeats = true };
    queue_words(sluice, &words, "Q.GET");
    words_text(&words, jid);
    enum sluice_status status = queue_ask(sluice, &words, &ask, out, error);
    if (!status && sluice_value_type(sluice_value_at(*out, 0)) == SLUICE_MAP) {
        value_keep_first(*out);
    } else if (!status) {
        sluice_value_free(*out);
        *out = NULL;
        status = fault(error, SLUICE_NOT_FOUND, "job %.64s does not exist", jid);
    }
    return status;
}

// A TIMEOUT of 0 means no limit to Q.WAIT. A wait of 0 is sent as a microsecond: the state of a
// finished job is returned at once in any case.
enum sluice_status sluice_wait(struct sluice *sluice, const char *jid, double wait,
                               struct sluice_value **out, struct sluice_error *error)
{
    if (out) {
        *out = NULL;
    }
    const char *null = !sluice ? "sluice" : !jid ? "jid" : !out ? "out" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    struct words words;
    struct ask ask = { .wait_us = wait_us_of(wait), .repeats = true };
    queue_words(sluice, &words, "Q.WAIT");
    words_text(&words, jid);
    words_text(&words, "TIMEOUT");
    ask.wait_us = ask.wait_us ? ask.wait_us : 1;
    ask.wait_word = words.count;
    words_seconds(&words, ask.wait_us == LINK_FOREVER ? 0 : (double)ask.wait_us / 1e6);
    enum sluice_status status = queue_ask(sluice, &words, &ask, out, error);
    if (!status && sluice_value_type(*out) == SLUICE_NULL) {
        sluice_value_free(*out);
        *out = NULL;
        status =
            fault(error, SLUICE_TIMED_OUT, "job %.64s has not finished in the time given", jid);
    }
    return status;
}

struct sluice_finish sluice_finish_of(const struct sluice_value *value)
{
    return (struct sluice_finish){
        .state = sluice_value_text(sluice_value_get(value, "state"), NULL),
        .result = sluice_value_text(sluice_value_get(value, "result"), NULL),
        .group = sluice_value_text(sluice_value_get(value, "group"), NULL),
        .message = sluice_value_text(sluice_value_get(value, "message"), NULL),
    };
}

enum sluice_status sluice_history(struct sluice *sluice, const char *jid, struct sluice_value **out,
                                  struct sluice_error *error)
{
    if (out) {
        *out = NULL;
    }
    const char *null = !sluice ? "sluice" : !jid ? "jid" : !out ? "out" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    struct words words;
    const struct ask ask = { .repeats = true };
    queue_words(sluice, &words, "Q.HISTORY");
    words_text(&words, jid);
    return queue_ask(sluice, &words, &ask, out, error);
}

enum sluice_status sluice_cancel(struct sluice *sluice, const char *jid, struct sluice_error *error)
{
    const char *null = !sluice ? "sluice" : !jid ? "jid" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    struct words words;
    struct sluice_value *answer;
    const struct ask ask = { .repeats = true };
    queue_words(sluice, &words, "Q.CANCEL");
    repeat_option(sluice, &words);
    words_option(&words, "--", jid);
    enum sluice_status status = queue_ask(sluice, &words, &ask, &answer, error);
    if (!status && sluice_value_type(answer) == SLUICE_INTEGER &&
        sluice_value_integer(answer) == 0) {
        status = fault(error, SLUICE_NOT_FOUND, "there is no job %.64s that can be canceled", jid);
    }
    sluice_value_free(answer);
    return status;
}
