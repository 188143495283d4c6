#include "tools/airbearing/run/board_wait.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "config/scenario.h"
#include "rt/panic.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/report/ground_result.h"
#include "tools/airbearing/run/betaflight_msp.h"
#include "tools/airbearing/run/board_wake_up.h"
#include "tools/airbearing/run/sleep_ms.h"

/* Print why no board was found, and what to do. */
static int print_board_missing(const struct run *run, int index)
{
    const struct sim_link *link = &run->scenario->spec.links[index];
    const struct cfg_mark mark = cfg_scenario_mark(run->scenario, "links", link->name);
    const struct io_bus_spec *bus = &link->spec.bus;
    const bool gone = run->controller.died_early;
    const bool not_hil = io_link_board_state(run->links, index) == IO_BOARD_NOT_HIL;
    fprintf(stderr, "%s:%d:%d: links.%s: %s on %s; %s\n", run->scenario->path, mark.line,
            mark.column, link->name,
            not_hil ? "board not in HIL mode"
            : gone  ? "the controller process ended before it sent a message"
                    : "no message from a board",
            bus->device[0]   ? bus->device
            : bus->listen[0] ? bus->listen
                             : bus->peer,
            not_hil ? "set SYS_HITL to 1 on the board (airframe HIL Quadcopter X) and restart it"
            : gone  ? "its output follows"
                    : "start it, or check its address and port");
    controller_print_output(&run->controller, "  ");
    return EXIT_BY_POLICY;
}

/* 0 to continue to wait, else the exit code. */
static int check_wait(struct run *run, int index, uint64_t limit_ns)
{
    if (rt_stop_signal()) {
        fprintf(stderr, "airbearing run: ended by SIG%s before the first frame; nothing was run\n",
                sigabbrev_np(rt_stop_signal()));
        return EXIT_INTERRUPTED;
    }
    const bool gone = run->controller.program[0] && !controller_running(&run->controller);
    return gone || rt_now_ns() > limit_ns ? print_board_missing(run, index) : 0;
}

/* A PX4 board must also be in HIL mode, or it would ignore the sensor messages. */
static bool board_is_ready(const struct run *run, int index)
{
    if (io_protocol_traits(run->scenario->spec.links[index].spec.protocol)->needs_hil_flag)
        return io_link_board_state(run->links, index) == IO_BOARD_READY;
    return io_link_has_peer(run->links, index);
}

/* Warn of a packet variant that is not the board's: the motor order differs, and the vehicle flips.
 */
static void compare_variants(const struct run *run, int index,
                             const struct betaflight_version *version)
{
    const struct sim_link *link = &run->scenario->spec.links[index];
    const struct cfg_mark mark = cfg_scenario_mark(run->scenario, "links", link->name);
    const int *n = version->number;
    const enum io_betaflight_variant speaks = betaflight_variant_of(version);
    if (n[0] != 0 && speaks != link->spec.variant)
        fprintf(stderr,
                "%s:%d:%d: links.%s: the board is Betaflight %d.%d.%d, which uses variant: %s, "
                "and the link has variant: %s; change it, unless the board was built for the other "
                "one\n",
                run->scenario->path, mark.line, mark.column, link->name, n[0], n[1], n[2],
                cfg_variant_name(speaks), cfg_variant_name(link->spec.variant));
}

static int wait_for_betaflight(struct run *run, int index, uint64_t limit_ns)
{
    const struct sim_link *link = &run->scenario->spec.links[index];
    struct betaflight_gate gate = {0};
    int code = 0;
    if (!io_protocol_traits(link->spec.protocol)->reports_version)
        return 0;
    while (code == 0 &&
           !betaflight_gate_opens(&gate, betaflight_query(link->spec.bus.peer, &gate.version),
                                  rt_now_ns())) {
        sleep_ms(100);
        code = check_wait(run, index, limit_ns);
    }
    compare_variants(run, index, &gate.version);
    return code;
}

static int wait_for_board(struct run *run, int index)
{
    const struct sim_link *link = &run->scenario->spec.links[index];
    const struct io_protocol_traits *traits = io_protocol_traits(link->spec.protocol);
    const uint64_t limit_ns = rt_now_ns() + link->connect_limit_ns;
    int code = wait_for_betaflight(run, index, limit_ns);
    if (link->spec.bus.kind == IO_BUS_COCKPIT)
        return 0; /* a person connects after the run has started */
    while (traits->speaks_first && code == 0 && !board_is_ready(run, index)) {
        io_links_poll(run->links);
        sleep_ms(5);
        code = check_wait(run, index, limit_ns);
    }
    const bool locks = run->scenario->spec.pace != RT_PACE_REAL && traits->stamps_commands;
    const bool wakes = !traits->speaks_first || locks;
    const int enough = io_protocol_traits(link->spec.protocol)->first_replies;
    for (int replies = 0; wakes && code == 0 && replies < enough;)
        if (board_wake_up(run, index))
            replies++;
        else
            code = check_wait(run, index, limit_ns);
    return code;
}

static int wait_for_boards(struct run *run)
{
    int code = 0;
    for (int i = 0; i < run->scenario->spec.link_count && code == 0; i++)
        code = wait_for_board(run, i);
    return code;
}

int board_wait_connect(struct run *run)
{
    if (!run->links)
        return 0;
    const struct cfg_scenario *scenario = run->scenario;
    const struct rt_thread_spec spec = {
        .name = "io",
        .policy = scenario->spec.pace == RT_PACE_FAST ? SCHED_OTHER : SCHED_FIFO,
        .priority = scenario->spec.pace == RT_PACE_FAST ? 0 : scenario->spec.io_priority,
        .cpu = run->plan.io_cpu};
    const int failure =
        io_links_start(run->links, &spec, run->plan.io_polls, &run->watchdog, &run->io_thread);
    if (failure) {
        fprintf(stderr, "airbearing run: cannot start the I/O thread: %s\n", strerror(-failure));
        return EXIT_BAD_INPUT;
    }
    ground_result_warn_unheard(run);
    char error[CFG_ERROR_MAX];
    if (!run->options.external_controller && controller_start(&run->controller, scenario, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    return wait_for_boards(run);
}
