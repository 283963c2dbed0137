// SPDX-License-Identifier: MIT
#include "server/http/event_ring.h"

#include <assert.h>

struct kept_event {
    enum event_kind kind;
    unsigned channels;
    size_t jid_size, queue_size, worker_size, text_size;
    char bytes[]; // the sizes are those of these four
};

void event_ring_init(struct event_ring *ring, const struct allocator *allocator, size_t count_max,
                     size_t bytes_max, uint64_t start_id)
{
    assert(count_max);
    *ring = (struct event_ring){
        .allocator = allocator,
        .count_max = count_max,
        .bytes_max = bytes_max,
        .last_id = start_id,
    };
}

static size_t size_of(const struct kept_event *kept)
{
    return sizeof(*kept) + kept->jid_size + kept->queue_size + kept->worker_size + kept->text_size;
}

static struct kept_event **item_at(const struct event_ring *ring, size_t index)
{
    return &ring->items[(ring->first + index) % ring->count_max];
}

static void drop_oldest(struct event_ring *ring)
{
    struct kept_event *kept = *item_at(ring, 0);
    ring->bytes -= size_of(kept);
    mem_free(ring->allocator, kept, size_of(kept));
    ring->first = (ring->first + 1) % ring->count_max;
    ring->count--;
}

static void drop_all(struct event_ring *ring)
{
    while (ring->count) {
        drop_oldest(ring);
    }
}

void event_ring_release(struct event_ring *ring)
{
    drop_all(ring);
    mem_free(ring->allocator, ring->items,
             ring->items ? ring->count_max * sizeof(*ring->items) : 0);
    ring->items = NULL;
}

static char *copy(char *at, struct slice bytes)
{
    if (bytes.size) {
        memcpy(at, bytes.data, bytes.size);
    }
    return at + bytes.size;
}

static struct kept_event *make(const struct event_ring *ring, const struct event *event,
                               struct slice text)
{
    const struct kept_event sizes = {
        .kind = event->kind,
        .channels = event->channels,
        .jid_size = event->jid.size,
        .queue_size = event->queue.size,
        .worker_size = event->worker.size,
        .text_size = text.size,
    };
    size_t size = size_of(&sizes);
    struct kept_event *kept = size <= ring->bytes_max ? mem_alloc(ring->allocator, size) : NULL;
    if (kept) {
        *kept = sizes;
        char *at = copy(kept->bytes, event->jid);
        at = copy(at, event->queue);
        at = copy(at, event->worker);
        (void)copy(at, text);
    }
    return kept;
}

void event_ring_skip(struct event_ring *ring)
{
    ring->last_id++;
    drop_all(ring); // so that the ring has no gap
}

void event_ring_add(struct event_ring *ring, const struct event *event, struct slice text)
{
    if (!ring->items) {
        ring->items = mem_alloc(ring->allocator, ring->count_max * sizeof(*ring->items));
    }
    struct kept_event *kept = ring->items ? make(ring, event, text) : NULL;
    if (!kept) {
        event_ring_skip(ring);
        return;
    }
    ring->last_id++;
    while (ring->count == ring->count_max || ring->bytes + size_of(kept) > ring->bytes_max) {
        drop_oldest(ring);
    }
    *item_at(ring, ring->count++) = kept;
    ring->bytes += size_of(kept);
}

bool event_ring_at(const struct event_ring *ring, size_t index, struct event *event,
                   struct slice *text)
{
    if (index >= ring->count) {
        return false;
    }
    const struct kept_event *kept = *item_at(ring, index);
    const char *queue = kept->bytes + kept->jid_size;
    const char *worker = queue + kept->queue_size;
    *event = (struct event){
        .kind = kept->kind,
        .channels = kept->channels,
        .jid = slice_make(kept->bytes, kept->jid_size),
        .queue = slice_make(queue, kept->queue_size),
        .worker = slice_make(worker, kept->worker_size),
    };
    *text = slice_make(worker + kept->worker_size, kept->text_size);
    return true;
}
