// The keyboard: letters fly while they are down, others act once.
import type { Hand, Source } from "./hand";

/** Key to axis and sign, by where it is on the board and not by what is printed on it. */
const FLY: Record<string, [number, number]> = {
  KeyW: [0, 1], KeyS: [0, -1], KeyD: [1, 1], KeyA: [1, -1], KeyR: [2, 1], KeyF: [2, -1],
  KeyL: [3, 1], KeyJ: [3, -1], KeyI: [4, 1], KeyK: [4, -1], KeyO: [5, 1], KeyU: [5, -1],
};
const FINE = 0.25; // with shift

export type Act = (event: KeyboardEvent) => unknown;

function isText(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !["checkbox", "range", "button"].includes(target.type);
  return target instanceof HTMLTextAreaElement;
}

/** Space and Enter belong to what has the focus; a slider has no use for them. */
function isPressable(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return target.type !== "range";
  return target instanceof HTMLButtonElement || target instanceof HTMLSelectElement;
}

export class Keys {
  private source: Source;
  private down = new Set<string>();

  constructor(private hand: Hand, private acts: Record<string, Act>) {
    this.source = hand.source();
    document.addEventListener("keydown", (event) => this.press(event));
    document.addEventListener("keyup", (event) => this.release(event));
  }

  /** The browser tells nothing of keys that come up elsewhere. */
  forget(): void {
    this.down.clear();
  }

  private press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return this.drop(event);
    if (event.code !== "Escape" && isText(event.target)) return;
    if (event.code === "Space" && isPressable(event.target)) return;
    const act = this.acts[event.code] ?? this.acts[event.key];
    if (event.code in FLY && this.hand.isHeld) {
      // A key that was down before the page had authority, or the focus, must be pressed anew.
      if (!event.repeat) this.down.add(event.code);
      this.fly(event);
    } else if (!act) {
      return;
    } else if (!event.repeat) {
      act(event);
    }
    event.preventDefault();
  }

  /** With the command key down a Mac tells of no key that comes up. */
  private drop(event: KeyboardEvent): void {
    if (this.down.size === 0) return;
    this.forget();
    this.fly(event);
  }

  private release(event: KeyboardEvent): void {
    this.down.delete(event.code);
    this.fly(event);
  }

  private fly(event: KeyboardEvent): void {
    const size = event.shiftKey ? FINE : 1;
    const axes = this.source.axes.fill(0);
    for (const code of this.down) {
      const [axis, sign] = FLY[code]!;
      axes[axis]! += sign * size;
    }
    this.hand.changed(event.timeStamp);
  }
}
