/*
 * What disturbs a frame thread, on purpose: run inside the guest beside the program under test.
 *
 *   trouble hog PRIORITY BUSY_MS EVERY_MS   take the core now and then, as SCHED_FIFO
 *   trouble spin PRIORITY MS                not give it back for so long
 *   trouble flood                           datagrams over loopback, as fast as they go
 *   trouble write FILE                      write and rewrite 8 MiB
 *
 * All the others go on until they are killed.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
    const struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u),
                               .tv_nsec = (long)(ns % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static int become_fifo(const char *priority)
{
    const struct sched_param param = {.sched_priority = atoi(priority)};
    if (sched_setscheduler(0, SCHED_FIFO, &param) == 0)
        return 0;
    perror("trouble: SCHED_FIFO");
    return 1;
}

static int hog(const char *priority, uint64_t busy_ms, uint64_t every_ms)
{
    if (become_fifo(priority))
        return 1;
    for (uint64_t next = now_ns();; next += every_ms * 1000000u) {
        sleep_until(next);
        for (const uint64_t end = now_ns() + busy_ms * 1000000u; now_ns() < end;)
            ;
    }
}

/* On a single core nobody could end it. */
static int spin(const char *priority, uint64_t ms)
{
    if (become_fifo(priority))
        return 1;
    for (const uint64_t end = now_ns() + ms * 1000000u; now_ns() < end;)
        ;
    return 0;
}

static int flood(void)
{
    static const char bytes[512];
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof to;
    const int in = socket(AF_INET, SOCK_DGRAM, 0), out = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(in, (struct sockaddr *)&to, sizeof to) ||
        getsockname(in, (struct sockaddr *)&to, &size)) {
        perror("trouble: flood");
        return 1;
    }
    for (;;) {
        char got[sizeof bytes];
        (void)sendto(out, bytes, sizeof bytes, 0, (struct sockaddr *)&to, sizeof to);
        (void)recv(in, got, sizeof got, MSG_DONTWAIT);
    }
}

static int write_file(const char *path)
{
    enum { BLOCK = 64 << 10, BLOCKS = 128 };
    static const char block[BLOCK];
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (unsigned i = 0;; i++) {
        if (fd < 0 || pwrite(fd, block, BLOCK, (off_t)(i % BLOCKS) * BLOCK) != BLOCK) {
            perror("trouble: write");
            return 1;
        }
    }
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    if (strcmp(kind, "hog") == 0 && argc == 5)
        return hog(argv[2], strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
    if (strcmp(kind, "spin") == 0 && argc == 4)
        return spin(argv[2], strtoull(argv[3], NULL, 10));
    if (strcmp(kind, "flood") == 0 && argc == 2)
        return flood();
    if (strcmp(kind, "write") == 0 && argc == 3)
        return write_file(argv[2]);
    fprintf(
        stderr,
        "usage: trouble hog PRIORITY BUSY_MS EVERY_MS | spin PRIORITY MS | flood | write FILE\n");
    return 64;
}
