// SPDX-License-Identifier: MIT
#include "client/folder.h"

#include "client/fork.h"
#include "client/local_call.h"
#include "client/local_events.h"
#include "host/zones/zoneinfo.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/thread.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    NAMESPACES_MAX = 1000000, // the largest setting of a server
    APPEND_TRIES = 10000,     // a millisecond apart
};

static const uint64_t settled = 0;       // the result of a turn: nothing to wait for
static const uint64_t lost = UINT64_MAX; // the result of a turn: its changes will never be stored

// ---------------------------------------------------------------------------------------------
// The folders of this process. Opening and closing hold the mutex until they end, so that a folder
// that is being closed is closed completely before it is opened again.

static pthread_mutex_t folders_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct folder *folders;
static struct fork_guard folders_guard;
static pthread_once_t guarded = PTHREAD_ONCE_INIT;
static atomic_uint process; // incremented by each fork(), in the child

// The child has none of the threads, and its copy of a folder may be in the middle of a change. It
// forgets the folders and can open others.
static void forget(struct fork_guard *guard)
{
    (void)guard;
    fork_renew_mutex(&folders_mutex);
    folders = NULL;
    atomic_fetch_add(&process, 1);
}

static void watch_forks(void)
{
    fork_guard_add(&folders_guard, forget);
}

bool folder_is_ours(const struct folder *folder)
{
    return folder->process == atomic_load_explicit(&process, memory_order_relaxed);
}

enum status folder_check_process(const struct folder *folder, struct error *error)
{
    if (folder_is_ours(folder)) {
        return STATUS_OK;
    }
    return error_set(error, STATUS_STATE,
                     "the folder was opened before fork(): it belongs to the parent process, and "
                     "the child cannot use it");
}

// ---------------------------------------------------------------------------------------------
// Messages for the operator of the program

void folder_log(struct folder *folder, enum sluice_log_level level, const char *sentence)
{
    pthread_mutex_lock(&folder->users_mutex);
    for (const struct folder_user *user = folder->users; user; user = user->next) {
        if (user->log) {
            user->log(user->log_context, level, sentence);
        }
    }
    pthread_mutex_unlock(&folder->users_mutex);
}

static void log_store(void *context, enum store_level level, const char *sentence)
{
    static const enum sluice_log_level levels[] = {
        [STORE_INFO] = SLUICE_LOG_INFO,
        [STORE_WARNING] = SLUICE_LOG_WARNING,
        [STORE_ERROR] = SLUICE_LOG_ERROR,
    };
    folder_log(context, levels[level], sentence);
}

static void log_namespaces(void *context, const char *sentence)
{
    folder_log(context, SLUICE_LOG_WARNING, sentence);
}

static void add_user(struct folder *folder, struct folder_user *user)
{
    pthread_mutex_lock(&folder->users_mutex);
    user->next = folder->users;
    folder->users = user;
    pthread_mutex_unlock(&folder->users_mutex);
    folder->user_count++;
}

static void remove_user(struct folder *folder, struct folder_user *user)
{
    pthread_mutex_lock(&folder->users_mutex);
    struct folder_user **at = &folder->users;
    while (*at != user) {
        assert(*at);
        at = &(*at)->next;
    }
    *at = user->next;
    pthread_mutex_unlock(&folder->users_mutex);
    folder->user_count--;
}

// ---------------------------------------------------------------------------------------------
// Turns

int64_t folder_now(const struct folder *folder)
{
    return host_clock_time(&folder->clock, host_clock_monotonic());
}

int64_t folder_ahead_us(struct folder *folder)
{
    if (!folder_is_ours(folder)) {
        return folder->clock.ahead_us; // the mutex is the parent's
    }
    pthread_mutex_lock(&folder->mutex);
    int64_t ahead_us = folder->clock.ahead_us;
    pthread_mutex_unlock(&folder->mutex);
    return ahead_us;
}

void folder_wake(const struct folder *folder)
{
    (void)eventfd_write(folder->wake, 1);
}

// Ends all waiting calls with the error.
static void fail(struct folder *folder, const struct error *why)
{
    if (folder->failed) {
        return;
    }
    folder->failed = true;
    error_copy(&folder->why, why);
    for (struct ns *ns = folder->namespaces.first; ns; ns = ns->next) {
        waiting_fail_all(ns, &folder->why);
    }
}

static void wait_for_disk(struct folder *folder, int64_t deadline_us)
{
    folder->busy_count++;
    folder_wake(folder);
    (void)condition_wait_until(&folder->busy, &folder->mutex, deadline_us);
    folder->busy_count--;
}

enum store_state folder_begin_turn(struct folder *folder, struct error *why)
{
    if (folder->failed) {
        error_copy(why, &folder->why);
        return STORE_FAILED;
    }
    enum store_state state = store_state(folder->store, why);
    folder->stuck = state == STORE_STUCK;
    if (state != STORE_BUSY) {
        namespaces_hold_growth(&folder->namespaces, GROWTH_DISK, state != STORE_READY);
    }
    if (state == STORE_FAILED) {
        fail(folder, why);
    }
    return state;
}

enum status folder_admit(struct folder *folder, const struct command *command, int64_t deadline_us,
                         struct error *error)
{
    enum store_state state = folder_begin_turn(folder, error);
    if (!(command->flags & COMMAND_WRITES)) {
        return STATUS_OK;
    }
    while (state == STORE_BUSY && monotonic_us() < deadline_us) {
        wait_for_disk(folder, deadline_us);
        state = folder_begin_turn(folder, error);
    }
    bool taken =
        state == STORE_READY || (state == STORE_FULL && (command->flags & COMMAND_SHRINKS));
    return taken ? STATUS_OK : error->status;
}

// Wakes the calls that were answered in this turn.
static void tell_answered(struct folder *folder, uint64_t group)
{
    while (folder->answered) {
        struct local_call *local_call = folder->answered;
        folder->answered = local_call->next;
        local_call_tell(local_call, group);
    }
}

static uint64_t append(struct folder *folder)
{
    static const struct timespec pause = { .tv_nsec = 1000000 };
    struct error error;
    uint64_t before = folder->namespaces.group;
    enum status status = namespaces_append(&folder->namespaces, &error);
    // Changes that cannot be appended because memory is short are kept and tried again.
    for (int i = 0; i < APPEND_TRIES && status == STATUS_NO_MEMORY; i++) {
        (void)nanosleep(&pause, NULL);
        status = namespaces_append(&folder->namespaces, &error);
    }
    if (status) {
        // The state of the engines is ahead of the disk for ever.
        fail(folder, &error);
        return lost;
    }
    // A stuck store may never recover: calls that have only read are answered at once.
    bool asked = folder->stuck && folder->namespaces.group == before;
    return folder->failed || asked || folder->durability == STORE_NEVER ? settled
                                                                        : folder->namespaces.group;
}

uint64_t folder_end_turn(struct folder *folder)
{
    struct namespaces *all = &folder->namespaces;
    int64_t next_us = INT64_MAX;
    if (all->touched && !folder->stuck) {
        next_us = namespaces_tick_touched(all, folder_now(folder));
    }
    if (all->removals && !folder->removing) {
        folder->removing = true;
        next_us = 0;
    }
    if (next_us < folder->due_us) {
        folder->due_us = next_us;
        folder_wake(folder);
    }
    uint64_t group = append(folder);
    listeners_tell(folder, group);
    tell_answered(folder, group);
    return group;
}

enum status folder_settle(struct folder *folder, uint64_t group, int64_t deadline_us,
                          struct error *error)
{
    if (group == lost) {
        pthread_mutex_lock(&folder->mutex);
        error_copy(error, &folder->why);
        pthread_mutex_unlock(&folder->mutex);
        return error->status;
    }
    if (group == settled || store_durable(folder->store) >= group) {
        return STATUS_OK;
    }
    enum status status = store_wait_until(folder->store, group, deadline_us, error);
    if (!status || status == STATUS_BUSY) {
        return status;
    }
    // No other call's changes will be stored either.
    pthread_mutex_lock(&folder->mutex);
    fail(folder, error);
    tell_answered(folder, lost);
    pthread_mutex_unlock(&folder->mutex);
    return status;
}

// ---------------------------------------------------------------------------------------------
// Services for commands

static uint64_t random_of(void *context)
{
    return random_source_next(&((struct folder *)context)->random);
}

static enum status zone_of(void *context, struct slice name, struct zone_rules *out,
                           struct error *error)
{
    return zoneinfo_find(((struct folder *)context)->zones, name, out, error);
}

// A process that can open the folder has all rights.
static bool may_see(const void *session, struct slice ns)
{
    (void)session;
    (void)ns;
    return true;
}

static enum status check_admin(const void *session, struct slice ns, struct error *error)
{
    (void)session;
    (void)ns;
    (void)error;
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// Life

static void note_unfit(void *context, struct slice ns, struct slice jid, size_t size_max)
{
    char sentence[ERROR_DETAIL_SIZE];
    (void)snprintf(sentence, sizeof(sentence),
                   "job larger than an answer may be (%zu bytes); not handed out: namespace %.*s, "
                   "jid %.*s",
                   size_max, SLICE_PRINT(slice_shown(ns)), SLICE_PRINT(slice_shown(jid)));
    folder_log(context, SLUICE_LOG_WARNING, sentence);
}

static enum status make_namespaces(struct folder *folder, struct error *error)
{
    static const unsigned wanted = EVENT_TO_WATCHER;
    struct namespaces_options options = {
        .allocator = &allocator_system,
        .wanted = &wanted,
        .clock = &folder->clock,
        .create = true,
        .count_max = NAMESPACES_MAX,
        .waiting = local_call_ops,
        .event = listeners_event,
        .log = log_namespaces,
        .context = folder,
    };
    enum status status = random_source_init(&folder->random, &options.seed, error);
    if (!status && (zoneinfo_new(&allocator_system, NULL, &folder->zones) ||
                    host_commands_new(&allocator_system, NULL, 0, &folder->commands))) {
        status = error_set(error, STATUS_NO_MEMORY, "out of memory");
    }
    folder->services = (struct services){
        .host = { random_of, zone_of, note_unfit, local_call_popped, refusals_note_call, folder },
        .namespaces = &folder->namespaces,
        .commands = folder->commands,
        .may_see = may_see,
        .check_admin = check_admin,
        .start = local_call_start,
    };
    return status ? status : namespaces_init(&folder->namespaces, &options, error);
}

static enum status open_store(struct folder *folder, const char *path, struct error *error)
{
    const struct store_options options = {
        .path = path,
        .allocator = &allocator_system,
        .durability = folder->durability,
        .interval_us = folder->interval_us,
        .log = log_store,
        .log_context = folder,
    };
    const struct store_visitor visitor = { namespaces_visit, &folder->namespaces };
    enum status status = store_open(&options, &visitor, &folder->store, error);
    if (!status) {
        folder->namespaces.store = folder->store;
        status = namespaces_loaded(&folder->namespaces, folder_now(folder), error);
    }
    return status;
}

static enum status start_thread(struct folder *folder, struct error *error)
{
    folder->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int failed = folder->wake < 0 ? errno : 0;
    if (!failed) {
        failed = thread_start(&folder->thread, folder_look_after, folder);
        folder->has_thread = !failed;
    }
    return failed
               ? error_set(error, STATUS_IO, "no thread can be made: %s", strerrordesc_np(failed))
               : STATUS_OK;
}

static void stop_thread(struct folder *folder)
{
    if (folder->has_thread) {
        pthread_mutex_lock(&folder->mutex);
        folder->stopping = true;
        pthread_mutex_unlock(&folder->mutex);
        folder_wake(folder);
        (void)pthread_join(folder->thread, NULL);
    }
    if (folder->wake >= 0) {
        (void)close(folder->wake);
    }
}

// Brings everything to disk.
static void close_store(struct folder *folder)
{
    struct error error;
    if (folder->failed || namespaces_append(&folder->namespaces, &error)) {
        folder_log(folder, SLUICE_LOG_ERROR,
                   error_sentence(folder->failed ? &folder->why : &error));
    }
    if (store_close(folder->store, &error)) {
        folder_log(folder, SLUICE_LOG_ERROR, error_sentence(&error));
    }
}

static void release(struct folder *folder)
{
    stop_thread(folder);
    if (folder->store) {
        close_store(folder);
    }
    if (folder->namespaces.empty) {
        namespaces_release(&folder->namespaces);
    }
    scratch_release(&folder->scratch);
    commands_free(folder->commands);
    zoneinfo_free(folder->zones);
    (void)pthread_cond_destroy(&folder->busy);
    (void)pthread_mutex_destroy(&folder->mutex);
    (void)pthread_mutex_destroy(&folder->users_mutex);
    mem_free(&allocator_system, folder, sizeof(*folder));
}

static bool init_mutexes(struct folder *folder)
{
    return !pthread_mutex_init(&folder->users_mutex, NULL) &&
           !pthread_mutex_init(&folder->mutex, NULL) && !condition_init(&folder->busy);
}

static struct folder *folder_new(const struct folder_options *options)
{
    struct folder *folder = mem_zalloc(&allocator_system, sizeof(*folder));
    if (folder) {
        folder->durability = options->durability;
        folder->interval_us = options->interval_us;
        folder->process = atomic_load(&process);
        folder->wake = -1;
        folder->due_us = INT64_MAX;
        host_clock_init(&folder->clock, host_clock_look());
        scratch_init(&folder->scratch, &allocator_system);
        if (!init_mutexes(folder)) {
            mem_free(&allocator_system, folder, sizeof(*folder));
            folder = NULL;
        }
    }
    return folder;
}

// Changes that opening has made are stored in the first turn of the thread.
static enum status begin(struct folder *folder, const char *path, struct error *error)
{
    struct stat about;
    enum status status = make_namespaces(folder, error);
    if (!status) {
        status = open_store(folder, path, error);
    }
    if (!status && stat(path, &about)) {
        status = file_error(error, "look at", path);
    }
    if (!status) {
        folder->device = about.st_dev;
        folder->inode = about.st_ino;
        status = start_thread(folder, error);
    }
    return status;
}

// Returns the folder if it is open already, or NULL.
static struct folder *find(const char *path)
{
    struct stat about;
    if (stat(path, &about)) {
        return NULL;
    }
    struct folder *at = folders;
    while (at && (at->device != about.st_dev || at->inode != about.st_ino)) {
        at = at->next;
    }
    return at;
}

static enum status share(struct folder *folder, const struct folder_options *options,
                         struct error *error)
{
    if (folder->durability != options->durability ||
        (folder->durability == STORE_INTERVAL && folder->interval_us != options->interval_us)) {
        return error_set(error, STATUS_STATE,
                         "%s is open in this process already, with another durability",
                         options->path);
    }
    return STATUS_OK;
}

static enum status open_new(const struct folder_options *options, struct folder_user *user,
                            struct folder **out, struct error *error)
{
    if (options->existing && !store_is_there(options->path)) {
        return error_set(error, STATUS_NOT_FOUND, "there is no queue in %s", options->path);
    }
    struct folder *folder = folder_new(options);
    if (!folder) {
        return error_set(error, STATUS_NO_MEMORY, "out of memory");
    }
    add_user(folder, user);
    enum status status = begin(folder, options->path, error);
    if (status) {
        release(folder);
        return status;
    }
    folder->next = folders;
    folders = folder;
    *out = folder;
    return STATUS_OK;
}

enum status folder_open(const struct folder_options *options, struct folder_user *user,
                        struct folder **out, struct error *error)
{
    (void)pthread_once(&guarded, watch_forks);
    pthread_mutex_lock(&folders_mutex);
    enum status status;
    *out = find(options->path);
    if (*out) {
        status = share(*out, options, error);
        if (!status) {
            add_user(*out, user);
        }
    } else {
        status = open_new(options, user, out, error);
    }
    pthread_mutex_unlock(&folders_mutex);
    return status;
}

void folder_leave(struct folder *folder, struct presences *presences)
{
    if (folder_is_ours(folder)) {
        pthread_mutex_lock(&folder->mutex);
        presences_end(presences, true);
        (void)folder_end_turn(folder);
        pthread_mutex_unlock(&folder->mutex);
    }
}

void folder_close(struct folder *folder, struct folder_user *user)
{
    if (!folder_is_ours(folder)) {
        return; // the parent closes it
    }
    pthread_mutex_lock(&folders_mutex);
    if (folder->user_count > 1) {
        remove_user(folder, user);
    } else {
        struct folder **at = &folders;
        while (*at != folder) {
            at = &(*at)->next;
        }
        *at = folder->next;
        release(folder); // its user still receives messages
    }
    pthread_mutex_unlock(&folders_mutex);
}
