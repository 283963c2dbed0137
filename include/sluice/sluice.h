// SPDX-License-Identifier: MIT
// libsluice: the C interface to Sluice. The queue is in the process of the program or on a server.
//
//     struct sluice *queue;
//     struct sluice_job *job;
//     sluice_open("file:jobs", NULL, &queue, NULL);           // or "sluice://host:7711/app"
//     sluice_put(queue, &SLUICE_PUT(.queue = "mail", .klass = "Send", .data = "{\"to\":\"ann\"}"),
//                NULL, NULL);
//     sluice_next(queue, "mail", SLUICE_FOREVER, &job, NULL);
//     sluice_done(job, "{\"sent\":true}", NULL);
//     sluice_job_free(job);
//     sluice_close(queue);
//
// Conventions:
//
// - A call returns a status. Its last argument, which may be NULL, receives the error message.
// - A pointer may be NULL where this header says so. Elsewhere NULL is INVALID.
// - A call that fails has changed nothing, except when the status is SLUICE_UNKNOWN, or SLUICE_IO
//   from a server or folder whose disk fails while the call waits for it.
// - If the connection breaks before the reply, the library repeats a call that only reads, puts,
//   cancels or settles jobs, or reports about one, until it knows the outcome or the time limit is
//   over. The server recognizes a repeated put, cancel or log line by an id that the library gives
//   it, and a repeated settling by the token of the lease, also after a restart. UNKNOWN: the time
//   limit was over before the server could be asked again; or the call is a sluice_call of a command
//   that is not repeated.
// - Any number of threads may use a `struct sluice` at the same time. Every other object must be
//   used by one thread at a time.
// - After fork() the child may use a queue on a server, and what belongs to it: it has connections
//   of its own. A queue in the process belongs to the parent: STATE.
// - Strings are UTF-8 and end with a null byte.
// - Times are in seconds: a duration, or a time since 1970.
// - The options of sluice_VERB are a `struct sluice_VERB_options`. In C a macro with the name of the
//   verb makes one: SLUICE_PUT(.queue = "mail", ...). In C++ declare it with `= {}`. Both set its
//   first member, `size`. A struct whose size is 0 is INVALID.
// - In a struct of options NULL selects the default of a text, and 0 the default of a number.
//   SLUICE_ZERO is the number zero, and SLUICE_NONE is "none" where that is possible. A negative
//   number is INVALID where it has no meaning.
// - A time to wait of 0 means: do not wait. SLUICE_FOREVER: wait without a limit.
// - Later versions of the library may add members at the end of a struct of options. The member
//   `size` tells which of them the program knows. No other struct of this header grows.
#ifndef SLUICE_SLUICE_H
#define SLUICE_SLUICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#    define SLUICE_API __attribute__((visibility("default")))
#else
#    define SLUICE_API
#endif

// The version of this header. The library may be a later one: see sluice_version.
#define SLUICE_VERSION_MAJOR 0
#define SLUICE_VERSION_MINOR 1
#define SLUICE_VERSION_PATCH 0
#define SLUICE_VERSION_NUMBER                                                                      \
    (SLUICE_VERSION_MAJOR * 1000000 + SLUICE_VERSION_MINOR * 1000 + SLUICE_VERSION_PATCH)

// Returns the version of the library at run time, such as "0.1.0".
SLUICE_API const char *sluice_version(void);

// ---------------------------------------------------------------------------------------------
// Status codes

enum sluice_status {
    SLUICE_OK = 0,
    SLUICE_NO_MEMORY,   // an allocation failed
    SLUICE_INVALID,     // an argument is invalid
    SLUICE_TOO_LARGE,   // an argument or a result exceeds a limit
    SLUICE_NOT_FOUND,   // the named object does not exist
    SLUICE_EXISTS,      // the object to be created already exists
    SLUICE_STATE,       // the state of the object does not allow the call
    SLUICE_STALE,       // the lease is no longer current
    SLUICE_DENIED,      // permission denied, or wrong password
    SLUICE_BUSY,        // not possible now; the same call may succeed later
    SLUICE_UNSUPPORTED, // not supported by this version or by this kind of queue
    SLUICE_CORRUPT,     // stored data is damaged
    SLUICE_IO,          // a read, a write or a sync failed
    SLUICE_NO_SPACE,    // the disk is full
    SLUICE_TIMED_OUT,   // nothing arrived within the given time, or sluice_deadline was over before
    SLUICE_INTERRUPTED, // interrupted by sluice_interrupt or sluice_interrupt_all
    SLUICE_UNREACHABLE, // the server cannot be reached; nothing was done
    SLUICE_UNKNOWN,     // no reply, and the server cannot be asked again: applied or not
    SLUICE_STATUS_COUNT,
};

enum {
    SLUICE_MESSAGE_SIZE = 256,
    SLUICE_NAME_SIZE = 256,       // of a jid or another name, with the null byte. Names are UTF-8
                                  // without control characters
    SLUICE_JSON_DEPTH_MAX = 1000, // nesting levels of a JSON value, such as data or a result
};

struct sluice_error {
    enum sluice_status status;
    char message[SLUICE_MESSAGE_SIZE]; // a message for people, without a full stop
};

// Returns the name of a status: a stable lower-case word, such as "not_found".
SLUICE_API const char *sluice_status_name(enum sluice_status status);

// ---------------------------------------------------------------------------------------------
// Memory

// Sets the functions that the library allocates with, in place of realloc and free: `resize`
// allocates a block (block NULL) or resizes it, and returns NULL if there is no memory; `release`
// frees one, or NULL. Both may be called from any thread. NULL for both: those of the C library.
// Call it before other functions of the library; STATE: a queue is open. LMDB and OpenSSL have
// memory of their own.
SLUICE_API enum sluice_status sluice_set_memory(void *(*resize)(void *block, size_t size),
                                                void (*release)(void *block),
                                                struct sluice_error *error);

// ---------------------------------------------------------------------------------------------
// Opening

struct sluice;
struct sluice_job;
struct sluice_value;

#define SLUICE_FOREVER (-1.0) // no time limit. Any other negative time to wait counts as 0

// Numbers of options (see the conventions above). Both can stand for an integer and for a double.
#define SLUICE_ZERO INT64_MIN       // zero, where 0 selects the default
#define SLUICE_NONE (INT64_MIN / 2) // none

// The first member of a struct of options. In C++ it has its value already.
#if defined(__cplusplus) && __cplusplus >= 201103L
#    define SLUICE_SIZE_OF(type) size_t size = sizeof(type)
#else
#    define SLUICE_SIZE_OF(type) size_t size
#endif

enum sluice_log_level {
    SLUICE_LOG_INFO = 0,
    SLUICE_LOG_WARNING,
    SLUICE_LOG_ERROR,
};

struct sluice_open_options {
    SLUICE_SIZE_OF(struct sluice_open_options);
    const char *ns; // the namespace; overrides that of the address. Default: "default"
    // The worker name for taking jobs. Default: HOST-PID-RANDOM. Connections to a server are named
    // after it (CLIENT LIST).
    const char *worker;
    // The time limit of a call, which includes reconnecting and excludes the time that the call
    // waits for a job. Default: 30. SLUICE_FOREVER: no limit. Must not be zero or negative.
    double timeout;
    // For `file:` only. When a change counts as durable: "always" (synced, the default),
    // "interval:MS" or "never". The address takes precedence.
    const char *durability;
    // For TLS only: PEM files. ca_file: the trusted certificate authorities; default: those of the
    // system. cert_file: the certificate of the client. key_file: its key; default: cert_file.
    const char *ca_file, *cert_file, *key_file;
    // For a server only: a file whose first line is the password. It is read for each connection,
    // so that it may be replaced while the program runs. Not together with a password in the
    // address.
    const char *password_file;
    // Receives messages for the operator of the program. Called from any thread. Must not call the
    // library.
    void (*log)(void *context, enum sluice_log_level level, const char *sentence);
    void *log_context;
    // A call fails with UNREACHABLE as soon as no connection can be made, instead of trying again
    // until its time limit. A call that was sent before its connection broke is still repeated.
    bool fail_fast;
};
#define SLUICE_OPEN(...)                                                                           \
    ((struct sluice_open_options){ .size = sizeof(struct sluice_open_options), __VA_ARGS__ })

// Opens a queue by its address:
//
//     file:PATH[?ns=NAME&durability=...]         a folder, used by this process only. It is created
//                                                if it does not exist, unless create=no is given.
//                                                max-payload=BYTES is the largest argument; default
//                                                1048576
//     sluice://[USER:PASSWORD@]HOST[:PORT][/NS]  a server; redis:// is a synonym
//     sluices://...                              a server with TLS; rediss:// is a synonym
//     unix:PATH[?ns=NAME&user=USER]              a server on a Unix socket, or a program that calls
//                                                sluice_serve
//
// If the options and the address do not say it, these environment variables name files:
// SLUICE_CA_FILE, SLUICE_CERT_FILE and SLUICE_KEY_FILE with TLS, SLUICE_PASSWORD_FILE for any
// server.
//
// The server need not be reachable yet: each call connects, with growing pauses between attempts,
// until its time limit. BUSY: another process has the folder open. NOT_FOUND: the folder has no
// queue, and create=no was given.
SLUICE_API enum sluice_status sluice_open(const char *url,
                                          const struct sluice_open_options *options,
                                          struct sluice **out, struct sluice_error *error);

// Closes a queue. No other thread may be in a call. Free all jobs before. May be NULL.
SLUICE_API void sluice_close(struct sluice *sluice);

SLUICE_API const char *sluice_namespace(const struct sluice *sluice);
SLUICE_API const char *sluice_worker(const struct sluice *sluice);

// With `on` true, ends every call that waits, now or later, with SLUICE_INTERRUPTED, until it is
// called with `on` false. No job is lost. May be called from a signal handler.
SLUICE_API void sluice_interrupt(struct sluice *sluice, bool on);
// The same for every call, also one that puts, settles or reads. A call whose answer has not
// arrived ends with SLUICE_UNKNOWN if it may have been applied, and with SLUICE_INTERRUPTED if it
// was not. In the process a call that has begun is not ended: it waits for nothing but the disk,
// and that no longer than its time limit.
SLUICE_API void sluice_interrupt_all(struct sluice *sluice, bool on);

// Limits the calls that this thread makes from now on, with any handle: they end within `seconds`
// from now, times to wait included. Several calls share that time. A call that begins later ends
// with SLUICE_TIMED_OUT at once. SLUICE_FOREVER: no deadline. Returns what was left of the deadline
// before, or SLUICE_FOREVER, so that it can be set again:
//
//     double before = sluice_deadline(0.5);
//     status = sluice_get(queue, jid, &value, &error);
//     sluice_deadline(before);
//
// A call of sluice/async.h has the deadline of the thread that began it.
SLUICE_API double sluice_deadline(double seconds);

// ---------------------------------------------------------------------------------------------
// Putting jobs

// A job to put. Lists of strings end with NULL.
struct sluice_put_options {
    SLUICE_SIZE_OF(struct sluice_put_options);
    const char *queue, *klass, *data; // required; data is JSON
    const char *jid;                  // default: a UUID
    int64_t priority;                 // lower runs sooner; may be negative or SLUICE_ZERO
    double delay;                     // the earliest start, from now. SLUICE_ZERO: now, also if
                                      // the job is scheduled for later
    double at;                        // the earliest start, as a time; instead of delay
    int64_t retries;                  // default: 5; SLUICE_NONE or SLUICE_ZERO: no retries
    const char *const *tags;
    const char *const *depends; // jids of jobs that must be complete before it runs
    const char *domain;         // the lane for rate limits, concurrency and fairness
    double deadline;            // the job fails if it has not started by then. SLUICE_NONE: none
    const char *backoff;        // "exponential:1:60:10", see Q.PUT
    double timeout;             // the maximum run time; SLUICE_NONE: none
    double result_ttl;          // the retention time of its result; SLUICE_NONE: with the job
    int64_t max_crashes;        // the job fails after this many lost leases; SLUICE_NONE: no limit
    const char *on_dependency_failure;
    const char *unique; // a lock: a key that no other job may hold
    bool unique_contents;
    const char *unique_until; // "finished", "started", "time"
    double unique_for;
    // If the lock is held: "existing" (return the holder's jid), "replace", "refuse", or "once":
    // like "existing", also if the job itself holds the lock
    const char *on_conflict;
    bool allow_missing; // missing jobs in `depends` count as complete; default: NOT_FOUND
    double lease;       // the length of its leases; SLUICE_NONE: the heartbeat of its queue
};
#define SLUICE_PUT(...)                                                                            \
    ((struct sluice_put_options){ .size = sizeof(struct sluice_put_options), __VA_ARGS__ })

// Puts a job, or moves the existing job with that jid. An existing job keeps what is not given, but
// for klass and data. `jid` (a buffer of SLUICE_NAME_SIZE bytes,
// or NULL) receives the jid of the job, or that of the job that holds the lock requested by
// `unique`.
//
// If the connection breaks, the library repeats the put. A put is never applied twice, whatever
// became of the job in the meantime, as long as the server remembers the put (the options
// request-history, request-history-count of the namespace).
SLUICE_API enum sluice_status sluice_put(struct sluice *sluice,
                                         const struct sluice_put_options *put, char *jid,
                                         struct sluice_error *error);

// What became of one element of a call for many.
struct sluice_result {
    enum sluice_status status;
    char jid[SLUICE_NAME_SIZE];
    char message[SLUICE_MESSAGE_SIZE];
};

// Puts any number of jobs, up to 1000 in one round trip, which has the time limit of a call. Each
// job has its own entry in `results`, which may be NULL. The status is that of the first job that
// was not put. If the server goes away, the jobs that were not sent yet are UNREACHABLE.
SLUICE_API enum sluice_status sluice_put_many(struct sluice *sluice,
                                              const struct sluice_put_options *puts, size_t count,
                                              struct sluice_result *results,
                                              struct sluice_error *error);

// ---------------------------------------------------------------------------------------------
// Taking jobs

// Takes the next job of a queue under a lease. Waits up to `wait` seconds. TIMED_OUT: no job
// arrived in that time. Free the job with sluice_job_free.
SLUICE_API enum sluice_status sluice_next(struct sluice *sluice, const char *queue, double wait,
                                          struct sluice_job **out, struct sluice_error *error);

struct sluice_take_options {
    SLUICE_SIZE_OF(struct sluice_take_options);
    const char *const *queues; // ends with NULL
    double wait;               // for the first job
    bool round_robin;          // one job from each queue in turn
    const char *worker;        // default: sluice_worker
    double lease;              // the length of the leases; default: as the jobs and queues say
    bool best;                 // of all queues the job with the lowest priority; see Q.POP
};
#define SLUICE_TAKE(...)                                                                           \
    ((struct sluice_take_options){ .size = sizeof(struct sluice_take_options), __VA_ARGS__ })

// Takes up to `count` jobs (at most 1000) from several queues. `jobs` has room for `count`; `taken`
// receives how many were taken.
SLUICE_API enum sluice_status sluice_take(struct sluice *sluice,
                                          const struct sluice_take_options *take,
                                          struct sluice_job **jobs, size_t count, size_t *taken,
                                          struct sluice_error *error);

// Takes a given job, which must be waiting or stalled, out of its turn. Of `take`, which may be
// NULL, only `worker` and `lease` are used. STATE: the job cannot be taken now, and the message
// says why. UNKNOWN: the connection broke; if the job was taken, its lease expires.
SLUICE_API enum sluice_status sluice_take_job(struct sluice *sluice, const char *jid,
                                              const struct sluice_take_options *take,
                                              struct sluice_job **out, struct sluice_error *error);

// Creates a handle for a job that another process has taken, from its jid, worker and token. The
// handle works like one from sluice_take. The two processes must agree on which of them settles the
// job. This call does not renew the lease. STALE, STATE or NOT_FOUND: the worker no longer holds
// the job.
SLUICE_API enum sluice_status sluice_job_attach(struct sluice *sluice, const char *jid,
                                                const char *worker, int64_t token,
                                                struct sluice_job **out,
                                                struct sluice_error *error);

SLUICE_API const char *sluice_job_jid(const struct sluice_job *job);
SLUICE_API const char *sluice_job_klass(const struct sluice_job *job);
SLUICE_API const char *sluice_job_queue(const struct sluice_job *job);
SLUICE_API const char *sluice_job_data(const struct sluice_job *job);       // JSON
SLUICE_API const char *sluice_job_checkpoint(const struct sluice_job *job); // NULL if none
SLUICE_API const char *sluice_job_worker(const struct sluice_job *job);
SLUICE_API int64_t sluice_job_token(const struct sluice_job *job);    // of the lease
SLUICE_API double sluice_job_expires(const struct sluice_job *job);   // as last known
SLUICE_API int64_t sluice_job_attempts(const struct sluice_job *job); // with this run
SLUICE_API int64_t sluice_job_priority(const struct sluice_job *job);
SLUICE_API int64_t sluice_job_remaining(const struct sluice_job *job);  // retries, as last known
SLUICE_API const char *sluice_job_domain(const struct sluice_job *job); // NULL if none
// The tags by their index, from 0 on. NULL: there are no more.
SLUICE_API const char *sluice_job_tag(const struct sluice_job *job, size_t index);
// The whole job, as returned by Q.POP.
SLUICE_API const struct sluice_value *sluice_job_value(const struct sluice_job *job);

// If a lease is not renewed, it expires and the job goes to another worker. Each of the following
// calls then returns STALE, STATE or NOT_FOUND.

// Renews the lease once. `expires` (or NULL) receives the new end of the lease.
SLUICE_API enum sluice_status sluice_heartbeat(struct sluice_job *job, double *expires,
                                               struct sluice_error *error);

// Why the worker no longer holds a job.
enum sluice_loss {
    SLUICE_KEPT = 0,
    SLUICE_LOST,     // its lease expired or was taken away: another worker may hold the job
    SLUICE_CANCELED, // the job was canceled or deleted
    SLUICE_RETURNED, // a pool that was stopped gave it back: see sluice/pool.h
};

// Starts a keepalive: a helper thread renews the lease until the job is settled or freed. If the
// job is lost nevertheless, that thread calls `lost` (may be NULL) once. `lost` may read the job,
// but must neither settle nor free it.
SLUICE_API enum sluice_status sluice_keepalive(struct sluice_job *job,
                                               void (*lost)(void *context, struct sluice_job *job,
                                                            enum sluice_loss why),
                                               void *context, struct sluice_error *error);
// What the helper thread or a call about the job has learned so far. May be called from any thread.
SLUICE_API enum sluice_loss sluice_job_lost(const struct sluice_job *job);

// Reports that the run has started, in the process `pid` (0: none).
SLUICE_API enum sluice_status sluice_start(struct sluice_job *job, int64_t pid,
                                           struct sluice_error *error);
// Reports progress: a fraction from 0 to 1, and a message or NULL.
SLUICE_API enum sluice_status sluice_progress(struct sluice_job *job, double fraction,
                                              const char *message, struct sluice_error *error);
// Stores a value that the next run of the job receives if this run is lost.
SLUICE_API enum sluice_status sluice_checkpoint(struct sluice_job *job, const char *value,
                                                struct sluice_error *error);
// Adds a line to the job's log.
SLUICE_API enum sluice_status sluice_log(struct sluice_job *job, const char *line,
                                         struct sluice_error *error);

// The following calls settle a job. If the connection breaks, the library repeats the call. A
// settling that was applied is answered again as the first time, also if it is called again by the
// program, and changes nothing. STALE: the lease was lost before, or was settled by another call.
// NOT_FOUND: the job is gone, having been canceled or deleted, be it after a first attempt.

// Completes the job with a result (JSON) or NULL.
SLUICE_API enum sluice_status sluice_done(struct sluice_job *job, const char *result,
                                          struct sluice_error *error);
// Completes this stage and moves the job to another queue, with new data (JSON) or NULL to keep it.
SLUICE_API enum sluice_status sluice_advance(struct sluice_job *job, const char *queue,
                                             const char *data, double delay,
                                             struct sluice_error *error);
// Fails the job. It stays failed until it is unfailed.
SLUICE_API enum sluice_status sluice_fail(struct sluice_job *job, const char *group,
                                          const char *message, struct sluice_error *error);
// Tries the job again after `delay`, or after its backoff (SLUICE_BACKOFF). `group` and `message`
// describe the error, or are NULL. `remaining` (or NULL) receives the number of retries left; below
// 0 the job has failed.
#define SLUICE_BACKOFF (-1.0)
SLUICE_API enum sluice_status sluice_retry(struct sluice_job *job, double delay, const char *group,
                                           const char *message, int64_t *remaining,
                                           struct sluice_error *error);

// Gives the job back: it is first in its queue, and no retry is counted. For a worker that shuts
// down.
SLUICE_API enum sluice_status sluice_return(struct sluice_job *job, struct sluice_error *error);

// How a run of a job has ended.
enum sluice_verdict {
    SLUICE_DONE = 0, // as sluice_done
    SLUICE_FAIL,     // as sluice_fail
    SLUICE_RETRY,    // as sluice_retry
    SLUICE_RETURN,   // as sluice_return
};

struct sluice_settle_options {
    SLUICE_SIZE_OF(struct sluice_settle_options);
    enum sluice_verdict verdict;
    const char *result;          // of SLUICE_DONE: JSON or NULL
    const char *group, *message; // of SLUICE_FAIL, where both are required, and SLUICE_RETRY
    double delay;                // of SLUICE_RETRY; default: the backoff of the job
};
#define SLUICE_SETTLE(...)                                                                         \
    ((struct sluice_settle_options){ .size = sizeof(struct sluice_settle_options), __VA_ARGS__ })

// Settles a job with a verdict that is known only at run time.
SLUICE_API enum sluice_status sluice_settle(struct sluice_job *job,
                                            const struct sluice_settle_options *options,
                                            struct sluice_error *error);
// Settles many jobs: one round trip, and in the process one sync, for up to 1000 jobs that end in
// the same way. Those that are given back take one each. `options` has an element for each job.
// Each job has its own entry in `results`, which may be NULL. The status is that of the first job
// that was not settled. sluice_job_remaining tells how many retries are left.
SLUICE_API enum sluice_status sluice_settle_many(struct sluice_job *const *jobs,
                                                 const struct sluice_settle_options *options,
                                                 size_t count, struct sluice_result *results,
                                                 struct sluice_error *error);
// Renews the leases of many jobs in the same way. sluice_job_expires tells their ends.
SLUICE_API enum sluice_status sluice_heartbeat_many(struct sluice_job *const *jobs, size_t count,
                                                    struct sluice_result *results,
                                                    struct sluice_error *error);

// Ends the keepalive and frees the handle. A job that was not settled stays leased. May be NULL.
SLUICE_API void sluice_job_free(struct sluice_job *job);

// ---------------------------------------------------------------------------------------------
// Inspecting jobs

// Returns the job as Q.GET does.
SLUICE_API enum sluice_status sluice_get(struct sluice *sluice, const char *jid,
                                         struct sluice_value **out, struct sluice_error *error);
// Waits until a job is finished. Returns a map of its state, its result, and the group and message
// of its failure, as Q.WAIT does.
SLUICE_API enum sluice_status sluice_wait(struct sluice *sluice, const char *jid, double wait,
                                          struct sluice_value **out, struct sluice_error *error);
// How a job has finished: what sluice_wait returned, typed. The texts are borrowed from the value.
struct sluice_finish {
    const char *state;           // "complete", "failed" or "canceled"
    const char *result;          // JSON or NULL
    const char *group, *message; // of a job that has failed, otherwise NULL
};
SLUICE_API struct sluice_finish sluice_finish_of(const struct sluice_value *value);
// Returns what happened to a job: a list of maps, the oldest first, as Q.HISTORY does.
SLUICE_API enum sluice_status sluice_history(struct sluice *sluice, const char *jid,
                                             struct sluice_value **out, struct sluice_error *error);
SLUICE_API enum sluice_status sluice_cancel(struct sluice *sluice, const char *jid,
                                            struct sluice_error *error);

// ---------------------------------------------------------------------------------------------
// Any other command

// Runs a command of docs/commands.md, given as its arguments without the namespace:
//
//     const char *words[] = { "Q.PAUSE", "mail" };
//     sluice_call(queue, words, NULL, 2, NULL, NULL);
//
// `sizes` has the lengths of the arguments, or is NULL. `out` (may be NULL) receives the result. If
// the connection breaks, these commands are repeated: those that only read; Q.PUT, Q.MPUT,
// Q.REQUEUE, Q.RECUR, Q.RESTORE, Q.CANCEL and Q.LOG, to which the library adds a REQUEST if they
// have none; Q.COMPLETE, Q.FAIL, Q.RETRY, Q.RETURN and their bulk forms if they have a TOKEN. All
// others end with SLUICE_UNKNOWN.
SLUICE_API enum sluice_status sluice_call(struct sluice *sluice, const char *const *words,
                                          const size_t *sizes, size_t count,
                                          struct sluice_value **out, struct sluice_error *error);

// ---------------------------------------------------------------------------------------------
// Results

enum sluice_type {
    SLUICE_NULL,
    SLUICE_TEXT,
    SLUICE_INTEGER,
    SLUICE_NUMBER, // also durations and times, in seconds
    SLUICE_BOOLEAN,
    SLUICE_LIST,
    SLUICE_MAP,
    SLUICE_FAULT, // the error of an element of a list; its text is the message
};

// These functions accept NULL as a value of type SLUICE_NULL. If the type does not match, they
// return 0, false or NULL. Returned strings and values are borrowed from the whole result.
SLUICE_API enum sluice_type sluice_value_type(const struct sluice_value *value);
// A string that ends with a null byte. `size` may be NULL.
SLUICE_API const char *sluice_value_text(const struct sluice_value *value, size_t *size);
SLUICE_API int64_t sluice_value_integer(const struct sluice_value *value);
SLUICE_API double sluice_value_number(const struct sluice_value *value); // also of integers
SLUICE_API bool sluice_value_boolean(const struct sluice_value *value);
SLUICE_API enum sluice_status sluice_value_status(const struct sluice_value *value); // of a FAULT
// The number of elements of a list, or of pairs of a map.
SLUICE_API size_t sluice_value_count(const struct sluice_value *value);
SLUICE_API const struct sluice_value *sluice_value_at(const struct sluice_value *value,
                                                      size_t index);
SLUICE_API const char *sluice_value_key(const struct sluice_value *value, size_t index);
// The value of a key in a map.
SLUICE_API const struct sluice_value *sluice_value_get(const struct sluice_value *value,
                                                       const char *key);
// Converts a value to JSON. The caller frees the string with sluice_free. NULL: out of memory. The
// values of `data` and `result` are JSON already and are inserted unchanged.
SLUICE_API char *sluice_value_json(const struct sluice_value *value);
// Frees a string that a function of the library made for the caller. May be NULL.
SLUICE_API void sluice_free(char *text);
// Frees a whole result, not a part of one. May be NULL.
SLUICE_API void sluice_value_free(struct sluice_value *value);

// ---------------------------------------------------------------------------------------------
// Events

struct sluice_events;

// Subscribes to events from now on: "log" (the namespace), "tracked" (tracked jobs), or
// "worker:NAME" (lost leases and canceled jobs of a worker).
SLUICE_API enum sluice_status sluice_listen(struct sluice *sluice, const char *channel,
                                            struct sluice_events **out, struct sluice_error *error);
// Returns the next event as JSON, such as {"event":"completed","when":...,"jid":...}. The string is
// valid until the next call. {"event":"gap"}: the connection was lost or the reader was too slow,
// and events may be missing.
SLUICE_API enum sluice_status sluice_events_next(struct sluice_events *events, double wait,
                                                 const char **out, struct sluice_error *error);
// The same, as a value, such as a map of "event", "when" and "jid".
SLUICE_API enum sluice_status sluice_events_next_value(struct sluice_events *events, double wait,
                                                       const struct sluice_value **out,
                                                       struct sluice_error *error);
// Returns in `fd` a descriptor that is readable while sluice_events_next would return at once, with
// an event or an error. For an event loop: when it is readable, call sluice_events_next with a wait
// of 0 until it returns SLUICE_TIMED_OUT. The first call starts a helper thread. The descriptor is
// closed by sluice_events_free; only poll it.
SLUICE_API enum sluice_status sluice_events_fd(struct sluice_events *events, int *fd,
                                               struct sluice_error *error);
// Ends the subscription. Call it before sluice_close. May be NULL.
SLUICE_API void sluice_events_free(struct sluice_events *events);

// ---------------------------------------------------------------------------------------------
// Checking and repairing a folder

enum sluice_remedy {
    SLUICE_CHECK,  // checks and changes nothing
    SLUICE_REPAIR, // copies all readable data into a new folder, which replaces the old one; the
                   // old one is kept as PATH.damaged
};

// Checks every byte and every invariant of a folder that no process has open. Calls `say` for each
// finding (`bad` is true), for each step that was done, and with the progress of the work (`share`,
// from 0 to 1; `sentence` is then NULL). OK: the folder is intact, or was repaired. CORRUPT: it is
// damaged.
SLUICE_API enum sluice_status sluice_doctor(const char *path, enum sluice_remedy remedy,
                                            void (*say)(void *context, bool bad, double share,
                                                        const char *sentence),
                                            void *context, struct sluice_error *error);

#ifdef __cplusplus
}
#endif

#endif
