// On-screen hand controllers: a pad for two axes, a slider for one.  They spring back when let go.
import { make } from "./dom";
import type { Hand, Source } from "./hand";

const ARROWS: Record<string, [number, number]> = {
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
};

export interface PadAxis { index: number; name: string }

/** Up and right are positive.  Without a horizontal axis it is a slider. */
export class Pad {
  readonly element: HTMLElement;
  private knob = make("i");
  private arrows = new Set<string>();
  private pointer?: number; // that drags it

  constructor(
    private hand: Hand,
    private source: Source,
    name: string,
    private vertical: PadAxis,
    private horizontal?: PadAxis,
  ) {
    this.element = make("div", { className: horizontal ? "pad" : "pad slider", tabIndex: 0 }, this.knob);
    this.element.setAttribute("role", "slider");
    this.element.setAttribute("aria-label", name);
    this.element.setAttribute("aria-valuemin", "-1");
    this.element.setAttribute("aria-valuemax", "1");
    this.element.append(make("b", { className: "up", textContent: `+${vertical.name}` }));
    if (horizontal) this.element.append(make("b", { className: "right", textContent: `+${horizontal.name}` }));
    this.listen();
    this.draw([]);
  }

  /** Shows what is sent, whichever device it comes from. */
  draw(axes: number[]): void {
    const up = axes[this.vertical.index] ?? 0;
    const right = this.horizontal ? (axes[this.horizontal.index] ?? 0) : 0;
    this.knob.style.left = `${50 + 40 * right}%`;
    this.knob.style.top = `${50 - 40 * up}%`;
    const words = [`${this.vertical.name} ${up.toFixed(2)}`];
    if (this.horizontal) words.push(`${this.horizontal.name} ${right.toFixed(2)}`);
    this.element.setAttribute("aria-valuenow", up.toFixed(2));
    this.element.setAttribute("aria-valuetext", words.join(", "));
    this.element.classList.toggle("moved", up !== 0 || right !== 0);
  }

  /** Whoever holds it: who wants it again takes hold again. */
  letGo(): void {
    const { pointer } = this;
    this.pointer = undefined;
    this.arrows.clear();
    if (pointer !== undefined && this.element.hasPointerCapture(pointer)) this.element.releasePointerCapture(pointer);
  }

  private set(right: number, up: number, event: Event): void {
    const clip = (value: number) => Math.max(-1, Math.min(1, value));
    this.source.axes[this.vertical.index] = clip(up);
    if (this.horizontal) this.source.axes[this.horizontal.index] = clip(right);
    this.hand.changed(event.timeStamp);
  }

  private follow(event: PointerEvent): void {
    const box = this.element.getBoundingClientRect();
    const right = (event.clientX - box.left - box.width / 2) / (0.4 * box.width);
    const up = -(event.clientY - box.top - box.height / 2) / (0.4 * box.height);
    this.set(right, up, event);
  }

  private pushed(event: Event): void {
    let right = 0;
    let up = 0;
    for (const key of this.arrows) {
      right += ARROWS[key]![0];
      up += ARROWS[key]![1];
    }
    this.set(right, up, event);
  }

  private listen(): void {
    const { element } = this;
    element.addEventListener("pointerdown", (event) => {
      // Who takes hold before the hand is held would move the arm by taking authority.
      if (event.button !== 0 || this.pointer !== undefined || !this.hand.isHeld) return;
      this.pointer = event.pointerId;
      element.setPointerCapture(event.pointerId);
      this.follow(event);
    });
    element.addEventListener("pointermove", (event) => {
      if (event.pointerId !== this.pointer) return;
      if (event.buttons & 1) return this.follow(event);
      this.letGo(); // it came up where nobody told of it, over a menu for one
      this.set(0, 0, event);
    });
    // A finger that rests on a pad asks for a menu, too.  With none, nothing is missed.
    element.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      event.stopPropagation();
    });
    element.addEventListener("lostpointercapture", (event) => {
      if (event.pointerId !== this.pointer) return;
      this.pointer = undefined;
      this.set(0, 0, event);
    });
    element.addEventListener("keydown", (event) => {
      const isModified = event.ctrlKey || event.metaKey || event.altKey;
      if (isModified && this.arrows.size > 0) { // as for the letters
        this.arrows.clear();
        this.pushed(event);
      }
      if (isModified || !(event.key in ARROWS)) return;
      event.preventDefault();
      if (event.repeat || !this.hand.isHeld) return;
      this.arrows.add(event.key);
      this.pushed(event);
    });
    element.addEventListener("keyup", (event) => {
      if (this.arrows.delete(event.key)) this.pushed(event);
    });
    element.addEventListener("blur", (event) => {
      this.arrows.clear();
      this.pushed(event);
    });
  }
}

/** Two hands: translation on the left, rotation on the right. */
export class Pads {
  private pads: Pad[] = [];

  constructor(left: HTMLElement, right: HTMLElement, hand: Hand) {
    this.add(left, hand, "Translation", ["X", "Y", "Z"], [0, 1, 2]);
    this.add(right, hand, "Rotation", ["pitch", "roll", "yaw"], [4, 3, 5]);
  }

  draw(axes: number[]): void {
    for (const pad of this.pads) pad.draw(axes);
  }

  letGo(): void {
    for (const pad of this.pads) pad.letGo();
  }

  private add(host: HTMLElement, hand: Hand, name: string, names: string[], axes: number[]): void {
    const source = hand.source();
    const [up, right, along] = axes.map((index, i) => ({ index, name: names[i]! })) as [PadAxis, PadAxis, PadAxis];
    const both = [
      new Pad(hand, source, `${name}, ${up.name} and ${right.name}`, up, right),
      new Pad(hand, source, `${name}, ${along.name}`, along),
    ];
    host.append(...both.map((pad) => pad.element));
    this.pads.push(...both);
  }
}
