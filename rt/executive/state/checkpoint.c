#include "rt/executive/state/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dynamics/kernel/isa.h"
#include "io/log/durable_file.h"
#include "rt/executive/state/digest.h"

enum { VERSION = 1 };
static const char magic[8] = {'A', 'B', 'C', 'H', 'E', 'C', 'K', '\n'};

struct head {
    char magic[8];
    uint64_t version;
    struct sim_checkpoint_identity mark;
    uint64_t frame, hash;
};
_Static_assert(sizeof(struct head) == 8 + 8 + 48 + 5 * 8 + 16, "no pads in the file");

static int set_error(char error[SIM_CHECKPOINT_ERROR_MAX], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int set_error(char error[SIM_CHECKPOINT_ERROR_MAX], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, SIM_CHECKPOINT_ERROR_MAX, format, arguments);
    va_end(arguments);
    return -1;
}

/* ---- marks ------------------------------------------------------------------------------- */

void sim_checkpoint_identify(const struct sim_vehicle *vehicle,
                             struct sim_checkpoint_identity *mark)
{
    const struct sim_spec *spec = vehicle->spec;
    *mark = (struct sim_checkpoint_identity){.period_ns = spec->period_ns,
                                             .state_size = vehicle->state_size};
    snprintf(mark->program, sizeof mark->program, "%s", AIRBEARING_VERSION);
    snprintf(mark->isa, sizeof mark->isa, "%s", dyn_isa_name(spec->isa));
    mark->scenario = spec->text_hash;
    mark->model = spec->files_hash;
    mark->layout = sim_run_state_layout(vehicle);
}

/* ---- reading ----------------------------------------------------------------------------- */

static int compare_marks(const struct sim_checkpoint_identity *its,
                         const struct sim_checkpoint_identity *ours,
                         char error[SIM_CHECKPOINT_ERROR_MAX])
{
    if (strncmp(its->program, ours->program, sizeof its->program) != 0)
        return set_error(error, "it was made by version %.31s of airbearing, and this is %s",
                         its->program, ours->program);
    if (strncmp(its->isa, ours->isa, sizeof its->isa) != 0)
        return set_error(error,
                         "it was made with the instruction set %.15s, and this run has %s; set "
                         "AIRBEARING_ISA",
                         its->isa, ours->isa);
    if (its->scenario != ours->scenario)
        return set_error(error, "it was made with another scenario, or with other --set");
    if (its->model != ours->model)
        return set_error(error, "a file that the scenario names (the model) has changed since");
    if (its->period_ns != ours->period_ns)
        return set_error(error,
                         "its frames take %" PRIu64 " ns, and those of this run %" PRIu64 " ns",
                         its->period_ns, ours->period_ns);
    if (its->layout != ours->layout || its->state_size != ours->state_size)
        return set_error(error, "its run state is laid out in another way");
    return 0;
}

/* Text of others, on its way to a terminal. */
static bool is_printable(const char *text, size_t size)
{
    if (!memchr(text, '\0', size))
        return false;
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            return false;
    return true;
}

int sim_checkpoint_parse(const void *bytes, size_t size, const struct sim_checkpoint_identity *mark,
                         struct sim_checkpoint *checkpoint, char error[SIM_CHECKPOINT_ERROR_MAX])
{
    struct head head;
    uint64_t sum;
    if (size < sizeof head || memcmp(bytes, magic, sizeof magic) != 0)
        return set_error(error, size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0
                                    ? "that is no checkpoint"
                                    : "it is cut off");
    memcpy(&head, bytes, sizeof head);
    if (head.version != VERSION)
        return set_error(error, "its format is %" PRIu64 ", and this program reads %d",
                         head.version, VERSION);
    if (head.mark.state_size > SIM_CHECKPOINT_SIZE_MAX)
        return set_error(error, "it is corrupt: a run state is not as large as that");
    const size_t wanted = sizeof head + (size_t)head.mark.state_size;
    if (size < wanted + sizeof sum)
        return set_error(error, "it is cut off: %zu of %zu bytes are there", size,
                         wanted + sizeof sum);
    memcpy(&sum, (const unsigned char *)bytes + wanted, sizeof sum);
    if (size > wanted + sizeof sum || sum != sim_digest_bytes(bytes, wanted))
        return set_error(error, "it is corrupt: its checksum is wrong");
    if (!is_printable(head.mark.program, sizeof head.mark.program) ||
        !is_printable(head.mark.isa, sizeof head.mark.isa))
        return set_error(error, "it is corrupt: its marks are no text");
    if (compare_marks(&head.mark, mark, error))
        return -1;
    *checkpoint = (struct sim_checkpoint){
        .frame = head.frame,
        .hash = head.hash,
        .state = (const unsigned char *)bytes + sizeof head,
    };
    return 0;
}

static const char link_text[] = "it is a symbolic link, and checkpoints are not read or written "
                                "through one; name the file itself";

static int read_all(const char *path, unsigned char **bytes, size_t *size,
                    char error[SIM_CHECKPOINT_ERROR_MAX])
{
    struct stat status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (fd < 0)
        return set_error(error, "%s", errno == ELOOP ? link_text : strerror(errno));
    int code = fstat(fd, &status) ? set_error(error, "%s", strerror(errno)) : 0;
    if (code == 0 && (!S_ISREG(status.st_mode) || status.st_size > SIM_CHECKPOINT_SIZE_MAX))
        code = set_error(error, "that is no checkpoint");
    *size = code == 0 ? (size_t)status.st_size : 0;
    *bytes = malloc(*size + 1);
    if (code == 0 && *bytes == NULL)
        code = set_error(error, "no memory for it");
    for (size_t at = 0; code == 0 && at < *size;) {
        const ssize_t count = read(fd, *bytes + at, *size - at);
        if (count <= 0)
            code =
                set_error(error, "%s", count < 0 ? strerror(errno) : "it shrinks while it is read");
        at += count > 0 ? (size_t)count : 0;
    }
    close(fd);
    return code;
}

/* A checksum finds accidents; this finds what would stop the frame all the same. */
static int check_numbers(const struct sim_vehicle *vehicle, const unsigned char *state,
                         uint64_t frame, char error[SIM_CHECKPOINT_ERROR_MAX])
{
    const size_t schedule_at = (size_t)((const unsigned char *)vehicle->schedule - vehicle->state);
    struct sim_schedule_state schedule;
    memcpy(&schedule, state + schedule_at, sizeof schedule);
    const char *flaw = schedule.frame == frame ? sim_run_state_problem(vehicle, state)
                                               : "its frame is not that of its state";
    return flaw ? set_error(error, "it is corrupt: %s", flaw) : 0;
}

int sim_checkpoint_read(const char *path, const struct sim_checkpoint_identity *mark,
                        const struct sim_vehicle *vehicle, void *state,
                        struct sim_checkpoint *checkpoint, char error[SIM_CHECKPOINT_ERROR_MAX])
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    int code = read_all(path, &bytes, &size, error);
    if (code == 0)
        code = sim_checkpoint_parse(bytes, size, mark, checkpoint, error);
    if (code == 0)
        code = check_numbers(vehicle, checkpoint->state, checkpoint->frame, error);
    if (code == 0) {
        memcpy(state, checkpoint->state, (size_t)mark->state_size);
        checkpoint->state = state;
    }
    free(bytes);
    return code;
}

/* ---- writing ----------------------------------------------------------------------------- */

static bool write_all(int fd, const void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        const ssize_t count = write(fd, (const unsigned char *)bytes + at, size - at);
        if (count < 0 && errno != EINTR)
            return false;
        at += count > 0 ? (size_t)count : 0;
    }
    return true;
}

static unsigned char *compose(const struct sim_checkpoint_identity *mark,
                              const struct sim_checkpoint *checkpoint, size_t *size)
{
    struct head head = {
        .version = VERSION, .mark = *mark, .frame = checkpoint->frame, .hash = checkpoint->hash};
    const size_t state_size = (size_t)mark->state_size, body = sizeof head + state_size;
    unsigned char *bytes = malloc(body + sizeof(uint64_t));
    if (!bytes)
        return NULL;
    memcpy(head.magic, magic, sizeof magic);
    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + sizeof head, checkpoint->state, state_size);
    const uint64_t sum = sim_digest_bytes(bytes, body);
    memcpy(bytes + body, &sum, sizeof sum);
    *size = body + sizeof sum;
    return bytes;
}

/* May a checkpoint take the place of what has this name?  Of nothing, of an empty file, and of a
 * checkpoint or the beginning of one. */
static int check_place(const char *path, char error[SIM_CHECKPOINT_ERROR_MAX])
{
    char begin[sizeof magic];
    struct stat status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0)
        return set_error(error, "%s", errno == ELOOP ? link_text : strerror(errno));
    const bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    const ssize_t count = regular ? pread(fd, begin, sizeof begin, 0) : -1;
    close(fd);
    if (count >= 0 && memcmp(begin, magic, (size_t)count) == 0)
        return 0;
    return set_error(error, "%s is there already and is not a checkpoint; it is left as it is",
                     path);
}

/* A file of our own: one that a run left behind when it was killed goes, and nothing is followed.
 */
static int open_beside(const char *beside, char error[SIM_CHECKPOINT_ERROR_MAX])
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW;
    if (check_place(beside, error))
        return -1;
    (void)unlink(beside);
    const int fd = open(beside, flags, 0666);
    return fd >= 0 ? fd : set_error(error, "%s", strerror(errno));
}

int sim_checkpoint_write(const char *path, const struct sim_checkpoint_identity *mark,
                         const struct sim_checkpoint *checkpoint,
                         char error[SIM_CHECKPOINT_ERROR_MAX])
{
    char beside[4096];
    size_t size = 0;
    unsigned char *bytes = compose(mark, checkpoint, &size);
    if (!bytes || snprintf(beside, sizeof beside, "%s.part", path) >= (int)sizeof beside) {
        free(bytes);
        return set_error(error, bytes ? "its name is too long" : "no memory for it");
    }
    const int fd = check_place(path, error) ? -1 : open_beside(beside, error);
    if (fd < 0) {
        free(bytes);
        return -1;
    }
    bool good = write_all(fd, bytes, size) && fsync(fd) == 0;
    good = close(fd) == 0 && good;
    good = good && rename(beside, path) == 0;
    const int why = errno;
    free(bytes);
    const int unsynced = good ? io_durable_sync_folder(path) : 0;
    if (unsynced)
        return set_error(error, "it is there, but a loss of power may take it: %s",
                         strerror(-unsynced));
    if (good)
        return 0;
    (void)unlink(beside);
    return set_error(error, "%s", strerror(why));
}
