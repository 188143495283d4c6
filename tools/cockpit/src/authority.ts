// Who may command.  One viewer at a time; others ask.
import { button, make, write } from "./dom";
import { number } from "./read";

export interface Asks { take(): unknown; give(): unknown; ask(): unknown }

export class Authority {
  private viewer = 0;
  private operator = true;
  private known = false; // the run tells who has it
  private holder = 0;
  private asking = 0;
  private viewers = 0;
  private words = make("p", { className: "who" });
  private asked = make("p", { className: "asked", hidden: true });
  private takeButton: HTMLButtonElement;
  private giveButton: HTMLButtonElement;
  private askButton: HTMLButtonElement;

  constructor(private host: HTMLElement, asks: Asks, private changed: () => void) {
    this.takeButton = button("Take", "command this run; others then only watch", asks.take);
    this.giveButton = button("Give", "let go, so that another may take it", asks.give);
    this.askButton = button("Ask", "tell who has it that you would like it", asks.ask);
    this.words.setAttribute("aria-live", "polite");
    this.asked.setAttribute("role", "status");
    const buttons = make("div", { className: "row" }, this.takeButton, this.giveButton, this.askButton);
    host.append(this.words, buttons, this.asked);
    this.draw();
  }

  /** A new server: nobody is known to have it. */
  server(metadata: Record<string, string>): void {
    this.viewer = number(Number(metadata["viewer"]));
    this.operator = metadata["operator"] !== "no";
    this.known = false;
    this.holder = this.asking = this.viewers = 0;
    this.update();
  }

  closed(): void {
    this.known = false;
    this.holder = 0;
    this.update();
  }

  /** A message of /authority. */
  told(message: Record<string, unknown>): void {
    this.known = true;
    this.holder = number(message["holder"]);
    this.asking = number(message["asking"]);
    this.viewers = number(message["viewers"]);
    this.update();
  }

  /** This page flies. */
  get isHeld(): boolean {
    return this.known && this.operator && this.viewer > 0 && this.holder === this.viewer;
  }

  /** And may command, when nobody else does. */
  get isOperator(): boolean {
    return this.operator && this.viewer > 0;
  }

  get seen() {
    const { viewer, operator, holder, asking, viewers, isHeld } = this;
    return { viewer, operator, holder, asking, viewers, isHeld };
  }

  private update(): void {
    this.draw();
    this.changed();
  }

  private draw(): void {
    const { isHeld } = this;
    this.host.hidden = !this.known && this.operator;
    this.host.classList.toggle("held", isHeld);
    this.host.classList.toggle("watching", !this.operator);
    const others = this.viewers > 1 ? `, ${this.viewers} viewers` : "";
    const who = isHeld ? "You have authority" : this.holder ? `Viewer ${this.holder} has authority` : "Nobody has authority";
    write(this.words, who + others);
    this.words.title = this.operator ? `you are viewer ${this.viewer}` : "to command, open the address with operator= that the run printed";
    this.takeButton.disabled = !this.operator || this.holder !== 0;
    this.giveButton.disabled = !isHeld;
    this.askButton.disabled = !this.operator || this.holder === 0 || isHeld;
    this.giveButton.title = "let go, so that another may take it";
    const asks = isHeld && this.asking !== 0 && this.asking !== this.viewer;
    const waits = !isHeld && this.asking !== 0 && this.asking === this.viewer;
    write(this.giveButton, asks ? `Give to viewer ${this.asking}` : "Give");
    if (asks) this.giveButton.title = "let go: who asks for it has it then";
    this.asked.hidden = !asks && !waits && this.operator;
    write(this.asked, asks ? `Viewer ${this.asking} asks for it` : waits ? "You have asked for it" : this.operator ? "" : "You may watch. To command, open the address that the run printed.");
  }
}
