// The peers that play a PX4, tried on a small simulator that is right and on one that is wrong in one
// thing at a time: each fault must be named.
//
//   node test_board_peers.mjs        exit 0 good, 1 a problem, 77 the packages are not installed

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import dgram from "node:dgram";
import net from "node:net";
import { fileURLToPath } from "node:url";

import { common, Reader, Writer } from "./board_peer.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

async function run(name, ...options) {
  const child = spawn(process.execPath, [...process.execArgv, path(name), ...options.map(String)], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (bytes) => { text += bytes; });
  const code = await new Promise((done) => child.on("close", done));
  return { code, summary: JSON.parse(text) };
}

// A vehicle that stands on the ground.
const sensor = (step) => ({
  timeUsec: BigInt(4000 * (step + 1)), xacc: 0, yacc: 0, zacc: -9.81, xgyro: 0.001, ygyro: 0, zgyro: 0,
  xmag: 0.215, ymag: 0.01, zmag: 0.427, absPressure: 955.98, diffPressure: 0, pressureAlt: 488, temperature: 15,
  fieldsUpdated: step % 5 === 0 ? 0x1bff : 0x3f, id: 0,
});
const gps = (step) => ({
  timeUsec: BigInt(4000 * (step + 1)), fixType: 3, lat: 473977420, lon: 85455940, alt: 488000, eph: 90, epv: 150, vel: 50,
  vn: 30, ve: 40, vd: 0, cog: 5313, satellitesVisible: 10, id: 0, yaw: 0,
});
const truth = (step) => ({
  timeUsec: BigInt(4000 * (step + 1)), attitudeQuaternion: [1, 0, 0, 0], rollspeed: 0, pitchspeed: 0, yawspeed: 0,
  lat: 473977420, lon: 85455940, alt: 488000, vx: 0, vy: 0, vz: 0, indAirspeed: 0, trueAirspeed: 0, xacc: 0, yacc: 0, zacc: 0,
});

// Each fault changes the messages of a step, a list of [class, fields], and is to be named so.
const faults = [
  ["HIL_SENSOR time does not increase", (step, list) => { if (step === 60) list.at(-1)[1].timeUsec -= 4000n; }],
  ["comes after the HIL_SENSOR", (step, list) => { if (list.length > 1) list.push(list.shift()); }],
  ["is from the future", (step, list) => { if (list.length > 1) list[0][1].timeUsec += 4000n; }],
  ["only some bits of baro", (step, list) => { list.at(-1)[1].fieldsUpdated &= ~0x1000; }],
  ["only some bits of gyro", (step, list) => { list.at(-1)[1].fieldsUpdated &= ~0x8; }],
  ["unknown bits", (step, list) => { list.at(-1)[1].fieldsUpdated |= 0x2000; }],
  ["not in gauss", (step, list) => { list.at(-1)[1].xmag *= 1e-4; list.at(-1)[1].zmag *= 1e-4; }],
  ["not in hPa", (step, list) => { list.at(-1)[1].absPressure *= 100; }],
  ["pressure_alt is not", (step, list) => { list.at(-1)[1].pressureAlt = 0; }],
  ["altitude not in mm", (step, list) => { if (list.length > 1) list[0][1].alt = 488; }],
  ["vel is not", (step, list) => { if (list.length > 1) list[0][1].vel = 5; }],
  ["no unit quaternion", (step, list) => { if (list.length > 1) list[1][1].attitudeQuaternion = [1, 0, 0, 1]; }],
];

function messages(step, spoil) {
  const list = [[common.HilSensor, sensor(step)]];
  if (step % 25 === 1) list.unshift([common.HilGps, gps(step)], [common.HilStateQuaternion, truth(step)]);
  spoil?.(step, list);
  return list;
}

const post = (writer, list) => list.forEach(([type, fields]) => writer.write(new type(), fields));

// Freewheels for 19 messages, then one step for each answer; what the peer said is kept.
async function lockstep(spoil, freewheel = 20) {
  const heard = [];
  let step = 0;
  const server = net.createServer((socket) => {
    const writer = new Writer((bytes) => { if (!socket.destroyed) socket.write(bytes); });
    const go = () => post(writer, messages(step++, spoil));
    const reader = new Reader((id, message) => {
      heard.push([id, message, step]);
      if (id === 76) for (let i = 0; i < freewheel; i++) go();
      else if (id === 93) go();
    });
    socket.on("data", (bytes) => reader.push(bytes));
    socket.on("error", () => {});
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const result = await run("px4_peer.mjs", "--port", server.address().port, "--seconds", 2, "--limit", 60);
  server.close();
  return { ...result, heard };
}

async function theGoodSimulatorPasses() {
  const { code, summary, heard } = await lockstep(null);
  assert.deepEqual([code, summary.problems], [0, {}]);
  assert.equal(summary.sensors, 501);
  assert.equal(summary.updates.baro, 101);
  assert.deepEqual(heard.slice(0, 2).map(([id]) => id), [76, 0]);
  assert.deepEqual([heard[0][1].command, heard[0][1]._param1, heard[0][1]._param2], [511, 115, 5000]);
  const answers = heard.filter(([id]) => id === 93);
  answers.forEach(([, m, step]) => assert.equal(m.timeUsec, BigInt(4000 * step), "the time of its HIL_SENSOR"));
  assert.equal(answers[0][1].timeUsec, 80000n);
  assert.equal(answers[0][1].flags, 1n);
  assert.deepEqual([answers[0][1].mode, answers.at(-1)[1].mode], [0x01, 0x81]);
  assert.equal(answers[0][1].controls[0], 0);
  assert.ok(answers.at(-1)[1].controls[0] > 0.5);
}

async function eachFaultIsNamed() {
  for (const [name, spoil] of faults) {
    const { code, summary } = await lockstep(spoil);
    assert.equal(code, 1, name);
    assert.ok(Object.keys(summary.problems).some((problem) => problem.includes(name)), `${name}: ${JSON.stringify(summary.problems)}`);
  }
}

async function aSimulatorThatRunsAheadIsNamed() {
  const { code, summary } = await lockstep(null, 400);
  assert.equal(code, 1);
  assert.ok("the simulator does not wait for answers" in summary.problems, JSON.stringify(summary.problems));
}

// Waits for a heartbeat, streams at 250 Hz, answers TIMESYNC, passes on a ground station's command.
async function hitl(options, { flag = 0x20, spoil = null, sync = true } = {}) {
  const socket = dgram.createSocket("udp4");
  const heard = {};
  let from = null, timer = null, step = 0;
  const writer = new Writer((bytes) => socket.send(bytes, from.port, from.address));
  const reader = new Reader((id, message) => {
    heard[id] = [...(heard[id] ?? []), message];
    if (id === 111 && message.tc1 === 0n && sync) writer.write(new common.TimeSync(), { tc1: 77n, ts1: message.ts1 });
    if (id === 0 && (message.baseMode & flag) === flag) timer ??= setInterval(() => post(writer, messages(step++, spoil)), 4);
  });
  socket.on("message", (bytes, remote) => { from = remote; reader.push(bytes); });
  await new Promise((done) => socket.bind(0, "127.0.0.1", done));
  const result = await run("hitl_peer.mjs", "--port", socket.address().port, ...options);
  clearInterval(timer);
  socket.close();
  return { ...result, heard };
}

async function theBoardInTheLoopPasses() {
  const { code, summary, heard } = await hitl(["--seconds", 2, "--least", 150]);
  assert.deepEqual([code, summary.problems], [0, {}]);
  assert.ok(summary.sensors > 50 && summary.timesync.answered > 2 && summary.controls > 50);
  assert.equal(heard[0][0].baseMode, 0x3d);
  assert.deepEqual([heard[93][0].mode, heard[93][0].flags], [0xb5, 0n]);
  assert.ok(heard[30].length > 5);
}

async function aBoardNotInTheLoopIsLeftAlone() {
  const { code, summary, heard } = await hitl(["--seconds", 1, "--no-hil"]);
  assert.deepEqual([code, summary.problems, summary.sensors], [0, {}, 0]);
  assert.equal(heard[0][0].baseMode, 0x1d);
  assert.equal(heard[93], undefined);
  const pushy = await hitl(["--seconds", 4, "--no-hil"], { flag: 0 });
  assert.equal(pushy.code, 1);
}

async function faultsInTheLoopAreNamed() {
  const unsynced = await hitl(["--seconds", 1], { sync: false });
  assert.ok("no TIMESYNC was answered" in unsynced.summary.problems);
  const wrong = await hitl(["--seconds", 1], { spoil: (step, list) => { list.at(-1)[1].absPressure *= 100; } });
  assert.ok("pressure not in hPa" in wrong.summary.problems);
}

await theGoodSimulatorPasses();
await eachFaultIsNamed();
await aSimulatorThatRunsAheadIsNamed();
await theBoardInTheLoopPasses();
await aBoardNotInTheLoopIsLeftAlone();
await faultsInTheLoopAreNamed();
console.log(`the peers pass a good simulator and name ${faults.length + 4} faults`);
