/*
 * seeded_sim: the whole program under a seeded scheduler, one seed per process.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/seeded/real.h"
#include "tests/seeded/seeded.h"

enum { ARGUMENT_MAX = 64, TAIL = 40, CPU_SECONDS = 120, OUTPUT_MAX = 1 << 16 };

static const char usage[] =
    "usage: seeded_sim [--seeds N] [--first K] [--seed K] [--first-of TEXT] [--scenario FILE]\n"
    "\n"
    "Run the program, its files, disk and network under a seeded scheduler.\n"
    "\n"
    "  --seeds N        so many seeds (default 100)\n"
    "  --first K        from this one on (default 1)\n"
    "  --seed K         this one alone, with all that happens\n"
    "  --first-of TEXT  look for a seed whose fault has this text, print it and no more;\n"
    "                   exit 0 when there is one\n"
    "  --scenario FILE  default: the one beside the sources\n"
    "\n"
    "Exit: 0 all invariants held; 1 one did not, with the seed and the last that happened.\n";

struct options {
    uint64_t first, count;
    bool shows;
    const char *scenario;
    const char *text; /* of the fault that is looked for; NULL: all */
};

/* ---- the child: one seed --------------------------------------------------------------------- */

static int out_fd, error_fd;
static int argument_count;
static char *arguments[ARGUMENT_MAX];

static void read_back(int fd, char *text)
{
    const ssize_t size = __real_pread64(fd, text, OUTPUT_MAX - 1, 0);
    text[size > 0 ? size : 0] = '\0';
}

static void *run_program(void *self)
{
    (void)self;
    seeded_name("main");
    optind = 0;
    seeded_exit_code = __real_main(argument_count, arguments);
    return NULL;
}

static void catch_output(void)
{
    out_fd = memfd_create("out", 0);
    error_fd = memfd_create("errors", 0);
    dup2(1, SEEDED_PRINT_FD);
    dup2(out_fd, 1);
    dup2(error_fd, 2);
}

/* What the crash left of the log, by the shipped replay. */
void invariants_replay(void)
{
    static char text[OUTPUT_MAX];
    char path[64];
    size_t size;
    const unsigned char *bytes = disk_after_crash("run.mcap", &size);
    if (!bytes)
        seeded_fail("the report counts a log, and it is lost with the power");
    const int file = memfd_create("log", 0);
    if (__real_write(file, bytes, size) != (ssize_t)size)
        seeded_fail("the simulation cannot write %zu bytes", size);
    snprintf(path, sizeof path, "/dev/fd/%d", file);
    char *words[] = {(char[]){"airbearing"}, (char[]){"replay"}, path, NULL};
    fflush(stdout);
    if (ftruncate(out_fd, 0) || lseek(out_fd, 0, SEEK_SET) != 0)
        seeded_fail("the simulation cannot begin its output anew");
    optind = 0;
    const int code = __real_main(3, words);
    fflush(stdout);
    read_back(out_fd, text);
    seeded_shared->replays++;
    if (code != 0)
        seeded_fail("replay of the log that a loss of power left: exit %d: %.300s", code, text);
}

static void run_seed(uint64_t seed, const struct options *options)
{
    static char out[OUTPUT_MAX], errors[OUTPUT_MAX];
    const struct rlimit limit = {CPU_SECONDS, CPU_SECONDS};
    setrlimit(RLIMIT_CPU, &limit);
    catch_output();
    seeded_begin(seed, options->shows);
    argument_count = workload_draw(options->scenario, arguments);
    for (int i = 0; i < argument_count; i++)
        seeded_trace("argument %s", arguments[i]);
    (void)seeded_spawn(run_program, NULL);
    seeded_run();
    fflush(stdout);
    read_back(out_fd, out);
    read_back(error_fd, errors);
    seeded_trace("exit %d", seeded_exit_code);
    for (char *line = errors; line && *line;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        seeded_trace("said %.*s", (int)strcspn(line, "\n"), line);
    invariants_end(out, errors);
    __real__exit(0);
}

/* ---- the parent ------------------------------------------------------------------------------ */

static void show_tail(uint64_t seed)
{
    const uint64_t count = seeded_shared->count;
    const uint64_t from = count > TAIL ? count - TAIL : 0;
    printf("seed %llu: %s\n", (unsigned long long)seed, seeded_shared->verdict);
    printf("  the last that happened:\n");
    for (uint64_t i = from; i < count; i++)
        printf("  %s\n", seeded_shared->trace[i % SEEDED_TRACE_MAX]);
    printf("  again, with all of it: tools/prove desk --seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
}

/* True when all held. */
static bool try_seed(uint64_t seed, const struct options *options)
{
    int status;
    seeded_shared->verdict[0] = '\0';
    seeded_shared->count = seeded_shared->digest = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        run_seed(seed, options);
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("seeded_sim");
        exit(2);
    }
    if (WIFSIGNALED(status))
        snprintf(seeded_shared->verdict, sizeof seeded_shared->verdict, "the program died of SIG%s",
                 sigabbrev_np(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0 && !seeded_shared->verdict[0])
        snprintf(seeded_shared->verdict, sizeof seeded_shared->verdict, "the program ended with %d",
                 WEXITSTATUS(status));
    if (seeded_shared->verdict[0] && !options->text)
        show_tail(seed);
    return seeded_shared->verdict[0] == '\0';
}

static int read_options(int argc, char **argv, struct options *options)
{
    static const struct option table[] = {{"seeds", required_argument, NULL, 'n'},
                                          {"first", required_argument, NULL, 'f'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"first-of", required_argument, NULL, 't'},
                                          {"scenario", required_argument, NULL, 'c'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    *options = (struct options){.first = 1, .count = 100, .scenario = SEEDED_SCENARIO};
    for (int option; (option = getopt_long(argc, argv, "h", table, NULL)) != -1;) {
        if (option == 'n')
            options->count = strtoull(optarg, NULL, 10);
        else if (option == 'f')
            options->first = strtoull(optarg, NULL, 10);
        else if (option == 'c')
            options->scenario = optarg;
        else if (option == 't')
            options->text = optarg;
        else if (option == 's')
            *options = (struct options){strtoull(optarg, NULL, 10), 1, true, options->scenario,
                                        options->text};
        else {
            fputs(usage, option == 'h' ? stdout : stderr);
            return option == 'h' ? 0 : 64;
        }
    }
    return -1;
}

static void print_sums(const struct options *options, uint64_t failed)
{
    const struct seeded_shared *sum = seeded_shared;
    const struct {
        uint64_t count;
        const char *of;
    } list[] = {{options->count, "seeds"},      {failed, "failed"},
                {sum->frames, "frames"},        {sum->clients, "clients"},
                {sum->calls, "calls"},          {sum->done, "done"},
                {sum->refused, "refused"},      {sum->in_doubt, "in doubt"},
                {sum->safes, "times SAFE"},     {sum->checkpoints, "checkpoints"},
                {sum->restores, "restores"},    {sum->faults, "faults put in"},
                {sum->crashes, "power losses"}, {sum->replays, "replays"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        printf("%s%llu %s", i > 0 ? ", " : "", (unsigned long long)list[i].count, list[i].of);
    printf("\n");
}

/* Is what happens a function of the seed? */
static bool does_the_same(const struct options *options)
{
    (void)try_seed(options->first, options);
    const uint64_t digest = seeded_shared->digest;
    (void)try_seed(options->first, options);
    if (digest == seeded_shared->digest)
        return true;
    printf("seed %llu: it did not do the same twice\n", (unsigned long long)options->first);
    return false;
}

/* 0 when there is one. */
static int find_first(const struct options *options)
{
    for (uint64_t i = 0; i < options->count; i++) {
        const uint64_t seed = options->first + i;
        if (try_seed(seed, options) || !strstr(seeded_shared->verdict, options->text))
            continue;
        printf("seed %llu: %s\n", (unsigned long long)seed, seeded_shared->verdict);
        return 0;
    }
    return 1;
}

int __wrap_main(int argc, char **argv);

int __wrap_main(int argc, char **argv)
{
    struct options options;
    uint64_t failed = 0;
    const int code = read_options(argc, argv, &options);
    if (code >= 0)
        return code;
    seeded_shared = mmap(NULL, sizeof *seeded_shared, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seeded_shared == MAP_FAILED) {
        perror("seeded_sim");
        return 2;
    }
    if (options.text)
        return find_first(&options);
    for (uint64_t i = 0; i < options.count; i++)
        failed += !try_seed(options.first + i, &options);
    failed += options.count > 1 && !does_the_same(&options);
    print_sums(&options, failed);
    return failed > 0;
}
