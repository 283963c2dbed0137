// SPDX-License-Identifier: MIT
#include "store/salvage/salvage.h"

#include "os/file.h"
#include "store/create.h"
#include "store/lock.h"
#include "store/recover.h"
#include "store/salvage/salvage_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SENTENCE_SIZE = 512,
};

void reporter_report(const struct reporter *reporter, bool bad, const char *format, ...)
{
    if (!reporter->report) {
        return;
    }
    char sentence[SENTENCE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    error_print(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    reporter->report(reporter->context, bad, reporter->share, sentence);
}

void reporter_share(struct reporter *reporter, double share)
{
    if (reporter->report && share > reporter->share) {
        reporter->share = share < 1 ? share : 1;
        reporter->report(reporter->context, false, reporter->share, NULL);
    }
}

// ---------------------------------------------------------------------------------------------
// The folder

enum status salvage_hold(const char *path, bool make, struct salvage_folder *out,
                         struct error *error)
{
    *out = (struct salvage_folder){ -1, -1 };
    enum status status = file_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, &out->folder, error);
    if (status) {
        out->folder = -1;
        return status;
    }
    status = lock_take(out->folder, path, O_RDONLY | (make ? O_CREAT : 0), &out->lock, error);
    // Without a lock file no process has the store open.
    if (status == STATUS_NOT_FOUND && !make) {
        return STATUS_OK;
    }
    if (status) {
        salvage_let_go(out);
    }
    return status;
}

void salvage_let_go(struct salvage_folder *held)
{
    if (held->lock >= 0) {
        close(held->lock);
    }
    if (held->folder >= 0) {
        close(held->folder);
    }
    *held = (struct salvage_folder){ -1, -1 };
}

// OK if there is a base; NOT_FOUND if nothing was ever stored in the folder.
static enum status check_base(int folder, const char *path, struct error *error)
{
    struct stat stat;
    if (fstatat(folder, "base", &stat, 0) == 0) {
        return STATUS_OK;
    }
    if (errno != ENOENT) {
        return file_error(error, "look at", "base");
    }
    enum status status = create_check_all_unused(folder, error);
    return status ? status : error_set(error, STATUS_NOT_FOUND, "there is no store in %s", path);
}

enum status salvage_look(const struct salvage_folder *held, const char *path,
                         const struct allocator *allocator, const struct store_visitor *visitor,
                         uint64_t *torn, struct error *error)
{
    *torn = 0;
    enum status status = check_base(held->folder, path, error);
    if (status) {
        return status;
    }
    struct store store = { .allocator = allocator, .folder = held->folder };
    status = recover_look(&store, visitor, torn, error);
    if (store.segments.sectors) {
        segments_release(&store.segments);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------
// Readable records

static void snapshot_swap(struct snapshot *a, struct snapshot *b)
{
    struct snapshot before = *a;
    *a = *b;
    *b = before;
}

// The previous snapshot of the base is as good as the newest one if the journal has all later
// changes.
static const struct snapshot *
choose(struct salvage_base *base, const struct salvage_journal *journal, struct reporter *reporter)
{
    struct snapshot *newest = &base->newest, *before = &base->before;
    if (newest->whole || !before->whole) {
        return newest;
    }
    uint64_t last = newest->has_record ? newest->record.covered : salvage_journal_last(journal);
    if (!salvage_journal_has(journal, before->record.covered + 1, last)) {
        return newest;
    }
    reporter_report(reporter, false,
                    "the base as it was at group %llu is whole, and the journal goes on from there",
                    (unsigned long long)before->record.covered);
    snapshot_swap(newest, before);
    return newest;
}

static void write_missing(const struct snapshot *snapshot, struct reporter *reporter)
{
    if (!snapshot->has_record) {
        reporter_report(reporter, true,
                        "the store's own record is lost: which records are missing cannot be told");
    } else if (snapshot->count < snapshot->record.count) {
        reporter_report(reporter, true, "%llu of the %llu entries of base/data.mdb cannot be read",
                        (unsigned long long)(snapshot->record.count - snapshot->count),
                        (unsigned long long)snapshot->record.count);
    } else if (!snapshot->whole) {
        reporter_report(
            reporter, true,
            "base/data.mdb should hold %llu entries, and %llu were found: some are old ones",
            (unsigned long long)snapshot->record.count, (unsigned long long)snapshot->count);
    }
    if (snapshot->undecided) {
        reporter_report(
            reporter, true,
            "%llu records were found more than once, and which image is the newest cannot be "
            "told",
            (unsigned long long)snapshot->undecided);
    }
}

enum status salvage_read(const struct salvage_folder *held, const struct allocator *allocator,
                         struct reporter *reporter, struct salvaged *out, struct error *error)
{
    struct salvage_base base;
    struct salvage_journal *journal = NULL;
    *out = (struct salvaged){ .lossy = false };
    images_init(&out->images, allocator);
    enum status status = salvage_base_read(held->folder, allocator, reporter, &base, error);
    if (!status) {
        const struct snapshot *any = base.newest.has_record ? &base.newest : &base.before;
        status = salvage_journal_open(held->folder, allocator, reporter,
                                      any->has_record ? &any->record : NULL, &journal, error);
    }
    if (!status) {
        const struct snapshot *chosen = choose(&base, journal, reporter);
        write_missing(chosen, reporter);
        out->lossy = !chosen->whole;
        out->segment_size = chosen->has_record ? chosen->record.segment_size : 0;
        out->images = base.newest.images;
        images_init(&base.newest.images, allocator);
        status = salvage_journal_apply(journal, chosen->has_record ? &chosen->record : NULL,
                                       &out->images, &out->lossy, error);
    }
    out->is_store = out->segment_size || out->images.count;
    images_sort(&out->images);
    salvage_journal_close(journal);
    salvage_base_release(&base);
    if (status) {
        salvage_release(out);
    }
    return status;
}

void salvage_release(struct salvaged *salvaged)
{
    images_release(&salvaged->images);
}
