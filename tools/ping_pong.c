/*
 * A bare ping-pong over UDP on loopback: two threads, each on a core of its own, that spin on
 * recv() and answer at once.  No stamps, no parser, no thread in between: the cost of this
 * machine's sockets, with which the wire parts of the loop latency are compared.
 *
 *      ping_pong [TRIPS [CPU CPU [PRIORITY]]]
 *
 * prints the median and the shortest round trip in nanoseconds.  The datagrams are as long as
 * HIL_SENSOR and HIL_ACTUATOR_CONTROLS.
 */
#include <arpa/inet.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rt/check.h"
#include "rt/clock.h"
#include "rt/thread.h"

enum { PING_SIZE = 77, PONG_SIZE = 93, ROOM = 128, TRIPS = 2000, WARM_UP = 100 };
static const uint64_t give_up_ns = 2000000000;

struct player {
    int fd;
    int trips;
    atomic_bool stop;
    uint64_t *trip_ns;
};

/* False: the far end has ended, or a stop is requested. */
static bool spin(const struct player *player, char bytes[ROOM])
{
    const uint64_t limit_ns = rt_now_ns() + give_up_ns;
    while (recv(player->fd, bytes, ROOM, MSG_DONTWAIT) < 0)
        if (atomic_load_explicit(&player->stop, memory_order_relaxed) || rt_now_ns() > limit_ns)
            return false;
    return true;
}

static void pong(void *self)
{
    const struct player *player = self;
    char bytes[ROOM] = {0};
    while (spin(player, bytes))
        (void)send(player->fd, bytes, PONG_SIZE, MSG_DONTWAIT);
}

static void ping(void *self)
{
    struct player *player = self;
    char bytes[ROOM] = {0};
    int count = 0;
    for (int i = -WARM_UP; i < player->trips; i++) {
        const uint64_t begin_ns = rt_now_ns();
        (void)send(player->fd, bytes, PING_SIZE, MSG_DONTWAIT);
        if (!spin(player, bytes))
            break;
        if (i >= 0)
            player->trip_ns[count++] = rt_now_ns() - begin_ns;
    }
    player->trips = count;
}

static struct sockaddr_in bind_any(int fd)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof name;
    RT_CHECK(bind(fd, (struct sockaddr *)&name, sizeof name) == 0);
    RT_CHECK(getsockname(fd, (struct sockaddr *)&name, &size) == 0);
    return name;
}

static void introduce(struct player *a, struct player *b)
{
    a->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    b->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in of_a = bind_any(a->fd), of_b = bind_any(b->fd);
    RT_CHECK(connect(a->fd, (const struct sockaddr *)&of_b, sizeof of_b) == 0);
    RT_CHECK(connect(b->fd, (const struct sockaddr *)&of_a, sizeof of_a) == 0);
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static struct rt_thread_spec thread_spec(const char *name, int cpu, int priority)
{
    return (struct rt_thread_spec){.name = name,
                                   .policy = priority > 0 ? SCHED_FIFO : SCHED_OTHER,
                                   .priority = priority,
                                   .cpu = cpu};
}

int main(int argc, char **argv)
{
    static struct player a, b;
    const int trips = argc > 1 ? atoi(argv[1]) : TRIPS;
    const int cpu_a = argc > 3 ? atoi(argv[2]) : -1, cpu_b = argc > 3 ? atoi(argv[3]) : -1;
    const int priority = argc > 4 ? atoi(argv[4]) : 0;
    if (trips < 1 || trips > 1000000 || priority < 0 || priority > 99) {
        fputs("usage: ping_pong [TRIPS [CPU CPU [PRIORITY]]]\n", stderr);
        return 64;
    }
    a.trips = trips;
    a.trip_ns = calloc((size_t)trips, sizeof *a.trip_ns);
    RT_CHECK(a.trip_ns);
    introduce(&a, &b);

    const struct rt_thread_spec seat_a = thread_spec("ping", cpu_a, priority);
    const struct rt_thread_spec seat_b = thread_spec("pong", cpu_b, 0);
    struct rt_thread thread_a, thread_b;
    RT_CHECK(rt_thread_start(&thread_b, &seat_b, pong, &b) == 0);
    RT_CHECK(rt_thread_start(&thread_a, &seat_a, ping, &a) == 0);
    rt_thread_join(&thread_a);
    atomic_store(&b.stop, true);
    rt_thread_join(&thread_b);

    if (a.trips == 0) {
        fputs("ping_pong: no answer came back\n", stderr);
        return 1;
    }
    qsort(a.trip_ns, (size_t)a.trips, sizeof *a.trip_ns, by_size);
    printf("%llu %llu\n", (unsigned long long)a.trip_ns[a.trips / 2],
           (unsigned long long)a.trip_ns[0]);
    free(a.trip_ns);
    return 0;
}
