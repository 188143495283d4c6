/*
 * The Foxglove WebSocket protocol, version 1: what is said, in bytes.  No socket is known here.
 *
 * A text message is a JSON object that has an `op`; a binary one begins with an opcode and is
 * little endian.  The wire is the same under both names of the subprotocol, foxglove.sdk.v1 and
 * foxglove.websocket.v1.  Channels, services and parameters are known by their place in the
 * server's tables.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/log/byte_reader.h"
#include "io/log/byte_writer.h"

enum {
    IO_FOX_NAME_MAX = 96,
    IO_FOX_LIST_MAX = 256, /* items of one request */
    IO_FOX_TEXT_MAX = 256,
    IO_FOX_HEAD_SIZE = 13, /* of message data */
};

enum io_fox_level { IO_FOX_INFO, IO_FOX_WARNING, IO_FOX_ERROR };

struct io_fox_channel {
    const char *topic, *schema;
    const char *definition; /* ros2msg; the messages are CDR */
};

/* What a service wants to be told. */
enum io_fox_form {
    IO_FOX_FORM_EMPTY,
    IO_FOX_FORM_FRAMES, /* uint32 frames */
    IO_FOX_FORM_PATH,   /* string path */
    IO_FOX_FORM_SWITCH, /* string name, bool active */
    IO_FOX_FORM_COUNT
};

/* All answer with bool success, string message. */
struct io_fox_service {
    const char *name, *type;
    enum io_fox_form form;
};

struct io_fox_arguments {
    uint32_t frames;
    bool active;
    char text[IO_FOX_TEXT_MAX]; /* path or name */
};

/* Metadata of the server: what a page wants to know of the run before the first message. */
struct io_fox_pair {
    const char *key, *value; /* UTF-8; JSON where the value has parts */
};

/* Who the server is, as it tells one viewer. */
struct io_fox_server {
    const char *name;
    const char *session; /* tells a reconnection from another run */
    bool has_parameters, has_services;
    bool takes_hands;          /* clients may publish pictures of a hand */
    const char *const *faults; /* in the metadata: fault.0, fault.1, ... */
    int fault_count;
    const struct io_fox_pair *pairs; /* the rest of the metadata */
    int pair_count;
    uint64_t viewer;  /* the number of who is told */
    bool is_operator; /* it may command */
};

struct io_fox_value {
    const char *name;
    double value;
};

/* ---- what the server says; each is put behind what is in out.  Context: any. ---- */

void io_fox_server_info(struct io_bytes *out, const struct io_fox_server *server);
void io_fox_advertise(struct io_bytes *out, const struct io_fox_channel *channels, int count);
void io_fox_advertise_services(struct io_bytes *out, const struct io_fox_service *services,
                               int count);
/* id: of the request that is answered, "" for none. */
void io_fox_parameter_values(struct io_bytes *out, const struct io_fox_value *values, int count,
                             const char *id);
/* A status replaces the one before it of the same id; "" for none. */
void io_fox_status(struct io_bytes *out, enum io_fox_level level, const char *message,
                   const char *id);
void io_fox_remove_status(struct io_bytes *out, const char *id);
void io_fox_call_failure(struct io_bytes *out, uint32_t service, uint32_t call,
                         const char *message);
/* In the encoding of the request, "cdr" or "json". */
void io_fox_call_response(struct io_bytes *out, uint32_t service, uint32_t call,
                          const char *encoding, bool success, const char *message);
void io_fox_time(struct io_bytes *out, uint64_t time_ns);
/* What stands before the payload of message data. */
void io_fox_message_head(struct io_bytes *out, uint32_t subscription, uint64_t log_ns);

/* ---- what a client asks for ---- */

enum io_fox_op {
    IO_FOX_NOTHING, /* understood, and not for us: the connection graph */
    IO_FOX_SUBSCRIBE,
    IO_FOX_UNSUBSCRIBE,
    IO_FOX_GET,
    IO_FOX_SET,
    IO_FOX_WATCH,   /* subscribeParameterUpdates */
    IO_FOX_UNWATCH, /* unsubscribeParameterUpdates */
    IO_FOX_CALL,
    IO_FOX_ADVERTISE, /* a client's own channels */
    IO_FOX_UNADVERTISE,
    IO_FOX_PUBLISH,
};

struct io_fox_ask {
    enum io_fox_op op;
    int count; /* of the list that the op has */
    struct {
        uint32_t id, channel;
    } subscription[IO_FOX_LIST_MAX]; /* subscribe; unsubscribe: the id */
    struct {
        char name[IO_FOX_NAME_MAX];
        double value; /* set */
    } parameter[IO_FOX_LIST_MAX];
    struct {
        uint32_t id;
        bool is_hand; /* advertise: its topic is /hand and its encoding hand */
    } publication[IO_FOX_LIST_MAX];
    char id[IO_FOX_NAME_MAX]; /* of the request, "" for none */

    uint32_t channel; /* publish: the client's */
    uint32_t service, call;
    char encoding[8];        /* "cdr" or "json" */
    struct io_slice payload; /* lies in the message */
};

/* False with one line in error when the bytes are no request of the protocol.  Context: any. */
bool io_fox_read_text(struct io_slice message, struct io_fox_ask *ask, char error[IO_FOX_TEXT_MAX]);
bool io_fox_read_binary(struct io_slice message, struct io_fox_ask *ask,
                        char error[IO_FOX_TEXT_MAX]);
/* Which service a binary message calls, whatever else is wrong with it; false: none.
 * Context: any. */
bool io_fox_calls(struct io_slice message, uint32_t *service);
/* What a call says, as its service's form has it.  Context: any. */
bool io_fox_read_arguments(const struct io_fox_ask *ask, enum io_fox_form form,
                           struct io_fox_arguments *arguments, char error[IO_FOX_TEXT_MAX]);
