// The hands: one picture of all axes and buttons, merged from pads, keys and gamepad, sent on every
// change and often enough that its absence means something.  io/protocol/hand.h has the format.

const MAGIC = 0x444e4148; // "HAND"
const VERSION = 2;
const PICTURE_SIZE = 116;
const AXES_SENT = 24;
const HEARTBEAT_MS = 35; // the run may expect one every 50 ms
const PULSE_MS = 70; // a press lasts for two pictures, so that one may be lost; so does the pause behind it
const ANSWER_MS = 700; // for which an answer is waited for: who is silent for 500 ms is lost, and the arm stops anyway
const TWO = 2; // us: the page's own pictures have even times, those that its worker repeats odd ones

export const AXIS_COUNT = 6; // translation x y z, rotation x y z

/** What one input device holds at the moment. */
export interface Source { axes: number[] }

export interface Picture { axes: number[]; buttons: number; sentUs: number }

/** A picture of this time was repeated by the worker: it is none of the page's, and answers nothing. */
export function isRepeat(sentUs: number): boolean {
  return sentUs % TWO !== 0;
}

/** A button that is down, or that has just come up. */
interface Press {
  isDown: boolean;
  sinceMs: number;
  firstUs?: number; // of the first picture that has it so
  isSeen: boolean; // by the servos
  isSafe: boolean; // down until the arm is safed, however long that takes
  next: number[]; // presses of the same button that wait, by their input
}

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
  private presses = new Map<number, Press>(); // by button
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
    this.presses.clear();
    for (const source of this.sources) source.axes.fill(0);
    if (on) this.emit(this.atRest());
    else this.stop();
  }

  /** SAFE is down, and the arm has not said that it is safed. */
  get isSafing(): boolean {
    return [...this.presses.values()].some(({ isSafe, isDown }) => isSafe && isDown);
  }

  /** A press and its release; false while nobody listens.  After a stall the run drops pictures that are old, so a
   * button stays as it is until the servos have seen it.  A press that comes meanwhile waits. */
  press(button: number, inputMs = performance.now()): boolean {
    if (!this.held) return false;
    const before = this.presses.get(button);
    if (before) before.next.push(inputMs);
    else this.push(button, inputMs, false);
    return true;
  }

  /** As press, but of these buttons the newest is meant: in one picture nobody could tell which came last. */
  choose(button: number, among: (number | undefined)[], inputMs = performance.now()): boolean {
    for (const other of among) if (other !== undefined && other !== button) this.presses.delete(other);
    return this.press(button, inputMs);
  }

  /** Stays down until the arm is safed.  Whatever else waits is not meant any more. */
  safe(button: number, inputMs = performance.now()): boolean {
    if (!this.held) return false;
    if (this.isSafing) return true;
    this.presses.clear();
    this.push(button, inputMs, true);
    return true;
  }

  /** The servos have seen the picture of this time. */
  heard(boardUs: number, isSafed: boolean): void {
    const isOurs = !isRepeat(boardUs) && boardUs <= (this.last?.sentUs ?? 0); // and not of who flew before
    for (const press of this.presses.values())
      if (isOurs && press.firstUs !== undefined && boardUs >= press.firstUs) press.isSeen = !press.isDown || !press.isSafe || isSafed;
  }

  /** A source has changed. */
  changed(inputMs: number): void {
    const picture = this.now();
    if (this.held && !this.isSame(picture)) this.emit(picture, inputMs);
  }

  /** Hands off, whatever the sources say.  What was pressed was meant. */
  rest(): void {
    for (const source of this.sources) source.axes.fill(0);
    if (this.held) this.emit(this.now());
  }

  /** Ends presses, and keeps the picture fresh. */
  tick(): void {
    const now = performance.now();
    for (const [button, press] of this.presses) if (this.isOver(press, now)) this.goOn(button, press);
    if (!this.held) return;
    const picture = this.now();
    if (!this.isSame(picture) || now - this.lastMs >= HEARTBEAT_MS) this.emit(picture);
  }

  private push(button: number, inputMs: number, isSafe: boolean, next: number[] = []): void {
    this.presses.set(button, { isDown: true, sinceMs: performance.now(), isSeen: false, isSafe, next });
    this.emit(this.now(), inputMs);
  }

  private isOver({ isDown, isSafe, isSeen, sinceMs }: Press, now: number): boolean {
    return now - sinceMs >= PULSE_MS && (isSeen || (now - sinceMs >= ANSWER_MS && !(isSafe && isDown)));
  }

  /** Down, then up, then the next. */
  private goOn(button: number, press: Press): void {
    this.presses.delete(button);
    const [inputMs, ...next] = press.next;
    if (press.isDown) this.presses.set(button, { ...press, isDown: false, sinceMs: performance.now(), firstUs: undefined, isSeen: false });
    else if (inputMs !== undefined) this.push(button, inputMs, false, next);
  }

  private now(): Picture {
    const picture = this.atRest();
    for (const source of this.sources) source.axes.forEach((value, i) => (picture.axes[i]! += value));
    picture.axes = picture.axes.map((value) => Math.max(-1, Math.min(1, value)));
    for (const [button, { isDown }] of this.presses) if (isDown) picture.buttons |= 1 << button;
    picture.buttons >>>= 0;
    return picture;
  }

  private atRest(): Picture {
    const sentUs = TWO * Math.round(((performance.timeOrigin + performance.now()) * 1000) / TWO);
    return { axes: Array<number>(AXIS_COUNT).fill(0), buttons: 0, sentUs };
  }

  private isSame(picture: Picture): boolean {
    return this.last?.buttons === picture.buttons && picture.axes.every((value, i) => value === this.last?.axes[i]);
  }

  private emit(picture: Picture, inputMs?: number): void {
    picture.sentUs = Math.max(picture.sentUs, (this.last?.sentUs ?? 0) + TWO); // so each has its own
    for (const press of this.presses.values()) press.firstUs ??= picture.sentUs;
    this.last = picture;
    this.lastMs = performance.now();
    this.send(picture, inputMs);
  }
}
