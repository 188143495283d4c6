/*
 * The fields of a message as its ros2msg text tells them: fixed-size numbers and arrays of them,
 * where CDR puts them.
 *
 *      float64[3] rate # rad/s, as the instrument says
 *
 * A field's comment begins with its unit, up to the first comma or semicolon; a field whose name
 * ends in _ns or _us is in that unit.  So the unit is written once, and channel metadata and tables
 * have it from there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IO_ROS2MSG_NAME_MAX = 64, IO_ROS2MSG_UNIT_MAX = 24 };

struct io_ros2msg_field {
    char name[IO_ROS2MSG_NAME_MAX];
    char unit[IO_ROS2MSG_UNIT_MAX]; /* "" where the text tells none */
    char kind;                      /* 'f' floating, 'i' signed, 'u' unsigned */
    uint32_t size;                  /* bytes of one number */
    uint32_t count;                 /* numbers */
    bool is_array;
    size_t offset; /* in the payload, which begins after the CDR header */
};

struct io_ros2msg {
    const char *at; /* rest of the text; not ours */
    size_t offset;
    bool bad; /* the text has something else than fixed-size numbers; no field comes after that */
};

/* Begin at the first line of the text.  Context: any. */
struct io_ros2msg io_ros2msg_begin(const char *definition);
/* The next field; false at the end, or where it is bad.  Context: any. */
bool io_ros2msg_next(struct io_ros2msg *schema, struct io_ros2msg_field *field);
/* One number of the field in 17 digits, enough to get the same bits back.  payload holds the field.
 * Context: any. */
void io_ros2msg_print(const struct io_ros2msg_field *field, uint32_t index,
                      const unsigned char *payload, char text[32]);
