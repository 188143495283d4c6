#include "tools/airbearing/timing/html_tables.h"

#include <inttypes.h>
#include <string.h>

#include "tools/airbearing/time_text.h"

void html_escape(const char *text, FILE *out)
{
    for (; *text; text++) {
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*text, out);
        }
    }
}

static void table_row(const char *name, const struct percentiles *percentiles, double offset,
                      double sign, FILE *out)
{
    char text[24];
    if (percentiles->count == 0)
        return;
    fprintf(out, "<tr><td>%s</td>", name);
    for (int i = 0; i < PERCENTILE_COUNT; i++) {
        uint64_t value;
        const bool known = percentiles_at(percentiles, percentile_fraction[i], &value);
        fprintf(out, "<td>%s</td>", known ? time_text(offset + sign * (double)value, text) : "–");
    }
    fprintf(out, "<td>%s</td><td>%" PRIu64 "</td></tr>\n",
            time_text(offset + sign * (double)percentiles->max, text), percentiles->max_frame);
}

void html_table(const struct figures *figures, FILE *out)
{
    fputs("<figure><h2>The numbers</h2><figcaption>– : the run is too short to know it"
          "</figcaption><div class=\"scroll\"><table><tr><th></th>",
          out);
    for (int i = 0; i < PERCENTILE_COUNT; i++)
        fprintf(out, "<th>%s</th>", percentile_header[i]);
    fputs("<th>worst</th><th>in frame</th></tr>\n", out);
    table_row("start error", &figures->start_error, 0.0, 1.0, out);
    table_row("busy", &figures->busy, 0.0, 1.0, out);
    table_row("margin", &figures->response, (double)figures->evidence->period_ns, -1.0, out);
    for (int link = 0; link < IO_LINK_MAX; link++) {
        const struct percentiles *part = figures->part[link];
        char name[64];
        snprintf(name, sizeof name, "loop latency, link %d", link);
        table_row(name, &part[IO_LATENCY_SUM], 0.0, 1.0, out);
        for (int p = 0; p < IO_LATENCY_SUM; p++) {
            snprintf(name, sizeof name, "&emsp;%s", io_latency_part_name[p]);
            table_row(name, &part[p], 0.0, 1.0, out);
        }
    }
    fputs("</table></div></figure>\n", out);
}

void html_effective_table(const struct figures *figures, FILE *out)
{
    fputs("<figure><h2>Effective latency</h2><figcaption>the delay by which commands, as they came "
          "in, fit what the actuators did at the commit best</figcaption>\n",
          out);
    if (figures->effective_why)
        fprintf(out, "<p>Not known: %s.</p>\n", figures->effective_why);
    else
        fputs("<table><tr><th>actuator</th><th>delay</th><th>explains</th></tr>\n", out);
    for (int i = 0; !figures->effective_why && i < figures->effective_count; i++) {
        const struct effective *effective = &figures->effective[i];
        char text[24];
        fputs("<tr><td>", out);
        html_escape(effective->name, out);
        fprintf(out, "</td><td>%s</td><td>%.1f %%</td></tr>\n",
                effective->known ? time_text(effective->delay.seconds * 1e9, text) : "–",
                effective->delay.explained * 100.0);
    }
    fputs(figures->effective_why ? "</figure>\n" : "</table></figure>\n", out);
}

void html_late_table(const struct figures *figures, FILE *out)
{
    enum { ROWS_MAX = 200 };
    if (figures->late_count == 0)
        return;
    fprintf(out,
            "<figure><h2>Late frames</h2><figcaption>%zu%s</figcaption><div class=\"scroll\">"
            "<table><tr><th>frame</th><th>cause</th><th>late by</th><th>was in</th><th>grew"
            "</th><th>by</th><th>releases lost</th></tr>\n",
            figures->late_count, figures->late_count > ROWS_MAX ? ", the first 200" : "");
    for (size_t i = 0; i < figures->late_count && i < ROWS_MAX; i++) {
        const struct late_frame *late = &figures->late[i];
        char over[24], grew[24];
        fprintf(out, "<tr><td>%" PRIu64 "</td><td>%s</td><td>%s</td><td>", late->frame,
                rt_cause_name[late->cause], time_text((double)late->over_ns, over));
        html_escape(figures_phase_name(figures, late->running), out);
        fputs("</td><td>", out);
        html_escape(figures_phase_name(figures, late->slowest_job), out);
        fprintf(out, "</td><td>%s</td><td>%" PRIu64 "</td></tr>\n",
                time_text((double)late->slowest_job_ns, grew), late->cost);
    }
    fputs("</table></div></figure>\n", out);
}
