// A run with an arm that is none: serves the cockpit and speaks its protocol, so that what the page
// sends can be looked at picture by picture.
//
//   node arm_mock.mjs [PORT]      to look at the page by hand; the operator's address is printed
//
// The arm has six joints that turn as the sticks say, two flexible booms, a base in orbit, a payload,
// a predicted twin, and authority as the server keeps it.

import http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "../../../tools/cockpit/bundle.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const peers = createRequire(path.join(root, "tools/peers/package.json"));
const { WebSocketServer } = peers("ws");
const { parse } = peers("@foxglove/rosmsg");
const { MessageWriter } = peers("@foxglove/rosmsg2-serialization");
const ros2msg = definitions();

export const OPERATOR = "0123456789abcdef0123456789abcdef";
export const FLAG = { lost: 8, safed: 16, vernier: 32, inside: 64, auto: 128, berthed: 512 };
const LOST_MS = 300;
const STALE_US = 250000; // longer on its way than the quickest, as in io/live/hub_hand.c
const ORBIT = 6.7e6; // m
const SPEED = 7700; // m/s
export const BODIES = ["orbiter", "upper_arm", "lower_arm", "wrist", "end_effector", "satellite"];
const LENGTH = 6.4; // m, of a boom

export const ARM = {
  joints: [
    ["shoulder_yaw", 3.09], ["shoulder_pitch", 2.5], ["elbow_pitch", 2.8],
    ["wrist_pitch", 2.1], ["wrist_yaw", 2.1], ["wrist_roll", 7.8],
  ].map(([name, limit]) => ({ name, lower: -limit, upper: limit, rate_max: 0.08, turns: true })),
  hand: "end_effector",
  base: "orbiter",
  modes: ["hold", "joint", "end-effector", "base", "payload", "auto"],
  mode_buttons: [0, 1, 2, 3, 4, 5],
  buttons: { vernier: 6, brakes: 7, grapple: 8, release: 9, safe: 10, next: 11 },
  select: [16, 17, 18, 19, 20, 21],
  payloads: ["satellite", "pallet"],
  poses: ["cradle", "poise"],
  gaps: [[0.1, 0.2618, 0.01], [0.05, 0.0524, 0.05], []],
  link: 0,
  speed: { translation: 0.6, rotation: 0.08 },
};
const CAMERAS = [
  { name: "elbow", body: "lower_arm", at: [0.4, 0, -0.6], look: [1, 0, 0.05], up: [0, 0, -1], field: 60 },
  { name: "wrist", body: "end_effector", at: [0.4, 0, -0.5], look: [1, 0, 0.12], up: [0, 0, -1], field: 65 },
];
const URDF = `<robot name="mock"><material name="grey"><color rgba="0.6 0.65 0.7 1"/></material>
<link name="wrist"><visual><geometry><cylinder radius="0.3" length="0.8"/></geometry><material name="grey"/></visual></link></robot>`;

/* ---- definitions, in the words of ROS 2 ---------------------------------------------------------- */

function definitions() {
  const bar = "=".repeat(80);
  const also = (name, ...lines) => [bar, `MSG: ${name}`, ...lines];
  const time = also("builtin_interfaces/Time", "int32 sec", "uint32 nanosec");
  const duration = also("builtin_interfaces/Duration", "int32 sec", "uint32 nanosec");
  const xyz = (name) => also(`geometry_msgs/${name}`, "float64 x", "float64 y", "float64 z");
  const turn = also("geometry_msgs/Quaternion", "float64 x", "float64 y", "float64 z", "float64 w");
  const pose = also("geometry_msgs/Pose", "geometry_msgs/Point position", "geometry_msgs/Quaternion orientation");
  const color = also("foxglove_msgs/Color", "float64 r", "float64 g", "float64 b", "float64 a");
  const solid = (name, ...more) => also(`foxglove_msgs/${name}`, "geometry_msgs/Pose pose", "geometry_msgs/Vector3 size", ...more, "foxglove_msgs/Color color");
  const lines = {
    tf: [
      "foxglove_msgs/FrameTransform[] transforms",
      ...also("foxglove_msgs/FrameTransform", "builtin_interfaces/Time timestamp", "string parent_frame_id", "string child_frame_id",
        "geometry_msgs/Vector3 translation", "geometry_msgs/Quaternion rotation"),
      ...time, ...xyz("Vector3"), ...turn,
    ],
    scene: [
      "foxglove_msgs/SceneEntityDeletion[] deletions", "foxglove_msgs/SceneEntity[] entities",
      ...also("foxglove_msgs/SceneEntityDeletion", "builtin_interfaces/Time timestamp", "uint8 type", "string id"),
      ...also("foxglove_msgs/SceneEntity", "builtin_interfaces/Time timestamp", "string frame_id", "string id",
        "builtin_interfaces/Duration lifetime", "bool frame_locked", "foxglove_msgs/CubePrimitive[] cubes",
        "foxglove_msgs/SpherePrimitive[] spheres", "foxglove_msgs/CylinderPrimitive[] cylinders", "foxglove_msgs/LinePrimitive[] lines",
        "foxglove_msgs/TriangleListPrimitive[] triangles"),
      ...solid("CubePrimitive"), ...solid("SpherePrimitive"), ...solid("CylinderPrimitive", "float64 bottom_scale", "float64 top_scale"),
      ...also("foxglove_msgs/LinePrimitive", "uint8 type", "geometry_msgs/Pose pose", "float64 thickness", "bool scale_invariant",
        "geometry_msgs/Point[] points", "foxglove_msgs/Color color", "foxglove_msgs/Color[] colors", "uint32[] indices"),
      ...also("foxglove_msgs/TriangleListPrimitive", "geometry_msgs/Pose pose", "geometry_msgs/Point[] points", "foxglove_msgs/Color color",
        "foxglove_msgs/Color[] colors", "uint32[] indices"),
      ...time, ...duration, ...xyz("Vector3"), ...xyz("Point"), ...turn, ...pose, ...color,
    ],
    live: [
      "uint64 frame", "float64 seconds", "float64 rate_hz", "float64 start_error_us", "float64 start_error_us_max", "float64 busy_us",
      "float64 busy_us_max", "float64 margin_us", "float64 margin_us_min", "uint64 overruns", "uint64 missed", "uint64[7] cause",
      "uint64 inputs", "uint8[4] link",
    ],
    log: ["builtin_interfaces/Time timestamp", "uint8 level", "string message", "string name", "string file", "uint32 line", ...time],
    latency: ["uint64 frame", "uint64 rx_ns", "uint64 wire_in_ns", "uint64 grid_wait_ns", "uint64 step_ns", "uint64 hold_ns", "uint64 wire_out_ns", "uint8 link"],
    authority: ["uint32 holder", "uint32 asking", "uint32 viewers"],
    desk: ["# How the operator's desk stands.", "bool paused", "uint8[] faults # 1: it is on; by the numbers of fault.N"],
    arm: [
      "uint64 board_us", "uint64 commands", "float64[6] position", "float64[6] rate # rad/s, of each joint", "float64[6] rate_command # not a unit", "float64[6] torque",
      "float64[7] pose", "float64[6] twist", "float64[6] twist_command", "float64 reach", "float64 tilt", "float64 closing", "float64 blow",
      "float64 delay", "float64[6] impulse", "uint32 flags", "uint8[6] brake", "uint8 mode", "uint8 joint", "uint8 payload", "uint8 pose_index", "uint8 near",
      "uint8 grapples", "uint8 releases", "uint8 refused", "uint8 latched",
    ],
  };
  return Object.fromEntries(Object.entries(lines).map(([name, text]) => [name, text.join("\n")]));
}

const CHANNELS = [
  ["/live", "airbearing_msgs/msg/Live", "live"],
  ["/log", "foxglove_msgs/msg/Log", "log"],
  ["/tf", "foxglove_msgs/msg/FrameTransforms", "tf"],
  ["/tf/straight", "foxglove_msgs/msg/FrameTransforms", "tf"],
  ["/tf/ghost", "foxglove_msgs/msg/FrameTransforms", "tf"],
  ["/scene", "foxglove_msgs/msg/SceneUpdate", "scene"],
  ["/scene/bent", "foxglove_msgs/msg/SceneUpdate", "scene"],
  ["/scene/straight", "foxglove_msgs/msg/SceneUpdate", "scene"],
  ["/latency", "airbearing_msgs/msg/Latency", "latency"],
  ["/authority", "airbearing_msgs/msg/Authority", "authority"],
  ["/arm", "airbearing_msgs/msg/Arm", "arm"],
  ["/desk", "airbearing_msgs/msg/Desk", "desk"],
].map(([topic, schemaName, form], id) => ({ id, topic, encoding: "cdr", schemaName, schema: ros2msg[form], schemaEncoding: "ros2msg", form }));
/** What the run answers, and tells everybody. */
const WORDS = {
  "/pause": () => "paused before frame 7 (frame 7)",
  "/resume": () => "goes on with frame 7 (frame 7)",
  "/step": () => "1 frames from frame 7 on, then a pause (frame 7)",
  "/checkpoint": () => "480 bytes taken before frame 7 in 900 ns (frame 7)",
  "/reset": () => "as at the start, before frame 7 (frame 7)",
  "/safe": () => "safed (frame 7)",
  "/fault": ({ name, active }) => `${FAULTS[name]}: ${active ? "begins" : "ends"} before frame 7 (frame 7)`,
};
const FAULTS = ["shoulder_yaw sticks", "shoulder_yaw sticks"]; // the same twice: only the desk tells which is on
const SERVICES = ["/pause", "/resume", "/step", "/reset", "/checkpoint", "/restore", "/fault", "/safe", "/authority/take", "/authority/give", "/authority/ask"];

/* ---- the arm ------------------------------------------------------------------------------------- */

const q = (axis, angle) => {
  const s = Math.sin(angle / 2);
  return { w: Math.cos(angle / 2), x: axis[0] * s, y: axis[1] * s, z: axis[2] * s };
};
const times = (a, b) => ({
  w: a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
  x: a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
  y: a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
  z: a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
});
const turned = (r, [x, y, z]) => {
  const p = times(times(r, { w: 0, x, y, z }), { w: r.w, x: -r.x, y: -r.y, z: -r.z });
  return [p.x, p.y, p.z];
};
const onto = (place, at, turn = { w: 1, x: 0, y: 0, z: 0 }) => {
  const by = turned(place.turn, at);
  return { at: place.at.map((part, i) => part + by[i]), turn: times(place.turn, turn) };
};

/** Every body in the base's axes, with z down as on an orbiter.  `sag` is the bending of each boom's end. */
export function bodies(joint, sag, payload) {
  const base = { at: [0, 0, 0], turn: { w: 1, x: 0, y: 0, z: 0 } };
  const shoulder = onto(base, [2, -2, -1.6], times(q([0, 0, 1], joint[0]), q([0, 1, 0], joint[1])));
  const elbow = onto(shoulder, [LENGTH, 0, sag], times(q([0, 1, 0], joint[2]), q([0, 1, 0], -0.2 * sag)));
  const wrist = onto(elbow, [LENGTH, 0, sag], times(q([0, 1, 0], joint[3] - 0.2 * sag), q([0, 0, 1], joint[4])));
  const hand = onto(wrist, [0.9, 0, 0], q([1, 0, 0], joint[5]));
  const satellite = payload ? onto(hand, [2.1, 0, 0]) : { at: [9, 1.5, -8], turn: q([0, 0, 1], 0.4) };
  return [base, shoulder, elbow, wrist, hand, satellite];
}

const stamp = { sec: 0, nanosec: 0 };
const point = ([x, y, z]) => ({ x, y, z });
const still = { position: point([0, 0, 0]), orientation: { x: 0, y: 0, z: 0, w: 1 } };
const at = (x, y, z) => ({ ...still, position: point([x, y, z]) });
const hue = (r, g, b, a = 1) => ({ r, g, b, a });

/** The whole of it turns and moves along its orbit. */
function transforms(places, time) {
  const base = { at: [ORBIT, SPEED * time, 1000], turn: q([0.6, 0, 0.8], 0.6 + 0.01 * time) };
  return {
    transforms: places.map((place, i) => {
      const { at: where, turn } = onto(base, place.at, place.turn);
      return { timestamp: stamp, parent_frame_id: "world", child_frame_id: BODIES[i], translation: point(where), rotation: turn };
    }),
  };
}

const entity = (frame, parts) => ({
  timestamp: stamp, frame_id: frame, id: frame, lifetime: stamp, frame_locked: true,
  cubes: [], spheres: [], cylinders: [], lines: [], triangles: [], ...parts,
});
const cube = (pose, size, color) => ({ pose, size: point(size), color });
const along = { x: 0, y: Math.SQRT1_2, z: 0, w: Math.SQRT1_2 }; // z to x
const rod = (x, length, across, color) => ({
  pose: { position: point([x, 0, 0]), orientation: along }, size: point([across, across, length]), color, bottom_scale: 1, top_scale: 1,
});

const SCENE = {
  deletions: [],
  entities: [
    entity("orbiter", {
      cubes: [
        cube(at(0, 0, 0.9), [18, 5, 0.5], hue(0.85, 0.87, 0.9)),
        cube(at(0, 2.4, 0), [18, 0.3, 2], hue(0.8, 0.82, 0.86)),
        cube(at(0, -2.4, 0), [18, 0.3, 2], hue(0.8, 0.82, 0.86)),
        cube(at(10.5, 0, 0), [3, 4.6, 3], hue(0.3, 0.34, 0.4)),
      ],
    }),
    entity("wrist", { cylinders: [rod(0.4, 0.9, 0.5, hue(0.8, 0.82, 0.85))] }),
    entity("end_effector", { cylinders: [rod(0.3, 0.7, 0.42, hue(0.95, 0.7, 0.3))] }),
    entity("satellite", {
      cubes: [
        cube(still, [2.4, 1.8, 1.8], hue(0.9, 0.72, 0.3)),
        cube(at(0, 4, 0), [1.4, 5, 0.06], hue(0.2, 0.35, 0.75)),
        cube(at(0, -4, 0), [1.4, 5, 0.06], hue(0.2, 0.35, 0.75)),
      ],
    }),
  ],
};

function booms(sag) {
  const nodes = [0, 0.25, 0.5, 0.75, 1].map((s) => point([LENGTH * s, 0, sag * s * s]));
  const boom = (frame) => entity(frame, {
    lines: [{ type: 0, pose: still, thickness: 0.33, scale_invariant: false, points: nodes, color: hue(0.92, 0.93, 0.95), colors: [], indices: [] }],
  });
  return { deletions: [], entities: ["upper_arm", "lower_arm"].map(boom) };
}

class Arm {
  position = [0.25, 0.95, -1.35, 0.3, -0.2, 0];
  rate = [0, 0, 0, 0, 0, 0];
  command = [0, 0, 0, 0, 0, 0];
  twist = [0, 0, 0, 0, 0, 0];
  mode = 0;
  joint = 0;
  brakes = 2;
  brake = undefined; // of each joint, whatever brakes is
  payload = 0;
  pose = 0;
  flags = 0;
  boardUs = 0n;
  commands = 0;
  counts = { grapples: 0, releases: 0, refused: 0 };
  reach = 0.35;
  berth = -1; // reach, with something in the hand
  delay = 0;
  buttons = 0;
  aim = undefined; // attitude that is told of the hand, whatever it is

  take({ buttons, axes, sentUs }) {
    const pressed = buttons & ~this.buttons;
    this.buttons = buttons;
    this.boardUs = sentUs;
    this.commands++;
    for (let i = 0; i < 32; i++) if ((pressed >>> i) & 1) this.press(i);
    const isFlying = this.mode > 0 && this.mode < 5 && !(this.flags & FLAG.safed);
    const scale = (this.flags & FLAG.vernier ? 0.2 : 1) * (isFlying ? 1 : 0);
    this.twist = [...axes.slice(3, 6).map((a) => a * ARM.speed.rotation * scale), ...axes.slice(0, 3).map((a) => a * ARM.speed.translation * scale)];
    const max = ARM.joints[0].rate_max * scale;
    this.command = this.mode === 1 ? this.command.map((_, i) => (i === this.joint ? axes[0] * max : 0)) : [axes[1], axes[2], axes[0], axes[4], axes[5], axes[3]].map((a) => a * max);
    if (isFlying) this.brakes = 0;
  }

  press(i) {
    const { buttons } = ARM;
    if (ARM.mode_buttons.includes(i)) {
      this.mode = i;
      this.flags &= ~FLAG.safed;
    } else if (i === buttons.vernier) this.flags ^= FLAG.vernier;
    else if (i === buttons.brakes) this.brakes = this.brakes ? 0 : 2;
    else if (i === buttons.next) this.joint = (this.joint + 1) % 6;
    else if (i === buttons.safe) Object.assign(this, { flags: this.flags | FLAG.safed, mode: 0, brakes: 2 });
    else if (i === buttons.grapple && this.flags & FLAG.inside) this.grip(1, "grapples");
    else if (i === buttons.grapple) this.counts.refused++;
    else if (i === buttons.release) this.grip(0, "releases");
    else if (i >= 16 && this.mode === 5) this.pose = i - 15;
    else if (i >= 16) this.joint = i - 16;
  }

  grip(payload, count) {
    this.payload = payload;
    this.counts[count]++;
  }

  move(seconds) {
    this.rate = this.rate.map((rate, i) => rate + (this.command[i] - rate) * Math.min(1, 5 * seconds));
    if (this.brakes) this.rate.fill(0);
    this.position = this.position.map((position, i) => Math.max(ARM.joints[i].lower, Math.min(ARM.joints[i].upper, position + this.rate[i] * seconds)));
  }

  message(hand) {
    const { w, x, y, z } = this.aim ?? hand.turn;
    return {
      board_us: this.boardUs, commands: BigInt(this.commands), position: this.position, rate: this.rate, rate_command: this.command,
      torque: this.rate.map((rate) => 400 * rate), pose: [...hand.at, w, x, y, z], twist: this.twist.map((v) => 0.9 * v), twist_command: this.twist,
      reach: this.payload ? this.berth : this.reach, tilt: 0.07, closing: 0.012, blow: this.payload ? 0.8 : 0, delay: this.delay, impulse: [0, 0, 0, 3, 4, 12], flags: this.flags,
      brake: this.brake ?? Array(6).fill(this.brakes), mode: this.mode, joint: this.joint, payload: this.payload, pose_index: this.pose,
      near: this.payload && this.berth < 0 ? 0 : 1, latched: this.payload ? 0 : 1, ...this.counts,
    };
  }
}

/* ---- the server ---------------------------------------------------------------------------------- */

function readPicture(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    size: bytes.byteLength,
    magic: String.fromCharCode(...bytes.subarray(0, 4)),
    version: view.getUint32(4, true),
    buttons: view.getUint32(8, true),
    axes: Array.from({ length: 24 }, (_, i) => view.getFloat32(12 + 4 * i, true)),
    sentUs: bytes.byteLength >= 116 ? view.getBigUint64(108, true) : 0n,
  };
}

/** The page as the program embeds it. */
async function bundlePage() {
  const pages = new Map();
  for (const [address, file, type] of [
    ["/", "index.html", "text/html; charset=utf-8"],
    ["/cockpit.js", "main.ts", "text/javascript"],
    ["/cockpit.css", "style.css", "text/css"],
    ["/icon.svg", "icon.svg", "image/svg+xml"],
  ]) {
    pages.set(address, { type, body: await bundle(path.join(root, "tools/cockpit/src", file)) });
  }
  return pages;
}

/** As io/live/server.c has it. */
const POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self' ws: wss:; frame-ancestors 'none'";

export class Mock {
  arm = new Arm();
  pictures = []; // of who has authority, with their time of arrival
  dropped = 0; // of others
  stale = 0; // that came much later than others
  isDeaf = false; // what is pressed goes nowhere
  heldBack = undefined; // what the network keeps while it stalls
  calls = [];
  holder = 0;
  asking = 0;
  ghost = true;
  urdf = false;
  urdfMs = 0; // for which it is kept back
  answer = true; // /arm is sent
  desk = { paused: false, faults: FAULTS.map(() => 0) };
  hasDesk = true; // and tells of it
  gain = 1.5; // the only parameter; 0 to 10
  lagMs = 0; // parameters are told so late
  operator = OPERATOR; // who comes with this may command, who comes with another is refused
  frozen = false; // nothing moves, and nothing but answers is sent
  mute = false; // nor are they
  closed = false; // nobody is let in, and no page is served
  metadata = {};
  sag = 0.02; // m, at the end of each boom
  swing = 0.5; // part of it that comes and goes
  standing = undefined; // answer that a page waits for, and does nothing else
  served = []; // addresses that were asked for

  async listen(port = 0) {
    this.pages = await bundlePage();
    this.writers = Object.fromEntries(Object.entries(ros2msg).map(([form, text]) => [form, new MessageWriter(parse(text, { ros2: true }))]));
    this.clients = new Map();
    this.nextViewer = 1;
    this.server = http.createServer((request, response) => this.serve(request, response));
    this.sockets = new WebSocketServer({ server: this.server, verifyClient: ({ req }) => this.admits(req), handleProtocols: (names) => [...names][0] });
    this.sockets.on("connection", (socket, request) => this.meet(socket, request));
    await new Promise((resolve) => this.server.listen(port, "127.0.0.1", resolve));
    this.begunMs = performance.now();
    this.steps = 0;
    this.timers = [setInterval(() => this.step(), 10), setInterval(() => this.sum(), 100)];
    this.address = `http://127.0.0.1:${this.server.address().port}/`;
    return this;
  }

  close() {
    this.timers.forEach(clearInterval);
    for (const socket of this.clients.keys()) socket.terminate();
    this.sockets.close();
    this.server.close();
  }

  /** As the server has it: who pretends is refused. */
  admits(request) {
    const given = this.tokenOf(request);
    return !this.closed && (given === null || given === this.operator);
  }

  tokenOf(request) {
    return new URL(request.url, "http://mock").searchParams.get("operator");
  }

  /** Cuts every viewer off; they come back by themselves. */
  drop() {
    for (const socket of this.clients.keys()) socket.terminate();
  }

  get time() {
    return ((this.pausedMs ?? performance.now()) - this.begunMs) / 1000;
  }

  serve(request, response) {
    const address = request.url.split("?")[0];
    this.served.push(address);
    const page = this.pages.get(address);
    if (this.closed) request.socket.destroy();
    else if (address === "/model.urdf" && this.urdf) setTimeout(() => response.writeHead(200, { "content-type": "application/xml" }).end(URDF), this.urdfMs);
    else if (address === "/stand") this.standing = response;
    else if (!page) response.writeHead(404).end();
    else response.writeHead(200, { "content-type": page.type, "content-encoding": "gzip", "content-security-policy": POLICY }).end(page.body);
  }

  meet(socket, request) {
    const client = { viewer: this.nextViewer++, operator: this.tokenOf(request) === this.operator, wants: new Map(), hand: undefined };
    this.clients.set(socket, client);
    const say = (object) => socket.send(JSON.stringify(object));
    say({
      op: "serverInfo", name: "mock-arm", capabilities: ["time", "parameters", "parametersSubscribe", "services", "clientPublish"],
      supportedEncodings: ["cdr", "json", "hand"], sessionId: "mock",
      metadata: {
        arm: JSON.stringify(ARM), cameras: JSON.stringify(CAMERAS), viewer: String(client.viewer), operator: client.operator ? "yes" : "no",
        ...Object.fromEntries(FAULTS.map((fault, i) => [`fault.${i}`, fault])), ...(this.urdf ? { urdf: "yes" } : {}), ...this.metadata,
      },
    });
    say({ op: "advertise", channels: CHANNELS.filter(({ topic }) => this.hasDesk || topic !== "/desk").map(({ form: _, ...channel }) => channel) });
    say({ op: "advertiseServices", services: SERVICES.map((name, id) => ({ id, name, type: name, requestSchema: "", responseSchema: "" })) });
    socket.on("message", (data, isBinary) => (isBinary ? this.hearBinary(socket, client, data) : this.hear(socket, client, JSON.parse(data))));
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.clients.delete(socket);
      if (this.holder === client.viewer) this.holder = 0;
      if (this.asking === client.viewer) this.asking = 0;
      this.tell();
    });
    this.tell();
  }

  hear(socket, client, message) {
    if (message.op === "advertise") client.hand = message.channels.find(({ encoding, topic }) => encoding === "hand" && topic === "/hand")?.id;
    if (message.op === "setParameters" && client.operator) {
      const [{ value }] = message.parameters;
      if (value >= 0 && value <= 10) this.gain = value;
      else socket.send(JSON.stringify({ op: "status", level: 2, message: `${value} is not from 0 to 10` }));
    }
    if (["getParameters", "setParameters"].includes(message.op) && !this.mute) {
      const values = JSON.stringify({ op: "parameterValues", parameters: [{ name: "arm.gain", value: this.gain, type: "float64" }], id: message.id });
      if (this.lagMs) setTimeout(() => socket.send(values), this.lagMs);
      else socket.send(values);
    }
    if (message.op !== "subscribe") return;
    for (const { id, channelId } of message.subscriptions) {
      const channel = CHANNELS[channelId];
      client.wants.set(channel.topic, id);
      if (channel.topic === "/scene") this.say("/scene", SCENE, socket);
      if (channel.topic === "/scene/straight") this.say("/scene/straight", booms(0), socket);
      if (channel.topic === "/authority") this.tell();
      if (channel.topic === "/desk") this.say("/desk", this.desk, socket);
    }
  }

  hearBinary(socket, client, data) {
    const bytes = new Uint8Array(data);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes[0] === 1 && view.getUint32(1, true) === client.hand) this.hearHand(client, bytes.subarray(5));
    if (bytes[0] === 2) this.hearCall(socket, client, view, bytes);
  }

  hearHand(client, bytes) {
    if (client.viewer !== this.holder) {
      this.dropped++;
      return;
    }
    if (this.heldBack) {
      this.heldBack.push([client, bytes.slice()]);
      return;
    }
    const picture = { ...readPicture(bytes), ms: performance.now() };
    if (this.isStale(client, picture)) {
      this.stale++;
      return;
    }
    this.pictures.push(picture);
    this.arm.flags &= ~FLAG.lost;
    this.heardMs = picture.ms;
    this.arm.take(this.isDeaf ? { ...picture, buttons: 0 } : picture);
    this.tellLatency(300 + 400 * Math.random());
  }

  /** For so long no picture arrives; then all do at once. */
  stall(ms) {
    this.heldBack = [];
    setTimeout(() => {
      const late = this.heldBack;
      this.heldBack = undefined;
      for (const [client, bytes] of late) this.hearHand(client, bytes);
    }, ms);
  }

  isStale(client, { sentUs, ms }) {
    const wayUs = 1000 * ms - Number(sentUs); // and the clocks' difference
    client.quickestUs = Math.min(client.quickestUs ?? Infinity, wayUs);
    return wayUs - client.quickestUs > STALE_US;
  }

  /** Of a command that waited so long for its frame, by a clock that is not the page's. */
  tellLatency(waitedUs) {
    const ns = (us) => BigInt(Math.round(us * 1000));
    const parts = { wire_in_ns: ns(12), grid_wait_ns: ns(waitedUs), step_ns: ns(38) };
    const rx_ns = process.hrtime.bigint() - parts.wire_in_ns - parts.grid_wait_ns - parts.step_ns;
    this.say("/latency", { frame: 0n, rx_ns, ...parts, hold_ns: ns(900), wire_out_ns: ns(40), link: 0 });
  }

  hearCall(socket, client, view, bytes) {
    const name = SERVICES[view.getUint32(1, true)];
    const call = view.getUint32(5, true);
    const encodingSize = view.getUint32(9, true);
    const request = JSON.parse(new TextDecoder().decode(bytes.subarray(13 + encodingSize)) || "{}");
    this.calls.push({ name, request, viewer: client.viewer });
    const refusal = this.obey(name, client);
    if (refusal) {
      socket.send(JSON.stringify({ op: "serviceCallFailure", serviceId: view.getUint32(1, true), callId: call, message: refusal }));
      return;
    }
    const words = WORDS[name]?.(request) ?? "";
    this.keepDesk(name, request);
    if (words) this.log(words, 2);
    const text = new TextEncoder().encode(JSON.stringify({ success: true, message: words }));
    const encoding = new TextEncoder().encode("json");
    const out = new Uint8Array(13 + encoding.length + text.length);
    const head = new DataView(out.buffer);
    head.setUint8(0, 3);
    head.setUint32(1, view.getUint32(1, true), true);
    head.setUint32(5, call, true);
    head.setUint32(9, encoding.length, true);
    out.set(encoding, 13);
    out.set(text, 13 + encoding.length);
    socket.send(out);
  }

  keepDesk(name, request) {
    const { desk } = this;
    if (name === "/pause" || name === "/step") this.pausedMs ??= performance.now();
    else if (name === "/resume" && desk.paused) this.goOn();
    else if (name === "/reset") desk.faults.fill(0);
    else if (name === "/fault") desk.faults[Number(request.name)] = Number(request.active);
    else return;
    desk.paused = this.pausedMs !== undefined;
    this.say("/desk", desk);
  }

  goOn() {
    this.begunMs += performance.now() - this.pausedMs;
    this.pausedMs = undefined;
  }

  /** Why not, or nothing. */
  obey(name, client) {
    if (!client.operator) return "you may watch; to command, come with the operator token that the run printed";
    if (name === "/safe") this.arm.press(ARM.buttons.safe);
    else if (name === "/authority/ask") this.ask(client.viewer);
    else if (this.holder && this.holder !== client.viewer) return `viewer ${this.holder} has authority; it can hand it over, or leave`;
    else this.holder = name === "/authority/give" ? this.asking : client.viewer;
    if (this.asking === this.holder) this.asking = 0;
    this.tell();
    return undefined;
  }

  /** Who has it is told twice, as by the server. */
  ask(viewer) {
    this.asking = viewer;
    for (const [socket, client] of this.clients)
      if (client.viewer === this.holder) socket.send(JSON.stringify({ op: "status", level: 1, message: `viewer ${viewer} asks for authority`, id: "authority" }));
    this.log(`viewer ${viewer} asks viewer ${this.holder} for authority`, 2);
  }

  tell() {
    this.say("/authority", { holder: this.holder, asking: this.asking, viewers: this.clients.size });
  }

  say(topic, message, only) {
    const channel = CHANNELS.find((each) => each.topic === topic);
    this.send(topic, this.writers[channel.form].writeMessage(message), only);
  }

  /** Bytes as they are, also those that are no message. */
  send(topic, payload, only, time = this.time) {
    if (this.mute) return;
    const out = new Uint8Array(13 + payload.byteLength);
    const head = new DataView(out.buffer);
    head.setUint8(0, 1);
    head.setBigUint64(5, BigInt(Math.round(time * 1e9)), true);
    out.set(payload, 13);
    for (const [socket, { wants }] of this.clients) {
      if (only && socket !== only) continue;
      const id = wants.get(topic);
      if (id === undefined) continue;
      head.setUint32(1, id, true);
      socket.send(out.slice());
    }
  }

  status(level, message, id) {
    this.shout({ op: "status", level, message, id });
  }

  shout(object) {
    for (const socket of this.clients.keys()) socket.send(JSON.stringify(object));
  }

  log(message, level = 3) {
    this.say("/log", { timestamp: stamp, level, message, name: "mock", file: "", line: 0 });
  }

  step() {
    if (this.frozen || this.desk.paused) return;
    const { arm, time } = this;
    arm.move(0.01);
    if (this.heardMs !== undefined && performance.now() - this.heardMs > LOST_MS) arm.flags |= FLAG.lost;
    if (this.steps++ % 3) return;
    const sag = this.sag * (1 + this.swing * Math.sin(4 * time));
    const places = bodies(arm.position, sag, arm.payload);
    if (arm.reach >= 0) arm.flags = arm.reach < 0.1 ? arm.flags | FLAG.inside : arm.flags & ~FLAG.inside;
    if (this.answer) this.say("/arm", arm.message(places[4]));
    const both = (topic, message) => this.send(topic, this.writers.tf.writeMessage(message), undefined, time);
    both("/tf", transforms(places, time));
    both("/tf/straight", transforms(bodies(arm.position, 0, arm.payload), time));
    const soon = arm.position.map((position, i) => position + 2 * arm.command[i] + 0.04);
    if (this.ghost) both("/tf/ghost", transforms(bodies(soon, 0, arm.payload), time + 1));
    this.say("/scene/bent", booms(sag));
  }

  sum() {
    if (this.frozen || this.desk.paused) return;
    const frame = BigInt(Math.round(this.time * 1000));
    this.say("/live", {
      frame, seconds: this.time, rate_hz: 1000, start_error_us: 3 + Math.random(), start_error_us_max: 9, busy_us: 120 + 30 * Math.random(), busy_us_max: 260,
      margin_us: 870, margin_us_min: 700 + 60 * Math.random(), overruns: 0n, missed: 0n, cause: [0n, 0n, 0n, 0n, 0n, 0n, 0n], inputs: BigInt(this.arm.commands),
      link: [this.pictures.length ? 1 : 0, 0, 0, 0],
    });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const mock = await new Mock().listen(Number(process.argv[2] ?? 8080));
  console.log(`${mock.address}?operator=${OPERATOR}`);
}
