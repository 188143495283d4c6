/*
 * Links and the controller behind them: what each protocol brings along, and what a link says for
 * itself.
 */
#include <errno.h>

#include "tests/config/loaded.h"

/* One link on body a, of a vehicle with the devices that messages need. */
static void load_link(const char *link)
{
    static char text[4096];
    snprintf(text, sizeof text,
             "name: x\n"
             "bodies:\n"
             "- {name: a, joint: free, mass: 1, inertia: 1 1 1}\n"
             "- {name: b, parent: a, joint: {type: revolute, axis: 0 0 1}, mass: 1,\n"
             "   inertia: 1 1 1}\n"
             "devices:\n"
             "- {name: tracker, type: star_tracker, body: a, boresight: 0 0 1, rate: 5 Hz}\n"
             "- {name: first, type: encoder, body: b, rate: 50 Hz}\n"
             "- {name: second, type: encoder, body: b, rate: 20 Hz}\n"
             "links: [{name: l, body: a, %s}]\n",
             link);
    load(text);
}

static void expect_sends(const uint32_t expected[IO_MESSAGE_COUNT])
{
    for (int m = 0; m < IO_MESSAGE_COUNT; m++)
        TEST_ASSERT_EQUAL_UINT32_MESSAGE(expected[m], scenario->spec.links[0].every[m],
                                         cfg_message_name(m));
}

static void expect_wire(enum io_bus_kind bus, const char *listen, const char *peer)
{
    const struct sim_link *link = &scenario->spec.links[0];
    TEST_ASSERT_EQUAL_INT(bus, link->spec.bus.kind);
    TEST_ASSERT_EQUAL_STRING(listen, link->spec.bus.listen);
    TEST_ASSERT_EQUAL_STRING(peer, link->spec.bus.peer);
}

/* ---- what a protocol brings ---- */

/* Heartbeat, sensor, gps, state, time, tracker, sun (there is none), angles by the slowest, rc. */
static void test_a_link_uses_mavlink_over_udp(void)
{
    load_link("on_loss: safe");
    TEST_ASSERT_EQUAL_INT(IO_PROTOCOL_MAVLINK, scenario->spec.links[0].spec.protocol);
    expect_wire(IO_BUS_UDP, "127.0.0.1:14560", "");
    expect_sends((const uint32_t[]){1000, 4, 100, 20, 1000, 200, 0, 50, 0});
}

static void test_px4_waits_on_tcp_4560(void)
{
    load_link("protocol: px4");
    TEST_ASSERT_EQUAL_INT(IO_PROTOCOL_PX4, scenario->spec.links[0].spec.protocol);
    expect_wire(IO_BUS_TCP, "127.0.0.1:4560", "");
    expect_sends((const uint32_t[]){0, 4, 100, 20, 1000, 0, 0, 0, 0});
}

static void test_px4_hitl_is_on_a_serial_line(void)
{
    load_link("protocol: px4-hitl, device: /dev/ttyACM0");
    expect_wire(IO_BUS_SERIAL, "", "");
    TEST_ASSERT_EQUAL_STRING("/dev/ttyACM0", scenario->spec.links[0].spec.bus.device);
    TEST_ASSERT_EQUAL_UINT32(921600, scenario->spec.links[0].spec.bus.baud);
    TEST_ASSERT_FALSE(scenario->spec.links[0].spec.bus.rs485);
    /* such a board does not get the true state, unless the scenario asks for it */
    expect_sends((const uint32_t[]){1000, 4, 100, 0, 1000, 0, 0, 0, 0});
    load_link("protocol: px4-hitl, device: /dev/ttyACM0, send: {state: 50 Hz}");
    expect_sends((const uint32_t[]){1000, 4, 100, 20, 1000, 0, 0, 0, 0});
}

static void test_ardupilot_gets_every_frame_on_udp_9002(void)
{
    load_link("protocol: ardupilot");
    expect_wire(IO_BUS_UDP, "127.0.0.1:9002", "");
    expect_sends((const uint32_t[]){0, 1, 0, 0, 0, 0, 0, 0, 0});
}

static void test_betaflight_has_a_pilot_and_receives_on_9003(void)
{
    load_link("protocol: betaflight");
    expect_wire(IO_BUS_UDP, "127.0.0.1:9002", "127.0.0.1:9003");
    expect_sends((const uint32_t[]){0, 1, 0, 0, 0, 0, 0, 0, 20});
    TEST_ASSERT_EQUAL_UINT32(0, scenario->spec.links[0].sticks.step_count);
}

/* ---- what a link says for itself ---- */

static void test_written_rates_go_before_the_usual_ones(void)
{
    load_link("send: {sensor: 500 Hz, gps: 0, star_tracker: 10 Hz, angles: 100 Hz, time: 2 Hz}");
    expect_sends((const uint32_t[]){1000, 2, 0, 20, 500, 100, 0, 10, 0});
    load_link("protocol: px4, send: {heartbeat: 0, sun: 0, rc: 0}"); /* what it has not, never */
    expect_sends((const uint32_t[]){0, 4, 100, 20, 1000, 0, 0, 0, 0});
}

static void test_a_serial_line_is_read(void)
{
    load_link("bus: serial, device: /dev/ttyS0, baud: 1500000, rs485: true");
    TEST_ASSERT_EQUAL_INT(IO_BUS_SERIAL, scenario->spec.links[0].spec.bus.kind);
    TEST_ASSERT_EQUAL_UINT32(1500000, scenario->spec.links[0].spec.bus.baud);
    TEST_ASSERT_TRUE(scenario->spec.links[0].spec.bus.rs485);
    TEST_ASSERT_EQUAL_STRING("l", scenario->spec.links[0].spec.bus.name);
}

static void test_can_shared_memory_and_tape_are_read(void)
{
    load_link("bus: can, device: can0, can_fd: true, can_id: 291, can_reply_id: 1000");
    const struct io_bus_spec *bus = &scenario->spec.links[0].spec.bus;
    TEST_ASSERT_EQUAL_INT(IO_BUS_CAN, bus->kind);
    TEST_ASSERT_EQUAL_STRING("can0", bus->device);
    TEST_ASSERT_TRUE(bus->fd);
    TEST_ASSERT_EQUAL_UINT32(291, bus->can_id_tx);
    TEST_ASSERT_EQUAL_UINT32(1000, bus->can_id_rx);
    load_link("bus: can, device: can0");
    TEST_ASSERT_FALSE(scenario->spec.links[0].spec.bus.fd);
    TEST_ASSERT_EQUAL_UINT32(256, scenario->spec.links[0].spec.bus.can_id_tx);
    TEST_ASSERT_EQUAL_UINT32(257, scenario->spec.links[0].spec.bus.can_id_rx);
    load_link("bus: shared, device: /board");
    TEST_ASSERT_EQUAL_INT(IO_BUS_SHM, scenario->spec.links[0].spec.bus.kind);
    load_link("bus: tape, device: board.tape");
    TEST_ASSERT_EQUAL_INT(IO_BUS_TAPE, scenario->spec.links[0].spec.bus.kind);
    TEST_ASSERT_EQUAL_STRING("board.tape", scenario->spec.links[0].spec.bus.device);
}

static void test_a_peer_makes_a_tcp_link_the_client(void)
{
    load_link("bus: tcp, peer: 192.168.0.9:5000");
    expect_wire(IO_BUS_TCP, "", "192.168.0.9:5000");
    load_link("bus: tcp, listen: 0.0.0.0:5001");
    expect_wire(IO_BUS_TCP, "0.0.0.0:5001", "");
    load_link("protocol: betaflight, listen: 10.0.0.1:9002, peer: 10.0.0.2:9003");
    expect_wire(IO_BUS_UDP, "10.0.0.1:9002", "10.0.0.2:9003");
}

static void test_udp_and_tcp_may_have_the_same_port(void)
{
    load("name: x\nbodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n"
         "links: [{name: k, bus: udp, listen: 127.0.0.1:5000, body: a},\n"
         "        {name: l, bus: tcp, listen: 127.0.0.1:5000, body: a}]\n");
    TEST_ASSERT_EQUAL_INT(2, scenario->spec.link_count);
}

static void test_ground_stations_share_the_line(void)
{
    load_link("protocol: px4-hitl, device: /dev/ttyACM0,"
              " forward: [127.0.0.1:14550, 127.0.0.1:14540]");
    const struct io_link_spec *spec = &scenario->spec.links[0].spec;
    TEST_ASSERT_EQUAL_STRING("127.0.0.1:14550", spec->ground[0]);
    TEST_ASSERT_EQUAL_STRING("127.0.0.1:14540", spec->ground[1]);
    TEST_ASSERT_EQUAL_STRING("", spec->ground[2]);
}

/* Aileron, elevator, throttle, rudder, then switches; microseconds. */
static void test_a_betaflight_has_a_wire_of_its_year_and_a_radio_that_comes_on(void)
{
    load_link("protocol: betaflight");
    TEST_ASSERT_EQUAL_INT(IO_BETAFLIGHT_4_5, scenario->spec.links[0].spec.variant);
    NEAR(5.0, scenario->spec.links[0].sticks_from);
    load_link("protocol: betaflight, variant: 2026.6, sticks_from: 1 s,"
              " sticks: [{at: 0 s}, {at: 1 s, height: 2 m}]");
    TEST_ASSERT_EQUAL_INT(IO_BETAFLIGHT_2026_6, scenario->spec.links[0].spec.variant);
    NEAR(1.0, scenario->spec.links[0].sticks_from);
    TEST_ASSERT_EQUAL_UINT32(0, scenario->spec.links[0].sticks.step[0].holds_height);
    TEST_ASSERT_EQUAL_UINT32(1, scenario->spec.links[0].sticks.step[1].holds_height);
    NEAR(2.0, scenario->spec.links[0].sticks.step[1].height);
}

/* In lockstep real time means nothing, so a board cannot be late. */
static void test_only_a_run_in_real_time_knows_late_boards(void)
{
    load_link("protocol: px4");
    TEST_ASSERT_EQUAL_UINT64(16000000, scenario->spec.links[0].spec.late_after_ns);
    load("name: x\nrate: 1 kHz\npace: lockstep\n"
         "bodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n"
         "links: [{name: l, protocol: ardupilot, body: a}]\n");
    TEST_ASSERT_EQUAL_UINT64(0, scenario->spec.links[0].spec.late_after_ns);
}

static void test_sticks_become_the_channels_of_a_receiver(void)
{
    load_link("protocol: betaflight, sticks: [{at: 0 s}, {at: 6500 ms, roll: -1, pitch: 0.5,"
              " yaw: 1, throttle: 0.25, switches: [1, 0.5]}]");
    const struct io_rc_script *script = &scenario->spec.links[0].sticks;
    TEST_ASSERT_EQUAL_UINT32(2, script->step_count);
    EXPECT_VECTOR(script->step[0].channel, 1500, 1500, 1000, 1500, 1000, 1000, 1000);
    NEAR(6.5, script->step[1].time);
    EXPECT_VECTOR(script->step[1].channel, 1000, 1750, 1250, 2000, 2000, 1500, 1000);
    NEAR(1000, script->step[1].channel[IO_RC_SCRIPT_CHANNEL_COUNT - 1]);
    TEST_ASSERT_EQUAL_UINT32(0, script->step[1].ramp);
}

/* ArduPilot may stand in a debugger. */
static void test_how_long_a_reply_may_take_is_up_to_the_protocol(void)
{
    load_link("protocol: px4");
    TEST_ASSERT_EQUAL_UINT64(1000000000, scenario->spec.links[0].wait_limit_ns);
    load_link("protocol: ardupilot");
    TEST_ASSERT_EQUAL_UINT64(60000000000, scenario->spec.links[0].wait_limit_ns);
    load_link("protocol: ardupilot, wait_limit: 2 s");
    TEST_ASSERT_EQUAL_UINT64(2000000000, scenario->spec.links[0].wait_limit_ns);
}

/* The size of MAVLink's messages is in io/; that a line is judged by it is tested here. */
static void test_a_line_that_carries_its_messages_is_fast_enough(void)
{
    load_link("bus: serial, device: d, baud: 1200, send: {sensor: 0, state: 0, gps: 0, angles: 0,"
              " star_tracker: 0}");
    TEST_ASSERT_EQUAL_UINT32(1200, scenario->spec.links[0].spec.bus.baud);
}

/* ---- hands ---- */

static void test_a_hand_moves_controls_and_selects_modes(void)
{
    load_link(
        "protocol: hand, device: \"name:A stick\", modes: [4, 31], axes: [{axis: x, control: 7},"
        " {axis: hat3y, control: 0, dead_band: 10 %, expo: 0.25, scale: 2, invert: true}]");
    const struct io_link_spec *spec = &scenario->spec.links[0].spec;
    const struct io_hand_spec *hand = &spec->hand;
    expect_wire(IO_BUS_EVDEV, "", "");
    TEST_ASSERT_EQUAL_STRING("name:A stick", spec->bus.device);
    TEST_ASSERT_EQUAL_INT(2, hand->axis_map_count);
    TEST_ASSERT_EQUAL_INT(0, hand->axis_map[0].axis);
    TEST_ASSERT_EQUAL_INT(7, hand->axis_map[0].control);
    EXPECT_VECTOR((&hand->axis_map[0].shape.dead_band), 0.05, 0, 1);
    TEST_ASSERT_FALSE(hand->axis_map[0].shape.invert);
    TEST_ASSERT_EQUAL_INT(IO_HAND_AXIS_COUNT - 1, hand->axis_map[1].axis);
    TEST_ASSERT_EQUAL_INT(0, hand->axis_map[1].control);
    EXPECT_VECTOR((&hand->axis_map[1].shape.dead_band), 0.1, 0.25, 2);
    TEST_ASSERT_TRUE(hand->axis_map[1].shape.invert);
    TEST_ASSERT_EQUAL_INT(2, hand->mode_count);
    TEST_ASSERT_EQUAL_INT(4, hand->mode_button[0]);
    TEST_ASSERT_EQUAL_INT(31, hand->mode_button[1]);
}

/* A hand that rests is not late; the loop is measured with every frame. */
static void test_a_hand_is_sent_nothing_and_never_late(void)
{
    load_link("protocol: hand, device: d, axes: [{axis: y, control: 0}]");
    expect_sends((const uint32_t[]){0, 1, 0, 0, 0, 0, 0, 0, 0});
    TEST_ASSERT_EQUAL_UINT64(0, scenario->spec.links[0].spec.late_after_ns);
    load_link("protocol: hand, bus: udp, axes: [{axis: y, control: 0}]");
    expect_wire(IO_BUS_UDP, "127.0.0.1:14580", "");
    load_link("protocol: hand, bus: spacenav, axes: [{axis: y, control: 0}]");
    TEST_ASSERT_EQUAL_STRING("/var/run/spnav.sock", scenario->spec.links[0].spec.bus.device);
    load_link("protocol: hand, bus: spacenav, device: s, axes: [{axis: y, control: 0}]");
    TEST_ASSERT_EQUAL_STRING("s", scenario->spec.links[0].spec.bus.device);
    load_link("protocol: hand, bus: tape, device: t, axes: [{axis: y, control: 0}]");
    expect_wire(IO_BUS_TAPE, "", "");
    load_link("protocol: hand, bus: cockpit, axes: [{axis: y, control: 0}]");
    expect_wire(IO_BUS_COCKPIT, "", "");
}

/* ---- late on purpose ---- */

static void expect_pace(const char *complaint, enum rt_pace pace)
{
    const int failure = cfg_check_pace(scenario, pace, error);
    TEST_ASSERT_EQUAL_INT(*complaint ? -EINVAL : 0, failure);
    TEST_ASSERT_EQUAL_STRING(complaint, error);
}

static void test_a_delay_is_whole_frames_and_wants_the_wall_clock(void)
{
    load_link("protocol: px4");
    TEST_ASSERT_EQUAL_UINT32(0, scenario->spec.links[0].delay);
    expect_pace("", RT_PACE_LOCKSTEP);
    load_link("protocol: px4, delay: 2 s");
    TEST_ASSERT_EQUAL_UINT32(2000, scenario->spec.links[0].delay);
    expect_pace("", RT_PACE_REAL);
    expect_pace("s.yaml:10:9: link \"l\" has a delay, which a board in lockstep would wait for; "
                "use --pace real, or remove the delay",
                RT_PACE_LOCKSTEP);
    load_link("protocol: hand, device: d, axes: [{axis: y, control: 0}], delay: 10 s");
    TEST_ASSERT_EQUAL_UINT32(10000, scenario->spec.links[0].delay);
}

static void expect_predictor(const char *keys, uint32_t every, uint32_t ahead)
{
    char text[512];
    snprintf(text, sizeof text,
             "name: x\nbodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n"
             "links: [{name: k, body: a, delay: 2 s},\n"
             "        {name: l, body: a, protocol: px4, delay: 300 ms}]\n%s",
             keys);
    load(text);
    TEST_ASSERT_EQUAL_UINT32(every, scenario->spec.predictor.every);
    TEST_ASSERT_EQUAL_UINT32(ahead, scenario->spec.predictor.ahead);
}

static void test_a_predictor_runs_as_far_ahead_as_links_are_late(void)
{
    expect_predictor("", 0, 0);
    expect_predictor("predictor: {}", 100, 2000);
    expect_predictor("predictor: {rate: 20 Hz, ahead: 1.5 s}", 50, 1500);
}

/* ---- the controller ---- */

#define BOARD                                                                                      \
    "name: x\nbodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n"                         \
    "links: [{name: l, body: a}]\ncontroller: {command: [board]%s}\n"

static void load_controller(const char *keys)
{
    char text[512];
    snprintf(text, sizeof text, BOARD, keys);
    load(text);
}

static void test_a_controller_runs_where_and_how_the_scenario_says(void)
{
    load_controller(", cpu: 3, policy: fifo, priority: 55");
    TEST_ASSERT_EQUAL_INT(3, scenario->controller.cpu);
    TEST_ASSERT_EQUAL_INT(55, scenario->controller.priority);
    load_controller(", policy: fifo");
    TEST_ASSERT_EQUAL_INT(40, scenario->controller.priority);
    load_controller("");
    TEST_ASSERT_EQUAL_INT(-1, scenario->controller.cpu);
    TEST_ASSERT_EQUAL_INT(0, scenario->controller.priority);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_link_uses_mavlink_over_udp);
    RUN_TEST(test_px4_waits_on_tcp_4560);
    RUN_TEST(test_px4_hitl_is_on_a_serial_line);
    RUN_TEST(test_ardupilot_gets_every_frame_on_udp_9002);
    RUN_TEST(test_betaflight_has_a_pilot_and_receives_on_9003);
    RUN_TEST(test_written_rates_go_before_the_usual_ones);
    RUN_TEST(test_a_serial_line_is_read);
    RUN_TEST(test_can_shared_memory_and_tape_are_read);
    RUN_TEST(test_a_peer_makes_a_tcp_link_the_client);
    RUN_TEST(test_udp_and_tcp_may_have_the_same_port);
    RUN_TEST(test_ground_stations_share_the_line);
    RUN_TEST(test_a_betaflight_has_a_wire_of_its_year_and_a_radio_that_comes_on);
    RUN_TEST(test_only_a_run_in_real_time_knows_late_boards);
    RUN_TEST(test_sticks_become_the_channels_of_a_receiver);
    RUN_TEST(test_how_long_a_reply_may_take_is_up_to_the_protocol);
    RUN_TEST(test_a_line_that_carries_its_messages_is_fast_enough);
    RUN_TEST(test_a_hand_moves_controls_and_selects_modes);
    RUN_TEST(test_a_hand_is_sent_nothing_and_never_late);
    RUN_TEST(test_a_delay_is_whole_frames_and_wants_the_wall_clock);
    RUN_TEST(test_a_predictor_runs_as_far_ahead_as_links_are_late);
    RUN_TEST(test_a_controller_runs_where_and_how_the_scenario_says);
    return UNITY_END();
}
