// The hands: one picture of all axes and buttons, merged from pads, keys and gamepad, sent on every
// change and often enough that its absence means something.  io/protocol/hand.h has the format.

const MAGIC = 0x444e4148; // "HAND"
const VERSION = 2;
const PICTURE_SIZE = 116;
const AXES_SENT = 24;
const HEARTBEAT_MS = 35; // the run may expect one every 50 ms
const PULSE_MS = 70; // a press lasts for two pictures, so that one may be lost

export const AXIS_COUNT = 6; // translation x y z, rotation x y z

/** What one input device holds at the moment. */
export interface Source { axes: number[] }

export interface Picture { axes: number[]; buttons: number; sentUs: number }

export function encode(picture: Picture): Uint8Array {
  const bytes = new Uint8Array(PICTURE_SIZE);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, VERSION, true);
  view.setUint32(8, picture.buttons >>> 0, true);
  picture.axes.forEach((value, i) => view.setFloat32(12 + 4 * i, value, true));
  view.setBigUint64(12 + 4 * AXES_SENT, BigInt(picture.sentUs), true);
  return bytes;
}

export class Hand {
  private sources: Source[] = [];
  private pulses = new Map<number, number>(); // button, until when it is down
  private last?: Picture;
  private lastMs = 0;
  private held = false;
  private holds = 0;

  /** `send` gets each picture, and when the input that changed it came; none for a heartbeat.  `stop`
   * is called when no more come. */
  constructor(
    private send: (picture: Picture, inputMs?: number) => void,
    private stop: () => void,
  ) {}

  source(): Source {
    const made = { axes: Array<number>(AXIS_COUNT).fill(0) };
    this.sources.push(made);
    return made;
  }

  get newest(): Picture | undefined {
    return this.last;
  }

  get isHeld(): boolean {
    return this.held;
  }

  /** Which time it is that the hand is held; 0: it is not. */
  get holding(): number {
    return this.held ? this.holds : 0;
  }

  /** Pictures leave only while held.  The first is at rest: what is down by then is no press. */
  hold(on: boolean): void {
    if (on === this.held) return;
    this.held = on;
    this.holds += on ? 1 : 0;
    this.last = undefined;
    this.pulses.clear();
    for (const source of this.sources) source.axes.fill(0);
    if (on) this.emit(this.atRest());
    else this.stop();
  }

  /** A press and its release; false while nobody listens. */
  press(button: number, inputMs = performance.now()): boolean {
    if (!this.held) return false;
    if (this.pulses.delete(button)) this.emit(this.now(), inputMs); // up first, so that each press is one
    this.pulses.set(button, performance.now() + PULSE_MS);
    this.emit(this.now(), inputMs);
    return true;
  }

  /** A source has changed. */
  changed(inputMs: number): void {
    const picture = this.now();
    if (this.held && !this.isSame(picture)) this.emit(picture, inputMs);
  }

  /** Hands off, whatever the sources say. */
  rest(): void {
    for (const source of this.sources) source.axes.fill(0);
    this.pulses.clear();
    if (this.held) this.emit(this.atRest());
  }

  /** Ends presses, and keeps the picture fresh. */
  tick(): void {
    const now = performance.now();
    for (const [button, until] of this.pulses) if (now >= until) this.pulses.delete(button);
    if (!this.held) return;
    const picture = this.now();
    if (!this.isSame(picture) || now - this.lastMs >= HEARTBEAT_MS) this.emit(picture);
  }

  private now(): Picture {
    const picture = this.atRest();
    for (const source of this.sources) source.axes.forEach((value, i) => (picture.axes[i]! += value));
    picture.axes = picture.axes.map((value) => Math.max(-1, Math.min(1, value)));
    for (const button of this.pulses.keys()) picture.buttons |= 1 << button;
    picture.buttons >>>= 0;
    return picture;
  }

  private atRest(): Picture {
    const sentUs = Math.round((performance.timeOrigin + performance.now()) * 1000);
    return { axes: Array<number>(AXIS_COUNT).fill(0), buttons: 0, sentUs };
  }

  private isSame(picture: Picture): boolean {
    return this.last?.buttons === picture.buttons && picture.axes.every((value, i) => value === this.last?.axes[i]);
  }

  private emit(picture: Picture, inputMs?: number): void {
    picture.sentUs = Math.max(picture.sentUs, (this.last?.sentUs ?? 0) + 1); // so each has its own
    this.last = picture;
    this.lastMs = performance.now();
    this.send(picture, inputMs);
  }
}
