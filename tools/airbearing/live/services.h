/*
 * The operator interface as services and parameters of the live server.
 */
#pragma once

#include "config/scenario.h"
#include "io/live/service.h"
#include "rt/executive/operator/operator.h"

/* Receives a line for every act, refusal and change of authority.  Context: server thread. */
struct service_listener {
    void *self;
    void (*note)(void *self, const char *text);
};

struct operator_services {
    struct sim_operator *sim_operator;
    struct service_listener listener; /* note NULL: no listener */
    const char *fault[SIM_FAULT_MAX];
    struct io_service_table interface;
};

/* The table lives as long as *services.  Context: setup. */
const struct io_service_table *services_open(struct operator_services *services,
                                             struct sim_operator *sim_operator,
                                             struct service_listener listener);
