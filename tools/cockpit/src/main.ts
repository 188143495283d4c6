// The cockpit: what the run publishes on the left, what it may be asked on top and on the right.
import { Charts } from "./charts";
import { Connection, type Listener, type Message } from "./connection";
import { CAMERAS, Scene, type FrameTransforms, type SceneUpdate } from "./scene";
import { Signals } from "./signals";
import { setTheme, startTheme } from "./theme";
import { Timing, type Live } from "./timing";

function byId<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

function button(text: string, title: string, press: () => unknown): HTMLButtonElement {
  const made = Object.assign(document.createElement("button"), { textContent: text, title });
  made.addEventListener("click", press);
  return made;
}

const scene = new Scene(byId<HTMLCanvasElement>("scene"));
const timing = new Timing(byId<HTMLCanvasElement>("strip"), byId("figures"), byId("causes"));
const charts = new Charts(byId("charts"));
const signals = new Signals(byId("signals"), charts);
let theme = startTheme();
let simulated = 0;
let arrived = 0;
let charted = false;
let paused = false;
const PARTS = ["wire_in", "grid_wait", "step", "hold", "wire_out"]; // of the loop, in order

/* ---- what came ---------------------------------------------------------------------------- */

function note(level: "info" | "warning" | "error", text: string): void {
  const item = document.createElement("li");
  const time = Object.assign(document.createElement("time"), { textContent: `${simulated.toFixed(2)} s` });
  const words = Object.assign(document.createElement("span"), { textContent: text, className: level });
  item.append(time, words);
  const list = byId("log");
  list.prepend(item);
  while (list.childElementCount > 200) list.lastElementChild?.remove();
}

function state(text: string, kind: "good" | "warn" | "bad"): void {
  const pill = byId("state");
  pill.textContent = text;
  pill.className = `pill ${kind}`;
}

function showLoop(message: Message): void {
  const parts = PARTS.map((name) => [name.replace("_", " "), Number(message[`${name}_ns`])] as const);
  const rows = [...parts, ["command to sensor", parts.reduce((sum, [, ns]) => sum + ns, 0)] as const];
  byId("loop").innerHTML = rows
    .map(([name, ns]) => `<span>${name}</span><span class="row-value">${(ns / 1000).toFixed(1)} µs</span>`)
    .join("");
}

function showAttitude(message: Message): void {
  const q = message["q"] as Float64Array | undefined;
  if (!q || q.length < 7) return;
  const v = message["v"] as Float64Array | undefined;
  const rate = v ? Math.hypot(v[0]!, v[1]!, v[2]!) * (180 / Math.PI) : 0;
  const error = message["attitude_error"] as number;
  byId("attitude").textContent =
    `position ${q[0]!.toFixed(2)}  ${q[1]!.toFixed(2)}  ${q[2]!.toFixed(2)} m, world\n` +
    `rate ${rate.toFixed(3)} °/s   off target ${(error * (180 / Math.PI)).toFixed(3)}°`;
}

const LOG_LEVELS = { 2: "info", 3: "warning", 4: "error", 5: "error" } as const;

const takers: Record<string, (message: Message) => void> = {
  "/live": (message) => timing.add(message as unknown as Live),
  "/tf": (message) => scene.move((message as unknown as FrameTransforms).transforms),
  "/scene": (message) => scene.update(message as unknown as SceneUpdate),
  "/scene/bent": (message) => scene.update(message as unknown as SceneUpdate), // flexible bodies, as they bend
  "/latency": (message) => showLoop(message),
  "/log": (message) =>
    note(LOG_LEVELS[message["level"] as keyof typeof LOG_LEVELS] ?? "info", String(message["message"])),
};

const listener: Listener = {
  open() {
    state("running", "good");
    document.documentElement.dataset["connected"] = "yes";
  },
  closed() {
    state("no run", "bad");
    document.documentElement.dataset["connected"] = "no";
    byId("acts").replaceChildren();
  },
  server(name, metadata) {
    byId("scenario").textContent = name;
    document.title = `${name} · Airbearing`;
    showFaults(Object.keys(metadata).filter((key) => key.startsWith("fault.")).map((key) => metadata[key]!));
    scene.clear();
    timing.clear();
    signals.clear();
    charted = false;
    note("info", `connected to ${name}`);
  },
  channel(topic) {
    if (topic in takers || Signals.shows(topic)) connection.want(topic);
  },
  message(topic, time, message) {
    simulated = time;
    arrived++;
    takers[topic]?.(message);
    if (topic === "/plant") showAttitude(message);
    if (Signals.shows(topic)) signals.add(topic, time, message);
  },
  status: note,
  parameters(values) {
    byId("tuning").hidden = values.length === 0;
    byId("parameters").replaceChildren(
      ...values.flatMap(({ name, value }) => {
        const title = Object.assign(document.createElement("label"), { textContent: name, htmlFor: `p-${name}` });
        const input = Object.assign(document.createElement("input"), { id: `p-${name}`, type: "number", step: "any", value: String(value) });
        input.addEventListener("change", () => connection.set(name, Number(input.value)));
        return [title, input];
      }),
    );
  },
  services: showActs,
};

/* ---- what may be asked -------------------------------------------------------------------- */

const CHECKPOINT = "cockpit.checkpoint"; // where the run was started

async function act(name: string, request: object = {}): Promise<boolean> {
  const answer = await connection.call(`/${name}`, request);
  if (!answer.done) {
    note("error", `${name}: ${answer.text}`);
    return false;
  }
  if (name === "pause" || name === "step") paused = true;
  if (name === "resume") paused = false;
  state(paused ? "paused" : "running", paused ? "warn" : "good");
  return true;
}

/** One button each; it is lit while the fault is on. */
function showFaults(names: string[]): void {
  byId("trouble").hidden = names.length === 0;
  byId("faults").replaceChildren(
    ...names.map((name, i) => {
      const made = button(name, "begin or end this fault", async () => {
        const active = !made.classList.contains("on");
        if (await act("fault", { name: String(i), active })) made.classList.toggle("on", active);
      });
      return made;
    }),
  );
}

function showActs(names: string[]): void {
  const known: [string, string, string, object][] = [
    ["pause", "Pause", "hold the simulated time (space)", {}],
    ["resume", "Resume", "go on (space)", {}],
    ["step", "Step", "one frame (.)", { frames: 1 }],
    ["reset", "Reset", "the vehicle back at its start", {}],
    ["checkpoint", "Checkpoint", "keep the state in a file", { path: CHECKPOINT }],
    ["restore", "Restore", "back to the last checkpoint", { path: CHECKPOINT }],
  ];
  byId("acts").replaceChildren(
    ...known.filter(([name]) => names.includes(`/${name}`)).map(([name, text, title, request]) => button(text, title, () => void act(name, request))),
  );
}

/* ---- the page ------------------------------------------------------------------------------ */

const socket = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/${location.search}`;
const connection = new Connection(socket, listener);

byId("cameras").replaceChildren(
  ...CAMERAS.map((mode, i) =>
    button(mode, `camera ${mode} (${i + 1})`, () => {
      scene.look(mode);
      for (const other of byId("cameras").children) other.classList.toggle("on", other.textContent === mode);
    }),
  ),
);
byId("cameras").firstElementChild?.classList.add("on");

function flipTheme(): void {
  theme = theme === "dark" ? "light" : "dark";
  setTheme(theme);
  charts.repaint();
}
byId("theme").addEventListener("click", flipTheme);

const keys: Record<string, () => void> = {
  " ": () => void act(paused ? "resume" : "pause"),
  ".": () => void act("step", { frames: 1 }),
  t: flipTheme,
  ...Object.fromEntries(CAMERAS.map((_, i) => [String(i + 1), () => (byId("cameras").children[i] as HTMLElement).click()])),
};
document.addEventListener("keydown", (event) => {
  const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLButtonElement;
  const press = keys[event.key];
  if (!press || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  press();
});

function draw(): void {
  byId("clock").textContent = `${simulated.toFixed(2)} s`;
  scene.draw();
  requestAnimationFrame(draw);
}

/* Numbers that change faster than that nobody reads. */
function drawSlowly(): void {
  timing.draw();
  signals.draw();
  charts.draw();
  charted ||= signals.tick(/attitude error/, /gyro|rate/, /speed/) > 0; // once there are any
}
setInterval(drawSlowly, 200);
setInterval(() => {
  byId("quality").textContent = `${arrived} messages/s`;
  arrived = 0;
}, 1000);
requestAnimationFrame(draw);
