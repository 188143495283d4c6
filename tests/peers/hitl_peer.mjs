// A PX4 board in hardware-in-the-loop mode, played by npm's node-mavlink over UDP: it talks first,
// judges what the simulator sends, measures when it arrives, and checks the TIMESYNC round trip.
//
//   node hitl_peer.mjs [--host H] [--port 14560] [--seconds S] [--least N] [--no-hil] [--hover C]
//                      [--wait S]
//
// --seconds is wall time, from the first HIL_SENSOR; --least how many must have come by then, or it
// goes on; --hover a fixed motor command; --wait how long to wait for the first word, and for the
// least.  With --no-hil the heartbeat lacks the flag, and the simulator must send no HIL_SENSOR.
// Prints one line of JSON; the arrival figures are this process's own and no verdict.  Exit 0 good,
// 1 a problem, 77 the packages are not installed.

import dgram from "node:dgram";

import {
  COMMAND, common, finish, HEARTBEAT, Judge, minimal, Reader, readOptions, SENSOR, statistics, SYNC, Writer,
} from "./board_peer.mjs";

const options = readOptions({ host: "127.0.0.1", port: 14560, seconds: 5, least: 0, "no-hil": false, hover: 0, wait: 30 });
const hil = options["no-hil"] ? 0 : 0x20;
const judge = new Judge();
const now = () => process.hrtime.bigint();
const start = now();
const arrivals = [], late = [], trips = [];
const asked = new Set();
let begin = null, base = null, answered = 0, commands = 0, stations = 0, sent = 0, ended = false;

const socket = dgram.createSocket("udp4");
const writer = new Writer((bytes) => { if (!ended) socket.send(bytes, options.port, options.host); });
const reader = new Reader(take);

// Arrival against the sensor's own clock: the jitter that PX4 takes for that of the samples.
function takeSensor(m) {
  if (m.id !== 0) return;
  const time = now();
  begin ??= time;
  base ??= [time, m.timeUsec];
  arrivals.push(time);
  late.push(Number(time - base[0]) * 1e-3 - Number(m.timeUsec - base[1]));
}

// An answer echoes our ts1 and brings its own clock; a request is answered.
function takeSync(m) {
  if (m.tc1 === 0n) {
    writer.write(new common.TimeSync(), { tc1: now(), ts1: m.ts1 });
    return;
  }
  judge.expect(m.tc1 > 0n, "TIMESYNC answer without a clock");
  judge.expect(asked.delete(m.ts1), "TIMESYNC answer to nothing that was asked");
  answered++;
  trips.push(Number(now() - m.ts1) * 1e-3);
}

function takeCommand(m, header) {
  commands++;
  writer.write(new common.CommandAck(), {
    command: m.command, result: 0, progress: 0, resultParam2: 0, targetSystem: header.sysid, targetComponent: header.compid,
  });
}

// What a ground station says comes through the simulator with its own name and its own numbers.
function take(id, message, header) {
  if (ended) return;
  if (header.sysid === 255) {
    if (id === HEARTBEAT) stations++;
    if (id === COMMAND) takeCommand(message, header);
    return;
  }
  judge.take(id, message, header);
  if (id === SENSOR) takeSensor(message);
  else if (id === SYNC) takeSync(message);
  else if (id === COMMAND) takeCommand(message, header);
}

function heartbeat() {
  writer.write(new minimal.Heartbeat(), {
    type: 2, autopilot: 12, baseMode: 0x1d | hil, customMode: 0, systemStatus: 4, mavlinkVersion: 3,
  });
}

function sync() {
  const ts1 = now();
  asked.add(ts1);
  writer.write(new common.TimeSync(), { tc1: 0n, ts1 });
}

function telemetry() {
  writer.write(new common.Attitude(), { timeBootMs: Number((now() - start) / 1000000n), roll: 0.125, pitch: 0, yaw: 0 });
}

function controls() {
  if (begin === null || !hil) return;
  sent++;
  writer.write(new common.HilActuatorControls(), {
    timeUsec: (now() - start) / 1000n, flags: 0n, mode: 0x15 | hil | 0x80,
    controls: [...Array(4).fill(options.hover), ...Array(12).fill(0)],
  });
}

function end() {
  ended = true;
  if (hil) {
    judge.expect(begin !== null, "no HIL_SENSOR came");
    judge.expect(answered > 0, "no TIMESYNC was answered");
  } else {
    judge.expect(begin === null, "HIL_SENSOR to a board that is not in HIL mode");
  }
  judge.expect(reader.bad === 0, "frames with a wrong checksum");
  const gaps = arrivals.slice(1).map((time, i) => Number(time - arrivals[i]) * 1e-3);
  const earliest = late.reduce((a, b) => Math.min(a, b), Infinity);
  const seconds = arrivals.length > 1 ? Number(arrivals.at(-1) - arrivals[0]) * 1e-9 : 0;
  finish({
    peer: "hitl", sensors: arrivals.length, rate_hz: seconds > 0 ? Math.round((arrivals.length - 1) / seconds * 10) / 10 : 0,
    interval_us: statistics(gaps), lateness_us: statistics(late.map((x) => x - earliest)),
    timesync: { asked: answered + asked.size, answered, round_trip_us: statistics(trips) },
    controls: sent, commands, stations, ...judge.summary(),
  });
}

socket.on("message", (bytes) => reader.push(bytes));
socket.on("error", () => {}); // nobody listens yet
socket.bind(0, options.host, () => {
  heartbeat();
  setInterval(heartbeat, 1000);
  setInterval(sync, 100);
  setInterval(telemetry, 20);
  setInterval(controls, 5);
  setInterval(() => {
    const spent = Number(now() - (begin ?? start)) * 1e-9;
    const enough = begin === null ? !hil : arrivals.length >= options.least;
    if (spent >= (enough ? options.seconds : options.wait)) end();
  }, 20);
});
