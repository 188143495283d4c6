// What the peers that play a PX4 have in common: npm's node-mavlink at a stream of bytes, and what
// must be true of every message that a simulator sends to a board.

import { createRequire } from "node:module";

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

export const lib = load();
export const { minimal, common } = lib;
const registry = { ...minimal.REGISTRY, ...common.REGISTRY };

export const SENSOR = 107, GPS = 113, TRUTH = 115, HEARTBEAT = 0, SYNC = 111, COMMAND = 76;

// --name value, --flag; every option has a default, which tells its type.
export function readOptions(defaults, argv = process.argv.slice(2)) {
  const options = { ...defaults };
  for (let i = 0; i < argv.length; i++) {
    const name = argv[i].replace(/^--/, "");
    if (!argv[i].startsWith("--") || !(name in defaults)) {
      console.error(`what is "${argv[i]}"? options: ${Object.keys(defaults).map((n) => `--${n}`).join(" ")}`);
      process.exit(64);
    }
    if (typeof defaults[name] === "boolean") options[name] = true;
    else options[name] = typeof defaults[name] === "number" ? Number(argv[++i]) : argv[++i];
    if (Number.isNaN(options[name]) || options[name] === undefined) {
      console.error(`--${name} needs a value`);
      process.exit(64);
    }
  }
  return options;
}

// Bytes in, messages out: take(id, message, header).
export class Reader {
  constructor(take) {
    this.splitter = new lib.MavLinkPacketSplitter();
    this.unread = 0;
    this.splitter.pipe(new lib.MavLinkPacketParser()).on("data", (packet) => {
      const type = registry[packet.header.msgid];
      if (type === undefined) this.unread++;
      else take(packet.header.msgid, packet.protocol.data(packet.payload, type), packet.header);
    });
  }

  push(bytes) {
    this.splitter.write(bytes);
  }

  get bad() {
    return this.splitter.invalidPackages;
  }
}

// Messages out, bytes in order of their sequence numbers.
export class Writer {
  constructor(send) {
    this.send = send;
    this.protocol = new lib.MavLinkProtocolV2(1, 1);
    this.sequence = 0;
  }

  write(message, fields) {
    this.send(this.protocol.serialize(Object.assign(message, fields), this.sequence++ & 255));
  }
}

// Bits of fields_updated; PX4 uses an instrument only when all of its bits are set.
const GROUPS = { accel: 0x7, gyro: 0x38, mag: 0x1c0, baro: 0x1a00, airspeed: 0x400 };
const ALL_BITS = 0x1fff;
const isaAltitude = (hPa) => 44330.77 * (1 - (hPa / 1013.25) ** 0.190263);
const norm = (...v) => Math.hypot(...v);

export class Judge {
  constructor() {
    this.problems = new Map();
    this.counts = {};
    this.updates = Object.fromEntries(Object.keys(GROUPS).map((name) => [name, 0]));
    this.lastSensor = -1n; // its time
    this.lastBaro = null;
    this.lastPlace = null;
    this.waiting = []; // messages that belong to the next HIL_SENSOR
    this.sequence = null;
    this.gaps = 0;
  }

  expect(good, what) {
    if (!good) this.problems.set(what, (this.problems.get(what) ?? 0) + 1);
  }

  take(id, message, header) {
    this.counts[message.constructor.MSG_NAME] = (this.counts[message.constructor.MSG_NAME] ?? 0) + 1;
    this.expect(header.magic === 0xfd, "not MAVLink 2");
    if (this.sequence !== null) this.gaps += (header.seq - this.sequence - 1) & 255;
    this.sequence = header.seq;
    if (id === SENSOR) this.takeSensor(message);
    else if (id === GPS) this.takeGps(message);
    else if (id === TRUTH) this.takeTruth(message);
  }

  takeSensor(m) {
    if (m.id !== 0) return;
    this.expect(m.timeUsec > this.lastSensor, "HIL_SENSOR time does not increase");
    for (const [name, time] of this.waiting) {
      this.expect(time <= m.timeUsec, `${name} is from the future of its HIL_SENSOR`);
    }
    this.waiting = [];
    this.lastSensor = m.timeUsec;

    const bits = m.fieldsUpdated & ~0x80000000;
    this.expect((bits & ~ALL_BITS) === 0, "fields_updated has unknown bits");
    for (const [name, mask] of Object.entries(GROUPS)) {
      const set = bits & mask;
      this.expect(set === 0 || set === mask, `fields_updated has only some bits of ${name}`);
      if (set === mask) this.updates[name]++;
    }
    this.judgeUnits(m, bits);
  }

  judgeUnits(m, bits) {
    const has = (name) => (bits & GROUPS[name]) === GROUPS[name];
    if (has("accel")) this.expect(norm(m.xacc, m.yacc, m.zacc) < 200, "acceleration not in m/s^2");
    if (has("gyro")) this.expect(norm(m.xgyro, m.ygyro, m.zgyro) < 60, "rate not in rad/s");
    if (has("mag")) {
      const field = norm(m.xmag, m.ymag, m.zmag);
      this.expect(field > 0.1 && field < 1, "magnetic field not in gauss");
    }
    if (!has("baro")) return;
    this.expect(m.absPressure > 300 && m.absPressure < 1100, "pressure not in hPa");
    this.expect(m.temperature > -60 && m.temperature < 70, "temperature not in deg C");
    this.expect(Math.abs(m.pressureAlt - isaAltitude(m.absPressure)) < 50, "pressure_alt is not that of the pressure");
    this.lastBaro = m.pressureAlt;
  }

  // A message of the same step comes before its HIL_SENSOR, or PX4 has it a step late.
  judgeOrder(name, time) {
    if (time > 1_000_000_000_000_000n) return; // UTC
    this.expect(time > this.lastSensor, `${name} comes after the HIL_SENSOR of its step`);
    this.waiting.push([name, time]);
  }

  takeGps(m) {
    this.judgeOrder("HIL_GPS", m.timeUsec);
    this.expect(m.fixType <= 6, "GPS fix type out of range");
    if (m.fixType < 3) return;
    this.expect(Math.abs(m.lat) <= 9e8 && Math.abs(m.lon) <= 18e8, "GPS place not in degE7");
    this.expect(m.lat !== 0 || m.lon !== 0, "GPS place is not set");
    if (this.lastBaro !== null) this.expect(Math.abs(m.alt / 1000 - this.lastBaro) < 300, "GPS altitude not in mm");
    this.expect(Math.abs(m.vel - norm(m.vn, m.ve)) < 5 || m.vel === 65535, "GPS vel is not that of vn, ve in cm/s");
    this.expect(m.cog <= 36000 || m.cog === 65535, "GPS course not in cdeg");
    this.expect(m.eph > 0 && m.epv > 0, "GPS without eph or epv");
    if (this.lastPlace !== null) {
      const moved = norm(m.lat - this.lastPlace[0], m.lon - this.lastPlace[1]) * 0.0111;
      this.expect(moved < 1000, "GPS place jumps");
    }
    this.lastPlace = [m.lat, m.lon];
  }

  takeTruth(m) {
    this.judgeOrder("HIL_STATE_QUATERNION", m.timeUsec);
    this.expect(Math.abs(norm(...m.attitudeQuaternion) - 1) < 1e-3, "attitude is no unit quaternion");
    this.expect(norm(m.rollspeed, m.pitchspeed, m.yawspeed) < 60, "rate not in rad/s");
    if (this.lastPlace === null) return;
    const apart = norm(m.lat - this.lastPlace[0], m.lon - this.lastPlace[1]) * 0.0111;
    this.expect(apart < 1000, "the true place is not where GPS is");
  }

  summary() {
    return { counts: this.counts, updates: this.updates, sequence_gaps: this.gaps, problems: Object.fromEntries(this.problems) };
  }
}

export function statistics(values) {
  if (values.length === 0) return { count: 0 };
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  const round = (x) => Math.round(x * 1000) / 1000;
  return {
    count: sorted.length,
    mean: round(sorted.reduce((sum, x) => sum + x, 0) / sorted.length),
    p50: round(at(0.5)), p99: round(at(0.99)), min: round(sorted[0]), max: round(sorted.at(-1)),
  };
}

// One line of JSON; exit 0 good, 1 a problem.
export function finish(summary) {
  console.log(JSON.stringify(summary));
  process.exit(Object.keys(summary.problems).length === 0 ? 0 : 1);
}
