// SPDX-License-Identifier: MIT
// The table of settings. Only the files settings*.c include this header.
#ifndef SLUICE_SERVER_CONFIG_SETTINGS_TABLE_H
#define SLUICE_SERVER_CONFIG_SETTINGS_TABLE_H

#include "server/config/settings.h"

// The type of a value, and its type in struct settings.
enum setting_type {
    SETTING_TEXT,       // char *
    SETTING_NAME,       // char *: 1 to 255 bytes, no white space
    SETTING_ADDRESS,    // char *: an address or ""
    SETTING_PASSWORD,   // char *: a hash or ""; plain text is hashed
    SETTING_BOOLEAN,    // bool
    SETTING_COUNT,      // uint64_t from `min` to `max`
    SETTING_SIZE,       // uint64_t from `min` to `max`, in bytes
    SETTING_TIME,       // int64_t from `min` to `max`, in microseconds
    SETTING_DURABILITY, // enum store_durability, and the interval
    SETTING_LEVEL,      // enum log_level
    SETTING_TEXTS,      // struct settings_list
    SETTING_ADDRESSES,  // struct settings_list
    SETTING_USERS,      // struct settings_list
    SETTING_PUSHES,     // struct settings_list of texts by push_item_write (push/rules/plan.h)
};

enum {
    SETTING_RELOADS = 1, // can be changed at run time
    SETTING_NEVER = 2,   // a time: 0 is allowed in addition to `min` to `max`, and means never
    SETTING_NO_FILE = 4, // not allowed in the config file
    SETTING_NONE = 8,    // a count or a size: `none` is allowed, and is stored as 0
    SETTING_AUTO = 16,   // a count or a size: `auto` is allowed, and is stored as UINT64_MAX
};

struct setting {
    const char *name;
    const char *group; // the rows of a group are adjacent
    enum setting_type type;
    unsigned flags;
    size_t offset; // in struct settings
    uint64_t min, max;
    const char *initial; // the default, as it would be written; of a list one value or ""
    const char *value;   // what stands for the value in the help: "SIZE"
    const char *summary; // one sentence
};

extern const struct setting settings_table[];
extern const size_t settings_count;

// An error in one place: STATUS_OK when it was reported, so that reading or checking goes on.
MUST_USE enum status settings_note(const struct settings *settings, enum status status,
                                   const struct error *error);

static inline bool setting_is_list(const struct setting *setting)
{
    return setting->type >= SETTING_TEXTS;
}

// Whether a value consists of several words.
static inline bool setting_has_words(const struct setting *setting)
{
    return setting->type == SETTING_USERS || setting->type == SETTING_PUSHES;
}

static inline bool setting_is_secret(const struct setting *setting)
{
    return setting->type == SETTING_PASSWORD || setting->type == SETTING_USERS ||
           setting->type == SETTING_PUSHES;
}

static inline void *setting_field(const struct setting *setting, struct settings *settings)
{
    return (char *)settings + setting->offset;
}

static inline const void *setting_field_const(const struct setting *setting,
                                              const struct settings *settings)
{
    return (const char *)settings + setting->offset;
}

#endif
