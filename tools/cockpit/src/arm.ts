// The arm: what the scenario says of it, and what the run says of it in /arm.
import { fields, json, list, number, numbers, text, vector } from "./read";

export interface Joint { name: string; lower: number; upper: number; rateMax: number; turns: boolean }

export type ButtonName = "vernier" | "brakes" | "grapple" | "release" | "safe" | "next";

export interface ArmSpec {
  joints: Joint[];
  hand: string; // body that has the end effector
  base: string;
  modes: string[];
  modeButtons: (number | undefined)[]; // by mode
  buttons: Partial<Record<ButtonName, number>>;
  select: (number | undefined)[]; // by joint, or by pose
  payloads: string[];
  poses: string[];
  gaps: number[][]; // most of reach, tilt and speed: for a grapple, then for each payload's berth
  link: number;
  speed: { translation: number; rotation: number }; // of a controller at full deflection
}

const BUTTON_NAMES: ButtonName[] = ["vernier", "brakes", "grapple", "release", "safe", "next"];
const BUTTON_COUNT = 32;

function readJoint(value: unknown, index: number): Joint {
  const joint = fields(value);
  const turns = joint["turns"] !== false;
  return {
    name: text(joint["name"]) || `joint ${index + 1}`,
    lower: number(joint["lower"], -Math.PI),
    upper: number(joint["upper"], Math.PI),
    rateMax: Math.max(1e-6, number(joint["rate_max"], 1)),
    turns,
  };
}

function readButton(value: unknown): number | undefined {
  const isButton = Number.isInteger(value) && (value as number) >= 0 && (value as number) < BUTTON_COUNT;
  return isButton ? (value as number) : undefined;
}

/** Undefined where the scenario has no arm. */
export function readArmSpec(source: string | undefined): ArmSpec | undefined {
  const spec = fields(json(source));
  const joints = list(spec["joints"]).map(readJoint);
  if (joints.length === 0) return undefined;
  const buttons = fields(spec["buttons"]);
  const speed = fields(spec["speed"]);
  return {
    joints,
    hand: text(spec["hand"]),
    base: text(spec["base"]),
    modes: list(spec["modes"]).map(text),
    modeButtons: numbers(spec["mode_buttons"]).map(readButton),
    buttons: Object.fromEntries(BUTTON_NAMES.map((name) => [name, readButton(buttons[name])])),
    select: numbers(spec["select"]).map(readButton),
    payloads: list(spec["payloads"]).map(text),
    poses: list(spec["poses"]).map(text),
    gaps: list(spec["gaps"]).map(numbers),
    link: number(spec["link"]),
    speed: { translation: number(speed["translation"], 1), rotation: number(speed["rotation"], 1) },
  };
}

export const FLAG = {
  singular: 1,
  limit: 2,
  slowed: 4,
  lost: 8,
  safed: 16,
  vernier: 32,
  inside: 64,
  auto: 128,
  torque: 256,
  berthed: 512,
} as const;

export const BRAKES = ["off", "slipping", "holding"];

export interface ArmState {
  board_us: number; // of the newest command in force: this page's clock, if it was this page
  commands: number;
  position: number[];
  rate: number[];
  rateCommand: number[];
  torque: number[];
  brake: number[];
  pose: number[]; // x y z qw qx qy qz, base axes
  twist: number[]; // angular first
  twistCommand: number[];
  reach: number; // m, to the nearest fixture, or of the payload to its berth; negative: there is none
  tilt: number;
  closing: number;
  blow: number; // J
  impulse: number[]; // on the payload: N m s about three axes, N s along them
  delay: number;
  flags: number;
  mode: number;
  joint: number;
  payload: number; // 1 + index
  poseIndex: number;
  near: number;
  grapples: number;
  releases: number;
  refused: number;
}

export function readArm(message: Record<string, unknown>, joints: number): ArmState {
  const one = (name: string, otherwise = 0) => number(message[name], otherwise);
  const many = (name: string, count: number) => vector(message[name], count);
  return {
    board_us: one("board_us"),
    commands: one("commands"),
    position: many("position", joints),
    rate: many("rate", joints),
    rateCommand: many("rate_command", joints),
    torque: many("torque", joints),
    brake: many("brake", joints),
    pose: many("pose", 7),
    twist: many("twist", 6),
    twistCommand: many("twist_command", 6),
    reach: one("reach", -1),
    tilt: one("tilt"),
    closing: one("closing"),
    blow: one("blow"),
    impulse: many("impulse", 6),
    delay: one("delay"),
    flags: one("flags"),
    mode: one("mode"),
    joint: one("joint"),
    payload: one("payload"),
    poseIndex: one("pose_index"),
    near: one("near"),
    grapples: one("grapples"),
    releases: one("releases"),
    refused: one("refused"),
  };
}
