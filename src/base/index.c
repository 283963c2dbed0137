// SPDX-License-Identifier: MIT
// A B+ tree with counts. Leaves contain keys and pointers to the objects' nodes, and are chained
// from left to right. Inner nodes contain for each child a pointer, the number of objects below it,
// and a key that is not above any key below it (the key of the first child is never read).
//
// A binary tree inside the objects would need no memory of its own, but a search would visit twenty
// objects and miss the cache at each; here it visits four nodes, most of them cached.
//
// Invariants, checked by index_check:
// - all leaves are at the same height, in ascending order, and chained; counts are exact;
// - no node is empty; an inner root has two children or more;
// - only a leaf that is the root has less than the full capacity.
//
// A split at the end of a node leaves that node full, so that an index that grows at its end fills
// its leaves. After a removal a sparse node is merged with a neighbour if both fit into three
// quarters of a node, so that the next insert does not split it again.
#include "base/index.h"

#include <assert.h>
#include <string.h>

enum {
    LEAF_CAPACITY = 64,
    LEAF_CAPACITY_FIRST = 2, // so that a lane with one job needs little memory
    LEAF_CAPACITY_FACTOR = 4,
    INNER_CAPACITY = 55, // makes the node as large as a full leaf
    HEIGHT_MAX = 16,
    CACHE_LINE = 64,
};

struct leaf {
    uint32_t count;
    uint32_t capacity;
    struct leaf *next, *previous;
    // `capacity` keys, then `capacity` pointers to nodes.
    struct index_key keys[];
};

struct inner {
    uint32_t count;
    uint32_t totals[INNER_CAPACITY]; // objects below each child
    struct index_key keys[INNER_CAPACITY];
    void *children[INNER_CAPACITY];
};

static size_t leaf_size(uint32_t capacity)
{
    return sizeof(struct leaf) +
           capacity * (sizeof(struct index_key) + sizeof(struct index_node *));
}

_Static_assert(sizeof(struct inner) <=
                   sizeof(struct leaf) +
                       LEAF_CAPACITY * (sizeof(struct index_key) + sizeof(struct index_node *)),
               "inner nodes and full leaves come from one slab");

// The path from the root to a leaf: the inner node at each height and the index of the child.
// steps[0] is just above the leaves.
struct path {
    struct {
        struct inner *inner;
        uint32_t child;
    } steps[HEIGHT_MAX];
    struct leaf *leaf;
    uint32_t position;
};

static struct index_node **leaf_nodes(const struct leaf *leaf)
{
    return (struct index_node **)(void *)(leaf->keys + leaf->capacity);
}

// How many of `count` ascending keys are less than `key`. Often all or none, because queues grow at
// their end and are served from their front.
static uint32_t keys_below(const struct index_key *keys, uint32_t count, struct index_key key)
{
    if (count == 0 || !index_key_less(keys[0], key)) {
        return 0;
    }
    if (index_key_less(keys[count - 1], key)) {
        return count;
    }
    uint32_t start = 0;
    while (count > 1) {
        uint32_t half = count / 2;
        start += index_key_less(keys[start + half - 1], key) ? half : 0;
        count -= half;
    }
    return start + (count == 1 && index_key_less(keys[start], key));
}

// The last child whose key is not above `key`; the first child for keys below all.
static uint32_t child_for(const struct inner *inner, struct index_key key)
{
    uint32_t below = keys_below(inner->keys + 1, inner->count - 1, key);
    bool next_is_equal = below + 1 < inner->count && index_key_equal(inner->keys[below + 1], key);
    return below + next_is_equal;
}

void index_pool_init(struct index_pool *pool, const struct allocator *allocator)
{
    slab_init(&pool->slab, allocator, leaf_size(LEAF_CAPACITY));
    pool->round = 0;
}

void index_pool_release(struct index_pool *pool)
{
    slab_release(&pool->slab);
}

void index_pool_settle(struct index_pool *pool)
{
    slab_settle(&pool->slab);
    pool->round++;
}

void index_init(struct index *index, struct index_pool *pool)
{
    *index = (struct index){ .pool = pool };
}

// NULL if there is no memory, which cannot happen for a full leaf that has been promised.
static struct leaf *leaf_new(struct index *index, uint32_t capacity)
{
    struct slab *slab = &index->pool->slab;
    struct leaf *leaf = capacity == LEAF_CAPACITY ? slab_take(slab)
                                                  : mem_alloc(slab->allocator, leaf_size(capacity));
    if (leaf) {
        leaf->count = 0;
        leaf->capacity = capacity;
        leaf->next = leaf->previous = NULL;
    }
    return leaf;
}

static void leaf_free(struct index *index, struct leaf *leaf)
{
    struct slab *slab = &index->pool->slab;
    if (leaf->capacity == LEAF_CAPACITY) {
        slab_give(slab, leaf);
    } else {
        mem_free(slab->allocator, leaf, leaf_size(leaf->capacity));
    }
}

// Moves the entries from `from` on of one leaf to the end of another.
static void leaf_move(struct leaf *source, uint32_t from, struct leaf *target)
{
    uint32_t moved = source->count - from;
    memcpy(target->keys + target->count, source->keys + from, moved * sizeof(*source->keys));
    memcpy(leaf_nodes(target) + target->count, leaf_nodes(source) + from,
           moved * sizeof(struct index_node *));
    target->count += moved;
    source->count = from;
}

static void leaf_put(struct leaf *leaf, uint32_t position, struct index_node *node)
{
    struct index_node **nodes = leaf_nodes(leaf);
    uint32_t behind = leaf->count - position;
    if (behind) { // indexes mostly grow at their end
        memmove(leaf->keys + position + 1, leaf->keys + position, behind * sizeof(*leaf->keys));
        memmove(nodes + position + 1, nodes + position, behind * sizeof(*nodes));
    }
    leaf->keys[position] = node->key;
    nodes[position] = node;
    leaf->count++;
}

static void leaf_take(struct leaf *leaf, uint32_t position)
{
    struct index_node **nodes = leaf_nodes(leaf);
    uint32_t behind = leaf->count - position - 1;
    memmove(leaf->keys + position, leaf->keys + position + 1, behind * sizeof(*leaf->keys));
    memmove(nodes + position, nodes + position + 1, behind * sizeof(*nodes));
    leaf->count--;
}

static void inner_move(struct inner *source, uint32_t from, struct inner *target)
{
    uint32_t moved = source->count - from;
    memcpy(target->totals + target->count, source->totals + from, moved * sizeof(*source->totals));
    memcpy(target->keys + target->count, source->keys + from, moved * sizeof(*source->keys));
    memcpy(target->children + target->count, source->children + from,
           moved * sizeof(*source->children));
    target->count += moved;
    source->count = from;
}

static void inner_put(struct inner *inner, uint32_t position, struct index_key key, void *child,
                      uint32_t total)
{
    uint32_t behind = inner->count - position;
    memmove(inner->totals + position + 1, inner->totals + position,
            behind * sizeof(*inner->totals));
    memmove(inner->keys + position + 1, inner->keys + position, behind * sizeof(*inner->keys));
    memmove(inner->children + position + 1, inner->children + position,
            behind * sizeof(*inner->children));
    inner->totals[position] = total;
    inner->keys[position] = key;
    inner->children[position] = child;
    inner->count++;
}

static void inner_take(struct inner *inner, uint32_t position)
{
    uint32_t behind = inner->count - position - 1;
    memmove(inner->totals + position, inner->totals + position + 1,
            behind * sizeof(*inner->totals));
    memmove(inner->keys + position, inner->keys + position + 1, behind * sizeof(*inner->keys));
    memmove(inner->children + position, inner->children + position + 1,
            behind * sizeof(*inner->children));
    inner->count--;
}

static uint32_t inner_total(const struct inner *inner)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < inner->count; i++) {
        total += inner->totals[i];
    }
    return total;
}

static void free_subtree(struct index *index, void *node, uint32_t height)
{
    if (height == 1) {
        leaf_free(index, node);
        return;
    }
    struct inner *inner = node;
    for (uint32_t i = 0; i < inner->count; i++) {
        free_subtree(index, inner->children[i], height - 1);
    }
    slab_give(&index->pool->slab, inner);
}

void index_release(struct index *index)
{
    if (index->root) {
        free_subtree(index, index->root, index->height);
    }
    index_init(index, index->pool);
}

// Whether the only leaf has room for `count` entries, or has the full capacity.
static bool only_leaf_suffices(const struct index *index, size_t count)
{
    const struct leaf *leaf = index->root;
    return leaf && (leaf->capacity >= count || leaf->capacity == LEAF_CAPACITY);
}

// Enlarges the only leaf for `count` entries, or to the full capacity. Not inlined, because most
// reservations find room.
static __attribute__((noinline)) enum status grow_only_leaf(struct index *index, size_t count)
{
    struct leaf *old = index->root;
    uint32_t capacity = old ? old->capacity : LEAF_CAPACITY_FIRST;
    while (capacity < count && capacity < LEAF_CAPACITY) {
        capacity *= LEAF_CAPACITY_FACTOR;
    }
    capacity = capacity < LEAF_CAPACITY ? capacity : LEAF_CAPACITY;
    // A full leaf is promised as well as taken, so that earlier promises remain valid.
    if (capacity == LEAF_CAPACITY && slab_promise(&index->pool->slab, 1)) {
        return STATUS_NO_MEMORY;
    }
    struct leaf *leaf = leaf_new(index, capacity);
    if (!leaf) {
        return STATUS_NO_MEMORY;
    }
    if (old) {
        leaf_move(old, 0, leaf);
        leaf_free(index, old);
    }
    index->root = leaf;
    index->height = 1;
    return STATUS_OK;
}

enum status index_reserve(struct index *index, size_t count)
{
    if (index->reserved_round != index->pool->round) {
        index->reserved_round = index->pool->round;
        index->reserved = 0;
    }
    size_t wanted = index->count + index->reserved + count;
    if (index->height <= 1 && !only_leaf_suffices(index, wanted) && grow_only_leaf(index, wanted)) {
        return STATUS_NO_MEMORY;
    }
    // An insert splits at most one node at each height and adds a root.
    if ((index->height > 1 || wanted > LEAF_CAPACITY) &&
        slab_promise(&index->pool->slab, count * (index->height + 2))) {
        return STATUS_NO_MEMORY;
    }
    index->reserved += (uint32_t)count;
    return STATUS_OK;
}

// Prefetches a whole node. Otherwise a binary search would wait for one cache miss after the other,
// and so would the change that follows.
static void prefetch(const void *node)
{
    for (size_t i = 0; i < sizeof(struct inner); i += CACHE_LINE) {
        __builtin_prefetch((const char *)node + i);
    }
}

static void find_path(const struct index *index, struct index_key key, struct path *path)
{
    index->pool->steps++;
    void *node = index->root;
    for (uint32_t height = index->height - 1; height > 0; height--) {
        struct inner *inner = node;
        uint32_t child = child_for(inner, key);
        path->steps[height - 1].inner = inner;
        path->steps[height - 1].child = child;
        node = inner->children[child];
        // The first and the last child are used often and are cached.
        if (child > 0 && child + 1 < inner->count) {
            prefetch(node);
        }
    }
    path->leaf = node;
    path->position = keys_below(path->leaf->keys, path->leaf->count, key);
}

// Where to split a full node for an entry at `position`: at the end if the entry goes there,
// otherwise in the middle.
static uint32_t split_point(uint32_t count, uint32_t position)
{
    return position == count ? count : count / 2;
}

// Inserts a new node after the leaf at the end of the path, and splits inner nodes upwards as
// needed. The objects below the new node have been counted as part of that leaf.
static void insert_child(struct index *index, struct path *path, struct index_key key, void *child,
                         uint32_t total)
{
    for (uint32_t height = 1; height < index->height; height++) {
        struct inner *inner = path->steps[height - 1].inner;
        uint32_t position = path->steps[height - 1].child + 1;
        inner->totals[position - 1] -= total;
        if (inner->count < INNER_CAPACITY) {
            inner_put(inner, position, key, child, total);
            return;
        }
        struct inner *right = slab_take(&index->pool->slab);
        assert(right);
        right->count = 0;
        uint32_t middle = split_point(inner->count, position);
        inner_move(inner, middle, right);
        bool goes_left = position < middle;
        inner_put(goes_left ? inner : right, goes_left ? position : position - middle, key, child,
                  total);
        key = right->keys[0];
        child = right;
        total = inner_total(right);
    }

    struct inner *root = slab_take(&index->pool->slab);
    assert(root && index->height < HEIGHT_MAX);
    root->count = 0;
    inner_put(root, 0, key, index->root, (uint32_t)index->count - total);
    inner_put(root, 1, key, child, total);
    index->root = root;
    index->height++;
}

static void chain_behind(struct leaf *leaf, struct leaf *right)
{
    right->previous = leaf;
    right->next = leaf->next;
    if (leaf->next) {
        leaf->next->previous = right;
    }
    leaf->next = right;
}

static void unchain(struct leaf *leaf)
{
    if (leaf->previous) {
        leaf->previous->next = leaf->next;
    }
    if (leaf->next) {
        leaf->next->previous = leaf->previous;
    }
}

void index_insert(struct index *index, struct index_node *node)
{
    struct path path;
    find_path(index, node->key, &path);
    for (uint32_t height = 1; height < index->height; height++) {
        path.steps[height - 1].inner->totals[path.steps[height - 1].child]++;
    }
    index->count++;
    index->reserved -= index->reserved > 0;

    struct leaf *leaf = path.leaf;
    if (leaf->count < leaf->capacity) {
        leaf_put(leaf, path.position, node);
        return;
    }
    assert(leaf->capacity == LEAF_CAPACITY);
    struct leaf *right = leaf_new(index, LEAF_CAPACITY);
    assert(right);
    chain_behind(leaf, right);
    uint32_t middle = split_point(leaf->count, path.position);
    leaf_move(leaf, middle, right);
    bool goes_left = path.position < middle;
    leaf_put(goes_left ? leaf : right, goes_left ? path.position : path.position - middle, node);
    insert_child(index, &path, right->keys[0], right, right->count);
}

static bool is_sparse(uint32_t count, uint32_t capacity)
{
    return count <= capacity / 4;
}

static bool fit_together(uint32_t left_count, uint32_t right_count, uint32_t capacity)
{
    return left_count + right_count <= capacity - capacity / 4;
}

// Merges the children `left` and `left + 1` of `parent`, if they fit. `leaves` tells their kind.
static bool merge_children(struct index *index, struct inner *parent, uint32_t left, bool leaves)
{
    if (left + 1 >= parent->count) {
        return false;
    }
    if (leaves) {
        struct leaf *target = parent->children[left];
        struct leaf *source = parent->children[left + 1];
        if (!fit_together(target->count, source->count, LEAF_CAPACITY)) {
            return false;
        }
        leaf_move(source, 0, target);
        unchain(source);
        leaf_free(index, source);
    } else {
        struct inner *target = parent->children[left];
        struct inner *source = parent->children[left + 1];
        if (!fit_together(target->count, source->count, INNER_CAPACITY)) {
            return false;
        }
        // The key of a first child is never read and may be outdated; it gets read in its new
        // position.
        source->keys[0] = parent->keys[left + 1];
        inner_move(source, 0, target);
        slab_give(&index->pool->slab, source);
    }
    parent->totals[left] += parent->totals[left + 1];
    inner_take(parent, left + 1);
    return true;
}

// After a removal: removes empty nodes and merges sparse ones, upwards.
static void shrink(struct index *index, struct path *path)
{
    uint32_t count = path->leaf->count;
    for (uint32_t height = 1; height < index->height; height++) {
        bool leaves = height == 1;
        struct inner *parent = path->steps[height - 1].inner;
        uint32_t child = path->steps[height - 1].child;
        if (count == 0) {
            if (leaves) {
                unchain(path->leaf);
                leaf_free(index, path->leaf);
            } else {
                slab_give(&index->pool->slab, parent->children[child]);
            }
            inner_take(parent, child);
        } else if (!is_sparse(count, leaves ? LEAF_CAPACITY : INNER_CAPACITY) ||
                   !merge_children(index, parent, child ? child - 1 : child, leaves)) {
            break;
        }
        count = parent->count;
    }

    while (index->height > 1 && ((struct inner *)index->root)->count == 1) {
        struct inner *root = index->root;
        index->root = root->children[0];
        index->height--;
        slab_give(&index->pool->slab, root);
    }
    bool promised = index->reserved > 0 && index->reserved_round == index->pool->round;
    if (index->count == 0 && !promised) {
        index_release(index);
    }
}

void index_remove(struct index *index, struct index_node *node)
{
    assert(index->root);
    struct path path;
    find_path(index, node->key, &path);
    assert(path.position < path.leaf->count && leaf_nodes(path.leaf)[path.position] == node);
    leaf_take(path.leaf, path.position);
    for (uint32_t height = 1; height < index->height; height++) {
        path.steps[height - 1].inner->totals[path.steps[height - 1].child]--;
    }
    index->count--;
    shrink(index, &path);
}

bool index_rekey(struct index *index, struct index_node *node, struct index_key key)
{
    assert(index->root);
    struct path path;
    find_path(index, node->key, &path);
    struct leaf *leaf = path.leaf;
    uint32_t position = path.position;
    assert(position < leaf->count && leaf_nodes(leaf)[position] == node);
    // The first key of a leaf must not become less than the key that the parent has for it.
    bool above = position > 0 ? index_key_less(leaf->keys[position - 1], key)
                              : !index_key_less(key, node->key);
    bool below =
        position + 1 < leaf->count ? index_key_less(key, leaf->keys[position + 1]) : !leaf->next;
    if (above && below) {
        leaf->keys[position] = node->key = key;
    }
    return above && below;
}

static void shift_keys(struct index_key *keys, uint32_t count, uint64_t change)
{
    for (uint32_t i = 0; i < count; i++) {
        keys[i].high += change;
    }
}

static void shift_subtree(void *node, uint32_t height, uint64_t change)
{
    if (height == 1) {
        struct leaf *leaf = node;
        shift_keys(leaf->keys, leaf->count, change);
        for (uint32_t i = 0; i < leaf->count; i++) {
            leaf_nodes(leaf)[i]->key = leaf->keys[i];
        }
        return;
    }
    struct inner *inner = node;
    shift_keys(inner->keys, inner->count, change);
    for (uint32_t i = 0; i < inner->count; i++) {
        shift_subtree(inner->children[i], height - 1, change);
    }
}

void index_shift(struct index *index, int64_t change)
{
    if (index->root) {
        shift_subtree(index->root, index->height, (uint64_t)change);
    }
}

// The entry at a position of a leaf, or the first entry of the next leaf if the position is the
// leaf's end.
static struct index_node *entry_at(const struct leaf *leaf, uint32_t position)
{
    if (position == leaf->count) {
        leaf = leaf->next;
        position = 0;
    }
    return leaf ? leaf_nodes(leaf)[position] : NULL;
}

struct index_node *index_first(const struct index *index)
{
    if (!index->count) {
        return NULL;
    }
    index->pool->steps++;
    const void *node = index->root;
    for (uint32_t height = index->height; height > 1; height--) {
        node = ((const struct inner *)node)->children[0];
    }
    return leaf_nodes(node)[0];
}

struct index_node *index_last(const struct index *index)
{
    return index->count ? index_at(index, index->count - 1) : NULL;
}

struct index_node *index_find(const struct index *index, struct index_key key)
{
    if (!index->count) {
        return NULL;
    }
    struct path path;
    find_path(index, key, &path);
    return entry_at(path.leaf, path.position);
}

struct index_cursor index_cursor_at(const struct index *index, size_t rank)
{
    if (rank >= index->count) {
        return (struct index_cursor){ 0 };
    }
    const void *node = index->root;
    for (uint32_t height = index->height; height > 1; height--) {
        const struct inner *inner = node;
        uint32_t child = 0;
        for (; rank >= inner->totals[child]; child++) {
            rank -= inner->totals[child];
        }
        node = inner->children[child];
    }
    return (struct index_cursor){ .pool = index->pool, .leaf = node, .position = rank };
}

struct index_node *index_cursor_next(struct index_cursor *cursor)
{
    const struct leaf *leaf = cursor->leaf;
    if (!leaf) {
        return NULL;
    }
    cursor->pool->steps++;
    struct index_node *node = leaf_nodes(leaf)[cursor->position++];
    if (cursor->position == leaf->count) {
        cursor->leaf = leaf->next;
        cursor->position = 0;
    }
    return node;
}

struct index_node *index_at(const struct index *index, size_t rank)
{
    struct index_cursor cursor = index_cursor_at(index, rank);
    return index_cursor_next(&cursor);
}

size_t index_rank(const struct index *index, struct index_key key)
{
    if (!index->count) {
        return 0;
    }
    struct path path;
    find_path(index, key, &path);
    size_t rank = path.position;
    for (uint32_t height = 1; height < index->height; height++) {
        for (uint32_t i = 0; i < path.steps[height - 1].child; i++) {
            rank += path.steps[height - 1].inner->totals[i];
        }
    }
    return rank;
}

struct check {
    const struct leaf *leaf_last; // the leaf visited before
    struct index_key key_last;
    size_t count;
};

static bool check_leaf(const struct index *index, struct check *check, const struct leaf *leaf)
{
    bool is_root = leaf == index->root;
    if (leaf->count == 0 && !(is_root && index->count == 0)) {
        return false;
    }
    if (leaf->count > leaf->capacity || (leaf->capacity != LEAF_CAPACITY && !is_root) ||
        leaf->previous != check->leaf_last ||
        (check->leaf_last && check->leaf_last->next != leaf)) {
        return false;
    }
    for (uint32_t i = 0; i < leaf->count; i++) {
        if ((check->count && !index_key_less(check->key_last, leaf->keys[i])) ||
            !index_key_equal(leaf->keys[i], leaf_nodes(leaf)[i]->key)) {
            return false;
        }
        check->key_last = leaf->keys[i];
        check->count++;
    }
    check->leaf_last = leaf;
    return true;
}

static bool check_subtree(const struct index *index, struct check *check, const void *node,
                          uint32_t height)
{
    if (height == 1) {
        return check_leaf(index, check, node);
    }
    const struct inner *inner = node;
    if (inner->count == 0 || inner->count > INNER_CAPACITY) {
        return false;
    }
    for (uint32_t i = 0; i < inner->count; i++) {
        // All keys before must be less than the child's key, and no key in it may be.
        size_t before = check->count;
        if (i > 0 && !index_key_less(check->key_last, inner->keys[i])) {
            return false;
        }
        if (!check_subtree(index, check, inner->children[i], height - 1) ||
            check->count - before != inner->totals[i]) {
            return false;
        }
        const struct index_node *first = index_at(index, before);
        if (i > 0 && index_key_less(first->key, inner->keys[i])) {
            return false;
        }
    }
    return true;
}

bool index_check(const struct index *index)
{
    if (!index->root) {
        return index->count == 0 && index->height == 0;
    }
    if (index->height > 1 && ((const struct inner *)index->root)->count < 2) {
        return false;
    }
    struct check check = { 0 };
    return check_subtree(index, &check, index->root, index->height) &&
           check.count == index->count && check.leaf_last->next == NULL;
}
