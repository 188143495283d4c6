// What happened, newest first.
import type { Level } from "./connection";
import { make } from "./dom";

const KEPT = 200;

export class Events {
  constructor(private list: HTMLElement, private simulated: () => number) {}

  /** At a simulated time, or now. */
  add(level: Level, text: string, time = this.simulated()): void {
    const when = make("time", { textContent: `${time.toFixed(2)} s` });
    this.list.prepend(make("li", {}, when, make("span", { textContent: text, className: level })));
    while (this.list.childElementCount > KEPT) this.list.lastElementChild?.remove();
  }
}
