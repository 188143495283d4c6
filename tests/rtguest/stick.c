/*
 * A joystick or SpaceMouse that is not there: an input device made through /dev/uinput.
 *
 *   stick [MS:CONTROL=VALUE]...   prints the path of its event device, then moves each control at
 *                                 its time after that; x, y, z, rz and throttle go from -1000 to
 *                                 1000, trigger and thumb are 0 or 1.  The device stays until the
 *                                 program is killed, or with MS:end at last until then.
 *   stick relative | absolute     a SpaceMouse, whose axes the kernel calls so; prints the path
 *                                 too, then does what its input says, CONTROL=VALUE a line: x, y,
 *                                 z, rx, ry and rz go from -350 to 350, left and right are buttons.
 *                                 What is held off its centre it reports again and again, as the
 * real ones do.  A line "end" unplugs it. stick read DEVICE MS          reads so long, then writes
 * one JSON object: the device's name, and for each control how many events there were and the last
 *                                 value
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

enum { PATH_SIZE = 320, NODE_WAIT_MS = 5000, AGAIN_MS = 16, CONTROL_MAX = 8 };

struct control {
    const char *name;
    unsigned short type, code;
};

struct kind {
    const char *name; /* as the kernel has it */
    struct input_id id;
    int axis_max;
    int control_count;
    struct control controls[CONTROL_MAX];
};

static const struct kind joystick = {
    .name = "airbearing stick",
    .id = {.bustype = BUS_VIRTUAL, .vendor = 1, .product = 1},
    .axis_max = 1000,
    .control_count = 7,
    .controls = {{"x", EV_ABS, ABS_X},
                 {"y", EV_ABS, ABS_Y},
                 {"z", EV_ABS, ABS_Z},
                 {"rz", EV_ABS, ABS_RZ},
                 {"throttle", EV_ABS, ABS_THROTTLE},
                 {"trigger", EV_KEY, BTN_TRIGGER},
                 {"thumb", EV_KEY, BTN_THUMB}},
};

/* What a SpaceNavigator is to Linux. */
static const struct kind relative = {
    .name = "3Dconnexion SpaceNavigator",
    .id = {.bustype = BUS_USB, .vendor = 0x046d, .product = 0xc626, .version = 0x111},
    .axis_max = 350,
    .control_count = 8,
    .controls = {{"x", EV_REL, REL_X},
                 {"y", EV_REL, REL_Y},
                 {"z", EV_REL, REL_Z},
                 {"rx", EV_REL, REL_RX},
                 {"ry", EV_REL, REL_RY},
                 {"rz", EV_REL, REL_RZ},
                 {"left", EV_KEY, BTN_0},
                 {"right", EV_KEY, BTN_1}},
};

static const struct kind absolute = {
    .name = "3Dconnexion SpaceMouse Wireless",
    .id = {.bustype = BUS_USB, .vendor = 0x256f, .product = 0xc62e, .version = 0x111},
    .axis_max = 350,
    .control_count = 8,
    .controls = {{"x", EV_ABS, ABS_X},
                 {"y", EV_ABS, ABS_Y},
                 {"z", EV_ABS, ABS_Z},
                 {"rx", EV_ABS, ABS_RX},
                 {"ry", EV_ABS, ABS_RY},
                 {"rz", EV_ABS, ABS_RZ},
                 {"left", EV_KEY, BTN_0},
                 {"right", EV_KEY, BTN_1}},
};

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

static int announce(int fd, const struct control *control, int axis_max)
{
    struct uinput_abs_setup axis = {.code = control->code,
                                    .absinfo = {.minimum = -axis_max, .maximum = axis_max}};
    if (ioctl(fd, UI_SET_EVBIT, control->type))
        return -1;
    return control->type == EV_KEY   ? ioctl(fd, UI_SET_KEYBIT, control->code)
           : control->type == EV_REL ? ioctl(fd, UI_SET_RELBIT, control->code)
                                     : ioctl(fd, UI_ABS_SETUP, &axis);
}

static int create_device(const struct kind *kind)
{
    struct uinput_setup setup = {.id = kind->id};
    snprintf(setup.name, sizeof setup.name, "%s", kind->name);
    const int fd = open("/dev/uinput", O_WRONLY);
    if (fd < 0)
        fail("/dev/uinput");
    for (int i = 0; i < kind->control_count; i++) {
        if (announce(fd, &kind->controls[i], kind->axis_max))
            fail(kind->controls[i].name);
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

/* The number of the control, or -1. */
static int find_control(const struct kind *kind, const char *name, size_t size)
{
    for (int i = 0; i < kind->control_count; i++) {
        if (strlen(kind->controls[i].name) == size &&
            strncmp(kind->controls[i].name, name, size) == 0)
            return i;
    }
    return -1;
}

/* Does CONTROL=VALUE, and returns the number of the control. */
static int set(int fd, const struct kind *kind, const char *word)
{
    const char *equals = strchr(word, '=');
    const int i = equals ? find_control(kind, word, (size_t)(equals - word)) : -1;
    if (i < 0) {
        fprintf(stderr, "stick: \"%s\" is no CONTROL=VALUE\n", word);
        exit(64);
    }
    emit(fd, kind->controls[i].type, kind->controls[i].code, atoi(equals + 1));
    emit(fd, EV_SYN, SYN_REPORT, 0);
    return i;
}

/* One word of the schedule, at its time.  Returns 0 at the end. */
static int follow(int fd, long long begin_ms, const char *word)
{
    char *rest;
    const long ms = strtol(word, &rest, 10);
    const char *name = *rest == ':' ? rest + 1 : "";
    sleep_until(begin_ms + ms);
    if (strcmp(name, "end") == 0)
        return 0;
    (void)set(fd, &joystick, name);
    return 1;
}

static int plug_in(const struct kind *kind)
{
    const int fd = create_device(kind);
    const long long until_ms = now_ms() + NODE_WAIT_MS;
    char path[PATH_SIZE] = "";
    while (!find_node(fd, path)) {
        if (now_ms() > until_ms)
            fail("no event device");
        usleep(10000);
    }
    printf("%s\n", path);
    fflush(stdout);
    return fd;
}

static int move(char **words, int count)
{
    const int fd = plug_in(&joystick);
    const long long begin_ms = now_ms();
    for (int i = 0; i < count; i++) {
        if (!follow(fd, begin_ms, words[i]))
            return 0;
    }
    for (;;)
        pause();
}

/* All that is off its centre, in one report. */
static void repeat(int fd, const struct kind *kind, const int *value)
{
    for (int i = 0; i < kind->control_count; i++) {
        if (kind->controls[i].type != EV_KEY && value[i] != 0)
            emit(fd, kind->controls[i].type, kind->controls[i].code, value[i]);
    }
    emit(fd, EV_SYN, SYN_REPORT, 0);
}

static int obey(const struct kind *kind)
{
    const int fd = plug_in(kind);
    int value[CONTROL_MAX] = {0};
    char line[256];
    for (;;) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        if (poll(&input, 1, AGAIN_MS) == 0) {
            repeat(fd, kind, value);
            continue;
        }
        const ssize_t size = read(STDIN_FILENO, line, sizeof line - 1);
        if (size <= 0)
            return 0;
        line[size] = '\0';
        for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n")) {
            if (strcmp(word, "end") == 0)
                return 0;
            value[set(fd, kind, word)] = atoi(strchr(word, '=') + 1);
        }
    }
}

/* --- the reader ------------------------------------------------------------------------------- */

struct seen {
    unsigned long count;
    int last;
};

static void take(struct seen *seen, const struct input_event *event)
{
    for (int i = 0; i < joystick.control_count; i++) {
        const struct control *control = &joystick.controls[i];
        if (control->type == event->type && control->code == event->code) {
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
    struct seen seen[CONTROL_MAX] = {{0}};
    const int fd = open(path, O_RDONLY);
    if (fd < 0 || ioctl(fd, EVIOCGNAME(sizeof name), name) < 0)
        fail(path);
    read_events(fd, now_ms() + ms, seen);
    printf("{\"name\": \"%s\"", name);
    for (int i = 0; i < joystick.control_count; i++)
        printf(", \"%s\": [%lu, %d]", joystick.controls[i].name, seen[i].count, seen[i].last);
    printf("}\n");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "read") == 0)
        return tell_events(argv[2], atol(argv[3]));
    if (argc == 2 && strcmp(argv[1], "relative") == 0)
        return obey(&relative);
    if (argc == 2 && strcmp(argv[1], "absolute") == 0)
        return obey(&absolute);
    return move(argv + 1, argc - 1);
}
