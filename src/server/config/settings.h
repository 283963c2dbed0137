// SPDX-License-Identifier: MIT
// The settings of sluiced. One table (settings_table.c) has them all; from it come the flags, the
// lines of the config file, the environment variables, the help, CONFIG GET and the documents.
//
// A value is taken from the first of these that has one: the flag (--max-payload 2M), the variable
// (SLUICE_MAX_PAYLOAD=2M), the config file (max-payload 2M), the default. A list is taken from one
// of them as a whole. What is unknown or malformed is refused with a sentence that says where it
// stands, what it is and what is allowed.
//
// A struct settings owns its strings, and no part of it changes but by settings_reload. It holds no
// password in plain text: they are hashed as they are read.
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
    ORIGIN_SIZE_MAX = 255,           // of http-origins
    UNAUTHENTICATED_WORDS = 16,      // of a request of a client that is not authenticated
    UNAUTHENTICATED_SIZE = 4096,     // bytes of a word of such a request
    UNAUTHENTICATED_KEPT = 32 << 10, // bytes that such a client has sent, or not read, each
    UNAUTHENTICATED_PIPELINE = 64,   // requests of such a client without a reply
};

// Where a value comes from; the later ones win.
enum setting_source {
    SETTING_DEFAULT,
    SETTING_FILE,
    SETTING_ENVIRONMENT,
    SETTING_FLAG,
};

struct settings_list {
    char **items; // owned
    size_t count;
};

// Texts are never NULL; "" stands for none. Times are in microseconds, sizes in bytes.
struct settings {
    const struct allocator *allocator;   // borrowed
    uint8_t sources[SETTINGS_COUNT_MAX]; // enum setting_source, by the row of the table

    // where
    char *data;                      // the folder of the store
    char *config;                    // the config file, "" for none
    struct settings_list listen;     // checked: address_parse takes them
    struct settings_list tls_listen; // the same
    char *http, *tls_http;           // the same, or "" for none

    // what is kept, and how
    enum store_durability durability;
    int64_t durability_interval_us; // for STORE_INTERVAL
    int64_t checkpoint_interval_us;
    uint64_t segment_size;
    uint64_t reserve_size;

    // namespaces
    bool create_namespaces; // a namespace is made when it is first used
    uint64_t max_namespaces;
    bool allow_flush;
    char *qless_namespace;

    // limits
    // of an address, of a user: 0 is no limit
    uint64_t max_connections_per_address, max_connections_per_user;
    uint64_t max_connections, reserved_connections;
    uint64_t max_arguments;      // words of a request
    uint64_t max_payload;        // one word of a request
    uint64_t max_request;        // all words of a request
    uint64_t max_output;         // replies that one connection has not read
    uint64_t max_unread;         // replies unread, or requests kept while no further one is run
    uint64_t max_subscriptions;  // of a connection, to channels and patterns
    uint64_t max_patterns;       // of them
    uint64_t max_patterns_total; // of all connections
    uint64_t max_pipeline;       // requests of one connection under way; then it is not read on
    uint64_t max_backlog;        // changes that wait for the disk, store_options.gather_max
    uint64_t max_users;          // that are stored at run time
    uint64_t max_logins, max_logins_address; // that wait for a check of their password
    uint64_t max_memory;                     // 0: none; UINT64_MAX: out of what the machine has
    struct quotas quotas;                    // of a namespace, and of a queue

    // times; 0 is never
    int64_t idle_timeout_us;
    int64_t auth_timeout_us; // for TLS's handshake and AUTH together
    int64_t http_request_timeout_us, http_idle_timeout_us;
    int64_t tcp_keepalive_us;
    int64_t stop_timeout_us;
    int64_t turn_time_us;    // how long the loop works before it looks at its descriptors again
    int64_t slow_command_us; // a command that takes longer is told; 0: none

    uint64_t slow_commands_kept;

    // events and metrics
    uint64_t events_kept; // of a namespace, for listeners that come back
    int64_t events_kept_for_us;
    int64_t events_heartbeat_us;
    bool dashboard;                              // its page is served
    bool metrics_open;                           // without a password
    uint64_t metrics_namespaces, metrics_queues; // told by name
    uint64_t audit_kept;                         // entries, of acts and of refusals each

    // who
    char *password; // a hash (server/password.h), or ""
    uint64_t max_sessions;
    int64_t session_idle_timeout_us, session_timeout_us;
    struct settings_list http_origins; // whose pages may ask over HTTP
    struct settings_list user;         // "NAME HASH RIGHTS...", one space between them

    // push
    struct settings_list push; // push_item_write's texts (server/push_plan.h)
    bool push_allow_private;
    char *push_ca; // a file, or "" for the system's authorities
    uint64_t max_pushes;
    uint64_t push_error_size; // of a worker's answer that is kept as the message of a failure

    // TLS
    char *tls_cert, *tls_key;
    char *tls_ca;  // set: clients need a certificate of this authority
    char *tls_crl; // set: that is in none of these lists
    struct settings_list tls_client_names;
    bool tls_client_users; // a certificate's common name is a user

    // telling
    enum log_level log_level;
    uint64_t log_rate; // lines a second of a kind; 0: no limit
    uint64_t log_burst;
    uint64_t log_buffer;

    // what it was loaded from, for settings_reload; borrowed
    char *const *argv;
    int argc;
    char *const *environment;
};

// What the command line asks for.
enum settings_request {
    SETTINGS_RUN,
    SETTINGS_HELP,          // --help: settings_help
    SETTINGS_VERSION,       // --version
    SETTINGS_HASH_PASSWORD, // --hash-password: password_hash_line (server/password.h)
};

// Fills `settings` (which needs no init) from the flags behind argv[0], the environment and the
// config file that these name, and checks them one by one; settings_check is for what they say
// together. `argv` and `environment` are borrowed until the release. When it fails there is nothing
// to release; so too when the request is not SETTINGS_RUN.
MUST_USE enum status settings_load(struct settings *settings, const struct allocator *allocator,
                                   int argc, char *const *argv, char *const *environment,
                                   enum settings_request *request, struct error *error);
void settings_release(struct settings *settings);

// Refuses what would be unsafe or cannot work: an address that others can reach without a password,
// users or (for tls-listen) client certificates; tls-listen without a certificate; a request
// smaller than a payload. There is no setting that turns this off.
MUST_USE enum status settings_check(const struct settings *settings, struct error *error);

// Is told a sentence without a full stop, about the setting `name`.
struct settings_listener {
    void (*report)(void *context, const char *name, const char *sentence);
    void *context;
    // What depends on the settings is made anew from those that are about to be taken over; when it
    // fails they are not, and it must have changed nothing. NULL: nothing does.
    enum status (*accept)(void *context, const struct settings *fresh, struct error *error);
};

// What is allowed but unwise: a config file with secrets that others can read, a plain password in
// a flag.
void settings_warn(const struct settings *settings, const struct settings_listener *listener);

// Reads the file and the environment again, checks everything, and takes over what can be changed
// while running. The listener (which may be NULL) is told of each setting that has changed, and of
// those that need a restart, which stay as they are. When it fails nothing has changed. All texts
// of the settings that can be reloaded are new ones afterwards: keep no pointer to one.
MUST_USE enum status settings_reload(struct settings *settings,
                                     const struct settings_listener *listener, struct error *error);

// ---------------------------------------------------------------------------------------------
// All of them, for CONFIG GET: `index` from 0 until it is NULL. Names are "max-payload".
const char *settings_name(size_t index);

// The index of a name, or SIZE_MAX.
size_t settings_find(struct slice name);

// Appends the value as it would be written in the config file, without quotes; the values of a list
// with a line end between them. Of a secret that is set, "(hidden)"; of a user the rights only.
void settings_append_value(const struct settings *settings, size_t index, struct buffer *out);

// The value before anything was set, the same way.
void settings_append_default(size_t index, struct buffer *out);

// ---------------------------------------------------------------------------------------------
// Texts from the table

// --help: all flags in groups, at most 80 columns.
void settings_help(struct buffer *out);

// A Markdown table for each group; docs/settings.md holds it.
void settings_markdown(struct buffer *out);

// A config file with every setting in it, commented out; docs/sluiced.conf is it.
void settings_example(struct buffer *out);

#endif
