// Strip charts of chosen signals.
import uPlot from "uplot";
import { minus } from "./angles";
import { color } from "./theme";

const SECONDS = 30;
const GAP = 5; // periods without a sample: nobody knows what was meanwhile
const SMOOTH = 0.1;
const PALETTE = ["accent", "good", "warn", "bad", "fault", "unknown"];

function short(value: number): string {
  const size = Math.abs(value);
  return minus(size !== 0 && (size < 1e-3 || size >= 1e5) ? value.toExponential(1) : String(Number(value.toPrecision(6))));
}

/** What does not change is a line in the middle. */
function around(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null || !Number.isFinite(low + high)) return [0, 1];
  const room = high - low > 1e-12 ? 0.08 * (high - low) : Math.max(1e-3, Math.abs(low));
  return [low - room, high + room];
}

class Chart {
  private data: (number | null)[][]; // time first; null: nothing is known
  private period?: number; // s, of the samples, lately
  private plot?: uPlot;
  readonly element = Object.assign(document.createElement("div"), { className: "chart" });

  constructor(private title: string, private labels: string[]) {
    this.data = [[], ...labels.map(() => [])];
  }

  add(time: number, values: number[]): void {
    const times = this.data[0] as number[];
    const last = times[times.length - 1];
    if (last !== undefined && time < last) this.data.forEach((column) => (column.length = 0));
    if (last !== undefined && time >= last && time - last < 0.02) return; // 50 points a second are enough
    if (last !== undefined && time > last) this.breakAfter(last, time - last);
    times.push(time);
    values.forEach((value, i) => this.data[i + 1]?.push(Number.isFinite(value) ? value : null));
    const old = times.findIndex((t) => t > time - SECONDS);
    if (old > 200) this.data.forEach((column) => column.splice(0, old));
  }

  /** Samples that are missing are no straight line. */
  private breakAfter(last: number, interval: number): void {
    const period = (this.period ??= interval);
    const isGap = interval > GAP * period;
    this.period = period + SMOOTH * (Math.min(interval, GAP * period) - period);
    if (!isGap) return;
    this.data[0]!.push(last + period);
    for (const column of this.data.slice(1)) column.push(null);
  }

  get gaps(): number {
    return this.data[1]?.filter((value) => value === null).length ?? 0;
  }

  draw(): void {
    const width = Math.max(80, this.element.clientWidth);
    const legend = this.plot?.root.querySelector<HTMLElement>(".u-legend")?.offsetHeight ?? 0;
    const title = this.plot?.root.querySelector<HTMLElement>(".u-title")?.offsetHeight ?? 0;
    const height = Math.max(60, (this.element.parentElement?.clientHeight ?? 200) - legend - title - 14);
    this.plot ??= this.make(width, height);
    if (this.plot.width !== width || this.plot.height !== height) this.plot.setSize({ width, height });
    this.plot.setData(this.data as uPlot.AlignedData);
  }

  repaint(): void {
    this.plot?.destroy();
    this.plot = undefined;
  }

  private make(width: number, height: number): uPlot {
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const axis: uPlot.Axis = { font: `${0.75 * rem}px system-ui, sans-serif`, stroke: color("quiet"), grid: { stroke: color("line"), width: 1 }, ticks: { stroke: color("line") } };
    return new uPlot(
      {
        title: this.title,
        legend: { show: this.labels.length > 1, live: false },
        width,
        height,
        scales: { x: { time: false }, y: { range: (_, low, high) => around(low, high) } },
        axes: [axis, { ...axis, size: 4.5 * rem, values: (_, ticks) => ticks.map(short) }],
        series: [{}, ...this.labels.map((label, i) => ({ label, stroke: color(PALETTE[i % PALETTE.length]!), width: 1.5 }))],
      },
      this.data as uPlot.AlignedData,
      this.element,
    );
  }
}

export class Charts {
  private charts = new Map<string, Chart>();

  constructor(private host: HTMLElement) {}

  get count(): number {
    return this.charts.size;
  }

  open(name: string, unit: string, labels: string[]): void {
    if (this.charts.has(name)) return;
    const chart = new Chart(unit ? `${name}, ${unit}` : name, labels);
    this.charts.set(name, chart);
    this.host.append(chart.element);
  }

  close(name: string): void {
    const chart = this.charts.get(name);
    chart?.repaint(); // uPlot listens to the window until it is told not to
    chart?.element.remove();
    this.charts.delete(name);
  }

  add(name: string, time: number, values: number[]): void {
    this.charts.get(name)?.add(time, values);
  }

  /** Times that nothing is known of. */
  gaps(name: string): number {
    return this.charts.get(name)?.gaps ?? 0;
  }

  draw(): void {
    for (const chart of this.charts.values()) chart.draw();
  }

  repaint(): void {
    for (const chart of this.charts.values()) chart.repaint();
  }
}
