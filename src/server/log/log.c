// SPDX-License-Identifier: MIT
#include "server/log/log.h"

#include "base/alloc.h"
#include "os/clock.h"
#include "os/thread.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    FLUSH_WAIT_US = 1000000, // for lines that are not written yet, when the server stops or crashes
    CRASH_STEP_NS = 5000000,
    SECOND_US = 1000000,
};

enum log_state {
    LOG_DIRECT,  // the caller writes
    LOG_STARTED, // the writer's thread writes
    LOG_STUCK,   // the writer did not stop in time: nothing is written any more
};

// Precedes each line in a batch.
struct line_head {
    uint16_t kind; // index of its kind
    uint16_t size;
};

struct batch {
    char *data; // owned
    size_t size;
};

static _Atomic(enum log_level) lowest = LOG_LEVEL_INFO;
// The number of unwritten lines, for the crash handler, which must not lock.
static _Atomic size_t unwritten;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t news, written; // signalled to the writer; to log_flush
    enum log_state state;
    bool stopping, ended; // the writer is to stop; it has written everything and stops
    bool refused;         // the last write failed: no losses are written until one succeeds
    struct log_rate rate;
    struct log_kinds kinds;
    uint64_t written_count;
    size_t size_max;
    struct batch gathered;
    struct batch writing; // belongs to the writer while it writes
    pthread_t thread;
} logger = { .lock = PTHREAD_MUTEX_INITIALIZER };

void log_set_level(enum log_level level)
{
    atomic_store(&lowest, level);
}

void log_set_rate(struct log_rate rate)
{
    (void)pthread_mutex_lock(&logger.lock);
    logger.rate = rate;
    (void)pthread_mutex_unlock(&logger.lock);
}

// ---------------------------------------------------------------------------------------------
// The batch

static size_t format(char line[LOG_LINE_MAX], enum log_level level, const struct log_kind *kind,
                     const struct log_pair *pairs, size_t count)
{
    const struct log_head head = {
        .level = level,
        .now_us = wall_clock_us(),
        .journal = getenv("JOURNAL_STREAM") != NULL,
        .what = kind->what,
        .suppressed = kind->suppressed,
    };
    return log_line_format(line, &head, pairs, count);
}

// Returns whether all of it was written. Another process that shares standard error may have made
// it nonblocking.
static bool write_all(const char *line, size_t size)
{
    while (size) {
        ssize_t written = write(STDERR_FILENO, line, size);
        if (written < 0 && errno == EAGAIN) {
            struct pollfd wait = { .fd = STDERR_FILENO, .events = POLLOUT };
            (void)poll(&wait, 1, -1);
        } else if (written < 0 && errno != EINTR) {
            return false;
        } else if (written > 0) {
            line += written;
            size -= (size_t)written;
        }
    }
    return true;
}

static bool gather(const struct log_kind *kind, const char *line, size_t size)
{
    struct batch *batch = &logger.gathered;
    const struct line_head head = { (uint16_t)(kind - logger.kinds.items), (uint16_t)size };
    if (logger.state != LOG_STARTED || sizeof(head) + size > logger.size_max - batch->size) {
        return false;
    }
    memcpy(batch->data + batch->size, &head, sizeof(head));
    memcpy(batch->data + batch->size + sizeof(head), line, size);
    batch->size += sizeof(head) + size;
    atomic_fetch_add(&unwritten, 1);
    (void)pthread_cond_signal(&logger.news);
    return true;
}

// Writes the line or adds it to the batch, depending on the state. False: the line is lost.
static bool deliver(const struct log_kind *kind, const char *line, size_t size)
{
    if (logger.state != LOG_DIRECT) {
        return gather(kind, line, size);
    }
    bool done = write_all(line, size);
    logger.written_count += done;
    return done;
}

bool log_has_level(enum log_level level)
{
    return level >= atomic_load(&lowest);
}

void log_write(enum log_level level, const char *what, const struct log_pair *pairs, size_t count)
{
    if (level < atomic_load(&lowest)) {
        return;
    }
    char line[LOG_LINE_MAX];
    (void)pthread_mutex_lock(&logger.lock);
    struct log_kind *kind = log_kinds_find(&logger.kinds, what);
    if (strcmp(what, LOG_UNLIMITED) == 0 || log_kind_admit(kind, &logger.rate, monotonic_us())) {
        size_t size = format(line, level, kind, pairs, count);
        if (deliver(kind, line, size)) {
            kind->suppressed = 0;
        } else {
            log_kind_drop(kind);
        }
    } else if (kind->suppressed == 1 && logger.state == LOG_STARTED) {
        (void)pthread_cond_signal(&logger.news); // the writer waits until that is due
    }
    (void)pthread_mutex_unlock(&logger.lock);
}

// ---------------------------------------------------------------------------------------------
// The writer

// Returns whether there was room for the line.
static bool write_loss(const struct log_kind *kind, const char *what, uint64_t count)
{
    char line[LOG_LINE_MAX];
    const struct log_kind about = { .what = what };
    const struct log_pair pairs[] = { LOG_STRING("kind", kind->what), LOG_NUMBER("count", count) };
    size_t size = format(line, LOG_LEVEL_WARNING, &about, pairs, sizeof(pairs) / sizeof(pairs[0]));
    return gather(kind, line, size);
}

// Adds lines about suppressed and dropped lines. The batch is empty, so it has room for at least
// some of them.
static void write_losses(int64_t now_us)
{
    for (size_t i = 0; i < logger.kinds.count && !logger.refused; i++) {
        struct log_kind *kind = &logger.kinds.items[i];
        bool due = logger.stopping || now_us >= log_kind_due_us(kind);
        if (kind->suppressed && due && write_loss(kind, "log lines suppressed", kind->suppressed)) {
            kind->suppressed = 0;
        }
        if (kind->dropped && write_loss(kind, "log lines dropped", kind->dropped)) {
            kind->dropped = 0;
        }
    }
}

// Writes the writer's batch, one line per write, so that lines of several processes do not mix.
static void write_batch(const struct batch *batch)
{
    for (size_t at = 0; at < batch->size;) {
        struct line_head head;
        memcpy(&head, batch->data + at, sizeof(head));
        at += sizeof(head);
        bool done = write_all(batch->data + at, head.size);
        at += head.size;
        (void)pthread_mutex_lock(&logger.lock);
        if (done) {
            logger.written_count++;
        } else {
            log_kind_drop(&logger.kinds.items[head.kind]);
        }
        logger.refused = !done;
        (void)pthread_mutex_unlock(&logger.lock);
        atomic_fetch_sub(&unwritten, 1);
    }
}

static int64_t next_due_us(void)
{
    int64_t due_us = INT64_MAX;
    for (size_t i = 0; i < logger.kinds.count && !logger.refused; i++) {
        int64_t at_us = log_kind_due_us(&logger.kinds.items[i]);
        due_us = at_us < due_us ? at_us : due_us;
    }
    return due_us;
}

static void wait_for_news(void)
{
    int64_t due_us = next_due_us();
    if (due_us == INT64_MAX) {
        (void)pthread_cond_wait(&logger.news, &logger.lock);
    } else {
        (void)condition_wait_until(&logger.news, &logger.lock, due_us);
    }
}

static void *run(void *context)
{
    (void)context;
    (void)pthread_setname_np(pthread_self(), "log");
    (void)pthread_mutex_lock(&logger.lock);
    for (;;) {
        struct batch taken = logger.gathered;
        logger.gathered = logger.writing;
        logger.gathered.size = 0;
        logger.writing = taken;
        write_losses(monotonic_us());
        if (taken.size) {
            (void)pthread_mutex_unlock(&logger.lock);
            write_batch(&taken);
            (void)pthread_mutex_lock(&logger.lock);
        } else if (logger.gathered.size == 0) {
            logger.ended = logger.stopping;
            (void)pthread_cond_broadcast(&logger.written);
            if (logger.ended) {
                break;
            }
            wait_for_news();
        }
    }
    (void)pthread_mutex_unlock(&logger.lock);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Start and stop

// The writer's thread continues while the thread that crashed waits here. The handler uses only
// functions that signal-safety(7) allows.
static void on_crash(int number)
{
    int left = FLUSH_WAIT_US / (CRASH_STEP_NS / 1000);
    bool writer = pthread_equal(pthread_self(), logger.thread);
    for (; !writer && atomic_load(&unwritten) && left; left--) {
        (void)nanosleep(&(struct timespec){ 0, CRASH_STEP_NS }, NULL);
    }
    (void)raise(number); // delivered when the handler returns, with its default action
}

// Keeps a handler that is already installed (by a sanitizer).
static void watch_crashes(void)
{
    static const int numbers[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct sigaction before;
        struct sigaction action = { .sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND };
        if (!sigaction(numbers[i], NULL, &before) && before.sa_handler == SIG_DFL) {
            (void)sigaction(numbers[i], &action, NULL);
        }
    }
}

static void init_conditions(void)
{
    (void)condition_init(&logger.news);
    (void)condition_init(&logger.written);
}

static void free_batches(void)
{
    mem_free(&allocator_system, logger.gathered.data, logger.size_max);
    mem_free(&allocator_system, logger.writing.data, logger.size_max);
    logger.gathered = logger.writing = (struct batch){ 0 };
}

enum status log_start(size_t size, struct error *error)
{
    assert(logger.state == LOG_DIRECT && size >= LOG_BUFFER_MIN);
    init_conditions();
    logger.size_max = size;
    logger.stopping = logger.ended = false;
    logger.gathered.data = mem_alloc(&allocator_system, size);
    logger.writing.data = mem_alloc(&allocator_system, size);
    if (!logger.gathered.data || !logger.writing.data) {
        free_batches();
        return error_set(error, STATUS_NO_MEMORY, "out of memory for the log's buffer");
    }
    (void)pthread_mutex_lock(&logger.lock);
    int failed = thread_start(&logger.thread, run, NULL);
    logger.state = failed ? LOG_DIRECT : LOG_STARTED;
    (void)pthread_mutex_unlock(&logger.lock);
    if (failed) {
        free_batches();
        return error_set(error, STATUS_IO, "cannot start the log's thread: %s",
                         strerrordesc_np(failed));
    }
    watch_crashes();
    return STATUS_OK;
}

// The caller holds the lock.
static void wait_until_written(void)
{
    int64_t end_us = monotonic_us() + FLUSH_WAIT_US;
    int failed = 0;
    while (!failed && (logger.stopping ? !logger.ended : atomic_load(&unwritten) > 0)) {
        failed = condition_wait_until(&logger.written, &logger.lock, end_us);
    }
}

void log_flush(void)
{
    (void)pthread_mutex_lock(&logger.lock);
    if (logger.state == LOG_STARTED) {
        wait_until_written();
    }
    (void)pthread_mutex_unlock(&logger.lock);
}

void log_stop(void)
{
    (void)pthread_mutex_lock(&logger.lock);
    if (logger.state != LOG_STARTED) {
        (void)pthread_mutex_unlock(&logger.lock);
        return;
    }
    logger.stopping = true;
    (void)pthread_cond_signal(&logger.news);
    wait_until_written();
    bool ended = logger.ended;
    logger.state = ended ? LOG_DIRECT : LOG_STUCK;
    (void)pthread_mutex_unlock(&logger.lock);
    if (ended) {
        (void)pthread_join(logger.thread, NULL);
        free_batches();
    } else {
        (void)pthread_detach(logger.thread); // the process ends without it
    }
}

void log_figures(struct log_figures *figures)
{
    *figures = (struct log_figures){ 0 };
    (void)pthread_mutex_lock(&logger.lock);
    figures->written = logger.written_count;
    for (size_t i = 0; i < logger.kinds.count; i++) {
        const struct log_kind *kind = &logger.kinds.items[i];
        figures->suppressed += kind->suppressed_total;
        figures->dropped += kind->dropped_total;
        if (kind->suppressed_total || kind->dropped_total) {
            figures->losses[figures->loss_count++] =
                (struct log_loss){ kind->what, kind->suppressed_total, kind->dropped_total };
        }
    }
    (void)pthread_mutex_unlock(&logger.lock);
}
