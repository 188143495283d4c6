// Strip charts of chosen signals.
import uPlot from "uplot";
import { color } from "./theme";

const SECONDS = 30;
const PALETTE = ["accent", "good", "warn", "bad", "fault", "unknown"];

function short(value: number): string {
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e5) ? value.toExponential(1) : String(Number(value.toPrecision(6)));
}

class Chart {
  private data: number[][];
  private plot?: uPlot;
  readonly element = Object.assign(document.createElement("div"), { className: "chart" });

  constructor(private name: string, private labels: string[]) {
    this.data = [[], ...labels.map(() => [])];
  }

  add(time: number, values: number[]): void {
    const times = this.data[0]!;
    const last = times[times.length - 1];
    if (last !== undefined && time < last) this.data.forEach((column) => (column.length = 0));
    if (last !== undefined && time >= last && time - last < 0.02) return; // 50 points a second are enough
    times.push(time);
    values.forEach((value, i) => this.data[i + 1]?.push(value));
    const old = times.findIndex((t) => t > time - SECONDS);
    if (old > 200) this.data.forEach((column) => column.splice(0, old));
  }

  draw(): void {
    const width = this.element.clientWidth;
    const height = (this.element.parentElement?.clientHeight ?? 200) - 16;
    this.plot ??= this.make(width, height);
    if (this.plot.width !== width || this.plot.height !== height) this.plot.setSize({ width, height });
    this.plot.setData(this.data as uPlot.AlignedData);
  }

  repaint(): void {
    this.plot?.destroy();
    this.plot = undefined;
  }

  private make(width: number, height: number): uPlot {
    const axis: uPlot.Axis = { stroke: color("quiet"), grid: { stroke: color("line"), width: 1 }, ticks: { stroke: color("line") } };
    return new uPlot(
      {
        title: this.name,
        width,
        height,
        scales: { x: { time: false } },
        axes: [axis, { ...axis, size: 72, values: (_, ticks) => ticks.map(short) }],
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

  has(name: string): boolean {
    return this.charts.has(name);
  }

  open(name: string, labels: string[]): void {
    if (this.charts.has(name)) return;
    const chart = new Chart(name, labels);
    this.charts.set(name, chart);
    this.host.append(chart.element);
  }

  close(name: string): void {
    this.charts.get(name)?.element.remove();
    this.charts.delete(name);
  }

  add(name: string, time: number, values: number[]): void {
    this.charts.get(name)?.add(time, values);
  }

  draw(): void {
    for (const chart of this.charts.values()) chart.draw();
  }

  repaint(): void {
    for (const chart of this.charts.values()) chart.repaint();
  }
}
