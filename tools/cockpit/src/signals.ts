// Every number the run publishes, in a list; those that are ticked have a chart.
import type { Charts } from "./charts";
import type { Message } from "./connection";

const HIDDEN = new Set(["/live", "/frame", "/input", "/job", "/clock", "/latency", "/event", "/tf", "/scene", "/scene/bent", "/log", "/state", "/operator"]);

interface Row { value: HTMLElement; box: HTMLInputElement; shown: number[]; labels: string[] }

/** The numbers of a message field: a scalar, a vector, or nothing. */
function numbers(value: unknown): number[] | undefined {
  if (typeof value === "number") return [value];
  if (typeof value === "bigint") return [Number(value)];
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return Array.from(value as unknown as ArrayLike<number>);
  if (Array.isArray(value) && value.every((v) => typeof v === "number")) return value as number[];
  return undefined;
}

function text(values: number[]): string {
  const one = (v: number) => (v === 0 ? "0" : Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? v.toExponential(2) : v.toPrecision(4));
  return values.length > 4 ? `${values.length} values` : values.map(one).join("  ");
}

export class Signals {
  private rows = new Map<string, Row>();

  constructor(private host: HTMLElement, private charts: Charts) {}

  static shows(topic: string): boolean {
    return !HIDDEN.has(topic);
  }

  clear(): void {
    for (const name of this.rows.keys()) this.charts.close(name);
    this.rows.clear();
    this.host.replaceChildren();
  }

  add(topic: string, time: number, message: Message): void {
    for (const [field, raw] of Object.entries(message)) {
      const values = numbers(raw);
      if (!values) continue;
      const name = `${topic.replace(/^\/(device\/)?/, "")} ${field.replaceAll("_", " ")}`;
      const row = this.rows.get(name) ?? this.open(name, values.length);
      row.shown = values;
      this.charts.add(name, time, values);
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

  private open(name: string, count: number): Row {
    const label = document.createElement("label");
    const title = document.createElement("span");
    const value = Object.assign(document.createElement("span"), { className: "row-value" });
    const box = Object.assign(document.createElement("input"), { type: "checkbox" });
    title.append(box, ` ${name}`);
    title.title = name;
    label.append(title, value);
    this.host.append(label);
    const labels = Array.from({ length: count }, (_, i) => (count === 1 ? name : String(i)));
    const row: Row = { value, box, shown: [], labels };
    box.addEventListener("change", () => (box.checked ? this.charts.open(name, labels) : this.charts.close(name)));
    this.rows.set(name, row);
    return row;
  }
}
