#include "tools/airbearing/doctor/print.h"

#include <jansson.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum { NAME_WIDTH = 22, LINE_WIDTH = 100 };

/* --- for people ------------------------------------------------------------------------------- */

/* Print words from a column on, with line breaks at blanks; the cursor is already at that column.
 */
static void print_wrapped(const char *text, int column)
{
    int at = column;
    while (*text) {
        const int size = (int)strcspn(text, " ");
        if (at > column && at + 1 + size > LINE_WIDTH) {
            printf("\n%*s", column, "");
            at = column;
        } else if (at > column) {
            putchar(' ');
            at++;
        }
        printf("%.*s", size, text);
        at += size;
        text += size;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_finding(const struct doctor_finding *finding)
{
    char text[2 * DOCTOR_TEXT_SIZE];
    printf("  %-*s", NAME_WIDTH - 2, finding->name);
    if (finding->state == DOCTOR_OK) {
        print_wrapped(finding->seen, NAME_WIDTH);
        return;
    }
    snprintf(text, sizeof text, "%s (%s)", finding->seen, finding->why);
    print_wrapped(text, NAME_WIDTH);
    if (finding->remedy[0] != '\0') {
        printf("%*s-> ", NAME_WIDTH, "");
        print_wrapped(finding->remedy, NAME_WIDTH + 3);
    }
}

static void print_group(const struct doctor_findings *findings, enum doctor_state state)
{
    bool first = true;
    for (int i = 0; i < findings->count; i++) {
        if (findings->finding[i].state != state)
            continue;
        if (first)
            printf("\n%s\n", doctor_state_name[state]);
        first = false;
        print_finding(&findings->finding[i]);
    }
}

static void print_verdict(const struct doctor_facts *facts, const struct doctor_findings *findings)
{
    const int missing = doctor_missing(findings);
    if (missing > 0)
        printf("not fit for hard real time: %d of %d essential things are missing (core %d)\n",
               missing, doctor_essential(findings), facts->audit.cpu);
    else if (!facts->measured)
        printf("fit for hard real time by its settings (core %d); nothing was measured\n",
               facts->audit.cpu);
    else
        printf("fit for hard real time (core %d), as far as a measurement of %.1f s can tell\n",
               facts->audit.cpu,
               (double)facts->baseline.wake_latency.count / 1e3 +
                   (double)facts->baseline.spun_ns / 1e9);
}

static void print_boot_line(const char *boot_line)
{
    if (boot_line[0] == '\0')
        return;
    printf("\nkernel command line, at the next boot\n  %s\n", boot_line);
}

void print_findings(const struct doctor_facts *facts, const struct doctor_findings *findings,
                    const char *boot_line)
{
    print_verdict(facts, findings);
    for (int state = 0; state < DOCTOR_STATE_COUNT; state++)
        print_group(findings, (enum doctor_state)state);
    print_boot_line(boot_line);
}

static void print_change(const struct change *change)
{
    printf("  %-*s", NAME_WIDTH - 2, change->name);
    if (change->kind == CHANGE_FOLDER)
        printf("mkdir %s\n", change->path);
    else
        printf("%s: %s -> %s\n", change->path, change->before[0] ? change->before : "nothing",
               change->after);
}

void print_tune(const struct tune *tune, const struct print_tuned *tuned)
{
    const int count = tune->changes.count;
    if (count == 0)
        puts("nothing to change without a reboot");
    else if (tuned->applied)
        printf("%d settings changed; airbearing doctor --undo %s puts them back\n", count,
               tuned->undo_file);
    else
        printf("%d settings to change without a reboot; nothing was changed: add --apply\n", count);
    if (count > 0)
        puts("");
    for (int i = 0; i < count; i++)
        print_change(&tune->changes.change[i]);
    if (tuned->stays[0] != '\0')
        printf("\nrefused to move, and stay\n  %s\n", tuned->stays);
    if (tune->advice_count > 0)
        puts("\nby hand");
    for (int i = 0; i < tune->advice_count; i++) {
        printf("  ");
        print_wrapped(tune->advice[i], 2);
    }
    print_boot_line(tuned->boot_line);
}

/* --- for programs ----------------------------------------------------------------------------- */

static void put_json(json_t *object)
{
    json_dumpf(object, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(object);
}

static json_t *list_json(const struct doctor_findings *findings)
{
    json_t *list = json_array();
    for (int i = 0; i < findings->count; i++) {
        const struct doctor_finding *finding = &findings->finding[i];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:b, s:s, s:s, s:s}", "name", finding->name, "state",
                            doctor_state_name[finding->state], "essential", finding->essential,
                            "seen", finding->seen, "why", finding->why, "remedy", finding->remedy));
    }
    return list;
}

static json_t *late_json(const struct rt_histogram *wake_latency)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "count", (json_int_t)wake_latency->count, "min",
                     (json_int_t)wake_latency->min, "p50",
                     (json_int_t)rt_histogram_quantile(wake_latency, 0.5), "p99",
                     (json_int_t)rt_histogram_quantile(wake_latency, 0.99), "max",
                     (json_int_t)wake_latency->max);
}

/* The difference of two counts; null when one was not readable. */
static json_t *difference_json(int64_t before, int64_t after, int64_t scale)
{
    return before < 0 || after < 0 ? json_null() : json_integer((after - before) * scale);
}

static json_t *baseline_json(const struct doctor_facts *facts)
{
    const struct rt_baseline *baseline = &facts->baseline;
    if (!facts->measured)
        return json_null();
    return json_pack(
        "{s:i, s:b, s:o, s:{s:I, s:I, s:I, s:I, s:I}, s:o, s:o}", "cpu", baseline->thread.cpu,
        "fifo", baseline->thread.policy == SCHED_FIFO, "late_ns",
        late_json(&baseline->wake_latency), "gaps", "watched_ns", (json_int_t)baseline->spun_ns,
        "count", (json_int_t)baseline->gap_count, "longest_ns", (json_int_t)baseline->gap_ns_max,
        "total_ns", (json_int_t)baseline->gap_ns_total, "switches", (json_int_t)baseline->switches,
        "steal_ms", difference_json(facts->before.steal_ticks, facts->after.steal_ticks, 10), "smi",
        difference_json(facts->before.smi_count, facts->after.smi_count, 1));
}

struct json_t *findings_object(const struct doctor_facts *facts,
                               const struct doctor_findings *findings, const char *boot_line)
{
    return json_pack("{s:b, s:i, s:i, s:o, s:o, s:i, s:s*}", "fit", doctor_missing(findings) == 0,
                     "essential", doctor_essential(findings), "missing", doctor_missing(findings),
                     "findings", list_json(findings), "baseline", baseline_json(facts), "cpu",
                     facts->audit.cpu, "cmdline", boot_line);
}

void print_findings_json(const struct doctor_facts *facts, const struct doctor_findings *findings,
                         const char *boot_line)
{
    put_json(findings_object(facts, findings, boot_line));
}

static json_t *changes_json(const struct changes *changes)
{
    json_t *list = json_array();
    for (int i = 0; i < changes->count; i++) {
        const struct change *change = &changes->change[i];
        json_array_append_new(
            list, change->kind == CHANGE_FOLDER
                      ? json_pack("{s:s, s:s}", "name", change->name, "folder", change->path)
                      : json_pack("{s:s, s:s, s:s, s:s}", "name", change->name, "path",
                                  change->path, "before", change->before, "after", change->after));
    }
    return list;
}

void print_tune_json(const struct tune *tune, const struct print_tuned *tuned, int cpu)
{
    json_t *advice = json_array();
    for (int i = 0; i < tune->advice_count; i++)
        json_array_append_new(advice, json_string(tune->advice[i]));
    put_json(json_pack("{s:i, s:b, s:o, s:s?, s:s, s:o, s:s}", "cpu", cpu, "applied",
                       tuned->applied, "changes", changes_json(&tune->changes), "undo_file",
                       tuned->undo_file, "stays", tuned->stays, "advice", advice, "cmdline",
                       tuned->boot_line));
}
