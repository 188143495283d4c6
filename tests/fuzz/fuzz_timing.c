/*
 * Any bytes as the log of a run.  What must hold:
 *   - it is refused with one line, or judged,
 *   - what is judged can be printed in every form, and the late frames add up.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "rt/check.h"
#include "tools/airbearing/timing/show.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_line(const char *error)
{
    RT_CHECK(memchr(error, '\0', EVIDENCE_ERROR_MAX) != NULL && error[0] != '\0');
    for (const char *at = error; *at; at++)
        RT_CHECK((unsigned char)*at >= ' ');
}

static void show_all(const struct figures *figures)
{
    static FILE *nowhere;
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    RT_CHECK(nowhere != NULL);
    show_text(figures, nowhere);
    show_page(figures, nowhere);
    show_trace(figures, nowhere);
    percentiles_print_hgrm(&figures->start_error, nowhere);
    json_decref(show_json(figures));
}

static void judge(const struct evidence *evidence)
{
    static struct figures figures;
    const struct figures_limits limits = {0};
    RT_CHECK(figures_compute(&figures, evidence, &limits));
    RT_CHECK(figures.machine + figures.ours + figures.unexplained == figures.late_count);
    RT_CHECK(figures.verdict[0] != '\0');
    show_all(&figures);
    figures_free(&figures);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct evidence evidence;
    char error[EVIDENCE_ERROR_MAX];
    struct io_mcap_reader *reader = io_mcap_open_bytes(bytes, size, error);
    if (!reader)
        return 0;
    evidence = (struct evidence){.drive = {{.name = "wheel", .control = 3}}, .drive_count = 1};
    if (evidence_read(&evidence, reader, error))
        check_line(error);
    else
        judge(&evidence);
    evidence_free(&evidence);
    io_mcap_close(reader);
    return 0;
}
