// SPDX-License-Identifier: MIT
// A handler for `sluice work --pool`: notes each job in a file that others append to as well, and
// answers that it is done.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int notes = argc == 2 ? open(argv[1], O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
    char *line = NULL;
    size_t capacity = 0;
    while (notes >= 0 && getline(&line, &capacity, stdin) > 0) {
        char *jid = strstr(line, "\"jid\":\"");
        char *end = jid ? strchr(jid + 7, '"') : NULL;
        if (!end) {
            return 1;
        }
        *end = '\n';
        size_t size = (size_t)(end + 1 - jid - 7);
        if (write(notes, jid + 7, size) != (ssize_t)size) {
            return 1;
        }
        (void)printf("{\"jid\":\"%.*s\",\"result\":true}\n", (int)size - 1, jid + 7);
        (void)fflush(stdout);
    }
    free(line);
    return notes < 0;
}
