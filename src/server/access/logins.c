// SPDX-License-Identifier: MIT
#include "server/access/logins.h"

#include "os/clock.h"
#include "os/thread.h"
#include "server/access/audit.h"
#include "server/config/throttle.h"
#include "server/log/log.h"
#include "server/server.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct login {
    struct login *next;
    struct connection *connection; // NULL: closed meanwhile
    login_decided *decided;
    uint64_t source; // throttle_source
    char address[ADDRESS_TEXT_SIZE];
    char name[USER_NAME_SIZE_MAX + 1], password[PASSWORD_SIZE_MAX];
    size_t password_size;
    struct login_check check;
    enum status result; // written by the thread
    // Not a login: a password is to be hashed.
    password_hashed *hashed;
    struct password made; // written by the thread, as is the error
    struct error error;
    size_t kept_size;
    char kept[];
};

static struct slice password_of(const struct login *login)
{
    return slice_make(login->password, login->password_size);
}

static struct login_name name_of(const struct login *login)
{
    return (struct login_name){ slice_from_cstr(login->name), slice_from_cstr(login->address) };
}

static void login_free(const struct server *server, struct login *login)
{
    size_t size = sizeof(*login) + login->kept_size;
    OPENSSL_cleanse(login, size);
    mem_free(server->settings.allocator, login, size);
}

// ---------------------------------------------------------------------------------------------
// Messages

static void record_failure(struct server *server, const struct login *login, int64_t refused_us)
{
    server->logins.failed++;
    audit_login(server, slice_from_cstr(login->name), slice_from_cstr(login->address));
    if (refused_us) {
        log_line(LOG_LEVEL_WARNING, "logins refused", LOG_STRING("address", login->address),
                 LOG_NUMBER("seconds", (refused_us + 999999) / 1000000));
    }
}

static void decide(struct server *server, struct login *login, enum status status,
                   const struct user *user, const struct error *error)
{
    struct connection *connection = login->connection;
    login_decided *decided = login->decided;
    login_free(server, login);
    if (connection) {
        connection->login = NULL;
        decided(connection, status, user, error);
        connection_resume(connection);
    }
}

// ---------------------------------------------------------------------------------------------
// The queue

static uint16_t *source_count(struct logins *logins, const struct login *login)
{
    return &logins->sources[login->source & (LOGIN_SOURCES - 1)];
}

static void enqueue(struct logins *logins, struct login *login)
{
    login->next = NULL;
    *(logins->first ? logins->last : &logins->first) = login;
    logins->last = &login->next;
    logins->count++;
    ++*source_count(logins, login);
}

static struct login *dequeue(struct logins *logins, struct login **at)
{
    struct login *login = *at;
    *at = login->next;
    if (!login->next) {
        logins->last = at;
    }
    logins->count--;
    --*source_count(logins, login);
    return login;
}

static uint32_t failures(const struct server *server, const struct login *login, int64_t now_us)
{
    return throttle_failures(users_throttle(server->users), login->source, now_us);
}

// Finds the login whose address has the fewest failures, the oldest among equals.
static struct login **best(struct server *server, int64_t now_us)
{
    struct login **found = NULL;
    uint32_t least = UINT32_MAX;
    for (struct login **at = &server->logins.first; *at; at = &(*at)->next) {
        if ((*at)->hashed) {
            return at;
        }
        uint32_t count = failures(server, *at, now_us);
        if (!found || count < least) {
            found = at;
            least = count;
        }
    }
    return found;
}

static uint64_t badness(struct server *server, const struct login *login, int64_t now_us)
{
    return (uint64_t)failures(server, login, now_us) + *source_count(&server->logins, login);
}

// The queue is full: the newest login from the address with the most failures is refused, if the
// fresh one is from an address with fewer.
static bool make_room(struct server *server, const struct login *fresh, int64_t now_us)
{
    struct login **worst = NULL;
    uint64_t most = badness(server, fresh, now_us);
    for (struct login **at = &server->logins.first; *at; at = &(*at)->next) {
        uint64_t bad = (*at)->hashed ? 0 : badness(server, *at, now_us);
        if (bad > most || (worst && bad == most)) {
            most = bad;
            worst = at;
        }
    }
    if (worst) {
        struct error error;
        (void)error_set(&error, STATUS_BUSY, "too many logins are waiting; try again later");
        server->logins.refused++;
        decide(server, dequeue(&server->logins, worst), STATUS_BUSY, NULL, &error);
    }
    return worst;
}

static enum status check_room(struct server *server, const struct login *fresh, int64_t now_us,
                              struct error *error)
{
    const struct settings *settings = &server->settings;
    uint64_t same = 0;
    for (const struct login *at = server->logins.first; at; at = at->next) {
        same += at->source == fresh->source;
    }
    if (same >= settings->max_logins_address) {
        server->logins.refused++;
        return error_set(error, STATUS_BUSY,
                         "too many logins from this address are waiting; try again later");
    }
    if (server->logins.count >= settings->max_logins && !make_room(server, fresh, now_us)) {
        server->logins.refused++;
        return error_set(error, STATUS_BUSY, "too many logins are waiting; try again later");
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------------------------------------
// The thread

static void run(struct login *login)
{
    login->result = login->hashed ? password_hash(password_of(login), PASSWORD_ITERATIONS,
                                                  &login->made, &login->error)
                                  : login_check_run(&login->check, password_of(login));
}

static void *run_checks(void *context)
{
    struct logins *logins = context;
    (void)pthread_setname_np(pthread_self(), "logins");
    (void)pthread_mutex_lock(&logins->lock);
    for (;;) {
        while (!logins->work && !logins->stop) {
            (void)pthread_cond_wait(&logins->wake, &logins->lock);
        }
        struct login *login = logins->work;
        if (!login || logins->stop) {
            break;
        }
        (void)pthread_mutex_unlock(&logins->lock);
        run(login);
        (void)pthread_mutex_lock(&logins->lock);
        logins->work = NULL;
        (void)eventfd_write(logins->fd, 1);
    }
    (void)pthread_mutex_unlock(&logins->lock);
    return NULL;
}

static void hand_over(struct logins *logins, struct login *login)
{
    assert(!logins->running);
    logins->running = login;
    (void)pthread_mutex_lock(&logins->lock);
    logins->work = login;
    (void)pthread_cond_signal(&logins->wake);
    (void)pthread_mutex_unlock(&logins->lock);
}

// Starts the next check in the thread. Logins that can be decided without a check are decided.
static void run_next(struct server *server)
{
    struct logins *logins = &server->logins;
    int64_t now_us = monotonic_us();
    while (!logins->running && logins->first) {
        struct login *login = dequeue(logins, best(server, now_us));
        if (login->hashed) {
            hand_over(logins, login);
            return;
        }
        struct login_name name = name_of(login);
        const struct user *user;
        struct error error;
        enum status status = users_login_begin(server->users, &name, password_of(login), now_us,
                                               &login->check, &user, &error);
        if (status || user) {
            decide(server, login, status, user, &error);
        } else {
            hand_over(logins, login);
        }
    }
}

static void end_hash(const struct server *server, struct login *login)
{
    struct connection *connection = login->connection;
    if (connection) {
        connection->login = NULL;
        login->hashed(connection, slice_make(login->kept, login->kept_size),
                      login->result ? NULL : &login->made, &login->error);
        connection_resume(connection);
    }
    login_free(server, login);
}

static void on_done(evutil_socket_t fd, short what, void *context)
{
    (void)what;
    struct server *server = context;
    struct logins *logins = &server->logins;
    eventfd_t count;
    if (eventfd_read(fd, &count) || !logins->running) {
        return;
    }
    (void)pthread_mutex_lock(&logins->lock); // makes what the thread has written visible
    assert(!logins->work);
    (void)pthread_mutex_unlock(&logins->lock);
    struct login *login = logins->running;
    struct login_name name = name_of(login);
    const struct user *user = NULL;
    struct error error;
    int64_t refused_us;
    logins->running = NULL;
    if (login->hashed) {
        end_hash(server, login);
        run_next(server);
        return;
    }
    enum status status;
    if (login->result == STATUS_NO_MEMORY) {
        status = error_set(&error, STATUS_NO_MEMORY,
                           "out of memory: the password cannot be checked now; try again later");
        log_line(LOG_LEVEL_ERROR, "out of memory: password not checked",
                 LOG_STRING("address", login->address));
    } else {
        status = users_login_end(server->users, &name, &login->check, !login->result,
                                 monotonic_us(), &user, &refused_us, &error);
        if (status) {
            record_failure(server, login, refused_us);
        }
    }
    decide(server, login, status, user, &error);
    run_next(server);
}

static enum status start_thread(struct server *server)
{
    struct logins *logins = &server->logins;
    if (logins->done) {
        return STATUS_OK;
    }
    logins->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (logins->fd < 0) {
        return STATUS_IO;
    }
    (void)pthread_mutex_init(&logins->lock, NULL);
    (void)pthread_cond_init(&logins->wake, NULL);
    logins->done = event_new(server->loop, logins->fd, EV_READ | EV_PERSIST, on_done, server);
    if (logins->done && !event_add(logins->done, NULL) &&
        !thread_start(&logins->thread, run_checks, logins)) {
        return STATUS_OK;
    }
    if (logins->done) {
        event_free(logins->done);
        logins->done = NULL;
    }
    (void)close(logins->fd);
    return STATUS_NO_MEMORY;
}

void logins_release(struct server *server)
{
    struct logins *logins = &server->logins;
    if (!logins->done) {
        return;
    }
    (void)pthread_mutex_lock(&logins->lock);
    logins->stop = true;
    (void)pthread_cond_signal(&logins->wake);
    (void)pthread_mutex_unlock(&logins->lock);
    (void)pthread_join(logins->thread, NULL);
    if (logins->running) {
        login_free(server, logins->running);
    }
    while (logins->first) {
        login_free(server, dequeue(logins, &logins->first));
    }
    event_free(logins->done);
    (void)close(logins->fd);
    (void)pthread_cond_destroy(&logins->wake);
    (void)pthread_mutex_destroy(&logins->lock);
    *logins = (struct logins){ 0 };
}

// ---------------------------------------------------------------------------------------------

static struct login *login_new(struct connection *connection, struct slice name,
                               struct slice password, struct slice kept)
{
    const struct server *server = connection->server;
    struct slice host = connection_host(connection);
    struct login *login = mem_zalloc(server->settings.allocator, sizeof(*login) + kept.size);
    if (login) {
        login->connection = connection;
        login->kept_size = kept.size;
        memcpy(login->kept, kept.size ? kept.data : "", kept.size);
        login->source = throttle_source(users_throttle(server->users), host);
        (void)snprintf(login->address, sizeof(login->address), "%.*s", SLICE_PRINT(host));
        memcpy(login->name, name.size ? name.data : "", name.size);
        memcpy(login->password, password.size ? password.data : "", password.size);
        login->password_size = password.size;
    }
    return login;
}

// No user has a name or password that long: the settings limit their size.
static enum status deny(struct connection *connection, struct slice name, struct error *error)
{
    struct server *server = connection->server;
    const struct login_name who = { slice_sub(name, 0, USER_NAME_SIZE_MAX),
                                    connection_host(connection) };
    const struct login_check none = { 0 };
    const struct user *user;
    int64_t refused_us;
    server->logins.failed++;
    audit_login(server, who.name, who.address);
    return users_login_end(server->users, &who, &none, false, monotonic_us(), &user, &refused_us,
                           error);
}

enum status login_start(struct connection *connection, struct slice name, struct slice password,
                        login_decided *decided, const struct user **out, struct error *error)
{
    struct server *server = connection->server;
    const struct login_name who = { name, connection_host(connection) };
    int64_t now_us = monotonic_us();
    struct login_check check;
    assert(!connection->login);
    enum status status =
        users_login_begin(server->users, &who, password, now_us, &check, out, error);
    if (status || *out) {
        return status;
    }
    if (name.size > USER_NAME_SIZE_MAX || password.size > PASSWORD_SIZE_MAX ||
        (name.size && memchr(name.data, '\0', name.size))) {
        return deny(connection, name, error);
    }
    if (start_thread(server)) {
        return error_set(error, STATUS_BUSY, "passwords cannot be checked now; try again later");
    }
    struct login *login = login_new(connection, name, password, SLICE_EMPTY);
    if (!login) {
        return error_set(error, STATUS_NO_MEMORY, "no memory for a login");
    }
    login->decided = decided;
    status = check_room(server, login, now_us, error);
    if (status) {
        login_free(server, login);
        return status;
    }
    connection->login = login;
    enqueue(&server->logins, login);
    run_next(server);
    return STATUS_OK;
}

enum status login_hash(struct connection *connection, struct slice plain, struct slice kept,
                       password_hashed *hashed, struct error *error)
{
    struct server *server = connection->server;
    assert(!connection->login);
    if (plain.size == 0 || plain.size > PASSWORD_SIZE_MAX) {
        return error_set(error, STATUS_INVALID, "a password has from 1 to %d bytes",
                         PASSWORD_SIZE_MAX);
    }
    if (start_thread(server)) {
        return error_set(error, STATUS_BUSY, "passwords cannot be hashed now; try again later");
    }
    struct login *login = login_new(connection, SLICE_EMPTY, plain, kept);
    if (!login) {
        return error_set(error, STATUS_NO_MEMORY, "no memory to hash a password");
    }
    login->hashed = hashed;
    connection->login = login;
    enqueue(&server->logins, login);
    run_next(server);
    return STATUS_OK;
}

void login_forget(struct connection *connection)
{
    struct logins *logins = &connection->server->logins;
    struct login *login = connection->login;
    if (!login) {
        return;
    }
    connection->login = NULL;
    login->connection = NULL;
    if (login == logins->running) {
        return; // the thread still reads it
    }
    struct login **at = &logins->first;
    while (*at != login) {
        at = &(*at)->next;
    }
    login_free(connection->server, dequeue(logins, at));
}
