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
  private up = new Set<number>(); // buttons that were seen up: only those can be pressed
  private name = "";
  private pad?: string; // which one it was
  private home = 0; // the holding of the hand in which the sticks were let go: who takes over does not move at once

  constructor(private hand: Hand, private presses: Presses) {
    this.source = hand.source();
  }

  /** Empty: there is none. */
  get connected(): string {
    return this.name;
  }

  /** It does not fly before its sticks are let go. */
  get waits(): boolean {
    return this.pad !== undefined && this.hand.isHeld && this.home !== this.hand.holding;
  }

  /** What is deflected or down by now must come back first.  A press that wakes a gamepad is no command. */
  letGo(): void {
    this.source.axes.fill(0);
    this.up.clear();
    this.home = 0;
  }

  /** Asked often: browsers tell of no change. */
  poll(): void {
    const pads = Array.from(navigator.getGamepads?.() ?? []).filter((each) => each?.connected);
    const pad = pads.find((each) => each?.mapping === "standard");
    this.name = pad?.id ?? (pads[0] ? `${pads[0].id}, whose mapping is not the standard one` : "");
    const which = pad && document.hasFocus() ? `${pad.index} ${pad.id}` : undefined;
    if (which !== this.pad) this.letGo();
    this.pad = which;
    if (pad && which !== undefined) this.read(pad);
    this.hand.changed(pad?.timestamp || performance.now());
  }

  private read(pad: Gamepad): void {
    const axis = (i: number) => shape(pad.axes[i] ?? 0);
    const lever = (i: number) => shape(pad.buttons[i]?.value ?? 0);
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
      if (!pad.buttons[i]?.pressed) this.up.add(i);
      else if (this.up.delete(i)) press();
    }
  }
}
