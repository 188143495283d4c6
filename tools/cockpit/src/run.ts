// What a run may be asked: pause, step, reset, checkpoints, faults and parameters; and how it goes.
import type { Parameter } from "@foxglove/ws-protocol";
import type { Answer } from "./connection";
import { button, byId, light, make, write } from "./dom";
import type { Events } from "./events";
import { numbers } from "./read";

const CHECKPOINT = "cockpit.checkpoint"; // where the run was started
const STILL_MS = 1500; // for which simulated time may stand without a word about it
const SILENT_MS = 5000; // for which nothing at all may be heard
const VERDICT_MAX = 48; // characters that the pill has room for
const SURE_MS = 3000; // for which a second click means it
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

/** What the run says of it, and what is typed until it is said to the run. */
interface Value { input: HTMLInputElement; told: string; isTyped: boolean }

export class Run {
  private isConnected = false;
  private isOperator = true;
  private paused?: boolean; // undefined: the run does not tell
  private verdict?: { text: string; kind: Kind }; // of a run that is over
  private movedMs = 0;
  private heardMs = 0;
  private acts = new Map<string, HTMLButtonElement>();
  private unsure?: number; // timer of the first click
  private faults: HTMLButtonElement[] = [];
  private values = new Map<string, Value>();

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

  /** A message of /desk: how it stands, whoever asked for it, also when this page was not there yet. */
  told(message: Record<string, unknown>): void {
    this.paused = message["paused"] === true;
    const on = numbers(message["faults"]);
    this.faults.forEach((button, i) => light(button, on[i] === 1));
    this.draw();
  }

  /** The run is over, and this is how it came out: "verdict: ok, time not kept". */
  judged(text: string, isOk: boolean): void {
    const said = text.replace(/^verdict: /, "");
    this.verdict = { text: said, kind: !isOk ? "bad" : said === "ok" ? "good" : "warn" };
    this.draw();
  }

  /** Undefined: nobody says. */
  get isPaused(): boolean | undefined {
    return this.paused;
  }

  draw(): void {
    const [words, kind, title] = this.state();
    const pill = byId("state");
    write(pill, words);
    pill.className = `pill ${kind}`;
    pill.title = title;
    const pause = this.acts.get("pause");
    if (pause) light(pause, this.paused === true);
    this.allowPause();
  }

  /** What is so already is not asked for. */
  private allowPause(): void {
    const isOff = !this.isConnected || !this.isOperator;
    for (const [name, state] of [["pause", true], ["resume", false]] as const) {
      const act = this.acts.get(name);
      if (act) act.disabled = isOff || this.paused === state;
    }
  }

  private state(): [string, Kind, string] {
    const now = performance.now();
    if (this.verdict) {
      const { text, kind } = this.verdict;
      return [text.length > VERDICT_MAX ? `${text.slice(0, VERDICT_MAX)}…` : text, kind, `the run is over: ${text}`];
    }
    if (!this.isConnected) return ["no run", "bad", "it has ended, or it cannot be reached"];
    if (now - this.heardMs > SILENT_MS) return ["no answer", "bad", "the connection stands, but nothing comes"];
    if (this.paused) return ["paused", "warn", "simulated time is held"];
    if (this.isStill) return ["waiting", "warn", "simulated time stands: the run is paused, or waits for its board"];
    return ["running", "good", "simulated time goes on"];
  }

  private get isStill(): boolean {
    return performance.now() - this.movedMs > STILL_MS;
  }

  /* ---- what it is asked -------------------------------------------------------------------------- */

  async ask(name: string, request: object = {}): Promise<boolean> {
    const answer = await this.desk.call(`/${name}`, request);
    if (!answer.done) this.events.add("error", `${name}: ${answer.text}`);
    else if ("path" in request) this.events.add("info", `${name}: ${String(request.path)}`);
    return answer.done;
  }

  /** By what was told where it was, and not by time that seems to stand: on a busy machine it does. */
  flipPause(): Promise<boolean> {
    return this.ask(this.paused ?? this.isStill ? "resume" : "pause");
  }

  step(): Promise<boolean> {
    return this.ask("step", { frames: 1 });
  }

  begin(isOperator: boolean): void {
    this.isOperator = isOperator;
    this.paused = undefined;
    this.verdict = undefined;
    this.values.clear();
    byId("parameters").replaceChildren();
    byId("tuning").hidden = true;
  }

  showActs(services: string[]): void {
    const known = ACTS.filter(([name]) => services.includes(`/${name}`));
    this.acts = new Map(known.map(([name, text, title, request]) => [name, button(text, title, () => this.act(name, request))]));
    byId("acts").replaceChildren(...this.acts.values());
    this.doubt(false);
    this.allow();
  }

  private act(name: string, request: object): void {
    if (name !== "reset" || this.unsure !== undefined) void this.ask(name, request);
    if (name === "reset") this.doubt(this.unsure === undefined);
  }

  /** What throws the flight away takes two clicks. */
  private doubt(on: boolean): void {
    clearTimeout(this.unsure);
    this.unsure = on ? window.setTimeout(() => this.doubt(false), SURE_MS) : undefined;
    const reset = this.acts.get("reset");
    if (!reset) return;
    write(reset, on ? "Reset?" : "Reset");
    reset.classList.toggle("sure", on);
  }

  /** One button each; it is lit while the fault is on.  A run that does not tell of its desk is believed to do as it
   * was asked. */
  showFaults(names: string[]): void {
    byId("trouble").hidden = names.length === 0;
    this.faults = names.map((name, i) => {
      const made = button(name, "begin or end this fault", async () => {
        const active = !made.classList.contains("on");
        if ((await this.ask("fault", { name: String(i), active })) && this.paused === undefined) light(made, active);
      });
      light(made, false);
      return made;
    });
    byId("faults").replaceChildren(...this.faults);
    this.allow();
  }

  /** Those that came; others stay as they are. */
  showParameters(values: Parameter[]): void {
    for (const { name, value } of values) {
      const shown = this.values.get(name) ?? this.addParameter(name);
      shown.told = typeof value === "number" ? String(Number(value.toPrecision(6))) : "";
      if (!shown.isTyped) shown.input.value = shown.told;
    }
    byId("tuning").hidden = this.values.size === 0;
    this.allow();
  }

  /** What the run answers is shown: a value that it refuses does not stay.  Nor does one that nobody sent. */
  private addParameter(name: string): Value {
    const input = make("input", { id: `p-${name}`, type: "number", step: "any" });
    const shown: Value = { input, told: "", isTyped: false };
    const back = () => {
      shown.isTyped = false;
      input.value = shown.told;
    };
    input.addEventListener("input", () => (shown.isTyped = true));
    input.addEventListener("change", () => {
      if (!Number.isFinite(input.valueAsNumber)) return back();
      shown.isTyped = false;
      this.desk.set(name, input.valueAsNumber);
    });
    input.addEventListener("blur", back);
    byId("parameters").append(make("label", { textContent: name, htmlFor: input.id }), input);
    this.values.set(name, shown);
    return shown;
  }

  /** Who may only watch, or whose run is gone, finds nothing to press. */
  private allow(): void {
    const isOff = !this.isConnected || !this.isOperator;
    const inputs = [...this.values.values()].map(({ input }) => input);
    for (const each of [...this.acts.values(), ...this.faults, ...inputs]) each.disabled = isOff;
    this.allowPause();
    for (const id of ["acts", "trouble", "tuning"]) byId(id).title = this.isOperator ? "" : WATCHING;
  }
}
