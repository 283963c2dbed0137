// SPDX-License-Identifier: MIT
// The sources of values: defaults, the config file, the environment and flags are read in this
// order, and each replaces the values of those before it. All values are checked, including those
// that are replaced. Only the name of the config file is needed beforehand.
#include "server/config/settings.h"

#include "base/ascii.h"
#include "base/nearest.h"
#include "server/config/settings_value.h"
#include "server/config/settings_words.h"

#include <openssl/crypto.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WHERE_SIZE = 160,
    VARIABLE_SIZE = 64,
    PATH_SHOWN = 80, // bytes of a path in an error message
};

static const char prefix[] = "SLUICE_";

// ---------------------------------------------------------------------------------------------
// The table

const char *settings_name(size_t index)
{
    return index < settings_count ? settings_table[index].name : NULL;
}

size_t settings_find(struct slice name)
{
    for (size_t i = 0; i < settings_count; i++) {
        if (slice_equal(name, slice_from_cstr(settings_table[i].name))) {
            return i;
        }
    }
    return SIZE_MAX;
}

void settings_append_value(const struct settings *settings, size_t index, struct buffer *out)
{
    setting_append(&settings_table[index], settings, out);
}

enum status settings_note(const struct settings *settings, enum status status,
                          const struct error *error)
{
    struct settings_problems *problems = settings->problems;
    if (!status || !problems || status == STATUS_NO_MEMORY) {
        return status;
    }
    problems->count++;
    problems->report(problems->context, error);
    return STATUS_OK;
}

static enum status refuse_unknown(const char *where, struct slice name, struct error *error)
{
    struct nearest nearest = nearest_to(name);
    for (size_t i = 0; i < settings_count; i++) {
        nearest_offer(&nearest, slice_from_cstr(settings_table[i].name));
    }
    if (nearest.name.size) {
        return error_set(error, STATUS_INVALID, "%s unknown setting \"%.*s\"; did you mean %.*s?",
                         where, SLICE_PRINT(slice_shown(name)), SLICE_PRINT(nearest.name));
    }
    return error_set(error, STATUS_INVALID,
                     "%s unknown setting \"%.*s\"; sluiced --help lists all settings", where,
                     SLICE_PRINT(slice_shown(name)));
}

// ---------------------------------------------------------------------------------------------
// One value from one source

struct found {
    enum setting_source source;
    const char *where;
    size_t index;
};

// Sets a value from words, replacing the value of a source with lower precedence.
static enum status put(struct settings *settings, const struct found *found,
                       const struct slice *words, size_t count, struct error *error)
{
    const struct setting *setting = &settings_table[found->index];
    const struct setting_words value = { found->where, words, count };
    if (settings->sources[found->index] != found->source && setting_is_list(setting)) {
        setting_clear(setting, settings);
    }
    settings->sources[found->index] = (uint8_t)found->source;
    return setting_set(setting, settings, &value, error);
}

// Sets a value from the text of a flag or a variable: one word, except for settings with several
// words.
static enum status put_text(struct settings *settings, const struct found *found, struct slice text,
                            struct error *error)
{
    char memory[SETTINGS_VALUE_MAX];
    struct slice words[SETTINGS_WORDS_MAX];
    size_t count;
    if (!setting_has_words(&settings_table[found->index]) || text.size == 0) {
        return put(settings, found, &text, 1, error);
    }
    if (text.size > sizeof(memory)) {
        return error_set(error, STATUS_INVALID, "%s has more than %d bytes", found->where,
                         SETTINGS_VALUE_MAX);
    }
    struct error reason;
    enum status status = settings_split(text, memory, words, &count, &reason);
    if (status) {
        status = error_set(error, status, "%s: %s", found->where, error_sentence(&reason));
    } else {
        status = put(settings, found, words, count, error);
    }
    OPENSSL_cleanse(memory, sizeof(memory));
    return status;
}

static enum status put_defaults(struct settings *settings, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < settings_count && status == STATUS_OK; i++) {
        const struct found found = { SETTING_DEFAULT, settings_table[i].name, i };
        status = put_text(settings, &found, slice_from_cstr(settings_table[i].initial), error);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// The config file

// Reads the file into `out`.
static enum status read_file(const char *path, struct buffer *out, struct error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return error_set(error, errno == ENOENT ? STATUS_NOT_FOUND : STATUS_IO,
                         "the config file %s cannot be opened: %s", path, strerror(errno));
    }
    ssize_t got;
    do {
        char *room = buffer_reserve(out, 4096);
        got = room ? read(fd, room, 4096) : -1;
        if (got > 0) {
            buffer_commit(out, (size_t)got);
        }
    } while (got > 0 || (got < 0 && errno == EINTR && out->status == STATUS_OK));
    int reason = errno;
    (void)close(fd);
    if (out->status == STATUS_TOO_LARGE) {
        return error_set(error, STATUS_TOO_LARGE, "the config file %s has more than %d bytes", path,
                         SETTINGS_FILE_MAX);
    }
    if (out->status) {
        return error_set(error, out->status, "there is no memory for the config file");
    }
    if (got < 0) {
        return error_set(error, STATUS_IO, "the config file %s cannot be read: %s", path,
                         strerror(reason));
    }
    return STATUS_OK;
}

// `path` and `number` are the position of the line, for error messages.
static enum status put_line_words(struct settings *settings, const struct slice *words,
                                  size_t count, const char *path, size_t number,
                                  struct error *error)
{
    char where[WHERE_SIZE];
    (void)snprintf(where, sizeof(where), "%s:%zu:", path, number);
    size_t index = settings_find(words[0]);
    if (index == SIZE_MAX) {
        return refuse_unknown(where, words[0], error);
    }
    const struct setting *setting = &settings_table[index];
    if (setting->flags & SETTING_NO_FILE) {
        return error_set(error, STATUS_INVALID, "%s %s cannot stand in a config file", where,
                         setting->name);
    }
    if (settings->sources[index] == SETTING_FILE && !setting_is_list(setting)) {
        return error_set(error, STATUS_INVALID, "%s %s is set a second time", where, setting->name);
    }
    (void)snprintf(where, sizeof(where), "%s:%zu: %s", path, number, setting->name);
    const struct found found = { SETTING_FILE, where, index };
    return put(settings, &found, words + 1, count - 1, error);
}

static enum status put_line(struct settings *settings, struct slice line, size_t number,
                            struct error *error)
{
    char memory[SETTINGS_VALUE_MAX];
    struct slice words[SETTINGS_WORDS_MAX];
    size_t count;
    // A long path is shown without its beginning, because the end says more.
    size_t size = strlen(settings->config);
    const char *path = settings->config + (size > PATH_SHOWN ? size - PATH_SHOWN : 0);
    if (line.size > sizeof(memory) || (line.size && memchr(line.data, '\0', line.size))) {
        return error_set(error, STATUS_INVALID,
                         "%s:%zu: the line is longer than %d bytes or not text", path, number,
                         SETTINGS_VALUE_MAX);
    }
    struct error reason;
    enum status status = settings_split(line, memory, words, &count, &reason);
    if (status) {
        (void)error_set(error, status, "%s:%zu: %s", path, number, error_sentence(&reason));
    } else if (count) {
        status = put_line_words(settings, words, count, path, number, error);
    }
    OPENSSL_cleanse(memory, sizeof(memory));
    return status;
}

static enum status put_file(struct settings *settings, struct error *error)
{
    struct buffer bytes;
    if (!*settings->config) {
        return STATUS_OK;
    }
    buffer_init(&bytes, settings->allocator, SETTINGS_FILE_MAX);
    enum status status = settings_note(settings, read_file(settings->config, &bytes, error), error);
    struct slice rest = buffer_slice(&bytes);
    for (size_t number = 1; status == STATUS_OK && rest.data && rest.size; number++) {
        const char *end = memchr(rest.data, '\n', rest.size);
        struct slice line = slice_make(rest.data, end ? (size_t)(end - rest.data) : rest.size);
        rest = slice_sub(rest, line.size + 1, rest.size);
        status = settings_note(settings, put_line(settings, line, number, error), error);
    }
    if (bytes.data) {
        OPENSSL_cleanse(bytes.data, bytes.capacity);
    }
    buffer_release(&bytes);
    return status;
}

// ---------------------------------------------------------------------------------------------
// The environment

// The value of a variable, or NULL.
static const char *variable(const struct settings *settings, const char *name)
{
    size_t size = strlen(name);
    for (char *const *at = settings->environment; *at; at++) {
        if (strncmp(*at, name, size) == 0 && (*at)[size] == '=') {
            return *at + size + 1;
        }
    }
    return NULL;
}

// Container platforms set variables for the services that they know (SLUICE_PORT=tcp://... for a
// service called sluice). They are not settings.
static bool is_of_a_service(struct slice name)
{
    return slice_starts_with(name, SLICE("service-")) || slice_equal(name, SLICE("port")) ||
           slice_starts_with(name, SLICE("port-"));
}

// Variables of the tool `sluice`, and variables that its worker sets for the programs of jobs.
static bool is_of_the_tool(struct slice name)
{
    static const char *const names[] = { "url",   "ns",         "jid",     "klass",  "queue",
                                         "token", "checkpoint", "attempt", "worker", "run" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (slice_equal(name, slice_from_cstr(names[i]))) {
            return true;
        }
    }
    return false;
}

// In a program that a worker has started, SLUICE_DATA is the job's data and not the server's data
// folder.
static bool is_of_a_job(const struct settings *settings, struct slice name)
{
    return slice_equal(name, SLICE("data")) && variable(settings, "SLUICE_JID");
}

// The values of a list are separated by ';' or line ends; values of one word also by commas or
// spaces.
static enum status put_values(struct settings *settings, const struct found *found,
                              const char *text, struct error *error)
{
    const struct setting *setting = &settings_table[found->index];
    const char *apart = setting_has_words(setting) ? ";\n" : ";\n, ";
    enum status status = STATUS_OK;
    if (!setting_is_list(setting) || !*text) {
        return put_text(settings, found, slice_from_cstr(text), error);
    }
    while (*text && status == STATUS_OK) {
        size_t size = strcspn(text, apart);
        if (size) {
            status = settings_note(settings,
                                   put_text(settings, found, slice_make(text, size), error), error);
        }
        text += size + (text[size] != '\0');
    }
    return status;
}

static enum status put_variable(struct settings *settings, const char *entry, struct error *error)
{
    char where[VARIABLE_SIZE];
    char name[VARIABLE_SIZE];
    size_t size = strcspn(entry, "=");
    size_t start = sizeof(prefix) - 1;
    if (strncmp(entry, prefix, start) != 0 || entry[size] != '=') {
        return STATUS_OK;
    }
    (void)snprintf(where, sizeof(where), "%.*s", (int)size, entry);
    size_t name_size = 0;
    for (size_t i = start; i < size && name_size < sizeof(name); i++) {
        char c = entry[i];
        if (c == '_') {
            c = '-';
        }
        name[name_size++] = ascii_lower(c);
    }
    struct slice found_name = slice_make(name, name_size);
    if (is_of_a_service(found_name) || is_of_the_tool(found_name) ||
        is_of_a_job(settings, found_name)) {
        return STATUS_OK;
    }
    size_t index = settings_find(found_name);
    if (index == SIZE_MAX) {
        (void)snprintf(where, sizeof(where), "%.*s:", (int)(size > 60 ? 60 : size), entry);
        return refuse_unknown(where, found_name, error);
    }
    const struct found found = { SETTING_ENVIRONMENT, where, index };
    return put_values(settings, &found, entry + size + 1, error);
}

static enum status put_environment(struct settings *settings, struct error *error)
{
    enum status status = STATUS_OK;
    for (char *const *at = settings->environment; *at && status == STATUS_OK; at++) {
        status = settings_note(settings, put_variable(settings, *at, error), error);
    }
    return status;
}

// systemd passes the state folder of a service; several are separated by colons.
static enum status put_state_directory(struct settings *settings, struct error *error)
{
    const char *value = variable(settings, "STATE_DIRECTORY");
    const struct found found = { SETTING_DEFAULT, "STATE_DIRECTORY", settings_find(SLICE("data")) };
    if (!value || !*value) {
        return STATUS_OK;
    }
    return put_text(settings, &found, slice_make(value, strcspn(value, ":")), error);
}

// ---------------------------------------------------------------------------------------------
// Flags

static bool is_word_of_a_boolean(const char *text)
{
    static const char *const words[] = { "yes", "no", "true", "false", "on", "off", "1", "0" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

// One flag and where its value is.
struct flag {
    struct slice name;
    const char *value; // NULL: none after '='
    size_t index;
};

static enum status read_flag(const char *text, struct flag *out, struct error *error)
{
    if (strncmp(text, "--", 2) != 0 || !text[2]) {
        return error_set(error, STATUS_INVALID,
                         "'%.60s' is not a flag; settings are given as --name value", text);
    }
    size_t size = strcspn(text + 2, "=");
    out->name = slice_make(text + 2, size);
    out->value = text[2 + size] ? text + 2 + size + 1 : NULL;
    out->index = settings_find(out->name);
    return STATUS_OK;
}

// Recognises the flags that are not settings; false if it is not such a flag.
static bool read_request(const struct flag *flag, enum settings_request *request)
{
    static const struct slice names[] = {
        [SETTINGS_HELP] = { "help", 4 },
        [SETTINGS_VERSION] = { "version", 7 },
        [SETTINGS_HASH_PASSWORD] = { "hash-password", 13 },
        [SETTINGS_MANUAL] = { "manual", 6 },
        [SETTINGS_MANUAL_FILE] = { "manual-file", 11 },
        [SETTINGS_CHECK_CONFIG] = { "check-config", 12 },
    };
    for (size_t i = SETTINGS_HELP; i <= SETTINGS_CHECK_CONFIG; i++) {
        if (!flag->value && slice_equal(flag->name, names[i])) {
            *request = (enum settings_request)i;
            return true;
        }
    }
    return false;
}

// Sets the flag's value, which may be the next argument.
static enum status take_value(const struct settings *settings, struct flag *flag, int *at,
                              struct error *error)
{
    const char *next = *at + 1 < settings->argc ? settings->argv[*at + 1] : NULL;
    bool boolean = settings_table[flag->index].type == SETTING_BOOLEAN;
    if (flag->value) {
        return STATUS_OK;
    }
    if (boolean && !(next && is_word_of_a_boolean(next))) {
        flag->value = "yes";
        return STATUS_OK;
    }
    if (!next || strncmp(next, "--", 2) == 0) {
        return error_set(error, STATUS_INVALID, "--%.*s needs a value: --%.*s %s",
                         SLICE_PRINT(flag->name), SLICE_PRINT(flag->name),
                         settings_table[flag->index].value);
    }
    flag->value = next;
    (*at)++;
    return STATUS_OK;
}

// The flag at `*at`, or only --config when `config_only` is set. Moves on to its value.
static enum status put_flag(struct settings *settings, int *at, bool config_only,
                            enum settings_request *request, struct error *error)
{
    char where[VARIABLE_SIZE];
    struct flag flag = { 0 };
    enum status status = read_flag(settings->argv[*at], &flag, error);
    if (status || read_request(&flag, request)) {
        return status;
    }
    if (flag.index == SIZE_MAX) {
        (void)snprintf(where, sizeof(where),
                       "--%.*s:", flag.name.size > 40 ? 40 : (int)flag.name.size, flag.name.data);
        return refuse_unknown(where, flag.name, error);
    }
    status = take_value(settings, &flag, at, error);
    if (status || (config_only && !slice_equal(flag.name, SLICE("config")))) {
        return status;
    }
    (void)snprintf(where, sizeof(where), "--%s", settings_table[flag.index].name);
    const struct found found = { SETTING_FLAG, where, flag.index };
    return put_text(settings, &found, slice_from_cstr(flag.value ? flag.value : ""), error);
}

// All flags. A request ends it, but for --check-config, which is about the other flags.
static enum status put_flags(struct settings *settings, bool config_only,
                             enum settings_request *request, struct error *error)
{
    enum status status = STATUS_OK;
    *request = SETTINGS_RUN;
    for (int i = 1; i < settings->argc && !status && *request == SETTINGS_RUN; i++) {
        status =
            settings_note(settings, put_flag(settings, &i, config_only, request, error), error);
        *request = *request == SETTINGS_CHECK_CONFIG ? SETTINGS_RUN : *request;
    }
    return status;
}

// ---------------------------------------------------------------------------------------------

static void ignore(void *context, const struct error *problem)
{
    (void)context;
    (void)problem;
}

static enum status put_all(struct settings *settings, enum settings_request *request,
                           struct error *error)
{
    enum status status = put_defaults(settings, error);
    if (status == STATUS_OK) {
        status = put_state_directory(settings, error);
    }
    const char *config = variable(settings, "SLUICE_CONFIG");
    const struct found found = { SETTING_ENVIRONMENT, "SLUICE_CONFIG",
                                 settings_find(SLICE("config")) };
    if (status == STATUS_OK && config) {
        status = put_text(settings, &found, slice_from_cstr(config), error);
    }
    if (status == STATUS_OK) {
        // What is wrong with the flags is reported when they are all put.
        struct settings_problems unheard = { .report = ignore };
        struct settings_problems *problems = settings->problems;
        settings->problems = problems ? &unheard : NULL;
        status = put_flags(settings, true, request, error);
        settings->problems = problems;
    }
    if (status || *request != SETTINGS_RUN) {
        return status;
    }
    status = put_file(settings, error);
    if (status == STATUS_OK) {
        status = put_environment(settings, error);
    }
    return status ? status : put_flags(settings, false, request, error);
}

enum status settings_load(struct settings *settings, const struct allocator *allocator, int argc,
                          char *const *argv, char *const *environment,
                          enum settings_request *request, struct error *error)
{
    *settings = (struct settings){
        .allocator = allocator, .argc = argc, .argv = argv, .environment = environment
    };
    enum status status = put_all(settings, request, error);
    if (status || *request != SETTINGS_RUN) {
        settings_release(settings);
    }
    return status;
}

bool settings_wants_check(int argc, char *const *argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--check-config") == 0) {
            return true;
        }
    }
    return false;
}

enum status settings_examine(struct settings *settings, const struct allocator *allocator, int argc,
                             char *const *argv, char *const *environment,
                             struct settings_problems *problems, struct error *error)
{
    enum settings_request request;
    *settings = (struct settings){ .allocator = allocator,
                                   .argc = argc,
                                   .argv = argv,
                                   .environment = environment,
                                   .problems = problems };
    enum status status = put_all(settings, &request, error);
    if (!status) {
        status = settings_check(settings, error);
    }
    settings->problems = NULL;
    if (status) {
        settings_release(settings);
    }
    return status;
}

void settings_release(struct settings *settings)
{
    for (size_t i = 0; i < settings_count; i++) {
        setting_clear(&settings_table[i], settings);
    }
}
