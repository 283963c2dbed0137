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
      .summary = "Accepts RESP connections on this address: HOST:PORT, [IPV6]:PORT or "
                 "unix:/path." },
    { "tls-listen", ADDRESSES, SETTING_ADDRESSES, 0, AT(tls_listen), .initial = "",
      .value = "ADDRESS",
      .summary = "Accepts RESP connections under TLS on this address." },
    { "http", ADDRESSES, SETTING_ADDRESS, 0, AT(http), .initial = "127.0.0.1:7712",
      .value = "ADDRESS",
      .summary = "Serves HTTP on this address; an empty address disables it." },
    { "tls-http", ADDRESSES, SETTING_ADDRESS, 0, AT(tls_http), .initial = "",
      .value = "ADDRESS",
      .summary = "Serves HTTP under TLS on this address." },
    { "grpc", ADDRESSES, SETTING_ADDRESS, 0, AT(grpc), .initial = "127.0.0.1:7713",
      .value = "ADDRESS",
      .summary = "Serves gRPC (HTTP/2 without TLS) on this address; an empty address disables "
                 "it." },
    { "tls-grpc", ADDRESSES, SETTING_ADDRESS, 0, AT(tls_grpc), .initial = "",
      .value = "ADDRESS",
      .summary = "Serves gRPC under TLS on this address." },
    { "dashboard", ADDRESSES, SETTING_BOOLEAN, SETTING_RELOADS, AT(dashboard), .initial = "yes",
      .value = "yes|no",
      .summary = "Serves the dashboard over HTTP, at the path /." },

    { "data", STORAGE, SETTING_TEXT, 0, AT(data), .initial = "./sluice-data",
      .value = "FOLDER",
      .summary = "Keeps all data in this folder. Under systemd the default is $STATE_DIRECTORY." },
    { "durability", STORAGE, SETTING_DURABILITY, 0, AT(durability), .initial = "always",
      .value = "WHEN",
      .summary = "Sets when a change is acknowledged: always (when it is on disk), interval or "
                 "interval:MS (at once; it is on disk at most that many milliseconds later, 100 "
                 "by default), or never (at once; the system decides when it is on disk)." },
    { "checkpoint-interval", STORAGE, SETTING_TIME, 0, AT(checkpoint_interval_us), 10 * MS, HOUR,
      .initial = "1s", .value = "TIME",
      .summary = "Sets how far the base may be behind the journal when the server has little to "
                 "do." },
    { "segment-size", STORAGE, SETTING_SIZE, 0, AT(segment_size), 64 * KIB, GIB,
      .initial = "16MiB", .value = "SIZE",
      .summary = "Sets the size of a journal file, a multiple of 4KiB. It applies when the data "
                 "folder is created." },
    { "reserve-size", STORAGE, SETTING_SIZE, 0, AT(reserve_size), MIB, 64 * GIB,
      .initial = "32MiB", .value = "SIZE",
      .summary = "Reserves disk space, so that jobs can be completed when the disk is full." },

    { "create-namespaces", NAMESPACES, SETTING_BOOLEAN, SETTING_RELOADS, AT(create_namespaces),
      .initial = "yes", .value = "yes|no",
      .summary = "Creates a namespace when it is first used." },
    { "max-namespaces", NAMESPACES, SETTING_COUNT, SETTING_RELOADS, AT(max_namespaces), 1, 1000000,
      .initial = "1000", .value = "COUNT",
      .summary = "Limits the number of namespaces." },
    { "allow-flush", NAMESPACES, SETTING_BOOLEAN, SETTING_RELOADS, AT(allow_flush),
      .initial = "no", .value = "yes|no",
      .summary = "Allows an administrator to delete everything in a namespace with one command "
                 "(FLUSHDB, FLUSHALL)." },
    { "qless-namespace", NAMESPACES, SETTING_NAME, 0, AT(qless_namespace), .initial = "qless",
      .value = "NAME",
      .summary = "Names the namespace of qless clients." },

    { "max-connections", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(max_connections), 1, 1000000,
      .initial = "10000", .value = "COUNT",
      .summary = "Limits the connections. When all are in use, a new connection replaces the "
                 "oldest one that is not authenticated." },
    { "reserved-connections", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(reserved_connections),
      0, 10000, .initial = "16", .value = "COUNT",
      .summary = "Reserves connections beyond max-connections for administrators, /healthz and "
                 "/readyz." },
    { "max-connections-per-address", LIMITS, SETTING_COUNT, SETTING_RELOADS,
      AT(max_connections_per_address), 0, 1000000, .initial = "0", .value = "COUNT",
      .summary = "Limits the connections from one address (of IPv6: a /64 network); 0 for no "
                 "limit, because many clients can share an address behind a proxy. It does not "
                 "apply to Unix sockets." },
    { "max-connections-per-user", LIMITS, SETTING_COUNT, SETTING_RELOADS,
      AT(max_connections_per_user), 0, 1000000, .initial = "0", .value = "COUNT",
      .summary = "Limits the connections of one user; 0 for no limit." },
    { "max-arguments", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(max_arguments), 16, 1048576,
      .initial = "16384", .value = "COUNT",
      .summary = "Limits the arguments of a request." },
    { "max-payload", LIMITS, SETTING_SIZE, SETTING_RELOADS, AT(max_payload), MAX_PAYLOAD_MIN,
      MAX_PAYLOAD_MAX,
      .initial = "1MiB", .value = "SIZE",
      .summary = "Limits the size of one argument, and so of a job's data or result." },
    { "max-request", LIMITS, SETTING_SIZE, SETTING_RELOADS, AT(max_request), 64 * KIB, 2 * GIB,
      .initial = "16MiB", .value = "SIZE",
      .summary = "Limits the size of a whole request." },
    { "max-output", LIMITS, SETTING_SIZE, SETTING_RELOADS, AT(max_output), 64 * KIB, 16 * GIB,
      .initial = "64MiB", .value = "SIZE",
      .summary = "Limits the size of one reply, and the unread bytes with which a connection is "
                 "closed." },
    { "max-unread", LIMITS, SETTING_SIZE, SETTING_RELOADS, AT(max_unread), 16 * KIB, GIB,
      .initial = "1MiB", .value = "SIZE",
      .summary = "Limits the unread bytes of replies of a connection (at most half of "
                 "max-output). Above it the server runs no further request of that connection "
                 "until the client reads, and keeps at most this many bytes of its requests. One "
                 "reply may be larger. Before authentication the limit is 32KiB." },
    { "max-pipeline", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(max_pipeline), 1, 1000000,
      .initial = "10000", .value = "COUNT",
      .summary = "Limits the requests of a connection that wait for a reply; further ones are "
                 "not read until then. Also limits the commands between MULTI and EXEC." },
    { "grpc-max-calls", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(grpc_max_calls), 1, 100000,
      .initial = "1000", .value = "COUNT",
      .summary = "Limits the gRPC calls in progress on a connection. A change applies to new "
                 "connections." },
    { "max-subscriptions", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(max_subscriptions), 1,
      1000000, .initial = "10000", .value = "COUNT",
      .summary = "Limits the channels and patterns that a connection is subscribed to." },
    { "max-patterns", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(max_patterns), 0, 10000,
      .initial = "100", .value = "COUNT",
      .summary = "Limits the patterns that a connection is subscribed to." },
    { "max-patterns-total", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(max_patterns_total), 0,
      100000, .initial = "10000", .value = "COUNT",
      .summary = "Limits the subscriptions to patterns of all connections together." },
    { "max-backlog", LIMITS, SETTING_SIZE, 0, AT(max_backlog), MIB, 16 * GIB,
      .initial = "64MiB", .value = "SIZE",
      .summary = "Limits the bytes that wait for the disk. Above it no requests run until the "
                 "disk has caught up." },
    { "max-memory", LIMITS, SETTING_SIZE, SETTING_RELOADS | SETTING_NONE | SETTING_AUTO,
      AT(max_memory), 16 * MIB, 1024 * (1024 * GIB), .initial = "auto", .value = "SIZE",
      .summary = "Limits the memory of the server. Above it, commands that add something are "
                 "rejected with NO_MEMORY; jobs can still be popped, completed, failed, canceled "
                 "and deleted. auto: 80 % of the machine's memory, or of the control group's "
                 "limit if that is less." },
    { "max-jobs-per-namespace", LIMITS, SETTING_COUNT, SETTING_RELOADS | SETTING_NONE,
      AT(quotas.jobs), 1, (uint64_t)1 << 40, .initial = "none", .value = "COUNT",
      .summary = "Limits the jobs of a namespace that are not complete. The namespace's option "
                 "max-jobs takes precedence." },
    { "max-bytes-per-namespace", LIMITS, SETTING_SIZE, SETTING_RELOADS | SETTING_NONE,
      AT(quotas.bytes), 1, (uint64_t)1 << 50, .initial = "none", .value = "SIZE",
      .summary = "Limits the bytes of data of the jobs of a namespace that are not complete. The "
                 "namespace's option max-bytes takes precedence." },
    { "max-queues-per-namespace", LIMITS, SETTING_COUNT, SETTING_RELOADS | SETTING_NONE,
      AT(quotas.queues), 1, (uint64_t)1 << 40, .initial = "100000", .value = "COUNT",
      .summary = "Limits the queues of a namespace. The namespace's option max-queues takes "
                 "precedence." },
    { "max-recurring-per-namespace", LIMITS, SETTING_COUNT, SETTING_RELOADS | SETTING_NONE,
      AT(quotas.recurring), 1, (uint64_t)1 << 40, .initial = "100000", .value = "COUNT",
      .summary = "Limits the recurring jobs of a namespace. The namespace's option max-recurring "
                 "takes precedence." },
    { "min-recurring-interval", LIMITS, SETTING_TIME, SETTING_RELOADS | SETTING_NEVER,
      AT(quotas.interval_us), 1, 24 * HOUR, .initial = "100ms", .value = "TIME",
      .summary = "Sets the shortest interval of a recurring job; 0 for no minimum. The "
                 "namespace's option min-interval takes precedence." },
    { "max-jobs-per-queue", LIMITS, SETTING_COUNT, SETTING_RELOADS | SETTING_NONE,
      AT(quotas.queue_jobs), 1, (uint64_t)1 << 40, .initial = "none", .value = "COUNT",
      .summary = "Limits the jobs of a queue that are not complete. The namespace's option "
                 "QUEUE-max-jobs takes precedence." },
    { "max-bytes-per-queue", LIMITS, SETTING_SIZE, SETTING_RELOADS | SETTING_NONE,
      AT(quotas.queue_bytes), 1, (uint64_t)1 << 50, .initial = "none", .value = "SIZE",
      .summary = "Limits the bytes of data of the jobs of a queue that are not complete. The "
                 "namespace's option QUEUE-max-bytes takes precedence." },

    { "max-users", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(max_users), 0, 100000,
      .initial = "1000", .value = "COUNT",
      .summary = "Limits the users that Q.USER.SET stores." },
    { "max-logins", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(max_logins), 1, 60000,
      .initial = "1000", .value = "COUNT",
      .summary = "Limits the logins that wait for the check of their password. When there are "
                 "more, one from the address with the most failed logins is rejected." },
    { "max-logins-address", LIMITS, SETTING_COUNT, SETTING_RELOADS, AT(max_logins_address), 1,
      60000, .initial = "100", .value = "COUNT",
      .summary = "Limits the waiting logins from one address; the /64 network of an IPv6 address "
                 "counts as one address." },

    { "idle-timeout", TIMES, SETTING_TIME, SETTING_RELOADS | SETTING_NEVER, AT(idle_timeout_us),
      SECOND, HOUR * 24 * 365, .initial = "0", .value = "TIME",
      .summary = "Closes a connection after this time without a request; 0 for never." },
    { "auth-timeout", TIMES, SETTING_TIME, SETTING_RELOADS | SETTING_NEVER, AT(auth_timeout_us),
      100 * MS, HOUR, .initial = "10s", .value = "TIME",
      .summary = "Limits the time that a connection may take to authenticate; 0 for no limit." },
    { "http-request-timeout", TIMES, SETTING_TIME, SETTING_RELOADS, AT(http_request_timeout_us),
      SECOND, HOUR, .initial = "30s", .value = "TIME",
      .summary = "Limits the time in which an HTTP request must arrive; one second is added for "
                 "each 16KiB of its body." },
    { "http-idle-timeout", TIMES, SETTING_TIME, SETTING_RELOADS, AT(http_idle_timeout_us),
      SECOND, HOUR, .initial = "75s", .value = "TIME",
      .summary = "Closes an HTTP connection after this time without a request." },
    { "grpc-min-ping", TIMES, SETTING_TIME, SETTING_RELOADS | SETTING_NEVER, AT(grpc_min_ping_us),
      100 * MS, HOUR, .initial = "10s", .value = "TIME",
      .summary = "Sets the shortest time between two pings of a gRPC client. A connection that "
                 "pings sooner three times without a call in between is closed with "
                 "too_many_pings. 0 for no minimum." },
    { "tcp-keepalive", TIMES, SETTING_TIME, SETTING_RELOADS | SETTING_NEVER, AT(tcp_keepalive_us),
      SECOND, 9 * HOUR, .initial = "60s", .value = "TIME",
      .summary = "Sends a TCP keepalive probe after this time without data. A connection that "
                 "does not reply, or takes no data that is sent to it, is closed after one and a "
                 "half times this time. 0 for never." },
    { "stop-timeout", TIMES, SETTING_TIME, SETTING_RELOADS | SETTING_NEVER, AT(stop_timeout_us),
      100 * MS, HOUR, .initial = "10s", .value = "TIME",
      .summary = "Limits the time for requests in progress when the server stops; 0 to stop at "
                 "once." },

    { "turn-time", TIMES, SETTING_TIME, SETTING_RELOADS, AT(turn_time_us), 500, SECOND,
      .initial = "5ms", .value = "TIME",
      .summary = "Sets how long the server runs requests before it looks for new ones. A "
                 "connection with many requests yields to others after a fifth of this time." },
    { "slow-command", TIMES, SETTING_TIME, SETTING_RELOADS | SETTING_NEVER, AT(slow_command_us),
      1, HOUR, .initial = "10ms", .value = "TIME",
      .summary = "Logs a command that takes at least this long, and shows it in SLOWLOG; 0 for "
                 "none." },
    { "slow-commands-kept", TIMES, SETTING_COUNT, SETTING_RELOADS, AT(slow_commands_kept), 0, 10000,
      .initial = "128", .value = "COUNT",
      .summary = "Sets how many slow commands SLOWLOG shows." },

    { "events-kept", EVENTS, SETTING_COUNT, 0, AT(events_kept), 1, 1000000,
      .initial = "1024", .value = "COUNT",
      .summary = "Sets how many events of a namespace are kept for HTTP listeners that connect "
                 "again." },
    { "audit-kept", EVENTS, SETTING_COUNT, 0, AT(audit_kept), 1, 1000000,
      .initial = "10000", .value = "COUNT",
      .summary = "Sets how many entries Q.AUDIT keeps in memory: that many administrative "
                 "actions, that many actions on single jobs, and that many rejections." },
    { "events-kept-for", EVENTS, SETTING_TIME, SETTING_RELOADS, AT(events_kept_for_us),
      SECOND, 24 * HOUR, .initial = "300s", .value = "TIME",
      .summary = "Sets how long events are kept after the last listener of a namespace has "
                 "disconnected." },
    { "events-heartbeat", EVENTS, SETTING_TIME, SETTING_RELOADS, AT(events_heartbeat_us),
      SECOND, HOUR, .initial = "15s", .value = "TIME",
      .summary = "Sends a comment line to an HTTP listener after this time without an event." },
    { "events-retry", EVENTS, SETTING_TIME, SETTING_RELOADS, AT(events_retry_us), 100000,
      HOUR, .initial = "3s", .value = "TIME",
      .summary = "Sets how long a disconnected HTTP listener waits before it connects again "
                 "(retry in event streams)." },
    { "metrics-open", EVENTS, SETTING_BOOLEAN, SETTING_RELOADS, AT(metrics_open),
      .initial = "no", .value = "yes|no",
      .summary = "Serves /metrics without authentication. Otherwise it requires a user with the "
                 "right to read every namespace." },
    { "metrics-namespaces", EVENTS, SETTING_COUNT, SETTING_RELOADS, AT(metrics_namespaces),
      1, 10000, .initial = "100", .value = "COUNT",
      .summary = "Limits the namespaces that have lines of their own in /metrics; the others are "
                 "added up." },
    { "metrics-queues", EVENTS, SETTING_COUNT, SETTING_RELOADS, AT(metrics_queues), 0, 10000,
      .initial = "100", .value = "COUNT",
      .summary = "Limits the queues, and the pushes, of all namespaces that have lines of their "
                 "own in /metrics; the others are added up." },

    { "metrics-details", EVENTS, SETTING_COUNT, SETTING_RELOADS, AT(metrics_details), 0, 1000,
      .initial = "100", .value = "COUNT",
      .summary = "Limits the queues that have histograms and priorities of their own in "
                 "/metrics; those of the others are added up." },

    { "password", ACCESS, SETTING_PASSWORD, SETTING_RELOADS, AT(password), .initial = "",
      .value = "PASSWORD",
      .summary = "Sets the password of the user default, which has every right: plain text, or a "
                 "hash as --hash-password prints it." },
    { "user", ACCESS, SETTING_USERS, SETTING_RELOADS, AT(user), .initial = "",
      .value = "'NAME PASSWORD RIGHTS...'",
      .summary = "Adds a user, with a password as above and rights on namespaces: app:write, "
                 "team-*:read or *:admin." },
    { "http-origins", ACCESS, SETTING_TEXTS, SETTING_RELOADS, AT(http_origins), .initial = "",
      .value = "ORIGIN",
      .summary = "Lists the origins whose pages may send requests from a browser: "
                 "https://ops.example.com, or * for all. Pages of the server itself always may." },

    { "max-sessions", ACCESS, SETTING_COUNT, SETTING_RELOADS, AT(max_sessions), 1, 100000,
      .initial = "1000", .value = "COUNT",
      .summary = "Limits the sessions of the dashboard. With more, the least recently used one "
                 "ends." },
    { "session-idle-timeout", ACCESS, SETTING_TIME, SETTING_RELOADS, AT(session_idle_timeout_us),
      SECOND, 8760 * HOUR, .initial = "7200s", .value = "TIME",
      .summary = "Ends a session after this time without a request." },
    { "session-timeout", ACCESS, SETTING_TIME, SETTING_RELOADS, AT(session_timeout_us), SECOND,
      8760 * HOUR, .initial = "86400s", .value = "TIME",
      .summary = "Ends a session after this time in any case." },

    { "push", PUSH, SETTING_PUSHES, SETTING_RELOADS, AT(push), .initial = "",
      .value = "'NAMESPACE KLASS HREF [OPTION VALUE]...'",
      .summary = "Pushes jobs of a klass, or of a pattern with *, to a URL, with the options of "
                 "Q.PUSH.SET." },
    { "push-allow-private", PUSH, SETTING_BOOLEAN, SETTING_RELOADS, AT(push_allow_private),
      .initial = "no", .value = "yes|no",
      .summary = "Allows pushes to private, loopback and link-local addresses." },
    { "push-ca", PUSH, SETTING_TEXT, SETTING_RELOADS, AT(push_ca), .initial = "", .value = "FILE",
      .summary = "Names the certificate authorities of HTTP workers, in PEM; empty: those that "
                 "the system trusts." },
    { "max-pushes", PUSH, SETTING_COUNT, SETTING_RELOADS, AT(max_pushes), 1, 100000,
      .initial = "5000", .value = "COUNT",
      .summary = "Limits the push requests in progress." },
    { "push-error-size", PUSH, SETTING_SIZE, SETTING_RELOADS, AT(push_error_size), 0, 1 * MIB,
      .initial = "64KiB", .value = "SIZE",
      .summary = "Limits the part of an HTTP worker's error response that is kept as the message "
                 "of the job's failure. Of a longer response the beginning is kept." },

    { "tls-cert", TLS, SETTING_TEXT, SETTING_RELOADS, AT(tls_cert), .initial = "",
      .value = "FILE",
      .summary = "Names the file with the server's certificate and its intermediate "
                 "certificates, in PEM." },
    { "tls-key", TLS, SETTING_TEXT, SETTING_RELOADS, AT(tls_key), .initial = "",
      .value = "FILE",
      .summary = "Names the file with the private key of the certificate, in PEM." },
    { "tls-ca", TLS, SETTING_TEXT, SETTING_RELOADS, AT(tls_ca), .initial = "",
      .value = "FILE",
      .summary = "Names the certificate authority of clients, in PEM. If it is set, every client "
                 "must present a certificate." },
    { "tls-crl", TLS, SETTING_TEXT, SETTING_RELOADS, AT(tls_crl), .initial = "",
      .value = "FILE",
      .summary = "Names the certificate revocation lists, in PEM, one for each authority in "
                 "tls-ca. A client whose certificate is revoked, or whose authority has no valid "
                 "list, is rejected." },
    { "tls-client-names", TLS, SETTING_TEXTS, SETTING_RELOADS, AT(tls_client_names), .initial = "",
      .value = "NAME",
      .summary = "Accepts client certificates with this name; without any, all names are "
                 "accepted." },
    { "tls-client-users", TLS, SETTING_BOOLEAN, SETTING_RELOADS, AT(tls_client_users),
      .initial = "no", .value = "yes|no",
      .summary = "Logs in a client as the user in the common name of its certificate, without a "
                 "password. It requires tls-ca." },

    { "config", REST, SETTING_TEXT, SETTING_NO_FILE, AT(config), .initial = "",
      .value = "FILE",
      .summary = "Names the config file, which has one setting on each line: its name and its "
                 "value." },
    { "log-level", REST, SETTING_LEVEL, SETTING_RELOADS, AT(log_level), .initial = "info",
      .value = "LEVEL",
      .summary = "Sets which lines are logged: debug, info, warning or error, and those of a "
                 "higher level. debug also logs each connection and each command, without its "
                 "arguments." },
    { "log-rate", REST, SETTING_COUNT, SETTING_RELOADS, AT(log_rate), 0, 1000000,
      .initial = "10", .value = "COUNT",
      .summary = "Limits the log lines of one kind per second, and logs the number of the "
                 "suppressed ones; 0 for no limit." },
    { "log-burst", REST, SETTING_COUNT, SETTING_RELOADS, AT(log_burst), 1, 1000000,
      .initial = "20", .value = "COUNT",
      .summary = "Sets how many lines of one kind are logged at once before log-rate applies." },
    { "log-buffer", REST, SETTING_SIZE, 0, AT(log_buffer), 4 * KIB, 64 * MIB,
      .initial = "256KiB", .value = "SIZE",
      .summary = "Limits the part of the log that is kept in memory while standard error accepts "
                 "nothing. Further lines are dropped and counted." },
};
// clang-format on

const size_t settings_count = sizeof(settings_table) / sizeof(settings_table[0]);

static_assert(sizeof(settings_table) / sizeof(settings_table[0]) <= SETTINGS_COUNT_MAX,
              "struct settings has a source for each row");
