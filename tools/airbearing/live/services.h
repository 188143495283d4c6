/*
 * What viewers may ask of the operator's desk, as the live server wants it told.
 */
#pragma once

#include "config/scenario.h"
#include "io/live/service.h"
#include "rt/executive/operator/operator.h"

/* Hears what was done, what was not and why, and who has authority.  Context: server thread. */
struct service_listener {
    void *self;
    void (*note)(void *self, const char *text);
};

struct service_desk {
    struct sim_operator *panel;
    struct service_listener listener; /* note NULL: nobody listens */
    const char *fault[SIM_FAULT_MAX];
    struct io_service_table interface;
};

/* The seam lives as long as the desk.  Context: setup. */
const struct io_service_table *services_open(struct service_desk *desk, struct sim_operator *panel,
                                             struct service_listener ear);
