// An operator on the live server, by the protocol's own client: operator_peer.mjs URL FILE.
// Sets a parameter, calls every service and prints what was answered, as JSON.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const peers = createRequire(new URL("../../../tools/peers/package.json", import.meta.url));
const { FoxgloveClient } = peers("@foxglove/ws-protocol");
const { WebSocket } = peers("ws");
const [url, file] = process.argv.slice(2);

let client;
const next = (event, wanted = () => true) =>
  new Promise((resolve) => {
    const listener = (value) => {
      if (!wanted(value)) return;
      client.off(event, listener);
      resolve(value);
    };
    client.on(event, listener);
  });

/** The greeting, read from its first byte on; waits for the run. */
async function connect(until = Date.now() + 60000) {
  for (;;) {
    const ws = new WebSocket(url, ["foxglove.websocket.v1"]);
    const greeting = await new Promise((resolve) => {
      ws.once("upgrade", () => {
        client = new FoxgloveClient({ ws });
        resolve(Promise.all([next("serverInfo"), next("advertiseServices")]));
      });
      ws.once("error", () => resolve(undefined));
    });
    if (greeting) return greeting;
    assert(Date.now() < until, "nobody serves");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const [info, services] = await connect();

let calls = 0;
async function call(name, request = {}) {
  const service = services.find((s) => s.name === name);
  assert(service, `no service ${name}`);
  const data = new TextEncoder().encode(JSON.stringify(request));
  const callId = ++calls;
  const answer = Promise.race([
    next("serviceCallResponse", (r) => r.callId === callId).then((r) => JSON.parse(new TextDecoder().decode(r.data))),
    next("serviceCallFailure", (r) => r.callId === callId).then((r) => ({ success: false, message: r.message })),
  ]);
  client.sendServiceCallRequest({ serviceId: service.id, callId, encoding: "json", data: new DataView(data.buffer) });
  return answer;
}

const answers = {};
const all = next("parameterValues", (v) => v.id === "all");
client.getParameters([], "all");
const { parameters } = await all;
const done = next("parameterValues", (v) => v.id === "set");
client.setParameters([{ name: parameters[0].name, value: 0.01 }], "set");
const set = await done;
answers.fault = await call("/fault", { name: info.metadata["fault.0"], active: true });
answers.checkpoint = await call("/checkpoint", { path: file });
answers.pause = await call("/pause");
answers.step = await call("/step", { frames: 5 });
answers.resume = await call("/resume");
answers.restore = await call("/restore", { path: file });
answers.reset = await call("/reset");
answers.outside = await call("/checkpoint", { path: `../${file}` });
answers.nonsense = await call("/fault", { name: "no such fault", active: true });
client.close();
console.log(JSON.stringify({ info, parameters, set: set.parameters, answers }));
