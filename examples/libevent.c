// Prints the events of a namespace in a loop of libevent, until so many have arrived.
//
//     libevent sluice://127.0.0.1:7711/app 100
#include <sluice/sluice.h>

#include <event2/event.h>

#include <stdio.h>
#include <stdlib.h>

struct watcher {
    struct event_base *loop;
    struct sluice_events *events;
    long left;
    enum sluice_status status;
    struct sluice_error error;
};

// The descriptor is readable: hears what there is, without waiting.
static void on_readable(evutil_socket_t fd, short what, void *context)
{
    struct watcher *watcher = context;
    const char *event;
    (void)fd;
    (void)what;
    while (watcher->left > 0) {
        watcher->status = sluice_events_next(watcher->events, 0, &event, &watcher->error);
        if (watcher->status) {
            break;
        }
        puts(event);
        (void)fflush(stdout);
        watcher->left--;
    }
    if (watcher->status == SLUICE_TIMED_OUT) {
        watcher->status = SLUICE_OK; // nothing more for now
    }
    if (watcher->left == 0 || watcher->status) {
        event_base_loopbreak(watcher->loop);
    }
}

static enum sluice_status watch(struct sluice *queue, struct watcher *watcher)
{
    int fd;
    enum sluice_status status = sluice_listen(queue, "log", &watcher->events, &watcher->error);
    if (status) {
        return status;
    }
    status = sluice_events_fd(watcher->events, &fd, &watcher->error);
    if (!status) {
        watcher->loop = event_base_new();
        struct event *readable =
            event_new(watcher->loop, fd, EV_READ | EV_PERSIST, on_readable, watcher);
        event_add(readable, NULL);
        puts("listening");
        (void)fflush(stdout);
        event_base_dispatch(watcher->loop);
        event_free(readable);
        event_base_free(watcher->loop);
        status = watcher->status;
    }
    sluice_events_free(watcher->events);
    return status;
}

int main(int argc, char **argv)
{
    struct sluice *queue;
    struct watcher watcher = { .left = argc == 3 ? strtol(argv[2], NULL, 10) : 0 };
    if (watcher.left <= 0) {
        fprintf(stderr, "usage: libevent ADDRESS COUNT\n");
        return EXIT_FAILURE;
    }
    enum sluice_status status = sluice_open(argv[1], NULL, &queue, &watcher.error);
    if (!status) {
        status = watch(queue, &watcher);
        sluice_close(queue);
    }
    if (status) {
        fprintf(stderr, "%s\n", watcher.error.message);
    }
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
