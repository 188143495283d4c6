/*
 * The Foxglove WebSocket protocol, version 1: encodes and decodes its messages.  No sockets.
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
    IO_FOXGLOVE_NAME_MAX = 96,
    IO_FOXGLOVE_LIST_MAX = 256, /* items of one request */
    IO_FOXGLOVE_TEXT_MAX = 256,
    IO_FOXGLOVE_HEAD_SIZE = 13, /* of message data */
};

enum io_foxglove_level { IO_FOXGLOVE_INFO, IO_FOXGLOVE_WARNING, IO_FOXGLOVE_ERROR };

struct io_foxglove_channel {
    const char *topic, *schema;
    const char *definition; /* ros2msg; the messages are CDR */
};

/* The arguments of a service. */
enum io_foxglove_form {
    IO_FOXGLOVE_FORM_EMPTY,
    IO_FOXGLOVE_FORM_FRAMES, /* uint32 frames */
    IO_FOXGLOVE_FORM_PATH,   /* string path */
    IO_FOXGLOVE_FORM_SWITCH, /* string name, bool active */
    IO_FOXGLOVE_FORM_COUNT
};

/* All services reply with bool success, string message. */
struct io_foxglove_service {
    const char *name, *type;
    enum io_foxglove_form form;
};

struct io_foxglove_arguments {
    uint32_t frames;
    bool active;
    char text[IO_FOXGLOVE_TEXT_MAX]; /* path or name */
};

/* Metadata of the server: facts about the run that a page needs before the first message. */
struct io_foxglove_metadata {
    const char *key, *value; /* UTF-8; JSON where the value has parts */
};

/* The server info for one viewer. */
struct io_foxglove_server {
    const char *name;
    const char *session; /* distinguishes a reconnection from another run */
    bool has_parameters, has_services;
    bool accepts_hand;         /* clients may publish hand controller reports */
    const char *const *faults; /* in the metadata: fault.0, fault.1, ... */
    int fault_count;
    const struct io_foxglove_metadata *pairs; /* the rest of the metadata */
    int pair_count;
    uint64_t viewer;  /* the number of the viewer that gets this */
    bool is_operator; /* it may command */
};

struct io_foxglove_value {
    const char *name;
    double value;
};

/* ---- messages of the server; each is appended to out.  Context: any. ---- */

void io_foxglove_server_info(struct io_byte_writer *out, const struct io_foxglove_server *server);
void io_foxglove_advertise(struct io_byte_writer *out, const struct io_foxglove_channel *channels,
                           int count);
void io_foxglove_advertise_services(struct io_byte_writer *out,
                                    const struct io_foxglove_service *services, int count);
/* id is that of the request, "" for none. */
void io_foxglove_parameter_values(struct io_byte_writer *out,
                                  const struct io_foxglove_value *values, int count,
                                  const char *id);
/* A status replaces the previous one with the same id; "" for none. */
void io_foxglove_status(struct io_byte_writer *out, enum io_foxglove_level level,
                        const char *message, const char *id);
void io_foxglove_remove_status(struct io_byte_writer *out, const char *id);
void io_foxglove_call_failure(struct io_byte_writer *out, uint32_t service, uint32_t call,
                              const char *message);
/* In the encoding of the request, "cdr" or "json". */
void io_foxglove_call_response(struct io_byte_writer *out, uint32_t service, uint32_t call,
                               const char *encoding, bool success, const char *message);
void io_foxglove_time(struct io_byte_writer *out, uint64_t time_ns);
/* The head of message data, before its payload. */
void io_foxglove_message_head(struct io_byte_writer *out, uint32_t subscription, uint64_t log_ns);

/* ---- requests of a client ---- */

enum io_foxglove_op {
    IO_FOXGLOVE_NOTHING, /* valid, but not supported: the connection graph */
    IO_FOXGLOVE_SUBSCRIBE,
    IO_FOXGLOVE_UNSUBSCRIBE,
    IO_FOXGLOVE_GET,
    IO_FOXGLOVE_SET,
    IO_FOXGLOVE_WATCH,   /* subscribeParameterUpdates */
    IO_FOXGLOVE_UNWATCH, /* unsubscribeParameterUpdates */
    IO_FOXGLOVE_CALL,
    IO_FOXGLOVE_ADVERTISE, /* a client's own channels */
    IO_FOXGLOVE_UNADVERTISE,
    IO_FOXGLOVE_PUBLISH,
};

struct io_foxglove_request {
    enum io_foxglove_op op;
    int count; /* of the list of this op */
    struct {
        uint32_t id, channel;
    } subscription[IO_FOXGLOVE_LIST_MAX]; /* subscribe; unsubscribe: the id */
    struct {
        char name[IO_FOXGLOVE_NAME_MAX];
        double value; /* set */
    } parameter[IO_FOXGLOVE_LIST_MAX];
    struct {
        uint32_t id;
        bool is_hand; /* advertise: its topic is /hand and its encoding hand */
    } publication[IO_FOXGLOVE_LIST_MAX];
    char id[IO_FOXGLOVE_NAME_MAX]; /* of the request, "" for none */

    uint32_t channel; /* publish: the client's channel id */
    uint32_t service, call;
    char encoding[8];        /* "cdr" or "json" */
    struct io_slice payload; /* points into the message */
};

/* False with one line in error when the bytes are not a request of the protocol.  Context: any. */
bool io_foxglove_read_text(struct io_slice message, struct io_foxglove_request *received,
                           char error[IO_FOXGLOVE_TEXT_MAX]);
bool io_foxglove_read_binary(struct io_slice message, struct io_foxglove_request *received,
                             char error[IO_FOXGLOVE_TEXT_MAX]);
/* The service that a binary message calls, even if the rest of the message is wrong; false:
 * none.  Context: any. */
bool io_foxglove_called_service(struct io_slice message, uint32_t *service);
/* Decode the arguments of a call by the form of its service.  Context: any. */
bool io_foxglove_read_arguments(const struct io_foxglove_request *received,
                                enum io_foxglove_form form, struct io_foxglove_arguments *arguments,
                                char error[IO_FOXGLOVE_TEXT_MAX]);
