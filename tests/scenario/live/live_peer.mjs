// A run seen live by the protocol's own client library, and set against what else is known of it.
//
//   node live_peer.mjs collect URL FILE    all that is said until the end, a JSON object a line
//   node live_peer.mjs compare FILE LOG    every message against the log's bytes; prints counts
//   node live_peer.mjs decode FILE TOPIC   messages of a topic by the makers' own schemas where they
//                                          have one, else by the schema that was advertised

import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";

const peers = createRequire(new URL("../../../tools/peers/package.json", import.meta.url));
const big = (key, value) => (typeof value === "bigint" ? String(value) : value);

function listen(ws, file) {
  const { FoxgloveClient } = peers("@foxglove/ws-protocol");
  const out = fs.createWriteStream(file);
  const say = (kind, event) => out.write(JSON.stringify({ kind, ...event }, big) + "\n");
  const client = new FoxgloveClient({ ws });
  const topics = new Map();
  client.on("serverInfo", (event) => say("serverInfo", event));
  client.on("status", (event) => say("status", event));
  client.on("removeStatus", (event) => say("removeStatus", event));
  client.on("time", ({ timestamp }) => say("time", { time: timestamp }));
  client.on("advertise", (channels) => {
    for (const channel of channels) {
      say("channel", channel);
      topics.set(client.subscribe(channel.id), channel.topic);
    }
    console.log("looking");
  });
  client.on("message", ({ subscriptionId, timestamp, data }) => {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    say("message", { topic: topics.get(subscriptionId), time: timestamp, data: bytes.toString("base64") });
  });
  client.on("close", ({ code }) => {
    say("close", { code });
    out.end();
  });
}

/** Waits for the run: this process takes longer to start than a run does. */
function collect(url, file, until = Date.now() + 60000) {
  const { WebSocket } = peers("ws");
  const socket = new WebSocket(url, ["foxglove.sdk.v1"], { rejectUnauthorized: false });
  const retry = () => {
    assert(Date.now() < until, "nobody serves");
    setTimeout(() => collect(url, file, until), 20);
  };
  socket.once("error", retry);
  socket.once("upgrade", () => {
    socket.off("error", retry);
    listen(socket, file);
  });
}

const lines = (file) => fs.readFileSync(file, "utf8").trim().split("\n").map((l) => JSON.parse(l));

async function readLog(file) {
  const { McapStreamReader } = peers("@mcap/core");
  const { loadDecompressHandlers } = peers("@mcap/support");
  const reader = new McapStreamReader({ validateCrcs: true,
    decompressHandlers: await loadDecompressHandlers() });
  const channels = new Map();
  const schemas = new Map();
  const messages = new Map();
  reader.append(fs.readFileSync(file));
  for (let record; (record = reader.nextRecord()); ) {
    if (record.type === "Schema") schemas.set(record.id, record);
    if (record.type === "Channel") channels.set(record.id, record);
    if (record.type !== "Message") continue;
    const key = `${channels.get(record.channelId).topic} ${record.logTime}`;
    if (!messages.has(key)) messages.set(key, []);
    messages.get(key).push(Buffer.from(record.data).toString("base64"));
  }
  return { channels, schemas, messages };
}

/** What is live is in the log, byte for byte; and the tables of channels are the same. */
async function compare(file, log) {
  const { channels, schemas, messages } = await readLog(log);
  const live = lines(file);
  const counts = {};
  for (const channel of channels.values()) {
    const shown = live.find((l) => l.kind === "channel" && l.topic === channel.topic);
    const schema = schemas.get(channel.schemaId);
    assert(shown, `${channel.topic} is not shown`);
    assert.equal(shown.schema, Buffer.from(schema.data).toString());
    assert.equal(shown.schemaName, schema.name);
    assert.deepEqual([shown.encoding, shown.schemaEncoding], ["cdr", "ros2msg"]);
    counts[channel.topic] = 0;
  }
  for (const { topic, time, data } of live.filter((l) => l.kind === "message" && l.topic in counts)) {
    const logged = messages.get(`${topic} ${time}`);
    assert(logged, `${topic} at ${time} is not in the log`);
    assert(logged.includes(data), `${topic} at ${time} differs from the log`);
    counts[topic] += 1;
  }
  console.log(JSON.stringify(counts));
}

function schemaOf(channel) {
  const { foxgloveMessageSchemas, generateRosMsgMergedSchema } = peers("@foxglove/schemas/internal");
  const name = /^foxglove_msgs\/msg\/(\w+)$/.exec(channel.schemaName)?.[1];
  return name ? generateRosMsgMergedSchema(foxgloveMessageSchemas[name], { rosVersion: 2 }) : channel.schema;
}

function decode(file, topic) {
  const { parse } = peers("@foxglove/rosmsg");
  const { MessageReader } = peers("@foxglove/rosmsg2-serialization");
  const live = lines(file);
  const channel = live.find((l) => l.kind === "channel" && l.topic === topic);
  const theirs = new MessageReader(parse(schemaOf(channel), { ros2: true }));
  const ours = new MessageReader(parse(channel.schema, { ros2: true }));
  for (const { time, data } of live.filter((l) => l.kind === "message" && l.topic === topic)) {
    const message = theirs.readMessage(Buffer.from(data, "base64"));
    assert.deepEqual(ours.readMessage(Buffer.from(data, "base64")), message);
    console.log(JSON.stringify({ time: Number(time), message }, (key, value) =>
      ArrayBuffer.isView(value) ? Array.from(value, Number) : typeof value === "bigint" ? Number(value) : value));
  }
}

const [what, first, second] = process.argv.slice(2);
if (what === "collect") {
  peers("@foxglove/ws-protocol");
  console.log("waiting");
  collect(first, second);
}
else if (what === "compare") await compare(first, second);
else if (what === "decode") decode(first, second);
