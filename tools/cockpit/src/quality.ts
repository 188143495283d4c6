// How good the connection is: messages a second, the round trip, what was lost on the way.
import { write } from "./dom";

const RECENT_MS = 10000; // for which a loss is news

export class Quality {
  private arrived = 0;
  private rate = 0;
  private trip = NaN;
  private lost = 0;
  private skipped = 0;
  private lossMs = -Infinity;

  constructor(private host: HTMLElement) {}

  /** There is no connection, or another. */
  clear(): void {
    this.arrived = this.rate = this.lost = this.skipped = 0;
    this.trip = NaN;
    this.lossMs = -Infinity;
    write(this.host, "");
    this.host.classList.remove("bad");
  }

  message(): void {
    this.arrived++;
  }

  roundTrip(ms: number): void {
    this.trip = ms;
  }

  /** The server counts what gave way before a slow viewer. */
  losing(text: string): void {
    const lost = parseInt(text, 10) || this.lost;
    if (lost > this.lost) this.lossMs = performance.now();
    this.lost = lost;
  }

  /** So many messages gave way to newer ones, since this page is slow. */
  skipping(count: number): void {
    this.skipped += count;
    this.lossMs = performance.now();
  }

  /** Once a second, while there is a connection. */
  second(): void {
    this.rate = this.arrived;
    this.arrived = 0;
    const trip = Number.isFinite(this.trip) ? `${this.trip < 10 ? this.trip.toFixed(1) : this.trip.toFixed(0)} ms there and back` : "";
    const lost = this.lost ? `${this.lost} lost` : "";
    const skipped = this.skipped ? `${this.skipped} skipped` : "";
    write(this.host, [`${this.rate} messages/s`, trip, lost, skipped].filter(Boolean).join(" · "));
    this.host.classList.toggle("bad", performance.now() - this.lossMs < RECENT_MS);
  }

  get seen() {
    const { rate, trip, lost, skipped } = this;
    return { rate, trip, lost, skipped };
  }
}
