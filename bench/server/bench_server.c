// SPDX-License-Identifier: MIT
// Measures servers under load: sluiced, and redis-server if it is installed, with lists and with
// streams. The unit is one life of a job: it is put with 200 bytes of JSON, popped and completed.
// The servers alternate, and each run starts a new server, so that all see the same state of the
// machine. Ratios are computed from adjacent runs; of several runs the median is reported.
//
//     bench_server [--sluiced PATH] [--redis PATH] [--folder PATH] [--durability never,always]
//                  [--connections 1,16,64,256,16x32] [--seconds N] [--repeat N] [--backlog N]
//                  [--only sluice,sluice-http,redis-lists] [--bulk] [--memory N] [--keep] [--puts]
//
// With --puts a life is only its put. 16x32 means 16 connections with 32 lives in progress on each.
// The backlog is put first. Queues return the oldest job first, so each life puts a job at the end
// of the backlog and works on the job at its head: the length of the backlog does not change. The
// folder must be on the disk to be measured.
#include "base/num.h"

#include "parts.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>

enum {
    LOADS_MAX = 32,
    REPEAT_MAX = 99,
    KINDS_MAX = 8,
    BULK = 100,
    MEMORY_FIRST = 10000, // jobs before the measurement, for memory that is allocated once
};

static const char *const durability_names[DURABILITIES] = { "never", "interval", "always" };

static const char *sluiced = "build/sluiced", *redis = "redis-server", *folder = ".";
static const char *only = "redis-lists,redis-streams,sluice-http,sluice";
static bool durabilities[DURABILITIES] = { true, true, true };
static struct load loads[LOADS_MAX];
static size_t load_count;
static uint64_t seconds = 2, repeat = 3, backlog, memory;
static bool bulk, keep, only_puts;

// ---------------------------------------------------------------------------------------------
// Options

// The next piece of a list with commas.
static bool next_piece(const char **list, struct slice *piece)
{
    if (!**list) {
        return false;
    }
    *piece = slice_make(*list, strcspn(*list, ","));
    *list += piece->size;
    *list += **list == ',';
    return true;
}

static uint64_t read_number(struct slice text, uint64_t min, uint64_t max)
{
    uint64_t number;
    if (num_parse_u64(text, &number) || number < min || number > max) {
        die("\"%.*s\" should be a number from %" PRIu64 " to %" PRIu64, SLICE_PRINT(text), min,
            max);
    }
    return number;
}

static void read_loads(const char *list)
{
    struct slice piece;
    for (load_count = 0; next_piece(&list, &piece); load_count++) {
        const char *cross = memchr(piece.data, 'x', piece.size);
        size_t size = cross ? (size_t)(cross - piece.data) : piece.size;
        struct slice depth = cross ? slice_sub(piece, size + 1, piece.size) : SLICE("1");
        if (load_count == LOADS_MAX) {
            die("more than %d loads", LOADS_MAX);
        }
        loads[load_count] = (struct load){
            .connections = read_number(slice_sub(piece, 0, size), 1, 1000),
            .depth = read_number(depth, 1, 1000),
        };
    }
}

static void read_durabilities(const char *list)
{
    struct slice piece;
    memset(durabilities, 0, sizeof(durabilities));
    while (next_piece(&list, &piece)) {
        size_t i = 0;
        while (i < DURABILITIES && !slice_equal(piece, slice_from_cstr(durability_names[i]))) {
            i++;
        }
        if (i == DURABILITIES) {
            die("\"%.*s\" should be never, interval or always", SLICE_PRINT(piece));
        }
        durabilities[i] = true;
    }
}

static bool is_wanted(const struct kind *kind)
{
    const char *list = only;
    struct slice piece;
    while (next_piece(&list, &piece)) {
        if (slice_equal(piece, slice_from_cstr(kind->name))) {
            return true;
        }
    }
    return false;
}

static void read_arguments(int count, char **arguments)
{
    static const struct option options[] = {
        { "sluiced", required_argument, NULL, 'p' },
        { "redis", required_argument, NULL, 'r' },
        { "folder", required_argument, NULL, 'f' },
        { "durability", required_argument, NULL, 'd' },
        { "connections", required_argument, NULL, 'c' },
        { "seconds", required_argument, NULL, 's' },
        { "repeat", required_argument, NULL, 'n' },
        { "backlog", required_argument, NULL, 'b' },
        { "only", required_argument, NULL, 'o' },
        { "memory", required_argument, NULL, 'm' },
        { "bulk", no_argument, NULL, 'B' },
        { "keep", no_argument, NULL, 'k' },
        { "puts", no_argument, NULL, 'P' },
        { NULL, 0, NULL, 0 },
    };
    read_loads("1,16,64,256,16x32");
    for (int option; (option = getopt_long(count, arguments, "", options, NULL)) != -1;) {
        struct slice value = optarg ? slice_from_cstr(optarg) : SLICE_EMPTY;
        switch (option) {
        case 'p':
            sluiced = optarg;
            break;
        case 'r':
            redis = optarg;
            break;
        case 'f':
            folder = optarg;
            break;
        case 'd':
            read_durabilities(optarg);
            break;
        case 'c':
            read_loads(optarg);
            break;
        case 's':
            seconds = read_number(value, 1, 3600);
            break;
        case 'n':
            repeat = read_number(value, 1, REPEAT_MAX);
            break;
        case 'b':
            backlog = read_number(value, 0, 100000000);
            break;
        case 'o':
            only = optarg;
            break;
        case 'm':
            memory = read_number(value, 1, 100000000);
            break;
        case 'B':
            bulk = true;
            break;
        case 'k':
            keep = true;
            break;
        case 'P':
            only_puts = true;
            break;
        default:
            exit(2);
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Runs

// Those that are wanted and installed; Sluice is the last.
struct contestant {
    const struct kind *kind;
    char program[256];
    double runs[REPEAT_MAX][FIGURES];
};

static struct contestant contestants[KINDS_MAX];
static size_t contestant_count;

static void find_contestants(void)
{
    bool is_missed = false;
    for (size_t i = 0; i < kind_count; i++) {
        struct contestant *one = &contestants[contestant_count];
        if (!is_wanted(&kinds[i]) || (bulk && kinds[i].is_http)) {
            continue;
        }
        one->kind = &kinds[i];
        if (find_program(one->kind->is_redis ? redis : sluiced, one->program,
                         sizeof(one->program))) {
            contestant_count++;
        } else if (!one->kind->is_redis) {
            die("%s is not there; `make` builds it", sluiced);
        } else if (!is_missed) {
            is_missed = true;
            printf("%s is not installed: there is nothing to compare with (Debian: apt install "
                   "redis-server)\n",
                   redis);
        }
    }
}

static void start(struct server *server, const struct contestant *one, enum durability durability)
{
    const struct server_options options = { .program = one->program,
                                            .folder = folder,
                                            .durability = durability };
    server_start(server, one->kind, &options);
    if (one->kind->prepare) {
        lives_say(server, one->kind->prepare);
    }
    if (!one->kind->is_redis && !keep) {
        lives_say(server, kind_keep_nothing);
    }
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

// Of a figure of all runs; divided by that of another's runs when there is another.
static double median(const struct contestant *one, const struct contestant *by, enum figure figure)
{
    double values[REPEAT_MAX] = { 0 };
    for (size_t i = 0; i < repeat; i++) {
        values[i] = one->runs[i][figure] / (by ? by->runs[i][figure] : 1);
    }
    qsort(values, repeat, sizeof(values[0]), compare_doubles);
    return repeat % 2 ? values[repeat / 2] : (values[repeat / 2 - 1] + values[repeat / 2]) / 2;
}

static void print_figures(const char *durability, const char *load)
{
    for (size_t i = 0; i < contestant_count; i++) {
        const struct contestant *one = &contestants[i];
        printf("%-10s %-8s %-28s %9.0f %8.2f %9.0f %9.0f %8.2f %6.0f%%\n", durability, load,
               one->kind->name, median(one, NULL, FIGURE_LIVES), median(one, NULL, FIGURE_SERVER),
               median(one, NULL, FIGURE_P50), median(one, NULL, FIGURE_P99),
               median(one, NULL, FIGURE_CLIENT), median(one, NULL, FIGURE_OTHERS));
    }
    const struct contestant *last = &contestants[contestant_count - 1];
    for (size_t i = 0; i + 1 < contestant_count && !last->kind->is_redis; i++) {
        const struct contestant *peer = &contestants[i];
        char what[64];
        (void)snprintf(what, sizeof(what), "sluice / %s", peer->kind->name);
        printf("%-10s %-8s %-28s %8.2fx %7.2fx %8.2fx %8.2fx\n", durability, load, what,
               median(last, peer, FIGURE_LIVES), median(last, peer, FIGURE_SERVER),
               median(last, peer, FIGURE_P50), median(last, peer, FIGURE_P99));
    }
    (void)fflush(stdout);
}

static void measure(enum durability durability, struct load load)
{
    char name[32];
    load.batch = bulk ? BULK : 1;
    load.last = only_puts ? OPERATION_PUT : OPERATION_COMPLETE;
    for (size_t i = 0; i < repeat; i++) {
        for (size_t j = 0; j < contestant_count; j++) {
            struct server server;
            start(&server, &contestants[j], durability);
            lives_fill(&server, backlog);
            lives_measure(&server, &load, (double)seconds, contestants[j].runs[i]);
            server_stop(&server);
        }
    }
    (void)snprintf(name, sizeof(name), "%zux%zu", load.connections, load.depth);
    print_figures(durability_names[durability], name);
}

static void measure_memory(enum durability durability)
{
    for (size_t i = 0; i < contestant_count; i++) {
        struct server server;
        start(&server, &contestants[i], durability);
        lives_fill(&server, MEMORY_FIRST);
        uint64_t before = server_memory(&server);
        lives_fill(&server, memory);
        uint64_t after = server_memory(&server);
        printf("%-10s %" PRIu64 " jobs wait: %-14s %6.0f bytes of memory a job\n",
               durability_names[durability], memory, contestants[i].kind->name,
               ((double)after - (double)before) / (double)memory);
        (void)fflush(stdout);
        server_stop(&server);
    }
}

int main(int count, char **arguments)
{
    read_arguments(count, arguments);
    find_contestants();
    if (contestant_count == 0) {
        die("nothing to measure");
    }
    if (!memory) {
        printf("%d jobs a command, %" PRIu64 " jobs wait, %" PRIu64 " runs of %" PRIu64 " s\n",
               bulk ? BULK : 1, backlog, repeat, seconds);
        printf("%-10s %-8s %-28s %9s %8s %9s %9s %8s %7s\n", "durability", "load", "server",
               "lives/s", "CPU us", "p50 us", "p99 us", "client", "others");
    }
    for (int i = 0; i < DURABILITIES; i++) {
        for (size_t j = 0; durabilities[i] && !memory && j < load_count; j++) {
            measure((enum durability)i, loads[j]);
        }
        if (durabilities[i] && memory) {
            measure_memory((enum durability)i);
        }
    }
    return 0;
}
