// SPDX-License-Identifier: MIT
#include "server/config/settings_table.h"

#include "host/limits.h"

#include <assert.h>

#define KIB    ((uint64_t)1 << 10)
#define MIB    ((uint64_t)1 << 20)
#define GIB    ((uint64_t)1 << 30)
#define MS     ((uint64_t)1000)
#define SECOND ((uint64_t)1000000)
#define HOUR   (3600 * SECOND)

// A macro, so that the rows of the table stay short.
#define AT(field) .offset = offsetof(struct settings, field)

#define ADDRESSES  "Addresses"
#define STORAGE    "Storage"
#define NAMESPACES "Namespaces"
#define LIMITS     "Limits"
#define TIMES      "Times"
#define EVENTS     "Events and metrics"
#define ACCESS     "Access"
#define PUSH       "Push"
#define TLS        "TLS"
#define REST       "Other"

// clang-format off
const struct setting settings_table[] = {
    { "listen", ADDRESSES, SETTING_ADDRESSES, 0, AT(listen), .initial = "127.0.0.1:7711",
      .value = "ADDRESS",
      .summary = "Where to listen: HOST:PORT, [IPV6]:PORT or unix:/path." },
    { "tls-listen", ADDRESSES, SETTING_ADDRESSES, 0, AT(tls_listen), .initial = "",
      .value = "ADDRESS",
      .summary = "Where to listen for connections under TLS." },
    { "http", ADDRESSES, SETTING_ADDRESS, 0, AT(http), .initial = "127.0.0.1:7712",
      .value = "ADDRESS",
      .summary = "Where HTTP is served; empty: nowhere." },
    { "tls-http", ADDRESSES, SETTING_ADDRESS, 0, AT(tls_http), .initial = "",
      .value = "ADDRESS",
      .summary = "Where HTTP is served under TLS." },
    { "grpc", ADDRESSES, SETTING_ADDRESS, 0, AT(grpc), .initial = "127.0.0.1:7713",
      .value = "ADDRESS",
      .summary = "Where gRPC is served, over HTTP/2 without TLS; empty: nowhere." },
    { "tls-grpc", ADDRESSES, SETTING_ADDRESS, 0, AT(tls_grpc), .initial = "",
      .value = "ADDRESS",
      .summary = "Where gRPC is served under TLS." },
    { "dashboard", ADDRESSES, SETTING_BOOLEAN, SETTING_RELOADS, AT(dashboard), .initial = "yes",
      .value = "yes|no",
      .summary = "Whether the dashboard is served over HTTP, at the path /." },

    { "data", STORAGE, SETTING_TEXT, 0, AT(data), .initial = "./sluice-data",
      .value = "FOLDER",
      .summary = "The folder in which everything is kept; under systemd the default is "
                 "$STATE_DIRECTORY." },
    { "durability", STORAGE, SETTING_DURABILITY, 0, AT(durability), .initial = "always",
      .value = "WHEN",
      .summary = "When a change is acknowledged: always (it is on disk), interval or interval:MS "
                 "(it is on disk at most so many milliseconds later, 100 by default), or never "
                 "(when it is on disk is up to the system)." },
    { "checkpoint-interval", STORAGE, SETTING_TIME, 0, AT(checkpoint_interval_us), 10 * MS, HOUR,
      .initial = "1s", .value = "TIME",
      .summary = "How far the base may be behind the journal when there is little to do." },
    { "segment-size", STORAGE, SETTING_SIZE, 0, AT(segment_size), 64 * KIB, GIB,
      .initial = "16MiB", .value = "SIZE",
      .summary = "The size of a journal file, a multiple of 4KiB; taken when the data folder is "
                 "made." },
    { "reserve-size", STORAGE, SETTING_SIZE, 0, AT(reserve_size), MIB, 64 * GIB,
      .initial = "32MiB", .value = "SIZE",
      .summary = "Disk space kept back, so that jobs can be completed when the disk is full." },

    { "create-namespaces", NAMESPACES, SETTING_BOOLEAN, SETTING_RELOADS, AT(create_namespaces),
      .initial = "yes", .value = "yes|no",
      .summary = "Whether a namespace is made when it is first used." },
    { "max-namespaces", NAMESPACES, SETTING_COUNT, SETTING_RELOADS, AT(max_namespaces), 1, 1000000,
      .initial = "1000", .value = "COUNT",
      .summary = "How many namespaces there may be." },
    { "allow-flush", NAMESPACES, SETTING_BOOLEAN, SETTING_RELOADS, AT(allow_flush),
      .initial = "no", .value = "yes|no",
      .summary = "Whether an administrator may delete all that is in a namespace with one "
                 "command." },
    { "qless-namespace", NAMESPACES, SETTING_NAME, 0, AT(qless_namespace), .initial = "qless",
      .value = "NAME",
      .summary = "The namespace that qless clients work in." },

    { "max-connections", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(max_connections), 1, 1000000,
      .initial = "10000", .value = "COUNT",
      .summary = "How many connections there may be. For a further one the oldest that is not "
                 "authenticated is closed." },
    { "reserved-connections", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(reserved_connections),
      0, 10000, .initial = "16", .value = "COUNT",
      .summary = "How many connections there may be beyond max-connections, for administrators and "
                 "for /healthz and /readyz." },
    { "max-connections-per-address", LIMITS, SETTING_COUNT, SETTING_RELOADS,
      AT(max_connections_per_address), 0, 1000000, .initial = "0", .value = "COUNT",
      .summary = "How many connections an address (of IPv6 a /64 network) may have; 0 for no limit, "
                 "as many clients may share an address behind a proxy. Not for Unix sockets." },
    { "max-connections-per-user", LIMITS, SETTING_COUNT, SETTING_RELOADS,
      AT(max_connections_per_user), 0, 1000000, .initial = "0", .value = "COUNT",
      .summary = "How many connections a user may have; 0 for no limit." },
    { "max-arguments", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(max_arguments), 16, 1048576,
      .initial = "16384", .value = "COUNT",
      .summary = "How many words a request may have." },
    { "max-payload", LIMITS, SETTING_SIZE, SETTING_RELOADS, AT(max_payload), MAX_PAYLOAD_MIN,
      MAX_PAYLOAD_MAX,
      .initial = "1MiB", .value = "SIZE",
      .summary = "How large a word of a request may be, and so a job's data or result." },
    { "max-request", LIMITS, SETTING_SIZE, SETTING_RELOADS, AT(max_request), 64 * KIB, 2 * GIB,
      .initial = "16MiB", .value = "SIZE",
      .summary = "How large a request may be in all." },
    { "max-output", LIMITS, SETTING_SIZE, SETTING_RELOADS, AT(max_output), 64 * KIB, 16 * GIB,
      .initial = "64MiB", .value = "SIZE",
      .summary = "How much a connection may leave unread before it is closed." },
    { "max-unread", LIMITS, SETTING_SIZE, SETTING_RELOADS, AT(max_unread), 16 * KIB, GIB,
      .initial = "1MiB", .value = "SIZE",
      .summary = "With so many bytes of replies unread (at most half of max-output), no further "
                 "request of a connection is run until its client reads, and no more than so many "
                 "bytes of requests are kept for it. One reply may be larger. A client that is "
                 "not authenticated has 32KiB." },
    { "max-pipeline", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(max_pipeline), 1, 1000000,
      .initial = "10000", .value = "COUNT",
      .summary = "How many requests of a connection may be without an answer; until there is one "
                 "no further ones are read. Also how many may be kept between MULTI and EXEC." },
    { "grpc-max-calls", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(grpc_max_calls), 1, 100000,
      .initial = "1000", .value = "COUNT",
      .summary = "How many calls of gRPC a connection may have under way at once; new connections "
                 "are told." },
    { "max-subscriptions", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(max_subscriptions), 1,
      1000000, .initial = "10000", .value = "COUNT",
      .summary = "How many channels and patterns a connection may be subscribed to." },
    { "max-patterns", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(max_patterns), 0, 10000,
      .initial = "100", .value = "COUNT",
      .summary = "How many of the subscriptions of a connection may be to patterns." },
    { "max-patterns-total", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(max_patterns_total), 0,
      100000, .initial = "10000", .value = "COUNT",
      .summary = "How many subscriptions to patterns all connections may have together." },
    { "max-backlog", LIMITS, SETTING_SIZE, 0, AT(max_backlog), MIB, 16 * GIB,
      .initial = "64MiB", .value = "SIZE",
      .summary = "How much may wait for the disk; with more, no requests are run until it has "
                 "caught up." },
    { "max-memory", LIMITS, SETTING_SIZE, SETTING_RELOADS | SETTING_NONE | SETTING_AUTO,
      AT(max_memory), 16 * MIB, 1024 * (1024 * GIB), .initial = "auto", .value = "SIZE",
      .summary = "How much memory the server may use before commands that add something are "
                 "refused with NO_MEMORY; jobs can still be popped, completed, failed, canceled "
                 "and deleted. auto: 80 % of the machine's memory, or of the control group's if "
                 "that is less." },
    { "max-jobs-per-namespace", LIMITS, SETTING_COUNT, SETTING_RELOADS | SETTING_NONE,
      AT(quotas.jobs), 1, (uint64_t)1 << 40, .initial = "none", .value = "COUNT",
      .summary = "How many jobs that are not complete a namespace may have; its option max-jobs "
                 "takes precedence." },
    { "max-bytes-per-namespace", LIMITS, SETTING_SIZE, SETTING_RELOADS | SETTING_NONE,
      AT(quotas.bytes), 1, (uint64_t)1 << 50, .initial = "none", .value = "SIZE",
      .summary = "How many bytes of data the jobs of a namespace that are not complete may have; "
                 "its option max-bytes takes precedence." },
    { "max-queues-per-namespace", LIMITS, SETTING_COUNT, SETTING_RELOADS | SETTING_NONE,
      AT(quotas.queues), 1, (uint64_t)1 << 40, .initial = "100000", .value = "COUNT",
      .summary = "How many queues a namespace may have; its option max-queues takes "
                 "precedence." },
    { "max-recurring-per-namespace", LIMITS, SETTING_COUNT, SETTING_RELOADS | SETTING_NONE,
      AT(quotas.recurring), 1, (uint64_t)1 << 40, .initial = "100000", .value = "COUNT",
      .summary = "How many recurring jobs a namespace may have; its option max-recurring takes "
                 "precedence." },
    { "min-recurring-interval", LIMITS, SETTING_TIME, SETTING_RELOADS | SETTING_NEVER,
      AT(quotas.interval_us), 1, 24 * HOUR, .initial = "100ms", .value = "TIME",
      .summary = "The shortest interval of a recurring job; a namespace's option min-interval "
                 "takes precedence. 0 for none." },
    { "max-jobs-per-queue", LIMITS, SETTING_COUNT, SETTING_RELOADS | SETTING_NONE,
      AT(quotas.queue_jobs), 1, (uint64_t)1 << 40, .initial = "none", .value = "COUNT",
      .summary = "How many jobs that are not complete a queue may have; the option "
                 "QUEUE-max-jobs of its namespace takes precedence." },
    { "max-bytes-per-queue", LIMITS, SETTING_SIZE, SETTING_RELOADS | SETTING_NONE,
      AT(quotas.queue_bytes), 1, (uint64_t)1 << 50, .initial = "none", .value = "SIZE",
      .summary = "How many bytes of data the jobs of a queue that are not complete may have; the "
                 "option QUEUE-max-bytes of its namespace takes precedence." },

    { "max-users", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(max_users), 0, 100000,
      .initial = "1000", .value = "COUNT",
      .summary = "How many users may be stored by Q.USER.SET." },
    { "max-logins", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(max_logins), 1, 60000,
      .initial = "1000", .value = "COUNT",
      .summary = "How many logins may wait for the check of their password. When there are more, "
                 "one from the address with the most failed logins is refused." },
    { "max-logins-address", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(max_logins_address), 1,
      60000, .initial = "100", .value = "COUNT",
      .summary = "How many of these may come from one address; the /64 network of an IPv6 address "
                 "counts as one." },

    { "idle-timeout", TIMES, SETTING_TIME, SETTING_RELOADS | SETTING_NEVER, AT(idle_timeout_us),
      SECOND, HOUR * 24 * 365, .initial = "0", .value = "TIME",
      .summary = "After what time without a request a connection is closed; 0 for never." },
    { "auth-timeout", TIMES, SETTING_TIME, SETTING_RELOADS | SETTING_NEVER, AT(auth_timeout_us),
      100 * MS, HOUR, .initial = "10s", .value = "TIME",
      .summary = "How long a connection may take to say who it is; 0 for ever." },
    { "http-request-timeout", TIMES, SETTING_TIME, SETTING_RELOADS, AT(http_request_timeout_us),
      SECOND, HOUR, .initial = "30s", .value = "TIME",
      .summary = "How long a request of HTTP may take to come; with a body a second more for each "
                 "16KiB of it." },
    { "http-idle-timeout", TIMES, SETTING_TIME, SETTING_RELOADS, AT(http_idle_timeout_us),
      SECOND, HOUR, .initial = "75s", .value = "TIME",
      .summary = "How long a connection of HTTP is kept between requests." },
    { "grpc-min-ping", TIMES, SETTING_TIME, SETTING_RELOADS | SETTING_NEVER, AT(grpc_min_ping_us),
      100 * MS, HOUR, .initial = "10s", .value = "TIME",
      .summary = "How much time a client of gRPC must leave between two pings. A connection that "
                 "pings sooner three times without a call in between is closed with "
                 "too_many_pings. 0 for no limit." },
    { "tcp-keepalive", TIMES, SETTING_TIME, SETTING_RELOADS | SETTING_NEVER, AT(tcp_keepalive_us),
      SECOND, 9 * HOUR, .initial = "60s", .value = "TIME",
      .summary = "After what time of silence the other side is asked whether it is still there; "
                 "after one and a half times as long without an answer, or without taking what it "
                 "is sent, it is gone. 0 for never." },
    { "stop-timeout", TIMES, SETTING_TIME, SETTING_RELOADS | SETTING_NEVER, AT(stop_timeout_us),
      100 * MS, HOUR, .initial = "10s", .value = "TIME",
      .summary = "How long requests that are under way may take to finish when the server is "
                 "stopped; 0 to stop at once." },

    { "turn-time", TIMES, SETTING_TIME, SETTING_RELOADS, AT(turn_time_us), 500, SECOND,
      .initial = "5ms", .value = "TIME",
      .summary = "How long the server works on requests before it looks for new ones; a "
                 "connection with much to do gives way to others after a fifth of this." },
    { "slow-command", TIMES, SETTING_TIME, SETTING_RELOADS | SETTING_NEVER, AT(slow_command_us),
      1, HOUR, .initial = "10ms", .value = "TIME",
      .summary = "A command that takes at least so long to run is logged and shown by SLOWLOG; 0 "
                 "for none." },
    { "slow-commands-kept", TIMES, SETTING_COUNT, SETTING_RELOADS, AT(slow_commands_kept), 0, 10000,
      .initial = "128", .value = "COUNT",
      .summary = "How many slow commands SLOWLOG shows." },

    { "events-kept", EVENTS, SETTING_COUNT, 0, AT(events_kept), 1, 1000000,
      .initial = "1024", .value = "COUNT",
      .summary = "How many events of a namespace are kept for listeners of HTTP that come back." },
    { "audit-kept", EVENTS, SETTING_COUNT, 0, AT(audit_kept), 1, 1000000,
      .initial = "10000", .value = "COUNT",
      .summary = "How many administrative acts are kept in memory for Q.AUDIT, how many acts on "
                 "single jobs, and how many refusals." },
    { "events-kept-for", EVENTS, SETTING_TIME, SETTING_RELOADS, AT(events_kept_for_us),
      SECOND, 24 * HOUR, .initial = "300s", .value = "TIME",
      .summary = "How long events are kept after the last listener of a namespace has gone." },
    { "events-heartbeat", EVENTS, SETTING_TIME, SETTING_RELOADS, AT(events_heartbeat_us),
      SECOND, HOUR, .initial = "15s", .value = "TIME",
      .summary = "After what time of silence a listener of HTTP is told that the server is still "
                 "there." },
    { "events-retry", EVENTS, SETTING_TIME, SETTING_RELOADS, AT(events_retry_us), 100000,
      HOUR, .initial = "3s", .value = "TIME",
      .summary = "How long a listener of HTTP that was disconnected should wait before it connects "
                 "again (retry in event streams)." },
    { "metrics-open", EVENTS, SETTING_BOOLEAN, SETTING_RELOADS, AT(metrics_open),
      .initial = "no", .value = "yes|no",
      .summary = "Whether /metrics needs no authentication; otherwise it needs a user with the "
                 "right to read every namespace." },
    { "metrics-namespaces", EVENTS, SETTING_COUNT, SETTING_RELOADS, AT(metrics_namespaces),
      1, 10000, .initial = "100", .value = "COUNT",
      .summary = "How many namespaces /metrics tells by name; the others are added up." },
    { "metrics-queues", EVENTS, SETTING_COUNT, SETTING_RELOADS, AT(metrics_queues), 0, 10000,
      .initial = "100", .value = "COUNT",
      .summary = "How many queues, and how many pushes, of all namespaces /metrics tells by name; "
                 "the others are added up." },

    { "metrics-details", EVENTS, SETTING_COUNT, SETTING_RELOADS, AT(metrics_details), 0, 1000,
      .initial = "100", .value = "COUNT",
      .summary = "How many of the queues that /metrics tells by name have histograms and priorities "
                 "of their own; those of the others are added up." },

    { "password", ACCESS, SETTING_PASSWORD, SETTING_RELOADS, AT(password), .initial = "",
      .value = "PASSWORD",
      .summary = "The password of the user default, who has every right; plain, or a hash as "
                 "--hash-password prints it." },
    { "user", ACCESS, SETTING_USERS, SETTING_RELOADS, AT(user), .initial = "",
      .value = "'NAME PASSWORD RIGHTS...'",
      .summary = "A user, with a password as above and rights on namespaces: app:write, "
                 "team-*:read or *:admin." },
    { "http-origins", ACCESS, SETTING_TEXTS, SETTING_RELOADS, AT(http_origins), .initial = "",
      .value = "ORIGIN",
      .summary = "Whose pages may ask over HTTP from a browser: https://ops.example.com, or * for "
                 "all; without any, none but the server's own." },

    { "max-sessions", ACCESS, SETTING_COUNT, SETTING_RELOADS, AT(max_sessions), 1, 100000,
      .initial = "1000", .value = "COUNT",
      .summary = "How many sessions of the dashboard there may be; with more, the least recently "
                 "used one ends." },
    { "session-idle-timeout", ACCESS, SETTING_TIME, SETTING_RELOADS, AT(session_idle_timeout_us),
      SECOND, 8760 * HOUR, .initial = "7200s", .value = "TIME",
      .summary = "After what time without a request a session ends." },
    { "session-timeout", ACCESS, SETTING_TIME, SETTING_RELOADS, AT(session_timeout_us), SECOND,
      8760 * HOUR, .initial = "86400s", .value = "TIME",
      .summary = "After what time a session ends in any case." },

    { "push", PUSH, SETTING_PUSHES, SETTING_RELOADS, AT(push), .initial = "",
      .value = "'NAMESPACE KLASS HREF [OPTION VALUE]...'",
      .summary = "Where jobs of a klass (or a pattern with *) are pushed to, with the options of "
                 "Q.PUSH.SET." },
    { "push-allow-private", PUSH, SETTING_BOOLEAN, SETTING_RELOADS, AT(push_allow_private),
      .initial = "no", .value = "yes|no",
      .summary = "Whether jobs may be pushed to private, loopback and link-local addresses." },
    { "push-ca", PUSH, SETTING_TEXT, SETTING_RELOADS, AT(push_ca), .initial = "", .value = "FILE",
      .summary = "The authorities whose certificates HTTP workers show, in PEM; empty: those that "
                 "the system trusts." },
    { "max-pushes", PUSH, SETTING_COUNT, SETTING_RELOADS, AT(max_pushes), 1, 100000,
      .initial = "5000", .value = "COUNT",
      .summary = "How many requests to workers may be under way in all." },
    { "push-error-size", PUSH, SETTING_SIZE, SETTING_RELOADS, AT(push_error_size), 0, 1 * MIB,
      .initial = "64KiB", .value = "SIZE",
      .summary = "How much of an HTTP worker's answer that is no success is kept with the job, as "
                 "the message of its failure; of a larger one the beginning." },

    { "tls-cert", TLS, SETTING_TEXT, SETTING_RELOADS, AT(tls_cert), .initial = "",
      .value = "FILE",
      .summary = "The server's certificate and those between it and the authority, in PEM." },
    { "tls-key", TLS, SETTING_TEXT, SETTING_RELOADS, AT(tls_key), .initial = "",
      .value = "FILE",
      .summary = "The key of the certificate, in PEM." },
    { "tls-ca", TLS, SETTING_TEXT, SETTING_RELOADS, AT(tls_ca), .initial = "",
      .value = "FILE",
      .summary = "The authority of the clients' certificates, in PEM; when it is set, every "
                 "client must show one." },
    { "tls-crl", TLS, SETTING_TEXT, SETTING_RELOADS, AT(tls_crl), .initial = "",
      .value = "FILE",
      .summary = "Lists of revoked certificates, in PEM, one of each authority in tls-ca; a client "
                 "whose certificate is in one of them, or whose authority has no valid list, is "
                 "refused." },
    { "tls-client-names", TLS, SETTING_TEXTS, SETTING_RELOADS, AT(tls_client_names), .initial = "",
      .value = "NAME",
      .summary = "A name that a client's certificate may have; without any, all names." },
    { "tls-client-users", TLS, SETTING_BOOLEAN, SETTING_RELOADS, AT(tls_client_users),
      .initial = "no", .value = "yes|no",
      .summary = "Whether the common name of a client's certificate is its user, who is logged in "
                 "without a password; needs tls-ca." },

    { "config", REST, SETTING_TEXT, SETTING_NO_FILE, AT(config), .initial = "",
      .value = "FILE",
      .summary = "The config file, with a setting on each line: its name and its value." },
    { "log-level", REST, SETTING_LEVEL, SETTING_RELOADS, AT(log_level), .initial = "info",
      .value = "LEVEL",
      .summary = "What is logged: debug, info, warning or error, and all that is graver. debug "
                 "also logs each connection and each command, without its arguments." },
    { "log-rate", REST, SETTING_COUNT, SETTING_RELOADS, AT(log_rate), 0, 1000000,
      .initial = "10", .value = "COUNT",
      .summary = "How many lines a second of one kind are logged; the number of further ones is "
                 "logged instead. 0 for no limit." },
    { "log-burst", REST, SETTING_COUNT, SETTING_RELOADS, AT(log_burst), 1, 1000000,
      .initial = "20", .value = "COUNT",
      .summary = "How many lines of one kind are logged at once before log-rate applies." },
    { "log-buffer", REST, SETTING_SIZE, 0, AT(log_buffer), 4 * KIB, 64 * MIB,
      .initial = "256KiB", .value = "SIZE",
      .summary = "How much of the log is kept in memory while standard error accepts nothing; "
                 "further lines are dropped and counted." },
};
// clang-format on

const size_t settings_count = sizeof(settings_table) / sizeof(settings_table[0]);

static_assert(sizeof(settings_table) / sizeof(settings_table[0]) <= SETTINGS_COUNT_MAX,
              "struct settings has a source for each row");
