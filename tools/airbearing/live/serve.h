/*
 * airbearing run --serve: publishes the run live to Foxglove, Lichtblick, PlotJuggler,
 * `airbearing top` and browsers.
 */
#pragma once

#include "config/scenario.h"
#include "io/live/server.h"
#include "rt/executive/output/records.h"

struct serve_options {
    const char *at; /* [ADDRESS:]PORT; NULL: not served */
    const char *token, *token_file;
    const char *operator_token, *operator_token_file; /* neither: a random one is used */
    const char *certificate, *key;
    const char *origins[IO_SERVER_ORIGIN_MAX];
    int origin_count;
};

/* What is served.  Everything but the layout must outlive the server. */
struct serve_spec {
    const struct cfg_scenario *scenario;
    const struct sim_record_layout *layout;
    struct io_telemetry *telemetry;          /* not started yet */
    const struct io_service_table *services; /* NULL: none */
    int hand; /* sending end of the link on bus cockpit, which the server takes over; -1: none */
    int cpu;
};

struct serve;
struct sim_predictor;

/* Check the address; 0, or the exit code with a line on stderr.  Context: setup. */
int serve_check(const struct serve_options *options);
/* Bind and start; 0, or the exit code with a line on stderr.  *serve stays NULL without an
 * address. Context: setup. */
int serve_open(const struct serve_options *options, const struct serve_spec *spec,
               struct serve **serve);
/* Publish the predictions, too; the predictor outlives the telemetry.  Context: setup, after
 * serve_open() and before the telemetry is started. */
void serve_show_prediction(struct serve *serve, struct sim_predictor *predictor);
/* Publish a note of the operator's services in the viewers' log.  Context: server thread. */
void serve_log_note(struct serve *serve, const char *text);
/* Publish an error of the run there.  serve may be NULL.  Context: the main thread, after
 * serve_open(). */
void serve_log_error(struct serve *serve, const char *text);
/* Publish the verdict, as the last line of the viewers' log.  serve may be NULL.  Context: after
 * the run. */
void serve_verdict(struct serve *serve, const char *text, bool ok);
/* Publish the run status when it has changed; the faults are those of sim_take_fault_flags().
 * serve may be NULL.  Context: the housekeeping thread, after serve_open(). */
void serve_run_status(struct serve *serve, bool paused, uint32_t on, uint32_t struck);
/* Close the server, after the telemetry has ended.  serve may be NULL.  Context: after the run. */
void serve_close(struct serve *serve, struct io_server_counts *counts);
