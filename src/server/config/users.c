// SPDX-License-Identifier: MIT
#include "server/config/users.h"

#include "server/config/password.h"
#include "server/config/throttle.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

enum {
    KEY_SIZE = LOGIN_DIGEST_SIZE,
    NAME_SIZE_MAX = USER_NAME_SIZE_MAX,
};

// A name, or with is_prefix the prefix of names.
struct pattern {
    const char *text; // in the user's line
    uint8_t size;
    bool is_prefix; // the pattern ended with `*`
};

struct grant {
    struct pattern ns, queue;
    bool has_queue; // the grant is only for such queues
    uint8_t rights;
};

// A user, and data that only this file uses. The line, the grants and the entry are one block each.
struct entry {
    struct user user; // first, for entry_of
    struct password password;
    // The password was accepted before, and is now recognised by a keyed hash that takes a
    // microsecond, because many workers connect at once after a restart. The key is random and
    // stays in this process.
    bool is_known;
    uint8_t known[KEY_SIZE];
    bool is_gone, was_gone;
    char *line; // owned; the name and patterns point into it
    size_t line_size;
    struct grant *grants; // owned
    size_t grants_size;
    size_t name_size;
};

struct users {
    const struct allocator *allocator;
    struct user anybody;
    struct entry **entries; // owned, with their contents; includes removed users
    size_t count, capacity;
    size_t present;          // number of users that are not removed
    uint32_t iterations_max; // the maximum of all passwords
    uint8_t key[KEY_SIZE];
    struct throttle throttle;
};

static const struct entry *entry_of(const struct user *user)
{
    return (const struct entry *)(const void *)user;
}

// ---------------------------------------------------------------------------------------------
// A user's line

static bool parse_pattern(struct slice text, struct pattern *out)
{
    bool is_prefix = slice_ends_with(text, SLICE("*"));
    size_t size = text.size - is_prefix;
    if (text.size == 0 || size > NAME_SIZE_MAX || memchr(text.data, '*', size)) {
        return false;
    }
    *out = (struct pattern){ .text = text.data, .size = (uint8_t)size, .is_prefix = is_prefix };
    return true;
}

// Parses "team-*:write" or "app/mail-*:put+read"; false if it is malformed.
static bool parse_grant(struct slice word, struct grant *out)
{
    const char *colon = word.size ? memrchr(word.data, ':', word.size) : NULL;
    if (!colon) {
        return false;
    }
    struct slice place = slice_make(word.data, (size_t)(colon - word.data));
    const char *slash = place.size ? memchr(place.data, '/', place.size) : NULL;
    size_t size = slash ? (size_t)(slash - place.data) : place.size;
    unsigned rights;
    *out = (struct grant){ .has_queue = slash };
    if (!parse_pattern(slice_sub(place, 0, size), &out->ns) ||
        (slash && !parse_pattern(slice_sub(place, size + 1, SIZE_MAX), &out->queue)) ||
        !rights_parse(slice_sub(word, place.size + 1, SIZE_MAX), &rights)) {
        return false;
    }
    out->rights = (uint8_t)rights;
    // The right `admin` is about the whole namespace, so it cannot be granted for some of its
    // queues.
    return !slash || !(rights & RIGHT_ADMIN);
}

static bool name_is_valid(struct slice name)
{
    for (size_t i = 0; i < name.size; i++) {
        if ((unsigned char)name.data[i] <= ' ' || name.data[i] == 0x7f) {
            return false;
        }
    }
    return name.size > 0 && name.size <= NAME_SIZE_MAX;
}

enum status user_check_words(const struct slice *words, size_t count, struct error *error)
{
    struct grant grant;
    if (count < 3) {
        return error_set(error, STATUS_INVALID,
                         "a user is a name, a password or its hash, and rights such as app:write");
    }
    if (!name_is_valid(words[0])) {
        return error_set(error, STATUS_INVALID,
                         "a user's name has from 1 to %d bytes and no spaces", NAME_SIZE_MAX);
    }
    for (size_t i = 2; i < count; i++) {
        if (!name_is_valid(words[i]) || !parse_grant(words[i], &grant)) {
            return error_set(error, STATUS_INVALID,
                             "'%.*s' is not a right: NAMESPACE[/QUEUE]:RIGHT[+RIGHT], where names "
                             "may end with * and rights are read, put, work, operate, write and, "
                             "without a queue, admin",
                             words[i].size > 40 ? 40 : (int)words[i].size,
                             words[i].size ? words[i].data : "");
        }
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Entries

static void entry_drop_rights(const struct allocator *allocator, struct entry *entry)
{
    mem_free(allocator, entry->grants, entry->grants_size);
    entry->grants = NULL;
    entry->grants_size = 0;
    entry->user.everywhere = RIGHT_NONE;
    entry->user.grants = NULL;
    entry->user.grant_count = 0;
}

static void entry_free(const struct allocator *allocator, struct entry *entry)
{
    if (entry) {
        entry_drop_rights(allocator, entry);
        mem_free(allocator, entry->line, entry->line_size);
        OPENSSL_cleanse(entry, sizeof(*entry));
        mem_free(allocator, entry, sizeof(*entry));
    }
}

static struct slice next_word(struct slice *rest)
{
    const char *end = rest->size ? memchr(rest->data, ' ', rest->size) : NULL;
    struct slice word = slice_make(rest->data, end ? (size_t)(end - rest->data) : rest->size);
    *rest = slice_sub(*rest, word.size + 1, rest->size);
    return word;
}

static enum status entry_read_rights(const struct allocator *allocator, struct entry *entry,
                                     struct slice rest, struct error *error)
{
    size_t count = 1;
    for (size_t i = 0; i < rest.size; i++) {
        count += rest.data[i] == ' ';
    }
    entry->grants = mem_zalloc(allocator, count * sizeof(struct grant));
    if (!entry->grants) {
        return error_set(error, STATUS_NO_MEMORY, "there is no memory for the users");
    }
    entry->grants_size = count * sizeof(struct grant);
    for (size_t i = 0; i < count; i++) {
        struct grant *grant = &entry->grants[i];
        if (!parse_grant(next_word(&rest), grant)) {
            return error_set(error, STATUS_INVALID, "user '%s' has a right that is none",
                             entry->user.name);
        }
        if (grant->ns.size == 0 && !grant->has_queue) {
            entry->user.everywhere |= grant->rights;
        }
    }
    entry->user.grants = entry->grants;
    entry->user.grant_count = count;
    return STATUS_OK;
}

// Creates an entry from a line of the settings: "NAME HASH RIGHTS...".
static enum status entry_new(const struct allocator *allocator, struct slice line,
                             struct entry **out, struct error *error)
{
    struct entry *entry = mem_zalloc(allocator, sizeof(*entry));
    if (!entry) {
        return error_set(error, STATUS_NO_MEMORY, "there is no memory for the users");
    }
    enum status status = STATUS_NO_MEMORY;
    entry->line = mem_alloc(allocator, line.size + 1);
    if (!entry->line) {
        (void)error_set(error, status, "there is no memory for the users");
        goto fail;
    }
    entry->line_size = line.size + 1;
    memcpy(entry->line, line.data, line.size);
    entry->line[line.size] = '\0';
    struct slice rest = slice_make(entry->line, line.size);
    struct slice name = next_word(&rest);
    entry->line[name.size] = '\0';
    entry->name_size = name.size;
    entry->user.name = entry->line;
    status = password_parse(next_word(&rest), &entry->password, error);
    if (status == STATUS_OK) {
        status = entry_read_rights(allocator, entry, rest, error);
    }
    if (status == STATUS_OK) {
        *out = entry;
        return STATUS_OK;
    }
fail:
    entry_free(allocator, entry);
    return status;
}

// Creates the user of the setting `password`.
static enum status entry_new_default(const struct allocator *allocator, const char *hash,
                                     struct entry **out, struct error *error)
{
    char line[PASSWORD_TEXT_SIZE + 32];
    (void)snprintf(line, sizeof(line), "default %s *:admin", hash);
    return entry_new(allocator, slice_from_cstr(line), out, error);
}

// ---------------------------------------------------------------------------------------------
// The table of users

static struct entry *find(const struct users *users, struct slice name)
{
    for (size_t i = 0; i < users->count; i++) {
        struct entry *entry = users->entries[i];
        if (slice_equal(name, slice_make(entry->user.name, entry->name_size))) {
            return entry;
        }
    }
    return NULL;
}

enum status users_new(const struct allocator *allocator, const struct settings *settings,
                      struct users **out, struct error *error)
{
    struct hash_seed seed = { 0 };
    struct users *users = mem_zalloc(allocator, sizeof(*users));
    if (!users) {
        return error_set(error, STATUS_NO_MEMORY, "there is no memory for the users");
    }
    users->allocator = allocator;
    users->anybody.name = "";
    enum status status = STATUS_OK;
    if (RAND_bytes(users->key, sizeof(users->key)) != 1 ||
        RAND_bytes((unsigned char *)&seed, sizeof(seed)) != 1) {
        status = error_set(error, STATUS_IO, "the system gives no random bytes");
    }
    if (status == STATUS_OK) {
        throttle_init(&users->throttle, seed);
        status = users_reload(users, settings, (struct slices){ NULL, 0 }, error);
    }
    if (status) {
        users_free(users);
        return status;
    }
    *out = users;
    return STATUS_OK;
}

void users_free(struct users *users)
{
    if (!users) {
        return;
    }
    const struct allocator *allocator = users->allocator;
    for (size_t i = 0; i < users->count; i++) {
        entry_free(allocator, users->entries[i]);
    }
    mem_free(allocator, users->entries, users->capacity * sizeof(struct entry *));
    OPENSSL_cleanse(users->key, sizeof(users->key));
    mem_free(allocator, users, sizeof(*users));
}

static enum status reserve(struct users *users, size_t more, struct error *error)
{
    size_t capacity = users->count + more;
    if (capacity <= users->capacity) {
        return STATUS_OK;
    }
    struct entry **entries =
        mem_resize(users->allocator, users->entries, users->capacity * sizeof(struct entry *),
                   capacity * sizeof(struct entry *));
    if (!entries) {
        return error_set(error, STATUS_NO_MEMORY, "there is no memory for the users");
    }
    users->entries = entries;
    users->capacity = capacity;
    return STATUS_OK;
}

static bool is_made(struct entry *const *made, size_t count, struct slice line)
{
    struct slice name = next_word(&line);
    for (size_t i = 0; i < count; i++) {
        if (slice_equal(name, slice_make(made[i]->user.name, made[i]->name_size))) {
            return true;
        }
    }
    return false;
}

// Creates an entry for each user; `made` has room for all of them.
static enum status make_all(const struct users *users, const struct settings *settings,
                            struct slices stored, struct entry **made, size_t *count,
                            struct error *error)
{
    enum status status = STATUS_OK;
    if (*settings->password) {
        status = entry_new_default(users->allocator, settings->password, &made[0], error);
        *count += status == STATUS_OK;
    }
    for (size_t i = 0; i < settings->user.count && status == STATUS_OK; i++) {
        status = entry_new(users->allocator, slice_from_cstr(settings->user.items[i]),
                           &made[*count], error);
        *count += status == STATUS_OK;
    }
    for (size_t i = 0; i < stored.count && status == STATUS_OK; i++) {
        if (is_made(made, *count, stored.items[i])) {
            continue; // the settings take precedence
        }
        status = entry_new(users->allocator, stored.items[i], &made[*count], error);
        if (status == STATUS_OK) {
            made[(*count)++]->user.stored = true;
        }
    }
    return status;
}

static bool same_password(const struct password *a, const struct password *b)
{
    return a->iterations == b->iterations && a->salt_size == b->salt_size &&
           memcmp(a->salt, b->salt, a->salt_size) == 0 &&
           CRYPTO_memcmp(a->hash, b->hash, sizeof(a->hash)) == 0;
}

// Updates the entry of an existing user in place, because connections have pointers to it.
static void take_over(struct users *users, struct entry *entry, struct entry *fresh)
{
    struct entry before = *entry;
    if (same_password(&before.password, &fresh->password)) {
        fresh->is_known = before.is_known;
        memcpy(fresh->known, before.known, sizeof(fresh->known));
        fresh->user.revoked = before.was_gone;
    } else {
        fresh->user.revoked = true;
    }
    *entry = *fresh;
    *fresh = before;
    entry_free(users->allocator, fresh);
}

static void replace_all(struct users *users, struct entry **made, size_t count)
{
    for (size_t i = 0; i < users->count; i++) {
        struct entry *entry = users->entries[i];
        entry_drop_rights(users->allocator, entry);
        entry->was_gone = entry->is_gone;
        entry->is_gone = true;
        entry->user.revoked = true;
    }
    users->present = count;
    users->iterations_max = PASSWORD_ITERATIONS_PLAIN;
    for (size_t i = 0; i < count; i++) {
        uint32_t iterations = made[i]->password.iterations;
        if (iterations > users->iterations_max) {
            users->iterations_max = iterations;
        }
        struct entry *entry = find(users, slice_make(made[i]->user.name, made[i]->name_size));
        if (entry) {
            take_over(users, entry, made[i]);
        } else {
            users->entries[users->count++] = made[i];
        }
    }
    users->anybody.everywhere = count ? RIGHT_NONE : RIGHTS_ADMIN;
}

enum status users_reload(struct users *users, const struct settings *settings, struct slices stored,
                         struct error *error)
{
    size_t room = settings->user.count + 1 + stored.count;
    size_t count = 0;
    struct entry **made = mem_zalloc(users->allocator, room * sizeof(struct entry *));
    if (!made) {
        return error_set(error, STATUS_NO_MEMORY, "there is no memory for the users");
    }
    enum status status = make_all(users, settings, stored, made, &count, error);
    if (status == STATUS_OK) {
        status = reserve(users, count, error);
    }
    if (status == STATUS_OK) {
        replace_all(users, made, count);
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        entry_free(users->allocator, made[i]);
    }
    mem_free(users->allocator, made, room * sizeof(struct entry *));
    return status;
}

void users_settle(struct users *users)
{
    for (size_t i = 0; i < users->count; i++) {
        users->entries[i]->user.revoked = false;
    }
}

bool users_have_admin(const struct users *users, struct slice except)
{
    for (size_t i = 0; i < users->count; i++) {
        const struct entry *entry = users->entries[i];
        if (!entry->is_gone && (entry->user.everywhere & RIGHT_ADMIN) &&
            !slice_equal(except, slice_make(entry->user.name, entry->name_size))) {
            return true;
        }
    }
    return false;
}

const struct user *users_at(const struct users *users, size_t index)
{
    for (size_t i = 0; i < users->count; i++) {
        if (!users->entries[i]->is_gone && index-- == 0) {
            return &users->entries[i]->user;
        }
    }
    return NULL;
}

const struct user *users_anybody(const struct users *users)
{
    return users->present ? NULL : &users->anybody;
}

bool user_is_gone(const struct user *user)
{
    // Only the user of unauthenticated connections has no name; it is not part of an entry.
    return *user->name ? entry_of(user)->is_gone : user->everywhere == RIGHT_NONE;
}

// ---------------------------------------------------------------------------------------------
// Rights

static bool matches(const struct pattern *pattern, struct slice name)
{
    struct slice text = slice_make(pattern->text, pattern->size);
    return pattern->is_prefix ? slice_starts_with(name, text) : slice_equal(name, text);
}

unsigned user_rights(const struct user *user, struct slice ns)
{
    unsigned rights = user->everywhere;
    for (size_t i = 0; i < user->grant_count; i++) {
        const struct grant *grant = &user->grants[i];
        rights |= !grant->has_queue && matches(&grant->ns, ns) ? grant->rights : 0;
    }
    return rights;
}

unsigned user_rights_on(const struct user *user, struct slice ns, struct slice queue)
{
    unsigned rights = user->everywhere;
    for (size_t i = 0; i < user->grant_count; i++) {
        const struct grant *grant = &user->grants[i];
        bool holds =
            matches(&grant->ns, ns) && (!grant->has_queue || matches(&grant->queue, queue));
        rights |= holds ? grant->rights : 0;
    }
    return rights;
}

unsigned user_rights_somewhere(const struct user *user, struct slice ns)
{
    unsigned rights = user->everywhere;
    for (size_t i = 0; i < user->grant_count; i++) {
        rights |= matches(&user->grants[i].ns, ns) ? user->grants[i].rights : 0;
    }
    return rights;
}

bool user_grant(const struct user *user, size_t index, char text[USER_GRANT_SIZE])
{
    char rights[RIGHTS_TEXT_SIZE];
    if (!*user->name && index == 0 && user->everywhere) {
        (void)snprintf(text, USER_GRANT_SIZE, "*:%s", rights_format(user->everywhere, rights));
        return true;
    }
    if (index >= user->grant_count) {
        return false;
    }
    const struct grant *grant = &user->grants[index];
    (void)snprintf(text, USER_GRANT_SIZE, "%.*s%s%s%.*s%s:%s", grant->ns.size, grant->ns.text,
                   grant->ns.is_prefix ? "*" : "", grant->has_queue ? "/" : "", grant->queue.size,
                   grant->has_queue ? grant->queue.text : "", grant->queue.is_prefix ? "*" : "",
                   rights_format(grant->rights, rights));
    return true;
}

bool user_may_anywhere(const struct user *user, unsigned rights)
{
    for (size_t i = 0; i < user->grant_count; i++) {
        const struct grant *grant = &user->grants[i];
        if (!grant->has_queue && (grant->rights & rights) == rights) {
            return true;
        }
    }
    return (user->everywhere & rights) == rights;
}

// ---------------------------------------------------------------------------------------------
// Logging in

static bool digest(const struct users *users, const struct entry *entry, struct slice password,
                   uint8_t out[KEY_SIZE])
{
    // The user's salt keeps equal passwords of two users apart.
    uint8_t salted[PASSWORD_SALT_MAX + PASSWORD_SIZE_MAX];
    unsigned size = 0;
    if (password.size > PASSWORD_SIZE_MAX) {
        return false;
    }
    memset(salted, 0, PASSWORD_SALT_MAX);
    if (entry) {
        memcpy(salted, entry->password.salt, PASSWORD_SALT_MAX);
    }
    if (password.size) {
        memcpy(salted + PASSWORD_SALT_MAX, password.data, password.size);
    }
    bool done = HMAC(EVP_sha256(), users->key, KEY_SIZE, salted, PASSWORD_SALT_MAX + password.size,
                     out, &size) != NULL;
    OPENSSL_cleanse(salted, sizeof(salted));
    return done && size == KEY_SIZE;
}

// The user with that name that is not removed, or NULL.
static struct entry *find_present(const struct users *users, struct slice name)
{
    struct entry *entry = find(users, name);
    return entry && !entry->is_gone ? entry : NULL;
}

const struct user *users_find(const struct users *users, struct slice name)
{
    const struct entry *entry = find_present(users, name);
    return entry ? &entry->user : NULL;
}

static struct throttle_who throttle_key_of(const struct login_name *who)
{
    return (struct throttle_who){ who->address, who->name.size ? who->name : SLICE("default") };
}

// A check takes the same time for a missing user, so that its duration reveals nothing.
static void prepare_check(const struct users *users, const struct entry *entry,
                          struct login_check *out)
{
    uint32_t most = users->iterations_max;
    if (!entry) {
        out->password = (struct password){ .iterations = most, .salt_size = PASSWORD_SALT_MAX };
        return;
    }
    out->is_user = true;
    out->password = entry->password;
    out->iterations_more =
        most > entry->password.iterations ? most - entry->password.iterations : 0;
}

static enum status denied(struct error *error)
{
    return error_set(error, STATUS_DENIED, "the name or the password is wrong");
}

static enum status check_throttle(const struct users *users, struct throttle_who who,
                                  int64_t now_us, struct error *error)
{
    int64_t wait_us = throttle_wait_us(&users->throttle, who, now_us);
    return wait_us
               ? error_set(error, STATUS_BUSY, "too many failed logins; try again in %lld seconds",
                           (long long)((wait_us + 999999) / 1000000))
               : STATUS_OK;
}

enum status users_login_begin(struct users *users, const struct login_name *who,
                              struct slice password, int64_t now_us, struct login_check *check,
                              const struct user **out, struct error *error)
{
    const struct throttle_who counted = throttle_key_of(who);
    *out = NULL;
    *check = (struct login_check){ 0 };
    if (!users->present) {
        return error_set(error, STATUS_STATE, "no users are set up: no login is needed");
    }
    enum status status = check_throttle(users, counted, now_us, error);
    if (status) {
        return status;
    }
    const struct entry *entry = find_present(users, counted.user);
    prepare_check(users, entry, check);
    check->has_digest = digest(users, entry, password, check->digest);
    if (check->has_digest && entry && entry->is_known &&
        CRYPTO_memcmp(check->digest, entry->known, KEY_SIZE) == 0) {
        throttle_succeeded(&users->throttle, counted, now_us);
        *out = &entry->user;
    }
    return STATUS_OK;
}

enum status login_check_run(const struct login_check *check, struct slice password)
{
    enum status status = password_check(&check->password, password);
    if (!status && !check->is_user) {
        status = STATUS_DENIED;
    }
    if (status == STATUS_DENIED && check->iterations_more) {
        struct password decoy = { .iterations = check->iterations_more,
                                  .salt_size = PASSWORD_SALT_MAX };
        status = password_check(&decoy, password) == STATUS_NO_MEMORY ? STATUS_NO_MEMORY : status;
    }
    return status;
}

enum status users_login_end(struct users *users, const struct login_name *who,
                            const struct login_check *check, bool right, int64_t now_us,
                            const struct user **out, int64_t *refused_us, struct error *error)
{
    const struct throttle_who counted = throttle_key_of(who);
    struct entry *entry = find_present(users, counted.user);
    *refused_us = 0;
    // The password may have been changed during the check.
    if (!right || !entry || !same_password(&entry->password, &check->password)) {
        *refused_us = throttle_failed(&users->throttle, counted, now_us);
        return denied(error);
    }
    if (check->has_digest) {
        memcpy(entry->known, check->digest, KEY_SIZE);
        entry->is_known = true;
    }
    throttle_succeeded(&users->throttle, counted, now_us);
    *out = &entry->user;
    return STATUS_OK;
}

const struct throttle *users_throttle(const struct users *users)
{
    return &users->throttle;
}
