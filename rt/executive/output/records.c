#include "rt/executive/output/records.h"

#include <math.h>
#include <stdio.h>

#include "rt/check.h"
#include "rt/executive/arm/arm_record.h"
#include "rt/executive/output/effector_types.h"
#include "rt/executive/output/sensor_types.h"
#include "rt/executive/state/run_state.h"

/* A ring holds this much of the run: longer than any outage seen on a shared machine. */
static const double ring_seconds = 2.0;

static const char frame_definition[] =
    "# One frame of the executive; times on CLOCK_MONOTONIC.\n"
    "uint64 frame\n"
    "uint64 release_ns # when it should have started\n"
    "uint64 start_ns\n"
    "uint64 end_ns\n"
    "uint64 state_hash # rolled over the run state after every frame\n"
    "uint32 missed # releases dropped right before this frame\n"
    "uint8 cause # of an overrun: 0 none 1 fault 2 switch 3 io 4 stolen 5 own 6 unknown\n"
    "uint8 held # 1: ran in catch-up with held inputs\n"
    "uint32 paused # releases that passed in a pause right before this frame\n";

static const char input_definition[] =
    "# An input as the frame latched it; replay needs these and the scenario.\n"
    "uint64 frame\n"
    "uint64 ordinal\n"
    "uint64 rx_ns # last byte in, CLOCK_MONOTONIC\n"
    "uint64 ready_ns # latchable\n"
    "uint64 board_us # the board's own clock\n"
    "uint64 flags\n"
    "uint32 sequence\n"
    "uint32 mode\n"
    "float32[16] controls\n"
    "uint8 kind # 0 command 1 link lost 2 the board began anew\n"
    "uint8 link\n";

static const char act_definition[] =
    "# What the operator did between two frames; replay needs these, too.\n"
    "uint64 frame # before which\n"
    "uint64 ordinal\n"
    "uint64 counted # frames that the run state has behind it, after the act\n"
    "float64 value # tune: SI; fault: 1 begins 0 ends; step: frames; safe: when it was raised, ns, "
    "CLOCK_MONOTONIC, 0 not known\n"
    "uint32 index # of the parameter or fault; of a restore 1: with its hands; of safe: 0 asked "
    "for "
    "1 button 2 operator lost 3 watchdog\n"
    "uint8 act # 0 pause 1 resume 2 step 3 reset 4 checkpoint 5 restore 6 fault 7 tune 8 safe\n";

static const char latency_definition[] =
    "# One way through the loop: a command comes in, the first sample that shows it leaves.\n"
    "uint64 frame # of that sample\n"
    "uint64 rx_ns # last byte of the command in, CLOCK_MONOTONIC\n"
    "uint64 wire_in_ns # last byte in to latchable\n"
    "uint64 grid_wait_ns # to the latch\n"
    "uint64 step_ns # to the end of the step\n"
    "uint64 hold_ns # to the hand-over\n"
    "uint64 wire_out_ns # to sent\n"
    "uint8 link\n";

static const char ground_definition[] =
    "# What a ground station of the scenario said, and what the firmware answered.\n"
    "uint64 frame\n"
    "uint8 link\n"
    "uint8 step # of its script, from 0\n"
    "uint8 event # 0 said 1 answered and not accepted 2 accepted 3 given up\n"
    "uint8 answer # MAV_RESULT of the newest acknowledgement; 255 none came\n";

/* What fills the C struct up to its last array, in the same order. */
_Static_assert(offsetof(struct rt_flight_recorder_row, due) == 8 * 8, "as the text below has it");
_Static_assert(SIM_RECORD_EVENT_HEAD == 9 * 8 + 4 + 4, "as the text below has it");
static const char event_definition[] =
    "# A frame near an overrun, or near a reply that did not come: what it did and when, from the\n"
    "# flight recorder.  Times on CLOCK_MONOTONIC; the end of one thing begins the next.\n"
    "uint64 frame\n"
    "uint64 release_ns # when it should have started\n"
    "uint64 start_ns # woke up, or the reply came\n"
    "uint64 await_ns # began to wait for the reply, until start_ns; 0: did not wait\n"
    "uint64 sent_ns # the sample has left; after the jobs when committed early; 0: none did\n"
    "uint64 jobs_ns # inputs latched, the first job begins\n"
    "uint64 end_ns # all done but the record\n"
    "uint64 recorded_ns # the record is taken\n"
    "uint64 due # bit i: job i of /job ran\n"
    "uint32 missed # releases dropped right before this frame\n"
    "uint8 cause # of an overrun: 0 none 1 fault 2 switch 3 io 4 stolen 5 own 6 unknown\n"
    "uint8 held # 1: ran in catch-up with held inputs\n"
    "uint8 unanswered # 1: waited, and no reply came\n"
    "uint8 spare\n";

static const char clock_definition[] =
    "# The clocks side by side, seen within window_ns of each other.\n"
    "uint64 monotonic_ns # CLOCK_MONOTONIC, the frame's clock\n"
    "uint64 raw_ns # CLOCK_MONOTONIC_RAW, which nobody steers\n"
    "uint64 realtime_ns # CLOCK_REALTIME, which a time daemon steers\n"
    "uint32 window_ns\n";

static int effector_states(const struct sim_spec *spec)
{
    int count = 0;
    for (int i = 0; i < spec->effector_count; i++)
        count += dyn_effector_state_count(&spec->effectors[i].effector);
    return count;
}

static bool has_payloads(const struct sim_spec *spec)
{
    return spec->arm.payload_count > 0;
}

static bool has_script(const struct sim_spec *spec)
{
    for (int i = 0; i < spec->link_count; i++)
        if (spec->links[i].spec.script.step_count > 0)
            return true;
    return false;
}

struct sim_record_layout sim_record_layout(const struct sim_spec *spec, int nq, int nv,
                                           int job_count)
{
    _Static_assert(12 + SIM_DEVICE_MAX <= IO_CHANNEL_MAX, "every device has a channel");
    struct sim_record_layout layout = {.frame = 0, .input = 1, .plant = 2, .sensor = 3};
    layout.drive = layout.sensor + spec->sensor_count;
    layout.arm = layout.drive + spec->drive_count;
    layout.part = layout.arm + (spec->arm.joint_count > 0);
    layout.job = layout.part + spec->log_parts;
    layout.part_size = (uint32_t)((1 + sim_run_state_section_count(spec)) * 8);
    layout.act = layout.job + 1;
    layout.state = layout.act + 1;
    layout.event = layout.state + 1;
    layout.latency = layout.event + 1;
    layout.ground = layout.latency + 1;
    layout.clock = layout.ground + has_script(spec);
    layout.count = layout.clock + 1;
    layout.job_size = (uint32_t)(SIM_RECORD_JOB_HEAD + job_count * 4);
    layout.event_size = (uint32_t)(SIM_RECORD_EVENT_HEAD + job_count * 4);
    layout.state_size = (uint32_t)(sizeof(struct sim_record_state) + sim_run_state_size(spec));
    layout.x_count = (uint32_t)(nq + nv + effector_states(spec));
    layout.plant_size = (layout.x_count + 1 + has_payloads(spec)) * 8;
    layout.arm_size = (uint32_t)sim_arm_record_size(spec->arm.joint_count);
    return layout;
}

/* Append a fixed-size array to the text, or nothing when it is empty. */
static size_t add_array(char *text, size_t room, size_t at, const char *name, int count,
                        const char *comment)
{
    if (count == 0)
        return at;
    const int length =
        snprintf(text + at, room - at, "float64[%d] %s # %s\n", count, name, comment);
    RT_CHECK(length > 0 && (size_t)length < room - at);
    return at + (size_t)length;
}

/* "states, of commanded devices first: momentum of a wheel, N m s; speed of a rotor, rad/s" */
static const char *effector_states_comment(void)
{
    static char text[256];
    const char *before = ":";
    int at = snprintf(text, sizeof text, "states, of commanded devices first");
    for (int i = 0; i < DYN_EFFECTOR_TYPE_COUNT; i++)
        if (sim_effector_types[i].state != NULL) {
            at += snprintf(text + at, sizeof text - (size_t)at, "%s %s", before,
                           sim_effector_types[i].state);
            RT_CHECK(at > 0 && (size_t)at < sizeof text);
            before = ";";
        }
    return text;
}

/* Definitions that depend on the scenario. */
static const char *plant_definition(int nq, int nv, int effector_count, bool payloads)
{
    static char text[1024];
    size_t at =
        add_array(text, sizeof text, 0, "q", nq, "positions: base x y z qw qx qy qz, then joints");
    at = add_array(text, sizeof text, at, "v", nv,
                   "velocities: base rate and velocity in body axes, then joints");
    at = add_array(text, sizeof text, at, "effectors", effector_count, effector_states_comment());
    const int length = snprintf(
        text + at, sizeof text - at, "float64 attitude_error # rad, from the target attitude\n%s",
        payloads
            ? "float64 carried # what the arm has in its hand: 0 nothing, 1 + payload; q and v "
              "of that one are against the hand\n"
            : "");
    RT_CHECK(length > 0 && (size_t)length < sizeof text - at);
    return text;
}

static const char *state_definition(size_t size)
{
    static char text[256];
    snprintf(text, sizeof text,
             "# A run state that was put in, for replay.\n"
             "uint64 frame # before which\n"
             "uint64 ordinal # of the act\n"
             "uint64 state_hash # rolled up to it\n"
             "uint8[%zu] bytes\n",
             size);
    return text;
}

static const char *part_definition(int count)
{
    static char text[256];
    snprintf(text, sizeof text,
             "# The parts of the run state after a frame, each by itself, for replay.\n"
             "uint64 frame\n"
             "uint64[%d] hash # of this frame alone\n",
             count);
    return text;
}

/* And which job is which. */
static const char *job_definition(const struct sim_record_jobs *jobs)
{
    static char text[512 + RT_JOB_MAX * (SIM_NAME_MAX + 16)];
    int at = snprintf(text, sizeof text,
                      "# What each job of a frame took.\n"
                      "uint64 frame\n"
                      "uint64 begin_ns # of the first job, CLOCK_MONOTONIC\n"
                      "uint64 due # bit i: job i ran in this frame\n"
                      "uint32[%d] spent_ns # of a job that did not run: as it was before\n",
                      jobs->count);
    for (int i = 0; i < jobs->count; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at, "# job %d %s\n", i, jobs->name[i]);
        RT_CHECK(at > 0 && (size_t)at < sizeof text);
    }
    return text;
}

static const char *event_text(const struct sim_record_jobs *jobs)
{
    static char text[sizeof event_definition + 96];
    const int length = snprintf(
        text, sizeof text, "%suint32[%d] spent_ns # of a job that did not run: as it was before\n",
        event_definition, jobs->count);
    RT_CHECK(length > 0 && (size_t)length < sizeof text);
    return text;
}

/* And which step is which. */
static const char *ground_text(const struct sim_spec *spec)
{
    static char text[sizeof ground_definition +
                     IO_LINK_MAX * IO_GROUND_STEP_MAX * (SIM_NAME_MAX + IO_GROUND_TEXT_MAX + 16)];
    int at = snprintf(text, sizeof text, "%s", ground_definition);
    for (int i = 0; i < spec->link_count; i++) {
        const struct io_ground_script *script = &spec->links[i].spec.script;
        for (int k = 0; k < script->step_count; k++) {
            char step[IO_GROUND_TEXT_MAX];
            at += snprintf(text + at, sizeof text - (size_t)at, "# step %d %s: %s\n", k,
                           spec->links[i].name, io_ground_step_text(&script->step[k], step));
            RT_CHECK(at > 0 && (size_t)at < sizeof text);
        }
    }
    return text;
}

static void describe_channel(struct io_channel_spec *channel, const char *topic, const char *schema,
                             const char *definition, size_t payload_size, double rate_hz)
{
    const double wanted = rate_hz * ring_seconds;
    *channel = (struct io_channel_spec){0};
    snprintf(channel->topic, sizeof channel->topic, "%s", topic);
    snprintf(channel->schema, sizeof channel->schema, "%s", schema);
    channel->definition = definition;
    channel->payload_size = (uint32_t)payload_size;
    channel->depth = wanted < 64.0 ? 64 : (uint32_t)wanted;
}

/* What the verdict on time needs besides the frames. */
static void describe_timing(const struct sim_spec *spec, const struct sim_record_layout *layout,
                            const struct sim_record_jobs *jobs, struct io_channel_spec *channels)
{
    const int links = spec->link_count > 1 ? spec->link_count : 1;
    describe_channel(&channels[layout->job], "/job", "airbearing_msgs/msg/Job",
                     job_definition(jobs), layout->job_size, spec->rate_hz);
    /* At least what the recorder holds, so that all of it finds room when the run ends. */
    describe_channel(&channels[layout->event], "/event", "airbearing_msgs/msg/Event",
                     event_text(jobs), layout->event_size,
                     fmax(spec->rate_hz, RT_FLIGHT_RECORDER_FRAMES));
    describe_channel(&channels[layout->latency], "/latency", "airbearing_msgs/msg/Latency",
                     latency_definition, SIM_RECORD_LATENCY_SIZE, spec->rate_hz * links);
    describe_channel(&channels[layout->clock], "/clock", "airbearing_msgs/msg/Clock",
                     clock_definition, SIM_RECORD_CLOCK_SIZE, 50.0);
}

void sim_record_channels(const struct sim_spec *spec, int nq, int nv,
                         const struct sim_record_jobs *jobs,
                         struct io_channel_spec channels[IO_CHANNEL_MAX])
{
    const struct sim_record_layout layout = sim_record_layout(spec, nq, nv, jobs->count);
    const double log_hz = spec->rate_hz / spec->log_every;
    RT_CHECK(layout.count <= IO_CHANNEL_MAX);
    describe_channel(&channels[layout.frame], "/frame", "airbearing_msgs/msg/Frame",
                     frame_definition, SIM_RECORD_FRAME_SIZE, spec->rate_hz);
    describe_channel(&channels[layout.input], "/input", "airbearing_msgs/msg/Input",
                     input_definition, SIM_RECORD_INPUT_SIZE, spec->rate_hz);
    describe_channel(&channels[layout.act], "/operator", "airbearing_msgs/msg/Act", act_definition,
                     SIM_RECORD_ACT_SIZE, 32.0);
    describe_channel(&channels[layout.state], "/state", "airbearing_msgs/msg/State",
                     state_definition(layout.state_size - sizeof(struct sim_record_state)),
                     layout.state_size, 0.0);
    channels[layout.state].depth = 2; /* large and rare */
    describe_channel(&channels[layout.plant], "/plant", "airbearing_msgs/msg/Plant",
                     plant_definition(nq, nv, effector_states(spec), has_payloads(spec)),
                     layout.plant_size, log_hz);
    for (int i = 0; i < spec->sensor_count; i++) {
        const struct sim_sensor *sensor = &spec->sensors[i];
        const struct sim_sensor_type *type = &sim_sensor_types[sensor->kind];
        char topic[IO_TOPIC_MAX];
        snprintf(topic, sizeof topic, "/device/%s", sensor->name);
        describe_channel(&channels[layout.sensor + i], topic, type->schema, type->text,
                         (size_t)type->width * sizeof(double), spec->rate_hz / sensor->every);
    }
    for (int i = 0; i < spec->drive_count; i++) {
        const struct sim_effector *effector = &spec->effectors[i];
        const struct sim_effector_type *type = &sim_effector_types[effector->effector.type];
        char topic[IO_TOPIC_MAX];
        snprintf(topic, sizeof topic, "/device/%s", effector->name);
        describe_channel(&channels[layout.drive + i], topic, type->schema, type->text,
                         2 * sizeof(double), log_hz);
    }
    if (spec->arm.joint_count > 0)
        describe_channel(&channels[layout.arm], "/arm", "airbearing_msgs/msg/Arm",
                         sim_arm_record_text(spec->arm.joint_count), layout.arm_size, log_hz);
    if (has_script(spec))
        describe_channel(&channels[layout.ground], "/ground", "airbearing_msgs/msg/Ground",
                         ground_text(spec), SIM_RECORD_GROUND_SIZE, 0.0);
    if (spec->log_parts)
        describe_channel(&channels[layout.part], "/part", "airbearing_msgs/msg/Part",
                         part_definition(sim_run_state_section_count(spec)), layout.part_size,
                         spec->rate_hz);
    describe_timing(spec, &layout, jobs, channels);
}
