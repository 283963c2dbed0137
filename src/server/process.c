// SPDX-License-Identifier: MIT
#include "server/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

uint64_t process_resident_bytes(void)
{
    uint64_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file) {
        char line[128] = "";
        if (fgets(line, sizeof(line), file)) {
            const char *second = strchr(line, ' ');
            pages = second ? strtoull(second, NULL, 10) : 0;
        }
        (void)fclose(file);
    }
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

int64_t process_cpu_us(void)
{
    struct rusage usage = { 0 };
    (void)getrusage(RUSAGE_SELF, &usage);
    return (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
           usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}
