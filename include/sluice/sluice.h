// SPDX-License-Identifier: MIT
// libsluice: the same program with its queue in its own process, or on a server.
//
//     struct sluice *queue;
//     struct sluice_job *job;
//     sluice_open("file:jobs", NULL, &queue, NULL);           // or "sluice://host:7711/app"
//     sluice_put(queue, &(struct sluice_put){ .queue = "mail", .klass = "Send",
//                                             .data = "{\"to\":\"ann\"}" }, NULL, NULL);
//     sluice_next(queue, "mail", SLUICE_FOREVER, &job, NULL);
//     sluice_done(job, "{\"sent\":true}", NULL);
//     sluice_job_free(job);
//     sluice_close(queue);
//
// Calls return a status and take a `struct sluice_error *`, which may be NULL, for the reason in
// words. A call that fails has changed nothing, but for SLUICE_UNKNOWN. A `struct sluice` may be
// used by any number of threads at once; everything else by one at a time. Texts are UTF-8 and end
// with a 0. Times are seconds: lengths, or since 1970. What is 0 or NULL in a struct of options
// stands for the default. A struct that grows gets a new version of its functions' symbols.
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

// The version of the library that is running: "0.1.0".
SLUICE_API const char *sluice_version(void);

// ---------------------------------------------------------------------------------------------
// How a call ends

enum sluice_status {
    SLUICE_OK = 0,
    SLUICE_NO_MEMORY,   // an allocation failed
    SLUICE_INVALID,     // an argument is malformed
    SLUICE_TOO_LARGE,   // an argument or a result exceeds a limit
    SLUICE_NOT_FOUND,   // what was named does not exist
    SLUICE_EXISTS,      // what was to be made is already there
    SLUICE_STATE,       // the state of the thing named does not allow it
    SLUICE_STALE,       // the lease is no longer the current one
    SLUICE_DENIED,      // no right to it, or a wrong password
    SLUICE_BUSY,        // not now; the same call may work later
    SLUICE_UNSUPPORTED, // not something that this version does
    SLUICE_CORRUPT,     // stored bytes do not check
    SLUICE_IO,          // the system refused a read, a write or a sync
    SLUICE_NO_SPACE,    // the disk is full
    SLUICE_TIMED_OUT,   // nothing came in the time given
    SLUICE_INTERRUPTED, // by sluice_interrupt
    SLUICE_UNREACHABLE, // the server cannot be reached; nothing was done
    SLUICE_UNKNOWN,     // the connection broke before the answer came: done, or not
    SLUICE_STATUS_COUNT,
};

enum {
    SLUICE_MESSAGE_SIZE = 256,
    SLUICE_NAME_SIZE = 256,       // of jids and all other names, with the 0; they are UTF-8 without
                                  // control characters
    SLUICE_JSON_DEPTH_MAX = 1000, // levels of data, a result or another JSON value
};

struct sluice_error {
    enum sluice_status status;
    char message[SLUICE_MESSAGE_SIZE]; // a sentence without a full stop
};

// A stable lower-case word: "not_found".
SLUICE_API const char *sluice_status_name(enum sluice_status status);

// ---------------------------------------------------------------------------------------------
// Opening

struct sluice;
struct sluice_job;
struct sluice_value;

#define SLUICE_FOREVER (-1.0) // as a time to wait; any other negative time is 0

struct sluice_options {
    const char *ns;     // the namespace; instead of the address's. Otherwise "default"
    const char *worker; // the name to take jobs under; otherwise HOST-PID-RANDOM
    // How long a call may take besides the time it waits for a job, finding the server again
    // included: 30. SLUICE_FOREVER: as long as it takes.
    double timeout;
    // `file:` alone: when a call counts as done: "always" (synced, the default), "interval:MS" or
    // "never". What is in the address comes first.
    const char *durability;
    // TLS alone: PEM files. Without ca_file the system's authorities are trusted.
    const char *ca_file, *cert_file, *key_file;
    // Told what somebody who looks after the program should know; from any thread, and must not
    // call the library.
    void (*log)(void *context, const char *sentence);
    void *log_context;
};

// Opens a queue by its address:
//
//     file:PATH[?ns=NAME&durability=...]       a folder, in this process alone; made if need be,
//                                              but with create=no; max-payload=BYTES is how large
//                                              an argument may be, 1048576 unless given
//     sluice://[USER:PASSWORD@]HOST[:PORT][/NS]  a server; also as redis://
//     sluices://...                              the same with TLS; also as rediss://
//
// A server need not be there yet: each call finds it, again and again with growing pauses, until
// its time is up. BUSY: another process has the folder open. NOT_FOUND: there is no queue in it,
// and none is to be made.
SLUICE_API enum sluice_status sluice_open(const char *url, const struct sluice_options *options,
                                          struct sluice **out, struct sluice_error *error);

// No other thread may be in a call. Jobs that are held must have been freed. May be NULL.
SLUICE_API void sluice_close(struct sluice *sluice);

SLUICE_API const char *sluice_namespace(const struct sluice *sluice);
SLUICE_API const char *sluice_worker(const struct sluice *sluice);

// With `on`, every call that waits, now or later, ends with SLUICE_INTERRUPTED (no job is lost by
// it) until it is off again. May be called from a signal handler.
SLUICE_API void sluice_interrupt(struct sluice *sluice, bool on);

// ---------------------------------------------------------------------------------------------
// Putting jobs in

enum {
    SLUICE_NONE = -1, // where 0 stands for the default
};

// Texts in lists end with NULL.
struct sluice_put {
    const char *queue, *klass, *data; // the three that there must be; data is JSON
    const char *jid;                  // otherwise a UUID
    int64_t priority;                 // lower runs sooner
    double delay;                     // not before so long from now
    double at;                        // not before then; instead of delay
    int64_t retries;                  // 5; SLUICE_NONE: it is not tried again
    const char *const *tags;
    const char *const *depends; // jids that must be complete before
    const char *domain;         // the lane, for rates, concurrency and fairness
    double deadline;            // not started by then it fails
    const char *backoff;        // "exponential:1:60:10", see Q.PUT
    double timeout;             // the longest run
    double result_ttl;          // how long its result is kept
    int64_t max_crashes;        // with so many leases lost it fails
    const char *on_dependency_failure;
    const char *unique; // a key that no other job may hold
    bool unique_contents;
    const char *unique_until; // "finished", "started", "time"
    double unique_for;
    // "existing", "replace", "refuse"; "once": answer also when the job itself holds it, and put
    // nothing
    const char *on_conflict;
    bool allow_missing; // jobs in `depends` that do not exist count as complete; else NOT_FOUND
};

// Puts a job, or moves the one with that jid. `jid` (of SLUICE_NAME_SIZE bytes, or NULL) becomes
// its id, or that of the job that holds the lock asked for by `unique`. When the connection breaks
// it is looked up and, if it was not heard, put again: there are never two. Of a job that had its
// jid before, and that was popped or completed meanwhile, it cannot always be told: UNKNOWN.
SLUICE_API enum sluice_status sluice_put(struct sluice *sluice, const struct sluice_put *put,
                                         char *jid, struct sluice_error *error);

struct sluice_put_result {
    enum sluice_status status;
    char jid[SLUICE_NAME_SIZE];
    char message[SLUICE_MESSAGE_SIZE];
};

// Puts many at once; each has a result of its own (`results` may be NULL). The status is that of
// the call as a whole, or else of the first job that was refused.
SLUICE_API enum sluice_status sluice_put_many(struct sluice *sluice, const struct sluice_put *puts,
                                              size_t count, struct sluice_put_result *results,
                                              struct sluice_error *error);

// ---------------------------------------------------------------------------------------------
// Taking jobs out

// Takes the next job of a queue, under a lease. Waits for it up to `wait` seconds. TIMED_OUT: there
// was none.
SLUICE_API enum sluice_status sluice_next(struct sluice *sluice, const char *queue, double wait,
                                          struct sluice_job **out, struct sluice_error *error);

struct sluice_take {
    const char *const *queues; // ends with NULL
    double wait;               // for the first one
    bool round_robin;          // one from each queue in turn
    const char *worker;        // instead of sluice_worker
};

// Takes up to `count` jobs (at most 1000) from several queues; `jobs` has room for them.
SLUICE_API enum sluice_status sluice_take(struct sluice *sluice, const struct sluice_take *take,
                                          struct sluice_job **jobs, size_t count, size_t *taken,
                                          struct sluice_error *error);

// A job that another process has taken, and handed over by its jid, worker and token. From then on
// it is as if it had been taken here; which of the two settles it is for them to agree on. The
// lease is not renewed by this. STALE, STATE or NOT_FOUND: the worker does not hold it any more.
SLUICE_API enum sluice_status sluice_job_attach(struct sluice *sluice, const char *jid,
                                                const char *worker, int64_t token,
                                                struct sluice_job **out,
                                                struct sluice_error *error);

SLUICE_API const char *sluice_job_jid(const struct sluice_job *job);
SLUICE_API const char *sluice_job_klass(const struct sluice_job *job);
SLUICE_API const char *sluice_job_queue(const struct sluice_job *job);
SLUICE_API const char *sluice_job_data(const struct sluice_job *job);       // JSON
SLUICE_API const char *sluice_job_checkpoint(const struct sluice_job *job); // NULL: none
SLUICE_API const char *sluice_job_worker(const struct sluice_job *job);
SLUICE_API int64_t sluice_job_token(const struct sluice_job *job);  // of the lease
SLUICE_API double sluice_job_expires(const struct sluice_job *job); // as known by now
// All of it, as Q.POP says it.
SLUICE_API const struct sluice_value *sluice_job_value(const struct sluice_job *job);

// A lease that is not renewed runs out, and the job is given to another. Each of these says STALE,
// STATE or NOT_FOUND when that has happened.

// Renews the lease once; `expires` (or NULL) becomes when it ends now.
SLUICE_API enum sluice_status sluice_heartbeat(struct sluice_job *job, double *expires,
                                               struct sluice_error *error);

// Why a job is not ours any more.
enum sluice_loss {
    SLUICE_KEPT = 0,
    SLUICE_LOST,     // its lease ran out or was taken away: another may have it
    SLUICE_CANCELED, // somebody canceled or deleted it
};

// From now on a helper thread renews the lease, however long the job runs, until it is settled or
// freed. When the job is lost all the same, `lost` (may be NULL) is called once from that thread;
// it may look at the job, and must neither settle nor free it.
SLUICE_API enum sluice_status sluice_keepalive(struct sluice_job *job,
                                               void (*lost)(void *context, struct sluice_job *job,
                                                            enum sluice_loss why),
                                               void *context, struct sluice_error *error);
// What the helper thread, or a call about the job, has learned so far. From any thread.
SLUICE_API enum sluice_loss sluice_job_lost(const struct sluice_job *job);

SLUICE_API enum sluice_status sluice_start(struct sluice_job *job, int64_t pid,
                                           struct sluice_error *error);
SLUICE_API enum sluice_status sluice_progress(struct sluice_job *job, double fraction,
                                              const char *message, struct sluice_error *error);
// A value that the job's next run receives, should this one be lost.
SLUICE_API enum sluice_status sluice_checkpoint(struct sluice_job *job, const char *value,
                                                struct sluice_error *error);
// A line for the job's log.
SLUICE_API enum sluice_status sluice_log(struct sluice_job *job, const char *line,
                                         struct sluice_error *error);

// These settle it. They are repeated when the connection breaks, and then find out whether the
// first one was heard: that another has settled the job in the meantime is no success.

// Done; with a result (JSON), or NULL.
SLUICE_API enum sluice_status sluice_done(struct sluice_job *job, const char *result,
                                          struct sluice_error *error);
// This part of it is done: it goes on to another queue, with other data (JSON) or NULL.
SLUICE_API enum sluice_status sluice_advance(struct sluice_job *job, const char *queue,
                                             const char *data, double delay,
                                             struct sluice_error *error);
// Failed for good, until somebody unfails it.
SLUICE_API enum sluice_status sluice_fail(struct sluice_job *job, const char *group,
                                          const char *message, struct sluice_error *error);
// To be tried again after `delay`, or as its backoff says (SLUICE_NONE). `group` and `message` say
// what went wrong, or are NULL. `remaining` (or NULL) becomes how many retries are left: below 0 it
// has failed.
SLUICE_API enum sluice_status sluice_retry(struct sluice_job *job, double delay, const char *group,
                                           const char *message, int64_t *remaining,
                                           struct sluice_error *error);

// Given back undone: it is first in line, and no retry is counted. For a worker that ends.
SLUICE_API enum sluice_status sluice_return(struct sluice_job *job, struct sluice_error *error);

// Ends the keepalive and forgets the job. One that was not settled is still leased. May be NULL.
SLUICE_API void sluice_job_free(struct sluice_job *job);

// ---------------------------------------------------------------------------------------------
// Looking at jobs

// The job as Q.GET says it.
SLUICE_API enum sluice_status sluice_get(struct sluice *sluice, const char *jid,
                                         struct sluice_value **out, struct sluice_error *error);
// Waits until a job is finished: a map of its state, its result, and the group and
// message of its failure, as Q.WAIT says it.
SLUICE_API enum sluice_status sluice_wait(struct sluice *sluice, const char *jid, double wait,
                                          struct sluice_value **out, struct sluice_error *error);
SLUICE_API enum sluice_status sluice_cancel(struct sluice *sluice, const char *jid,
                                            struct sluice_error *error);

// ---------------------------------------------------------------------------------------------
// Every other call

// Runs a command of docs/commands.md by its words, without the namespace:
//
//     const char *words[] = { "Q.PAUSE", "mail" };
//     sluice_call(queue, words, NULL, 2, NULL, NULL);
//
// `sizes` has their lengths, or is NULL. `out` (may be NULL) becomes the answer. One that only
// reads is repeated when the connection breaks; one that writes ends with SLUICE_UNKNOWN then.
SLUICE_API enum sluice_status sluice_call(struct sluice *sluice, const char *const *words,
                                          const size_t *sizes, size_t count,
                                          struct sluice_value **out, struct sluice_error *error);

// ---------------------------------------------------------------------------------------------
// Answers

enum sluice_type {
    SLUICE_NULL,
    SLUICE_TEXT,
    SLUICE_INTEGER,
    SLUICE_NUMBER, // also lengths of time and moments, in seconds
    SLUICE_BOOLEAN,
    SLUICE_LIST,
    SLUICE_MAP,
    SLUICE_FAULT, // an element of a list that could not be done; its text is the sentence
};

// All of these take NULL as if it were a value of type SLUICE_NULL; what does not fit is 0, NULL.
SLUICE_API enum sluice_type sluice_value_type(const struct sluice_value *value);
// A text, followed by a 0. `size` may be NULL.
SLUICE_API const char *sluice_value_text(const struct sluice_value *value, size_t *size);
SLUICE_API int64_t sluice_value_integer(const struct sluice_value *value);
SLUICE_API double sluice_value_number(const struct sluice_value *value); // of integers too
SLUICE_API bool sluice_value_boolean(const struct sluice_value *value);
SLUICE_API enum sluice_status sluice_value_status(const struct sluice_value *value); // of a FAULT
// Elements of a list, or pairs of a map.
SLUICE_API size_t sluice_value_count(const struct sluice_value *value);
SLUICE_API const struct sluice_value *sluice_value_at(const struct sluice_value *value,
                                                      size_t index);
SLUICE_API const char *sluice_value_key(const struct sluice_value *value, size_t index);
// What a map has under a key.
SLUICE_API const struct sluice_value *sluice_value_get(const struct sluice_value *value,
                                                       const char *key);
// The whole as JSON, to be freed with free(); NULL without memory. What is stored under `data` and
// `result` is JSON already, and stands there as such.
SLUICE_API char *sluice_value_json(const struct sluice_value *value);
SLUICE_API void
sluice_value_free(struct sluice_value *value); // may be NULL; only of a whole answer

// ---------------------------------------------------------------------------------------------
// Events

struct sluice_events;

// Listens to what happens from now on: "log" (all of the namespace), "tracked" (tracked jobs), or
// "worker:NAME" (what a worker should know of its jobs).
SLUICE_API enum sluice_status sluice_listen(struct sluice *sluice, const char *channel,
                                            struct sluice_events **out, struct sluice_error *error);
// The next event as JSON, {"event":"completed","when":...,"jid":...}, borrowed until the next call.
// {"event":"gap"}: the connection was lost or the reader too slow, and some may be missing.
SLUICE_API enum sluice_status sluice_events_next(struct sluice_events *events, double wait,
                                                 const char **out, struct sluice_error *error);
SLUICE_API void sluice_events_free(struct sluice_events *events); // may be NULL; before its queue

// ---------------------------------------------------------------------------------------------
// A folder that does not open

enum sluice_remedy {
    SLUICE_CHECK,  // looks, and changes nothing
    SLUICE_REPAIR, // saves what can be read into a new folder, which takes its place; the old one
                   // is kept as PATH.damaged
};

// Checks a folder that no process has open, byte by byte and rule by rule. `say` is told of each
// finding (`bad`), of what was done, and as of work goes on how much of it is done (`share`, from 0
// to 1; then the sentence is NULL). OK: it is sound, now. CORRUPT: it is not.
SLUICE_API enum sluice_status sluice_doctor(const char *path, enum sluice_remedy remedy,
                                            void (*say)(void *context, bool bad, double share,
                                                        const char *sentence),
                                            void *context, struct sluice_error *error);

#ifdef __cplusplus
}
#endif

#endif
