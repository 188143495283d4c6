// The panel of a vehicle without an arm: attitude, body rates, what its wheels and motors do, links.
import { DEGREES, inDegrees, rollPitchYaw, signed } from "./angles";
import { drawBall } from "./attitude";
import { Bar, Scale } from "./bar";
import { light, make, section, write } from "./dom";
import { number, numbers } from "./read";

const LINKS = ["silent", "heard", "lost"];
const RPM = 60 / (2 * Math.PI);

/** By the schema of a device's channel: the field that the bar shows. */
const DRIVES: Record<string, { field: string; group: "wheels" | "motors"; unit: string; factor: number; most?: number; isSigned: boolean }> = {
  "airbearing_msgs/msg/Wheel": { field: "speed", group: "wheels", unit: "rpm", factor: RPM, isSigned: true },
  "airbearing_msgs/msg/Rotor": { field: "command", group: "motors", unit: "%", factor: 100, most: 100, isSigned: false },
  "airbearing_msgs/msg/Thruster": { field: "command", group: "motors", unit: "%", factor: 100, most: 100, isSigned: false },
  "airbearing_msgs/msg/Torquer": { field: "dipole", group: "motors", unit: "A m²", factor: 1, isSigned: true },
};

/** Who is in orbit counts in kilometres. */
function place(parts: number[]): string {
  const isFar = Math.hypot(...parts) > 1e5;
  return `${parts.map((part) => signed(isFar ? part / 1000 : part, isFar ? 1 : 2)).join("  ")} ${isFar ? "km" : "m"}`;
}

interface Drive { bar: Bar; schema: string; value: number }

export class VehiclePanel {
  private ball = make("canvas", { className: "ball" });
  private angles = ["roll", "pitch", "yaw"].map((name) => this.figure(name));
  private rates = ["roll", "pitch", "yaw"].map((name) => new Bar(name, "°/s", true));
  private rateScale = new Scale(0.1);
  private drives = new Map<string, Drive>();
  private scales = new Map<string, Scale>();
  private wheels = section("Wheels", "wheels");
  private motors = section("Motors", "motors");
  private links = make("div", { className: "lamps" });
  private lamps = new Map<number, HTMLElement>(); // by link
  private noLink = make("span", { className: "lamp", textContent: "none heard" });
  private position = make("p", { className: "quiet" });
  private off = this.figure("off target");
  private q: number[] = [];
  private v: number[] = [];
  private error = NaN;
  private linkStates: number[] = [];

  /** `nameOf` a link, if the run tells. */
  constructor(host: HTMLElement, private nameOf: (link: number) => string | undefined) {
    this.links.append(this.noLink);
    this.ball.setAttribute("role", "img");
    this.ball.setAttribute("aria-label", "attitude ball");
    const figures = make("div", { className: "stack" }, ...this.angles.map(([element]) => element));
    host.replaceChildren(
      section("Attitude", "attitude", make("div", { className: "row" }, this.ball, figures), this.off[0], this.position),
      section("Body rates", "rates", ...this.rates.map(({ element }) => element)),
      this.wheels,
      this.motors,
      section("Links", "links", this.links),
    );
    this.wheels.hidden = this.motors.hidden = true;
  }

  /** A device whose schema is known gets a bar. */
  meet(topic: string, schema: string): void {
    const drive = DRIVES[schema];
    if (!drive || this.drives.has(topic)) return;
    const bar = new Bar(topic.replace(/^\/(device\/)?/, ""), drive.unit, drive.isSigned);
    this.drives.set(topic, { bar, schema, value: 0 });
    if (!this.scales.has(schema)) this.scales.set(schema, new Scale(1));
    this[drive.group].append(bar.element);
    this[drive.group].hidden = false;
    if (drive.group === "motors" && !schema.endsWith("/Rotor")) write(this.motors.querySelector("h2")!, "Actuators"); // a coil is no motor
  }

  take(topic: string, message: Record<string, unknown>): void {
    const drive = this.drives.get(topic);
    if (drive) {
      const { field, factor } = DRIVES[drive.schema]!;
      drive.value = number(message[field]) * factor;
    } else if (topic === "/plant") {
      this.q = numbers(message["q"]);
      this.v = numbers(message["v"]);
      this.error = number(message["attitude_error"], NaN);
    } else if (topic === "/live") {
      this.linkStates = numbers(message["link"]);
    }
  }

  draw(): void {
    const [x, y, z, qw, qx, qy, qz] = this.q;
    if (qz !== undefined) {
      const turn = rollPitchYaw(number(qw, 1), number(qx), number(qy), number(qz));
      drawBall(this.ball, turn[0], turn[1]);
      turn.forEach((angle, i) => write(this.angles[i]![1], `${inDegrees(angle * DEGREES, 1)}°`));
      write(this.position, `position ${place([x, y, z].map((part) => number(part)))}, world`);
    }
    write(this.off[1], Number.isFinite(this.error) ? `${(this.error * DEGREES).toFixed(3)}°` : "–");
    const rates = [0, 1, 2].map((i) => number(this.v[i]) * DEGREES);
    const most = this.rateScale.take(Math.max(...rates.map(Math.abs)));
    rates.forEach((rate, i) => this.rates[i]!.show(rate, most, 3));
    for (const { bar, schema, value } of this.drives.values()) {
      const { most, unit } = DRIVES[schema]!;
      bar.show(value, most ?? this.scales.get(schema)!.take(value), unit === "A m²" ? 2 : 0);
    }
    this.drawLinks();
  }

  private drawLinks(): void {
    this.linkStates.forEach((state, i) => {
      if (state === 0 && !this.lamps.has(i)) return; // nobody was there yet
      const lamp = this.lamps.get(i) ?? this.addLamp(i);
      write(lamp, `${this.nameOf(i) ?? `link ${i + 1}`} ${LINKS[state] ?? ""}`);
      lamp.classList.toggle("good", state !== 2);
      lamp.classList.toggle("bad", state === 2);
      light(lamp, state > 0);
    });
    if (this.lamps.size > 0) this.noLink.remove();
  }

  private addLamp(link: number): HTMLElement {
    const lamp = make("span", { className: "lamp" });
    this.lamps.set(link, lamp);
    this.links.append(lamp);
    return lamp;
  }

  private figure(name: string): [HTMLElement, HTMLElement] {
    const value = make("b", { textContent: "–" });
    return [make("div", { className: "figure" }, value, make("span", { textContent: name })), value];
  }
}
