/*
 * A joystick that is not there: an input device made through /dev/uinput, moved on a schedule.
 *
 *   stick [MS:CONTROL=VALUE]...   prints the path of its event device, then moves each control at
 *                                 its time after that; x, y, z, rz and throttle go from -1000 to
 *                                 1000, trigger and thumb are 0 or 1.  The device stays until the
 *                                 program is killed, or with MS:end at last until then.
 *   stick read DEVICE MS          reads so long, then writes one JSON object: the device's name,
 * and for each control how many events there were and the last value
 *
 * The reader is written from the kernel's header, apart from io/, so that it can judge it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/uinput.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { AXIS_MAX = 1000, PATH_SIZE = 320, NODE_WAIT_MS = 5000 };

struct control {
    const char *name;
    unsigned short type, code;
};

static const struct control controls[] = {
    {"x", EV_ABS, ABS_X},
    {"y", EV_ABS, ABS_Y},
    {"z", EV_ABS, ABS_Z},
    {"rz", EV_ABS, ABS_RZ},
    {"throttle", EV_ABS, ABS_THROTTLE},
    {"trigger", EV_KEY, BTN_TRIGGER},
    {"thumb", EV_KEY, BTN_THUMB},
};

enum { CONTROL_COUNT = sizeof controls / sizeof controls[0] };

static void fail(const char *what)
{
    fprintf(stderr, "stick: %s: %s\n", what, strerror(errno));
    exit(1);
}

static long long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void sleep_until(long long ms)
{
    const struct timespec t = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (ms % 1000) * 1000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* --- the device ------------------------------------------------------------------------------- */

static int create_device(void)
{
    struct uinput_setup setup = {.id = {.bustype = BUS_VIRTUAL, .vendor = 1, .product = 1},
                                 .name = "airbearing stick"};
    const int fd = open("/dev/uinput", O_WRONLY);
    if (fd < 0 || ioctl(fd, UI_SET_EVBIT, EV_ABS) || ioctl(fd, UI_SET_EVBIT, EV_KEY))
        fail("/dev/uinput");
    for (int i = 0; i < CONTROL_COUNT; i++) {
        struct uinput_abs_setup axis = {.code = controls[i].code,
                                        .absinfo = {.minimum = -AXIS_MAX, .maximum = AXIS_MAX}};
        if (controls[i].type == EV_KEY ? ioctl(fd, UI_SET_KEYBIT, controls[i].code)
                                       : ioctl(fd, UI_ABS_SETUP, &axis))
            fail(controls[i].name);
    }
    if (ioctl(fd, UI_DEV_SETUP, &setup) || ioctl(fd, UI_DEV_CREATE))
        fail("create");
    return fd;
}

/* The folder /sys/devices/virtual/input/inputN has one called eventM. */
static int find_node(int fd, char path[PATH_SIZE])
{
    char name[64] = "", folder[PATH_SIZE];
    int found = 0;
    if (ioctl(fd, UI_GET_SYSNAME(sizeof name), name) < 0)
        fail("its name");
    snprintf(folder, sizeof folder, "/sys/devices/virtual/input/%s", name);
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && !found && (entry = readdir(entries));) {
        found = strncmp(entry->d_name, "event", 5) == 0;
        if (found)
            snprintf(path, PATH_SIZE, "/dev/input/%.200s", entry->d_name);
    }
    if (entries)
        closedir(entries);
    return found && access(path, R_OK) == 0;
}

static void emit(int fd, unsigned short type, unsigned short code, int value)
{
    const struct input_event event = {.type = type, .code = code, .value = value};
    if (write(fd, &event, sizeof event) != sizeof event)
        fail("write");
}

static const struct control *find_control(const char *name, size_t size)
{
    for (int i = 0; i < CONTROL_COUNT; i++) {
        if (strlen(controls[i].name) == size && strncmp(controls[i].name, name, size) == 0)
            return &controls[i];
    }
    return NULL;
}

/* One word of the schedule, at its time.  Returns 0 at the end. */
static int follow(int fd, long long begin_ms, const char *word)
{
    char *rest;
    const long ms = strtol(word, &rest, 10);
    const char *name = *rest == ':' ? rest + 1 : "", *equals = strchr(name, '=');
    const struct control *control = equals ? find_control(name, (size_t)(equals - name)) : NULL;
    sleep_until(begin_ms + ms);
    if (strcmp(name, "end") == 0)
        return 0;
    if (!control) {
        fprintf(stderr, "stick: \"%s\" is no MS:CONTROL=VALUE\n", word);
        exit(64);
    }
    emit(fd, control->type, control->code, atoi(equals + 1));
    emit(fd, EV_SYN, SYN_REPORT, 0);
    return 1;
}

static int move(char **words, int count)
{
    const int fd = create_device();
    const long long until_ms = now_ms() + NODE_WAIT_MS;
    char path[PATH_SIZE] = "";
    while (!find_node(fd, path)) {
        if (now_ms() > until_ms)
            fail("no event device");
        usleep(10000);
    }
    printf("%s\n", path);
    fflush(stdout);
    const long long begin_ms = now_ms();
    for (int i = 0; i < count; i++) {
        if (!follow(fd, begin_ms, words[i]))
            return 0;
    }
    for (;;)
        pause();
}

/* --- the reader ------------------------------------------------------------------------------- */

struct seen {
    unsigned long count;
    int last;
};

static void take(struct seen *seen, const struct input_event *event)
{
    for (int i = 0; i < CONTROL_COUNT; i++) {
        if (controls[i].type == event->type && controls[i].code == event->code) {
            seen[i].count++;
            seen[i].last = event->value;
        }
    }
}

static void read_events(int fd, long long until_ms, struct seen *seen)
{
    for (long long left_ms; (left_ms = until_ms - now_ms()) > 0;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        struct input_event event;
        if (poll(&ready, 1, (int)left_ms) <= 0)
            continue;
        if (read(fd, &event, sizeof event) != sizeof event)
            return; /* it was unplugged */
        take(seen, &event);
    }
}

static int tell_events(const char *path, long ms)
{
    char name[80] = "";
    struct seen seen[CONTROL_COUNT] = {{0}};
    const int fd = open(path, O_RDONLY);
    if (fd < 0 || ioctl(fd, EVIOCGNAME(sizeof name), name) < 0)
        fail(path);
    read_events(fd, now_ms() + ms, seen);
    printf("{\"name\": \"%s\"", name);
    for (int i = 0; i < CONTROL_COUNT; i++)
        printf(", \"%s\": [%lu, %d]", controls[i].name, seen[i].count, seen[i].last);
    printf("}\n");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "read") == 0)
        return tell_events(argv[2], atol(argv[3]));
    return move(argv + 1, argc - 1);
}
