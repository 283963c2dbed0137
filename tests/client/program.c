// SPDX-License-Identifier: MIT
// A C99 program that uses libsluice, as the public header's own example does.
#include <sluice/sluice.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int points;

static void expect(bool good, const char *what)
{
    printf("%s %d - %s\n", good ? "ok" : "not ok", ++points, what);
    if (!good) {
        exit(1);
    }
}

int main(int argc, char **argv)
{
    struct sluice *queue;
    struct sluice_job *job;
    struct sluice_value *value;
    char url[64];
    if (argc != 2) {
        return 2;
    }
    (void)snprintf(url, sizeof(url), "sluice://127.0.0.1:%s/app", argv[1]);
    expect(sluice_open(url, NULL, &queue, NULL) == SLUICE_OK, "open");
    expect(sluice_put(queue,
                      &SLUICE_PUT(.queue = "mail", .klass = "Send", .jid = "a",
                                  .data = "{\"to\":\"ann\"}"),
                      NULL, NULL) == SLUICE_OK,
           "put");
    expect(sluice_next(queue, "mail", SLUICE_FOREVER, &job, NULL) == SLUICE_OK, "next");
    expect(strcmp(sluice_job_data(job), "{\"to\":\"ann\"}") == 0, "its data");
    expect(sluice_done(job, "{\"sent\":true}", NULL) == SLUICE_OK, "done");
    sluice_job_free(job);
    expect(sluice_get(queue, "a", &value, NULL) == SLUICE_OK, "get");
    expect(strcmp(sluice_value_text(sluice_value_get(value, "state"), NULL), "complete") == 0,
           "it is complete");
    sluice_value_free(value);
    sluice_close(queue);
    printf("1..%d\n", points);
    return 0;
}
