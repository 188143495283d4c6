/*
 * Inputs of a live run: the newest command of each link, or the fact that a link was lost.  Both
 * pass the delay line of the link, which may be long on purpose:
 *
 *      link --newest--> command or loss --> delay line (link's delay, fault's delay) --> the frame
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "io/link/sync_pulse.h"
#include "rt/executive/sim.h"
#include "rt/phase_lock.h"

enum { SIM_LINK_OUTAGE_MAX = 16 };

/* From the frame that learnt of a loss to the one that heard the link again. */
struct sim_link_outage {
    uint64_t first_frame;
    uint64_t last_frame; /* UINT64_MAX: it was not heard again */
};

/* The outages of a link: all are counted, the first are kept. */
struct sim_link_outages {
    uint32_t count, returns;
    struct sim_link_outage kept[SIM_LINK_OUTAGE_MAX];
};

struct sim_live_input {
    struct io_links *links;
    struct io_sync_pulse *pulser;     /* NULL: no pulses */
    struct rt_phase_lock *phase_lock; /* NULL: no clock is followed */
    atomic_bool *stop;                /* set when a link with on_loss: stop is lost */
    atomic_bool link_lost;            /* that is why */
    uint64_t begin_ns;              /* first frame; a link that never commands is lost from there */
    uint32_t first[IO_LINK_MAX];    /* sequence of the first command that a frame heard */
    uint32_t resets[IO_LINK_MAX];   /* of the board, by its newest command */
    bool restart_owed[IO_LINK_MAX]; /* a restart was lost; the next command brings it */
    struct sim_link_outages outages[IO_LINK_MAX];
    struct io_trace unseen[IO_LINK_MAX]; /* oldest command that nothing has looked at yet */
};

struct sim_input sim_live_input_interface(struct sim_live_input *source);
