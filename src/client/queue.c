// SPDX-License-Identifier: MIT
#include "client/queue.h"

#include "base/ascii.h"
#include "base/num.h"
#include "client/deadline.h"
#include "client/members.h"
#include "client/memory.h"
#include "client/options.h"
#include "client/password.h"
#include "client/repeat.h"
#include "client/value.h"
#include "client/weak_random.h"
#include "host/commands/services.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const double default_timeout_s = 30;

const char *sluice_version(void)
{
    return SLUICE_VERSION;
}

int64_t wait_us_of(double seconds)
{
    if (seconds == SLUICE_FOREVER || seconds > 9e12) {
        return LINK_FOREVER;
    }
    // The rest of a time that has passed is negative.
    return seconds > 0 ? (int64_t)llround(seconds * 1e6) : 0;
}

// ---------------------------------------------------------------------------------------------
// Opening

static void name_worker(struct sluice *sluice, const char *given)
{
    char host[128] = "";
    if (given) {
        (void)snprintf(sluice->worker, sizeof(sluice->worker), "%s", given);
        return;
    }
    if (gethostname(host, sizeof(host) - 1) || !host[0]) {
        (void)snprintf(host, sizeof(host), "worker");
    }
    (void)snprintf(sluice->worker, sizeof(sluice->worker), "%s-%ld-%06x", host, (long)getpid(),
                   (unsigned)(weak_random() & 0xffffff));
}

enum sluice_status check_name(const char *name, const char *what, struct sluice_error *error)
{
    return name && (!*name || strlen(name) >= SLUICE_NAME_SIZE)
               ? fault(error, SLUICE_INVALID, "%s must have 1 to %d bytes", what,
                       SLUICE_NAME_SIZE - 1)
               : SLUICE_OK;
}

// The program may change its working directory before the library opens the folder again.
static void fix_path(struct url *url)
{
    char whole[PATH_MAX];
    if (realpath(url->path, whole) && strlen(whole) < sizeof(url->path)) {
        memcpy(url->path, whole, strlen(whole) + 1);
    }
}

static const struct member timeout_member = { "timeout", NULL, MEMBER_SECONDS,
                                              offsetof(struct sluice_open_options, timeout), 0 };

// Copies a text of the options, which is needed again when another link is opened.
static const char *keep(const char *text, char **kept, bool *failed)
{
    *kept = text ? memory_copy_text(text) : NULL;
    *failed |= text && !*kept;
    return *kept;
}

// What neither the options nor the address say is read from the environment, except in a program
// that runs with other rights than those of its user.
static enum sluice_status read_environment(struct sluice *sluice, struct sluice_error *error)
{
    struct sluice_open_options *given = &sluice->given;
    const struct {
        const char *name;
        const char **text;
        char **kept;
        bool used;
    } variables[] = {
        { "SLUICE_CA_FILE", &given->ca_file, &sluice->kept[1], sluice->url.tls },
        { "SLUICE_CERT_FILE", &given->cert_file, &sluice->kept[2], sluice->url.tls },
        { "SLUICE_KEY_FILE", &given->key_file, &sluice->kept[3],
          sluice->url.tls && !given->cert_file },
        { "SLUICE_PASSWORD_FILE", &given->password_file, &sluice->kept[4],
          sluice->url.kind == URL_SERVER && !sluice->url.password[0] },
    };
    bool failed = false;
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *text = variables[i].used ? secure_getenv(variables[i].name) : NULL;
        if (!*variables[i].text && text && *text) {
            *variables[i].text = keep(text, variables[i].kept, &failed);
        }
    }
    return failed ? fault_no_memory(error) : SLUICE_OK;
}

static enum sluice_status check_password(struct sluice *sluice, struct sluice_error *error)
{
    char password[URL_PART_SIZE];
    char whole[PATH_MAX];
    const char *file = sluice->given.password_file;
    if (!file || sluice->url.kind == URL_FILE) {
        return SLUICE_OK;
    }
    if (sluice->url.password[0]) {
        return fault(error, SLUICE_INVALID,
                     "either a password in the address or password_file, not both");
    }
    enum sluice_status status = password_read(file, password, error);
    explicit_bzero(password, sizeof(password));
    // The program may change its working directory before the next connection.
    if (!status && realpath(file, whole) && strlen(whole) < URL_PART_SIZE) {
        memory_free(sluice->kept[4]);
        sluice->kept[4] = memory_copy_text(whole);
        sluice->given.password_file = sluice->kept[4];
        status = sluice->kept[4] ? SLUICE_OK : fault_no_memory(error);
    }
    return status;
}

static enum sluice_status set_up(struct sluice *sluice, const char *url, struct sluice_error *error)
{
    const struct sluice_open_options *given = &sluice->given;
    enum sluice_status status = url_read(url, &sluice->url, error);
    if (!status) {
        status = check_name(given->ns, "ns", error);
    }
    if (!status) {
        status = check_name(given->worker, "worker", error);
    }
    if (!status) {
        status = read_environment(sluice, error);
    }
    if (!status) {
        status = check_password(sluice, error);
    }
    if (!status && given->timeout != SLUICE_FOREVER) {
        status = member_check_number(&timeout_member, given->timeout, error);
    }
    if (status) {
        return status;
    }
    const char *ns = given->ns ? given->ns : sluice->url.ns;
    (void)snprintf(sluice->ns, sizeof(sluice->ns), "%s", *ns ? ns : "default");
    name_worker(sluice, given->worker);
    sluice->given.ns = sluice->ns;
    sluice->given.worker = sluice->worker;
    sluice->timeout_us = wait_us_of(given->timeout != 0 ? given->timeout : default_timeout_s);
    if (host_commands_new(&allocator_system, NULL, 0, &sluice->commands)) {
        return fault_no_memory(error);
    }
    status = queue_link(sluice, sluice->timeout_us, &sluice->link, error);
    if (!status && sluice->url.kind == URL_FILE) {
        fix_path(&sluice->url);
    }
    return status;
}

enum sluice_status queue_link(const struct sluice *sluice, int64_t timeout_us, struct link **out,
                              struct sluice_error *error)
{
    const struct link_options options = { &sluice->url, timeout_us, &sluice->given };
    return sluice->url.kind == URL_FILE ? local_open(&options, out, error)
                                        : remote_open(&options, out, error);
}

static enum sluice_status keep_options(struct sluice *sluice,
                                       const struct sluice_open_options *options,
                                       struct sluice_error *error)
{
    bool failed = false;
    struct sluice_open_options *given = &sluice->given;
    enum sluice_status status = open_options_read(options, given, error);
    char **kept = sluice->kept;
    given->durability = keep(given->durability, &kept[0], &failed);
    given->ca_file = keep(given->ca_file, &kept[1], &failed);
    given->cert_file = keep(given->cert_file, &kept[2], &failed);
    given->key_file = keep(given->key_file, &kept[3], &failed);
    given->password_file = keep(given->password_file, &kept[4], &failed);
    return status ? status : failed ? fault_no_memory(error) : SLUICE_OK;
}

static void free_options(struct sluice *sluice)
{
    for (size_t i = 0; i < QUEUE_TEXTS_KEPT; i++) {
        memory_free(sluice->kept[i]);
    }
}

// The child is another worker, and keeps no jobs of the parent.
static void forget(struct fork_guard *guard)
{
    struct sluice *sluice = (struct sluice *)((char *)guard - offsetof(struct sluice, guard));
    fork_renew_mutex(&sluice->mutex);
    sluice->keepers = NULL; // each has a guard
    if (!sluice->named) {
        name_worker(sluice, NULL);
    }
}

enum sluice_status sluice_open(const char *url, const struct sluice_open_options *options,
                               struct sluice **out, struct sluice_error *error)
{
    if (out) {
        *out = NULL;
    }
    const char *null = !url ? "url" : !out ? "out" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    struct sluice *sluice = memory_zalloc(1, sizeof(*sluice));
    if (!sluice || pthread_mutex_init(&sluice->mutex, NULL)) {
        memory_free(sluice);
        return fault_no_memory(error);
    }
    enum sluice_status status = keep_options(sluice, options, error);
    if (!status) {
        status = set_up(sluice, url, error);
    }
    if (status) {
        sluice_close(sluice);
        return status;
    }
    sluice->named = options && options->worker;
    fork_guard_add(&sluice->guard, forget);
    *out = sluice;
    return SLUICE_OK;
}

enum sluice_status queue_copy(const struct sluice *from, int64_t timeout_us, struct sluice **out,
                              struct sluice_error *error)
{
    struct sluice *sluice = memory_zalloc(1, sizeof(*sluice));
    *out = NULL;
    if (!sluice || pthread_mutex_init(&sluice->mutex, NULL)) {
        memory_free(sluice);
        return fault_no_memory(error);
    }
    sluice->url = from->url;
    sluice->timeout_us = timeout_us;
    memcpy(sluice->ns, from->ns, sizeof(sluice->ns));
    memcpy(sluice->worker, from->worker, sizeof(sluice->worker));
    enum sluice_status status = keep_options(sluice, &from->given, error);
    sluice->given.ns = sluice->ns;
    sluice->given.worker = sluice->worker;
    if (!status && host_commands_new(&allocator_system, NULL, 0, &sluice->commands)) {
        status = fault_no_memory(error);
    }
    if (!status) {
        status = queue_link(sluice, timeout_us, &sluice->link, error);
    }
    if (status) {
        sluice_close(sluice);
        return status;
    }
    sluice->named = from->named;
    fork_guard_add(&sluice->guard, forget);
    *out = sluice;
    return SLUICE_OK;
}

void queue_log(const struct sluice *sluice, enum sluice_log_level level, const char *sentence)
{
    if (sluice->given.log) {
        sluice->given.log(sluice->given.log_context, level, sentence);
    }
}

void sluice_close(struct sluice *sluice)
{
    if (!sluice) {
        return;
    }
    fork_guard_remove(&sluice->guard);
    keepers_free(sluice);
    if (sluice->link) {
        sluice->link->ops->close(sluice->link);
    }
    commands_free(sluice->commands);
    free_options(sluice);
    pthread_mutex_destroy(&sluice->mutex);
    memory_free(sluice);
}

const char *sluice_namespace(const struct sluice *sluice)
{
    return sluice ? sluice->ns : NULL;
}

const char *sluice_worker(const struct sluice *sluice)
{
    return sluice ? sluice->worker : NULL;
}

void sluice_interrupt(struct sluice *sluice, bool on)
{
    if (sluice) {
        sluice->link->ops->interrupt(sluice->link, on, false);
    }
}

void sluice_interrupt_all(struct sluice *sluice, bool on)
{
    if (sluice) {
        sluice->link->ops->interrupt(sluice->link, on, true);
    }
}

// ---------------------------------------------------------------------------------------------
// Running commands

void queue_words(const struct sluice *sluice, struct words *words, const char *name)
{
    words_init(words);
    words_text(words, name);
    words_text(words, sluice->ns);
}

static enum sluice_status run(struct sluice *sluice, const struct command *command,
                              struct words *words, const struct ask *ask, struct sluice_value **out,
                              struct sluice_error *error)
{
    struct sluice_value *value = NULL;
    enum sluice_status status = SLUICE_NO_MEMORY;
    if (words->missing) {
        status = fault(error, SLUICE_INVALID, "a required text is NULL");
    } else if (words->failed) {
        (void)fault_no_memory(error);
    } else {
        const struct link_call call = {
            .command = command,
            .words = { words->items, words->count },
            .wait_us = ask->wait_us,
            .wait_word = ask->wait_word,
            .repeats = ask->repeats,
        };
        status = sluice->link->ops->call(sluice->link, &call, &value, error);
    }
    words_release(words);
    if (out) {
        *out = value;
    } else {
        sluice_value_free(value);
    }
    return status;
}

enum sluice_status queue_ask(struct sluice *sluice, struct words *words, const struct ask *ask,
                             struct sluice_value **out, struct sluice_error *error)
{
    const struct command *command =
        words->failed ? NULL : commands_find(sluice->commands, words->items[0]);
    enum sluice_status status = run(sluice, command, words, ask, out, error);
    if (status && error && command) {
        members_translate(command, error);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Any command

// Finds how long a command waits: in its option that is a duration. Without the option, a command
// with WAIT does not wait, and a command with TIMEOUT waits without a limit.
static void find_wait(const struct command *command, const struct words *words, struct ask *ask)
{
    if (!command || !(command->flags & COMMAND_WAITS)) {
        return;
    }
    ask->wait_us = command_option(command, SLICE("TIMEOUT")) ? LINK_FOREVER : 0;
    size_t at = 2 + command_places(command);
    while (at < words->count) {
        const struct argument *option = command_option(command, words->items[at]);
        if (!option) {
            return;
        }
        bool flag = option->type == ARGUMENT_FLAG;
        int64_t us = 0;
        if (!flag && at + 1 < words->count && option->type == ARGUMENT_SECONDS &&
            !num_parse_seconds(words->items[at + 1], &us)) {
            ask->wait_us = us > 0 ? us : LINK_FOREVER;
            ask->wait_word = us > 0 ? at + 1 : 0;
        }
        at += flag ? 1 : 2;
    }
}

enum sluice_status sluice_call(struct sluice *sluice, const char *const *words, const size_t *sizes,
                               size_t count, struct sluice_value **out, struct sluice_error *error)
{
    const char *null = !sluice ? "sluice" : NULL;
    if (null) {
        return fault_null(error, null);
    }
    struct words all;
    struct ask ask = { 0 };
    if (out) {
        *out = NULL;
    }
    if (count == 0) {
        return fault(error, SLUICE_INVALID, "count is 0: there is no command");
    }
    for (size_t i = 0; i < count; i++) {
        if (!words || !words[i]) {
            return words ? fault(error, SLUICE_INVALID, "words[%zu] is NULL", i)
                         : fault_null(error, "words");
        }
    }
    words_init(&all);
    const struct command *command =
        commands_find(sluice->commands, slice_make(words[0], sizes ? sizes[0] : strlen(words[0])));
    for (size_t i = 0; i < count; i++) {
        words_add(&all, slice_make(words[i], sizes ? sizes[i] : strlen(words[i])));
        if (i == 0 && command && (command->flags & COMMAND_NAMESPACE)) {
            words_text(&all, sluice->ns);
        }
    }
    if (!all.failed) {
        find_wait(command, &all, &ask);
    }
    ask.repeats = repeat_prepare(sluice, command, &all);
    return run(sluice, command, &all, &ask, out, error);
}
