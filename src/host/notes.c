// SPDX-License-Identifier: MIT
#include "host/notes.h"

#include "base/bytes.h"
#include "host/namespaces.h"
#include "host/removal.h"
#include "store/directory.h"

#include <string.h>

// The record of a note: version (1), the space of its namespace (4), its text.
enum {
    NOTE_VERSION = 1,
    NOTE_HEADER = DIRECTORY_NOTE_HEADER,
};

// The text is cleared, because it may contain secrets.
static void note_free(const struct allocator *allocator, struct note *note)
{
    explicit_bzero(note->text, note->size);
    mem_free(allocator, note, sizeof(*note) + note->size);
}

static struct note *note_new(const struct allocator *allocator, uint64_t id, struct slice text)
{
    struct note *note = mem_alloc(allocator, sizeof(*note) + text.size);
    if (note) {
        *note = (struct note){ .id = id, .size = text.size };
        if (text.data) {
            memcpy(note->text, text.data, text.size);
        }
    }
    return note;
}

// The owner of notes: a namespace, or with DIRECTORY_SPACE the host itself.
struct owner {
    struct namespaces *all;
    struct note **first;
    uint32_t space;
};

static struct owner owner_of(struct ns *ns)
{
    return (struct owner){ ns->all, &ns->notes, ns->space };
}

static struct owner owner_of_host(struct namespaces *all)
{
    return (struct owner){ all, &all->notes, DIRECTORY_SPACE };
}

static struct note **place_of(struct owner owner, const struct note *note)
{
    struct note **at = owner.first;
    while (*at && *at != note) {
        at = &(*at)->next;
    }
    return at;
}

static enum status write_note(struct owner owner, const struct note *note, struct error *error)
{
    struct namespaces *all = owner.all;
    struct buffer bytes;
    buffer_init(&bytes, all->options.allocator, NOTE_HEADER + NOTE_SIZE_MAX);
    char *header = buffer_reserve(&bytes, NOTE_HEADER);
    if (header) {
        header[0] = NOTE_VERSION;
        bytes_store_u32(header + 1, owner.space);
        buffer_commit(&bytes, NOTE_HEADER);
    }
    buffer_append(&bytes, note_text(note));
    const struct store_record record = { directory_note_key(note->id), buffer_slice(&bytes) };
    enum status status = bytes.status ? error_set(error, bytes.status, "no room for a note")
                                      : store_append(all->store, &record, 1, &all->group, error);
    if (bytes.data) {
        explicit_bzero(bytes.data, bytes.size);
    }
    buffer_release(&bytes);
    return status;
}

static enum status erase_note(struct owner owner, const struct note *note, struct error *error)
{
    const struct store_record gone = { directory_note_key(note->id), SLICE_EMPTY };
    return store_append(owner.all->store, &gone, 1, &owner.all->group, error);
}

static enum status set(struct owner owner, struct note *before, struct slice text,
                       struct note **out, struct error *error)
{
    const struct allocator *allocator = owner.all->options.allocator;
    struct note *note = note_new(allocator, before ? before->id : owner.all->note_id + 1, text);
    if (!note) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for a note");
    }
    enum status status = write_note(owner, note, error);
    if (status) {
        note_free(allocator, note);
        return status;
    }
    struct note **at = place_of(owner, before);
    *at = note;
    if (before) {
        note->next = before->next;
        note_free(allocator, before);
    } else {
        owner.all->note_id++;
    }
    *out = note;
    return STATUS_OK;
}

static enum status unset(struct owner owner, struct note *note, struct error *error)
{
    enum status status = erase_note(owner, note, error);
    if (!status) {
        *place_of(owner, note) = note->next;
        note_free(owner.all->options.allocator, note);
    }
    return status;
}

static void free_all(struct owner owner)
{
    while (*owner.first) {
        struct note *note = *owner.first;
        *owner.first = note->next;
        note_free(owner.all->options.allocator, note);
    }
}

enum status note_set(struct ns *ns, struct note *before, struct slice text, struct note **out,
                     struct error *error)
{
    enum status status = ns_store(ns, error);
    return status ? status : set(owner_of(ns), before, text, out, error);
}

enum status note_unset(struct ns *ns, struct note *note, struct error *error)
{
    return unset(owner_of(ns), note, error);
}

enum status host_note_set(struct namespaces *all, struct note *before, struct slice text,
                          struct note **out, struct error *error)
{
    return set(owner_of_host(all), before, text, out, error);
}

enum status host_note_unset(struct namespaces *all, struct note *note, struct error *error)
{
    return unset(owner_of_host(all), note, error);
}

void host_notes_free(struct namespaces *all)
{
    free_all(owner_of_host(all));
}

enum status notes_delete(struct ns *ns, struct error *error)
{
    enum status status = STATUS_OK;
    for (const struct note *at = ns->notes; at && !status; at = at->next) {
        status = erase_note(owner_of(ns), at, error);
    }
    return status;
}

void notes_free(struct ns *ns)
{
    free_all(owner_of(ns));
}

// The namespaces were read before, because their kind is less than this one.
enum status notes_visit(struct namespaces *all, struct record_key key, struct slice bytes,
                        struct error *error)
{
    if (bytes.size < NOTE_HEADER || bytes.size > NOTE_HEADER + NOTE_SIZE_MAX ||
        bytes.data[0] != NOTE_VERSION) {
        return error_set(error, STATUS_CORRUPT, "the note %llu is malformed",
                         (unsigned long long)key.id);
    }
    all->note_id = key.id > all->note_id ? key.id : all->note_id;
    uint32_t space = bytes_load_u32(bytes.data + 1);
    struct ns *ns = all->first;
    while (ns && ns->space != space) {
        ns = ns->next;
    }
    if (!ns && space != DIRECTORY_SPACE) {
        return error_set(error, STATUS_CORRUPT,
                         "the note %llu is of namespace %u, which has no "
                         "name",
                         (unsigned long long)key.id, (unsigned)space);
    }
    struct note *note =
        note_new(all->options.allocator, key.id, slice_sub(bytes, NOTE_HEADER, SIZE_MAX));
    if (!note) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for a note");
    }
    *place_of(ns ? owner_of(ns) : owner_of_host(all), NULL) = note;
    return STATUS_OK;
}
