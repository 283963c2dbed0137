// SPDX-License-Identifier: MIT
#include "cli/core/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

// Another screen, no cursor, no wrapping at the right edge; and back.
#define ENTER "\033[?1049h\033[?25l\033[?7l"
#define LEAVE "\033[0m\033[?7h\033[?25h\033[?1049l"

enum {
    WAKE = 0, // stands for terminal_wake where signals have their numbers
};

static struct termios before;
static volatile sig_atomic_t entered;
static int pipe_ends[2] = { -1, -1 };

static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
static const int asked[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct sigaction crash_actions[COUNT(crashes)]; // as they were before

// Only what a signal handler may call.
void terminal_leave(void)
{
    if (entered) {
        entered = 0;
        ssize_t written = write(STDOUT_FILENO, LEAVE, sizeof(LEAVE) - 1);
        (void)written;
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    }
}

static void send_byte(int byte)
{
    int kept = errno;
    unsigned char value = (unsigned char)byte;
    // A full pipe wakes as well as one more byte would.
    ssize_t written = write(pipe_ends[1], &value, 1);
    (void)written;
    errno = kept;
}

static void on_signal(int number)
{
    send_byte(number);
}

// Then the signal does what it would have done, to the program as it is.
static void on_crash(int number)
{
    terminal_leave();
    for (size_t i = 0; i < COUNT(crashes); i++) {
        if (crashes[i] == number) {
            (void)sigaction(number, &crash_actions[i], NULL);
        }
    }
    (void)raise(number);
}

void terminal_wake(void)
{
    send_byte(WAKE);
}

static void catch_signals(void)
{
    struct sigaction action = { .sa_flags = SA_RESTART };
    (void)sigemptyset(&action.sa_mask);
    action.sa_handler = on_signal;
    for (size_t i = 0; i < COUNT(asked); i++) {
        (void)sigaction(asked[i], &action, NULL);
    }
    action.sa_handler = on_crash;
    for (size_t i = 0; i < COUNT(crashes); i++) {
        (void)sigaction(crashes[i], &action, &crash_actions[i]);
    }
}

static bool open_pipe(void)
{
    return pipe_ends[0] >= 0 || !pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK);
}

static bool take_over(void)
{
    if (tcgetattr(STDIN_FILENO, &before)) {
        return false;
    }
    struct termios raw = before;
    cfmakeraw(&raw);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw)) {
        return false;
    }
    entered = 1;
    terminal_write(ENTER, sizeof(ENTER) - 1);
    return true;
}

bool terminal_enter(void)
{
    static bool prepared;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !open_pipe()) {
        return false;
    }
    if (!prepared) {
        prepared = true;
        (void)atexit(terminal_leave);
        catch_signals();
    }
    return take_over();
}

void terminal_suspend(void)
{
    terminal_leave();
    struct sigaction usual = { .sa_handler = SIG_DFL }, ours;
    (void)sigaction(SIGTSTP, &usual, &ours);
    // The whole group, so that a shell script which started it stops too. Where no shell could let
    // it go on again the system does not stop it.
    (void)kill(0, SIGTSTP);
    (void)sigaction(SIGTSTP, &ours, NULL);
    (void)take_over();
}

void terminal_size(int *rows, int *columns)
{
    struct winsize size = { 0 };
    (void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    *rows = size.ws_row ? size.ws_row : 24;
    *columns = size.ws_col ? size.ws_col : 80;
}

bool terminal_is_utf8(void)
{
    static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < COUNT(variables); i++) {
        const char *value = getenv(variables[i]);
        if (value && *value) {
            return strcasestr(value, "UTF-8") || strcasestr(value, "utf8");
        }
    }
    return false;
}

void terminal_write(const char *bytes, size_t size)
{
    while (size) {
        ssize_t written = write(STDOUT_FILENO, bytes, size);
        if (written < 0 && errno == EAGAIN) {
            struct pollfd room = { .fd = STDOUT_FILENO, .events = POLLOUT };
            (void)poll(&room, 1, -1);
        } else if (written < 0 && errno != EINTR) {
            return;
        } else if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
    }
}

static void read_news(struct terminal_news *news)
{
    unsigned char numbers[64];
    ssize_t count = read(pipe_ends[0], numbers, sizeof(numbers));
    for (ssize_t i = 0; i < count; i++) {
        switch (numbers[i]) {
        case WAKE:
            news->woken = true;
            break;
        case SIGWINCH:
            news->resized = true;
            break;
        case SIGTSTP:
            terminal_suspend();
            news->continued = true;
            break;
        case SIGCONT:
            news->continued = true;
            break;
        default:
            news->ended = true;
        }
    }
}

size_t terminal_read(char *bytes, size_t size, int wait_ms, struct terminal_news *news, bool *gone)
{
    struct pollfd ends[] = {
        { .fd = STDIN_FILENO, .events = POLLIN },
        { .fd = pipe_ends[0], .events = POLLIN },
    };
    ssize_t count = 0;
    *news = (struct terminal_news){ 0 };
    if (poll(ends, 2, wait_ms) > 0) {
        if (ends[1].revents) {
            read_news(news);
        }
        if (ends[0].revents) {
            count = read(STDIN_FILENO, bytes, size);
            // Nothing to read though there was something: the other end has been closed.
            *gone = *gone || count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN);
        }
    }
    return count > 0 ? (size_t)count : 0;
}
