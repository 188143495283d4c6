// A hand at a page, by the protocol's own client: fly_peer.mjs URL PICTURES.  Publishes that many
// pictures and prints, as JSON, the times that it put into them and those that came back with the
// inputs of the run.
import { createRequire } from "node:module";

const peers = createRequire(new URL("../../../tools/peers/package.json", import.meta.url));
const { FoxgloveClient } = peers("@foxglove/ws-protocol");
const { parse } = peers("@foxglove/rosmsg");
const { MessageReader } = peers("@foxglove/rosmsg2-serialization");
const { WebSocket } = peers("ws");
const [url, count] = process.argv.slice(2);

const client = new FoxgloveClient({ ws: new WebSocket(url, ["foxglove.sdk.v1"]) });
const sent = [], latched = [];
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function picture(x, time) {
  const bytes = new DataView(new ArrayBuffer(116));
  "HAND".split("").forEach((c, i) => bytes.setUint8(i, c.charCodeAt(0)));
  bytes.setUint32(4, 2, true);
  bytes.setFloat32(12, x, true);
  bytes.setBigUint64(108, BigInt(time), true);
  return new Uint8Array(bytes.buffer);
}

const channels = await new Promise((resolve) => client.on("advertise", resolve));
const input = channels.find((channel) => channel.topic === "/input");
const reader = new MessageReader(parse(input.schema, { ros2: true }));
client.on("message", ({ data }) => latched.push(Number(reader.readMessage(data).board_us)));
client.subscribe(input.id);
const hand = client.advertise({ topic: "/hand", encoding: "hand", schemaName: "hand" });
await new Promise((resolve) => client.on("time", resolve)); // what comes before the first frame is latched as one
for (let i = 0; i < Number(count); i++) {
  sent.push(Math.round(performance.now() * 1000));
  client.sendMessage(hand, picture(Math.sin(i / 10), sent[i]));
  await pause(10);
}
await pause(300);
client.unadvertise(hand);
client.close();
console.log(JSON.stringify({ sent, latched: latched.filter((time) => time > 0) }));
