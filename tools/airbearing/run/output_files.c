#include "tools/airbearing/run/output_files.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/log/append_file.h"
#include "io/log/write_file.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/report/report_json.h"

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

int output_files_refuse(const char *option, const char *path, const char *why)
{
    fprintf(stderr, "airbearing run: %s %s: %s\n", option, path, why);
    return EXIT_BAD_INPUT;
}

const char *output_files_log_problem(int failure)
{
    return failure == -EBUSY ? "another run writes it; choose another --log" : strerror(-failure);
}

/* Check before the run that a file can be written, without a change of its contents; *made is set
 * when it did not exist before. */
static int check_output_file(const char *option, const char *path, struct stat *status, bool *made)
{
    const bool there = lstat(path, status) == 0; /* a dangling link exists, too */
    if (stat(path, status) == 0 && !S_ISREG(status->st_mode) && !S_ISCHR(status->st_mode))
        return output_files_refuse(option, path, "not a regular file; give the name of one");
    const int fd = open(path, O_WRONLY | O_CREAT | O_NOCTTY | O_CLOEXEC, 0666);
    if (fd < 0)
        return output_files_refuse(option, path, strerror(errno));
    *made = !there;
    fstat(fd, status);
    close(fd);
    return 0;
}

/* A log with contents is overwritten only on request. */
static int refuse_overwrite(const struct run_options *options, const struct stat *log)
{
    char why[128];
    if (options->overwrite || !S_ISREG(log->st_mode) || log->st_size == 0)
        return 0;
    snprintf(why, sizeof why,
             "has %lld bytes already; give another name, or --overwrite to lose them",
             (long long)log->st_size);
    return output_files_refuse("--log", options->log, why);
}

/* Check that no other run writes this log, before a board has to wait for it. */
static int check_log_lock(const char *path)
{
    const int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    const int failure = fd < 0 ? -errno : io_append_file_lock(fd);
    if (fd >= 0)
        close(fd);
    return failure ? output_files_refuse("--log", path, output_files_log_problem(failure)) : 0;
}

int output_files_check(struct run *run)
{
    const struct run_options *options = &run->options;
    struct stat scenario = {0}, log = {0}, report = {0};
    int code = 0;
    (void)stat(options->scenario, &scenario);
    if (options->log)
        code = check_output_file("--log", options->log, &log, &run->log_made);
    if (code == 0 && options->log)
        code = check_log_lock(options->log);
    if (code == 0 && options->log && !same_file(&log, &scenario))
        code = refuse_overwrite(options, &log);
    if (code == 0 && options->report)
        code = check_output_file("--report", options->report, &report, &run->report_made);
    if (code)
        return code;
    if (options->log && same_file(&log, &scenario))
        return output_files_refuse("--log", options->log, "the path is the scenario file itself");
    if (options->report && same_file(&report, &scenario))
        return output_files_refuse("--report", options->report,
                                   "the path is the scenario file itself");
    if (options->log && options->report && S_ISREG(log.st_mode) && same_file(&log, &report))
        return output_files_refuse("--report", options->report,
                                   "the path is the log file; give another name");
    return 0;
}

void output_files_remove_log(const char *path)
{
    const int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && io_append_file_lock(fd) == 0)
        unlink(path);
    if (fd >= 0)
        close(fd);
}

int output_files_write_report(const struct run *run)
{
    if (!run->options.report)
        return 0;
    json_t *report = report_json(run);
    char *text = json_dumps(report, JSON_INDENT(2));
    json_decref(report);
    const int failure = text ? io_write_file(run->options.report, text, strlen(text)) : -ENOMEM;
    free(text);
    if (failure == 0)
        return 0;
    fprintf(stderr, "airbearing run: --report %s: %s\n", run->options.report, strerror(-failure));
    return EXIT_BAD_INPUT;
}
