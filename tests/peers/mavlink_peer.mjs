// Our MAVLink judged by another implementation: frames that we encode are read by npm's node-mavlink,
// frames that node-mavlink writes (versions 1 and 2) are read by us.
//
//   node mavlink_peer.mjs PROGRAM        PROGRAM is mavlink_frames
//
// Exit 0 good, 1 a problem, 77 the packages are not installed (tools/test installs them).

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { Readable } from "node:stream";

const peers = createRequire(new URL("../../tools/peers/package.json", import.meta.url));

function load() {
  try {
    return peers("node-mavlink");
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    console.log("skipped: the packages of tools/peers are not installed");
    process.exit(77);
  }
}

const lib = load();
const { minimal, common } = lib;
const registry = { ...minimal.REGISTRY, ...common.REGISTRY };
const program = process.argv[2];

// Single precision, as it crosses the wire.
const f = Math.fround;
const onWire = (line) => JSON.parse(JSON.stringify(line), (_, v) => (Number.isInteger(v) || typeof v !== "number" ? v : f(v)));

async function read(bytes) {
  const splitter = new lib.MavLinkPacketSplitter();
  const packets = Readable.from([bytes]).pipe(splitter).pipe(new lib.MavLinkPacketParser());
  const messages = [];
  for await (const packet of packets) {
    const message = packet.protocol.data(packet.payload, registry[packet.header.msgid]);
    messages.push({ header: packet.header, message });
  }
  assert.equal(splitter.invalidPackages, 0, "a checksum that node-mavlink refuses");
  assert.equal(splitter.unknownPackagesCount, 0);
  return messages;
}

// What mavlink_frames.c encodes, worked out by hand from its SI numbers.
const expected = [
  [0, { type: 0, autopilot: 8, baseMode: 0, customMode: 0, systemStatus: 4, mavlinkVersion: 3 }],
  [2, { timeUnixUsec: 1700000000123456n, timeBootMs: 123456 }],
  [111, { tc1: 987654321n, ts1: 1234567890123n, targetSystem: 1, targetComponent: 2 }],
  [113, {
    timeUsec: 123456789n, fixType: 3, lat: 473977044, lon: -85455509, alt: 488125, eph: 100, epv: 100,
    vel: 500, vn: 300, ve: -400, vd: 150, cog: 30687, satellitesVisible: 10, id: 0, yaw: 0,
  }],
  [115, {
    timeUsec: 123456789n, attitudeQuaternion: [0.5, -0.5, 0.25, 0.75], rollspeed: 0.125, pitchspeed: 0.25,
    yawspeed: -0.375, lat: 473977044, lon: -85455509, alt: 488125, vx: 300, vy: -400, vz: 150,
    indAirspeed: 0, trueAirspeed: 1225, xacc: 1000, yacc: -2000, zacc: 500,
  }],
  [107, {
    timeUsec: 123456789n, xacc: 0.5, yacc: -0.25, zacc: -9.8125, xgyro: 0.125, ygyro: -0.0625, zgyro: 0.03125,
    xmag: 0.5, ymag: -0.25, zmag: 2, absPressure: 950, diffPressure: 1.5, pressureAlt: f(540.3368114807682), temperature: 15.5,
    fieldsUpdated: 0x1bff, id: 0,
  }],
  [93, { timeUsec: 4000n, flags: 1n, mode: 0x81, controls: Array.from({ length: 16 }, (_, i) => (i - 8) / 8) }],
  [138, { timeUsec: 123456789n, q: [0.5, 0.5, -0.5, 0.5], x: NaN, y: NaN, z: NaN,
    covariance: [NaN, ...Array(20).fill(0)] }],
  [250, { timeUsec: 123456789n, name: "sun", x: 0.5, y: 0, z: -0.75 }],
  [350, { timeUsec: 123456789n, name: "angles", arrayId: 0, data: [0.25, -1.5, 3, ...Array(55).fill(0)] }],
  [65, { timeBootMs: 123456, chan1Raw: 1500, chan2Raw: 1501, chan3Raw: 1000, chan4Raw: 1502, chan5Raw: 2000,
    chan6Raw: 0, chan16Raw: 0, chan17Raw: 65535, chan18Raw: 65535, chancount: 16, rssi: 255 }],
];

function checkFields(message, fields, what) {
  for (const [name, value] of Object.entries(fields)) {
    assert.deepEqual(message[name], value, `${what}.${name}`);
  }
}

async function theyReadUs() {
  const messages = await read(execFileSync(program, ["encode"]));
  assert.equal(messages.length, expected.length);
  messages.forEach(({ header, message }, i) => {
    const [id, fields] = expected[i];
    assert.equal(header.magic, 0xfd);
    assert.deepEqual([header.sysid, header.compid], [42, 200]);
    assert.equal(header.seq, (253 + i) % 256);
    assert.equal(header.msgid, id);
    checkFields(message, fields, message.constructor.MSG_NAME);
  });
  return messages.length;
}

// Messages as a board or another simulator would send them, and what our decoder must print.
const samples = [
  [new minimal.Heartbeat(),
    { type: 2, autopilot: 12, baseMode: 0x81, customMode: 77, systemStatus: 3, mavlinkVersion: 3 },
    { heartbeat: [77, 2, 12, 0x81, 3, 3] }],
  [new common.SystemTime(), { timeUnixUsec: 1700000000654321n, timeBootMs: 4294967295 },
    { unix: 1700000000654321, boot: 4294967295 }],
  [new common.TimeSync(), { tc1: 0n, ts1: -5n, targetSystem: 42, targetComponent: 200 },
    { tc1: 0, ts1: -5, target: [42, 200] }],
  [new common.HilActuatorControls(),
    { timeUsec: 99n, flags: 1n, mode: 0x81, controls: Array.from({ length: 16 }, (_, i) => i / 16) },
    { time: 99, flags: 1, mode: 0x81, controls: Array.from({ length: 16 }, (_, i) => i / 16) }],
  [new common.MotionCaptureAttPos(), { timeUsec: 5n, q: [1, 2, 3, 4], x: 5, y: 6, z: 7, covariance: Array(21).fill(0) },
    { attitude: [1, 2, 3, 4] }],
  [new common.DebugVect(), { timeUsec: 5n, name: "torque", x: 1, y: -2, z: 3 }, { torque: [1, -2, 3] }],
  [new common.HilSensor(), {
    timeUsec: 7n, xacc: 1, yacc: 2, zacc: 3, xgyro: 4, ygyro: 5, zgyro: 6, xmag: 0.1, ymag: 0.2, zmag: 0.3,
    absPressure: 1013.25, diffPressure: 1.5, pressureAlt: -3, temperature: 20, fieldsUpdated: 0x80000007, id: 2,
  }, {
    time: 7, accel: [1, 2, 3], gyro: [4, 5, 6], mag: [f(0.1), f(0.2), f(0.3)], pressure: 1013.25, diff: 1.5,
    altitude: -3, temperature: 20, fields: 0x80000007, sensor: 2,
  }],
  [new common.HilGps(), {
    timeUsec: 8n, fixType: 3, lat: -335000000, lon: 1512000000, alt: -1500, eph: 80, epv: 90, vel: 65535,
    vn: -32768, ve: 32767, vd: 1, cog: 35999, satellitesVisible: 12, id: 1, yaw: 36000,
  }, {
    time: 8, place: [-335000000, 1512000000, -1500], velocity: [-32768, 32767, 1], eph: 80, epv: 90, speed: 65535,
    course: 35999, yaw: 36000, fix: 3, satellites: 12, receiver: 1,
  }],
  [new common.HilStateQuaternion(), {
    timeUsec: 9n, attitudeQuaternion: [0.5, 0.5, -0.5, 0.5], rollspeed: 1, pitchspeed: 2, yawspeed: 3, lat: 1, lon: 2,
    alt: 3, vx: 4, vy: 5, vz: 6, indAirspeed: 7, trueAirspeed: 8, xacc: 9, yacc: 10, zacc: -11,
  }, {
    time: 9, place: [1, 2, 3], attitude: [0.5, 0.5, -0.5, 0.5], rate: [1, 2, 3], velocity: [4, 5, 6],
    accel: [9, 10, -11], airspeed: [7, 8],
  }],
  [new common.Attitude(), { timeBootMs: 1, roll: 1 }, {}],
];

function weReadThem(version) {
  const protocol = version === 1 ? new lib.MavLinkProtocolV1(1, 190) : new lib.MavLinkProtocolV2(1, 190);
  const frames = samples.map(([message, fields], i) => protocol.serialize(Object.assign(message, fields), i));
  const output = execFileSync(program, ["decode"], { input: Buffer.concat(frames), encoding: "utf8" });
  const lines = output.trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(lines.length, samples.length + 1);
  samples.forEach(([message, , printed], i) => {
    const head = { id: message.constructor.MSG_ID, version, from: [1, 190], sequence: i };
    assert.deepEqual(onWire(lines[i]), { ...head, ...printed }, message.constructor.MSG_NAME);
  });
  assert.deepEqual(lines.at(-1), { bad: 0, lost: 0 });
  return samples.length;
}

console.log(`node-mavlink read ${await theyReadUs()} of our messages`);
console.log(`we read ${weReadThem(1)} of its messages in version 1, ${weReadThem(2)} in version 2`);
