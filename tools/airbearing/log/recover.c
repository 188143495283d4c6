/*
 * airbearing log recover: writes a complete log from the readable part of a damaged one.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/airbearing/command.h"
#include "tools/airbearing/log/log.h"

static const char usage[] =
    "usage: airbearing log recover IN OUT.mcap\n"
    "\n"
    "Write the readable part of a log that was cut off or damaged into a new one, complete and\n"
    "indexed, and print the losses.  After damage the reader continues at the next record.  IN is\n"
    "not changed; the new log has the losses as recovery.txt.\n"
    "\n"
    "Exit: 0 done, and no record is known to be lost but the unfinished end; 1 done, and some "
    "are;\n"
    "2 nothing can be read or OUT cannot be written; 64 usage.\n";

static bool is_same(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

static bool may_write(const char *path)
{
    struct stat status;
    return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

static int print_error(const char *path, const char *why)
{
    fprintf(stderr, "airbearing log recover: %s: %s\n", path, why);
    return EXIT_BAD_INPUT;
}

static int print_result(const struct io_mcap_recover *recovery, const char *out,
                        const struct log_kept *kept, uint64_t missing)
{
    if (kept->error) {
        if (kept->begun)
            (void)unlink(out);
        return print_error(out, kept->error == -EBUSY ? "a run writes it; give another name"
                                                      : strerror(-kept->error));
    }
    printf("%s: %" PRIu64 " records in %d channels, %d attachments, %" PRIu64 " bytes\n", out,
           kept->records, kept->channels, kept->attachments, kept->bytes);
    log_print_losses(io_mcap_recover_losses(recovery), missing, stdout);
    if (kept->foreign > 0)
        printf("lost: %" PRIu64 " records that are not of a log of airbearing run\n",
               kept->foreign);
    return kept->foreign > 0 ? EXIT_VERDICT_NO
                             : log_verdict(io_mcap_recover_losses(recovery), missing);
}

static int recover(const char *in, const char *out)
{
    char error[256];
    if (is_same(in, out))
        return print_error(out, "the path is the damaged log itself; give another name");
    if (!may_write(out))
        return print_error(out, "not a regular file; give the name of one");
    struct io_mcap_recover *recovery = io_mcap_recover_open(in, error);
    struct channel_counts counts = {0};
    struct log_kept kept;
    if (!recovery || !channel_counts_open(&counts, recovery)) {
        fprintf(stderr, "%s\n", recovery ? "airbearing log: no memory" : error);
        io_mcap_recover_close(recovery);
        return EXIT_BAD_INPUT;
    }
    log_rewrite(recovery, out, &counts, &kept);
    const int code = print_result(recovery, out, &kept, channel_counts_missing_all(&counts));
    channel_counts_free(&counts);
    io_mcap_recover_close(recovery);
    return code;
}

int log_recover(int argc, char **argv)
{
    static const struct option table[] = {{"help", no_argument, NULL, 'h'}, {0}};
    for (int option; (option = getopt_long(argc, argv, "h", table, NULL)) != -1;) {
        fputs(usage, option == 'h' ? stdout : stderr);
        return option == 'h' ? EXIT_OK : EXIT_USAGE;
    }
    if (optind == argc - 2)
        return recover(argv[optind], argv[optind + 1]);
    fputs(usage, stderr);
    return EXIT_USAGE;
}
