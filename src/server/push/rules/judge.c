// SPDX-License-Identifier: MIT
#include "server/push/rules/judge.h"

#include "base/num.h"

#include <curl/curl.h>
#include <stdio.h>

enum {
    SECOND_US = 1000000,
    DATE_SIZE_MAX = 64,
    // so that a job whose retries are not counted is not sent in a busy loop
    LATER_MIN_US = SECOND_US,
};

// A longer delay is treated as an error of the worker.
#define RETRY_AFTER_MAX (INT64_C(7) * 86400 * SECOND_US)

static int64_t limited(int64_t seconds)
{
    return seconds < RETRY_AFTER_MAX / SECOND_US ? seconds * SECOND_US : RETRY_AFTER_MAX;
}

int64_t push_retry_after(struct slice value, int64_t now_us)
{
    uint64_t seconds;
    enum status status = num_parse_u64(value, &seconds);
    if (status == STATUS_OK || (status == STATUS_TOO_LARGE && value.data[0] != '-')) {
        bool fits = status == STATUS_OK && seconds < INT64_MAX / SECOND_US;
        return fits ? limited((int64_t)seconds) : RETRY_AFTER_MAX;
    }
    char date[DATE_SIZE_MAX];
    if (value.size == 0 || value.size >= sizeof(date)) {
        return -1;
    }
    memcpy(date, value.data, value.size);
    date[value.size] = '\0';
    int64_t when_s = (int64_t)curl_getdate(date, NULL);
    if (when_s < 0) {
        return -1;
    }
    int64_t left_s = when_s - now_us / SECOND_US;
    return left_s > 0 ? limited(left_s) : 0;
}

static void name_group(struct push_judgement *judgement, const char *word)
{
    (void)snprintf(judgement->group, sizeof(judgement->group), "push:%s", word);
}

static const char *word_of(CURLcode code)
{
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        return "timeout";
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
        return "unreachable";
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
        return "tls";
    default:
        return "broken";
    }
}

// libcurl received no complete response.
static struct push_judgement judge_error(const struct push_answer *answer)
{
    struct push_judgement judgement = { .verdict = PUSH_RETRY, .health = PUSH_ILL };
    // Limits and settings of this server are not failures of the job.
    if (answer->starved || answer->refused) {
        judgement.verdict = PUSH_LATER;
        judgement.health = PUSH_UNKNOWN;
        judgement.delay_us = LATER_MIN_US;
    }
    name_group(&judgement, answer->refused     ? "refused"
                           : answer->too_large ? "too-large"
                                               : word_of((CURLcode)answer->curl));
    return judgement;
}

// Whether the request itself is at fault, so that the same request would fail again.
static bool is_own_fault(long status)
{
    return status >= 400 && status < 500 && status != 408 && status != 425 && status != 429;
}

// The destination requested a delay.
static struct push_judgement judge_delay(const struct push_answer *answer,
                                         const struct push_rules *rules, int64_t attempts)
{
    struct push_judgement judgement = {
        .verdict = attempts > rules->free_attempts ? PUSH_RETRY : PUSH_LATER,
        .health = PUSH_UNKNOWN,
        .delay_us = answer->retry_after_us > LATER_MIN_US ? answer->retry_after_us : LATER_MIN_US,
        .asked = true,
    };
    (void)snprintf(judgement.group, sizeof(judgement.group), "push:%ld", answer->status);
    return judgement;
}

struct push_judgement push_judge(const struct push_answer *answer, const struct push_rules *rules,
                                 int64_t attempts)
{
    long status = answer->status;
    // A status that reports a failure is used even if the transfer fails after it.
    if (answer->curl != CURLE_OK && (!answer->too_large || status < 300)) {
        return judge_error(answer);
    }
    if (status >= 200 && status < 300) {
        return (struct push_judgement){
            .verdict = status == 202 ? PUSH_ACCEPTED : PUSH_COMPLETE,
            .health = PUSH_WELL,
        };
    }
    if ((status == 429 || status == 503) && answer->retry_after_us >= 0) {
        return judge_delay(answer, rules, attempts);
    }
    struct push_judgement judgement = {
        .verdict = rules->fail_4xx && is_own_fault(status) ? PUSH_FAIL : PUSH_RETRY,
        .health = status >= 400 && status < 500 ? PUSH_WELL : PUSH_ILL,
    };
    (void)snprintf(judgement.group, sizeof(judgement.group), "push:%ld", status);
    return judgement;
}
