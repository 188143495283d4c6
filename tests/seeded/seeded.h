/*
 * The program under one seeded scheduler: what the parts of the simulation share.
 *
 *      the shipped program, main() and all
 *        |  pthread_*, sem_*, clock_*, nanosleep   |  open, write, fsync, rename ...  |  lws_*
 *      threads.c                                 disk.c, uring.c                    network.c
 *        |                                         |                                  |
 *      scheduler.c: one fiber at a time, a clock of its own, one source of random numbers
 *
 * Only leaf calls are replaced, when the program is linked (-Wl,--wrap=NAME).  Whatever happens is
 * a function of the seed.  Calls of the simulation itself go to __real_NAME.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- scheduler.c ----------------------------------------------------------------------------- */

enum {
    SEEDED_MS = 1000000,
    SEEDED_US = 1000,
    SEEDED_TEXT_MAX = 200,
    SEEDED_TRACE_MAX = 1 << 14,
    SEEDED_PRINT_FD = 100
};
#define SEEDED_S UINT64_C(1000000000)

struct seeded_fiber;

extern uint64_t seeded_now_ns;

/* A new world; what is reported goes into the shared memory below. */
void seeded_begin(uint64_t seed, bool prints);
/* Run until the fiber that was spawned first returns or seeded_end() is called. */
void seeded_run(void);
/* The program is over, with this exit code.  Context: a fiber, which does not go on. */
_Noreturn void seeded_end(int code);
extern int seeded_exit_code;

uint64_t seeded_random(void);
uint64_t seeded_below(uint64_t bound);           /* 0 to bound - 1 */
uint64_t seeded_between(uint64_t a, uint64_t b); /* both can come out */
bool seeded_chance(unsigned one_in);             /* never when 0 */

struct seeded_fiber *seeded_spawn(void *(*run)(void *), void *argument);
struct seeded_fiber *seeded_self(void); /* NULL: an event of the simulation */
bool seeded_is(const char *name);       /* is this the thread of that name? */
void seeded_name(const char *name);     /* of the running fiber */
bool seeded_is_over(const struct seeded_fiber *fiber);
void seeded_stack(void **stack, size_t *size); /* of the running fiber */

/* The running fiber goes on then; others run meanwhile. */
void seeded_sleep(uint64_t ns);
/* ... until somebody wakes who waits there, or the time has come (UINT64_MAX: never). */
void seeded_wait(const void *place, uint64_t until_ns);
void seeded_wake(const void *place);
/* A place where another fiber may go first. */
void seeded_point(void);

/* call(self) between two turns of fibers. */
void seeded_at(uint64_t at_ns, void (*call)(void *self), void *self);

/* One line of what happened, with time and thread. */
void seeded_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* An invariant does not hold: the simulation ends. */
_Noreturn void seeded_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What a child leaves to its parent, whatever becomes of it. */
struct seeded_shared {
    char verdict[1024]; /* empty: all is well */
    uint64_t digest;    /* of all lines */
    uint64_t count;     /* lines written so far; the newest SEEDED_TRACE_MAX are kept */
    char trace[SEEDED_TRACE_MAX][SEEDED_TEXT_MAX];
    /* how much was tried, summed over all seeds */
    uint64_t calls, done, refused, in_doubt, safes, restores, checkpoints, crashes, replays, faults;
    uint64_t frames, clients;
};
extern struct seeded_shared *seeded_shared;

void *seeded_allocate(size_t size); /* zeroed, never fails, never freed */

/* ---- weather.c: what goes wrong in this seed, and when --------------------------------------- */

struct seeded_weather {
    uint64_t quiet_ns;               /* from then on nothing goes wrong any more */
    uint64_t stop_ns, stop_until_ns; /* the disk stands still */
    uint64_t sync_ns_max;            /* of one fsync */
    unsigned disk_errors;            /* one in so many calls; 0: none */
    unsigned send_errors, accept_errors;
    unsigned allocation_errors;
    unsigned late; /* one in so many wakes of a thread is late */
    uint64_t late_ns_max;
    bool uring; /* the kernel has io_uring */
};
extern struct seeded_weather seeded_weather;

/* Does this call fail? */
bool seeded_breaks(unsigned one_in);

/* ---- disk.c ---------------------------------------------------------------------------------- */

/* What would be left of a file if the machine lost its power now; NULL: nothing.  The caller owns
 * nothing: it is good until the next call. */
const unsigned char *disk_after_crash(const char *name, size_t *size);
/* As the program sees it. */
const unsigned char *disk_now(const char *name, size_t *size);
/* How many names were there so far, and errors of calls on one of them. */
uint64_t disk_errors(const char *name);
int disk_write(int fd, const void *bytes, size_t size, uint64_t at); /* bytes or -errno */
bool disk_has(int fd);

/* ---- network.c ------------------------------------------------------------------------------- */

struct client {
    int number;
    bool is_operator;
    bool stalls; /* it does not read */
    struct connection *connection;
    bool connected, gone;
    uint64_t came_ns;
};

/* Context: events. */
void network_connect(struct client *client);
void network_send(struct client *client, const void *bytes, size_t size, bool binary);
void network_leave(struct client *client);
void network_read_on(struct client *client); /* it reads again */

/* ---- clients.c ------------------------------------------------------------------------------- */

enum call_state { CALL_OPEN, CALL_DONE, CALL_REFUSED, CALL_IN_DOUBT };

/* One call of a service and what became of it. */
struct call {
    struct client *client;
    uint32_t id;
    const char *service; /* "/pause" */
    char path[64];
    enum call_state state;
    bool was_read; /* by the server */
    uint64_t sent_ns;
    uint64_t frame; /* of the answer */
    bool matched;   /* what was done has been seen */
};

/* Context: events. */
void clients_call(struct client *client, const char *service, const char *json, const char *path);
int clients_calls(struct call **calls);

/* The server reads this message now. */
void clients_read_by_server(struct client *client, const void *bytes, size_t size);
/* It has handed an answer to the network. */
void clients_hear(struct client *client, const void *bytes, size_t size, bool binary);
void clients_left(struct client *client);

/* ---- workload.c ------------------------------------------------------------------------------ */

enum { SCRIPT_MAX = 16 };

/* What the command line asks for, besides. */
struct scripted {
    const char *what; /* "restore" */
    char path[32];
};
extern struct scripted workload_script[SCRIPT_MAX];
extern int workload_script_count;
extern uint64_t workload_signal_ns; /* when SIGTERM comes; 0: never */

/* Draws the weather, the clients and the command line of this seed; how many words it has. */
int workload_draw(const char *scenario, char **argv);
/* The first frame begins: those who come, come now. */
void workload_begin(void);

/* ---- watch.c: what the frame thread does ----------------------------------------------------- */

/* An act of the operator as the frame carried it out. */
struct act {
    int act; /* enum sim_act */
    uint64_t frame, hash;
    bool matched;
    const char *path; /* of the command line's */
};
int watch_acts(struct act **acts);
uint64_t watch_frames(void);
bool watch_is_over(void); /* the frame loop has ended */

/* ---- invariants.c ---------------------------------------------------------------------------- */

/* After every turn of a fiber. */
void invariants_look(void);
/* The frame thread has carried out what it wanted to between two frames, and begins the next one;
 * else it waits for another release of a pause. */
void invariants_boundary(bool is_frame);
/* It has carried out an act. */
void invariants_act(bool is_safe);
/* An operator's /safe was read by the server. */
void invariants_safe_read(const struct call *call);
/* A call was answered. */
void invariants_answer(struct call *call, const char *text);
/* A file has this name now. */
void invariants_file(const char *name);
/* The program is over. */
void invariants_end(const char *out, const char *errors);
/* replay of what a crash of the machine left of the log */
void invariants_replay(void);
