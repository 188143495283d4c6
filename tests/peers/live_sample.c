/*
 * A live server with two parameters and some services, for test_live.mjs: serves until its input
 * ends.
 *
 *      live_sample PORT [TOKEN]
 *
 * One record of /sample a millisecond, and of /big, which is 16 KiB.
 */
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "io/live/server.h"
#include "rt/clock.h"

enum { SAMPLE, BIG, CHANNEL_COUNT, BIG_SIZE = 16384 };

static const struct io_live_channel channels[CHANNEL_COUNT] = {
    [SAMPLE] = {.topic = "/sample",
                .schema = "airbearing_msgs/msg/Sample",
                .definition = "uint64 index\nfloat64 half\n"},
    [BIG] = {.topic = "/big",
             .schema = "airbearing_msgs/msg/Big",
             .definition = "uint8[16384] bytes\n"},
};
static const struct io_page pages[] = {
    {"/index.html", "text/html", "<p>sample</p>", 13},
    {"/script.js", "text/javascript", NULL, 100000},
};

/* ---- two gains, and services that answer with their request ---- */

static struct {
    double value[2];
    struct io_service_reply answer[16];
    unsigned first, count;
} desk_state = {.value = {1.0, 2.0}};

static const char *parameter_name(void *self, int index)
{
    (void)self;
    return index == 0 ? "gains.rate" : "gains.attitude";
}

static double parameter_value(void *self, int index)
{
    (void)self;
    return desk_state.value[index];
}

static struct io_service_reply *new_answer(uint64_t ticket)
{
    if (desk_state.count == 16)
        return NULL;
    struct io_service_reply *answer =
        &desk_state.answer[(desk_state.first + desk_state.count++) % 16];
    *answer = (struct io_service_reply){.ticket = ticket, .done = true};
    return answer;
}

static const char *set(void *self, uint64_t ticket, int parameter, double value)
{
    (void)self;
    if (value > 10.0)
        return "at most 10";
    if (!new_answer(ticket))
        return "full";
    desk_state.value[parameter] = value;
    return NULL;
}

static const char *call(void *self, uint64_t ticket, int service,
                        const struct io_foxglove_arguments *arguments)
{
    (void)self;
    struct io_service_reply *answer = new_answer(ticket);
    if (!answer)
        return "full";
    snprintf(answer->text, sizeof answer->text, "service %d frames %u text %.200s active %d",
             service, arguments->frames, arguments->text, arguments->active);
    answer->done = service != 0;
    return NULL;
}

static bool take_answer(void *self, struct io_service_reply *out)
{
    (void)self;
    if (desk_state.count == 0)
        return false;
    *out = desk_state.answer[desk_state.first];
    desk_state.first = (desk_state.first + 1) % 16;
    desk_state.count--;
    return true;
}

static const struct io_foxglove_service services[] = {
    {"/pause", "std_srvs/srv/Trigger", IO_FOXGLOVE_FORM_EMPTY},
    {"/step", "airbearing_msgs/srv/Step", IO_FOXGLOVE_FORM_FRAMES},
    {"/checkpoint", "airbearing_msgs/srv/File", IO_FOXGLOVE_FORM_PATH},
    {"/fault", "airbearing_msgs/srv/Fault", IO_FOXGLOVE_FORM_SWITCH},
};
static const struct io_service_table service_table = {.parameter_count = 2,
                                                      .parameter_name = parameter_name,
                                                      .parameter_value = parameter_value,
                                                      .service_count = 4,
                                                      .services = services,
                                                      .set = set,
                                                      .call = call,
                                                      .answer = take_answer};

static bool input_ended(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char byte;
    return poll(&input, 1, 1) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

static void offer_some(struct io_server *server, uint64_t k)
{
    static unsigned char big[BIG_SIZE];
    const struct {
        uint64_t index;
        double half;
    } sample = {k, (double)k / 2};
    io_server_time(server, k * 1000000);
    io_server_broadcast(server, SAMPLE, k * 1000000, &sample, sizeof sample);
    io_server_broadcast(server, BIG, k * 1000000, big, sizeof big);
}

int main(int argc, char **argv)
{
    static char script[100000];
    struct io_page served[2] = {pages[0], pages[1]};
    char error[IO_SERVER_ERROR_MAX];
    struct io_server_counts counts;
    memset(script, ' ', sizeof script);
    served[1].bytes = script;
    const struct io_server_spec spec = {.name = "sample",
                                        .address = "127.0.0.1",
                                        .port = argc > 1 ? atoi(argv[1]) : 0,
                                        .token = argc > 2 && argv[2][0] ? argv[2] : NULL,
                                        .operator_token = argc > 3 ? argv[3] : NULL,
                                        .origins = {"https://friend.example"},
                                        .pages = served,
                                        .page_count = 2,
                                        .channels = channels,
                                        .channel_count = CHANNEL_COUNT,
                                        .service_table = &service_table};
    const struct rt_thread_spec thread = {
        .name = "live", .policy = SCHED_OTHER, .cpu = -1, .stack_size = 1024 * 1024};
    struct io_server *server = io_server_open(&spec, error);
    if (!server || io_server_start(server, &thread)) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    io_server_status(server, "sample", IO_FOXGLOVE_INFO, "it samples");
    printf("%d\n", io_server_port(server));
    fflush(stdout);
    for (uint64_t k = 0; !input_ended(); k++)
        offer_some(server, k);
    io_server_close(server, &counts);
    printf("{\"viewers\":%llu,\"refused\":%llu,\"floods\":%llu,\"sent\":%llu,\"lost\":%llu}\n",
           (unsigned long long)counts.viewers, (unsigned long long)counts.refused,
           (unsigned long long)counts.floods, (unsigned long long)counts.sent,
           (unsigned long long)counts.lost);
    return 0;
}
