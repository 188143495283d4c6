// What happened, newest first.
import type { Level } from "./connection";
import { make, write } from "./dom";

const KEPT = 200;
const OVERRUN = /^frame \d+ overran by /;
const OVERRUNS = /^and (\d+) more frames overran/; // of the same tenth of a second

/** One frame is a frame. */
function plain(text: string): string {
  return text.replace(/^1 frames /, "1 frame ");
}

interface Line { element: HTMLElement; when: HTMLElement; what: HTMLElement }

export class Events {
  private statuses = new Map<string, Line>(); // what stands, by its id
  private overruns?: { line: Line; count: number; last: string }; // since anything else happened

  private undated: Line[] = []; // of who came before the run told its time

  constructor(private list: HTMLElement, private simulated: () => number | undefined) {}

  /** At a simulated time, or now. */
  add(level: Level, text: string, time = this.simulated()): void {
    this.overruns = undefined;
    this.put(level, text, time);
  }

  /** The time of all that came before any was known. */
  date(time: number): void {
    for (const { when } of this.undated) write(when, `${time.toFixed(2)} s`);
    this.undated = [];
  }

  /** A line of the run's.  Frames that overran one after the other are one line, so that they drown nothing. */
  log(level: Level, text: string, time: number): void {
    const more = OVERRUN.test(text) ? 1 : Number(OVERRUNS.exec(text)?.[1] ?? 0);
    if (more === 0) return this.add(level, text, time);
    const folded = (this.overruns ??= { line: this.put(level, text, time), count: 0, last: text });
    folded.count += more;
    if (OVERRUN.test(text)) folded.last = text;
    this.list.prepend(folded.line.element);
    this.show(folded.line, level, folded.count > 1 ? `${folded.count} overruns, the last: ${folded.last}` : text, time);
  }

  /** What stands has one line, which is where it last changed. */
  status(level: Level, text: string, id: string): void {
    const line = this.statuses.get(id);
    if (line?.element.isConnected && line.what.textContent === plain(text)) return;
    if (line?.element.isConnected) {
      this.list.prepend(line.element);
      this.show(line, level, text, this.simulated());
    } else if (id) this.statuses.set(id, this.put(level, text, this.simulated()));
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
    this.undated = [];
  }

  private put(level: Level, text: string, time: number | undefined): Line {
    const [when, what] = [make("time"), make("span")];
    const line = { element: make("li", {}, when, what), when, what };
    this.show(line, level, text, time);
    this.list.prepend(line.element);
    while (this.list.childElementCount > KEPT) this.list.lastElementChild?.remove();
    return line;
  }

  private show(line: Line, level: Level, text: string, time: number | undefined): void {
    const { when, what } = line;
    write(when, time === undefined ? "–" : `${time.toFixed(2)} s`);
    if (time === undefined) this.undated.push(line);
    write(what, plain(text));
    what.className = level;
  }
}
