// SAFE, from when it is asked for until the arm says that it is so.
import { write } from "./dom";

const LATE_MS = 500; // after which who pressed it is told that nothing has come of it

export class Safe {
  private askedMs?: number; // and not confirmed since

  constructor(private note: HTMLElement) {
    this.draw();
  }

  asked(): void {
    this.askedMs ??= performance.now();
  }

  confirmed(): void {
    this.askedMs = undefined;
    this.draw();
  }

  draw(): void {
    const isLate = this.askedMs !== undefined && performance.now() - this.askedMs > LATE_MS;
    this.note.hidden = !isLate;
    write(this.note, isLate ? "SAFE not confirmed" : "");
  }
}
