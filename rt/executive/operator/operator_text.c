/*
 * What came of a request, in words.
 */
#include <inttypes.h>
#include <stdio.h>

#include "rt/executive/operator/acts.h"
#include "rt/executive/operator/operator_private.h"

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
        snprintf(text, size, "unknown request");
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
    (result->outcome == SIM_OUTCOME_DONE ? sim_act_describe : describe_refused)(op, result, text,
                                                                                size);
}
