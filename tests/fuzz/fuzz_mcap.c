/*
 * Any bytes as a log.  What must hold:
 *   - nothing outside the bytes is read, and every byte handed out can be read,
 *   - an end or an error stays one,
 *   - an error is one printable line that names a byte of the file.
 *
 * A CRC of zero means "none", and the seeds have no others but one, so CRCs do not stop the
 * mutations.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/log/mcap.h"
#include "rt/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static volatile unsigned char sink;

static void touch(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        sink ^= bytes[i];
}

static void check_error(const char error[256], size_t size)
{
    char *end;
    RT_CHECK(memchr(error, '\0', 256));
    RT_CHECK(strncmp(error, "bytes: byte ", 12) == 0);
    RT_CHECK(strtoull(error + 12, &end, 10) <= size && end[0] == ':' && end[1] == ' ');
    for (const char *at = error; *at; at++)
        RT_CHECK((unsigned char)*at >= ' ' && *at != 0x7f);
}

static void look_up(struct io_mcap_reader *reader)
{
    size_t size;
    const void *attachment = io_mcap_attachment(reader, "scenario.yaml", &size);
    const char *value = io_mcap_metadata(reader, "airbearing", "seed");
    const char *schema = io_mcap_schema(reader, "/a");
    if (attachment)
        touch(attachment, size);
    if (value)
        touch(value, strlen(value));
    if (schema)
        touch(schema, strlen(schema));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char error[256];
    struct io_mcap_message message;
    int result;
    struct io_mcap_reader *reader = io_mcap_open_bytes(bytes, size, error);
    if (!reader) {
        check_error(error, size);
        return 0;
    }
    while ((result = io_mcap_next(reader, &message, error)) == 1) {
        touch(message.topic, strlen(message.topic));
        touch(message.data, message.size);
    }
    if (result < 0)
        check_error(error, size);
    RT_CHECK(io_mcap_next(reader, &message, error) == result);
    look_up(reader);
    io_mcap_close(reader);
    return 0;
}
