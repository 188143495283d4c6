/*
 * Any bytes as a viewer's message; the first byte chooses text or binary.  What must hold:
 *   - nothing outside the bytes is read, and what a call carries can be read to its end,
 *   - lists and names stay inside their bounds,
 *   - what is refused has one printable line,
 *   - a hub with services survives what is not refused, and its answers are bounded,
 *   - what is passed on to a link is a report of a hand controller.
 */
#include <stdlib.h>
#include <string.h>

#include "io/live/hub.h"
#include "io/protocol/hand.h"
#include "rt/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static volatile unsigned char sink;

static void check_error(const char error[IO_FOXGLOVE_TEXT_MAX])
{
    RT_CHECK(memchr(error, '\0', IO_FOXGLOVE_TEXT_MAX) && error[0]);
    for (const char *at = error; *at; at++)
        RT_CHECK((unsigned char)*at >= ' ' && *at != 0x7f);
}

static void check_ask(const struct io_foxglove_request *ask)
{
    static struct io_foxglove_arguments arguments;
    char error[IO_FOXGLOVE_TEXT_MAX];
    RT_CHECK(ask->count >= 0 && ask->count <= IO_FOXGLOVE_LIST_MAX);
    RT_CHECK(memchr(ask->id, '\0', sizeof ask->id));
    for (size_t i = 0;
         (ask->op == IO_FOXGLOVE_CALL || ask->op == IO_FOXGLOVE_PUBLISH) && i < ask->payload.size;
         i++)
        sink ^= ask->payload.data[i];
    if (ask->op != IO_FOXGLOVE_CALL)
        return;
    RT_CHECK(memchr(ask->encoding, '\0', sizeof ask->encoding));
    for (int form = 0; form < IO_FOXGLOVE_FORM_COUNT; form++) {
        if (io_foxglove_read_arguments(ask, (enum io_foxglove_form)form, &arguments, error))
            RT_CHECK(memchr(arguments.text, '\0', sizeof arguments.text));
        else
            check_error(error);
    }
}

static const char *parameter_name(void *self, int index)
{
    (void)self;
    return index ? "b" : "a";
}

static double parameter_value(void *self, int index)
{
    (void)self;
    return index;
}

static const char *set(void *self, uint64_t ticket, int parameter, double value)
{
    (void)value;
    RT_CHECK(parameter >= 0 && parameter < 2);
    *(uint64_t *)self = ticket + 1;
    return NULL;
}

static const char *call(void *self, uint64_t ticket, int service,
                        const struct io_foxglove_arguments *arguments)
{
    (void)arguments;
    RT_CHECK(service >= 0 && service < 4);
    *(uint64_t *)self = ticket + 1;
    return NULL;
}

/* All tickets up to the newest, newest first. */
static bool answer(void *self, struct io_service_reply *out)
{
    uint64_t *left = self;
    if (*left == 0)
        return false;
    *out = (struct io_service_reply){.ticket = --*left, .done = *left % 2};
    return true;
}

static void pass(void *self, const void *bytes, size_t size)
{
    struct io_hand_report picture;
    (void)self;
    RT_CHECK(size == 0 || io_hand_decode(bytes, size, &picture));
}

static void ask_hub(struct io_slice message, bool binary)
{
    static const char hand[] = "{\"op\":\"advertise\",\"channels\":[{\"id\":1,\"topic\":\"/hand\","
                               "\"encoding\":\"hand\"}]}";
    static const struct io_live_channel channels[] = {
        {"/a", "p/msg/A", "uint8 a\n", .whole = true},
        {"/b", "p/msg/B", "uint8 b\n", .latched = true}};
    static const struct io_foxglove_service services[] = {{"/0", "t", IO_FOXGLOVE_FORM_EMPTY},
                                                          {"/1", "t", IO_FOXGLOVE_FORM_FRAMES},
                                                          {"/2", "t", IO_FOXGLOVE_FORM_PATH},
                                                          {"/3", "t", IO_FOXGLOVE_FORM_SWITCH}};
    uint64_t tickets = 0;
    const struct io_service_table service_table = {.self = &tickets,
                                                   .parameter_count = 2,
                                                   .parameter_name = parameter_name,
                                                   .parameter_value = parameter_value,
                                                   .service_count = 4,
                                                   .services = services,
                                                   .set = set,
                                                   .call = call,
                                                   .answer = answer};
    const struct io_server_spec spec = {.name = "fuzz",
                                        .channels = channels,
                                        .channel_count = 2,
                                        .service_table = &service_table,
                                        .hand = {.pass = pass}};
    struct io_hub *hub = calloc(1, sizeof *hub);
    RT_CHECK(hub);
    io_hub_open(hub, &spec, "1");
    struct io_session *seat = io_hub_open_session(hub, 60.0, true);
    io_hub_receive(hub, seat,
                   (struct io_slice){.data = (const unsigned char *)hand, .size = sizeof hand - 1},
                   false);
    io_hub_receive(hub, seat, message, binary);
    io_hub_broadcast(hub, io_live_message_make(0, 1, "x", 1), 1);
    io_hub_tick(hub, 1);
    RT_CHECK(seat->viewer->answer_bytes <= IO_SESSION_QUEUE_REPLIES_MAX);
    io_hub_close(hub);
    free(hub);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct io_foxglove_request ask;
    char error[IO_FOXGLOVE_TEXT_MAX];
    if (size == 0)
        return 0;
    const bool binary = bytes[0] % 2;
    const struct io_slice message = {.data = bytes + 1, .size = size - 1};
    const bool good = binary ? io_foxglove_read_binary(message, &ask, error)
                             : io_foxglove_read_text(message, &ask, error);
    if (!good) {
        check_error(error);
        return 0;
    }
    check_ask(&ask);
    ask_hub(message, binary);
    return 0;
}
