#include "tools/airbearing/replay/replay_compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/scenario.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/replay/replay_divergence.h"
#include "tools/airbearing/replay/replay_input.h"
#include "tools/airbearing/replay/replay_load.h"

/* 0 to continue; the exit code when the frame differs. */
static int compare_frame(struct replay *replay, const struct sim_record_frame *recorded)
{
    replay->compared++;
    if (replay->sim->scratch.hash == recorded->state_hash)
        return 0;
    printf("replay: frame %" PRIu64 " differs: recorded hash %016" PRIx64 ", replayed %016" PRIx64
           "\n",
           recorded->frame, recorded->state_hash, replay->sim->scratch.hash);
    replay_print_divergence(replay, recorded->frame);
    return EXIT_VERDICT_NO;
}

/* The frame number of a record decides how many frames are run before the next comparison, so it
 * must be one that a run of this scenario can have written.  Records are lost while a disk does not
 * answer, but not for ten minutes. */
static int check_record(const struct replay *replay, uint64_t log_ns)
{
    const double gap_seconds_max = 600.0;
    const struct cfg_scenario *scenario = replay->scenario;
    const uint64_t frame = replay->pending.frame;
    const double total = round(scenario->spec.seconds * scenario->spec.rate_hz);
    const double gap_max = gap_seconds_max * scenario->spec.rate_hz;
    char what[192];
    if (frame < replay->next_frame)
        return replay_refuse(replay, "the /frame records are not in order");
    if ((double)frame >= total)
        snprintf(what, sizeof what,
                 "the log has a record of frame %" PRIu64 ", and the run had %.0f frames", frame,
                 total);
    else if (log_ns != frame * scenario->spec.period_ns)
        snprintf(what, sizeof what,
                 "the record of frame %" PRIu64 " has the time %" PRIu64
                 " ns, which is another frame's",
                 frame, log_ns);
    else if ((double)(frame - replay->next_frame) > gap_max)
        snprintf(what, sizeof what,
                 "between frame %" PRIu64 " and frame %" PRIu64
                 " nothing is recorded; the gap is too long to be replayed without a comparison",
                 replay->next_frame, frame);
    else
        return 0;
    return replay_refuse(replay, what);
}

/* Read the next /frame record into pending, or find the end.  0, or the exit code. */
static int read_record(struct replay *replay, struct io_mcap_reader *reader)
{
    struct io_mcap_message message;
    char error[256];
    int more;
    while ((more = io_mcap_next(reader, &message, error)) == 1) {
        if (strcmp(message.topic, "/frame") != 0)
            continue;
        if (message.size < REPLAY_CDR_HEADER + SIM_RECORD_FRAME_SIZE)
            return replay_refuse(replay, "a /frame record is too short");
        memcpy(&replay->pending, message.data + REPLAY_CDR_HEADER, SIM_RECORD_FRAME_SIZE);
        replay->has_pending = true;
        return check_record(replay, message.log_time_ns);
    }
    replay->ended = true;
    if (more == 0)
        return 0;
    fprintf(stderr, "%s\n", error);
    return EXIT_BAD_INPUT;
}

int replay_run_until(struct replay *replay, struct io_mcap_reader *reader, uint64_t until)
{
    while (replay->next_frame < until) {
        if (!replay->has_pending) {
            const int code = read_record(replay, reader);
            if (code || replay->ended)
                return code;
        }
        replay_run_frame(replay);
        if (replay->next_frame <= replay->pending.frame)
            continue;
        replay->has_pending = false;
        const int code = compare_frame(replay, &replay->pending);
        if (code)
            return code;
    }
    return 0;
}

int replay_print_identical(const struct replay *replay, struct io_mcap_reader *reader)
{
    if (replay->compared == 0)
        return replay_refuse(replay, "the log holds no /frame record");
    printf("replay: %" PRIu64 " of %" PRIu64 " frames compared, all identical; hash %016" PRIx64
           "%s\n",
           replay->compared, replay->next_frame, replay->sim->scratch.hash,
           !replay->ended             ? "; stopped there"
           : io_mcap_complete(reader) ? ""
                                      : "; the log was cut off after that");
    return EXIT_OK;
}
