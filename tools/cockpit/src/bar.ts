// A named number with a bar: from the middle where it may be negative, from the left where not.
import { signed } from "./angles";
import { make, write } from "./dom";

export class Bar {
  readonly element: HTMLElement;
  private value = make("span");
  private fill = make("i");
  private track: HTMLElement;

  constructor(name: string, private unit: string, private isSigned: boolean) {
    this.track = make("span", { className: isSigned ? "track signed" : "track" }, this.fill);
    this.element = make("div", { className: "bar" }, make("span", { className: "name", textContent: name, title: name }), this.track, make("b", {}, this.value, make("small", { textContent: ` ${unit}` })));
  }

  show(value: number, most: number, digits = 2): void {
    const part = Math.max(-1, Math.min(1, most > 0 ? value / most : 0));
    write(this.value, signed(value, digits));
    this.fill.style.left = this.isSigned ? `${50 + 50 * Math.min(0, part)}%` : "0";
    this.fill.style.width = `${Math.abs(part) * (this.isSigned ? 50 : 100)}%`;
    this.fill.classList.toggle("full", Math.abs(part) > 0.98);
    this.track.title = `full: ${Number(most.toPrecision(1))} ${this.unit}`;
  }
}

const FADE = 0.999; // at 15 Hz a peak counts half after 46 s

/** A round number above all that were seen lately: 1, 2 or 5 times a power of ten. */
export class Scale {
  private most = 0;

  constructor(private least: number) {}

  take(value: number): number {
    this.most = Math.max(FADE * this.most, Math.abs(value));
    const size = 10 ** Math.floor(Math.log10(Math.max(this.least, this.most)));
    const wanted = Math.max(this.least, this.most) / size;
    return size * (wanted <= 1 ? 1 : wanted <= 2 ? 2 : wanted <= 5 ? 5 : 10);
  }
}
