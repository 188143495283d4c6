/*
 * airbearing run --serve: the run, live, for Foxglove, Lichtblick, PlotJuggler, `airbearing top`
 * and a browser.
 */
#pragma once

#include "config/scenario.h"
#include "io/telemetry/server.h"
#include "tools/airbearing/record.h"

struct serve_options {
    const char *at; /* [ADDRESS:]PORT; NULL: not asked for */
    const char *token, *token_file;
    const char *certificate, *key;
    const char *origins[IO_SERVER_ORIGIN_MAX];
    int origin_count;
};

struct serve;

/* Is the address one that may be served?  0, or the exit code with one line said.
 * Context: setup. */
int serve_check(const struct serve_options *options);
/* Bind and start.  0, or the exit code with one line said; *serve stays NULL when nobody asked.
 * Scenario, telemetry and desk (may be NULL) must outlive it; the telemetry is not started yet.
 * Context: setup. */
int serve_open(const struct serve_options *options, const struct cfg_scenario *scenario,
               const struct record_layout *layout, struct io_telemetry *telemetry,
               const struct io_desk *desk, int cpu, struct serve **serve);
/* A line in the viewers' log, said by somebody at the desk.  Context: server thread. */
void serve_note(struct serve *serve, const char *text);
/* The telemetry has ended.  NULL is fine.  Context: after the run. */
void serve_close(struct serve *serve, struct io_server_counts *counts);
