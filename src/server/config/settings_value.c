// SPDX-License-Identifier: MIT
#include "server/config/settings_value.h"

#include "base/ascii.h"
#include "base/num.h"
#include "host/durability.h"
#include "server/config/address.h"
#include "server/config/password.h"
#include "server/config/users.h"
#include "server/push/rules/plan.h"

#include <openssl/crypto.h>

enum {
    ALLOWED_SIZE_MAX = 256,
    NAME_SIZE_MAX = 255,
    PUSH_ITEM_MAX = 64 << 10,
};

static const char *const level_names[] = { "debug", "info", "warning", "error", NULL };

static bool equal_nocase(struct slice a, const char *b)
{
    return ascii_equal(a, slice_from_cstr(b));
}

// ---------------------------------------------------------------------------------------------
// Numbers with units

struct unit {
    const char *name;
    int64_t factor;
};

static const struct unit size_units[] = {
    { "GiB", 1 << 30 }, { "MiB", 1 << 20 }, { "KiB", 1 << 10 }, { "G", 1 << 30 },
    { "M", 1 << 20 },   { "K", 1 << 10 },   { "", 1 },
};

// Factors for a million units, since the number is read in millionths.
static const struct unit time_units[] = {
    { "us", 1 },         { "ms", 1000 },       { "s", 1000000 }, { "m", 60000000 },
    { "h", 3600000000 }, { "d", 86400000000 }, { "", 1000000 },
};

// Finds the unit after the digits; NULL if there is none.
static const struct unit *find_unit(const struct unit *units, struct slice *text)
{
    size_t digits = 0;
    while (digits < text->size && strchr("0123456789.", text->data[digits]) && text->data[digits]) {
        digits++;
    }
    struct slice name = slice_sub(*text, digits, text->size);
    text->size = digits;
    for (;; units++) {
        if (equal_nocase(name, units->name)) {
            return units;
        }
        if (!*units->name) {
            return NULL;
        }
    }
}

enum status setting_parse_size(struct slice text, uint64_t *out)
{
    const struct unit *unit = find_unit(size_units, &text);
    uint64_t number;
    if (!unit || num_parse_u64(text, &number) || number > INT64_MAX / (uint64_t)unit->factor) {
        return STATUS_INVALID;
    }
    *out = number * (uint64_t)unit->factor;
    return STATUS_OK;
}

enum status setting_parse_time(struct slice text, int64_t *us_out)
{
    const struct unit *unit = find_unit(time_units, &text);
    int64_t millionths;
    int64_t us;
    if (!unit || num_parse_seconds(text, &millionths) ||
        __builtin_mul_overflow(millionths / 1000, unit->factor, &us)) {
        return STATUS_INVALID;
    }
    // A thousandth of a unit is the finest resolution.
    *us_out = us / 1000;
    return STATUS_OK;
}

static void append_size(uint64_t size, struct buffer *out)
{
    const struct unit *unit = size_units;
    while (size == 0 ? *unit->name != '\0' : size % (uint64_t)unit->factor != 0) {
        unit++;
    }
    num_append_u64(out, size / (uint64_t)unit->factor);
    buffer_append(out, slice_from_cstr(unit->name));
}

static void append_time(int64_t us, struct buffer *out)
{
    if (us == 0) {
        buffer_append_char(out, '0');
    } else if (us % 1000000 == 0) {
        buffer_printf(out, "%llds", (long long)us / 1000000);
    } else if (us % 1000 == 0) {
        buffer_printf(out, "%lldms", (long long)us / 1000);
    } else {
        buffer_printf(out, "%lldus", (long long)us);
    }
}

// ---------------------------------------------------------------------------------------------
// Messages

// Appends the words that are allowed besides numbers, for a count or a size.
static void append_words_allowed(const struct setting *setting, struct buffer *out)
{
    if (setting->flags & SETTING_AUTO) {
        buffer_append(out, SLICE(", auto"));
    }
    if (setting->flags & SETTING_NONE) {
        buffer_append(out, SLICE(", or none"));
    }
}

void setting_append_allowed(const struct setting *setting, struct buffer *out)
{
    switch (setting->type) {
    case SETTING_TEXT:
    case SETTING_TEXTS:
        buffer_append(out, SLICE("a text"));
        break;
    case SETTING_NAME:
        buffer_append(out, SLICE("a name of 1 to 255 bytes without spaces"));
        break;
    case SETTING_ADDRESS:
    case SETTING_ADDRESSES:
        buffer_append(out, SLICE("an address such as 127.0.0.1:7711, [::1]:7711 or unix:/path"));
        if (setting->type == SETTING_ADDRESS) {
            buffer_append(out, SLICE(", or \"\" for none"));
        }
        break;
    case SETTING_PASSWORD:
        buffer_append(out, SLICE("a password or its hash"));
        break;
    case SETTING_USERS:
        buffer_append(out, SLICE("a name, a password or its hash, and rights such as app:write"));
        break;
    case SETTING_PUSHES:
        buffer_append(out, SLICE("a namespace, a klass, an address, and options such as "
                                 "CONCURRENCY 5"));
        break;
    case SETTING_BOOLEAN:
        buffer_append(out, SLICE("yes or no"));
        break;
    case SETTING_COUNT:
        buffer_printf(out, "a number from %llu to %llu", (unsigned long long)setting->min,
                      (unsigned long long)setting->max);
        append_words_allowed(setting, out);
        break;
    case SETTING_SIZE:
        buffer_append(out, SLICE("a size such as 64k or 1MiB, from "));
        append_size(setting->min, out);
        buffer_append(out, SLICE(" to "));
        append_size(setting->max, out);
        append_words_allowed(setting, out);
        break;
    case SETTING_TIME:
        buffer_append(out, SLICE("a time such as 500ms, 10s or 5m, from "));
        append_time((int64_t)setting->min, out);
        buffer_append(out, SLICE(" to "));
        append_time((int64_t)setting->max, out);
        if (setting->flags & SETTING_NEVER) {
            buffer_append(out, SLICE(", or 0"));
        }
        break;
    case SETTING_DURABILITY:
        buffer_append(out, SLICE("always, interval, interval:MS or never"));
        break;
    case SETTING_LEVEL:
        buffer_append(out, SLICE("debug, info, warning or error"));
        break;
    }
}

static enum status refuse(const struct setting *setting, const struct setting_words *words,
                          struct error *error)
{
    char memory[ALLOWED_SIZE_MAX] = "";
    struct buffer allowed;
    buffer_init(&allowed, &allocator_system, sizeof(memory) - 1);
    setting_append_allowed(setting, &allowed);
    memcpy(memory, allowed.data ? allowed.data : "", allowed.size);
    buffer_release(&allowed);
    if (words->count != 1) {
        return error_set(error, STATUS_INVALID, "%s has %zu values and needs one: %s", words->where,
                         words->count, memory);
    }
    if (setting_is_secret(setting)) {
        return error_set(error, STATUS_INVALID, "%s is not %s", words->where, memory);
    }
    return error_set(error, STATUS_INVALID, "%s '%.*s' is not %s", words->where,
                     words->words[0].size > 40 ? 40 : (int)words->words[0].size,
                     words->words[0].size ? words->words[0].data : "", memory);
}

// ---------------------------------------------------------------------------------------------
// Texts and lists

static enum status no_memory(struct error *error)
{
    return error_set(error, STATUS_NO_MEMORY, "there is no memory for the settings");
}

static char *copy(const struct allocator *allocator, struct slice text)
{
    char *made = mem_alloc(allocator, text.size + 1);
    if (made) {
        if (text.data) {
            memcpy(made, text.data, text.size);
        }
        made[text.size] = '\0';
    }
    return made;
}

// Texts may be hashes of passwords, so they are cleared before they are freed.
static void wipe(const struct allocator *allocator, char *text)
{
    if (text) {
        size_t size = strlen(text) + 1;
        OPENSSL_cleanse(text, size);
        mem_free(allocator, text, size);
    }
}

static enum status put_text(const struct setting *setting, struct settings *settings,
                            struct slice text, struct error *error)
{
    char **field = setting_field(setting, settings);
    char *made = copy(settings->allocator, text);
    if (!made) {
        return no_memory(error);
    }
    wipe(settings->allocator, *field);
    *field = made;
    return STATUS_OK;
}

static enum status put_item(const struct setting *setting, struct settings *settings,
                            struct slice text, struct error *error)
{
    struct settings_list *list = setting_field(setting, settings);
    size_t size = list->count * sizeof(char *);
    if (list->count >= SETTINGS_LIST_MAX) {
        return error_set(error, STATUS_INVALID, "%s has more than %d values", setting->name,
                         SETTINGS_LIST_MAX);
    }
    char **items = mem_resize(settings->allocator, list->items, size, size + sizeof(char *));
    if (!items) {
        return no_memory(error);
    }
    list->items = items;
    items[list->count] = copy(settings->allocator, text);
    if (!items[list->count]) {
        // The size of the block must match the count, so the resize is undone.
        list->items = mem_resize(settings->allocator, items, size + sizeof(char *), size);
        return no_memory(error);
    }
    list->count++;
    return STATUS_OK;
}

// Hashes a password; a text that is a hash already is kept.
static enum status hash(struct slice password, char text[PASSWORD_TEXT_SIZE], struct error *error)
{
    struct password made;
    enum status status = password_is_hash(password)
                             ? password_parse(password, &made, error)
                             : password_hash(password, PASSWORD_ITERATIONS_PLAIN, &made, error);
    if (status == STATUS_OK) {
        password_format(&made, text);
    }
    return status;
}

static enum status named(const struct setting_words *words, enum status status, struct error *error)
{
    struct error reason = error ? *error : (struct error){ 0 };
    return status ? error_set(error, status, "%s: %s", words->where, error_sentence(&reason))
                  : STATUS_OK;
}

static enum status set_password(const struct setting *setting, struct settings *settings,
                                const struct setting_words *words, struct error *error)
{
    char text[PASSWORD_TEXT_SIZE] = "";
    enum status status = STATUS_OK;
    if (words->words[0].size) {
        status = hash(words->words[0], text, error);
    }
    return status ? named(words, status, error)
                  : put_text(setting, settings, slice_from_cstr(text), error);
}

static enum status set_user(const struct setting *setting, struct settings *settings,
                            const struct setting_words *words, struct error *error)
{
    char text[PASSWORD_TEXT_SIZE];
    struct buffer line;
    enum status status = user_check_words(words->words, words->count, error);
    if (status == STATUS_OK) {
        status = hash(words->words[1], text, error);
    }
    if (status) {
        return named(words, status, error);
    }
    buffer_init(&line, settings->allocator, SETTINGS_VALUE_MAX);
    buffer_append(&line, words->words[0]);
    buffer_append_char(&line, ' ');
    buffer_append(&line, slice_from_cstr(text));
    for (size_t i = 2; i < words->count; i++) {
        buffer_append_char(&line, ' ');
        buffer_append(&line, words->words[i]);
    }
    status = line.status;
    if (status == STATUS_OK) {
        status = put_item(setting, settings, buffer_slice(&line), error);
    } else {
        status = named(words, error_set(error, status, "%s", status_sentence(status)), error);
    }
    buffer_release(&line);
    return status;
}

static enum status check_push(const struct setting_words *words, struct error *error)
{
    struct push_plan plan;
    if (words->count < 3 || words->words[0].size == 0 || words->words[0].size > NAME_SIZE_MAX) {
        return error_set(error, STATUS_INVALID, "a push has a namespace, a klass and an address");
    }
    for (size_t i = 0; i < words->count; i++) {
        if (words->words[i].size && memchr(words->words[i].data, '\0', words->words[i].size)) {
            return error_set(error, STATUS_INVALID, "a push has a zero byte in it");
        }
    }
    const struct slices rest = { words->words + 1, words->count - 1 };
    enum status status = push_plan_init(&plan, &allocator_system, rest, error);
    if (!status) {
        push_plan_release(&plan);
    }
    return status;
}

static enum status set_push(const struct setting *setting, struct settings *settings,
                            const struct setting_words *words, struct error *error)
{
    struct buffer item;
    enum status status = check_push(words, error);
    if (status) {
        return named(words, status, error);
    }
    buffer_init(&item, settings->allocator, PUSH_ITEM_MAX);
    push_item_write(words->words[0], (struct slices){ words->words + 1, words->count - 1 }, &item);
    status =
        item.status ? no_memory(error) : put_item(setting, settings, buffer_slice(&item), error);
    if (item.data) {
        OPENSSL_cleanse(item.data, item.size);
    }
    buffer_release(&item);
    return status;
}

// ---------------------------------------------------------------------------------------------
// One word of each type; false if it is not valid

static bool set_boolean(struct slice word, bool *out)
{
    static const char *const yes[] = { "yes", "true", "on", "1" };
    static const char *const no[] = { "no", "false", "off", "0" };
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        if (equal_nocase(word, yes[i]) || equal_nocase(word, no[i])) {
            *out = equal_nocase(word, yes[i]);
            return true;
        }
    }
    return false;
}

// The word for a special number, or NULL.
static const char *word_of_number(const struct setting *setting, uint64_t number)
{
    return number == 0 && setting->flags & SETTING_NONE            ? "none"
           : number == UINT64_MAX && setting->flags & SETTING_AUTO ? "auto"
                                                                   : NULL;
}

static bool set_number(const struct setting *setting, struct slice word, uint64_t *out)
{
    uint64_t number = equal_nocase(word, "none") ? 0 : UINT64_MAX;
    const char *name = word_of_number(setting, number);
    if (name && equal_nocase(word, name)) {
        *out = number;
        return true;
    }
    enum status status = setting->type == SETTING_SIZE ? setting_parse_size(word, &number)
                                                       : num_parse_u64(word, &number);
    if (status || number < setting->min || number > setting->max) {
        return false;
    }
    *out = number;
    return true;
}

static bool set_time(const struct setting *setting, struct slice word, int64_t *out)
{
    int64_t us;
    if (setting_parse_time(word, &us) || us < 0) {
        return false;
    }
    bool never = us == 0 && setting->flags & SETTING_NEVER;
    if (!never && ((uint64_t)us < setting->min || (uint64_t)us > setting->max)) {
        return false;
    }
    *out = us;
    return true;
}

static bool set_level(struct slice word, enum log_level *out)
{
    for (int i = 0; level_names[i]; i++) {
        if (equal_nocase(word, level_names[i])) {
            *out = (enum log_level)i;
            return true;
        }
    }
    return false;
}

// Whether a word is valid for its type.
static bool text_is_valid(enum setting_type type, struct slice word)
{
    struct address address;
    switch (type) {
    case SETTING_ADDRESS:
    case SETTING_ADDRESSES:
        return word.size == 0 || address_parse(word, &address, NULL) == STATUS_OK;
    case SETTING_NAME:
        for (size_t i = 0; i < word.size; i++) {
            if ((unsigned char)word.data[i] <= ' ') {
                return false;
            }
        }
        return word.size > 0 && word.size <= NAME_SIZE_MAX;
    default:
        return word.size < SETTINGS_VALUE_MAX &&
               (word.size == 0 || !memchr(word.data, '\0', word.size));
    }
}

enum status setting_set(const struct setting *setting, struct settings *settings,
                        const struct setting_words *words, struct error *error)
{
    struct slice word = words->count ? words->words[0] : SLICE_EMPTY;
    bool nothing = words->count == 1 && word.size == 0;
    if (setting->type == SETTING_USERS) {
        return nothing ? STATUS_OK : set_user(setting, settings, words, error);
    }
    if (setting->type == SETTING_PUSHES) {
        return nothing ? STATUS_OK : set_push(setting, settings, words, error);
    }
    if (words->count != 1) {
        return refuse(setting, words, error);
    }
    bool valid = false;
    switch (setting->type) {
    case SETTING_BOOLEAN:
        valid = set_boolean(word, setting_field(setting, settings));
        break;
    case SETTING_COUNT:
    case SETTING_SIZE:
        valid = set_number(setting, word, setting_field(setting, settings));
        break;
    case SETTING_TIME:
        valid = set_time(setting, word, setting_field(setting, settings));
        break;
    case SETTING_DURABILITY:
        valid = durability_parse(word, &settings->durability, &settings->durability_interval_us);
        break;
    case SETTING_LEVEL:
        valid = set_level(word, setting_field(setting, settings));
        break;
    case SETTING_PASSWORD:
        return set_password(setting, settings, words, error);
    default:
        if (text_is_valid(setting->type, word)) {
            if (!setting_is_list(setting)) {
                return put_text(setting, settings, word, error);
            }
            return nothing ? STATUS_OK : put_item(setting, settings, word, error);
        }
    }
    return valid ? STATUS_OK : refuse(setting, words, error);
}

// ---------------------------------------------------------------------------------------------

void setting_clear(const struct setting *setting, struct settings *settings)
{
    if (setting_is_list(setting)) {
        struct settings_list *list = setting_field(setting, settings);
        for (size_t i = 0; i < list->count; i++) {
            wipe(settings->allocator, list->items[i]);
        }
        mem_free(settings->allocator, list->items, list->count * sizeof(char *));
        *list = (struct settings_list){ NULL, 0 };
    } else if (setting->type <= SETTING_PASSWORD) {
        char **field = setting_field(setting, settings);
        wipe(settings->allocator, *field);
        *field = NULL;
    }
}

static void swap_bytes(void *a, void *b, size_t size)
{
    char before[sizeof(struct settings_list)];
    memcpy(before, a, size);
    memcpy(a, b, size);
    memcpy(b, before, size);
}

void setting_swap(const struct setting *setting, struct settings *a, struct settings *b)
{
    size_t size = sizeof(uint64_t);
    if (setting_is_list(setting)) {
        size = sizeof(struct settings_list);
    } else if (setting->type <= SETTING_PASSWORD) {
        size = sizeof(char *);
    } else if (setting->type == SETTING_BOOLEAN) {
        size = sizeof(bool);
    } else if (setting->type == SETTING_LEVEL) {
        size = sizeof(enum log_level);
    } else if (setting->type == SETTING_DURABILITY) {
        size = sizeof(enum store_durability);
        swap_bytes(&a->durability_interval_us, &b->durability_interval_us, sizeof(int64_t));
    }
    swap_bytes(setting_field(setting, a), setting_field(setting, b), size);
}

static void append_durability(const struct settings *settings, struct buffer *out)
{
    if (settings->durability == STORE_INTERVAL) {
        buffer_printf(out, "interval:%lld", (long long)settings->durability_interval_us / 1000);
    } else {
        buffer_append(out,
                      slice_from_cstr(settings->durability == STORE_ALWAYS ? "always" : "never"));
    }
}

// Appends a user without the hash.
static void append_user(const char *line, struct buffer *out)
{
    size_t name_size = strcspn(line, " ");
    buffer_append(out, slice_make(line, name_size));
    buffer_append(out, SLICE(" (hidden)"));
    const char *hash_text = line + name_size + (line[name_size] == ' ');
    buffer_append(out, slice_from_cstr(hash_text + strcspn(hash_text, " ")));
}

static void append_list(const struct setting *setting, const struct settings_list *list,
                        struct buffer *out)
{
    for (size_t i = 0; i < list->count; i++) {
        if (i > 0) {
            buffer_append_char(out, '\n');
        }
        if (setting->type == SETTING_USERS) {
            append_user(list->items[i], out);
        } else if (setting->type == SETTING_PUSHES) {
            push_item_show(slice_from_cstr(list->items[i]), out);
        } else {
            buffer_append(out, slice_from_cstr(list->items[i]));
        }
    }
}

static void append_number(const struct setting *setting, uint64_t number, struct buffer *out)
{
    const char *word = word_of_number(setting, number);
    if (word) {
        buffer_append(out, slice_from_cstr(word));
    } else if (setting->type == SETTING_SIZE) {
        append_size(number, out);
    } else {
        num_append_u64(out, number);
    }
}

void setting_append(const struct setting *setting, const struct settings *settings,
                    struct buffer *out)
{
    const void *field = setting_field_const(setting, settings);
    const char *text;
    switch (setting->type) {
    case SETTING_TEXT:
    case SETTING_NAME:
    case SETTING_ADDRESS:
        buffer_append(out, slice_from_cstr(*(char *const *)field));
        break;
    case SETTING_PASSWORD:
        text = *(char *const *)field;
        buffer_append(out, slice_from_cstr(*text ? "(hidden)" : ""));
        break;
    case SETTING_BOOLEAN:
        buffer_append(out, slice_from_cstr(*(const bool *)field ? "yes" : "no"));
        break;
    case SETTING_COUNT:
    case SETTING_SIZE:
        append_number(setting, *(const uint64_t *)field, out);
        break;
    case SETTING_TIME:
        append_time(*(const int64_t *)field, out);
        break;
    case SETTING_DURABILITY:
        append_durability(settings, out);
        break;
    case SETTING_LEVEL:
        buffer_append(out, slice_from_cstr(level_names[*(const enum log_level *)field]));
        break;
    case SETTING_TEXTS:
    case SETTING_ADDRESSES:
    case SETTING_USERS:
    case SETTING_PUSHES:
        append_list(setting, field, out);
        break;
    }
}
