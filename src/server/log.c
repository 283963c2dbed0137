// SPDX-License-Identifier: MIT
#include "server/log.h"

#include "base/timefmt.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE_SIZE = 2048,
};

static _Atomic(enum log_level) lowest = LOG_LEVEL_INFO;

void log_set_level(enum log_level level)
{
    atomic_store(&lowest, level);
}

static const char *const names[] = { "debug", "info", "warning", "error" };
static const char *const priorities[] = { "<7>", "<6>", "<4>", "<3>" };

void log_line(enum log_level level, const char *what, const char *format, ...)
{
    if (level < atomic_load(&lowest)) {
        return;
    }
    char line[LINE_SIZE];
    size_t size = 0;
    if (getenv("JOURNAL_STREAM")) {
        size = (size_t)snprintf(line, sizeof(line), "%s%s", priorities[level], what);
    } else {
        struct timespec now;
        (void)clock_gettime(CLOCK_REALTIME, &now);
        size = timefmt_format((int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000, line);
        size += (size_t)snprintf(line + size, sizeof(line) - size, " %s %s", names[level], what);
    }
    if (format && size < sizeof(line) - 1) {
        line[size++] = ' ';
        va_list arguments;
        va_start(arguments, format);
        int more = vsnprintf(line + size, sizeof(line) - size, format, arguments);
        va_end(arguments);
        size += more > 0 ? (size_t)more : 0;
    }
    if (size > sizeof(line) - 1) {
        size = sizeof(line) - 1;
    }
    line[size++] = '\n';
    // One write a line, so that lines of several threads do not mix. Who cannot log goes on.
    ssize_t written = write(STDERR_FILENO, line, size);
    (void)written;
}
