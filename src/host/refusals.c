// SPDX-License-Identifier: MIT
#include "host/refusals.h"

#include "host/commands/services.h"

#include <assert.h>
#include <string.h>

struct refused {
    struct refused *next;
    struct refusal *newest, *oldest; // owned; at least one
    size_t count;
    bool stored; // the namespace existed when the newest was refused
    size_t name_size;
    char name[];
};

static struct slice name_of(const struct refused *refused)
{
    return slice_make(refused->name, refused->name_size);
}

// Where the refused tasks of a namespace are linked; the end of the list if there are none.
static struct refused **find(struct refusals *refusals, struct slice ns)
{
    struct refused **at = &refusals->first;
    while (*at && !slice_equal(name_of(*at), ns)) {
        at = &(*at)->next;
    }
    return at;
}

const struct refusal *refusals_newest(const struct namespaces *all, struct slice ns)
{
    const struct refused *at = all->refusals.first;
    while (at && !slice_equal(name_of(at), ns)) {
        at = at->next;
    }
    return at ? at->newest : NULL;
}

// ---------------------------------------------------------------------------------------------
// Removal

static void refusal_free(const struct namespaces *all, struct refusal *refusal)
{
    mem_free(all->options.allocator, refusal,
             sizeof(*refusal) + refusal->reason_size + refusal->sent_size);
}

static void unlink_refused(struct namespaces *all, struct refused **at)
{
    struct refused *refused = *at;
    *at = refused->next;
    mem_free(all->options.allocator, refused, sizeof(*refused) + refused->name_size);
}

// Removes the oldest refusal of a namespace; with the last one, the namespace's entry.
static void forget_oldest(struct namespaces *all, struct refused **at)
{
    struct refused *refused = *at;
    struct refusal *oldest = refused->oldest;
    refused->oldest = oldest->newer;
    *(oldest->newer ? &oldest->newer->older : &refused->newest) = NULL;
    refused->count--;
    all->refusals.count--;
    refusal_free(all, oldest);
    if (refused->count == 0) {
        unlink_refused(all, at);
    }
}

// Whether the refusals of one namespace are removed before those of the other.
static bool goes_before(const struct refused *refused, const struct refused *other)
{
    return refused->stored != other->stored ? other->stored : refused->count > other->count;
}

static void make_room(struct namespaces *all)
{
    struct refused **most = &all->refusals.first;
    for (struct refused **at = most; *at; at = &(*at)->next) {
        most = goes_before(*at, *most) ? at : most;
    }
    forget_oldest(all, most);
}

void refusals_forget(struct namespaces *all, struct slice ns)
{
    struct refused **at = find(&all->refusals, ns);
    for (size_t count = *at ? (*at)->count : 0; count > 0; count--) {
        forget_oldest(all, at);
    }
}

void refusals_release(struct namespaces *all)
{
    while (all->refusals.first) {
        forget_oldest(all, &all->refusals.first);
    }
    assert(all->refusals.count == 0);
}

// ---------------------------------------------------------------------------------------------
// Recording

// The size of a text without its last character, unless that has one byte; it may be truncated.
static size_t whole_characters(struct slice text)
{
    size_t size = text.size;
    while (size > 0 && text.size - size < 3 &&
           ((unsigned char)text.data[size - 1] & 0xc0) == 0x80) {
        size--;
    }
    return size > 0 && (unsigned char)text.data[size - 1] >= 0xc0 ? size - 1 : text.size;
}

// Joins the words with spaces, truncated between two UTF-8 characters. Returns the size of all of
// them.
static size_t join(struct slices words, char text[REFUSAL_SENT_SIZE_MAX], size_t *kept)
{
    size_t size = 0;
    struct buffer out = { .data = text,
                          .capacity = REFUSAL_SENT_SIZE_MAX,
                          .size_max = REFUSAL_SENT_SIZE_MAX };
    for (size_t i = 0; i < words.count; i++) {
        size_t room = REFUSAL_SENT_SIZE_MAX - out.size;
        if (i > 0 && room > 0) {
            buffer_append_char(&out, ' ');
            room--;
        }
        buffer_append(&out, slice_sub(words.items[i], 0, room));
        size += words.items[i].size + (i > 0);
    }
    *kept = out.size < size ? whole_characters(buffer_slice(&out)) : out.size;
    return size;
}

static struct refusal *refusal_new(const struct namespaces *all, int64_t now_us, struct slices sent,
                                   const struct error *why)
{
    char text[REFUSAL_SENT_SIZE_MAX];
    size_t kept;
    size_t size = join(sent, text, &kept);
    struct slice reason = slice_from_cstr(error_sentence(why));
    struct refusal *refusal =
        mem_zalloc(all->options.allocator, sizeof(*refusal) + reason.size + kept);
    if (refusal) {
        refusal->at_us = now_us;
        refusal->status = why->status;
        refusal->size = size;
        refusal->reason_size = reason.size;
        refusal->sent_size = kept;
        memcpy(refusal->text, reason.data, reason.size);
        memcpy(refusal->text + reason.size, text, kept);
    }
    return refusal;
}

static struct refused *refused_new(const struct namespaces *all, struct slice ns)
{
    struct refused *refused = mem_zalloc(all->options.allocator, sizeof(*refused) + ns.size);
    if (refused) {
        refused->name_size = ns.size;
        memcpy(refused->name, ns.data, ns.size);
    }
    return refused;
}

static void link_newest(struct refused *refused, struct refusal *refusal)
{
    refusal->older = refused->newest;
    *(refused->newest ? &refused->newest->newer : &refused->oldest) = refusal;
    refused->newest = refusal;
    refused->count++;
}

static bool is_invalid(const struct error *why)
{
    return why->status == STATUS_INVALID || (why->status == STATUS_TOO_LARGE && !why->of_reply);
}

void refusals_note(struct namespaces *all, struct slice ns, int64_t now_us, struct slices sent,
                   const struct error *why)
{
    if (!is_invalid(why) || ns.size == 0 || ns.size > ENGINE_NAME_SIZE_MAX) {
        return;
    }
    struct refused **at = find(&all->refusals, ns);
    struct refusal *refusal = refusal_new(all, now_us, sent, why);
    if (refusal && !*at) {
        *at = refused_new(all, ns);
    }
    if (!refusal || !*at) {
        if (refusal) {
            refusal_free(all, refusal);
        }
        return;
    }
    const struct ns *found = namespaces_find(all, ns);
    (*at)->stored = found && found->stored;
    link_newest(*at, refusal);
    all->refusals.count++;
    if ((*at)->count > REFUSALS_OF_NAMESPACE_MAX) {
        forget_oldest(all, at);
    }
    if (all->refusals.count > REFUSALS_MAX) {
        make_room(all);
    }
}

void refusals_note_call(const struct call *call, struct slices words, const struct error *why)
{
    refusals_note(services_of(call)->namespaces, call->ns, call->now_us, words, why);
}
