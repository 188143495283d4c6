/*
 * Tested by tests/io/log/test_mcap_writer.c.
 */
#include "io/log/mcap_record.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "io/log/ros2msg.h"

const unsigned char io_mcap_magic[IO_MCAP_MAGIC_SIZE] = {0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};

size_t io_mcap_begin(struct io_byte_writer *out, enum io_mcap_opcode opcode)
{
    io_put_u8(out, (uint8_t)opcode);
    const size_t place = out->size;
    io_put_u64(out, 0);
    return place;
}

void io_mcap_end(struct io_byte_writer *out, size_t place)
{
    io_patch_u64(out, place, out->size - place - sizeof(uint64_t));
}

/* Maps and arrays start with their length in bytes. */
static size_t begin_map(struct io_byte_writer *out)
{
    const size_t place = out->size;
    io_put_u32(out, 0);
    return place;
}

static void end_map(struct io_byte_writer *out, size_t place)
{
    io_patch_u32(out, place, (uint32_t)(out->size - place - sizeof(uint32_t)));
}

void io_mcap_put_header(struct io_byte_writer *out)
{
    const size_t place = io_mcap_begin(out, IO_MCAP_HEADER);
    io_put_string(out, ""); /* profile */
    io_put_string(out, "airbearing");
    io_mcap_end(out, place);
}

void io_mcap_put_schema(struct io_byte_writer *out, uint16_t id, const struct io_channel_spec *spec)
{
    const size_t place = io_mcap_begin(out, IO_MCAP_SCHEMA);
    io_put_u16(out, id);
    io_put_string(out, spec->schema);
    io_put_string(out, "ros2msg");
    io_put_string(out, spec->definition);
    io_mcap_end(out, place);
}

static void put_pairs(struct io_byte_writer *out, const char *const *pairs)
{
    const size_t map = begin_map(out);
    for (; pairs && pairs[0]; pairs += 2) {
        io_put_string(out, pairs[0]);
        io_put_string(out, pairs[1]);
    }
    end_map(out, map);
}

/* The units of the fields, and `every` if records are left out on purpose. */
static void put_traits(struct io_byte_writer *out, const struct io_channel_spec *spec)
{
    const size_t map = begin_map(out);
    struct io_ros2msg schema = io_ros2msg_begin(spec->definition);
    for (struct io_ros2msg_field field; io_ros2msg_next(&schema, &field);) {
        char key[IO_ROS2MSG_NAME_MAX + 8];
        if (field.unit[0] == '\0')
            continue;
        snprintf(key, sizeof key, "unit.%s", field.name);
        io_put_string(out, key);
        io_put_string(out, field.unit);
    }
    if (spec->every > 1) {
        char every[16];
        snprintf(every, sizeof every, "%u", spec->every);
        io_put_string(out, "every");
        io_put_string(out, every);
    }
    end_map(out, map);
}

void io_mcap_put_channel(struct io_byte_writer *out, uint16_t id, uint16_t schema_id,
                         const struct io_channel_spec *spec)
{
    const size_t place = io_mcap_begin(out, IO_MCAP_CHANNEL);
    io_put_u16(out, id);
    io_put_u16(out, schema_id);
    io_put_string(out, spec->topic);
    io_put_string(out, "cdr");
    if (spec->metadata)
        put_pairs(out, spec->metadata);
    else
        put_traits(out, spec);
    io_mcap_end(out, place);
}

void io_mcap_put_metadata(struct io_byte_writer *out, const char *name, const char *const *pairs)
{
    const size_t place = io_mcap_begin(out, IO_MCAP_METADATA);
    io_put_string(out, name);
    put_pairs(out, pairs);
    io_mcap_end(out, place);
}

void io_mcap_put_attachment(struct io_byte_writer *out, const struct io_blob *blob, uint64_t log_ns,
                            uint64_t create_ns)
{
    const size_t place = io_mcap_begin(out, IO_MCAP_ATTACHMENT);
    const size_t content = out->size;
    io_put_u64(out, log_ns);
    io_put_u64(out, create_ns);
    io_put_string(out, blob->name);
    io_put_string(out, blob->media_type);
    io_put_u64(out, blob->size);
    io_put_raw(out, blob->bytes, blob->size);
    if (!out->failed)
        io_put_u32(out, (uint32_t)crc32_z(0, out->data + content, out->size - content));
    io_mcap_end(out, place);
}

void io_mcap_put_data_end(struct io_byte_writer *out, uint32_t crc)
{
    const size_t place = io_mcap_begin(out, IO_MCAP_DATA_END);
    io_put_u32(out, crc);
    io_mcap_end(out, place);
}

void io_mcap_put_chunk_index(struct io_byte_writer *out, const struct io_mcap_chunk_facts *facts,
                             int channel_count)
{
    const size_t place = io_mcap_begin(out, IO_MCAP_CHUNK_INDEX);
    io_put_u64(out, facts->start_ns);
    io_put_u64(out, facts->end_ns);
    io_put_u64(out, facts->chunk.offset);
    io_put_u64(out, facts->chunk.length);
    const size_t map = begin_map(out);
    for (int i = 0; i < channel_count; i++) {
        if (facts->records[i] == 0)
            continue;
        io_put_u16(out, io_mcap_id(i));
        io_put_u64(out, facts->index_offset[i]);
    }
    end_map(out, map);
    io_put_u64(out, facts->indexes.length);
    io_put_string(out, "zstd");
    io_put_u64(out, facts->stored_size);
    io_put_u64(out, facts->plain_size);
    io_mcap_end(out, place);
}

void io_mcap_put_attachment_index(struct io_byte_writer *out, const struct io_mcap_extent *extent,
                                  const struct io_blob *blob, uint64_t log_ns, uint64_t create_ns)
{
    const size_t place = io_mcap_begin(out, IO_MCAP_ATTACHMENT_INDEX);
    io_put_u64(out, extent->offset);
    io_put_u64(out, extent->length);
    io_put_u64(out, log_ns);
    io_put_u64(out, create_ns);
    io_put_u64(out, blob->size);
    io_put_string(out, blob->name);
    io_put_string(out, blob->media_type);
    io_mcap_end(out, place);
}

void io_mcap_put_metadata_index(struct io_byte_writer *out, const struct io_mcap_extent *extent,
                                const char *name)
{
    const size_t place = io_mcap_begin(out, IO_MCAP_METADATA_INDEX);
    io_put_u64(out, extent->offset);
    io_put_u64(out, extent->length);
    io_put_string(out, name);
    io_mcap_end(out, place);
}

void io_mcap_put_statistics(struct io_byte_writer *out, const struct io_mcap_statistics *statistics)
{
    const size_t place = io_mcap_begin(out, IO_MCAP_STATISTICS);
    io_put_u64(out, statistics->messages);
    io_put_u16(out, statistics->schemas);
    io_put_u32(out, statistics->channels);
    io_put_u32(out, statistics->attachments);
    io_put_u32(out, statistics->metadata);
    io_put_u32(out, statistics->chunks);
    io_put_u64(out, statistics->start_ns);
    io_put_u64(out, statistics->end_ns);
    const size_t map = begin_map(out);
    for (int i = 0; i < (int)statistics->channels; i++) {
        io_put_u16(out, io_mcap_id(i));
        io_put_u64(out, statistics->records[i]);
    }
    end_map(out, map);
    io_mcap_end(out, place);
}

void io_mcap_put_summary_offset(struct io_byte_writer *out, enum io_mcap_opcode group,
                                const struct io_mcap_extent *extent)
{
    const size_t place = io_mcap_begin(out, IO_MCAP_SUMMARY_OFFSET);
    io_put_u8(out, (uint8_t)group);
    io_put_u64(out, extent->offset);
    io_put_u64(out, extent->length);
    io_mcap_end(out, place);
}

void io_mcap_put_footer(struct io_byte_writer *out, size_t summary_at, uint64_t summary_offset,
                        uint64_t offsets_offset)
{
    io_put_u8(out, IO_MCAP_FOOTER);
    io_put_u64(out, IO_MCAP_FOOTER_SIZE); /* written at once, because the CRC covers it */
    io_put_u64(out, summary_offset);
    io_put_u64(out, offsets_offset);
    if (!out->failed)
        io_put_u32(out, (uint32_t)crc32_z(0, out->data + summary_at, out->size - summary_at));
    io_put_raw(out, io_mcap_magic, sizeof io_mcap_magic);
}
