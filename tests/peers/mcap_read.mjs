// Reads our logs with other people's code: @mcap/core for the file, @foxglove/rosmsg and
// rosmsg2-serialization for the payloads.
//
//   node mcap_read.mjs FILE              check any log: CRCs, indexes, statistics, every payload
//   node mcap_read.mjs --sample PROGRAM  let PROGRAM (mcap_sample) write a log, check every value
//                                        in it, then a cut-off and a damaged copy of it
//
// Exit 0 good, 1 a problem, 77 the packages are not installed (tools/test installs them).

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";

const peers = createRequire(new URL("../../tools/peers/package.json", import.meta.url));

function load() {
  try {
    return {
      ...peers("@mcap/core"),
      ...peers("@mcap/support"),
      ...peers("@foxglove/rosmsg"),
      ...peers("@foxglove/rosmsg2-serialization"),
      ...peers("@foxglove/crc"),
    };
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    console.log("skipped: the packages of tools/peers are not installed");
    process.exit(77);
  }
}

const lib = load();
const decompressHandlers = await lib.loadDecompressHandlers();

// ---- the two readers ----

class FileReadable {
  constructor(file) {
    this.fd = fs.openSync(file, "r");
  }
  async size() {
    return BigInt(fs.fstatSync(this.fd).size);
  }
  async read(offset, size) {
    const buffer = new Uint8Array(Number(size));
    const got = fs.readSync(this.fd, buffer, 0, buffer.length, Number(offset));
    assert.equal(got, buffer.length, "read past the end of the file");
    return buffer;
  }
}

/** Every record of a file in order, chunks included; true from done() when it ended well. */
function* streamRecords(file, end = Infinity) {
  const reader = new lib.McapStreamReader({
    includeChunks: true,
    validateCrcs: true,
    decompressHandlers,
  });
  const fd = fs.openSync(file, "r");
  const buffer = Buffer.alloc(1 << 20);
  for (let at = 0; at < end; ) {
    const got = fs.readSync(fd, buffer, 0, Math.min(buffer.length, end - at), at);
    if (got === 0) break;
    at += got;
    reader.append(buffer.subarray(0, got));
    for (let record; (record = reader.nextRecord()); ) yield record;
  }
  fs.closeSync(fd);
  return reader.done();
}

/** Decodes messages by the schema of their channel. */
class Decoder {
  schemas = new Map();
  channels = new Map();
  readers = new Map();

  define(record) {
    if (record.type === "Schema") this.schemas.set(record.id, record);
    if (record.type === "Channel") this.channels.set(record.id, record);
  }
  topic(message) {
    const channel = this.channels.get(message.channelId);
    assert(channel, `message of channel ${message.channelId}, which is not defined`);
    return channel.topic;
  }
  reader(channelId) {
    if (!this.readers.has(channelId)) {
      const channel = this.channels.get(channelId);
      const schema = this.schemas.get(channel.schemaId);
      assert.equal(channel.messageEncoding, "cdr");
      assert.equal(schema.encoding, "ros2msg");
      const text = new TextDecoder().decode(schema.data);
      const definition = lib.parse(text, { ros2: true });
      this.readers.set(channelId, new lib.MessageReader(definition));
    }
    return this.readers.get(channelId);
  }
  decode(message) {
    this.topic(message);
    return this.reader(message.channelId).readMessage(message.data);
  }
}

// ---- checks of any log ----

/** What was read of one channel, in order: a count and a CRC over it all. */
class Tally {
  byChannel = new Map();

  add(message) {
    const entry = this.byChannel.get(message.channelId) ?? { count: 0, crc: lib.crc32Init() };
    const stamp = Buffer.from(`${message.sequence} ${message.logTime} ${message.publishTime}`);
    entry.crc = lib.crc32Update(lib.crc32Update(entry.crc, stamp), message.data);
    entry.count += 1;
    this.byChannel.set(message.channelId, entry);
  }
  get count() {
    return [...this.byChannel.values()].reduce((sum, entry) => sum + entry.count, 0);
  }
}

/** From start to end, with every CRC that the library compares. */
function checkStream(file, decoder, onMessage) {
  const tally = new Tally();
  const records = streamRecords(file);
  let dataEnd = false;
  let next;
  for (next = records.next(); !next.done; next = records.next()) {
    const record = next.value;
    dataEnd ||= record.type === "DataEnd";
    if (!dataEnd) decoder.define(record);
    if (record.type === "Message") {
      tally.add(record);
      onMessage(decoder.topic(record), record, decoder.decode(record));
    }
  }
  assert(next.value, "the file does not end with a footer");
  return tally;
}

/** The library does not compare these two CRCs. */
async function checkFileCrcs(file, reader) {
  const readable = new FileReadable(file);
  const size = await readable.size();
  const crcOf = async (from, to) => lib.crc32(await readable.read(from, to - from));
  assert.notEqual(reader.dataSectionCrc, 0);
  assert.equal(await crcOf(0n, reader.dataEndOffset), reader.dataSectionCrc, "data section CRC");
  const summaryEnd = size - 8n - 4n; // the magic, the CRC itself
  assert.equal(await crcOf(reader.footer.summaryStart, summaryEnd), reader.footer.summaryCrc);
}

function checkStatistics(reader, tally, attachments, metadata) {
  const { statistics } = reader;
  assert.equal(statistics.messageCount, BigInt(tally.count));
  assert.equal(statistics.channelCount, reader.channelsById.size);
  assert.equal(statistics.schemaCount, reader.schemasById.size);
  assert.equal(statistics.chunkCount, reader.chunkIndexes.length);
  assert.equal(statistics.attachmentCount, attachments.length);
  assert.equal(statistics.metadataCount, metadata.length);
  for (const [id, count] of statistics.channelMessageCounts)
    assert.equal(count, BigInt(tally.byChannel.get(id)?.count ?? 0));
  const times = reader.chunkIndexes.flatMap((c) => [c.messageStartTime, c.messageEndTime]);
  times.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  assert.equal(statistics.messageStartTime, times.at(0) ?? 0n);
  assert.equal(statistics.messageEndTime, times.at(-1) ?? 0n);
}

async function collect(generator) {
  const items = [];
  for await (const item of generator) items.push(item);
  return items;
}

/** By the indexes, which must lead to the same messages as the stream did. */
async function checkIndexed(file, streamed) {
  const reader = await lib.McapIndexedReader.Initialize({
    readable: new FileReadable(file),
    decompressHandlers,
  });
  const tally = new Tally();
  for await (const message of reader.readMessages({ validateCrcs: true })) tally.add(message);
  assert.deepEqual(
    [...tally.byChannel].sort((a, b) => a[0] - b[0]),
    [...streamed.byChannel].sort((a, b) => a[0] - b[0]),
    "the indexes and the stream disagree",
  );
  const attachments = await collect(reader.readAttachments({ validateCrcs: true }));
  const metadata = await collect(reader.readMetadata());
  checkStatistics(reader, tally, attachments, metadata);
  await checkFileCrcs(file, reader);
  return { reader, attachments, metadata };
}

async function checkLog(file, onMessage = () => {}) {
  const decoder = new Decoder();
  const tally = checkStream(file, decoder, onMessage);
  const indexed = await checkIndexed(file, tally);
  return { ...indexed, decoder, tally };
}

function report(file, { reader, decoder, tally, attachments, metadata }) {
  console.log(`${file}: ${tally.count} messages in ${reader.chunkIndexes.length} chunks`);
  for (const channel of decoder.channels.values())
    console.log(`  ${channel.topic}  ${tally.byChannel.get(channel.id)?.count ?? 0}`);
  for (const { name, data } of attachments)
    console.log(`  attachment ${name}  ${data.length} bytes`);
  for (const { name, metadata: map } of metadata)
    console.log(`  metadata ${name}  ${[...map.keys()].join(" ")}`);
}

// ---- the sample ----

const SAMPLE_COUNT = 20000;
const TICK_EVERY = 100;
const START_NS = 2n ** 53n + 1n;
const STEP_NS = 1000000n;

const sampleAt = (k) => ({
  index: BigInt(k),
  odd: k % 2 === 1,
  t: k * 0.001,
  q: new Float64Array([k / 3, -k, 1e300, 5e-324]),
  small: k % 256,
  mixed: Math.imul(k, 2654435761) >>> 0,
  steps: new Int16Array([k % 30000, -(k % 30000), -32768]),
  half: k * 0.5,
  minus: -(BigInt(k) << 40n),
});

/** A function that expects the sample's messages one after the other. */
function expectSample() {
  const seen = { "/sample": 0, "/tick": 0 };
  return {
    seen,
    onMessage(topic, message, value) {
      const n = seen[topic]++;
      const k = topic === "/tick" ? n * TICK_EVERY : n;
      assert.equal(message.sequence, n);
      assert.equal(message.logTime, START_NS + BigInt(k) * STEP_NS);
      assert.equal(message.publishTime, message.logTime);
      assert.deepEqual(value, topic === "/tick" ? { index: k } : sampleAt(k));
    },
  };
}

async function checkSample(file) {
  const expected = expectSample();
  const log = await checkLog(file, expected.onMessage);
  assert.deepEqual(expected.seen, { "/sample": SAMPLE_COUNT, "/tick": SAMPLE_COUNT / TICK_EVERY });
  assert.equal(log.reader.header.profile, "");
  assert.equal(log.reader.header.library, "airbearing");
  assert(log.reader.chunkIndexes.length >= 5, "the log should have several chunks");
  const text = (data) => Buffer.from(data).toString();
  assert.deepEqual(
    log.attachments.map(({ name, mediaType, data }) => [name, mediaType, text(data)]),
    [
      ["scenario.yaml", "text/yaml", "rate: 1 kHz\n"],
      ["report.json", "application/json", "{}\n"],
    ],
  );
  assert.equal(log.metadata.length, 1);
  assert.equal(log.metadata[0].name, "airbearing");
  assert.deepEqual(
    [...log.metadata[0].metadata],
    [
      ["sample_count", "20000"],
      ["unicode", "µ ± °"],
    ],
  );
  await checkSeek(log.reader);
  return log;
}

/** Seeking: a window in time and a topic find what lies there and no more. */
async function checkSeek(reader) {
  const startTime = START_NS + 4321n * STEP_NS;
  const endTime = START_NS + 15000n * STEP_NS;
  const messages = await collect(
    reader.readMessages({ startTime, endTime, topics: ["/sample"], validateCrcs: true }),
  );
  assert.equal(messages.length, 15000 - 4321 + 1);
  assert.equal(messages.at(0).logTime, startTime);
  assert.equal(messages.at(-1).logTime, endTime);
  const all = await collect(reader.readMessages({ startTime, endTime }));
  assert.equal(all.length - messages.length, Math.floor(15000 / 100) - Math.floor(4321 / 100));
}

/** A log cut off inside its last chunk reads up to the chunk before. */
function checkCutOff(file, reader) {
  const later = (a, b) => (a.chunkStartOffset > b.chunkStartOffset ? a : b);
  const last = reader.chunkIndexes.reduce(later);
  const cut = Number(last.chunkStartOffset + last.chunkLength / 2n);
  const decoder = new Decoder();
  const { seen, onMessage } = expectSample();
  let chunks = 0;
  let head = 0;
  for (const record of streamRecords(file, cut)) {
    decoder.define(record);
    chunks += record.type === "Chunk" ? 1 : 0;
    head += record.type === "Attachment" || record.type === "Metadata" ? 1 : 0;
    if (record.type === "Message") onMessage(decoder.topic(record), record, decoder.decode(record));
  }
  assert.equal(chunks, reader.chunkIndexes.length - 1);
  assert.equal(head, 2, "scenario and metadata come first");
  assert(seen["/sample"] > 0 && seen["/sample"] < SAMPLE_COUNT);
}

/** One wrong byte in a chunk is seen. */
function checkDamage(file, reader) {
  const { chunkStartOffset, chunkLength } = reader.chunkIndexes[1];
  const bytes = fs.readFileSync(file);
  bytes[Number(chunkStartOffset + chunkLength / 2n)] ^= 0x10;
  const damaged = `${file}.damaged`;
  fs.writeFileSync(damaged, bytes);
  assert.throws(() => [...streamRecords(damaged)]);
}

async function runSample(program) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "mcap_read_"));
  try {
    const file = path.join(folder, "sample.mcap");
    execFileSync(program, [file], { stdio: "inherit" });
    const log = await checkSample(file);
    checkCutOff(file, log.reader);
    checkDamage(file, log.reader);
    report(file, log);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

const [first, second] = process.argv.slice(2);
if (first === "--sample" && second) await runSample(second);
else if (first && !first.startsWith("-")) report(first, await checkLog(first));
else {
  console.error("usage: node mcap_read.mjs FILE | --sample PROGRAM");
  process.exit(64);
}
