// Print how many messages a log holds, whole or cut off, read by another project's library.
// usage: node count_records.mjs LOG
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const require = createRequire(path.join(here, "../../../tools/peers/package.json"));
const { McapStreamReader } = require("@mcap/core");
const { loadDecompressHandlers } = require("@mcap/support");

const reader = new McapStreamReader({ validateCrcs: true, decompressHandlers: await loadDecompressHandlers() });
reader.append(fs.readFileSync(process.argv[2]));
let count = 0;
for (let record; (record = reader.nextRecord()); ) {
  count += record.type === "Message";
}
console.log(count);
