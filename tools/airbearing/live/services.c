#include "tools/airbearing/live/services.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct io_foxglove_service service_list[] = {
    {"/pause", "std_srvs/srv/Trigger", IO_FOXGLOVE_FORM_EMPTY},
    {"/resume", "std_srvs/srv/Trigger", IO_FOXGLOVE_FORM_EMPTY},
    {"/step", "airbearing_msgs/srv/Step", IO_FOXGLOVE_FORM_FRAMES},
    {"/reset", "std_srvs/srv/Trigger", IO_FOXGLOVE_FORM_EMPTY},
    {"/checkpoint", "airbearing_msgs/srv/File", IO_FOXGLOVE_FORM_PATH},
    {"/restore", "airbearing_msgs/srv/File", IO_FOXGLOVE_FORM_PATH},
    {"/fault", "airbearing_msgs/srv/Fault", IO_FOXGLOVE_FORM_SWITCH},
    {"/safe", "std_srvs/srv/Trigger", IO_FOXGLOVE_FORM_EMPTY},
};
static const enum sim_act acts[] = {
    SIM_ACT_PAUSE,      SIM_ACT_RESUME,  SIM_ACT_STEP,  SIM_ACT_RESET,
    SIM_ACT_CHECKPOINT, SIM_ACT_RESTORE, SIM_ACT_FAULT,
};
enum { SERVICE_COUNT = sizeof service_list / sizeof *service_list, SAFE = SERVICE_COUNT - 1 };
_Static_assert(SAFE == sizeof acts / sizeof *acts, "each service but the stop is an act");

static const char *parameter_name(void *self, int index)
{
    const struct operator_services *services = self;
    return sim_operator_parameter(services->sim_operator, index)->name;
}

static double parameter_value(void *self, int index)
{
    const struct operator_services *services = self;
    return sim_operator_parameter_value(services->sim_operator, index);
}

static const char *post_request(struct operator_services *services,
                                const struct sim_operator_request *request)
{
    return sim_operator_request_act(services->sim_operator, request)
               ? NULL
               : "too many operator requests are pending; try again";
}

static const char *set(void *self, uint64_t ticket, int parameter, double value)
{
    struct operator_services *services = self;
    const struct sim_operator_request request = {
        .ticket = ticket, .act = SIM_ACT_TUNE, .index = (uint32_t)parameter, .value = value};
    return isfinite(value) ? post_request(services, &request) : "a parameter is a finite number";
}

/* Find a fault by its name, or by its number where two have the same name. */
static bool find_fault(const struct operator_services *services, const char *name, uint32_t *index)
{
    const int count = sim_operator_fault_count(services->sim_operator);
    for (int i = 0; i < count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        if (strcmp(name, sim_operator_fault_name(services->sim_operator, i)) == 0 ||
            strcmp(name, number) == 0) {
            *index = (uint32_t)i;
            return true;
        }
    }
    return false;
}

/* A browser client may only name a file in the run's folder. */
static bool is_file_name(const char *text)
{
    return text[0] != '\0' && text[0] != '.' && strchr(text, '/') == NULL;
}

/* A checkpoint must have its own suffix, so that it cannot overwrite another file, e.g. the
 * scenario. */
static bool is_checkpoint_name(const char *text)
{
    static const char end[] = ".checkpoint";
    const size_t length = strlen(text), tail = sizeof end - 1;
    return length > tail && strcmp(text + length - tail, end) == 0;
}

static const char *call(void *self, uint64_t ticket, int service,
                        const struct io_foxglove_arguments *arguments)
{
    struct operator_services *services = self;
    if (service >= SAFE)
        return "/safe is not a queued request; call it directly";
    struct sim_operator_request request = {.ticket = ticket, .act = acts[service]};
    const enum io_foxglove_form form = service_list[service].form;
    _Static_assert(sizeof request.path >= sizeof arguments->text, "a path fits");
    if (form == IO_FOXGLOVE_FORM_FRAMES) {
        if (arguments->frames == 0)
            return "give the number of frames to step, 1 or more";
        request.value = arguments->frames;
    } else if (form == IO_FOXGLOVE_FORM_PATH) {
        if (!is_file_name(arguments->text))
            return "give the name of a file, without a folder; it is kept where the run was "
                   "started";
        if (request.act == SIM_ACT_CHECKPOINT && !is_checkpoint_name(arguments->text))
            return "a checkpoint's name ends with .checkpoint, so that nothing else is written "
                   "over";
        memcpy(request.path, arguments->text, sizeof arguments->text);
    } else if (form == IO_FOXGLOVE_FORM_SWITCH) {
        if (!find_fault(services, arguments->text, &request.index))
            return "the scenario has no fault of this name";
        request.value = arguments->active;
    }
    return post_request(services, &request);
}

static bool stop(void *self, uint64_t ticket)
{
    struct operator_services *services = self;
    return sim_operator_stop_arm(services->sim_operator, ticket);
}

static void lost(void *self)
{
    struct operator_services *services = self;
    sim_operator_client_lost(services->sim_operator);
}

static void note(void *self, const char *text)
{
    const struct operator_services *services = self;
    if (services->listener.note)
        services->listener.note(services->listener.self, text);
}

static bool answer(void *self, struct io_service_reply *out)
{
    struct operator_services *services = self;
    struct sim_operator_answer given;
    if (!sim_operator_next_answer(services->sim_operator, &given))
        return false;
    *out = (struct io_service_reply){.ticket = given.ticket, .done = given.done};
    snprintf(out->text, sizeof out->text, "%s (frame %llu)", given.text,
             (unsigned long long)given.frame);
    note(services, out->text);
    return true;
}

const struct io_service_table *services_open(struct operator_services *services,
                                             struct sim_operator *sim_operator,
                                             struct service_listener listener)
{
    *services = (struct operator_services){
        .sim_operator = sim_operator,
        .listener = listener,
        .interface = {.self = services,
                      .parameter_count = sim_operator_parameter_count(sim_operator),
                      .parameter_name = parameter_name,
                      .parameter_value = parameter_value,
                      .fault_count = sim_operator_fault_count(sim_operator),
                      .faults = services->fault,
                      .service_count = SERVICE_COUNT,
                      .services = service_list,
                      .stop_service = SAFE,
                      .set = set,
                      .call = call,
                      .stop = stop,
                      .lost = lost,
                      .answer = answer,
                      .note = note},
    };
    for (int i = 0; i < services->interface.fault_count; i++)
        services->fault[i] = sim_operator_fault_name(sim_operator, i);
    return &services->interface;
}
