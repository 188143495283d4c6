#include "tools/airbearing/timing/certificate.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/executive/state/digest.h"
#include "tools/airbearing/timing/show.h"

static const char kind[] = "airbearing timing 2";

static json_t *hash_text(uint64_t hash)
{
    char text[SIM_DIGEST_TEXT_SIZE];
    return json_string(sim_digest_text(hash, text));
}

static json_t *hashes(const struct figures *figures, struct io_mcap_reader *reader,
                      const char *path)
{
    uint64_t log, log_bytes;
    size_t scenario_size;
    const void *scenario = io_mcap_attachment(reader, "scenario.yaml", &scenario_size);
    if (!sim_digest_file(path, &log, &log_bytes))
        return NULL;
    json_t *object = json_object();
    json_object_set_new(object, "kind",
                        json_string("64 bits, of rt/hash.h: finds accidents, not forgers"));
    json_object_set_new(object, "log", hash_text(log));
    json_object_set_new(object, "log_bytes", json_integer((json_int_t)log_bytes));
    json_object_set_new(object, "scenario",
                        scenario ? hash_text(sim_digest_bytes(scenario, scenario_size))
                                 : json_null());
    json_object_set(object, "files", figures->evidence->files);
    json_object_set_new(object, "binary",
                        figures->evidence->binary_hash[0]
                            ? json_string(figures->evidence->binary_hash)
                            : json_null());
    return object;
}

/* The machine's part of the run's own report. */
static json_t *audit(const json_t *report)
{
    static const char *const key[] = {"realtime",
                                      "allocations_after_seal",
                                      "page_faults_after_seal",
                                      "stolen_ns_total",
                                      "state_hash",
                                      "isa",
                                      "log"};
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof key / sizeof key[0]; i++) {
        json_t *value = json_object_get(report, key[i]);
        json_object_set(object, key[i], value ? value : json_null());
    }
    return object;
}

struct json_t *certificate_make(const struct figures *figures, struct io_mcap_reader *reader,
                                const char *path, const struct figures_limits *limits)
{
    json_t *hash = hashes(figures, reader, path);
    if (!hash)
        return NULL;
    json_t *allowed = json_object();
    for (int i = RT_CAUSE_NONE + 1; i < RT_CAUSE_COUNT; i++)
        json_object_set_new(allowed, rt_cause_name[i],
                            json_integer((json_int_t)limits->allowed[i]));
    json_t *certificate = json_object();
    json_object_set_new(certificate, "certificate", json_string(kind));
    json_object_set_new(certificate, "hashes", hash);
    json_object_set_new(certificate, "allowed", allowed);
    json_object_set_new(certificate, "audit", audit(figures->evidence->report));
    json_t *machine = figures->evidence->machine;
    json_object_set(certificate, "machine", machine ? machine : json_null());
    json_object_set_new(certificate, "timing", show_json(figures));
    return certificate;
}

bool certificate_limits(const struct json_t *certificate, struct figures_limits *limits)
{
    const char *said = json_string_value(json_object_get(certificate, "certificate"));
    const json_t *allowed = json_object_get(certificate, "allowed");
    if (!said || strcmp(said, kind) != 0)
        return false;
    for (int i = RT_CAUSE_NONE + 1; i < RT_CAUSE_COUNT; i++) {
        const json_int_t count = json_integer_value(json_object_get(allowed, rt_cause_name[i]));
        limits->allowed[i] = count > 0 ? (uint64_t)count : 0;
    }
    return true;
}

/* ---- comparing ------------------------------------------------------------------------- */

enum { PLACE_MAX = 256 };

static bool is_same(const json_t *a, const json_t *b)
{
    if (json_is_real(a) && json_is_real(b)) {
        const double x = json_real_value(a), y = json_real_value(b);
        return fabs(x - y) <= 1e-9 * fmax(fabs(x), fabs(y)); /* libm may differ between machines */
    }
    return json_equal(a, b);
}

static void print_value(const char *what, const json_t *value)
{
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    printf("%s %.60s%s", what, text ? text : "nothing", text && strlen(text) > 60 ? "..." : "");
    free(text);
}

static int report_difference(const char *place, const json_t *given, const json_t *made)
{
    printf("  %s:", place);
    print_value(" the certificate says", given);
    print_value(", the log says", made);
    printf("\n");
    return 1;
}

static void join(char inner[PLACE_MAX], const char *place, const char *key)
{
    snprintf(inner, PLACE_MAX, "%.120s%s%.120s", place, place[0] ? "." : "", key);
}

/* Certificates are four levels deep, which bounds the recursion. */
static int compare_at(const char *place, json_t *given, json_t *made, int depth)
{
    if (!json_is_object(given) || !json_is_object(made) || depth == 0)
        return is_same(given, made) ? 0 : report_difference(place, given, made);
    int count = 0;
    const char *key;
    json_t *value;
    json_object_foreach(made, key, value)
    {
        char inner[PLACE_MAX];
        join(inner, place, key);
        count += compare_at(inner, json_object_get(given, key), value, depth - 1);
    }
    json_object_foreach(given, key, value)
    {
        char inner[PLACE_MAX];
        join(inner, place, key);
        if (!json_object_get(made, key))
            count += report_difference(inner, value, NULL);
    }
    return count;
}

int certificate_compare(struct json_t *given, struct json_t *made)
{
    return compare_at("", given, made, 4);
}
