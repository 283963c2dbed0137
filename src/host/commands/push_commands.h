// SPDX-License-Identifier: MIT
// Commands about pushes. Every host knows their arguments, so that libsluice and the tool can build
// them; only a host that pushes jobs runs them.
#ifndef SLUICE_HOST_COMMANDS_PUSH_COMMANDS_H
#define SLUICE_HOST_COMMANDS_PUSH_COMMANDS_H

#include "api/call.h"

enum {
    PUSH_TAKES = 14, // rows of the table
};

// The arguments of Q.PUSH.SET.
extern const struct argument push_takes[PUSH_TAKES];

// The parsed arguments; borrowed from the words.
struct push_arguments {
    struct slice pattern, href;
    int64_t concurrency;
    int64_t timeout_us; // of a request
    int64_t report_us;  // how long the lease is renewed after a reply 202
    int64_t backoff_us; // for jobs without a backoff of their own
    int64_t failures;   // consecutive failures after which nothing is sent
    int64_t cooldown_us;
    int64_t free_attempts; // attempts after which a Retry-After counts as a retry
    bool fail_4xx;
    bool has_concurrency, has_timeout, has_report, has_backoff, has_failures, has_cooldown;
    bool has_free_attempts;
    struct slices headers, queues;
    struct slice secret, old_secret;
};

// The arguments of Q.PUSH.UNSET and Q.PUSH.TRY.
struct push_pattern_arguments {
    struct slice pattern;
};

// The functions of the commands Q.PUSH.SET, Q.PUSH.UNSET, Q.PUSH.TRY and Q.PUSHES.
struct push_service {
    enum status (*set)(struct call *call, struct error *error);
    enum status (*unset)(struct call *call, struct error *error);
    enum status (*attempt)(struct call *call, struct error *error);
    enum status (*show)(struct call *call, struct error *error);
};

#endif
