/* A clock that a test moves, for a server that is started with this library in LD_PRELOAD. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Seconds, in a file that the test writes. */
static volatile int64_t *offset_s;

__attribute__((constructor)) static void open_offset(void) {
    int file = open(getenv("CLOCK_OFFSET"), O_RDONLY);
    offset_s = mmap(NULL, sizeof *offset_s, PROT_READ, MAP_SHARED, file, 0);
    if (offset_s == MAP_FAILED) abort();
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec true_now;
    (void)zone;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &true_now);
    now->tv_sec = true_now.tv_sec + *offset_s;
    now->tv_usec = true_now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *told) {
    struct timeval now;
    gettimeofday(&now, NULL);
    if (told) *told = now.tv_sec;
    return now.tv_sec;
}
