/*
 * airbearing run --serve: the run, live, for Foxglove, Lichtblick, PlotJuggler, `airbearing top`
 * and a browser.
 */
#pragma once

#include "config/scenario.h"
#include "io/live/server.h"
#include "rt/executive/output/records.h"

struct serve_options {
    const char *at; /* [ADDRESS:]PORT; NULL: not asked for */
    const char *token, *token_file;
    const char *operator_token, *operator_token_file; /* neither: one is made up */
    const char *certificate, *key;
    const char *origins[IO_SERVER_ORIGIN_MAX];
    int origin_count;
};

/* What is served.  All of it must outlive the server, but for the layout. */
struct serve_spec {
    const struct cfg_scenario *scenario;
    const struct sim_record_layout *layout;
    struct io_telemetry *telemetry;          /* not started yet */
    const struct io_service_table *services; /* NULL: none */
    int hand; /* sending end of the link on bus cockpit, the server's from here on; -1: none */
    int cpu;
};

struct serve;
struct sim_predictor;

/* Is the address one that may be served?  0, or the exit code with one line said.
 * Context: setup. */
int serve_check(const struct serve_options *options);
/* Bind and start.  0, or the exit code with one line said; *serve stays NULL when nobody asked.
 * Context: setup. */
int serve_open(const struct serve_options *options, const struct serve_spec *spec,
               struct serve **serve);
/* Show where this ghost is, too; it outlives the telemetry.  Context: setup, after serve_open() and
 * before the telemetry is started. */
void serve_show_prediction(struct serve *serve, struct sim_predictor *predictor);
/* A line in the viewers' log, said by somebody at the desk.  Context: server thread. */
void serve_log_note(struct serve *serve, const char *text);
/* The same of what went wrong, said by the run itself.  NULL is fine.  Context: the thread that
 * keeps house, after serve_open(). */
void serve_log_error(struct serve *serve, const char *text);
/* How the run came out, the last thing that viewers are told.  NULL is fine.  Context: after the
 * run. */
void serve_verdict(struct serve *serve, const char *text, bool ok);
/* How the operator's desk stands, as sim_take_fault_flags() has it; viewers are told what is new.
 * NULL is fine.  Context: the thread that keeps house, after serve_open(). */
void serve_run_status(struct serve *serve, bool paused, uint32_t on, uint32_t struck);
/* The telemetry has ended.  NULL is fine.  Context: after the run. */
void serve_close(struct serve *serve, struct io_server_counts *counts);
