// A PX4 in lockstep, played by npm's node-mavlink: a TCP client that judges what the simulator sends
// and answers each HIL_SENSOR with one HIL_ACTUATOR_CONTROLS of its time.
//
//   node px4_peer.mjs [--host H] [--port 4560] [--seconds S] [--lock-after N] [--law hover|fixed]
//                     [--hover C] [--climb M] [--limit S]
//
// --seconds is simulated time, from the first HIL_SENSOR; --hover the motor command that carries the
// vehicle; --climb how high the hover law goes; --limit the longest wall time.  Prints one line of
// JSON.  Exit 0 good, 1 a problem, 77 the packages are not installed.

import net from "node:net";

import { common, finish, Judge, minimal, Reader, readOptions, SENSOR, statistics, Writer } from "./board_peer.mjs";

const options = readOptions({
  host: "127.0.0.1", port: 4560, seconds: 5, "lock-after": 20, law: "hover", hover: 0.725, climb: 5, limit: 120,
});
const judge = new Judge();
const periods = [];
let sensors = 0, replies = 0, ahead = 0, pending = 0, first = null, last = null, socket = null, ended = false;

// Level and up: attitude by gyro and a little accelerometer, height by the barometer.  No heading.
const law = { roll: 0, pitch: 0, rates: [0, 0, 0], ground: null, height: 0, climb: 0, target: 0 };

function estimate(m, dt) {
  law.rates = [m.xgyro, m.ygyro, m.zgyro];
  law.roll += m.xgyro * dt;
  law.pitch += m.ygyro * dt;
  law.roll += 0.3 * dt * (Math.atan2(-m.yacc, -m.zacc) - law.roll);
  law.pitch += 0.3 * dt * (Math.atan2(m.xacc, -m.zacc) - law.pitch);
  if ((m.fieldsUpdated & 0x1a00) !== 0x1a00) return;
  law.ground ??= m.pressureAlt;
  const off = m.pressureAlt - law.ground - law.height;
  law.height += 0.1 * off;
  law.climb = Math.max(-3, Math.min(3, 0.9 * law.climb + 0.5 * off));
}

function hover(time, dt) {
  if (time < 1) return [0, 0, 0, 0];
  law.target = Math.min(options.climb, law.target + dt);
  const up = options.hover + Math.max(-0.1, Math.min(0.1, 0.03 * (law.target - law.height) - 0.04 * law.climb));
  const x = -0.25 * law.roll - 0.06 * law.rates[0];
  const y = -0.25 * law.pitch - 0.06 * law.rates[1];
  const z = -0.1 * law.rates[2];
  // front right, rear left, front left, rear right
  return [-x + y + z, x - y + z, x + y - z, -x - y - z].map((mix) => Math.max(0, Math.min(1, up + mix)));
}

function motors(m) {
  const time = Number(m.timeUsec - first) * 1e-6, dt = last === null ? 0 : Number(m.timeUsec - last) * 1e-6;
  estimate(m, Math.min(Math.max(dt, 0), 0.1));
  if (options.law === "fixed") return time < 1 ? [0, 0, 0, 0] : Array(4).fill(options.hover);
  return hover(time, Math.min(Math.max(dt, 0), 0.1));
}

function answer(writer, m) {
  const armed = Number(m.timeUsec - first) >= 1e6;
  const controls = [...motors(m), ...Array(12).fill(0)];
  last = m.timeUsec;
  if (sensors < options["lock-after"]) return;
  if (pending > 0) ahead++; // it did not wait for the answer before
  pending++;
  setImmediate(() => {
    pending--;
    if (ended) return;
    replies++;
    writer.write(new common.HilActuatorControls(), { timeUsec: m.timeUsec, flags: 1n, mode: armed ? 0x81 : 0x01, controls });
  });
}

function take(writer, id, message, header) {
  if (ended) return;
  judge.take(id, message, header);
  if (id !== SENSOR || message.id !== 0) return;
  sensors++;
  first ??= message.timeUsec;
  if (last !== null) periods.push(Number(message.timeUsec - last));
  answer(writer, message);
  if (Number(message.timeUsec - first) * 1e-6 >= options.seconds) end("done");
}

function end(why) {
  if (ended) return;
  ended = true;
  socket?.destroy();
  judge.expect(why === "done", why);
  judge.expect(judge.gaps === 0, "messages are missing from a TCP stream");
  judge.expect(reader.bad === 0, "frames with a wrong checksum");
  judge.expect(ahead <= 0.01 * sensors, "the simulator does not wait for answers");
  finish({
    peer: "px4", sensors, replies, ahead, seconds: first === null ? 0 : Number(last - first) * 1e-6,
    period_us: statistics(periods), height: Math.round(law.height * 100) / 100, ...judge.summary(),
  });
}

const writer = new Writer((bytes) => socket.write(bytes));
const reader = new Reader((id, message, header) => take(writer, id, message, header));

function greet() {
  socket.setNoDelay(true);
  writer.write(new common.CommandLong(), { command: 511, _param1: 115, _param2: 5000 });
  writer.write(new minimal.Heartbeat(), { type: 0, autopilot: 12, baseMode: 0, customMode: 0, systemStatus: 0, mavlinkVersion: 3 });
}

// As PX4 does, ask until the simulator listens.
function connect() {
  if (ended) return;
  socket = net.connect(options.port, options.host);
  let connected = false;
  socket.on("connect", () => { connected = true; greet(); });
  socket.on("data", (bytes) => reader.push(bytes));
  socket.on("error", () => {});
  socket.on("close", () => { if (connected) end("the simulator hung up"); else setTimeout(connect, 20); });
}

setTimeout(() => end("the wall time limit came first"), options.limit * 1000);
connect();
