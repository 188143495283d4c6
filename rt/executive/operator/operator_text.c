/*
 * What came of a request, in words.
 */
#include <inttypes.h>
#include <stdio.h>

#include "rt/executive/operator/operator_private.h"

static void describe_done(const struct sim_operator *op,
                          const struct sim_operator_result_message *result, char *text, size_t size)
{
    const struct sim_operator_request *request = &result->request;
    const struct sim_spec *spec = op->sim->spec;
    switch (request->act) {
    case SIM_ACT_PAUSE:
        snprintf(text, size, "paused before frame %" PRIu64, result->frame);
        break;
    case SIM_ACT_RESUME:
        snprintf(text, size, "goes on with frame %" PRIu64, result->frame);
        break;
    case SIM_ACT_STEP:
        snprintf(text, size, "%.0f frames from frame %" PRIu64 " on, then a pause", request->value,
                 result->frame);
        break;
    case SIM_ACT_RESET:
        snprintf(text, size, "as at the start, before frame %" PRIu64, result->frame);
        break;
    case SIM_ACT_CHECKPOINT:
        snprintf(text, size, "%" PRIu64 " bytes taken before frame %" PRIu64 " in %" PRIu64 " ns",
                 op->mark.state_size, result->frame, result->copy_ns);
        break;
    case SIM_ACT_RESTORE:
        snprintf(text, size, "put back before frame %" PRIu64, result->frame);
        break;
    case SIM_ACT_FAULT:
        snprintf(text, size, "%s: %s before frame %" PRIu64, spec->faults[request->index].text,
                 request->value != 0.0 ? "begins" : "ends", result->frame);
        break;
    case SIM_ACT_STOP_ARM:
        snprintf(text, size, "the arm stops before frame %" PRIu64, result->frame);
        break;
    default:
        snprintf(text, size, "%s is %.10g %s from frame %" PRIu64 " on",
                 spec->parameters[request->index].name, request->value,
                 spec->parameters[request->index].unit, result->frame);
    }
}

static void describe_refused(const struct sim_operator *op,
                             const struct sim_operator_result_message *result, char *text,
                             size_t size)
{
    const struct sim_operator_request *request = &result->request;
    const bool tunes = request->act == SIM_ACT_TUNE;
    if (result->outcome == SIM_OUTCOME_RUN_OVER)
        snprintf(text, size, "the run ended before it was carried out");
    else if (result->outcome == SIM_OUTCOME_FILE_FAILED)
        snprintf(text, size, "%s", result->why);
    else if (result->outcome == SIM_OUTCOME_NO_ARM)
        snprintf(text, size, "there is no arm to stop in this scenario");
    else if (result->outcome == SIM_OUTCOME_NO_SUCH_INDEX &&
             (tunes || request->act == SIM_ACT_FAULT))
        snprintf(text, size, "there is no %s %" PRIu32, tunes ? "parameter" : "fault",
                 request->index);
    else if (result->outcome == SIM_OUTCOME_NO_SUCH_INDEX)
        snprintf(text, size, "nobody knows how to do that");
    else if (tunes)
        snprintf(text, size, "%.10g is not from %.10g to %.10g", request->value,
                 op->parameters[request->index].low, op->parameters[request->index].high);
    else
        snprintf(text, size, "%.10g is not a number of frames from 1 on", request->value);
}

void sim_operator_describe(const struct sim_operator *op,
                           const struct sim_operator_result_message *result, char *text,
                           size_t size)
{
    (result->outcome == SIM_OUTCOME_DONE ? describe_done : describe_refused)(op, result, text,
                                                                             size);
}
