// SPDX-License-Identifier: MIT
#include "shell.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THINGS_MAX = 4096,
    THREADS_MAX = 256,
    NAME_MAX_SIZE = 64,
};

static struct {
    char name[NAME_MAX_SIZE];
    void *thing;
} things[THINGS_MAX];
static pthread_mutex_t things_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t output_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct sluice *) signaled;

static _Noreturn void give_up(const char *what, const char *name)
{
    (void)fprintf(stderr, "shell: %s: %s\n", what, name);
    exit(2);
}

void keep_thing(const char *name, void *thing)
{
    pthread_mutex_lock(&things_mutex);
    for (size_t i = 0; i < THINGS_MAX; i++) {
        if (!things[i].thing) {
            (void)snprintf(things[i].name, sizeof(things[i].name), "%s", name);
            things[i].thing = thing;
            pthread_mutex_unlock(&things_mutex);
            return;
        }
    }
    give_up("there are too many things", name);
}

// With the mutex held.
static size_t thing_index(const char *name)
{
    for (size_t i = 0; i < THINGS_MAX; i++) {
        if (things[i].thing && strcmp(things[i].name, name) == 0) {
            return i;
        }
    }
    give_up("there is nothing of that name", name);
}

void *find_thing(const char *name)
{
    pthread_mutex_lock(&things_mutex);
    void *thing = things[thing_index(name)].thing;
    pthread_mutex_unlock(&things_mutex);
    return thing;
}

void forget_thing(const char *name)
{
    pthread_mutex_lock(&things_mutex);
    things[thing_index(name)].thing = NULL;
    pthread_mutex_unlock(&things_mutex);
}

const json_t *word(const struct request *request, size_t index)
{
    return json_array_get(request->words, index + 2);
}

const char *word_text(const struct request *request, size_t index)
{
    return json_string_value(word(request, index));
}

double word_number(const struct request *request, size_t index)
{
    return json_number_value(word(request, index));
}

void say(json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT);
    pthread_mutex_lock(&output_mutex);
    (void)puts(text);
    (void)fflush(stdout);
    pthread_mutex_unlock(&output_mutex);
    free(text);
    json_decref(line);
}

// ---------------------------------------------------------------------------------------------

void interrupt_on_signal(struct sluice *sluice)
{
    atomic_store(&signaled, sluice);
}

static void on_signal(int number)
{
    (void)number;
    struct sluice *sluice = atomic_load(&signaled);
    if (sluice) {
        sluice_interrupt(sluice, true);
    }
}

static const struct call *find_among(const struct call *call, const char *name)
{
    while (call->name && strcmp(call->name, name) != 0) {
        call++;
    }
    return call->name ? call : NULL;
}

const struct call *find_call(const char *name)
{
    const struct call *call = find_among(calls, name);
    call = call ? call : find_among(more_calls, name);
    if (!call) {
        give_up("there is no such call", name);
    }
    return call;
}

// The sender of this line may have read what other threads said before: what they did came before
// it, and a sanitizer that looks for races should know that.
static void meet_others(void)
{
    pthread_mutex_lock(&output_mutex);
    pthread_mutex_unlock(&output_mutex);
}

// Runs a line and takes it.
static void *run_line(void *context)
{
    json_t *words = context;
    struct request request = { .words = words, .answer = json_object() };
    request.error.status = SLUICE_STATUS_COUNT; // to see whether a call that fails says why
    meet_others();
    const struct call *call = find_call(json_string_value(json_array_get(words, 1)));
    enum sluice_status status = call->run(&request);
    json_object_set(request.answer, "label", json_array_get(words, 0));
    json_object_set_new(request.answer, "status", json_string(sluice_status_name(status)));
    if (status && request.error.status != status) {
        give_up("the error's status is another", sluice_status_name(request.error.status));
    }
    if (status) {
        json_object_set_new(request.answer, "message", json_string(request.error.message));
    }
    say(request.answer);
    json_decref(words);
    return NULL;
}

int main(void)
{
    char *line = NULL;
    size_t capacity = 0;
    static pthread_t threads[THREADS_MAX];
    size_t thread_count = 0;
    const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    if (sigaction(SIGUSR1, &action, NULL)) {
        return 2;
    }
    while (getline(&line, &capacity, stdin) > 0) {
        json_t *words = json_loads(line, 0, NULL);
        const char *label = json_string_value(json_array_get(words, 0));
        if (!label) {
            give_up("a line is no list of words", line);
        }
        if (label[0] != '&') {
            (void)run_line(words);
        } else if (thread_count == THREADS_MAX ||
                   pthread_create(&threads[thread_count++], NULL, run_line, words)) {
            give_up("there are too many threads", label);
        }
    }
    while (thread_count) {
        pthread_join(threads[--thread_count], NULL);
    }
    free(line);
    return 0;
}
