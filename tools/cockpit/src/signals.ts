// Every number the run publishes, in a list; those that are ticked have a chart.
import { minus } from "./angles";
import type { Charts } from "./charts";
import type { Message } from "./connection";
import { make } from "./dom";
import { numbers } from "./read";

const HIDDEN = new Set([
  "/live", "/frame", "/input", "/job", "/clock", "/latency", "/event", "/log", "/state", "/operator", "/authority", "/desk",
  "/tf", "/tf/straight", "/tf/ghost", "/scene", "/scene/bent", "/scene/straight",
]);
const TWIST = ["ω x", "ω y", "ω z", "v x", "v y", "v z"];

/** What may stand in a unit.  Comments say more than units. */
const UNIT = /^(?:(?:[mkµun]?(?:m|s|g|N|J|W|A|V|K|T|Hz|Pa|rad)|deg|rpm|%|1)[²³]?(?: |\/|$))+$/;

/** By field: of `float64[6] rate # rad/s, of the motors` it is rad/s. */
function units(schema: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, field, comment] of schema.split(/^=+$/m)[0]!.matchAll(/^\S+ (\w+) *# *(.*)$/gm)) {
    const unit = comment!.split(/[,;:]/)[0]!.trim();
    if (UNIT.test(unit)) found.set(field!, unit);
  }
  return found;
}

interface Row { value: HTMLElement; box: HTMLInputElement; shown: number[] }

/** The numbers of a message field: a scalar, a vector, or nothing. */
function values(value: unknown): number[] {
  return typeof value === "number" || typeof value === "bigint" ? [Number(value)] : numbers(value);
}

function text(values: number[]): string {
  const one = (v: number) => (Number.isInteger(v) && Math.abs(v) < 1e5 ? String(v) : Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? v.toExponential(2) : v.toPrecision(4));
  return values.length > 4 ? `${values.length} values` : minus(values.map(one).join("  "));
}

export class Signals {
  private rows = new Map<string, Row>();
  private chosen = new Set<string>(); // also those of a run that has ended: the next may have them too
  private joints: string[] = [];
  private units = new Map<string, Map<string, string>>(); // by topic, then by field

  constructor(private host: HTMLElement, private charts: Charts) {}

  static shows(topic: string): boolean {
    return !HIDDEN.has(topic);
  }

  /** Another run; the names of its arm's joints, if it has one. */
  begin(joints: string[]): void {
    this.joints = joints;
    for (const name of this.rows.keys()) this.charts.close(name);
    this.rows.clear();
    this.host.replaceChildren();
  }

  /** What a channel says of its fields. */
  meet(topic: string, schema: string): void {
    this.units.set(topic, units(schema));
  }

  add(topic: string, time: number, message: Message): void {
    for (const [field, raw] of Object.entries(message)) {
      const shown = values(raw);
      if (shown.length === 0) continue;
      const name = `${topic.replace(/^\/(device\/)?/, "")} ${field.replaceAll("_", " ")}`;
      const row = this.rows.get(name) ?? this.open(name, this.units.get(topic)?.get(field) ?? "", this.labels(topic, field, shown.length));
      row.shown = shown;
      this.charts.add(name, time, shown);
    }
  }

  draw(): void {
    for (const row of this.rows.values()) row.value.textContent = text(row.shown);
  }

  /** A first choice, so that the page moves before anybody has ticked anything. */
  tick(...patterns: RegExp[]): number {
    let ticked = 0;
    for (const pattern of patterns)
      for (const [name, row] of this.rows)
        if (pattern.test(name) && !row.box.checked) {
          row.box.click();
          ticked++;
        }
    return ticked;
  }

  private labels(topic: string, field: string, count: number): string[] {
    if (count === 1) return [field];
    if (topic === "/arm" && field.startsWith("twist")) return TWIST;
    if (topic === "/arm" && count === this.joints.length) return this.joints.map((name) => name.replaceAll("_", " "));
    return Array.from({ length: count }, (_, i) => (count === 3 ? "xyz"[i]! : String(i)));
  }

  private open(name: string, unit: string, labels: string[]): Row {
    const box = make("input", { type: "checkbox" });
    const value = make("span", { className: "row-value" });
    this.host.append(make("label", {}, make("span", { title: unit ? `${name}, ${unit}` : name }, box, ` ${name}`), value));
    const row: Row = { value, box, shown: [] };
    const chart = () => {
      if (box.checked) this.charts.open(name, unit, labels);
      else this.charts.close(name);
    };
    box.addEventListener("change", () => {
      if (box.checked) this.chosen.add(name);
      else this.chosen.delete(name);
      chart();
    });
    box.checked = this.chosen.has(name);
    chart();
    this.rows.set(name, row);
    return row;
  }
}
