// Puts a job, waits until it is finished, and prints its state and its result.
//
//     result file:jobs reports Daily '{"day":"monday"}'
#include <sluice/sluice.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct sluice *queue;
    struct sluice_value *result;
    struct sluice_error error;
    char jid[SLUICE_NAME_SIZE];
    if (argc != 5) {
        fprintf(stderr, "usage: result ADDRESS QUEUE KLASS DATA\n");
        return EXIT_FAILURE;
    }
    enum sluice_status status = sluice_open(argv[1], NULL, &queue, &error);
    if (!status) {
        const struct sluice_put_options put =
            SLUICE_PUT(.queue = argv[2], .klass = argv[3], .data = argv[4]);
        status = sluice_put(queue, &put, jid, &error);
        if (!status) {
            status = sluice_wait(queue, jid, 60.0, &result, &error);
        }
        if (!status) {
            const char *text = sluice_value_text(sluice_value_get(result, "result"), NULL);
            printf("%s %s\n", sluice_value_text(sluice_value_get(result, "state"), NULL),
                   text ? text : "");
            sluice_value_free(result);
        }
        sluice_close(queue);
    }
    if (status) {
        fprintf(stderr, "%s\n", error.message);
    }
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
