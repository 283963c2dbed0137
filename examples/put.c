// Puts one job for each name on the command line into the queue "mail", in one call.
//
//     put file:jobs ann bob
#include <sluice/sluice.h>

#include <stdio.h>
#include <stdlib.h>

enum {
    JOBS_MAX = 100,
    DATA_SIZE = 200,
};

int main(int argc, char **argv)
{
    static char data[JOBS_MAX][DATA_SIZE];
    static struct sluice_put_options puts[JOBS_MAX];
    static struct sluice_result results[JOBS_MAX];
    struct sluice *queue;
    struct sluice_error error;
    if (argc < 3 || argc - 2 > JOBS_MAX) {
        fprintf(stderr, "usage: put ADDRESS NAME ...\n");
        return EXIT_FAILURE;
    }
    if (sluice_open(argv[1], NULL, &queue, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return EXIT_FAILURE;
    }
    size_t count = (size_t)(argc - 2);
    for (size_t i = 0; i < count; i++) {
        snprintf(data[i], sizeof(data[i]), "{\"to\":\"%s\"}", argv[i + 2]);
        puts[i] = SLUICE_PUT(.queue = "mail", .klass = "Send", .data = data[i]);
    }
    enum sluice_status status = sluice_put_many(queue, puts, count, results, &error);
    for (size_t i = 0; i < count; i++) {
        printf("%s\n", results[i].status ? results[i].message : results[i].jid);
    }
    sluice_close(queue);
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
