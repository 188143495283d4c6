// What a run may be asked: pause, step, reset, checkpoints, faults and parameters; and how it goes.
import type { Parameter } from "@foxglove/ws-protocol";
import type { Answer } from "./connection";
import { button, byId, light, make, write } from "./dom";
import type { Events } from "./events";

const CHECKPOINT = "cockpit.checkpoint"; // where the run was started
const STILL_MS = 1500; // for which simulated time may stand without a word about it
const SILENT_MS = 5000; // for which nothing at all may be heard
const WATCHING = "to command, open the address with operator= that the run printed";

const ACTS: [string, string, string, object][] = [
  ["pause", "Pause", "hold the simulated time (space)", {}],
  ["resume", "Resume", "go on (space)", {}],
  ["step", "Step", "one frame (.)", { frames: 1 }],
  ["reset", "Reset", "the vehicle back at its start", {}],
  ["checkpoint", "Checkpoint", "keep the state in a file", { path: CHECKPOINT }],
  ["restore", "Restore", "back to the last checkpoint", { path: CHECKPOINT }],
];

export interface Desk {
  call(service: string, request: object): Promise<Answer>;
  set(parameter: string, value: number): void;
}

type Kind = "good" | "warn" | "bad";

export class Run {
  private isConnected = false;
  private isOperator = true;
  private paused = false;
  private movedMs = 0;
  private heardMs = 0;
  private acts = new Map<string, HTMLButtonElement>();
  private faults: { name: string; button: HTMLButtonElement }[] = [];
  private values = new Map<string, HTMLInputElement>();

  constructor(private desk: Desk, private events: Events) {}

  /* ---- how it goes ----------------------------------------------------------------------------- */

  connected(): void {
    this.isConnected = true;
    this.movedMs = this.heardMs = performance.now();
  }

  closed(): void {
    this.isConnected = false;
    this.allow();
  }

  /** Something came. */
  heard(): void {
    this.heardMs = performance.now();
  }

  /** Simulated time went on. */
  moved(): void {
    this.movedMs = performance.now();
  }

  /** The run tells everybody what it did, whoever asked for it. */
  told(text: string): void {
    if (/^paused before frame|, then a pause/.test(text)) this.paused = true;
    if (/^goes on with frame/.test(text)) this.paused = false;
    const isReset = /^as at the start/.test(text);
    for (const { name, button } of this.faults) {
      if (this.faults.filter((other) => other.name === name).length > 1) continue; // which of them?
      if (text.startsWith(`${name}: begins `) || text === `fault begins: ${name}`) light(button, true);
      if (text.startsWith(`${name}: ends `) || text === `fault ends: ${name}` || isReset) light(button, false);
    }
  }

  draw(): void {
    const [words, kind, title] = this.state();
    const pill = byId("state");
    write(pill, words);
    pill.className = `pill ${kind}`;
    pill.title = title;
    const pause = this.acts.get("pause");
    if (pause) light(pause, this.paused);
  }

  private state(): [string, Kind, string] {
    const now = performance.now();
    if (!this.isConnected) return ["no run", "bad", "it has ended, or it cannot be reached"];
    if (now - this.heardMs > SILENT_MS) return ["no answer", "bad", "the connection stands, but nothing comes"];
    if (this.paused) return ["paused", "warn", "simulated time is held"];
    if (now - this.movedMs > STILL_MS) return ["waiting", "warn", "simulated time stands: the run is paused, or waits for its board"];
    return ["running", "good", "simulated time goes on"];
  }

  /* ---- what it is asked -------------------------------------------------------------------------- */

  async ask(name: string, request: object = {}): Promise<boolean> {
    const answer = await this.desk.call(`/${name}`, request);
    if (!answer.done) this.events.add("error", `${name}: ${answer.text}`);
    return answer.done;
  }

  /** By what was told, and not by time that seems to stand: on a busy machine it does. */
  flipPause(): Promise<boolean> {
    return this.ask(this.paused ? "resume" : "pause");
  }

  step(): Promise<boolean> {
    return this.ask("step", { frames: 1 });
  }

  begin(isOperator: boolean): void {
    this.isOperator = isOperator;
    this.paused = false;
    this.values.clear();
    byId("parameters").replaceChildren();
    byId("tuning").hidden = true;
  }

  showActs(services: string[]): void {
    const known = ACTS.filter(([name]) => services.includes(`/${name}`));
    this.acts = new Map(known.map(([name, text, title, request]) => [name, button(text, title, () => void this.ask(name, request))]));
    byId("acts").replaceChildren(...this.acts.values());
    this.allow();
  }

  /** One button each; it is lit while the fault is on. */
  showFaults(names: string[]): void {
    byId("trouble").hidden = names.length === 0;
    this.faults = names.map((name, i) => {
      const made = button(name, "begin or end this fault", async () => {
        const active = !made.classList.contains("on");
        if (await this.ask("fault", { name: String(i), active })) light(made, active);
      });
      light(made, false);
      return { name, button: made };
    });
    byId("faults").replaceChildren(...this.faults.map((fault) => fault.button));
    this.allow();
  }

  /** Those that came; others stay as they are. */
  showParameters(values: Parameter[]): void {
    for (const { name, value } of values) {
      const input = this.values.get(name) ?? this.addParameter(name);
      if (document.activeElement !== input) input.value = typeof value === "number" ? String(Number(value.toPrecision(6))) : "";
    }
    byId("tuning").hidden = this.values.size === 0;
    this.allow();
  }

  private addParameter(name: string): HTMLInputElement {
    const input = make("input", { id: `p-${name}`, type: "number", step: "any" });
    input.addEventListener("change", () => {
      if (Number.isFinite(input.valueAsNumber)) this.desk.set(name, input.valueAsNumber);
    });
    byId("parameters").append(make("label", { textContent: name, htmlFor: input.id }), input);
    this.values.set(name, input);
    return input;
  }

  /** Who may only watch, or whose run is gone, finds nothing to press. */
  private allow(): void {
    const isOff = !this.isConnected || !this.isOperator;
    for (const each of [...this.acts.values(), ...this.faults.map((fault) => fault.button), ...this.values.values()]) each.disabled = isOff;
    for (const id of ["acts", "trouble", "tuning"]) byId(id).title = this.isOperator ? "" : WATCHING;
  }
}
