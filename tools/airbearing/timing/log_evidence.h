/*
 * The timing evidence of a log, extracted and checked: an impossible record makes the log
 * unreadable, a missing one is counted.
 *
 * Tested by tests/scenario/timing/test_timing_synthetic.py.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/log/mcap.h"
#include "rt/executive/output/records.h"
#include "rt/frame.h"

enum { EVIDENCE_ERROR_MAX = 256, EVIDENCE_NAME_MAX = 64, EVIDENCE_DRIVE_MAX = 16 };

struct json_t;

struct evidence_point {
    uint64_t frame;
    double value; /* the command after the drive */
};

/* An actuator whose command and motion are both in the log: the control that drives it. */
struct evidence_drive {
    char name[EVIDENCE_NAME_MAX];
    int link, control;
    struct evidence_point *point;
    size_t count, room;
};

struct evidence {
    /* from the log's metadata; "" where it has none */
    char version[32], scenario[256], pace_name[16], overrun[16], binary_hash[32], isa[16];
    uint64_t period_ns;
    enum rt_pace pace;
    double lock_ppm; /* limit of the phase lock; 0: there was none */
    bool commits_early, require_realtime;

    struct sim_record_frame *frame;
    size_t frame_count, frame_room;
    uint64_t lost; /* frames between the first and the last that have no record */

    int job_count; /* 0: the log has no /job */
    char job_name[RT_JOB_MAX][EVIDENCE_NAME_MAX];
    struct sim_record_job *job; /* by frame; fewer where the recorder lost some */
    size_t job_records, job_room;

    struct rt_flight_recorder_row *row; /* of the flight recorder, by frame: only around overruns */
    size_t row_count, row_room;

    struct sim_record_latency *latency;
    size_t latency_count, latency_room;
    struct sim_record_clock *clock;
    size_t clock_count, clock_room;
    struct sim_record_input *input; /* commands only */
    size_t input_count, input_room;

    struct evidence_drive drive[EVIDENCE_DRIVE_MAX];
    int drive_count;

    bool complete;          /* the log has its end */
    struct json_t *report;  /* of the run; NULL: the log was cut off before it */
    struct json_t *machine; /* the doctor's findings; NULL: not in this log */
    struct json_t *files;   /* hashes of the files that the scenario names, by name; may be NULL */
};

/* 0; -1 with one line in error, which does not name the file; -2 with one of the reader's, which
 * does. The drives must be set before.  Context: any. */
int evidence_read(struct evidence *evidence, struct io_mcap_reader *reader,
                  char error[EVIDENCE_ERROR_MAX]);
/* The actuators of the scenario in the log; none when it cannot be compiled. */
void evidence_name_drives(struct evidence *evidence, struct io_mcap_reader *reader);
/* A printable name: other characters become a question mark.  NULL is "". */
void evidence_copy_text(char *to, size_t room, const char *from);
/* Index of this frame, or of the first one after it; frame_count when there is none. */
size_t evidence_find(const struct evidence *evidence, uint64_t frame);
/* The jobs of this frame, or NULL. */
const struct sim_record_job *evidence_jobs_of(const struct evidence *evidence, uint64_t frame);
/* The row of the flight recorder of this frame, or NULL. */
const struct rt_flight_recorder_row *evidence_row_of(const struct evidence *evidence,
                                                     uint64_t frame);
void evidence_free(struct evidence *evidence);
