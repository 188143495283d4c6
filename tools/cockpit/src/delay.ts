// How long a command takes: to the motion, by the run's clocks, and to the picture, by this page's.
import { make, write } from "./dom";
import { isRepeat } from "./hand";
import { number } from "./read";

const KEPT = 100;
const PENDING_MAX = 400;
const STALE_MS = 20000; // its answer will not come any more

export class Series {
  private values: number[] = [];
  total = 0; // ever, also those that are not kept

  add(value: number): void {
    this.total++;
    this.values.push(value);
    if (this.values.length > KEPT) this.values.shift();
  }

  clear(): void {
    this.values = [];
  }

  get count(): number {
    return this.values.length;
  }

  get last(): number {
    return this.values[this.values.length - 1] ?? NaN;
  }

  get median(): number {
    const sorted = [...this.values].sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? NaN;
  }

  get max(): number {
    return this.values.length ? Math.max(...this.values) : NaN;
  }
}

/** Where an instant of the run's clock lies on this page's: of the newest messages about such instants the quickest
 * took half a round trip, the others waited somewhere, too. */
class RunClock {
  private ways: number[] = []; // ms, from the instant there to the message here

  take(thereMs: number): void {
    this.ways.push(performance.now() - thereMs);
    if (this.ways.length > KEPT) this.ways.shift();
  }

  here(thereMs: number, tripMs: number): number {
    return thereMs + Math.min(...this.ways) - tripMs / 2;
  }

  clear(): void {
    this.ways = [];
  }
}

interface Pending { sentUs: number; inputMs: number }
interface Elsewhere { rxMs: number; time: number } // by the run's clock; simulated

/** All in milliseconds. */
export class Delays {
  readonly motion = new Series();
  readonly picture = new Series();
  transport = 0;
  tripMs = 0; // of the connection
  private pending: Pending[] = [];
  private shown: Pending[] = []; // in force; the next frame that is drawn shows it
  private clock = new RunClock();
  private elsewhere: Elsewhere[] = []; // commands of hands that are not on this page
  private counts = true;

  /** False: nobody waits for a picture.  What was under way by then is not counted either. */
  count(on: boolean): void {
    if (!on) this.forget();
    this.counts = on;
  }

  clear(): void {
    this.motion.clear();
    this.picture.clear();
    this.forget();
    this.clock.clear();
    this.transport = 0;
  }

  sent(sentUs: number, inputMs: number): void {
    if (this.counts) this.pending.push({ sentUs, inputMs });
    if (this.pending.length > PENDING_MAX) this.pending.shift();
  }

  heard(boardUs: number, delaySeconds: number): void {
    this.transport = delaySeconds * 1000;
    if (isRepeat(boardUs)) return; // it may be newer than a change that it does not have
    while (this.pending[0] && this.pending[0].sentUs <= boardUs) this.shown.push(this.pending.shift()!);
  }

  /** What is drawn is of this simulated time. */
  drawn(simulated: number): void {
    const now = performance.now();
    for (const { inputMs } of this.shown) this.picture.add(now - inputMs);
    this.shown = [];
    while (this.elsewhere[0] && this.elsewhere[0].time < simulated)
      this.picture.add(now - this.clock.here(this.elsewhere.shift()!.rxMs, this.tripMs));
    while (this.pending[0] && now - this.pending[0].inputMs > STALE_MS) this.pending.shift();
  }

  /** A message of /latency: from the last byte in to the end of the step that used it. */
  looped(message: Record<string, unknown>, time: number, isOurs: boolean): void {
    const parts = ["wire_in_ns", "grid_wait_ns", "step_ns"].map((name) => number(message[name]));
    const motionMs = parts.reduce((sum, ns) => sum + ns, 0) * 1e-6;
    const rxMs = number(message["rx_ns"]) * 1e-6;
    this.motion.add(motionMs);
    this.clock.take(rxMs + motionMs);
    if (!isOurs && this.counts && this.elsewhere.length < PENDING_MAX) this.elsewhere.push({ rxMs, time });
  }

  private forget(): void {
    this.pending = [];
    this.shown = [];
    this.elsewhere = [];
  }
}

function milli(value: number): string {
  if (!Number.isFinite(value)) return "–";
  return value < 10 ? value.toFixed(2) : value.toFixed(0);
}

/** The rows of a table: last, median and most. */
export class DelayTable {
  private rows: [Series, HTMLElement[]][];
  private transport = make("td", { colSpan: 3 });

  constructor(host: HTMLElement, private delays: Delays) {
    const named: [string, string, Series][] = [
      ["to motion", "command in to the end of its step, by the run's clocks", delays.motion],
      ["to picture", "input event to the frame drawn with its answer, by this page's clock; of hands elsewhere from when the run heard of it, estimated", delays.picture],
    ];
    this.rows = named.map(([name, title, series]) => {
      const cells = [make("td", { className: "main" }), make("td"), make("td")];
      host.append(make("tr", { title }, make("th", { scope: "row", textContent: name }), ...cells));
      return [series, cells];
    });
    const title = "put between hand and arm on purpose";
    host.append(make("tr", { title }, make("th", { scope: "row", textContent: "transport" }), this.transport));
  }

  draw(): void {
    for (const [series, cells] of this.rows) {
      [series.last, series.median, series.max].forEach((value, i) => write(cells[i]!, milli(value)));
    }
    write(this.transport, this.delays.transport > 0 ? `${milli(this.delays.transport)} ms on purpose` : "none");
  }
}
