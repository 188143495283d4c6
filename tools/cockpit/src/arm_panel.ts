// The arm's panel: modes, lamps, joints against their limits, the end effector, and the grapple.
import { DEGREES, inDegrees, rollPitchYawOfHand, signed } from "./angles";
import { BRAKES, FLAG, type ArmSpec, type ArmState, type ButtonName } from "./arm";
import { button, dim, light, make, section, write } from "./dom";

export type Press = (button: number | undefined, event: Event) => void;

const LAMPS: [number, string, "bad" | "warn" | "good", string][] = [
  [FLAG.safed, "safed", "bad", "commands are ignored and the brakes hold"],
  [FLAG.lost, "link lost", "bad", "nobody's hands are heard"],
  [FLAG.limit, "joint limit", "bad", "a joint is at its limit"],
  [FLAG.torque, "torque limit", "warn", "a motor gives all it may"],
  [FLAG.singular, "singular", "warn", "the arm is near a pose in which it cannot move every way"],
  [FLAG.slowed, "slowed", "warn", "the command was more than the joints can do"],
  [FLAG.auto, "auto", "good", "a move to a pose is under way"],
];

/** What the sticks do now. */
function hint(spec: ArmSpec, state: ArmState): string {
  const spaced = (name: string | undefined) => (name ?? "").replaceAll("_", " ");
  if (state.flags & FLAG.safed) return "stopped; choose a mode to go on";
  switch (spec.modes[state.mode]) {
    case "hold": return "choose a mode to fly";
    case "joint": return `X turns ${spaced(spec.joints[state.joint]?.name)}`;
    case "end-effector": return "sticks in the hand's axes";
    case "base": return `sticks in the axes of ${spaced(spec.base)}`;
    case "payload": return "sticks in the payload's axes";
    case "auto": return state.poseIndex ? `to ${spaced(spec.poses[state.poseIndex - 1])}` : "choose a pose below";
    default: return "";
  }
}

/** All of them in a word: one that slips is what matters, then one that is on. */
function brakes(state: ArmState): string {
  if (state.brake.includes(1)) return "slipping";
  return state.brake.some((each) => each !== 0) ? "on" : "off";
}

/* ---- joints -------------------------------------------------------------------------------- */

class JointRow {
  readonly element: HTMLButtonElement;
  private mark = make("i", { className: "mark" });
  private rateFill = make("i", { className: "rate" });
  private wanted = make("i", { className: "wanted" });
  private position = make("b");
  private rates = make("small");
  private brake = make("em");

  constructor(private joint: ArmSpec["joints"][number], press: (event: Event) => void) {
    const [low, high] = [this.shown(joint.lower), this.shown(joint.upper)];
    const title = `${joint.name}: ${signed(low, 0)} to ${signed(high, 0)}${this.unit}; rate / rate that is asked for; in mode joint, select it`;
    const track = make("span", { className: "limits" }, this.rateFill, this.wanted, this.mark);
    this.element = button("", title, press);
    this.element.className = "joint";
    this.element.append(make("span", { className: "name", textContent: joint.name.replaceAll("_", " ") }), this.brake, track, this.position, this.rates);
  }

  draw(state: ArmState, index: number, isSelected: boolean): void {
    const { lower, upper, rateMax } = this.joint;
    const position = state.position[index] ?? 0;
    const rate = state.rate[index] ?? 0;
    const wanted = state.rateCommand[index] ?? 0;
    const part = (position - lower) / Math.max(1e-9, upper - lower);
    const brake = BRAKES[state.brake[index] ?? 0] ?? "";
    this.mark.style.left = `${100 * Math.max(0, Math.min(1, part))}%`;
    this.mark.classList.toggle("near", part < 0.03 || part > 0.97);
    const rated = Math.max(-1, Math.min(1, rate / rateMax));
    this.rateFill.style.left = `${50 + 50 * Math.min(0, rated)}%`;
    this.rateFill.style.width = `${50 * Math.abs(rated)}%`;
    this.wanted.style.left = `${50 + 50 * Math.max(-1, Math.min(1, wanted / rateMax))}%`;
    write(this.position, `${signed(this.shown(position), this.joint.turns ? 1 : 3)}${this.unit}`);
    write(this.rates, `${signed(this.shown(rate), 2)} / ${signed(this.shown(wanted), 2)}${this.unit}/s`);
    write(this.brake, brake === "off" ? "" : brake);
    this.brake.className = brake;
    light(this.element, isSelected);
  }

  private shown(value: number): number {
    return this.joint.turns ? value * DEGREES : value;
  }

  private get unit(): string {
    return this.joint.turns ? "°" : " m";
  }
}

/* ---- the end effector ---------------------------------------------------------------------- */

class Axis {
  readonly element: HTMLElement;
  private value = make("b");
  private rate = make("small");
  private wanted = make("small", { className: "wanted" });

  /** `rated`: what the rate is of, where it is not that of the value. */
  constructor(name: string, private unit: string, private digits: number, private rated = "") {
    this.element = make("div", { className: "axis" }, make("span", { textContent: `${name} ${unit}` }), this.value, this.rate, this.wanted);
  }

  /** Nothing may be asked of it. */
  draw(value: number, rate: number, wanted: number | undefined): void {
    write(this.value, this.rated ? inDegrees(value, this.digits) : signed(value, this.digits));
    write(this.rate, `${this.rated}${signed(rate, 3)} ${this.unit}/s`);
    write(this.wanted, wanted === undefined ? "– asked" : `${signed(wanted, 3)} asked`);
  }
}

/** How far it is to where something can be done, against the most that is allowed. */
class Gap {
  readonly element: HTMLElement;
  private value = make("b");
  private caption = make("span");

  constructor(private name: string, private unit: string, private scale: number, private digits: number) {
    this.element = make("div", { className: "figure" }, this.value, this.caption);
  }

  draw(value: number | undefined, most: number | undefined): void {
    const shown = (value ?? 0) * this.scale;
    write(this.value, value === undefined ? "–" : `${shown.toFixed(shown < 10 ? this.digits : 1)}${this.unit}`);
    write(this.caption, most === undefined ? this.name : `${this.name} ≤ ${+(most * this.scale).toPrecision(3)}${this.unit}`);
    this.value.classList.toggle("over", value !== undefined && most !== undefined && value > most);
  }
}

/* ---- the panel ----------------------------------------------------------------------------- */

export class ArmPanel {
  private joints: JointRow[];
  private modes: HTMLButtonElement[];
  private poses: HTMLButtonElement[];
  private lamps: [number, HTMLElement][];
  private mode = make("b");
  private hint = make("span");
  private vernier: HTMLButtonElement;
  private brakes: HTMLButtonElement;
  private grapple: HTMLButtonElement;
  private release: HTMLButtonElement;
  private axes = [new Axis("X", "m", 3), new Axis("Y", "m", 3), new Axis("Z", "m", 3), new Axis("Roll", "°", 2, "ωx "), new Axis("Pitch", "°", 2, "ωy "), new Axis("Yaw", "°", 2, "ωz ")];
  private gaps = [new Gap("reach", " m", 1, 3), new Gap("tilt", "°", DEGREES, 1), new Gap("speed", " cm/s", 100, 1)];
  private envelope = make("span", { className: "lamp good" });
  private held = make("p", { className: "held" });
  private commands: HTMLButtonElement[]; // all that are only obeyed by who has authority

  constructor(host: HTMLElement, private spec: ArmSpec, press: Press) {
    const act = (name: ButtonName, text: string, title: string) => {
      const made = button(text, title, (event) => press(spec.buttons[name], event));
      made.dataset["act"] = name;
      made.hidden = spec.buttons[name] === undefined;
      return made;
    };
    this.modes = spec.modes.map((mode, i) => button(mode, `mode ${mode} (Q and E go through them)`, (event) => press(spec.modeButtons[i], event)));
    this.joints = spec.joints.map((joint, i) => new JointRow(joint, (event) => press(spec.select[i], event)));
    this.poses = spec.poses.map((pose, i) => button(pose, `in mode auto, go to ${pose}`, (event) => press(spec.select[i], event)));
    this.lamps = LAMPS.map(([flag, text, kind, title]) => [flag, make("span", { className: `lamp ${kind}`, textContent: text, title })]);
    this.vernier = act("vernier", "Vernier", "slow and fine, or coarse (V)");
    this.brakes = act("brakes", "Brakes", "put them on or off (B)");
    this.grapple = act("grapple", "Grapple", "close on the fixture (G)");
    this.release = act("release", "Release", "let the payload go (H)");
    host.replaceChildren(
      section("Arm", "arm", make("p", { className: "mode" }, this.mode, this.hint), this.group("lamps", ...this.lamps.map(([, lamp]) => lamp)), this.group("modes", ...this.modes), this.group("row", this.vernier, this.brakes, act("next", "Next joint", "select the next one (N)"))),
      section("Joints", "joints", ...this.joints.map((row) => row.element)),
      section("End effector in base axes", "axes", ...this.axes.map((axis) => axis.element)),
      section("Grapple", "grapple", this.figures(), this.group("row", this.grapple, this.release, this.envelope), this.held),
    );
    this.commands = [...host.querySelectorAll("button"), ...this.poses];
    for (const axis of this.axes.slice(3)) axis.element.title = "angles: turned by pitch, then yaw, then roll; ω: angular velocity about the base's axes";
    if (this.poses.length > 0) host.append(section("Go to", "poses", this.group("row", ...this.poses)));
  }

  allow(isHeld: boolean): void {
    for (const each of this.commands) dim(each, !isHeld);
  }

  draw(state: ArmState): void {
    const has = (flag: number) => (state.flags & flag) !== 0;
    const mode = this.spec.modes[state.mode] ?? "";
    write(this.mode, mode);
    write(this.hint, hint(this.spec, state));
    this.modes.forEach((each, i) => light(each, i === state.mode));
    this.joints.forEach((row, i) => row.draw(state, i, mode === "joint" && i === state.joint));
    this.poses.forEach((each, i) => {
      light(each, state.poseIndex === i + 1);
      each.disabled = mode !== "auto";
    });
    for (const [flag, lamp] of this.lamps) light(lamp, has(flag));
    light(this.vernier, has(FLAG.vernier));
    write(this.vernier, has(FLAG.vernier) ? "Vernier" : "Coarse");
    light(this.brakes, state.brake.some((each) => each !== 0));
    write(this.brakes, `Brakes ${brakes(state)}`);
    this.drawAxes(state);
    this.drawGap(state);
    this.drawHeld(state, state.payload ? this.drawBerth(state, has(FLAG.berthed)) : this.drawFixture(state, has(FLAG.inside)));
  }

  private drawAxes(state: ArmState): void {
    const [x, y, z, qw, qx, qy, qz] = state.pose as [number, number, number, number, number, number, number];
    const angles = rollPitchYawOfHand(qw, qx, qy, qz).map((angle) => angle * DEGREES);
    const isAsked = state.brake.every((each) => each === 0) && !["joint", "auto"].includes(this.spec.modes[state.mode] ?? ""); // of the hand, and not of joints
    [x, y, z, ...angles].forEach((value, i) => {
      const rate = i < 3 ? i + 3 : i - 3; // angular first
      const unit = i < 3 ? 1 : DEGREES;
      this.axes[i]!.draw(value, (state.twist[rate] ?? 0) * unit, isAsked ? (state.twistCommand[rate] ?? 0) * unit : undefined);
    });
  }

  private name(payload: number): string {
    return this.spec.payloads[payload - 1] ?? `payload ${payload}`;
  }

  /** How far it is to a fixture, or to the berth. */
  private drawGap(state: ArmState): void {
    const most = this.spec.gaps[state.payload] ?? [];
    [state.reach, state.tilt, state.closing].forEach((value, i) => this.gaps[i]!.draw(state.reach >= 0 ? value : undefined, most[i]));
  }

  /** And in words. */
  private drawFixture(state: ArmState, isInside: boolean): string {
    write(this.envelope, isInside ? "in envelope" : "outside");
    light(this.envelope, isInside);
    this.grapple.classList.toggle("ready", isInside);
    this.release.classList.remove("ready");
    return state.near ? `nearest: ${this.name(state.near)}` : "no fixture in sight";
  }

  private drawBerth(state: ArmState, isBerthed: boolean): string {
    write(this.envelope, isBerthed ? "in berth" : state.near ? "off berth" : "no berth");
    light(this.envelope, isBerthed);
    this.grapple.classList.remove("ready");
    this.release.classList.toggle("ready", isBerthed);
    return `holds ${this.name(state.payload)}${state.near ? "; above: to its berth" : ""}`;
  }

  private drawHeld(state: ArmState, what: string): void {
    const words = [what];
    if (state.blow > 0) words.push(`last contact ${Math.hypot(...state.impulse.slice(3)).toFixed(1)} N s, ${state.blow.toPrecision(2)} J`);
    if (state.refused > 0) words.push(`${state.refused} refused`);
    write(this.held, words.join(" · "));
    this.held.classList.toggle("good", state.payload !== 0);
    this.release.disabled = state.payload === 0;
  }

  private figures(): HTMLElement {
    return this.group("figures", ...this.gaps.map(({ element }) => element));
  }

  private group(className: string, ...children: Node[]): HTMLElement {
    return make("div", { className }, ...children);
  }
}
