// SPDX-License-Identifier: MIT
// Reload: all settings are read into a new struct, those that cannot change keep their values, and
// the new struct replaces the old one only if it passes all checks.
#include "server/config/settings_value.h"

enum {
    TEXT_SIZE_MAX = 8 << 20,
    SENTENCE_SIZE = 512,
};

// Whether a value differs, in the form that may be shown.
static enum status compare(const struct setting *setting, const struct settings *a,
                           const struct settings *b, bool *differs)
{
    struct buffer texts[2];
    buffer_init(&texts[0], a->allocator, TEXT_SIZE_MAX);
    buffer_init(&texts[1], a->allocator, TEXT_SIZE_MAX);
    setting_append(setting, a, &texts[0]);
    setting_append(setting, b, &texts[1]);
    enum status status = texts[0].status ? texts[0].status : texts[1].status;
    *differs = !slice_equal(buffer_slice(&texts[0]), buffer_slice(&texts[1]));
    buffer_release(&texts[0]);
    buffer_release(&texts[1]);
    return status;
}

static enum status compare_all(const struct settings *a, const struct settings *b, bool *differ,
                               struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < settings_count && status == STATUS_OK; i++) {
        status = compare(&settings_table[i], a, b, &differ[i]);
    }
    return status ? error_set(error, status, "there is no memory to compare the settings")
                  : STATUS_OK;
}

static void report_change(const struct settings_listener *listener, const struct setting *setting,
                          const struct settings *settings)
{
    char sentence[SENTENCE_SIZE];
    struct buffer text;
    if (!(setting->flags & SETTING_RELOADS)) {
        (void)snprintf(sentence, sizeof(sentence), "%s has changed and needs a restart",
                       setting->name);
    } else {
        buffer_init(&text, settings->allocator, TEXT_SIZE_MAX);
        setting_append(setting, settings, &text);
        (void)snprintf(sentence, sizeof(sentence), "%s is now '%.*s'", setting->name,
                       text.size > 256 ? 256 : (int)text.size, text.size ? text.data : "");
        buffer_release(&text);
    }
    listener->report(listener->context, setting->name, sentence);
}

// Keeps the values of settings that cannot change at run time.
static void swap_fixed(struct settings *settings, struct settings *fresh)
{
    for (size_t i = 0; i < settings_count; i++) {
        if (!(settings_table[i].flags & SETTING_RELOADS)) {
            setting_swap(&settings_table[i], settings, fresh);
        }
    }
}

enum status settings_reload(struct settings *settings, const struct settings_listener *listener,
                            struct error *error)
{
    struct settings fresh;
    enum settings_request request;
    bool differ[SETTINGS_COUNT_MAX] = { false };
    enum status status = settings_load(&fresh, settings->allocator, settings->argc, settings->argv,
                                       settings->environment, &request, error);
    if (status || request != SETTINGS_RUN) {
        return status;
    }
    status = compare_all(settings, &fresh, differ, error);
    if (status) {
        settings_release(&fresh);
        return status;
    }
    swap_fixed(settings, &fresh);
    status = settings_check(&fresh, error);
    if (!status && listener && listener->accept) {
        status = listener->accept(listener->context, &fresh, error);
    }
    if (status) {
        swap_fixed(settings, &fresh);
        settings_release(&fresh);
        return status;
    }
    for (size_t i = 0; i < settings_count && listener; i++) {
        if (differ[i]) {
            report_change(listener, &settings_table[i], &fresh);
        }
    }
    struct settings before = *settings;
    *settings = fresh;
    settings_release(&before);
    return STATUS_OK;
}
