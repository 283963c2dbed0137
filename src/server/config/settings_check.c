// SPDX-License-Identifier: MIT
// Combinations of settings that are refused. Clients that can connect over a network must
// authenticate, because workers run whatever is put into an open queue.
#include "server/config/address.h"
#include "server/config/settings_table.h"
#include "server/push/rules/plan.h"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SEGMENT_STEP = 4096,
};

static bool has_users(const struct settings *settings)
{
    return *settings->password || settings->user.count;
}

static bool is_local(const char *text)
{
    struct address address;
    return address_parse(slice_from_cstr(text), &address, NULL) == STATUS_OK &&
           address_is_local(&address);
}

static bool is_open(const char *address, const struct settings *settings)
{
    return *address && !has_users(settings) && !is_local(address);
}

static enum status check_address(const char *name, const char *address, bool open, const char * or,
                                 const struct settings *settings, struct error *error)
{
    if (!open) {
        return STATUS_OK;
    }
    enum status status = error_set(error, STATUS_INVALID,
                                   "%s %.100s can be reached from other machines: set %s, or "
                                   "listen on 127.0.0.1",
                                   name, address, or);
    return settings_note(settings, status, error);
}

static enum status check_reach(const struct settings *settings, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < settings->listen.count && !status; i++) {
        const char *item = settings->listen.items[i];
        status = check_address("listen", item, is_open(item, settings), "password or user",
                               settings, error);
    }
    for (size_t i = 0; i < settings->tls_listen.count && !status; i++) {
        const char *item = settings->tls_listen.items[i];
        status = check_address("tls-listen", item, is_open(item, settings) && !*settings->tls_ca,
                               "password, user or tls-ca", settings, error);
    }
    const char *const others[][2] = { { "http", settings->http },
                                      { "tls-http", settings->tls_http },
                                      { "grpc", settings->grpc },
                                      { "tls-grpc", settings->tls_grpc } };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && !status; i++) {
        status = check_address(others[i][0], others[i][1], is_open(others[i][1], settings),
                               "password or user", settings, error);
    }
    if (!status && !settings->listen.count && !settings->tls_listen.count && !*settings->http &&
        !*settings->tls_http && !*settings->grpc && !*settings->tls_grpc) {
        return error_set(error, STATUS_INVALID,
                         "there is nothing to listen on: set listen, tls-listen, http, tls-http, "
                         "grpc or tls-grpc");
    }
    return status;
}

static enum status check_tls_pair(const struct settings *settings, struct error *error)
{
    if (!*settings->tls_cert != !*settings->tls_key) {
        return error_set(error, STATUS_INVALID,
                         "tls-cert and tls-key need each other; %s is missing",
                         *settings->tls_cert ? "tls-key" : "tls-cert");
    }
    if (settings_use_tls(settings) && !*settings->tls_cert) {
        return error_set(error, STATUS_INVALID, "%s needs tls-cert and tls-key",
                         settings->tls_listen.count ? "tls-listen"
                         : *settings->tls_http      ? "tls-http"
                                                    : "tls-grpc");
    }
    return STATUS_OK;
}

static enum status check_tls_clients(const struct settings *settings, struct error *error)
{
    const char *const name = *settings->tls_crl                 ? "tls-crl"
                             : settings->tls_client_names.count ? "tls-client-names"
                                                                : NULL;
    if (name && !*settings->tls_ca) {
        return error_set(error, STATUS_INVALID,
                         "%s needs tls-ca: without it clients show no certificate", name);
    }
    return STATUS_OK;
}

static enum status check_push_address(const char *item, struct error *error)
{
    struct slice ns, json;
    struct push_plan plan;
    push_item_split(slice_from_cstr(item), &ns, &json);
    enum status status = push_plan_read(&plan, &allocator_system, json, error);
    if (!status) {
        status = push_plan_check_public(&plan, error);
        push_plan_release(&plan);
    }
    return status;
}

static enum status check_pushes(const struct settings *settings, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < settings->push.count && !settings->push_allow_private && !status; i++) {
        status = settings_note(settings, check_push_address(settings->push.items[i], error), error);
    }
    return status;
}

static enum status check_push_ca(const struct settings *settings, struct error *error)
{
    if (!*settings->push_ca) {
        return STATUS_OK;
    }
    if (access(settings->push_ca, R_OK)) {
        return error_set(error, STATUS_INVALID, "push-ca %.100s cannot be read: %s",
                         settings->push_ca, strerror(errno));
    }
    X509_STORE *store = X509_STORE_new();
    bool good = store && X509_STORE_load_file(store, settings->push_ca) == 1;
    X509_STORE_free(store);
    ERR_clear_error();
    return good ? STATUS_OK
                : error_set(error, STATUS_INVALID, "push-ca %.100s has no certificates in PEM",
                            settings->push_ca);
}

static struct slice user_name(const char *line)
{
    return slice_make(line, strcspn(line, " "));
}

static enum status check_user(const struct settings *settings, size_t index, struct error *error)
{
    struct slice name = user_name(settings->user.items[index]);
    if (*settings->password && slice_equal(name, SLICE("default"))) {
        return error_set(error, STATUS_INVALID,
                         "password and 'user default' are the same user: set one of them");
    }
    for (size_t i = 0; i < index; i++) {
        if (slice_equal(name, user_name(settings->user.items[i]))) {
            return error_set(error, STATUS_INVALID, "user '%.*s' is set twice", SLICE_PRINT(name));
        }
    }
    return STATUS_OK;
}

static enum status check_users(const struct settings *settings, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < settings->user.count && !status; i++) {
        status = settings_note(settings, check_user(settings, i, error), error);
    }
    return status;
}

// An origin in the form that browsers send: a scheme and a host, without a path.
static enum status check_origin(const char *origin, const struct settings *settings,
                                struct error *error)
{
    if (strcmp(origin, "*") == 0) {
        return has_users(settings)
                   ? STATUS_OK
                   : error_set(
                         error, STATUS_INVALID,
                         "http-origins * lets every page do everything: set password or user");
    }
    struct slice rest = slice_from_cstr(origin);
    bool secure = slice_starts_with(rest, SLICE("https://"));
    rest = slice_sub(rest, secure ? strlen("https://") : strlen("http://"), SIZE_MAX);
    if ((!secure && !slice_starts_with(slice_from_cstr(origin), SLICE("http://"))) ||
        rest.size == 0 || strlen(origin) > ORIGIN_SIZE_MAX || strpbrk(rest.data, "/?#@* ,")) {
        return error_set(error, STATUS_INVALID,
                         "http-origins %.100s is no origin: it should be like "
                         "https://ops.example.com, or *",
                         origin);
    }
    return STATUS_OK;
}

static enum status check_origins(const struct settings *settings, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < settings->http_origins.count && !status; i++) {
        status = settings_note(
            settings, check_origin(settings->http_origins.items[i], settings, error), error);
    }
    return status;
}

static enum status check_segment(const struct settings *settings, struct error *error)
{
    return settings->segment_size % SEGMENT_STEP
               ? error_set(error, STATUS_INVALID, "segment-size is not a multiple of 4KiB")
               : STATUS_OK;
}

static enum status check_payload(const struct settings *settings, struct error *error)
{
    return settings->max_payload > settings->max_request
               ? error_set(error, STATUS_INVALID,
                           "max-payload is larger than max-request, which it has to fit in")
               : STATUS_OK;
}

static enum status check_data(const struct settings *settings, struct error *error)
{
    return *settings->data ? STATUS_OK
                           : error_set(error, STATUS_INVALID, "data is empty and needs a folder");
}

enum status settings_check(const struct settings *settings, struct error *error)
{
    static enum status (*const checks[])(const struct settings *, struct error *) = {
        check_reach, check_tls_pair, check_tls_clients, check_pushes,  check_push_ca,
        check_users, check_origins,  check_segment,     check_payload, check_data,
    };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]) && !status; i++) {
        status = settings_note(settings, checks[i](settings, error), error);
    }
    return status;
}

static void warn_of_mode(const struct settings_listener *listener, const char *name,
                         const char *path, const char *what)
{
    char sentence[512];
    struct stat about;
    if (stat(path, &about) || !(about.st_mode & S_IROTH)) {
        return;
    }
    (void)snprintf(sentence, sizeof(sentence),
                   "%.300s holds %s and is readable by all users of this machine: chmod o-r", path,
                   what);
    listener->report(listener->context, name, sentence);
}

void settings_warn(const struct settings *settings, const struct settings_listener *listener)
{
    bool file_has_secrets = false;
    for (size_t i = 0; i < settings_count; i++) {
        if (!setting_is_secret(&settings_table[i])) {
            continue;
        }
        file_has_secrets |= settings->sources[i] == SETTING_FILE;
        if (settings->sources[i] == SETTING_FLAG) {
            char sentence[256];
            (void)snprintf(sentence, sizeof(sentence),
                           "--%s is on the command line, which all users of this machine can read: "
                           "put it into the config file",
                           settings_table[i].name);
            listener->report(listener->context, settings_table[i].name, sentence);
        }
    }
    if (file_has_secrets) {
        warn_of_mode(listener, "config", settings->config, "passwords");
    }
    if (*settings->tls_key) {
        warn_of_mode(listener, "tls-key", settings->tls_key, "a key");
    }
}
