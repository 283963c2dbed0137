// SPDX-License-Identifier: MIT
// The terminal as a full-screen program needs it: raw keys, a screen of its own, and everything as
// it was once the program ends, in whatever way.
#ifndef SLUICE_CLI_CORE_TERMINAL_H
#define SLUICE_CLI_CORE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

// What a signal, or a thread by terminal_wake, has asked for since the last look.
struct terminal_news {
    bool resized;
    bool ended;     // the program was asked to end
    bool continued; // it was stopped, and goes on
    bool woken;
};

// Takes the terminal over. False when standard input or output is none; then nothing has changed.
bool terminal_enter(void);
// Gives it back. May be called again, and when it was not entered.
void terminal_leave(void);
// Gives it back, stops the program as ctrl-Z does, and takes it over again once it goes on.
void terminal_suspend(void);

// Rows and columns; 24 and 80 when the terminal does not say.
void terminal_size(int *rows, int *columns);
// Whether it shows UTF-8, as far as the locale says.
bool terminal_is_utf8(void);
void terminal_write(const char *bytes, size_t size);

// Waits until there is a key, news, or so many milliseconds have passed. Returns how many bytes it
// has read; 0: none. `gone` becomes true when the terminal is no longer there.
size_t terminal_read(char *bytes, size_t size, int wait_ms, struct terminal_news *news, bool *gone);
// Ends a wait; from any thread.
void terminal_wake(void);

#endif
