/*
 * The fields of a message by its ros2msg text: fixed-size numbers and arrays of them, at their
 * places in CDR.
 *
 *      float64[3] rate # rad/s, as the sensor reports it
 *
 * A field's comment begins with its unit, up to the first comma or semicolon; a field whose name
 * ends in _ns or _us is in that unit.  So the unit is written once, and channel metadata and tables
 * use it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IO_ROS2MSG_NAME_MAX = 64, IO_ROS2MSG_UNIT_MAX = 24 };

struct io_ros2msg_field {
    char name[IO_ROS2MSG_NAME_MAX];
    char unit[IO_ROS2MSG_UNIT_MAX]; /* "" if the text has none */
    char kind;                      /* 'f' floating, 'i' signed, 'u' unsigned */
    uint32_t size;                  /* bytes of one number */
    uint32_t count;                 /* numbers */
    bool is_array;
    size_t offset; /* in the payload, which begins after the CDR header */
};

struct io_ros2msg {
    const char *at; /* the rest of the text, which belongs to the caller */
    size_t offset;
    bool bad; /* the text has a field that is not of fixed-size numbers; no field is returned after
                 it */
};

/* Begin at the first line of the text.  Context: any. */
struct io_ros2msg io_ros2msg_begin(const char *definition);
/* The next field; false at the end, or when bad is set.  Context: any. */
bool io_ros2msg_next(struct io_ros2msg *schema, struct io_ros2msg_field *field);
/* Print one number of the field with 17 digits, enough to restore the same bits.  payload holds
 * the field.  Context: any. */
void io_ros2msg_print(const struct io_ros2msg_field *field, uint32_t index,
                      const unsigned char *payload, char text[32]);
