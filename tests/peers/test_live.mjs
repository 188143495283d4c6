// The live server judged by the client library of the protocol's makers.
//
//   node test_live.mjs PROGRAM    PROGRAM is live_sample
//
// Exit 0 good, 1 a problem, 77 the packages are not installed (tools/test installs them).

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import http from "node:http";
import { createRequire } from "node:module";
import net from "node:net";
import readline from "node:readline";
import test, { after, before } from "node:test";

const program = process.argv[2];
const peers = createRequire(new URL("../../tools/peers/package.json", import.meta.url));

function load() {
  try {
    return {
      ...peers("ws"),
      ...peers("@foxglove/ws-protocol"),
      ...peers("@foxglove/rosmsg"),
      ...peers("@foxglove/rosmsg2-serialization"),
    };
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    console.log("skipped: the packages of tools/peers are not installed");
    process.exit(77);
  }
}

const lib = load();
const SDK = "foxglove.sdk.v1";
const OLD = "foxglove.websocket.v1";

const children = new Set();

/** A server of its own; stop() gives its counts, and fails where it did not end well. */
async function startServer(...args) {
  const child = spawn(program, ["0", ...args], { stdio: ["pipe", "pipe", "inherit"] });
  children.add(child.on("exit", () => children.delete(child)));
  const lines = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise((resolve) => child.on("exit", (code, signal) => resolve([code, signal])));
  const port = Number((await lines.next()).value);
  return {
    port,
    async stop() {
      child.stdin.end();
      const counts = JSON.parse((await lines.next()).value);
      assert.deepEqual(await ended, [0, null]);
      return counts;
    },
  };
}

/** What a viewer heard, to be waited for. */
class Viewer {
  heard = [];
  waiting = [];
  channels = new Map();
  services = new Map();

  constructor(port, { path = "/", protocol = SDK, ...options } = {}) {
    this.ws = new lib.WebSocket(`ws://127.0.0.1:${port}${path}`, [protocol], options);
    this.client = new lib.FoxgloveClient({ ws: this.ws });
    for (const kind of ["open", "error", "close", "serverInfo", "status", "removeStatus", "message",
      "time", "advertise", "advertiseServices", "parameterValues", "serviceCallResponse",
      "serviceCallFailure"])
      this.client.on(kind, (event) => this.#hear(kind, event));
  }
  #hear(kind, event) {
    if (kind === "advertise") for (const c of event) this.channels.set(c.topic, c);
    if (kind === "advertiseServices") for (const s of event) this.services.set(s.name, s);
    this.heard.push({ kind, event });
    this.waiting = this.waiting.filter((check) => !check());
  }
  /** The next event of the kind that fits, from now on or among those not yet looked at. */
  wait(kind, fits = () => true, limit = 20000) {
    return new Promise((resolve, reject) => {
      const check = () => {
        const at = this.heard.findIndex((h) => h.kind === kind && fits(h.event));
        if (at < 0) return false;
        clearTimeout(timer);
        resolve(this.heard.splice(at, 1)[0].event);
        return true;
      };
      const timer = setTimeout(() => reject(new Error(`no ${kind} within ${limit} ms`)), limit);
      if (!check()) this.waiting.push(check);
    });
  }
  async ready() {
    await this.wait("advertiseServices");
    return this;
  }
  subscribe(topic) {
    return this.client.subscribe(this.channels.get(topic).id);
  }
  call(name, encoding, data, callId = 1) {
    const { id } = this.services.get(name);
    this.client.sendServiceCallRequest({ serviceId: id, callId, encoding, data });
  }
  async close() {
    const closed = this.wait("close");
    this.client.close();
    await closed;
  }
}

const viewer = (port, options) => new Viewer(port, options).ready();

/** The HTTP status with which an upgrade was refused. */
function refusal(port, { path = "/", protocols = [SDK], ...options } = {}) {
  return new Promise((resolve, reject) => {
    const ws = new lib.WebSocket(`ws://127.0.0.1:${port}${path}`, protocols, options);
    ws.on("open", () => {
      ws.close();
      resolve("let in");
    });
    ws.on("unexpected-response", (request, response) => resolve(response.statusCode));
    ws.on("error", (error) => reject(error));
  });
}

function get(port, path) {
  return new Promise((resolve, reject) => {
    http.get({ port, host: "127.0.0.1", path }, (response) => {
      const parts = [];
      response.on("data", (part) => parts.push(part));
      response.on("end", () => resolve({ response, body: Buffer.concat(parts) }));
    }).on("error", reject);
  });
}

/** So many records in a row, none missing.  The first may be of another's subscription to it. */
async function expectAll(v, count) {
  for (let i = 0; i < 30; i++) await v.wait("message");
  let { timestamp: last } = await v.wait("message");
  for (let i = 0; i < count; i++) {
    const { timestamp } = await v.wait("message");
    assert.equal(timestamp, last + 1000000n, "a record is missing");
    last = timestamp;
  }
}

const reader = (channel) => new lib.MessageReader(lib.parse(channel.schema, { ros2: true }));
const writer = (schema) => new lib.MessageWriter(lib.parse(schema, { ros2: true }));

let server;
before(async () => {
  server = await startServer();
});
after(async () => {
  const counts = await server.stop();
  for (const child of children) child.kill("SIGKILL"); // of a test that failed: nobody else would end it
  assert(counts.lost > 0, "the slow viewer's losses are not in the sum");
  assert(counts.refused >= 4);
});

for (const protocol of [SDK, OLD])
  test(`a viewer of ${protocol} sees samples and simulated time`, async () => {
    const v = await viewer(server.port, { protocol });
    assert.equal(v.ws.protocol, protocol);
    const info = await v.wait("serverInfo");
    assert.equal(info.name, "sample");
    assert.deepEqual(info.capabilities, ["time", "parameters", "parametersSubscribe", "services"]);
    assert.equal(info.metadata.operator, "yes");
    assert.match(info.metadata.viewer, /^[1-9]\d*$/);
    assert.equal((await v.wait("status")).message, "it samples");
    const id = v.subscribe("/sample");
    const channel = v.channels.get("/sample");
    assert.equal(channel.encoding, "cdr");
    assert.equal(channel.schemaEncoding, "ros2msg");
    for (let i = 0; i < 5; i++) {
      const message = await v.wait("message");
      assert.equal(message.subscriptionId, id);
      const { index, half } = reader(channel).readMessage(message.data);
      assert.equal(message.timestamp, index * 1000000n);
      assert.equal(half, Number(index) / 2);
    }
    const { timestamp } = await v.wait("time");
    assert.equal(timestamp % 1000000n, 0n);
    v.client.unsubscribe(id);
    await v.close();
  });

test("all records come where all are asked for, and 60 a second where not", async () => {
  const all = await viewer(server.port, { path: "/?rate=all" });
  const few = await viewer(server.port);
  all.subscribe("/sample");
  few.subscribe("/sample");
  await expectAll(all, 300);
  const count = few.heard.filter((h) => h.kind === "message").length;
  assert(count > 0 && count < 150, `${count} of 330`);
  await all.close();
  await few.close();
});

test("parameters are shown, set and watched", async () => {
  const v = await viewer(server.port);
  const watcher = await viewer(server.port);
  watcher.client.subscribeParameterUpdates([]);
  v.client.getParameters([], "all");
  const all = await v.wait("parameterValues", (e) => e.id === "all");
  assert.deepEqual(all.parameters.map((p) => p.name), ["gains.rate", "gains.attitude"]);
  v.client.setParameters([{ name: "gains.rate", value: 4.25 }], "set");
  const set = await v.wait("parameterValues", (e) => e.id === "set");
  assert.deepEqual(set.parameters, [{ name: "gains.rate", type: "float64", value: 4.25 }]);
  const change = await watcher.wait("parameterValues");
  assert.equal(change.parameters.find((p) => p.name === "gains.rate").value, 4.25);
  v.client.setParameters([{ name: "gains.rate", value: 11 }], "high");
  assert.equal((await v.wait("status", (e) => e.level === 2)).message, "at most 10");
  v.client.getParameters(["gains.rate"], "again");
  const again = await v.wait("parameterValues", (e) => e.id === "again");
  assert.equal(again.parameters[0].value, 4.25);
  await v.close();
  await watcher.close();
});

test("services are called in CDR and in JSON", async () => {
  const v = await viewer(server.port);
  const answer = async (callId) => {
    const response = await v.wait("serviceCallResponse", (e) => e.callId === callId);
    if (response.encoding === "json") return JSON.parse(Buffer.from(response.data.buffer,
      response.data.byteOffset, response.data.byteLength).toString());
    const schema = v.services.get("/step").responseSchema;
    return new lib.MessageReader(lib.parse(schema, { ros2: true })).readMessage(response.data);
  };
  const step = writer(v.services.get("/step").requestSchema).writeMessage({ frames: 12 });
  v.call("/step", "cdr", new DataView(step.buffer, step.byteOffset, step.byteLength), 7);
  assert.deepEqual(await answer(7), { success: true, message: "service 1 frames 12 text  active 0" });
  const fault = writer(v.services.get("/fault").requestSchema)
    .writeMessage({ name: "gyro stuck", active: true });
  v.call("/fault", "cdr", new DataView(fault.buffer, fault.byteOffset, fault.byteLength), 8);
  assert.equal((await answer(8)).message, "service 3 frames 0 text gyro stuck active 1");
  const json = Buffer.from(JSON.stringify({ path: "/tmp/é" }));
  v.call("/checkpoint", "json", new DataView(json.buffer, json.byteOffset, json.byteLength), 9);
  assert.deepEqual(await answer(9), { success: true, message: "service 2 frames 0 text /tmp/é active 0" });
  const empty = new DataView(new ArrayBuffer(0));
  v.call("/pause", "cdr", empty, 10);
  assert.equal((await answer(10)).success, false);
  v.call("/step", "cdr", empty, 11);
  assert.equal((await v.wait("serviceCallFailure")).callId, 11);
  await v.close();
});

test("a slow viewer loses messages and is told, and others do not notice", async () => {
  const slow = await viewer(server.port, { path: "/?rate=all" });
  const quick = await viewer(server.port, { path: "/?rate=all" });
  slow.subscribe("/big");
  await slow.wait("message");
  slow.ws._socket.pause();
  quick.subscribe("/sample");
  await expectAll(quick, 3000); // 48 MB meanwhile: more than the kernel keeps for the slow one
  slow.ws._socket.resume();
  const status = await slow.wait("status", (e) => e.id === "lost");
  assert.equal(status.level, 1);
  assert.match(status.message, /^[1-9]\d* messages were lost/);
  slow.ws.terminate();
  await quick.close();
});

test("nonsense is answered with a status or the end, and the others go on", async () => {
  const witness = await viewer(server.port, { path: "/?rate=all" });
  const v = await viewer(server.port);
  for (const text of ["", "{", "[]", '{"op":"fly"}', '{"op":"subscribe","subscriptions":[{}]}',
    '{"op":"subscribe","subscriptions":[{"id":1,"channelId":999}]}', `"${"x".repeat(60000)}"`]) {
    v.ws.send(text);
    assert.equal((await v.wait("status", (e) => e.level === 2)).level, 2, text);
  }
  for (const bytes of [[], [9], [2], [2, 0, 0, 0, 0, 1, 0, 0, 0, 255, 255, 255, 255], [2, ...Buffer.alloc(12)]]) {
    v.ws.send(Buffer.from(bytes));
    await v.wait("status", (e) => e.level === 2);
  }
  v.ws.send("x".repeat(70000));
  assert.equal((await v.wait("close")).code, 1009);
  for (let i = 0; i < 20; i++) {
    const raw = await viewer(server.port);
    const ended = raw.wait("close");
    raw.ws.on("error", () => {});
    raw.ws._socket.write(Buffer.from(Array.from({ length: 64 }, (_, k) => (k * 37 + i * 101) % 256)));
    raw.ws._socket.end();
    await ended;
  }
  await new Promise((resolve) => {
    const socket = net.connect(server.port, "127.0.0.1", () => socket.end("GARBAGE \0\xff\r\n\r\n"));
    socket.on("error", resolve).on("close", resolve).resume();
  });
  witness.subscribe("/sample");
  await witness.wait("message");
  await witness.close();
});

test("fifty viewers look on at once", async () => {
  const all = await Promise.all(Array.from({ length: 50 }, () => viewer(server.port)));
  for (const v of all) v.subscribe("/sample");
  for (const v of all) for (let i = 0; i < 3; i++) await v.wait("message");
  await Promise.all(all.map((v) => v.close()));
});

test("a page of a stranger is not let in", async () => {
  const at = (origin, headers = {}) => refusal(server.port, { origin, headers });
  assert.equal(await at("https://evil.example"), 403);
  assert.equal(await at("null"), 403);
  assert.equal(await at(`http://evil.example:${server.port}`,
    { host: `evil.example:${server.port}` }), 403);
  assert.equal(await at(`http://127.0.0.1:${server.port + 1}`), 403);
  assert.equal(await at(`http://127.0.0.1:${server.port}`), "let in");
  assert.equal(await at(`http://localhost:${server.port}`,
    { host: `localhost:${server.port}` }), "let in");
  assert.equal(await at("https://friend.example"), "let in");
});

test("who offers no subprotocol of ours is refused", async () => {
  assert.equal(await refusal(server.port, { protocols: [] }), 400);
  await assert.rejects(() => refusal(server.port, { protocols: ["mqtt"] }).then((code) => {
    if (code !== "let in") throw new Error(code);
  }));
});

test("a token is asked for where there is one", async () => {
  const guarded = await startServer("sesame open");
  assert.equal(await refusal(guarded.port), 401);
  assert.equal(await refusal(guarded.port, { path: "/?token=sesame" }), 401);
  assert.equal(await refusal(guarded.port, { path: "/?token=sesame%20opened" }), 401);
  assert.equal(await refusal(guarded.port, { path: "/?token=" }), 401);
  assert.equal(await refusal(guarded.port, { path: "/?token=sesame%20open" }), "let in");
  assert.equal(await refusal(guarded.port,
    { path: "/?rate=all&token=sesame%20open", origin: "https://evil.example" }), "let in");
  assert.equal(await refusal(guarded.port,
    { headers: { authorization: "Bearer sesame open" } }), "let in");
  assert.equal(await refusal(guarded.port, { headers: { authorization: "Bearer x" } }), 401);
  const counts = await guarded.stop();
  assert.equal(counts.refused, 5);
});

test("who gives no operator token looks on, and a wrong one is refused", async () => {
  const guarded = await startServer("", "fly me");
  const empty = new DataView(new ArrayBuffer(0));
  assert.equal(await refusal(guarded.port, { path: "/?operator=fly" }), 403);
  assert.equal(await refusal(guarded.port, { path: "/?operator=" }), 403);
  assert.equal(await refusal(guarded.port, { headers: { authorization: "Operator nobody" } }), 403);
  assert.equal(await refusal(guarded.port,
    { path: "/?operator=fly%20me", origin: "https://evil.example" }), 403);
  const watcher = await viewer(guarded.port);
  assert.equal((await watcher.wait("serverInfo")).metadata.operator, "no");
  watcher.call("/pause", "cdr", empty);
  assert.match((await watcher.wait("serviceCallFailure")).message, /\?operator=/);
  watcher.client.setParameters([{ name: "gains.rate", value: 1 }], "set");
  assert.match((await watcher.wait("status", (e) => e.level === 2)).message, /\?operator=/);
  watcher.subscribe("/sample");
  await watcher.wait("message");
  for (const options of [{ path: "/?operator=fly%20me" }, { headers: { authorization: "Operator fly me" } }]) {
    const pilot = await viewer(guarded.port, options);
    assert.equal((await pilot.wait("serverInfo")).metadata.operator, "yes");
    const step = writer(pilot.services.get("/step").requestSchema).writeMessage({ frames: 1 });
    pilot.call("/step", "cdr", new DataView(step.buffer, step.byteOffset, step.byteLength), 3);
    assert.equal((await pilot.wait("serviceCallResponse")).callId, 3);
    await pilot.close();
  }
  await watcher.close();
  assert.equal((await guarded.stop()).refused, 4);
});

test("one viewer has authority, and all see which", async () => {
  const [one, two] = [await viewer(server.port), await viewer(server.port)];
  const number = async (v) => Number((await v.wait("serverInfo")).metadata.viewer);
  const [first, second] = [await number(one), await number(two)];
  const answer = async (v, name) => {
    v.call(name, "json", new DataView(new ArrayBuffer(0)), 4);
    const { data } = await v.wait("serviceCallResponse");
    return JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString());
  };
  const states = reader(two.channels.get("/authority"));
  const id = two.subscribe("/authority");
  const shows = (holder, asking) => two.wait("message", ({ subscriptionId, data }) => {
    if (subscriptionId !== id) return false;
    const state = states.readMessage(data);
    return state.holder === holder && state.asking === asking && state.viewers >= 2;
  });
  assert.equal((await answer(one, "/authority/take")).success, true);
  await shows(first, 0);
  assert.match((await answer(two, "/authority/take")).message, new RegExp(`viewer ${first} has authority`));
  assert.equal((await answer(two, "/authority/ask")).success, true);
  assert.equal((await one.wait("status", (e) => e.id === "authority")).message,
    `viewer ${second} asks for authority`);
  await shows(first, second);
  assert.equal((await answer(one, "/authority/give")).success, true);
  assert.equal((await answer(two, "/authority/take")).success, true);
  await shows(second, 0);
  await one.close();
  await two.close();
});

test("who floods is told and let go, and others do not notice", async () => {
  const busy = await startServer();
  const witness = await viewer(busy.port, { path: "/?rate=all" });
  witness.subscribe("/sample");
  const floods = [() => "x", () => '{"op":"getParameters","parameterNames":[]}',
    () => Buffer.from([2, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 99, 100, 114]), () => "y".repeat(60000)];
  for (const make of floods) {
    const v = await viewer(busy.port);
    v.ws.on("error", () => {});
    const closed = v.wait("close");
    for (let i = 0; i < 20000 && v.ws.readyState === 1; i++) {
      v.ws.send(make(), () => {});
      if (i % 500 === 499) await new Promise(setImmediate);
    }
    assert.equal((await closed).code, 1006); // cut off, and too busy to hear why
  }
  const heeds = await viewer(busy.port); // a word, an answer, until the answer is that it was too much
  heeds.ws.on("error", () => {});
  const answers = new Set();
  const isTold = () => answers.has("more than 1000 messages or 1 MB a second; the connection was closed");
  const beganMs = performance.now();
  for (let words = 0; !isTold() && words < 200; words++) {
    heeds.ws.send("y".repeat(60000), () => {});
    answers.add((await heeds.wait("status", (e) => e.level === 2)).message);
  }
  const slow = performance.now() - beganMs > 200 * 50; // 20 words a second are just too many
  assert(isTold() || slow);
  if (!isTold()) console.log("too slow a machine to flood word by word");
  await expectAll(witness, 300);
  await witness.close();
  assert.equal((await busy.stop()).floods, floods.length + isTold());
});

test("pages are served on the same port", async () => {
  for (const path of ["/", "/index.html", "/?token=x"]) {
    const { response, body } = await get(server.port, path);
    assert.equal(response.statusCode, 200);
    assert.equal(response.headers["content-type"], "text/html");
    assert.match(response.headers["content-security-policy"], /default-src 'self'/);
    assert.equal(body.toString(), "<p>sample</p>");
  }
  const { body } = await get(server.port, "/script.js");
  assert.equal(body.length, 100000);
  for (const path of ["/none", "/script", "/%2e%2e/etc/passwd"])
    assert.notEqual((await get(server.port, path)).response.statusCode, 200, path);
});

test("at the end viewers are told so", async () => {
  const short = await startServer();
  const v = await viewer(short.port);
  const closed = v.wait("close");
  const counts = await short.stop();
  const { code, reason } = await closed;
  assert.deepEqual([code, String(reason)], [1001, "the run is over"]);
  assert.equal(counts.viewers, 1);
});
