// The timing truth: what frames take, and whose fault the late ones were.  From /live, which sums up
// every frame of a tenth of a second.
import { make, write } from "./dom";
import { number, vector } from "./read";
import { color } from "./theme";

const CAUSES = ["none", "fault", "switch", "io", "stolen", "own", "unknown"];
const COLUMNS = 600;

interface Live {
  startError: number; // all times in microseconds
  busy: number;
  margin: number;
  marginMin: number;
  frame: number;
  overruns: number;
  missed: number;
  cause: number[];
}

function readLive(message: Record<string, unknown>): Live {
  const one = (name: string) => number(message[name]);
  return {
    startError: one("start_error_us"),
    busy: one("busy_us"),
    margin: one("margin_us"),
    marginMin: one("margin_us_min"),
    frame: one("frame"),
    overruns: one("overruns"),
    missed: one("missed"),
    cause: vector(message["cause"], CAUSES.length),
  };
}

interface Column { taken: number; cause: number } // part of the period; cause of the late ones

function micro(us: number): string {
  const size = Math.abs(us);
  if (size >= 1000) return `${(us / 1000).toFixed(1)} ms`;
  return `${size < 10 ? us.toFixed(2) : us.toFixed(0)} µs`;
}

export class Timing {
  private columns: Column[] = [];
  private newest?: Live;
  private values: HTMLElement[];

  constructor(private canvas: HTMLCanvasElement, figures: HTMLElement, private causes: HTMLElement) {
    this.values = ["start error", "busy", "least margin"].map((name) => {
      const value = make("b", { textContent: "–" });
      figures.append(make("div", { className: "figure" }, value, make("span", { textContent: name })));
      return value;
    });
  }

  clear(): void {
    this.columns = [];
    this.newest = undefined;
  }

  /** A message of /live. */
  add(message: Record<string, unknown>): void {
    const before = this.newest;
    const live = (this.newest = readLive(message));
    const period = Math.max(1e-3, live.startError + live.busy + live.margin); // medians, so about
    let cause = 0;
    for (let i = 1; before && i < CAUSES.length; i++) if (live.cause[i]! > before.cause[i]!) cause = i;
    this.columns.push({ taken: (period - live.marginMin) / period, cause });
    if (this.columns.length > COLUMNS) this.columns.shift();
  }

  draw(): void {
    if (this.newest) this.drawFigures(this.newest);
    this.drawStrip();
  }

  private drawFigures(live: Live): void {
    [live.startError, live.busy, live.marginMin].forEach((us, i) => write(this.values[i]!, micro(us)));
    const late = make("span", { textContent: `${live.overruns} late, ${live.missed} missed of ${live.frame} frames` });
    const blamed = CAUSES.flatMap((name, i) => (i && live.cause[i] ? [make("span", {}, make("i", { className: name }), `${name} ${live.cause[i]}`)] : []));
    this.causes.replaceChildren(late, ...blamed);
  }

  /** Each bar is the longest frame of a tenth of a second; above the line it was late. */
  private drawStrip(): void {
    const { canvas } = this;
    const scale = devicePixelRatio;
    const width = Math.round(canvas.clientWidth * scale);
    const height = Math.round(canvas.clientHeight * scale);
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    const context = canvas.getContext("2d", { willReadFrequently: true }); // drawn by the processor: it is small
    if (!context) return;
    context.clearRect(0, 0, width, height);
    const step = width / COLUMNS;
    const full = height * 0.75; // the period
    this.columns.forEach((column, i) => {
      const bar = Math.max(scale, Math.min(height, column.taken * full));
      context.fillStyle = color(column.cause ? (CAUSES[column.cause] ?? "unknown") : "good");
      context.fillRect(i * step, height - bar, Math.max(1, step), bar);
    });
    context.fillStyle = color("quiet");
    context.fillRect(0, height - full, width, scale);
  }
}
