// The timing truth: what frames take, and whose fault the late ones were.  From /live, which sums up
// every frame of a tenth of a second.
import { color } from "./theme";

export const CAUSES = ["none", "fault", "switch", "io", "stolen", "own", "unknown"];
const COLUMNS = 600;

export interface Live {
  rate_hz: number;
  start_error_us: number;
  busy_us: number;
  busy_us_max: number;
  margin_us: number;
  margin_us_min: number;
  frame: bigint;
  overruns: bigint;
  missed: bigint;
  cause: ArrayLike<bigint>;
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

  constructor(private canvas: HTMLCanvasElement, private figures: HTMLElement, private causes: HTMLElement) {}

  clear(): void {
    this.columns = [];
    this.newest = undefined;
  }

  add(live: Live): void {
    const before = this.newest;
    this.newest = live;
    const period = live.start_error_us + live.busy_us + live.margin_us; // medians, so about
    let cause = 0;
    for (let i = 1; before && i < CAUSES.length; i++) if (live.cause[i]! > before.cause[i]!) cause = i;
    this.columns.push({ taken: (period - live.margin_us_min) / period, cause });
    if (this.columns.length > COLUMNS) this.columns.shift();
  }

  draw(): void {
    if (this.newest) this.drawFigures(this.newest);
    this.drawStrip();
  }

  private drawFigures(live: Live): void {
    const figure = (value: string, name: string) => `<div class="figure"><b>${value}</b><span>${name}</span></div>`;
    this.figures.innerHTML =
      figure(micro(live.start_error_us), "start error") +
      figure(micro(live.busy_us), "busy") +
      figure(micro(live.margin_us_min), "least margin");
    const blamed = CAUSES.map((name, i) =>
      i && live.cause[i] ? `<span><i class="${name}"></i>${name} ${live.cause[i]}</span>` : "",
    );
    this.causes.innerHTML =
      `<span>${live.overruns} late, ${live.missed} missed of ${live.frame} frames</span>` + blamed.join("");
  }

  /** Each bar is the longest frame of a tenth of a second; above the line it was late. */
  private drawStrip(): void {
    const { canvas } = this;
    const scale = devicePixelRatio;
    const width = (canvas.width = canvas.clientWidth * scale);
    const height = (canvas.height = canvas.clientHeight * scale);
    const context = canvas.getContext("2d");
    if (!context) return;
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
