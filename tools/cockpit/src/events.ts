// What happened, newest first.
import type { Level } from "./connection";
import { make, write } from "./dom";

const KEPT = 200;
const OVERRUN = /^frame \d+ overran by /;
const OVERRUNS = /^and (\d+) more frames overran/; // of the same tenth of a second

interface Line { element: HTMLElement; when: HTMLElement; what: HTMLElement }

export class Events {
  private statuses = new Map<string, Line>(); // what stands, by its id
  private overruns?: { line: Line; count: number; last: string }; // since anything else happened

  constructor(private list: HTMLElement, private simulated: () => number) {}

  /** At a simulated time, or now. */
  add(level: Level, text: string, time = this.simulated()): void {
    this.overruns = undefined;
    this.put(level, text, time);
  }

  /** A line of the run's.  Frames that overran one after the other are one line, so that they drown nothing. */
  log(level: Level, text: string, time: number): void {
    const more = OVERRUN.test(text) ? 1 : Number(OVERRUNS.exec(text)?.[1] ?? 0);
    if (more === 0) return this.add(level, text, time);
    const folded = (this.overruns ??= { line: this.put(level, text, time), count: 0, last: text });
    folded.count += more;
    if (OVERRUN.test(text)) folded.last = text;
    this.show(folded.line, level, folded.count > 1 ? `${folded.count} overruns, the last: ${folded.last}` : text, time);
  }

  /** What stands has one line, which changes where it is. */
  status(level: Level, text: string, id: string): void {
    const line = this.statuses.get(id);
    if (line?.element.isConnected) this.show(line, level, text, this.simulated());
    else if (id) this.statuses.set(id, this.put(level, text, this.simulated()));
    else this.add(level, text);
  }

  statusGone(id: string): void {
    this.statuses.get(id)?.element.remove();
    this.statuses.delete(id);
  }

  /** Another run: what stood is what happened. */
  begin(): void {
    this.statuses.clear();
    this.overruns = undefined;
  }

  private put(level: Level, text: string, time: number): Line {
    const [when, what] = [make("time"), make("span")];
    const line = { element: make("li", {}, when, what), when, what };
    this.show(line, level, text, time);
    this.list.prepend(line.element);
    while (this.list.childElementCount > KEPT) this.list.lastElementChild?.remove();
    return line;
  }

  private show({ when, what }: Line, level: Level, text: string, time: number): void {
    write(when, `${time.toFixed(2)} s`);
    write(what, text);
    what.className = level;
  }
}
