// SPDX-License-Identifier: MIT
#include "kill_scene.h"

#include "test.h"
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CHILD_WAIT_MS = 60000, // a child that says nothing for so long hangs
};

// ---------------------------------------------------------------------------------------------
// The window

static void window_set(struct window *window, size_t n, uint64_t digest)
{
    if (n >= window->capacity) {
        window->capacity = 2 * n + 64;
        window->digests = realloc(window->digests, window->capacity * sizeof(*window->digests));
        assert_non_null(window->digests);
    }
    window->digests[n] = digest;
}

static bool window_has(const struct window *window, size_t low, size_t high, uint64_t digest)
{
    for (size_t n = low; n <= high; n++) {
        if (window->digests[n] == digest) {
            return true;
        }
    }
    return false;
}

// From now on it is this, and nothing else.
static void window_narrow(struct window *window, uint64_t digest)
{
    window->low = window->high = 0;
    window_set(window, 0, digest);
}

// ---------------------------------------------------------------------------------------------
// Scenes

static void path_in(char out[IMAGE_PATH_MAX], const char *folder, const char *name)
{
    int size = snprintf(out, IMAGE_PATH_MAX, "%s/%s", folder, name);
    assert_true(size > 0 && size < IMAGE_PATH_MAX);
}

static uint64_t empty_digest(void)
{
    struct workload *workload = workload_new(1, NULL);
    uint64_t digest = workload_digest(workload, 0);
    workload_free(workload);
    return digest;
}

void scene_init(struct scene *scene, enum store_durability durability, uint64_t seed,
                enum scratch_kind scratch)
{
    *scene = (struct scene){ .durability = durability, .random = { seed } };
    folder_make_scratch(scene->root, scratch);
    path_in(scene->store, scene->root, CHILD_STORE);
    path_in(scene->copy, scene->root, "copy");
    path_in(scene->backups, scene->root, CHILD_BACKUPS);
    assert_int_equal(mkdir(scene->backups, 0700), 0);
    window_narrow(&scene->window, empty_digest());
}

void scene_release(struct scene *scene)
{
    folder_remove(scene->root);
    free(scene->window.digests);
}

void scene_clear(struct scene *scene)
{
    folder_remove(scene->store);
    window_narrow(&scene->window, empty_digest());
}

// ---------------------------------------------------------------------------------------------
// Looking at a store

static enum status try_digest(const struct scene *scene, const char *path, uint64_t *digest,
                              struct error *error)
{
    struct store_options options = kill_store_options(path, scene->durability);
    struct rebuild rebuild;
    struct store_visitor visitor = rebuild_visitor(&rebuild);
    struct store *store;
    enum status status = store_open(&options, &visitor, &store, error);
    if (!status) {
        assert_true(rebuild_end(&rebuild));
        *digest = engine_digest(rebuild.engine);
        struct error closing = { 0 };
        if (store_close(store, &closing)) {
            fail_msg("%s cannot be closed: %s", path, error_sentence(&closing));
        }
    }
    rebuild_release(&rebuild);
    return status;
}

static uint64_t digest_at(const struct scene *scene, const char *path)
{
    struct error error = { 0 };
    uint64_t digest = 0;
    enum status status = try_digest(scene, path, &digest, &error);
    if (status) {
        fail_msg("%s cannot be opened: %s: %s", path, status_name(status), error_sentence(&error));
    }
    return digest;
}

// The store itself is opened now and then; mostly a copy, so that the next child finds what the
// kill left.
void scene_check(struct scene *scene)
{
    bool itself = random_below(&scene->random, 3) == 0 || access(scene->store, F_OK);
    if (!itself) {
        folder_copy(scene->store, scene->copy);
    }
    uint64_t digest = digest_at(scene, itself ? scene->store : scene->copy);
    folder_remove(scene->copy);
    const struct window *window = &scene->window;
    if (!window_has(window, window->low, window->high, digest)) {
        bool older = window->low > 0 && window_has(window, 0, window->low - 1, digest);
        fail_msg("the store is not what it was after any of the steps %zu to %zu%s", window->low,
                 window->high, older ? ", but after one before" : "");
    }
    window_narrow(&scene->window, digest);
}

// One that was not finished is refused, or it is none of the less.
static void check_backup(struct scene *scene, const struct backup *backup, const char *path)
{
    uint64_t digest = 0;
    struct error error = { 0 };
    scene->backups_made += backup->made;
    scene->backups_begun += !backup->made;
    if (backup->made) {
        digest = digest_at(scene, path);
    } else if (access(path, F_OK) || try_digest(scene, path, &digest, &error)) {
        return;
    }
    size_t high = backup->made ? backup->high : scene->window.high;
    if (!window_has(&scene->window, backup->low, high, digest)) {
        fail_msg("a backup that was %sfinished is not what the store was after any of the steps "
                 "%zu to %zu%s",
                 backup->made ? "" : "not ", backup->low, high,
                 digest == empty_digest() ? ", but empty" : "");
    }
}

static void backup_path(char out[IMAGE_PATH_MAX], const struct scene *scene, unsigned number)
{
    char name[16];
    (void)snprintf(name, sizeof(name), "%u", number);
    path_in(out, scene->backups, name);
}

static void check_backups(struct scene *scene)
{
    for (unsigned i = 0; i < CHILD_BACKUPS_MAX; i++) {
        char path[IMAGE_PATH_MAX];
        backup_path(path, scene, i);
        if (scene->backup[i].begun) {
            check_backup(scene, &scene->backup[i], path);
        }
    }
}

// What else is there, because a kill came in between, is for the next backup to deal with.
static void forget_backups(struct scene *scene)
{
    for (unsigned i = 0; i < CHILD_BACKUPS_MAX; i++) {
        char path[IMAGE_PATH_MAX];
        backup_path(path, scene, i);
        folder_remove(path);
    }
    memset(scene->backup, 0, sizeof(scene->backup));
}

// ---------------------------------------------------------------------------------------------
// Children

struct child {
    pid_t pid;
    int pipe;               // to read from
    enum message_kind last; // but backups
    bool opened, closed;
};

static void child_start(struct scene *scene, struct child *child, const struct plan *plan)
{
    const struct child_options options = { .root = scene->root,
                                           .seed = random_u64(&scene->random),
                                           .durability = scene->durability,
                                           .steps = plan->steps,
                                           .kill_at = plan->kill_at };
    struct child_arguments arguments;
    child_write_arguments(&options, &arguments);
    forget_backups(scene);
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    (void)fflush(stdout);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        int kept = dup2(ends[1], CHILD_PIPE);
        if (kept == CHILD_PIPE && fcntl(CHILD_PIPE, F_SETFD, 0) == 0) {
            (void)execv("/proc/self/exe", arguments.list);
        }
        _exit(127);
    }
    (void)close(ends[1]);
    *child = (struct child){ .pid = pid, .pipe = ends[0] };
}

// One message, or false at the end of them.
static bool hear(const struct child *child, struct message *message)
{
    struct pollfd ready = { .fd = child->pipe, .events = POLLIN };
    if (poll(&ready, 1, CHILD_WAIT_MS) != 1) {
        (void)kill(child->pid, SIGKILL);
        fail_msg("the child hangs");
    }
    ssize_t size = read(child->pipe, message, sizeof(*message));
    assert_true(size == 0 || size == sizeof(*message));
    return size != 0;
}

static void heed(struct scene *scene, struct child *child, const struct message *message)
{
    struct window *window = &scene->window;
    struct backup *backup = &scene->backup[message->n % CHILD_BACKUPS_MAX];
    switch ((enum message_kind)message->kind) {
    case MESSAGE_OPENED:
        if (!window_has(window, window->low, window->high, message->digest)) {
            fail_msg("the child found other data than was in the store");
        }
        window_narrow(window, message->digest);
        child->opened = true;
        break;
    case MESSAGE_SUBMITTED:
        window->high = message->n;
        window_set(window, message->n, message->digest);
        scene->steps++;
        break;
    case MESSAGE_ACKNOWLEDGED:
        assert_true(message->n <= window->high);
        window->low = message->n;
        break;
    case MESSAGE_BACKUP:
        backup->begun = true;
        backup->low = window->low;
        return;
    case MESSAGE_BACKED_UP:
        backup->high = window->high;
        backup->made = true;
        return;
    case MESSAGE_CLOSED:
        window->low = window->high;
        child->closed = true;
        break;
    case MESSAGE_OPENS:
    case MESSAGE_CLOSES:
        break;
    }
    child->last = (enum message_kind)message->kind;
}

static void spin(uint64_t turns)
{
    for (volatile uint64_t i = 0; i < turns; i = i + 1) {
    }
}

static void count_kill(struct scene *scene, const struct child *child)
{
    scene->kills++;
    scene->kills_opening += !child->opened;
    scene->kills_closing += child->last == MESSAGE_CLOSES;
    scene->kills_working += child->opened && child->last != MESSAGE_CLOSES;
}

// Gives whether the child was killed; it may have ended before.
static bool child_end(struct scene *scene, struct child *child)
{
    int how;
    assert_true(waitpid(child->pid, &how, 0) == child->pid);
    (void)close(child->pipe);
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL) {
        count_kill(scene, child);
        return true;
    }
    if (!WIFEXITED(how) || WEXITSTATUS(how) != 0 || !child->closed) {
        fail_msg("the child failed by itself");
    }
    return false;
}

bool scene_run(struct scene *scene, const struct plan *plan)
{
    struct child child;
    struct message message;
    uint64_t messages = plan->messages;
    child_start(scene, &child, plan);
    while (hear(&child, &message)) {
        heed(scene, &child, &message);
        if (!plan->kill_at && messages && message.kind == plan->from && --messages == 0) {
            spin(plan->spin);
            (void)kill(child.pid, SIGKILL);
        }
    }
    bool killed = child_end(scene, &child);
    check_backups(scene);
    return killed;
}

void scene_tell(const struct scene *scene)
{
    printf("# killed %u times: %u opening, %u working, %u closing; %llu steps; %u backups, and %u "
           "that were not finished\n",
           scene->kills, scene->kills_opening, scene->kills_working, scene->kills_closing,
           (unsigned long long)scene->steps, scene->backups_made, scene->backups_begun);
}

void scene_read_arguments(int count, char **list, uint64_t *seed, unsigned *kills)
{
    for (int i = 1; i + 1 < count; i += 2) {
        if (strcmp(list[i], "--seed") == 0) {
            *seed = strtoull(list[i + 1], NULL, 10);
        } else if (strcmp(list[i], "--kills") == 0) {
            *kills = (unsigned)strtoul(list[i + 1], NULL, 10);
        }
    }
}
