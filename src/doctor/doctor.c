// SPDX-License-Identifier: MIT
#include "doctor/doctor.h"

#include "doctor/place.h"
#include "doctor/spaces.h"
#include "engine/records/salvage.h"

#include <string.h>

#define SHARE_READ    0.6 // of all the work
#define SHARE_CHECKED 0.95

struct doctor {
    const struct doctor_options *options;
    struct voice voice;
    size_t findings;
    struct error first; // the sentence with which opening refuses
};

// Counts what is bad. Opening's own sentence is said once.
static void hear(void *context, bool bad, double share, const char *sentence)
{
    struct doctor *doctor = context;
    if (bad && sentence && doctor->first.status && strcmp(sentence, doctor->first.detail) == 0) {
        return;
    }
    doctor->findings += bad && sentence;
    if (doctor->options->say) {
        doctor->options->say(doctor->options->context, bad, share, sentence);
    }
}

static enum status keep(void *context, struct store_key key, struct slice bytes,
                        struct error *error)
{
    enum status status = images_put(context, key, bytes);
    return status ? error_set(error, status, "out of memory") : STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Reading

static bool is_damage(enum status status)
{
    return status == STATUS_CORRUPT || status == STATUS_IO;
}

// Reads the folder as opening does, and if that is refused, all that can be read.
static enum status read_folder(struct doctor *doctor, const struct salvage_folder *held,
                               const char *path, struct salvaged *out, struct error *error)
{
    const struct allocator *allocator = doctor->options->allocator;
    uint64_t torn;
    *out = (struct salvaged){ .is_store = true };
    images_init(&out->images, allocator);
    const struct store_visitor visitor = { .visit = keep, .context = &out->images };
    enum status status = salvage_look(held, path, allocator, &visitor, &torn, error);
    if (!status && torn) {
        voice_say(&doctor->voice, false,
                  "%llu sectors at the end of the journal were not acknowledged; opening cuts them",
                  (unsigned long long)torn);
    }
    if (!status) {
        images_sort(&out->images);
        voice_share(&doctor->voice, SHARE_READ);
        return STATUS_OK;
    }
    salvage_release(out);
    if (!is_damage(status)) {
        return status;
    }
    voice_say(&doctor->voice, true, "%s", error_sentence(error));
    doctor->first = *error;
    status = salvage_read(held, allocator, &doctor->voice, out, error);
    doctor->first.status = STATUS_OK;
    voice_share(&doctor->voice, SHARE_READ);
    return status;
}

static enum status judge(const struct doctor *doctor, const char *path, struct error *error)
{
    if (doctor->findings == 0) {
        return STATUS_OK;
    }
    return doctor->findings == 1
               ? error_set(error, STATUS_CORRUPT, "something is wrong with %s", path)
               : error_set(error, STATUS_CORRUPT, "%zu things are wrong with %s", doctor->findings,
                           path);
}

// ---------------------------------------------------------------------------------------------
// Repairing

// Reads the new folder back as opening the store will read it.
static enum status check_new(struct doctor *doctor, const char *path, struct error *error)
{
    struct salvage_folder held;
    struct salvaged salvaged = { 0 };
    struct spaces spaces = { 0 };
    size_t before = doctor->findings;
    enum status status = salvage_hold(path, false, &held, error);
    if (status) {
        return status;
    }
    status = read_folder(doctor, &held, path, &salvaged, error);
    if (!status) {
        status = spaces_load(&spaces, &salvaged, doctor->options->now_us, &doctor->voice, error);
        spaces_release(&spaces);
        salvage_release(&salvaged);
    }
    salvage_let_go(&held);
    if (!status && doctor->findings != before) {
        status = error_set(error, STATUS_CORRUPT, "what was saved in %s does not check", path);
    }
    voice_share(&doctor->voice, SHARE_CHECKED);
    return status;
}

static enum status replace(struct doctor *doctor, const struct spaces *spaces, const char *path,
                           struct error *error)
{
    struct place place;
    enum status status = place_find(path, &place, error);
    if (!status) {
        status = spaces_write(spaces, place.part, &doctor->voice, error);
    }
    if (!status) {
        status = check_new(doctor, place.part, error);
    }
    if (!status) {
        status = place_take(&place, error);
    }
    if (status) {
        place_clear(&place);
        return status;
    }
    voice_say(&doctor->voice, false,
              "what could be read is in %s; the folder as it was is kept as %s", place.path,
              place.damaged);
    return STATUS_OK;
}

static enum status repair(struct doctor *doctor, const struct spaces *spaces,
                          const struct salvaged *salvaged, const char *path, struct error *error)
{
    if (!salvaged->is_store) {
        return error_set(error, STATUS_CORRUPT, "nothing in %s can be read; nothing was changed",
                         path);
    }
    size_t jobs = 0, count = 0;
    for (size_t i = 0; i < spaces->count; i++) {
        const struct engine *engine = spaces->items[i].engine;
        jobs += engine ? engine_job_count(engine) : 0;
        count += engine != NULL;
    }
    enum status status = replace(doctor, spaces, path, error);
    if (!status) {
        voice_say(&doctor->voice, false, "jobs saved: %zu, in namespaces: %zu", jobs, count);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Both

static enum status run(struct doctor *doctor, const struct salvage_folder *held, const char *path,
                       struct error *error)
{
    struct salvaged salvaged;
    struct spaces spaces = { 0 };
    enum status status = read_folder(doctor, held, path, &salvaged, error);
    if (status) {
        return status;
    }
    status = spaces_load(&spaces, &salvaged, doctor->options->now_us, &doctor->voice, error);
    if (!status && doctor->findings && doctor->options->remedy == DOCTOR_REPAIR) {
        status = repair(doctor, &spaces, &salvaged, path, error);
    } else if (!status) {
        status = judge(doctor, path, error);
    }
    spaces_release(&spaces);
    salvage_release(&salvaged);
    return status;
}

enum status doctor_run(const struct doctor_options *options, struct error *error)
{
    struct doctor doctor = { .options = options };
    struct error ignored = { 0 };
    struct salvage_folder held;
    char path[PLACE_PATH_SIZE];
    error = error ? error : &ignored;
    doctor.voice = (struct voice){ .say = hear, .context = &doctor };
    enum status status = place_resolve(options->path, path, error);
    if (!status) {
        status = salvage_hold(path, options->remedy == DOCTOR_REPAIR, &held, error);
    }
    if (status) {
        return status;
    }
    status = run(&doctor, &held, path, error);
    salvage_let_go(&held);
    if (!status) {
        voice_share(&doctor.voice, 1);
    }
    return status;
}
