/*
 * The wait of a lockstep frame for the reply of a board.
 */
#include "io/link/link_private.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "io/link/wait_budget.h"

enum {
    SPIN_NS = 200000, /* an await in inline mode polls for this long before it sleeps */
    CLOCK_MISSES = 8, /* replies with old times in a row: the board has not our clock */
};

void io_link_wake_waiter(struct link *link)
{
    (void)syscall(SYS_futex, &link->arrived, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void io_links_interrupt(struct io_links *links)
{
    atomic_store(&links->interrupted, true);
    for (int i = 0; i < links->link_count; i++)
        io_link_wake_waiter(&links->link[i]);
}

/* Is the reply there? */

/* The sequence is published a moment after the command, so the latch may be ahead of it. */
static bool has_new_command(const struct link *link, uint32_t arrived)
{
    return (int32_t)(arrived - link->latched) > 0;
}

static bool uses_board_clock(const struct link *link)
{
    return !link->clock_distrusted && atomic_load(&link->on_sim_time);
}

static bool is_answered(const struct link *link, uint64_t sim_us)
{
    const uint32_t arrived = atomic_load(&link->arrived);
    if (!link->awaits_reply || !link->traits->stamps_commands)
        return has_new_command(link, arrived);
    if (uses_board_clock(link))
        return atomic_load(&link->replied_us) >= sim_us;
    return (int32_t)(arrived - link->needed) >= 0;
}

/* The wait. */

static struct timespec to_timespec(uint64_t ns)
{
    return (struct timespec){
        .tv_sec = (time_t)(ns / 1000000000u),
        .tv_nsec = (long)(ns % 1000000000u),
    };
}

void io_links_set_await_hook(struct io_links *links, struct io_await_hook hook)
{
    links->hook = hook;
}

static void call_await_hook(const struct io_links *links)
{
    if (links->hook.hook)
        links->hook.hook(links->hook.self);
}

/* True when the wait has to end.  The time that was waited adds up until a command comes. */
static bool budget_is_spent(const struct io_links *links, struct link *link,
                            struct io_wait_budget *budget, uint64_t now_ns)
{
    const uint32_t arrived = atomic_load(&link->arrived);
    const uint64_t before_ns = io_link_waited_ns(link);
    const uint64_t spent_ns = io_wait_budget_spend(budget, now_ns);
    atomic_store_explicit(&link->waited_ns, before_ns + spent_ns, memory_order_relaxed);
    atomic_store_explicit(&link->waited_at, arrived, memory_order_relaxed);
    return budget->left_ns == 0 || atomic_load(&links->interrupted);
}

static bool await_thread(const struct io_links *links, struct link *link, uint64_t sim_us,
                         struct io_wait_budget *budget)
{
    uint32_t arrived;
    atomic_store(&link->awaited, true);
    while (arrived = atomic_load(&link->arrived), !is_answered(link, sim_us)) {
        call_await_hook(links);
        const struct timespec wake = to_timespec(io_wait_budget_wake_ns(budget));
        (void)syscall(SYS_futex, &link->arrived, FUTEX_WAIT_BITSET_PRIVATE, arrived, &wake, NULL,
                      FUTEX_BITSET_MATCH_ANY);
        if (budget_is_spent(links, link, budget, rt_now_ns()))
            break; /* woken, but not by a reply */
    }
    atomic_store(&link->awaited, false);
    return is_answered(link, sim_us);
}

/* Sleep until a packet may have come, but not beyond the next tick, which may accept a peer. */
static void sleep_until_readable(const struct link *link, uint64_t limit_ns)
{
    enum { POLL_PERIOD_NS = 100000 };
    struct io_bus_watch on[IO_BUS_WATCH_MAX];
    const int count = io_bus_watches(&link->bus, on);
    struct pollfd watch[IO_BUS_WATCH_MAX] = {0};
    for (int i = 0; i < count; i++)
        watch[i] = (struct pollfd){.fd = on[i].fd, .events = POLLIN};
    const uint64_t most_ns =
        count > 0 && !io_bus_needs_polling(&link->bus) ? IO_LINK_TICK_NS : POLL_PERIOD_NS;
    const struct timespec left = to_timespec(limit_ns < most_ns ? limit_ns : most_ns);
    (void)ppoll(watch, (nfds_t)count, &left, NULL);
}

/* A wake-up takes longer than everything else on the wire, so the wait begins with polling, where
 * the thread has a core of its own. */
static bool await_inline(struct io_links *links, struct link *link, uint64_t sim_us,
                         struct io_wait_budget *budget)
{
    uint64_t now_ns = rt_now_ns();
    const uint64_t sleep_ns = links->spins ? now_ns + SPIN_NS : now_ns;
    for (;; now_ns = rt_now_ns()) {
        io_links_poll_at(links, now_ns, 0);
        if (is_answered(link, sim_us))
            return true;
        if (budget_is_spent(links, link, budget, now_ns))
            return false;
        call_await_hook(links);
        if (now_ns >= sleep_ns)
            sleep_until_readable(link, elapsed_ns(now_ns, io_wait_budget_wake_ns(budget)));
    }
}

/* A clock may look like ours by accident.  One that stays behind while replies come is not ours. */
static void note_missed_reply(struct link *link)
{
    const bool replies_came = atomic_load(&link->arrived) != link->sequence_at_send;
    link->misses++;
    link->stale = replies_came ? link->stale + 1 : 0;
    if (uses_board_clock(link) && link->stale >= CLOCK_MISSES)
        link->clock_distrusted = true;
}

bool io_link_await(struct io_links *links, int link, uint64_t sim_us, uint64_t limit_ns)
{
    struct link *from = link_at(links, link);
    struct io_wait_budget budget;
    io_wait_budget_begin(&budget, limit_ns, rt_now_ns());
    bool answered = is_answered(from, sim_us);
    if (!answered && links->mode == IO_LINK_INLINE)
        answered = await_inline(links, from, sim_us, &budget);
    else if (!answered)
        answered = await_thread(links, from, sim_us, &budget);
    if (answered)
        from->misses = from->stale = 0;
    else
        note_missed_reply(from);
    return answered;
}
