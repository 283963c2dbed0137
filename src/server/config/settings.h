// SPDX-License-Identifier: MIT
// The settings of sluiced. One table (settings_table.c) defines them; the flags, the lines of the
// config file, the environment variables, the help, CONFIG GET and the documents come from it.
//
// A value comes from the first of these sources that sets it: the flag (--max-payload 2M), the
// variable (SLUICE_MAX_PAYLOAD=2M), the config file (max-payload 2M), the default. A list comes
// from one source as a whole. An unknown or malformed setting is refused with a message that says
// where it is, what it is and what is allowed.
//
// A struct settings owns its strings, and only settings_reload changes it. It contains no
// plain-text passwords: they are hashed when they are read.
#ifndef SLUICE_SERVER_CONFIG_SETTINGS_H
#define SLUICE_SERVER_CONFIG_SETTINGS_H

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/status.h"
#include "engine/queue/quota.h"
#include "server/log/log_line.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SETTINGS_COUNT_MAX = 128,        // rows of the table
    SETTINGS_LIST_MAX = 1024,        // values of a list
    SETTINGS_VALUE_MAX = 4096,       // bytes of a value
    SETTINGS_FILE_MAX = 1 << 20,     // bytes of a config file
    ORIGIN_SIZE_MAX = 255,           // bytes, of http-origins
    UNAUTHENTICATED_WORDS = 16,      // in a request of an unauthenticated client
    UNAUTHENTICATED_SIZE = 4096,     // bytes of a word of such a request
    UNAUTHENTICATED_KEPT = 32 << 10, // bytes of input and of unread output of such a client, each
    UNAUTHENTICATED_PIPELINE = 64,   // requests of such a client without a reply
};

// The source of a value; later ones take precedence.
enum setting_source {
    SETTING_DEFAULT,
    SETTING_FILE,
    SETTING_ENVIRONMENT,
    SETTING_FLAG,
};

// Where all that is wrong is reported, not only the first of it.
struct settings_problems {
    void (*report)(void *context, const struct error *problem);
    void *context;
    size_t count;
};

struct settings_list {
    char **items; // owned
    size_t count;
};

// Texts are never NULL; "" means not set. Times are in microseconds, sizes in bytes.
struct settings {
    const struct allocator *allocator;   // borrowed
    uint8_t sources[SETTINGS_COUNT_MAX]; // enum setting_source, by the row of the table

    // where
    char *data;                      // folder of the store
    char *config;                    // the config file, "" for none
    struct settings_list listen;     // each passes address_parse
    struct settings_list tls_listen; // the same
    char *http, *tls_http;           // the same, or "" for none
    char *grpc, *tls_grpc;           // the same as http

    // what is kept, and how
    enum store_durability durability;
    int64_t durability_interval_us; // for STORE_INTERVAL
    int64_t checkpoint_interval_us;
    uint64_t segment_size;
    uint64_t reserve_size;

    // namespaces
    bool create_namespaces; // a namespace is created on first use
    uint64_t max_namespaces;
    bool allow_flush;
    char *qless_namespace;

    // limits per address and per user; 0: no limit
    uint64_t max_connections_per_address, max_connections_per_user;
    uint64_t max_connections, reserved_connections;
    uint64_t max_arguments; // words in a request
    uint64_t max_payload;   // bytes of a word in a request
    uint64_t max_request;   // bytes of all words in a request
    uint64_t max_output;    // bytes of replies that the client has not read
    // bytes of unread replies, or of buffered requests; above it no further request is run
    uint64_t max_unread;
    uint64_t max_subscriptions;  // of a connection, to channels and patterns
    uint64_t max_patterns;       // of a connection
    uint64_t max_patterns_total; // of all connections
    // requests of one connection in progress; above it the connection is not read
    uint64_t max_pipeline;
    uint64_t grpc_max_calls; // calls of one gRPC connection in progress
    // bytes of changes that wait for the disk: gather_max of struct store_options
    uint64_t max_backlog;
    uint64_t max_users;                      // users that are stored at run time
    uint64_t max_logins, max_logins_address; // waiting for a check of their password
    // 0: no limit; UINT64_MAX: derived from the memory of the machine
    uint64_t max_memory;
    struct quotas quotas; // of a namespace, and of a queue

    // times; 0 is never
    int64_t idle_timeout_us;
    int64_t auth_timeout_us; // for the TLS handshake and AUTH together
    int64_t http_request_timeout_us, http_idle_timeout_us;
    int64_t grpc_min_ping_us; // shortest time between two pings of a gRPC client
    int64_t tcp_keepalive_us;
    int64_t stop_timeout_us;
    int64_t turn_time_us;    // how long a turn may run before the loop polls its descriptors again
    int64_t slow_command_us; // commands that take longer are logged; 0: none

    uint64_t slow_commands_kept;

    // events and metrics
    uint64_t events_kept; // events of a namespace, for listeners that reconnect
    int64_t events_kept_for_us;
    int64_t events_heartbeat_us;
    int64_t events_retry_us;
    bool dashboard;                              // the dashboard is served
    bool metrics_open;                           // /metrics needs no authentication
    uint64_t metrics_details;                    // queues with histograms of their own
    uint64_t metrics_namespaces, metrics_queues; // with metrics of their own
    uint64_t audit_kept;                         // entries: acts, and as many refusals

    // authentication
    char *password; // a hash (password.h), or ""
    uint64_t max_sessions;
    int64_t session_idle_timeout_us, session_timeout_us;
    struct settings_list http_origins; // origins of pages that may use the HTTP API
    struct settings_list user;         // "NAME HASH RIGHTS...", one space between them

    // push
    struct settings_list push; // push_item_write's texts (push/rules/plan.h)
    bool push_allow_private;
    char *push_ca; // a file, or "" for the system's authorities
    uint64_t max_pushes;
    uint64_t push_error_size; // bytes of a worker's response that become the message of a failure

    // TLS
    char *tls_cert, *tls_key;
    char *tls_ca;  // set: clients need a certificate of this authority
    char *tls_crl; // set: that is not in one of these revocation lists
    struct settings_list tls_client_names;
    bool tls_client_users; // the common name of a certificate is a user

    // logging
    enum log_level log_level;
    uint64_t log_rate; // lines per second of each kind; 0: no limit
    uint64_t log_burst;
    uint64_t log_buffer;

    // the sources, for settings_reload; borrowed
    char *const *argv;
    int argc;
    char *const *environment;
    struct settings_problems *problems; // during settings_examine; else NULL. Borrowed
};

// What the command line requests.
enum settings_request {
    SETTINGS_RUN,
    SETTINGS_HELP,          // --help: settings_help
    SETTINGS_VERSION,       // --version
    SETTINGS_HASH_PASSWORD, // --hash-password: password_hash_line (password.h)
    SETTINGS_MANUAL,        // --manual: settings_manual
    SETTINGS_MANUAL_FILE,   // --manual-file: settings_manual_file
    SETTINGS_CHECK_CONFIG,  // --check-config: settings_examine
};

// Fills `settings` (which needs no init) from the flags after argv[0], the environment and the
// config file that these name. Each value is checked; settings_check checks combinations. `argv`
// and `environment` are borrowed until the release. When it fails, and when the request is not
// SETTINGS_RUN, there is nothing to release.
MUST_USE enum status settings_load(struct settings *settings, const struct allocator *allocator,
                                   int argc, char *const *argv, char *const *environment,
                                   enum settings_request *request, struct error *error);
void settings_release(struct settings *settings);

// Refuses settings that are unsafe or cannot work: an address that other machines can reach without
// a password, users or (for tls-listen) client certificates; tls-listen without a certificate; a
// limit for requests below the one for payloads. No setting turns this check off.
MUST_USE enum status settings_check(const struct settings *settings, struct error *error);

// Whether there is an address to listen on under TLS.
static inline bool settings_use_tls(const struct settings *settings)
{
    return settings->tls_listen.count || *settings->tls_http || *settings->tls_grpc;
}

// Whether --check-config is among the flags, wherever.
bool settings_wants_check(int argc, char *const *argv);

// settings_load and settings_check for --check-config: reports everything that is wrong, and goes on
// behind it. NO_MEMORY is the only failure; otherwise `settings` has what could be read, and is to
// be released.
MUST_USE enum status settings_examine(struct settings *settings, const struct allocator *allocator,
                                      int argc, char *const *argv, char *const *environment,
                                      struct settings_problems *problems, struct error *error);

// Receives messages about the setting `name`, without a full stop.
struct settings_listener {
    void (*report)(void *context, const char *name, const char *sentence);
    void *context;
    // Prepares what depends on the new settings before they are taken over. If it fails, it must
    // have changed nothing, and the settings are not taken over. May be NULL.
    enum status (*accept)(void *context, const struct settings *fresh, struct error *error);
};

// Warns about settings that are allowed but unwise: a config file with secrets that other users can
// read, a plain-text password in a flag.
void settings_warn(const struct settings *settings, const struct settings_listener *listener);

// Reads the file and the environment again, checks everything, and takes over the settings that can
// be changed at run time. The listener (which may be NULL) is called for each setting that has
// changed, including those that need a restart and stay as they are. When it fails nothing has
// changed. All texts of settings that can be reloaded are new afterwards: keep no pointers to them.
MUST_USE enum status settings_reload(struct settings *settings,
                                     const struct settings_listener *listener, struct error *error);

// ---------------------------------------------------------------------------------------------
// Access by index, for CONFIG GET: call with `index` from 0 until it returns NULL. Names are like
// "max-payload".
const char *settings_name(size_t index);

// The index of a name, or SIZE_MAX.
size_t settings_find(struct slice name);

// Appends the value as in the config file, without quotes; the values of a list with line ends
// between them. A secret that is set becomes "(hidden)"; for a user only the rights are shown.
void settings_append_value(const struct settings *settings, size_t index, struct buffer *out);

// ---------------------------------------------------------------------------------------------
// Texts that come from the table

// --help: all flags in groups, with at most 80 columns.
void settings_help(struct buffer *out);

// sluiced(8) and sluiced.conf(5), as troff.
void settings_manual(struct buffer *out);
void settings_manual_file(struct buffer *out);

// docs/settings.md: a Markdown table for each group.
void settings_markdown(struct buffer *out);

// docs/sluiced.conf: a config file with every setting, commented out.
void settings_example(struct buffer *out);

#endif
