// Copy a log and flip one bit in the first control of the given /input record; print its frame.
// With TOPIC and OFFSET: the lowest bit of that byte in a record of that topic, which begins with its frame.
// usage: node flip_input.mjs LOG COPY ORDINAL [TOPIC OFFSET]
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const require = createRequire(path.join(here, "../../../tools/peers/package.json"));
const { McapStreamReader, McapWriter, TempBuffer } = require("@mcap/core");
const { loadDecompressHandlers } = require("@mcap/support");

const CDR_HEADER = 4, CONTROLS = 56; // offset of controls in an /input record
const [log, copy, ordinal, topic = "/input", offset = CONTROLS] = process.argv.slice(2);
const reader = new McapStreamReader({ validateCrcs: true, decompressHandlers: await loadDecompressHandlers() });
reader.append(fs.readFileSync(log));

const sink = new TempBuffer();
const writer = new McapWriter({ writable: sink });
await writer.start({ profile: "", library: "flip_input" });
const schemas = new Map(), channels = new Map();
let seen = 0;
for (let record; (record = reader.nextRecord()); ) {
  if (record.type === "Schema" && !schemas.has(record.id)) {
    schemas.set(record.id, await writer.registerSchema(record));
  } else if (record.type === "Channel" && !channels.has(record.id)) {
    const id = await writer.registerChannel({ ...record, schemaId: schemas.get(record.schemaId) });
    channels.set(record.id, { id, topic: record.topic });
  } else if (record.type === "Message") {
    const channel = channels.get(record.channelId);
    const data = Uint8Array.from(record.data);
    if (channel.topic === topic && seen++ === Number(ordinal)) {
      data[CDR_HEADER + Number(offset)] ^= 1;
      console.log(String(new DataView(data.buffer).getBigUint64(CDR_HEADER, true)));
    }
    await writer.addMessage({ ...record, channelId: channel.id, data });
  } else if (record.type === "Attachment") {
    await writer.addAttachment(record);
  } else if (record.type === "Metadata") {
    await writer.addMetadata(record);
  }
}
await writer.end();
fs.writeFileSync(copy, sink.get());
