// The timing truth: what each frame took, and whose fault the late ones were.
import { color } from "./theme";

export const CAUSES = ["none", "fault", "switch", "io", "stolen", "own", "unknown"];
const COLUMNS = 600;
const COLUMN_S = 0.1; // one column of the strip is the worst of this long

interface Column { busy: number; late: number; cause: number }

/** What a /frame record says. */
export interface FrameRecord {
  frame: bigint;
  release_ns: bigint;
  start_ns: bigint;
  end_ns: bigint;
  missed: number;
  cause: number;
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length ? (sorted[sorted.length >> 1] ?? 0) : NaN;
}

function micro(ns: number): string {
  if (!Number.isFinite(ns)) return "–";
  const us = ns / 1000;
  return us < 10 ? us.toFixed(2) : us < 1000 ? us.toFixed(0) : `${(us / 1000).toFixed(1)} m`;
}

export class Timing {
  private columns: Column[] = [];
  private columnEnds = 0;
  private recent: { error: number; busy: number; margin: number }[] = [];
  private period = NaN;
  private previous?: FrameRecord;
  private byCause = new Array<number>(CAUSES.length).fill(0);
  private missed = 0;
  private frames = 0;

  constructor(private canvas: HTMLCanvasElement, private figures: HTMLElement, private causes: HTMLElement) {}

  clear(): void {
    this.columns = [];
    this.recent = [];
    this.previous = undefined;
    this.byCause.fill(0);
    this.missed = this.frames = 0;
    this.columnEnds = 0;
  }

  add(simulated: number, record: FrameRecord): void {
    this.learnPeriod(record);
    const error = Number(record.start_ns - record.release_ns);
    const busy = Number(record.end_ns - record.start_ns);
    this.recent.push({ error, busy, margin: this.period - error - busy });
    if (this.recent.length > 1000) this.recent.splice(0, 500);
    this.frames++;
    this.missed += record.missed;
    if (record.cause) this.byCause[record.cause] = (this.byCause[record.cause] ?? 0) + 1;
    this.addToStrip(simulated, error + busy, record.cause);
  }

  draw(): void {
    this.drawFigures();
    this.drawStrip();
  }

  private learnPeriod(record: FrameRecord): void {
    const before = this.previous;
    this.previous = record;
    if (!before || record.frame <= before.frame || record.missed) return;
    const period = Number(record.release_ns - before.release_ns) / Number(record.frame - before.frame);
    if (!(this.period <= period)) this.period = period; // pauses make it longer, nothing shorter
  }

  private addToStrip(simulated: number, response: number, cause: number): void {
    let last = this.columns[this.columns.length - 1];
    if (!last || simulated >= this.columnEnds || simulated < this.columnEnds - 2 * COLUMN_S) {
      last = { busy: 0, late: 0, cause: 0 };
      this.columns.push(last);
      this.columnEnds = simulated + COLUMN_S;
      if (this.columns.length > COLUMNS) this.columns.shift();
    }
    last.busy = Math.max(last.busy, response / this.period);
    if (cause) {
      last.late++;
      last.cause = cause;
    }
  }

  private drawFigures(): void {
    const of = (pick: (r: { error: number; busy: number; margin: number }) => number) => this.recent.map(pick);
    const least = this.recent.length ? Math.min(...of((r) => r.margin)) : NaN;
    const figure = (value: string, name: string) => `<div class="figure"><b>${value}s</b><span>${name}</span></div>`;
    this.figures.innerHTML =
      figure(micro(median(of((r) => r.error))) + " µ", "start error, median") +
      figure(micro(median(of((r) => r.busy))) + " µ", "busy, median") +
      figure((least < 0 ? "−" : "") + micro(Math.abs(least)) + " µ", "margin, least");
    this.figures.innerHTML = this.figures.innerHTML.replaceAll(" m µs", " ms");
    const late = this.byCause.reduce((sum, n) => sum + n, 0);
    this.causes.innerHTML =
      `<span>${late} late, ${this.missed} missed of ${this.frames} seen</span>` +
      CAUSES.map((name, i) =>
        i && this.byCause[i] ? `<span><i style="background:var(--${name})"></i>${name} ${this.byCause[i]}</span>` : "",
      ).join("");
  }

  private drawStrip(): void {
    const { canvas } = this;
    const scale = devicePixelRatio;
    const width = (canvas.width = canvas.clientWidth * scale);
    const height = (canvas.height = canvas.clientHeight * scale);
    const context = canvas.getContext("2d");
    if (!context) return;
    const step = width / COLUMNS;
    const full = height * 0.75; // the period; above it a frame is late
    this.columns.forEach((column, i) => {
      const bar = Math.min(height, column.busy * full);
      context.fillStyle = color(column.late ? (CAUSES[column.cause] ?? "unknown") : "good");
      context.fillRect(i * step, height - bar, Math.max(1, step), bar);
    });
    context.fillStyle = color("quiet");
    context.fillRect(0, height - full, width, scale);
  }
}
