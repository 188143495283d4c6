#include "tools/airbearing/run/options.h"
#include "config/scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/airbearing/arguments.h"
#include "tools/airbearing/command.h"

static const char usage[] =
    "usage: airbearing run SCENARIO [options]\n"
    "\n"
    "Run a scenario in closed loop with its board.\n"
    "\n"
    "  --seconds S          simulated seconds (default: the scenario's)\n"
    "  --pace PACE          real (wall clock), fast (no waiting; recorded or no peer), lockstep "
    "(the\n"
    "                       board's replies pace the frames)\n"
    "  --log FILE.mcap      write the log; opens in Foxglove, Lichtblick and PlotJuggler\n"
    "  --overwrite          overwrite an existing log; without it that is refused\n"
    "  --report FILE.json   write the report\n"
    "  --set KEY=VALUE      override a key of the scenario, e.g. --set rate=500Hz or\n"
    "                       --set devices.gyro.noise=0; may be given many times\n"
    "  --serve [ADDRESS:]PORT\n"
    "                       show the run live to Foxglove, Lichtblick, PlotJuggler, a browser and\n"
    "                       airbearing top; on 127.0.0.1, or on another address with --token "
    "TOKEN\n"
    "                       or --token-file FILE, and --cert FILE --key FILE for TLS\n"
    "  --operator-token T   viewers with ?operator=T may command, others only watch; default: a\n"
    "                       random token, in the printed address.  --operator-token-file FILE\n"
    "                       hides it from other users of this machine\n"
    "  --origin URL         let pages of this origin connect, e.g. https://viewer.example; may be\n"
    "                       given many times\n"
    "  --external-board     do not start the scenario's controller; the board runs already\n"
    "  --inject WHAT@TIME   disturb the run to test the bench: hang@2s stops the frame thread for\n"
    "                       good, late=5ms@2s makes one frame that long, touch=100@2s makes it "
    "touch\n"
    "                       so many new pages\n"
    "  --restore FILE       start from the run state of a checkpoint\n"
    "  --act TIME:WHAT      an act of the operator; may be given many times: pause, step N, "
    "resume,\n"
    "                       reset, safe, checkpoint FILE, restore FILE, fault NAME on|off,\n"
    "                       tune NAME=VALUE;\n"
    "                       e.g. --act 2s:\"tune devices.gyro.bias.x=0.1deg/s\".\n"
    "                       The time counts on during a pause: 1s:pause 1.5s:resume is 0.5 s long\n"
    "\n"
    "Exit: 0 ok (the first line names what was not kept: time, link, log; with require: that is\n"
    "exit 1); 1 no: an expectation or require failed, an act failed, the motion is not sound, or\n"
    "the disk refused the log; 2 bad input; 3 stopped by policy (overrun, link lost, controller\n"
    "ended, frame thread hung) or no message from a board; 64 usage; 130 interrupted.\n";

const char *const options_pace_name[] = {"real", "fast", "lockstep"};

static int pace_of(const char *name)
{
    for (int i = 0; i < 3; i++) {
        if (strcmp(name, options_pace_name[i]) == 0)
            return i;
    }
    return -1;
}

static int usage_error(const char *what, const char *value)
{
    fprintf(stderr, "airbearing run: %s \"%s\"; see airbearing run --help\n", what, value);
    return EXIT_USAGE;
}

static int read_serve_option(struct serve_options *serve, int option, const char *value)
{
    switch (option) {
    case 'v':
        serve->at = value;
        return 0;
    case 't':
        serve->token = value;
        return 0;
    case 'f':
        serve->token_file = value;
        return 0;
    case 'q':
        serve->operator_token = value;
        return 0;
    case 'Q':
        serve->operator_token_file = value;
        return 0;
    case 'c':
        serve->certificate = value;
        return 0;
    case 'y':
        serve->key = value;
        return 0;
    case 'o':
        if (serve->origin_count == IO_SERVER_ORIGIN_MAX / 2)
            return usage_error("too many --origin, at", value);
        serve->origins[serve->origin_count++] = value;
        return 0;
    default:
        return EXIT_USAGE;
    }
}

static int take_option(void *self, int option, char *value)
{
    struct run_options *options = self;
    char *rest;
    switch (option) {
    case 's':
        options->seconds = strtod(value, &rest);
        if (*rest != '\0' || !(options->seconds > 0.0) || !(options->seconds < 1e7))
            return usage_error("--seconds needs a positive number, not", value);
        return 0;
    case 'p':
        options->pace = pace_of(value);
        return options->pace < 0 ? usage_error("--pace is real, fast or lockstep, not", value) : 0;
    case 'l':
        options->log = value;
        return 0;
    case 'O':
        options->overwrite = true;
        return 0;
    case 'r':
        options->report = value;
        return 0;
    case 'k':
        if (options->override_count == RUN_OVERRIDE_MAX)
            return usage_error("too many --set, at", value);
        options->overrides[options->override_count++] = value;
        return 0;
    case 'e':
        options->external_controller = true;
        return 0;
    case 'i':
        options->inject = value;
        return 0;
    case 'b':
        options->restore = value;
        return 0;
    case 'a':
        if (options->act_count == SIM_OPERATOR_SCRIPT_MAX)
            return usage_error("too many --act, at", value);
        options->acts[options->act_count++] = value;
        return 0;
    default:
        return read_serve_option(&options->serve, option, value);
    }
}

int options_read(int argc, char **argv, struct run_options *options, bool *done)
{
    static const struct option table[] = {
        {"seconds", required_argument, NULL, 's'},
        {"pace", required_argument, NULL, 'p'},
        {"log", required_argument, NULL, 'l'},
        {"overwrite", no_argument, NULL, 'O'},
        {"report", required_argument, NULL, 'r'},
        {"set", required_argument, NULL, 'k'},
        {"external-board", no_argument, NULL, 'e'},
        {"inject", required_argument, NULL, 'i'},
        {"serve", required_argument, NULL, 'v'},
        {"token", required_argument, NULL, 't'},
        {"token-file", required_argument, NULL, 'f'},
        {"operator-token", required_argument, NULL, 'q'},
        {"operator-token-file", required_argument, NULL, 'Q'},
        {"cert", required_argument, NULL, 'c'},
        {"key", required_argument, NULL, 'y'},
        {"origin", required_argument, NULL, 'o'},
        {"restore", required_argument, NULL, 'b'},
        {"act", required_argument, NULL, 'a'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    *options = (struct run_options){.pace = -1};
    const int code = arguments_read(argc, argv, table, usage, take_option, options, done);
    if (code || *done)
        return code;
    if (optind != argc - 1) {
        fputs(optind == argc ? "airbearing run: give a scenario, e.g. airbearing run "
                               "config/scenarios/satellite-board.yaml\n"
                             : "airbearing run: one scenario at a time\n",
              stderr);
        return EXIT_USAGE;
    }
    options->scenario = argv[optind];
    return 0;
}

int options_inject(const struct run_options *options, const struct cfg_scenario *scenario,
                   struct sim_inject *inject)
{
    double at_s = 0.0, late_ms = 0.0, pages = 0.0;
    int end = 0;
    if (!options->inject)
        return 0;
    if (sscanf(options->inject, "hang@%lfs%n", &at_s, &end) == 1 && options->inject[end] == '\0')
        inject->kind = SIM_INJECT_HANG;
    else if (sscanf(options->inject, "late=%lfms@%lfs%n", &late_ms, &at_s, &end) == 2 &&
             options->inject[end] == '\0')
        inject->kind = SIM_INJECT_DELAY;
    else if (sscanf(options->inject, "touch=%lf@%lfs%n", &pages, &at_s, &end) == 2 &&
             options->inject[end] == '\0' && pages >= 1.0 && pages <= 1e5)
        inject->kind = SIM_INJECT_PAGE_FAULT;
    else
        return usage_error("--inject is hang@2s, late=5ms@2s or touch=100@2s, not",
                           options->inject);
    if (!(at_s >= 0.0 && at_s < 1e7 && late_ms >= 0.0 && late_ms < 1e7))
        return usage_error("--inject needs times that are not negative, not", options->inject);
    inject->frame = (uint64_t)llround(at_s * scenario->spec.rate_hz);
    inject->late_ns = (uint64_t)llround(late_ms * 1e6);
    inject->pages = (uint32_t)pages;
    return 0;
}
