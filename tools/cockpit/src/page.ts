// The cockpit: what goes where.
import { takeSearch } from "./address";
import { FLAG, readArm, readArmSpec, type ArmSpec, type ArmState, type ButtonName } from "./arm";
import { ArmPanel } from "./arm_panel";
import { Authority } from "./authority";
import { Charts } from "./charts";
import { Connection, type Listener, type Message } from "./connection";
import { Delays, DelayTable } from "./delay";
import { button, byId, dim, light, make, write } from "./dom";
import { Events } from "./events";
import { Gamepads } from "./gamepad";
import { encode, Hand } from "./hand";
import { Keys, type Act } from "./keys";
import { Loop } from "./loop";
import { Pads } from "./pads";
import { Quality } from "./quality";
import { number } from "./read";
import { Run } from "./run";
import { Safe } from "./safe";
import { Scene } from "./scene";
import { Signals } from "./signals";
import { flipTheme, startTheme } from "./theme";
import { Timing } from "./timing";
import { loadUrdf } from "./urdf";
import { VehiclePanel } from "./vehicle_panel";

const HAND_TICK_MS = 10;
const PANEL_MS = 66;
const SLOW_MS = 200; // numbers that change faster than that nobody reads
const SECOND_MS = 1000;
const MODE_MS = 1000; // for which a mode may be on its way, besides a delay on purpose

let simulated = 0;
let isTimed = false; // by this run
let charted = false;
let frames = 0;
let runs = 0; // so far
let spec: ArmSpec | undefined;
let arm: ArmState | undefined;
let armPanel: ArmPanel | undefined;
let wanted: { mode: number; sentUs: number; untilMs: number } | undefined; // mode that was asked for, until it is there
let vehiclePanel: VehiclePanel | undefined;

const scene = new Scene(byId<HTMLCanvasElement>("scene"), byId("inset"), showCameras);
const timing = new Timing(byId<HTMLCanvasElement>("strip"), byId("figures"), byId("causes"));
const charts = new Charts(byId("charts"));
startTheme(() => charts.repaint());
const signals = new Signals(byId("signals"), charts);
const events = new Events(byId("log"), () => (isTimed ? simulated : undefined));
const quality = new Quality(byId("quality"));
const loop = new Loop(byId("boards"), byId("loop"));
const delays = new Delays();
const delayTable = new DelayTable(document.querySelector<HTMLElement>("#delays tbody")!, delays);
const hand = new Hand(
  (picture, inputMs) => {
    connection.hand(encode(picture));
    if (inputMs !== undefined) delays.sent(picture.sentUs, inputMs);
  },
  () => connection.handsOff(),
);
const safe = new Safe(byId("unsafe"));
const pads = new Pads(byId("left"), byId("right"), hand);

/* ---- what is asked ------------------------------------------------------------------------- */

function press(which: number | undefined, event: Event): void {
  if (which === undefined || !spec) return;
  if (hand.isSafing) return events.add("warning", "nothing was sent: SAFE is not confirmed yet");
  const mode = spec.modeButtons.indexOf(which);
  const isSent = mode < 0 ? hand.press(which, event.timeStamp) : hand.choose(which, spec.modeButtons, event.timeStamp);
  if (!isSent) events.add("warning", "nothing was sent: this page has no authority");
  else if (mode >= 0) wanted = { mode, sentUs: hand.newest?.sentUs ?? 0, untilMs: performance.now() + MODE_MS + delays.transport };
}

const pressNamed = (name: ButtonName): Act => (event) => press(spec?.buttons[name], event);

/** From the mode that was asked for last: who goes on before it is there means the one behind it. */
function changeMode(by: number): Act {
  return (event) => {
    if (!spec || !arm) return;
    const from = wanted && performance.now() < wanted.untilMs ? wanted.mode : arm.mode;
    press(spec.modeButtons[from + by], event);
  };
}

/** Who has the token may stop an arm that another flies. */
function mayCallSafe(): boolean {
  return authority.isOperator && connection.has("/safe");
}

async function callSafe(): Promise<void> {
  const answer = await connection.call("/safe");
  if (!answer.done) events.add("error", `SAFE: ${answer.text}`);
}

function pressSafe(event: Event): void {
  if (spec?.buttons.safe === undefined) return;
  wanted = undefined;
  if (!hand.safe(spec.buttons.safe, event.timeStamp)) {
    if (!mayCallSafe()) return events.add("warning", "nothing was sent: this page has no authority");
    void callSafe();
  }
  safe.asked();
}

const gamepads = new Gamepads(hand, {
  0: () => press(spec?.buttons.grapple, new Event("gamepad")),
  1: () => press(spec?.buttons.release, new Event("gamepad")),
  2: () => press(spec?.buttons.vernier, new Event("gamepad")),
  3: () => press(spec?.buttons.brakes, new Event("gamepad")),
  8: () => pressSafe(new Event("gamepad")),
  9: () => press(spec?.buttons.next, new Event("gamepad")),
});

/** Every device: what is down by now must come up before it counts again. */
function letGo(): void {
  keys.forget();
  gamepads.letGo();
  pads.letGo();
}

/** Hidden pages have slow timers: their silence is found like any other. */
function holdHands(): void {
  const isHeld = authority.isHeld && connection.takesHands && !document.hidden;
  const wasHeld = hand.isHeld;
  const wasSafing = hand.isSafing;
  hand.hold(isHeld);
  if (isHeld !== wasHeld) letGo();
  if (wasSafing && !isHeld && mayCallSafe()) void callSafe(); // nobody else knows of it
  armPanel?.allow(isHeld);
  dim(byId("safe"), !isHeld && !mayCallSafe());
  byId("hands").classList.toggle("idle", !isHeld);
}

async function askAuthority(what: "take" | "give" | "ask"): Promise<void> {
  if (what === "give") {
    if (hand.isSafing && mayCallSafe()) void callSafe();
    hand.rest(); // and nothing after it, which would be somebody else's arm
    hand.hold(false);
  }
  const answer = await connection.call(`/authority/${what}`);
  if (answer.done) return;
  events.add("error", answer.text);
  holdHands();
}

const authority = new Authority(
  byId("authority"),
  { take: () => askAuthority("take"), give: () => askAuthority("give"), ask: () => askAuthority("ask") },
  holdHands,
);

/* ---- what came ----------------------------------------------------------------------------- */

const LOG_LEVELS = { 2: "info", 3: "warning", 4: "error", 5: "error" } as const;

function takeArm(message: Message): void {
  if (!spec) return;
  arm = readArm(message, spec.joints.length);
  delays.heard(arm.board_us, arm.delay);
  const isSafed = (arm.flags & FLAG.safed) !== 0;
  hand.heard(arm.board_us, isSafed);
  if (isSafed && !hand.isSafing) safe.confirmed();
  if (wanted && arm.mode === wanted.mode && arm.board_us >= wanted.sentUs) wanted = undefined;
}

/** Who does not look at the page has no picture to wait for, and a run that is paused does not answer. */
function countDelays(): void {
  delays.count(!document.hidden && run.isPaused !== true);
}

function takeLatency(message: Message, time: number): void {
  loop.take(message);
  if (spec && number(message["link"]) === spec.link) delays.looped(message, time, connection.takesHands && authority.isHeld);
}

const takers: Record<string, (message: Message, time: number) => void> = {
  "/live": (message) => timing.add(message),
  "/tf": (message, time) => scene.move(message, time),
  "/tf/straight": (message, time) => {
    byId("bending").hidden = false;
    scene.moveStraight(message, time);
  },
  "/tf/ghost": (message) => scene.moveGhost(message, simulated),
  "/scene": (message) => scene.update("/scene", message),
  "/scene/bent": (message) => scene.update("/scene/bent", message), // flexible bodies, as they bend
  "/scene/straight": (message) => scene.updateStraight(message),
  "/arm": takeArm,
  "/authority": (message) => authority.told(message),
  "/latency": takeLatency,
  "/log": (message, time) => {
    events.log(LOG_LEVELS[message["level"] as keyof typeof LOG_LEVELS] ?? "info", String(message["message"]), time);
  },
  "/desk": (message) => {
    run.told(message);
    countDelays();
  },
};

function begin(metadata: Record<string, string>): void {
  runs++;
  spec = readArmSpec(metadata["arm"]);
  arm = wanted = undefined;
  if (metadata["arm"] !== undefined && !spec) events.add("warning", "what the run says of its arm cannot be read");
  armPanel = spec && new ArmPanel(byId("panel"), spec, press);
  vehiclePanel = spec ? undefined : new VehiclePanel(byId("panel"), (link) => metadata[`link.${link}`]);
  byId("safe").hidden = spec?.buttons.safe === undefined;
  byId("hands").hidden = byId("command").hidden = !connection.takesHands;
  byId(connection.takesHands ? "command" : "who").prepend(byId("authority"));
  document.documentElement.dataset["hands"] = connection.takesHands ? "yes" : "no";
  byId("delays").hidden = !spec;
  byId("bending").hidden = true;
  document.documentElement.dataset["vehicle"] = spec ? "arm" : "free";
  scene.begin(spec, metadata["cameras"]);
  timing.clear();
  loop.clear();
  delays.clear();
  quality.clear();
  signals.begin(spec?.joints.map(({ name }) => name) ?? []);
  charted = false;
  if (metadata["urdf"] === "yes") {
    const of = runs;
    loadUrdf(`/model.urdf${search}`).then(
      (looks) => of === runs && scene.clothe(looks), // it may come when the next run is there
      () => of === runs && events.add("warning", "the vehicle's URDF cannot be read; boxes stand for its bodies"),
    );
  }
}

/** Others tell of another time: the ghost is behind, shapes are as old as the run. */
const CLOCKS = new Set(["/tf", "/plant"]);

function keepTime(time: number): void {
  if (time !== simulated) run.moved();
  simulated = time;
  if (!isTimed) events.date(time);
  isTimed = true;
}

const listener: Listener = {
  open() {
    run.connected();
    byId("gone").hidden = true;
    document.documentElement.dataset["connected"] = "yes";
  },
  closed() {
    if (document.documentElement.dataset["connected"] === "yes") events.add("error", "the run has ended, or its connection is lost");
    run.closed();
    byId("gone").hidden = false;
    document.documentElement.dataset["connected"] = "no";
    authority.closed();
    safe.confirmed(); // by nobody; but there is no arm
    quality.clear();
  },
  server(name, metadata) {
    isTimed = false;
    events.begin();
    byId("scenario").textContent = name;
    document.title = `${name} · Airbearing`;
    run.begin(metadata["operator"] !== "no");
    countDelays();
    run.showFaults(Object.keys(metadata).filter((key) => key.startsWith("fault.")).map((key) => metadata[key]!));
    begin(metadata);
    authority.server(metadata);
    events.add("info", `connected to ${name}`);
  },
  channel(topic, schemaName, schema) {
    signals.meet(topic, schema);
    if (topic in takers || Signals.shows(topic)) connection.want(topic);
    vehiclePanel?.meet(topic, schemaName);
  },
  message(topic, time, message) {
    if (CLOCKS.has(topic)) keepTime(time);
    run.heard();
    quality.message();
    takers[topic]?.(message, time);
    vehiclePanel?.take(topic, message);
    if (Signals.shows(topic)) signals.add(topic, time, message);
  },
  status(level, text, id) {
    if (id === "lost") quality.losing(text);
    if (id === "verdict") return run.judged(text, level !== "error"); // the run's own line says it, too
    if (id === "authority") return; // who asks stands beside the buttons, and in the run's own line
    events.status(level, text, id);
  },
  statusGone: (id) => events.statusGone(id),
  skipped: (count) => quality.skipping(count),
  parameters: (values) => run.showParameters(values),
  services(names) {
    run.showActs(names);
    holdHands();
  },
  roundTrip(ms) {
    run.heard();
    quality.roundTrip(ms);
    delays.tripMs = ms;
  },
};

const search = takeSearch();
const connection = new Connection(search, listener);
const run = new Run({ call: (name, request) => connection.call(name, request), set: (name, value) => connection.set(name, value) }, events);

/* ---- cameras ------------------------------------------------------------------------------- */

function markCameras(): void {
  [...byId("cameras").children].forEach((each, i) => {
    light(each, i === scene.cameras.mainIndex);
  });
  byId<HTMLSelectElement>("second").value = String(scene.cameras.secondIndex);
}

function look(index: number, isSecond: boolean): void {
  if (isSecond) scene.cameras.lookToo(index);
  else scene.cameras.look(index);
  markCameras();
}

function showCameras(): void {
  const { names } = scene.cameras;
  byId("cameras").replaceChildren(...names.map((name, i) => button(name, `camera ${name} (${i + 1})`, () => look(i, false))));
  byId("second").replaceChildren(make("option", { value: "-1", textContent: "none" }), ...names.map((name, i) => make("option", { value: String(i), textContent: name })));
  markCameras();
}

byId("second").addEventListener("change", () => {
  const list = byId<HTMLSelectElement>("second");
  look(Number(list.value), true);
  if (!list.matches(":focus-visible")) list.blur(); // it was the mouse
});

/** In a small window the page scrolls, and SAFE must not: there it is a bar below the header. */
const small = matchMedia("(max-width: 1100px)");
function placeCommand(): void {
  if (small.matches) document.querySelector("main")!.before(byId("command"));
  else byId("hands").prepend(byId("command"));
}
small.addEventListener("change", placeCommand);
placeCommand();

/** The slider is logarithmic: 1, 10 in the middle, 100. */
byId("exaggeration").addEventListener("input", () => {
  const slider = byId<HTMLInputElement>("exaggeration");
  const factor = 10 ** (slider.valueAsNumber / 50);
  scene.bend(factor);
  write(byId("factor"), `×${factor < 10 ? factor.toFixed(1).replace(".0", "") : factor.toFixed(0)}`);
  slider.setAttribute("aria-valuetext", `${factor.toFixed(1)} times`);
});

/* ---- keys and focus ------------------------------------------------------------------------ */

function changeTheme(): void {
  flipTheme();
  charts.repaint();
}
byId("theme").addEventListener("click", changeTheme);

/** To be read from three metres away. */
function flipWall(): void {
  const { dataset } = document.documentElement;
  dataset["wall"] = dataset["wall"] === "yes" ? "no" : "yes";
  charts.repaint(); // their letters have a size of their own
}
byId("safe").addEventListener("click", pressSafe);

const keys = new Keys(hand, {
  Space: () => void run.flipPause(),
  ".": () => void run.step(),
  "?": () => byId("help").togglePopover?.(),
  KeyT: changeTheme,
  KeyM: flipWall,
  Escape: (event) => {
    pressSafe(event);
    byId("help").hidePopover?.(); // which older browsers lack
  },
  KeyG: pressNamed("grapple"),
  KeyH: pressNamed("release"),
  KeyB: pressNamed("brakes"),
  KeyV: pressNamed("vernier"),
  KeyN: pressNamed("next"),
  KeyQ: changeMode(-1),
  KeyE: changeMode(1),
  ...Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`Digit${i + 1}`, (event: KeyboardEvent) => look(i, event.shiftKey)])),
});

/** Who clicks with the mouse does not mean that the next space is for the same button.  Keys click with detail 0, and
 * whoever goes by them keeps his place. */
document.addEventListener("click", (event) => {
  const clicked = event.target instanceof Element ? event.target.closest<HTMLElement>("button, input[type=checkbox]") : null;
  if (event.detail > 0) clicked?.blur();
});

/** Nobody flies with the hands elsewhere.  At rest first: whatever else goes wrong, the stick is let go. */
function handsOff(): void {
  hand.rest();
  letGo();
}
window.addEventListener("blur", handsOff);
// A menu, and a list, take what comes up while they are open.
window.addEventListener("contextmenu", handsOff);
byId("second").addEventListener("pointerdown", handsOff);
document.addEventListener("visibilitychange", () => {
  if (document.hidden) handsOff();
  holdHands();
  countDelays();
});

/* ---- drawing ------------------------------------------------------------------------------- */

function draw(): void {
  requestAnimationFrame(draw); // first: what goes wrong in one picture must not be the end of all
  write(byId("clock"), isTimed ? `${simulated.toFixed(2)} s` : "–");
  scene.draw(simulated);
  delays.drawn(simulated);
  frames++;
}

function drawPanel(): void {
  if (arm) armPanel?.draw(arm);
  vehiclePanel?.draw();
  pads.draw(hand.isHeld ? (hand.newest?.axes ?? []) : []);
  delayTable.draw();
  safe.draw();
  run.draw();
  byId("ghost").hidden = !scene.hasGhost(simulated);
  const waits = gamepads.waits ? "; let go of the sticks first" : "";
  write(byId("gamepad"), gamepads.connected ? `gamepad: ${gamepads.connected}${waits}` : "");
}

function drawSlowly(): void {
  timing.draw();
  signals.draw();
  charts.draw();
  const first = spec ? [/^arm twist$/, /^arm rate$/] : [/attitude error/, /gyro|rate/, /speed/];
  charted ||= charts.count > 0 || signals.tick(...first) > 0; // once there are any
}

function eachSecond(): void {
  if (document.documentElement.dataset["connected"] === "yes") quality.second();
  connection.ping();
}

setInterval(() => {
  gamepads.poll();
  hand.tick();
}, HAND_TICK_MS);
setInterval(drawPanel, PANEL_MS);
setInterval(drawSlowly, SLOW_MS);
setInterval(eachSecond, SECOND_MS);
requestAnimationFrame(draw);

/* ---- for tests, and for the curious at the console -------------------------------------------- */

function summary(series: Delays["picture"]) {
  const { count, last, median, max, total } = series;
  return { count, last, median, max, total };
}

const seen = {
  get arm() { return arm && structuredClone(arm); },
  get authority() { return authority.seen; },
  gaps: (name: string) => charts.gaps(name),
  get camera() { return { main: scene.cameras.shown?.name, second: scene.cameras.second?.name }; },
  get clothed() { return scene.clothedBodies; },
  get desk() { return run.isPaused === undefined ? undefined : { isPaused: run.isPaused }; },
  get delays() { return { motion: summary(delays.motion), picture: summary(delays.picture), transport: delays.transport }; },
  get eye() { return scene.cameras.shown?.camera.position.toArray(); },
  get exaggeration() { return scene.exaggeration; },
  get frames() { return frames; },
  get hand() { return hand.newest && structuredClone(hand.newest); },
  get quality() { return quality.seen; },
  get shapes() { return scene.shapeCount; },
  where: (body: string) => scene.where(body),
};
Object.defineProperty(window, "cockpit", { value: Object.freeze(seen) });
