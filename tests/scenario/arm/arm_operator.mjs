// A scripted operator: arm_operator.mjs URL.  Takes the satellite out of the bay with the Shuttle's arm, carries it
// aside, puts it back into its berth and lets go, by reports of a hand controller alone and by what /arm says, as a person
// would.  Prints what it saw as JSON.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const peers = createRequire(new URL("../../../tools/peers/package.json", import.meta.url));
const { FoxgloveClient } = peers("@foxglove/ws-protocol");
const { parse } = peers("@foxglove/rosmsg");
const { MessageReader } = peers("@foxglove/rosmsg2-serialization");
const { WebSocket } = peers("ws");

const REPEAT_MS = 40;
const MOST_S = 150; // simulated, for one leg of the way
const [url] = process.argv.slice(2);

/** A report of version 2, as io/protocol/hand.h has it. */
function picture({ axes, buttons }) {
  const bytes = Buffer.alloc(116);
  bytes.write("HAND", 0);
  bytes.writeUInt32LE(2, 4);
  bytes.writeUInt32LE(buttons, 8);
  axes.forEach((way, i) => bytes.writeFloatLE(way, 12 + 4 * i));
  bytes.writeBigUInt64LE(BigInt(Date.now()) * 1000n, 108);
  return bytes;
}

class Operator {
  hand = { axes: [0, 0, 0, 0, 0, 0], buttons: 0 };
  waiting = [];
  said = [];

  constructor(client) {
    this.client = client;
    client.on("status", ({ message }) => this.said.push(message));
    client.on("message", ({ timestamp, data }) => {
      this.now = Number(timestamp) * 1e-9;
      this.arm = this.reader.readMessage(data);
      this.waiting = this.waiting.filter((wait) => !wait());
    });
  }

  /** Channels and how the arm is flown; then its hand is on the stick, and stays there. */
  begin(info, channels) {
    this.told = JSON.parse(info.metadata.arm);
    const channel = channels.find(({ topic }) => topic === "/arm");
    this.reader = new MessageReader(parse(channel.schema, { ros2: true }));
    this.client.subscribe(channel.id);
    this.channel = this.client.advertise({ topic: "/hand", encoding: "hand", schemaName: "hand" });
    this.repeat = setInterval(() => this.send(), REPEAT_MS);
  }

  send() {
    this.client.sendMessage(this.channel, picture(this.hand));
  }

  push(axes) {
    this.hand.axes = [...axes, 0, 0, 0];
    this.send();
  }

  /** Until it is so; at most so long. */
  until(condition, what) {
    const begin = this.now ?? 0;
    return new Promise((resolve, reject) => {
      this.waiting.push(() => {
        if (condition(this.arm)) resolve();
        else if (this.now - begin > MOST_S) reject(new Error(`not ${what}: ${this.story()}`));
        else return false;
        return true;
      });
    });
  }

  story() {
    const { pose, reach, tilt, closing, flags, mode, payload } = this.arm;
    return JSON.stringify({ now: this.now, pose: [...pose], reach, tilt, closing, flags, mode, payload, said: this.said });
  }

  async press(button, seen, what) {
    this.hand.buttons = 2 ** button;
    this.send();
    await this.until(seen, what);
    this.hand.buttons = 0;
    this.send();
  }

  mode(name) {
    const index = this.told.modes.indexOf(name);
    return this.press(this.told.mode_buttons[index], (arm) => arm.mode === index, `in mode ${name}`);
  }

  standing() {
    this.push([0, 0, 0]);
    return this.until((arm) => Math.hypot(...arm.twist.slice(3)) < 0.01, "standing");
  }

  /** The hand to a place in base axes, in mode base, slower as it comes near. */
  async carry(target, near) {
    const left = (arm) => target.map((to, i) => to - arm.pose[i]);
    await this.until((arm) => {
      const way = left(arm);
      const far = Math.hypot(...way);
      const push = Math.min(1, 0.05 + 0.6 * far) / Math.max(far, 1e-9);
      this.hand.axes = [...way.map((d) => d * push), 0, 0, 0];
      return far < near;
    }, `at ${target}`);
    await this.standing();
  }
}

/** The operator; the greeting may come with the answer to the upgrade, so it is listened for at once. */
async function connect(until = Date.now() + 60000) {
  for (;;) {
    const ws = new WebSocket(url, ["foxglove.sdk.v1"]);
    const operator = await new Promise((resolve) => {
      ws.once("upgrade", () => {
        const client = new FoxgloveClient({ ws });
        const made = new Operator(client);
        const heard = (event) => new Promise((next) => client.on(event, next));
        Promise.all([heard("serverInfo"), heard("advertise")]).then((greeting) => {
          made.begin(...greeting);
          resolve(made);
        });
      });
      ws.once("error", () => resolve(undefined));
    });
    if (operator) return operator;
    assert(Date.now() < until, "nobody serves");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const operator = await connect();
const { buttons } = operator.told;
await operator.until((arm) => arm.commands > 0n, "heard"); // at rest: a button that is down at first is no press

await operator.mode("end-effector");
await operator.until((arm) => {
  operator.push([Math.min(0.6, 0.08 + 0.8 * Math.max(0, arm.reach - 0.04)), 0, 0]);
  return arm.reach < 0.06;
}, "at the fixture");
await operator.standing();
const gap = { reach: operator.arm.reach, tilt: operator.arm.tilt, closing: operator.arm.closing };
await operator.press(buttons.grapple, (arm) => arm.payload === 1, "grappled");
const blow = operator.arm.blow;
const berth = [...operator.arm.pose].slice(0, 3);

await operator.mode("base");
await operator.carry([berth[0], berth[1] + 0.3, berth[2] + 0.6], 0.08);
const carried = Math.hypot(...berth.map((from, i) => operator.arm.pose[i] - from));
await operator.carry([berth[0], berth[1], berth[2] + 0.15], 0.04);
await operator.carry(berth, 0.03);
await operator.until((arm) => (arm.flags & 512) !== 0, "in its berth");
await operator.press(buttons.release, (arm) => arm.payload === 0, "released");

await operator.mode("end-effector");
await operator.until((arm) => {
  operator.push([-0.4, 0, 0]);
  return arm.reach > 0.2;
}, "clear of it");
await operator.standing();
await operator.mode("hold");
await operator.until((arm) => arm.brake.every((brake) => brake === 2), "braked");
clearInterval(operator.repeat);
operator.client.close();
console.log(JSON.stringify({ gap, blow, carried, seconds: operator.now, commands: Number(operator.arm.commands) }));
