// SPDX-License-Identifier: MIT
#include "doctor/doctor.h"

#include "doctor/exchange.h"
#include "doctor/namespaces.h"
#include "engine/records/salvage.h"

#include <string.h>

#define SHARE_READ    0.6 // of the whole work
#define SHARE_CHECKED 0.95

struct doctor {
    const struct doctor_options *options;
    struct reporter reporter;
    size_t findings;
    struct error first; // the error with which opening refuses the folder
};

// Forwards findings, and counts the bad ones. The error of opening is reported only once.
static void forward_report(void *context, bool bad, double share, const char *sentence)
{
    struct doctor *doctor = context;
    if (bad && sentence && doctor->first.status && strcmp(sentence, doctor->first.detail) == 0) {
        return;
    }
    doctor->findings += bad && sentence;
    if (doctor->options->report) {
        doctor->options->report(doctor->options->context, bad, share, sentence);
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

// Reads the folder as opening does; if that is refused, reads everything that is readable.
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
        reporter_report(
            &doctor->reporter, false,
            "%llu sectors at the end of the journal were not acknowledged; opening cuts them",
            (unsigned long long)torn);
    }
    if (!status) {
        images_sort(&out->images);
        reporter_share(&doctor->reporter, SHARE_READ);
        return STATUS_OK;
    }
    salvage_release(out);
    if (!is_damage(status)) {
        return status;
    }
    reporter_report(&doctor->reporter, true, "%s", error_sentence(error));
    doctor->first = *error;
    status = salvage_read(held, allocator, &doctor->reporter, out, error);
    doctor->first.status = STATUS_OK;
    reporter_share(&doctor->reporter, SHARE_READ);
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

// Reads the new folder as opening the store will read it.
static enum status check_new(struct doctor *doctor, const char *path, struct error *error)
{
    struct salvage_folder held;
    struct salvaged salvaged = { 0 };
    struct doctor_namespaces namespaces = { 0 };
    size_t before = doctor->findings;
    enum status status = salvage_hold(path, false, &held, error);
    if (status) {
        return status;
    }
    status = read_folder(doctor, &held, path, &salvaged, error);
    if (!status) {
        status = doctor_namespaces_load(&namespaces, &salvaged, doctor->options->now_us,
                                        &doctor->reporter, error);
        doctor_namespaces_release(&namespaces);
        salvage_release(&salvaged);
    }
    salvage_let_go(&held);
    if (!status && doctor->findings != before) {
        status = error_set(error, STATUS_CORRUPT, "what was saved in %s does not check", path);
    }
    reporter_share(&doctor->reporter, SHARE_CHECKED);
    return status;
}

static enum status replace(struct doctor *doctor, const struct doctor_namespaces *namespaces,
                           const char *path, struct error *error)
{
    struct exchange exchange;
    enum status status = exchange_find(path, &exchange, error);
    if (!status) {
        status = doctor_namespaces_write(namespaces, exchange.part, &doctor->reporter, error);
    }
    if (!status) {
        status = check_new(doctor, exchange.part, error);
    }
    if (!status) {
        status = exchange_take(&exchange, error);
    }
    if (status) {
        exchange_clear(&exchange);
        return status;
    }
    reporter_report(&doctor->reporter, false,
                    "what could be read is in %s; the folder as it was is kept as %s",
                    exchange.path, exchange.damaged);
    return STATUS_OK;
}

static enum status repair(struct doctor *doctor, const struct doctor_namespaces *namespaces,
                          const struct salvaged *salvaged, const char *path, struct error *error)
{
    if (!salvaged->is_store) {
        return error_set(error, STATUS_CORRUPT, "nothing in %s can be read; nothing was changed",
                         path);
    }
    size_t jobs = 0, count = 0;
    for (size_t i = 0; i < namespaces->count; i++) {
        const struct engine *engine = namespaces->items[i].engine;
        jobs += engine ? engine_job_count(engine) : 0;
        count += engine != NULL;
    }
    enum status status = replace(doctor, namespaces, path, error);
    if (!status) {
        reporter_report(&doctor->reporter, false, "jobs saved: %zu, in namespaces: %zu", jobs,
                        count);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Check and repair

static enum status run(struct doctor *doctor, const struct salvage_folder *held, const char *path,
                       struct error *error)
{
    struct salvaged salvaged;
    struct doctor_namespaces namespaces = { 0 };
    enum status status = read_folder(doctor, held, path, &salvaged, error);
    if (status) {
        return status;
    }
    status = doctor_namespaces_load(&namespaces, &salvaged, doctor->options->now_us,
                                    &doctor->reporter, error);
    if (!status && doctor->findings && doctor->options->remedy == DOCTOR_REPAIR) {
        status = repair(doctor, &namespaces, &salvaged, path, error);
    } else if (!status) {
        status = judge(doctor, path, error);
    }
    doctor_namespaces_release(&namespaces);
    salvage_release(&salvaged);
    return status;
}

enum status doctor_run(const struct doctor_options *options, struct error *error)
{
    struct doctor doctor = { .options = options };
    struct error ignored = { 0 };
    struct salvage_folder held;
    char path[EXCHANGE_PATH_SIZE];
    error = error ? error : &ignored;
    doctor.reporter = (struct reporter){ .report = forward_report, .context = &doctor };
    enum status status = exchange_resolve(options->path, path, error);
    if (!status) {
        status = salvage_hold(path, options->remedy == DOCTOR_REPAIR, &held, error);
    }
    if (status) {
        return status;
    }
    status = run(&doctor, &held, path, error);
    salvage_let_go(&held);
    if (!status) {
        reporter_share(&doctor.reporter, 1);
    }
    return status;
}
