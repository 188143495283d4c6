/*
 * Who does what when, and what goes wrong meanwhile: all drawn from the seed.
 *
 *      the frames begin      it goes wild            quiet: all is answered       the frames end
 *            0 s                                       3.5 s                           6 s
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/seeded/seeded.h"
#include "tests/seeded/wraps.h"

enum { CLIENT_MAX = 80, OPERATOR_MAX = 3, LIVE_FILES = 3 };
static const uint64_t WILD_NS = 3500 * (uint64_t)SEEDED_MS;

struct scripted workload_script[SCRIPT_MAX];
int workload_script_count;
uint64_t workload_signal_ns;

static struct {
    struct client clients[CLIENT_MAX];
    int operators, viewers;
    bool flood, burst, signal, hang;
    int actions;
    uint64_t begin_ns, hang_ns, hang_for_ns;
    uint64_t stop_after_ns, stop_for_ns; /* the disk, from the first frame on */
} plan;

struct action {
    struct client *client;
    char service[32], json[128], path[32];
};

/* ---- what clients do ------------------------------------------------------------------------- */

static void come(void *self)
{
    struct client *client = self;
    if (!client->connection)
        network_connect(client);
}

static void leave(void *self)
{
    network_leave(self);
}

static void read_on(void *self)
{
    network_read_on(self);
}

static void stall(void *self)
{
    struct client *client = self;
    client->stalls = true;
    seeded_at(seeded_now_ns + seeded_between(50 * SEEDED_MS, 800 * SEEDED_MS), read_on, client);
}

static void act(void *self)
{
    const struct action *action = self;
    clients_call(action->client, action->service, action->json,
                 action->path[0] ? action->path : NULL);
}

static void plan_call(uint64_t at_ns, struct client *client, const char *service, const char *json,
                      const char *path)
{
    struct action *action = seeded_allocate(sizeof *action);
    action->client = client;
    snprintf(action->service, sizeof action->service, "%s", service);
    snprintf(action->json, sizeof action->json, "%s", json);
    snprintf(action->path, sizeof action->path, "%s", path ? path : "");
    seeded_at(at_ns, act, action);
}

static void plan_file(uint64_t at_ns, struct client *client, const char *service, bool of_script)
{
    char json[64], path[32];
    snprintf(path, sizeof path, "%s%d.checkpoint", of_script ? "script" : "live",
             (int)seeded_below(LIVE_FILES));
    snprintf(json, sizeof json, "{\"path\": \"%s\"}", path);
    plan_call(at_ns, client, service, json, path);
}

static void plan_action(uint64_t at_ns, struct client *client)
{
    char json[64];
    const uint64_t what = seeded_below(22);
    if (what < 5) {
        plan_file(at_ns, client, "/checkpoint", false);
    } else if (what < 9) {
        plan_file(at_ns, client, "/restore", seeded_chance(4));
    } else if (what < 13) {
        plan_call(at_ns, client, "/safe", "{}", NULL);
    } else if (what < 14) {
        plan_call(at_ns, client, "/pause", "{}", NULL);
        plan_call(at_ns + seeded_below(200 * SEEDED_MS), client, "/resume", "{}", NULL);
    } else if (what < 16) {
        plan_call(at_ns, client, "/resume", "{}", NULL);
    } else if (what < 17) {
        snprintf(json, sizeof json, "{\"frames\": %d}", (int)seeded_between(1, 20));
        plan_call(at_ns, client, "/step", json, NULL);
        plan_call(at_ns + seeded_below(300 * SEEDED_MS), client, "/resume", "{}", NULL);
    } else if (what < 18) {
        plan_call(at_ns, client, "/reset", "{}", NULL);
    } else if (what < 20) {
        plan_call(at_ns, client, "/authority/give", "{}", NULL);
    } else {
        snprintf(json, sizeof json, "{\"name\": \"lean\", \"active\": %s}",
                 seeded_chance(2) ? "true" : "false");
        plan_call(at_ns, client, "/fault", json, NULL);
    }
}

/* Messages as fast as a broken program sends them. */
static void flood(void *self)
{
    struct client *client = self;
    static const char text[] = "{\"op\": \"getParameters\", \"parameterNames\": []}";
    if (seeded_now_ns >= seeded_weather.quiet_ns)
        return;
    if (!client->connection)
        network_connect(client);
    for (int i = 0; i < 20; i++)
        network_send(client, text, sizeof text - 1, false);
    seeded_at(seeded_now_ns + 10 * SEEDED_MS, flood, client);
}

static void subscribe(void *self)
{
    static const char text[] =
        "{\"op\": \"subscribe\", \"subscriptions\": [{\"id\": 1, \"channelId\": "
        "0}, {\"id\": 2, \"channelId\": 2}]}";
    network_send(self, text, sizeof text - 1, false);
}

/* From the quiet on operators come back, end every pause and wait for the end. */
static void calm_down(void *self)
{
    struct client *client = self;
    if (watch_is_over())
        return;
    if (!client->connection)
        network_connect(client);
    else
        clients_call(client, "/resume", "{}", NULL);
    seeded_at(seeded_now_ns + 200 * SEEDED_MS, calm_down, client);
}

/* ---- the plan -------------------------------------------------------------------------------- */

static uint64_t wild_time(void)
{
    return plan.begin_ns + seeded_between(100 * SEEDED_MS, WILD_NS - 50 * SEEDED_MS);
}

static void plan_operator(struct client *client)
{
    seeded_at(plan.begin_ns + seeded_below(80 * SEEDED_MS), come, client);
    for (int i = 0; i < plan.actions; i++)
        plan_action(wild_time(), client);
    if (plan.burst && client == plan.clients) {
        const uint64_t at_ns = wild_time();
        for (int i = 0; i < 80; i++)
            plan_file(at_ns + seeded_below(2 * SEEDED_MS), client, "/checkpoint", false);
    }
    if (seeded_chance(4)) {
        const uint64_t at_ns = wild_time();
        seeded_at(at_ns, leave, client);
        seeded_at(at_ns + seeded_below(500 * SEEDED_MS), come, client);
    }
    if (seeded_chance(4))
        seeded_at(wild_time(), stall, client);
    seeded_at(plan.begin_ns + WILD_NS + seeded_between(300 * SEEDED_MS, 500 * SEEDED_MS), calm_down,
              client);
}

static void plan_viewer(struct client *client)
{
    const uint64_t at_ns = plan.begin_ns + seeded_below(WILD_NS / 2);
    seeded_at(at_ns, come, client);
    seeded_at(at_ns + 20 * SEEDED_MS, subscribe, client);
    if (seeded_chance(3))
        seeded_at(wild_time(), stall, client);
    if (seeded_chance(3))
        seeded_at(wild_time(), leave, client);
}

static void terminate(void *self)
{
    (void)self;
    if (watch_is_over())
        return;
    workload_signal_ns = seeded_now_ns;
    threads_signal(SIGTERM);
}

void workload_begin(void)
{
    plan.begin_ns = seeded_now_ns;
    seeded_weather.quiet_ns = plan.begin_ns + WILD_NS;
    if (plan.stop_for_ns > 0) {
        seeded_weather.stop_ns = plan.begin_ns + plan.stop_after_ns;
        seeded_weather.stop_until_ns = seeded_weather.stop_ns + plan.stop_for_ns;
        if (seeded_weather.stop_until_ns > seeded_weather.quiet_ns)
            seeded_weather.stop_until_ns = seeded_weather.quiet_ns;
    }
    for (int i = 0; i < plan.operators; i++)
        plan_operator(&plan.clients[i]);
    for (int i = 0; i < plan.viewers; i++)
        plan_viewer(&plan.clients[OPERATOR_MAX + i]);
    if (plan.flood)
        seeded_at(wild_time(), flood, &plan.clients[CLIENT_MAX - 1]);
    const bool meets_stop = plan.stop_for_ns > 0 && seeded_chance(2);
    const uint64_t trouble_ns = meets_stop ? seeded_weather.stop_ns + 100 * SEEDED_MS : wild_time();
    if (plan.signal)
        seeded_at(trouble_ns, terminate, NULL);
    if (plan.hang) {
        plan.hang_ns = trouble_ns;
        plan.hang_for_ns = seeded_between(600 * SEEDED_MS, 3000 * (uint64_t)SEEDED_MS);
    }
}

/* Something keeps the frame thread from its core. */
void workload_stall_frame(void)
{
    if (plan.hang_ns == 0 || seeded_now_ns < plan.hang_ns)
        return;
    const uint64_t until_ns = seeded_now_ns + plan.hang_for_ns;
    plan.hang_ns = 0;
    seeded_trace("the frame thread hangs for %.1f ms", (double)plan.hang_for_ns * 1e-6);
    while (seeded_now_ns < until_ns)
        seeded_wait(&plan, until_ns);
}

/* ---- the weather and the command line -------------------------------------------------------- */

static void draw_weather(void)
{
    static const uint64_t sync_ms[] = {1, 1, 5, 50, 300};
    seeded_weather = (struct seeded_weather){
        .sync_ns_max = sync_ms[seeded_below(5)] * SEEDED_MS,
        .disk_errors = seeded_chance(2) ? (unsigned)seeded_between(8, 200) : 0,
        .send_errors = seeded_chance(4) ? (unsigned)seeded_between(50, 1000) : 0,
        .accept_errors = seeded_chance(4) ? 4 : 0,
        .allocation_errors = seeded_chance(5) ? (unsigned)seeded_between(50, 2000) : 0,
        .late = seeded_chance(2) ? (unsigned)seeded_between(4, 100) : 0,
        .late_ns_max = 3 * SEEDED_MS,
        .uring = !seeded_chance(3),
        .quiet_ns = seeded_chance(10) ? UINT64_MAX : 0, /* nothing is safe, not even the start */
    };
    if (seeded_chance(3)) {
        plan.stop_after_ns = seeded_between(100 * SEEDED_MS, WILD_NS / 2);
        plan.stop_for_ns = seeded_between(200 * SEEDED_MS, 2500 * (uint64_t)SEEDED_MS);
    }
}

static char *word(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *word(const char *format, ...)
{
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char *made = seeded_allocate(strlen(text) + 1);
    memcpy(made, text, strlen(text));
    return made;
}

/* Checkpoints first, then what was kept is put back, now and then. */
static int draw_script(char **argv)
{
    const int count = seeded_chance(2) ? 0 : (int)seeded_between(2, 8);
    int used = 0;
    for (int i = 0; i < count; i++) {
        struct scripted *one = &workload_script[workload_script_count++];
        const uint64_t at_ms = seeded_between(i < count / 2 ? 50 : 600, i < count / 2 ? 900 : 3400);
        const int number = (int)seeded_below(LIVE_FILES);
        one->what = i < count / 2 ? "checkpoint" : "restore";
        snprintf(one->path, sizeof one->path, "script%d.checkpoint", number);
        argv[used++] = word("--act");
        argv[used++] = word("%.3fs:%s %s", (double)at_ms * 1e-3, one->what, one->path);
    }
    return used;
}

int workload_draw(const char *scenario, char **argv)
{
    draw_weather();
    plan.operators = (int)seeded_between(1, OPERATOR_MAX);
    plan.viewers = seeded_chance(6) ? 60 : (int)seeded_below(4);
    plan.flood = seeded_chance(8);
    plan.burst = seeded_chance(5);
    plan.signal = seeded_chance(10);
    plan.hang = !plan.signal && seeded_chance(10);
    plan.actions = (int)seeded_between(3, 25);
    for (int i = 0; i < CLIENT_MAX; i++)
        plan.clients[i] = (struct client){.number = i, .is_operator = i < plan.operators};
    int count = 0;
    argv[count++] = word("airbearing");
    argv[count++] = word("run");
    argv[count++] = word("%s", scenario);
    argv[count++] = word("--serve");
    argv[count++] = word("127.0.0.1:8080");
    argv[count++] = word("--operator-token");
    argv[count++] = word("sesame");
    argv[count++] = word("--log");
    argv[count++] = word("run.mcap");
    argv[count++] = word("--report");
    argv[count++] = word("report.json");
    return count + draw_script(argv + count);
}
