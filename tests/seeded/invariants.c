/*
 * What holds in every run.  README.md says how to write another one.
 */
#include <jansson.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "rt/executive/operator/operator.h"
#include "rt/executive/state/checkpoint.h"
#include "rt/frame.h"
#include "tests/seeded/seeded.h"
#include "tests/seeded/watch.h"
#include "tests/seeded/wraps.h"

enum { VERSION_MAX = 8192, PROMISE_MAX = 1024, SAFE_MAX = 1024, SAFE_FRAMES = 2 };
static const uint64_t WATCH_NS =
    150 * SEEDED_MS; /* a watcher comes by every 20 ms, or a little later */

/* ---- SAFE within its bound ------------------------------------------------------------------- */

static struct {
    uint32_t call;
    int passed; /* boundaries since the server read it */
} safes[SAFE_MAX];
static int safe_count;

/* A stop stands until something else is done or a frame runs: another one adds nothing to it. */
static bool safe_stands;

void invariants_safe_read(const struct call *call)
{
    if (watch_is_over() || safe_stands || safe_count == SAFE_MAX)
        return;
    safes[safe_count].passed = 0;
    safes[safe_count++].call = call->id;
    seeded_shared->safes++;
}

void invariants_act(bool is_safe)
{
    safe_stands = is_safe;
    if (is_safe)
        safe_count = 0;
}

void invariants_boundary(bool is_frame)
{
    if (safe_stands)
        safe_count = 0;
    if (is_frame)
        safe_stands = false;
    for (int i = 0; i < safe_count; i++) {
        if (++safes[i].passed > SAFE_FRAMES)
            seeded_fail(
                "SAFE: %d boundaries have passed since the server read call %u, and the arm "
                "is not safe",
                safes[i].passed, safes[i].call);
    }
}

/* ---- somebody watches ------------------------------------------------------------------------ */

static uint64_t since_release_ns;

void invariants_release(void)
{
    since_release_ns = seeded_now_ns;
}

static void look_at_watchdog(const struct rt_frame *frame)
{
    const struct rt_watchdog *dog = frame->watchdog;
    const uint64_t kicked_ns = atomic_load(&dog->kicked_ns);
    if (kicked_ns == 0 || seeded_now_ns < kicked_ns + dog->limit_ns + WATCH_NS)
        return;
    if (!atomic_load(&dog->expired))
        seeded_fail("the watchdog is silent: the frame thread hangs since %.1f ms, the limit is "
                    "%.1f ms",
                    (double)(seeded_now_ns - kicked_ns) * 1e-6, (double)dog->limit_ns * 1e-6);
}

static void look_at_stop(const struct rt_frame *frame)
{
    if (workload_signal_ns == 0 || seeded_now_ns < workload_signal_ns + WATCH_NS)
        return;
    if (!atomic_load(&frame->stop))
        seeded_fail("SIGTERM came %.1f ms ago, and the frames have not been told",
                    (double)(seeded_now_ns - workload_signal_ns) * 1e-6);
}

/* ---- what is called written is on the disk --------------------------------------------------- */

struct version {
    char name[64];
    uint64_t hash;
};
static struct version versions[VERSION_MAX];
static int version_count;
static struct version promises[PROMISE_MAX];
static int promise_count;

static bool read_checkpoint(const unsigned char *bytes, size_t size, uint64_t *hash,
                            char why[SIM_CHECKPOINT_ERROR_MAX])
{
    struct sim_checkpoint_identity mark;
    struct sim_checkpoint found;
    snprintf(why, SIM_CHECKPOINT_ERROR_MAX, "it is not there");
    if (!bytes)
        return false;
    if (size >= 16 + sizeof mark)
        memcpy(&mark, bytes + 16, sizeof mark); /* whose it is does not matter here */
    else
        memset(&mark, 0, sizeof mark);
    if (sim_checkpoint_parse(bytes, size, &mark, &found, why))
        return false;
    *hash = found.hash;
    return true;
}

void invariants_file(const char *name)
{
    char why[SIM_CHECKPOINT_ERROR_MAX];
    size_t size;
    uint64_t hash;
    if (!strstr(name, ".checkpoint") || version_count == VERSION_MAX)
        return;
    const unsigned char *bytes = disk_now(name, &size);
    if (!read_checkpoint(bytes, size, &hash, why))
        seeded_fail("%s was given its name and is no checkpoint: %s", name, why);
    struct version *version = &versions[version_count++];
    snprintf(version->name, sizeof version->name, "%s", name);
    version->hash = hash;
}

/* A state can come again, after a restore; -1: the file never held it. */
static int version_of(const char *name, uint64_t hash, bool newest)
{
    int found = -1;
    for (int i = 0; i < version_count && (found < 0 || newest); i++) {
        if (versions[i].hash == hash && strcmp(versions[i].name, name) == 0)
            found = i;
    }
    return found;
}

static bool held(const char *name, uint64_t hash)
{
    return version_of(name, hash, false) >= 0;
}

static void check_promise(const struct version *promise)
{
    char why[SIM_CHECKPOINT_ERROR_MAX];
    size_t size;
    uint64_t hash = 0;
    const unsigned char *bytes = disk_after_crash(promise->name, &size);
    seeded_shared->crashes++;
    if (!read_checkpoint(bytes, size, &hash, why))
        seeded_fail("%s was answered as written, and is lost with the power: %s", promise->name,
                    why);
    if (version_of(promise->name, hash, true) < version_of(promise->name, promise->hash, false))
        seeded_fail("%s was answered as written, and is an older one after a loss of power",
                    promise->name);
}

static void lose_power(void)
{
    for (int i = 0; i < promise_count; i++)
        check_promise(&promises[i]);
}

static void promise(const char *name, uint64_t hash)
{
    if (!held(name, hash))
        seeded_fail("%s was answered as written, and no such state was", name);
    if (promise_count == PROMISE_MAX)
        return;
    struct version *made = &promises[promise_count++];
    snprintf(made->name, sizeof made->name, "%s", name);
    made->hash = hash;
    check_promise(made);
}

/* ---- every act is done once, or refused with a reason ---------------------------------------- */

static int act_of(const char *service)
{
    static const char *const names[SIM_ACT_COUNT] = {"/pause", "/resume",     "/step",
                                                     "/reset", "/checkpoint", "/restore",
                                                     "/fault", "/tune",       "/safe"};
    for (int i = 0; i < SIM_ACT_COUNT; i++) {
        if (strcmp(names[i], service) == 0)
            return i;
    }
    return -1;
}

/* The act of this kind before this frame that nobody has claimed; where a file is named, with a
 * state that it held. */
static struct act *find_act(int kind, uint64_t frame, const char *path)
{
    struct act *acts;
    const int count = watch_acts(&acts);
    for (int i = 0; i < count; i++) {
        const bool fits = acts[i].act == kind && acts[i].frame == frame && !acts[i].matched;
        if (fits && (!path || held(path, acts[i].hash)))
            return &acts[i];
    }
    return NULL;
}

void invariants_answer(struct call *call, const char *text)
{
    const int kind = act_of(call->service);
    if (!text || !text[0])
        seeded_fail("call %u, %s, was answered without a word", call->id, call->service);
    if (kind == SIM_ACT_STOP_ARM && call->state == CALL_REFUSED && call->client->is_operator &&
        !watch_is_over() && !strstr(text, "the run "))
        seeded_fail("SAFE was refused: %s", text);
    if (kind < 0 || kind == SIM_ACT_STOP_ARM)
        return;
    const bool has_file =
        kind == SIM_ACT_RESTORE || (kind == SIM_ACT_CHECKPOINT && call->state == CALL_DONE);
    struct act *act = find_act(kind, call->frame, has_file ? call->path : NULL);
    if (act && kind == SIM_ACT_CHECKPOINT && call->state == CALL_DONE)
        promise(call->path, act->hash);
    if (act && (call->state == CALL_DONE || kind == SIM_ACT_CHECKPOINT)) {
        act->matched = call->matched = true;
        return;
    }
    if (call->state == CALL_DONE)
        seeded_fail("call %u, %s %s, was answered as done before frame %llu, and was not%s",
                    call->id, call->service, call->path, (unsigned long long)call->frame,
                    kind == SIM_ACT_RESTORE ? " (or with another state)" : "");
}

/* Acts that nobody claims yet are those of the command line, or of calls in doubt. */
static bool claim_for_script(struct act *act, bool any_file)
{
    static bool used[SCRIPT_MAX];
    for (int i = 0; i < workload_script_count; i++) {
        char service[32];
        snprintf(service, sizeof service, "/%s", workload_script[i].what);
        if (used[i] || act_of(service) != act->act)
            continue;
        if (!held(workload_script[i].path, act->hash) && (act->act == SIM_ACT_RESTORE || !any_file))
            continue;
        used[i] = act->matched = true;
        act->path = workload_script[i].path;
        return true;
    }
    return false;
}

static bool claim_in_doubt(struct act *act)
{
    struct call *calls;
    const int count = clients_calls(&calls);
    for (int i = 0; i < count; i++) {
        struct call *call = &calls[i];
        const bool open = call->state == CALL_IN_DOUBT || call->state == CALL_OPEN;
        if (!open || call->matched || !call->was_read || act_of(call->service) != act->act)
            continue;
        if (act->act == SIM_ACT_RESTORE && !held(call->path, act->hash))
            continue;
        call->matched = act->matched = true;
        return true;
    }
    return false;
}

static int64_t number(const json_t *root, const char *group, const char *key)
{
    return json_integer_value(json_object_get(json_object_get(root, group), key));
}

static bool is_unclaimed(const struct act *act)
{
    return !act->matched && act->act != SIM_ACT_STOP_ARM;
}

/* In a pause many checkpoints are of one state, and a viewer's answer may have claimed that of the
 * script: then the file that the script names holds the state of another act. */
static bool is_mistaken(const struct act *act, const struct act *acts, int count)
{
    if (held(act->path, act->hash))
        return false;
    for (int i = 0; i < count; i++) {
        if (acts[i].act == SIM_ACT_CHECKPOINT && held(act->path, acts[i].hash))
            return true;
    }
    return false;
}

static void settle_acts(const json_t *report)
{
    struct act *acts;
    const int count = watch_acts(&acts);
    int of_script = 0;
    /* Acts whose file holds their state first, so that no other takes their line of the script. */
    for (int i = 0; i < count; i++)
        of_script += is_unclaimed(&acts[i]) && claim_for_script(&acts[i], false);
    for (int i = 0; i < count; i++) {
        if (!is_unclaimed(&acts[i]) || claim_in_doubt(&acts[i]))
            continue;
        if (!claim_for_script(&acts[i], true))
            seeded_fail("an act was done that nobody asked for, or with a state that is not in the "
                        "file that was named: %d before frame %llu",
                        acts[i].act, (unsigned long long)acts[i].frame);
        of_script++;
    }
    if (!report || json_object_get(report, "operator") == NULL)
        return;
    const int64_t failed = number(report, "operator", "failed"),
                  unreached = number(report, "operator", "not_reached");
    int asked = 0;
    for (int i = 0; i < workload_script_count; i++)
        asked += strcmp(workload_script[i].what, "safe") != 0;
    for (int i = 0; i < count && failed == 0; i++) {
        if (acts[i].path && acts[i].act == SIM_ACT_CHECKPOINT &&
            !is_mistaken(&acts[i], acts, count))
            promise(acts[i].path, acts[i].hash);
    }
    /* A checkpoint that was taken and could not be written counts twice. */
    if (of_script + failed + unreached < asked)
        seeded_fail(
            "of %d acts of the command line %d were done, %lld failed, %lld were not reached: "
            "one was passed over in silence",
            asked, of_script, (long long)failed, (long long)unreached);
}

static void settle_calls(void)
{
    struct call *calls;
    const int count = clients_calls(&calls);
    for (int i = 0; i < count; i++) {
        if (calls[i].state == CALL_OPEN && calls[i].was_read &&
            calls[i].sent_ns < seeded_weather.quiet_ns)
            seeded_fail("call %u, %s %s, was never answered", calls[i].id, calls[i].service,
                        calls[i].path);
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

void invariants_look(void)
{
    const struct rt_frame *frame = watch_frame();
    if (!frame || watch_is_over())
        return;
    look_at_watchdog(frame);
    look_at_stop(frame);
    if (promise_count > 0 && seeded_chance(1024))
        lose_power();
}

/* The report, as a loss of power leaves it; NULL: the disk refused it, and the program said so. */
static json_t *read_report(const char *errors)
{
    size_t size;
    const unsigned char *bytes = disk_after_crash("report.json", &size);
    json_t *report = bytes ? json_loadb((const char *)bytes, size, 0, NULL) : NULL;
    seeded_shared->crashes++;
    if (!report && !strstr(errors, "--report"))
        seeded_fail("the report was written, and is lost with the power");
    return report;
}

void invariants_end(const char *out, const char *errors)
{
    if (watch_frames() == 0) { /* it refused to begin, and said why */
        if (seeded_shared->faults == 0 || !errors[0])
            seeded_fail("it did not begin: %.200s", errors);
        return;
    }
    const bool ended_early = workload_signal_ns > 0 || strstr(out, "hung") != NULL;
    lose_power();
    json_t *report = read_report(errors);
    settle_acts(report);
    if (!ended_early)
        settle_calls();
    if (report && number(report, "log", "error") != 0 && disk_errors("run.mcap") == 0 &&
        seeded_weather.allocation_errors == 0)
        seeded_fail("the report says that the disk refused the log, and it did not");
    if (report && number(report, "log", "error") == 0 && number(report, "log", "dropped") == 0)
        invariants_replay();
    json_decref(report);
}
