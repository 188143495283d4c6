// The way through the loop, part by part, from /latency.
import { make, write } from "./dom";
import { number } from "./read";

const PARTS = ["wire_in", "grid_wait", "step", "hold", "wire_out"]; // in order

export class Loop {
  private values: HTMLElement[];

  constructor(private host: HTMLElement, rows: HTMLElement) {
    this.values = [...PARTS, "command to sensor"].map((name) => {
      const value = make("span", { className: "row-value", textContent: "–" });
      rows.append(make("span", { textContent: name.replace("_", " ") }), value);
      return value;
    });
  }

  /** Another run. */
  clear(): void {
    this.host.hidden = true;
    for (const value of this.values) write(value, "–");
  }

  take(message: Record<string, unknown>): void {
    this.host.hidden = false;
    const parts = PARTS.map((name) => number(message[`${name}_ns`]));
    const all = [...parts, parts.reduce((sum, ns) => sum + ns, 0)];
    all.forEach((ns, i) => write(this.values[i]!, `${(ns / 1000).toFixed(1)} µs`));
  }
}
