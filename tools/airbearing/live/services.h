/*
 * What viewers may ask of the operator's desk, as the live server wants it told.
 */
#pragma once

#include "config/scenario.h"
#include "io/live/service.h"
#include "rt/executive/operator/operator.h"

/* Hears what was done, what was not and why, and who has authority.  Context: server thread. */
struct desk_ear {
    void *self;
    void (*note)(void *self, const char *text);
};

struct desk {
    struct operator_desk *panel;
    struct desk_ear ear; /* note NULL: nobody listens */
    const char *fault[CFG_FAULT_MAX];
    struct io_service_table seam;
};

/* The seam lives as long as the desk.  Context: setup. */
const struct io_service_table *desk_open(struct desk *desk, struct operator_desk *panel,
                                         struct desk_ear ear);
