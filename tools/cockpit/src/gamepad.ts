// A gamepad of the browser's standard mapping: sticks, triggers and bumpers are the six axes.
import type { Hand, Source } from "./hand";

const DEAD_BAND = 0.12;

/** Standard button: what it presses. */
export type Presses = Record<number, () => void>;

function shape(value: number): number {
  const size = Math.abs(value);
  return size < DEAD_BAND ? 0 : (Math.sign(value) * (Math.min(1, size) - DEAD_BAND)) / (1 - DEAD_BAND);
}

export class Gamepads {
  private source: Source;
  private down = new Set<number>();
  private name = "";
  private home = 0; // the holding of the hand in which the sticks were let go: who takes over does not move at once

  constructor(private hand: Hand, private presses: Presses) {
    this.source = hand.source();
  }

  /** Empty: there is none. */
  get connected(): string {
    return this.name;
  }

  /** Asked often: browsers tell of no change. */
  poll(): void {
    const pads = Array.from(navigator.getGamepads?.() ?? []).filter((each) => each?.connected);
    const pad = pads.find((each) => each?.mapping === "standard");
    this.name = pad?.id ?? (pads[0] ? `${pads[0].id}, whose mapping is not the standard one` : "");
    if (!pad || !document.hasFocus()) {
      this.source.axes.fill(0);
      this.down.clear();
      this.home = 0;
    } else {
      this.read(pad);
    }
    this.hand.changed(pad?.timestamp || performance.now());
  }

  private read(pad: Gamepad): void {
    const axis = (i: number) => shape(pad.axes[i] ?? 0);
    const lever = (i: number) => pad.buttons[i]?.value ?? 0;
    const x = -axis(1);
    const y = axis(0);
    const z = lever(7) - lever(6);
    const roll = axis(2);
    const pitch = -axis(3);
    const yaw = lever(5) - lever(4);
    const axes = [x, y, z, roll, pitch, yaw].map((value) => value + 0); // no minus zero
    if (axes.every((value) => value === 0)) this.home = this.hand.holding;
    this.source.axes = this.home !== 0 && this.home === this.hand.holding ? axes : axes.map(() => 0);
    for (const [index, press] of Object.entries(this.presses)) {
      const i = Number(index);
      const isDown = pad.buttons[i]?.pressed ?? false;
      if (isDown && !this.down.has(i)) press();
      if (isDown) this.down.add(i);
      else this.down.delete(i);
    }
  }
}
