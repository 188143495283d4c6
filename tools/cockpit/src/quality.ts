// How good the connection is: messages a second, the round trip, what was lost on the way.
import { write } from "./dom";

export class Quality {
  private arrived = 0;
  private rate = 0;
  private trip = NaN;
  private lost = 0;

  constructor(private host: HTMLElement) {}

  clear(): void {
    this.arrived = this.rate = this.lost = 0;
    this.trip = NaN;
  }

  message(): void {
    this.arrived++;
  }

  roundTrip(ms: number): void {
    this.trip = ms;
  }

  /** The server counts what gave way before a slow viewer. */
  losing(text: string): void {
    this.lost = parseInt(text, 10) || this.lost;
  }

  /** Once a second. */
  second(): void {
    this.rate = this.arrived;
    this.arrived = 0;
    const trip = Number.isFinite(this.trip) ? `${this.trip < 10 ? this.trip.toFixed(1) : this.trip.toFixed(0)} ms there and back` : "";
    const lost = this.lost ? `${this.lost} lost` : "";
    write(this.host, [`${this.rate} messages/s`, trip, lost].filter(Boolean).join(" · "));
    this.host.classList.toggle("bad", this.lost > 0);
  }

  get seen() {
    const { rate, trip, lost } = this;
    return { rate, trip, lost };
  }
}
