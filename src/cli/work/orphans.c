// SPDX-License-Identifier: MIT
#include "cli/work/orphans.h"

#include "cli/core/steady.h"
#include "cli/work/process.h"
#include "cli/work/sandbox.h"
#include "cli/work/status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FOLDER_MODE = 0700,
    FILE_MODE = 0600,
    POLL_MS_MAX = 60000,
};

// ---------------------------------------------------------------------------------------------
// Files

static bool file_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    if (fd < 0) {
        return false;
    }
    size_t size = strlen(text);
    bool written = write(fd, text, size) == (ssize_t)size;
    return close(fd) == 0 && written;
}

// The lock of a folder; -1: another has it.
static int folder_lock(const char *folder, int how)
{
    char *path = tool_format("%s/lock", folder);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    tool_free(path);
    if (fd >= 0 && flock(fd, how) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

// ---------------------------------------------------------------------------------------------
// Records

static void put_value(FILE *out, const char *word, const char *value)
{
    print(out, "%s ", word);
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        print(out, c < 0x20 || c == '%' ? "%%%02X" : "%c", c);
    }
    print(out, "\n");
}

char *work_run_write(const struct work_run *run, const char *boot)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return tool_copy("", 0);
    }
    print(out, "pid %lld\nstart %llu\ntoken %lld\n", (long long)run->pid,
          (unsigned long long)run->start, (long long)run->token);
    put_value(out, "boot", boot);
    if (run->jid) {
        put_value(out, "jid", run->jid);
        put_value(out, "worker", run->worker);
    }
    put_value(out, "mark", run->mark);
    if (run->sandbox) {
        put_value(out, "sandbox", run->sandbox);
    }
    print(out, "end\n");
    (void)fclose(out);
    char *copy = tool_copy(text, size);
    free(text);
    return copy;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static char *take_value(const char *from, size_t size)
{
    char *value = tool_allocate(size + 1), *end = value;
    for (size_t i = 0; i < size; i++) {
        int high = from[i] == '%' && i + 2 < size ? hex_digit(from[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(from[i + 2]) : -1;
        if (low >= 0) {
            *end++ = (char)(high * 16 + low);
            i += 2;
        } else {
            *end++ = from[i];
        }
    }
    return value;
}

struct field {
    const char *word;
    char **text;
    int64_t *number;
};

static void take_field(const struct field *field, const char *value, size_t size)
{
    if (field->text) {
        tool_free(*field->text);
        *field->text = take_value(value, size);
    } else {
        *field->number = strtoll(value, NULL, 10);
    }
}

static void take_line(const struct field *fields, size_t count, const char *line, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        size_t word = strlen(fields[i].word);
        if (size > word && line[word] == ' ' && memcmp(line, fields[i].word, word) == 0) {
            take_field(&fields[i], line + word + 1, size - word - 1);
        }
    }
}

bool work_run_read(const char *text, struct work_run *run, char **boot)
{
    int64_t pid = 0, start = 0, token = 0;
    *run = (struct work_run){ 0 };
    *boot = NULL;
    const struct field fields[] = {
        { "pid", NULL, &pid },        { "start", NULL, &start },
        { "token", NULL, &token },    { "boot", boot, NULL },
        { "jid", &run->jid, NULL },   { "worker", &run->worker, NULL },
        { "mark", &run->mark, NULL }, { "sandbox", &run->sandbox, NULL },
    };
    bool whole = false;
    for (const char *end; !whole && (end = strchr(text, '\n')); text = end + 1) {
        size_t size = (size_t)(end - text);
        whole = size == 3 && memcmp(text, "end", 3) == 0;
        take_line(fields, sizeof(fields) / sizeof(fields[0]), text, size);
    }
    run->pid = (pid_t)pid;
    run->start = (uint64_t)start;
    run->token = token;
    bool job = token > 0 && run->jid && run->worker;
    bool none = token == 0 && !run->jid && !run->worker;
    return whole && pid > 1 && start > 0 && *boot && run->mark && *run->mark && (job || none);
}

void work_run_release(struct work_run *run)
{
    tool_free(run->jid);
    tool_free(run->worker);
    tool_free(run->mark);
    tool_free(run->sandbox);
    *run = (struct work_run){ 0 };
}

void work_orphans_note(const struct work_orphans *orphans, size_t slot, const struct work_run *run)
{
    char *path = tool_format("%s/run-%zu", orphans->folder, slot);
    if (run) {
        char *text = work_run_write(run, orphans->boot);
        (void)file_write(path, text); // without it the lease runs out, as it would anyway
        tool_free(text);
    } else {
        (void)unlink(path);
    }
    tool_free(path);
}

// ---------------------------------------------------------------------------------------------
// Opening

static char *default_state(void)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    return runtime && *runtime == '/' ? tool_format("%s/sluice", runtime)
                                      : tool_format("/tmp/sluice-%lld", (long long)getuid());
}

static char *boot_id(void)
{
    size_t size;
    char *id = work_file_read("/proc/sys/kernel/random/boot_id", &size);
    if (id) {
        id[strcspn(id, "\n")] = '\0';
    }
    return id ? id : tool_copy("unknown", 7);
}

static bool is_for(const char *folder, const char *queue)
{
    size_t size;
    char *path = tool_format("%s/queue", folder);
    char *text = work_file_read(path, &size);
    bool same = text && strcmp(text, queue) == 0;
    tool_free(text);
    tool_free(path);
    return same;
}

static void claim(struct work_orphans *orphans, char *folder, const char *queue)
{
    int lock = is_for(folder, queue) ? folder_lock(folder, LOCK_EX | LOCK_NB) : -1;
    if (lock < 0) {
        tool_free(folder);
        return;
    }
    size_t count = ++orphans->claimed_count;
    orphans->claimed = tool_resize(orphans->claimed, count * sizeof(*orphans->claimed));
    orphans->claimed_locks = tool_resize(orphans->claimed_locks, count * sizeof(int));
    orphans->claimed[count - 1] = folder;
    orphans->claimed_locks[count - 1] = lock;
}

static void claim_all(struct work_orphans *orphans, const char *queue)
{
    DIR *list = opendir(orphans->state);
    struct dirent *entry;
    while (list && (entry = readdir(list))) {
        if (strncmp(entry->d_name, "worker-", 7) == 0) {
            claim(orphans, tool_format("%s/%s", orphans->state, entry->d_name), queue);
        }
    }
    if (list) {
        (void)closedir(list);
    }
}

static bool make_folder(struct work_orphans *orphans, const char *queue)
{
    orphans->folder = tool_format("%s/worker-XXXXXX", orphans->state);
    if (!mkdtemp(orphans->folder)) {
        return false;
    }
    orphans->lock = folder_lock(orphans->folder, LOCK_EX);
    char *path = tool_format("%s/queue", orphans->folder);
    bool written = file_write(path, queue);
    tool_free(path);
    return orphans->lock >= 0 && written;
}

bool work_orphans_open(struct work_orphans *orphans, const char *state, const char *queue,
                       char **error)
{
    *orphans = (struct work_orphans){ .lock = -1, .boot = boot_id() };
    // What stands in it says which processes are killed.
    char *given = state ? tool_copy(state, strlen(state)) : default_state();
    orphans->state = work_folder_open("--state", given, error);
    tool_free(given);
    if (*error) {
        return false;
    }
    int lock = folder_lock(orphans->state, LOCK_EX);
    if (lock >= 0) {
        claim_all(orphans, queue);
    }
    if (lock < 0 || !make_folder(orphans, queue)) {
        *error = tool_format("the folder for the state, %s, cannot be written to: %s",
                             orphans->state, strerrordesc_np(errno));
    }
    if (lock >= 0) {
        (void)close(lock);
    }
    return !*error;
}

void work_orphans_close(struct work_orphans *orphans)
{
    if (orphans->lock >= 0) {
        (void)work_sandbox_remove(orphans->folder);
        (void)close(orphans->lock);
        orphans->lock = -1;
    }
}

// ---------------------------------------------------------------------------------------------
// Processes

// One that was left behind.
struct orphan {
    struct work_run run;
    char *path;    // of its note
    size_t folder; // which of the claimed ones that is in
    bool here;     // the system has not been started anew since
    bool ended;    // it is known that its process has
    bool dealt;    // nothing more is to be done about it
};

// Whether it was the noted one that is asked about, and not another with its number. What could not
// be read for want of a file says nothing.
static bool is_another(const struct orphan *orphan, bool *unknown)
{
    errno = 0;
    uint64_t start = work_process_start(orphan->run.pid);
    *unknown = start == 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM);
    return start != orphan->run.start;
}

// A handle of a process that runs still; -1: it has ended, or that cannot be told now. As long as
// the handle is open its number is no other's.
static int open_process(struct orphan *orphan)
{
    bool unknown = false;
    int pidfd = orphan->here ? pidfd_open(orphan->run.pid, 0) : -1;
    if (pidfd < 0) {
        orphan->ended = !orphan->here || errno == ESRCH;
    } else if (is_another(orphan, &unknown)) {
        (void)close(pidfd);
        pidfd = -1;
        orphan->ended = !unknown;
    }
    return pidfd;
}

// Those that are ended together: as many as files can be open.
struct batch {
    struct orphan **items;
    struct pollfd *files; // of each
    size_t count;
};

static void gather(struct batch *batch, struct orphan *orphans, size_t count)
{
    batch->count = 0;
    for (size_t i = 0; i < count; i++) {
        int pidfd = orphans[i].ended ? -1 : open_process(&orphans[i]);
        if (pidfd >= 0) {
            batch->items[batch->count] = &orphans[i];
            batch->files[batch->count++] = (struct pollfd){ .fd = pidfd, .events = POLLIN };
        }
    }
}

// Closes the handles of those that have ended; gives how many have not.
static size_t close_ended(struct batch *batch)
{
    size_t running = 0;
    for (size_t i = 0; i < batch->count; i++) {
        struct pollfd *file = &batch->files[i];
        if (file->fd >= 0 && file->revents) {
            (void)close(file->fd);
            file->fd = -1;
            batch->items[i]->ended = true;
        }
        running += file->fd >= 0;
    }
    return running;
}

static void signal_groups(const struct batch *batch, int signal)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->files[i].fd >= 0) {
            (void)kill(-batch->items[i]->run.pid, signal);
        }
    }
}

// Waits for all of them at once: as many as there are, they have one grace.
static void end_groups(struct batch *batch, double grace)
{
    double now = steady_now(), until = now + grace;
    signal_groups(batch, SIGTERM);
    while (close_ended(batch) && now < until) {
        (void)poll(batch->files, batch->count, (int)fmin(ceil((until - now) * 1000), POLL_MS_MAX));
        now = steady_now();
    }
    signal_groups(batch, SIGKILL);
    while (close_ended(batch)) {
        (void)poll(batch->files, batch->count, -1);
    }
}

// Those whose processes have ended.
struct ended {
    const struct orphan *orphans;
    size_t count;
};

static bool is_mark_of_ended(const void *context, pid_t pid, const char *mark)
{
    (void)pid;
    const struct ended *ended = context;
    for (size_t i = 0; i < ended->count; i++) {
        const struct orphan *orphan = &ended->orphans[i];
        if (orphan->here && orphan->ended && strcmp(orphan->run.mark, mark) == 0) {
            return true;
        }
    }
    return false;
}

static void end_processes(struct orphan *orphans, size_t count, double grace)
{
    struct batch batch = { .items = tool_allocate((count + 1) * sizeof(struct orphan *)),
                           .files = tool_allocate((count + 1) * sizeof(struct pollfd)) };
    bool any_here = false;
    for (size_t i = 0; i < count; i++) {
        any_here = any_here || orphans[i].here;
    }
    // Each batch that has ended makes room for those that were not looked at for want of files.
    for (gather(&batch, orphans, count); batch.count; gather(&batch, orphans, count)) {
        end_groups(&batch, grace);
    }
    if (any_here) {
        // What they have started, and what went its own way.
        (void)work_marked_signal(is_mark_of_ended, &(struct ended){ orphans, count }, SIGKILL);
    }
    tool_free(batch.items);
    tool_free(batch.files);
}

// ---------------------------------------------------------------------------------------------
// Giving back

// Whether the queue has an answer: the job is back, or another's already.
static bool give_back(const struct work_run *run, struct sluice *queue, struct work_status *status,
                      size_t *count)
{
    char token[32];
    (void)snprintf(token, sizeof(token), "%lld", (long long)run->token);
    const char *words[] = { "Q.RETRY",
                            run->jid,
                            run->worker,
                            "TOKEN",
                            token,
                            "DELAY",
                            "0",
                            "GROUP",
                            "orphaned",
                            "MESSAGE",
                            "its worker was killed" };
    struct sluice_error error = { 0 };
    switch (sluice_call(queue, words, NULL, sizeof(words) / sizeof(words[0]), NULL, &error)) {
    case SLUICE_OK:
        work_complain(status, "job %s of a worker that was killed is given back", run->jid);
        ++*count;
        return true;
    case SLUICE_NOT_FOUND:
    case SLUICE_STATE:
    case SLUICE_STALE:
        return true;
    default:
        work_complain(status, "job %s of a worker that was killed could not be given back: %s",
                      run->jid, error.message);
        return false;
    }
}

// ---------------------------------------------------------------------------------------------
// All of them

struct found {
    struct orphan *items;
    size_t count;
};

// What cannot be read is forgotten: its lease runs out.
static void find_one(struct found *found, const char *our_boot, size_t folder, char *path)
{
    size_t size;
    char *boot, *text = work_file_read(path, &size);
    struct orphan orphan = { .path = path, .folder = folder };
    if (work_run_read(text ? text : "", &orphan.run, &boot)) {
        orphan.here = strcmp(boot, our_boot) == 0;
        found->items = tool_resize(found->items, (found->count + 1) * sizeof(*found->items));
        found->items[found->count++] = orphan;
    } else {
        (void)unlink(path);
        work_run_release(&orphan.run);
        tool_free(path);
    }
    tool_free(boot);
    tool_free(text);
}

static void find_in(struct found *found, const struct work_orphans *orphans, size_t folder)
{
    DIR *list = opendir(orphans->claimed[folder]);
    struct dirent *entry;
    while (list && (entry = readdir(list))) {
        if (strncmp(entry->d_name, "run-", 4) == 0) {
            find_one(found, orphans->boot, folder,
                     tool_format("%s/%s", orphans->claimed[folder], entry->d_name));
        }
    }
    if (list) {
        (void)closedir(list);
    }
}

static void clean_up(struct orphan *orphan)
{
    if (orphan->dealt && orphan->run.sandbox) {
        (void)work_sandbox_remove(orphan->run.sandbox);
    }
    if (orphan->dealt) {
        orphan->dealt = unlink(orphan->path) == 0;
    }
}

// A folder in which something is still to be done is left to the next worker.
static void leave_folder(struct work_orphans *orphans, size_t folder, const struct found *found)
{
    bool dealt = true;
    for (size_t i = 0; i < found->count; i++) {
        dealt = dealt && (found->items[i].folder != folder || found->items[i].dealt);
    }
    if (dealt) {
        (void)work_sandbox_remove(orphans->claimed[folder]);
    }
    (void)close(orphans->claimed_locks[folder]);
    tool_free(orphans->claimed[folder]);
}

size_t work_orphans_reap(struct work_orphans *orphans, struct sluice *queue, double grace,
                         struct work_status *status)
{
    struct found found = { 0 };
    size_t given_back = 0;
    for (size_t i = 0; i < orphans->claimed_count; i++) {
        find_in(&found, orphans, i);
    }
    end_processes(found.items, found.count, grace);
    for (size_t i = 0; i < found.count; i++) {
        struct orphan *orphan = &found.items[i];
        if (orphan->ended) {
            orphan->dealt = !orphan->run.jid || give_back(&orphan->run, queue, status, &given_back);
        } else if (orphan->run.jid) {
            work_complain(status,
                          "whether job %s of a worker that was killed still runs cannot be told; "
                          "it is left to its lease",
                          orphan->run.jid);
        }
        clean_up(orphan);
    }
    for (size_t i = 0; i < orphans->claimed_count; i++) {
        leave_folder(orphans, i, &found);
    }
    orphans->claimed_count = 0;
    for (size_t i = 0; i < found.count; i++) {
        work_run_release(&found.items[i].run);
        tool_free(found.items[i].path);
    }
    tool_free(found.items);
    return given_back;
}
