// SPDX-License-Identifier: MIT
#include "power.h"

#include "random.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    SECTOR = 512,
    LINE_SECTORS = 64, // shown of a write
};

// An operation that is not certain to be on disk. The sectors of a write are kept whole, as the
// file had them after it.
struct pending {
    size_t op;
    bool dropped; // a sync of it failed: the system may have let go of it, and no later sync helps
    size_t sector, sectors; // of a write: the first, and how many
    char *bytes;
    bool resizes;
    size_t size; // the new one
};

// Which operation (its index and one) a thing on disk is of, so that an older one that is still
// pending does not come over it.
struct ages {
    size_t *sectors;
    size_t count;
    size_t size;
};

struct name_age {
    uint32_t folder;
    char name[TRACE_NAME_SIZE];
    size_t age;
};

struct power {
    const struct trace *trace;
    size_t cut;
    struct disk disk; // what is certain
    struct disk seen; // what the process sees
    struct pending *pending;
    size_t pending_count, pending_capacity;
    struct ages *ages;   // by file
    const char **called; // by file: the last name it had
    struct name_age *names;
    size_t names_count, names_capacity;
};

static void add_start(struct disk *to, const struct trace_start *start, const struct disk *from,
                      uint32_t *numbers)
{
    const struct trace_entry *entry = &start->entry;
    uint32_t number = disk_find(from, numbers[entry->folder], entry->name);
    assert(number != TRACE_NO_FILE);
    numbers[entry->file] = number;
    struct disk_file *file = disk_file(to, entry->file, start->folder);
    const struct disk_file *original = &from->files[number];
    size_t there = original->size < original->used ? original->size : original->used;
    if (there) {
        memcpy(disk_bytes(file, 0, there), original->bytes, there);
    }
    file->size = original->size;
    disk_set_name(&to->files[entry->folder], entry->name, entry->file);
}

struct power *power_new(const struct trace *trace, const struct disk *start)
{
    struct power *power = calloc(1, sizeof(*power));
    assert(power);
    power->trace = trace;
    disk_init(&power->disk);
    disk_init(&power->seen);
    uint32_t *numbers = calloc((size_t)trace->files_count + 1, sizeof(*numbers));
    power->ages = calloc((size_t)trace->files_count + 1, sizeof(*power->ages));
    assert(numbers && power->ages);
    power->called = (const char **)calloc((size_t)trace->files_count + 1, sizeof(*power->called));
    assert(power->called);
    for (uint32_t i = 0; i < trace->files_count; i++) {
        power->called[i] = i ? "?" : ".";
    }
    for (size_t i = 0; i < trace->starts_count; i++) {
        assert(start);
        add_start(&power->disk, &trace->starts[i], start, numbers);
        power->called[trace->starts[i].entry.file] = trace->starts[i].entry.name;
    }
    free(numbers);
    // Those that come later are there from the beginning, without a name.
    for (uint32_t i = 0; i < trace->files_count; i++) {
        disk_file(&power->disk, i, trace->folders[i]);
    }
    disk_copy(&power->seen, &power->disk);
    return power;
}

void power_free(struct power *power)
{
    if (!power) {
        return;
    }
    for (size_t i = 0; i < power->pending_count; i++) {
        free(power->pending[i].bytes);
    }
    for (uint32_t i = 0; i < power->trace->files_count; i++) {
        free(power->ages[i].sectors);
    }
    disk_release(&power->disk);
    disk_release(&power->seen);
    free(power->pending);
    free(power->ages);
    free((void *)power->called);
    free(power->names);
    free(power);
}

static size_t *sector_age(struct power *power, uint32_t file, size_t sector)
{
    struct ages *ages = &power->ages[file];
    if (sector >= ages->count) {
        size_t count = sector * 2 + 64;
        ages->sectors = realloc(ages->sectors, count * sizeof(*ages->sectors));
        assert(ages->sectors);
        memset(ages->sectors + ages->count, 0, (count - ages->count) * sizeof(*ages->sectors));
        ages->count = count;
    }
    return &ages->sectors[sector];
}

static size_t sector_age_known(const struct power *power, uint32_t file, size_t sector)
{
    const struct ages *ages = &power->ages[file];
    return sector < ages->count ? ages->sectors[sector] : 0;
}

static struct name_age *find_name(const struct power *power, const struct trace_entry *entry)
{
    for (size_t i = 0; i < power->names_count; i++) {
        struct name_age *name = &power->names[i];
        if (name->folder == entry->folder && strcmp(name->name, entry->name) == 0) {
            return name;
        }
    }
    return NULL;
}

static size_t name_age_known(const struct power *power, const struct trace_entry *entry)
{
    const struct name_age *name = find_name(power, entry);
    return name ? name->age : 0;
}

static void set_name_age(struct power *power, const struct trace_entry *entry, size_t age)
{
    struct name_age *name = find_name(power, entry);
    if (!name) {
        if (power->names_count == power->names_capacity) {
            power->names_capacity = power->names_capacity * 2 + 16;
            power->names = realloc(power->names, power->names_capacity * sizeof(*power->names));
            assert(power->names);
        }
        name = &power->names[power->names_count++];
        *name = (struct name_age){ .folder = entry->folder };
        memcpy(name->name, entry->name, sizeof(name->name));
    }
    name->age = age;
}

static struct pending *add_pending(struct power *power, size_t op)
{
    if (power->pending_count == power->pending_capacity) {
        power->pending_capacity = power->pending_capacity * 2 + 64;
        power->pending = realloc(power->pending, power->pending_capacity * sizeof(*power->pending));
        assert(power->pending);
    }
    struct pending *pending = &power->pending[power->pending_count++];
    *pending = (struct pending){ .op = op };
    return pending;
}

static void resize(struct disk_file *file, size_t size)
{
    if (size < file->size && size < file->used) {
        memset(file->bytes + size, 0, file->used - size);
        file->used = size;
    }
    file->size = size;
}

static void see_write(struct power *power, const struct trace_op *op, size_t index)
{
    if (op->size == 0) {
        return;
    }
    struct disk_file *file = &power->seen.files[op->file];
    size_t offset = (size_t)op->offset;
    memcpy(disk_bytes(file, offset, op->size), power->trace->bytes + op->bytes, op->size);
    struct pending *pending = add_pending(power, index);
    pending->sector = offset / SECTOR;
    pending->sectors = (offset + op->size + SECTOR - 1) / SECTOR - pending->sector;
    size_t size = pending->sectors * SECTOR;
    pending->bytes = malloc(size);
    assert(pending->bytes);
    memcpy(pending->bytes, disk_bytes(file, pending->sector * SECTOR, size), size);
    if (offset + op->size > file->size) {
        pending->resizes = true;
        pending->size = file->size = offset + op->size;
    }
}

static void see(struct power *power, const struct trace_op *op, size_t index)
{
    if (op->kind == TRACE_WRITE) {
        see_write(power, op, index);
    } else if (op->kind == TRACE_SIZE) {
        resize(&power->seen.files[op->file], (size_t)op->offset);
        struct pending *pending = add_pending(power, index);
        pending->resizes = true;
        pending->size = (size_t)op->offset;
    } else if (op->kind == TRACE_ENTRY) {
        for (int i = 0; i < 2 && op->entries[i].folder != TRACE_NO_FILE; i++) {
            const struct trace_entry *entry = &op->entries[i];
            disk_set_name(&power->seen.files[entry->folder], entry->name, entry->file);
            if (entry->file != TRACE_NO_FILE) {
                power->called[entry->file] = entry->name;
            }
        }
        add_pending(power, index);
    }
}

// What of an operation is to be applied.
struct choice {
    bool there;   // any of it: a name, or a size that gets smaller
    bool resized; // a size that a write brought with it, or one that gets larger
    bool torn;
    uint64_t tear;        // seed for its sectors
    unsigned weak_random; // of a sector, in 8
};

static const struct choice whole = { .there = true, .resized = true };

static bool sector_chosen(const struct choice *choice, size_t index)
{
    if (!choice->torn) {
        return choice->there;
    }
    struct random random = { choice->tear + index * 0x9E3779B97F4A7C15U };
    return random_below(&random, 8) < choice->weak_random;
}

// Puts an operation, or what was chosen of it, on a disk. What is younger there stays.
static void apply(const struct power *power, struct disk *disk, const struct pending *pending,
                  const struct choice *choice)
{
    const struct trace_op *op = &power->trace->ops[pending->op];
    size_t age = pending->op + 1;
    if (op->kind == TRACE_ENTRY) {
        for (int i = 0; choice->there && i < 2 && op->entries[i].folder != TRACE_NO_FILE; i++) {
            const struct trace_entry *entry = &op->entries[i];
            if (name_age_known(power, entry) < age) {
                disk_set_name(&disk->files[entry->folder], entry->name, entry->file);
            }
        }
        return;
    }
    struct disk_file *file = &disk->files[op->file];
    for (size_t i = 0; i < pending->sectors; i++) {
        size_t sector = pending->sector + i;
        if (sector_chosen(choice, i) && sector_age_known(power, op->file, sector) < age) {
            memcpy(disk_bytes(file, sector * SECTOR, SECTOR), pending->bytes + i * SECTOR, SECTOR);
        }
    }
    if (pending->resizes && choice->resized && power->ages[op->file].size < age) {
        if (op->kind == TRACE_SIZE) {
            resize(file, pending->size);
        } else {
            file->size = pending->size;
        }
    }
}

// The operation is on disk for certain.
static void make_certain(struct power *power, struct pending *pending)
{
    const struct trace_op *op = &power->trace->ops[pending->op];
    size_t age = pending->op + 1;
    apply(power, &power->disk, pending, &whole);
    for (size_t i = 0; i < pending->sectors; i++) {
        size_t *known = sector_age(power, op->file, pending->sector + i);
        *known = *known < age ? age : *known;
    }
    if (pending->resizes && power->ages[op->file].size < age) {
        power->ages[op->file].size = age;
    }
    for (int i = 0; i < 2 && op->entries[i].folder != TRACE_NO_FILE; i++) {
        if (name_age_known(power, &op->entries[i]) < age) {
            set_name_age(power, &op->entries[i], age);
        }
    }
    free(pending->bytes);
    pending->bytes = NULL;
}

// Whether a sync of that file, begun at that index, covers an operation.
static bool covers(const struct power *power, const struct pending *pending, uint32_t file,
                   size_t began)
{
    const struct trace_op *op = &power->trace->ops[pending->op];
    if (op->end == TRACE_NO_END || op->end > began || pending->dropped) {
        return false;
    }
    if (op->kind != TRACE_ENTRY) {
        return op->file == file;
    }
    // A rename from one folder to another is never certain here; a store renames within one.
    return op->entries[0].folder == file && (op->entries[1].folder == TRACE_NO_FILE ||
                                             op->entries[1].folder == op->entries[0].folder);
}

static void end(struct power *power, size_t of)
{
    const struct trace_op *op = &power->trace->ops[of];
    bool sync = op->kind == TRACE_SYNC && !op->interrupted;
    bool direct = op->kind == TRACE_WRITE && op->direct;
    if (!sync && !direct) {
        return;
    }
    size_t kept = 0;
    for (size_t i = 0; i < power->pending_count; i++) {
        struct pending *pending = &power->pending[i];
        bool covered = direct ? pending->op == of : covers(power, pending, op->file, of);
        if (covered && !op->failed) {
            make_certain(power, pending);
        } else {
            pending->dropped |= covered;
            power->pending[kept++] = *pending;
        }
    }
    power->pending_count = kept;
}

void power_go(struct power *power, size_t cut)
{
    assert(cut >= power->cut && cut <= power->trace->count);
    for (; power->cut < cut; power->cut++) {
        const struct trace_op *op = &power->trace->ops[power->cut];
        if (op->kind == TRACE_END) {
            end(power, op->of);
        } else {
            see(power, op, power->cut);
        }
    }
}

bool power_changes_next(const struct power *power)
{
    if (power->cut == power->trace->count) {
        return true; // the end of all
    }
    const struct trace_op *op = &power->trace->ops[power->cut];
    if (op->kind == TRACE_END) {
        const struct trace_op *of = &power->trace->ops[op->of];
        return of->kind == TRACE_SYNC || of->direct;
    }
    return op->kind == TRACE_WRITE || op->kind == TRACE_SIZE || op->kind == TRACE_ENTRY;
}

size_t power_pending(const struct power *power)
{
    return power->pending_count;
}

size_t power_first_pending(const struct power *power, const char *name)
{
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < power->pending_count; i++) {
        const struct trace_op *op = &power->trace->ops[power->pending[i].op];
        bool bytes = op->kind == TRACE_WRITE || op->kind == TRACE_SIZE;
        if (power->pending[i].op < first && bytes &&
            strncmp(power->called[op->file], name, strlen(name)) == 0) {
            first = power->pending[i].op;
        }
    }
    return first;
}

size_t power_states(const struct power *power)
{
    if (power->pending_count == 0) {
        return 1;
    }
    if (power->pending_count > 1) {
        return SIZE_MAX;
    }
    const struct pending *pending = &power->pending[0];
    size_t parts = pending->sectors + pending->resizes;
    return parts > 1 ? SIZE_MAX : 2;
}

// How a state is drawn, besides the four that each cut has.
enum style {
    STYLE_EVEN,    // each operation there, not there, or torn
    STYLE_MOST,    // few are missing
    STYLE_FEW,     // few are there
    STYLE_FILES,   // all or nothing of a file
    STYLE_IN_TURN, // those up to one of them, which is torn
    STYLE_TORN,    // all are torn
    STYLE_COUNT,
};

enum {
    STATE_NONE,
    STATE_ALL,
    STATE_NOT_FIRST,
    STATE_LAST,
    STATE_RANDOM,
};

struct draw {
    size_t state;
    struct random random;
    enum style style;
    size_t until;   // STYLE_IN_TURN
    uint64_t files; // STYLE_FILES
};

static struct draw draw_begin(const struct power *power, uint64_t seed, size_t state)
{
    struct draw draw = { .state = state };
    draw.random.state = seed ^ power->cut * 0xD1B54A32D192ED03U ^ state * 0xABC98388FB8FAC03U;
    (void)random_u64(&draw.random);
    draw.style = (enum style)random_below(&draw.random, STYLE_COUNT);
    draw.until = random_below(&draw.random, power->pending_count + 1);
    draw.files = random_u64(&draw.random);
    return draw;
}

static struct choice draw_style(struct draw *draw, const struct trace_op *op, size_t index)
{
    struct random *random = &draw->random;
    uint64_t number = random_below(random, 24);
    bool torn = false;
    bool there = false;
    switch (draw->style) {
    case STYLE_EVEN:
        torn = number < 8;
        there = number < 16;
        break;
    case STYLE_MOST:
        torn = number < 2;
        there = number < 21;
        break;
    case STYLE_FEW:
        torn = number < 2;
        there = number < 4;
        break;
    case STYLE_FILES:
        there = (draw->files >> op->file % 64 & 1) ^ (number == 0);
        break;
    case STYLE_IN_TURN:
        torn = index == draw->until;
        there = index <= draw->until;
        break;
    case STYLE_TORN:
    case STYLE_COUNT:
        torn = there = true;
        break;
    }
    struct choice choice = { .there = there, .resized = there };
    if (torn && op->kind != TRACE_ENTRY) {
        choice.torn = true;
        choice.resized = random_below(random, 2);
        choice.tear = random_u64(random);
        choice.weak_random = 1U + (unsigned)random_below(random, 7);
    }
    return choice;
}

static struct choice draw_next(struct draw *draw, const struct power *power, size_t index)
{
    bool there = false;
    switch (draw->state) {
    case STATE_NONE:
        break;
    case STATE_ALL:
        there = true;
        break;
    case STATE_NOT_FIRST:
        there = index > 0;
        break;
    case STATE_LAST:
        there = index + 1 == power->pending_count;
        break;
    default:
        return draw_style(draw, &power->trace->ops[power->pending[index].op], index);
    }
    return (struct choice){ .there = there, .resized = there };
}

void power_state(const struct power *power, uint64_t seed, size_t state, struct disk *out)
{
    disk_copy(out, &power->disk);
    struct draw draw = draw_begin(power, seed, state);
    for (size_t i = 0; i < power->pending_count; i++) {
        struct choice choice = draw_next(&draw, power, i);
        apply(power, out, &power->pending[i], &choice);
    }
}

const struct disk *power_seen(const struct power *power)
{
    return &power->seen;
}

static void explain(const struct power *power, const struct pending *pending,
                    const struct choice *choice, FILE *file)
{
    const struct trace_op *op = &power->trace->ops[pending->op];
    (void)fprintf(file, "# %zu %s", pending->op, trace_sentence(power->trace, pending->op));
    if (op->kind != TRACE_ENTRY) {
        (void)fprintf(file, " (%s)", power->called[op->file]);
    }
    (void)fprintf(file, ": %s", choice->torn ? "torn " : choice->there ? "there" : "not there");
    for (size_t i = 0; choice->torn && i < pending->sectors && i < LINE_SECTORS; i++) {
        (void)fputc(sector_chosen(choice, i) ? '+' : '-', file);
    }
    if (pending->resizes) {
        (void)fprintf(file, ", size %zu %s", pending->size,
                      choice->resized ? "there" : "not there");
    }
    (void)fputc('\n', file);
}

void power_explain(const struct power *power, uint64_t seed, size_t state, FILE *file)
{
    (void)fprintf(file, "# cut %zu of %zu, state %zu: %zu operations are pending\n", power->cut,
                  power->trace->count, state, power->pending_count);
    struct draw draw = draw_begin(power, seed, state);
    for (size_t i = 0; i < power->pending_count; i++) {
        struct choice choice = draw_next(&draw, power, i);
        explain(power, &power->pending[i], &choice, file);
    }
}
