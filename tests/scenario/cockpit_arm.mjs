// The cockpit flies an arm that is none (arm_mock.mjs): every control is used in a real browser, and
// what the page sent is looked at picture by picture.
//
//   cockpit_arm.mjs SCREENSHOTS
//
// Each check prints its name; the first that fails ends it.

import assert from "node:assert/strict";
import path from "node:path";
import { ARM, BODIES, bodies, FLAG, Mock, OPERATOR } from "./arm_mock.mjs";
import { findClutter, launch, newPage } from "./cockpit_browser.mjs";

const shots = process.argv[2];
const mock = await new Mock().listen();
const browser = await launch();
const complaints = [];

async function open(query, colorScheme = "dark") {
  const page = await newPage(browser, 1280, 800, complaints, colorScheme);
  await page.goto(mock.address + query);
  await page.waitForFunction(() => window.cockpit?.arm);
  return page;
}

const nap = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function until(what, is) {
  for (let tries = 0; tries < 3000; tries++) {
    if (await is()) return;
    await nap(20);
  }
  assert.fail(`never: ${what}`);
}

/** Pictures from here on. */
const since = () => {
  const first = mock.pictures.length;
  return () => mock.pictures.slice(first);
};
const isAtRest = ({ axes, buttons }) => buttons === 0 && axes.every((axis) => axis === 0);
const newest = () => mock.pictures[mock.pictures.length - 1];

/** Which buttons went down, in order. */
function presses(pictures, before = 0) {
  const pressed = [];
  for (const { buttons } of pictures) {
    for (let i = 0; i < 32; i++) if ((buttons & ~before) >>> i & 1) pressed.push(i);
    before = buttons;
  }
  return pressed;
}

/** Doing it presses exactly this button, once, and lets it go. */
async function presses1(button, doing) {
  const pictures = since();
  await doing();
  await until(`button ${button} is down`, () => pictures().some(({ buttons }) => (buttons >>> button) & 1));
  await until(`button ${button} is up`, () => newest().buttons === 0);
  assert.deepEqual(presses(pictures()), [button]);
}

async function moves(expected, doing, undoing) {
  await doing();
  const isThere = () => expected.every((value, i) => Math.abs(newest().axes[i] - value) < 1e-6);
  await until(`axes are ${expected}; they are ${newest().axes.slice(0, 6)}`, isThere);
  await undoing();
  await until("hands are off", () => isAtRest(newest()));
}

const axis = (index, value) => Array.from({ length: 6 }, (_, i) => (i === index ? value : 0));

async function check(name, body) {
  await body();
  console.log(name);
}

/* ---- who may ------------------------------------------------------------------------------------ */

await check("a viewer without the token watches and sends nothing", async () => {
  const page = await open("");
  assert.match(await page.textContent("#authority"), /You may watch/);
  for (const name of ["Take", "Give", "Ask"]) assert(await page.getByRole("button", { name, exact: true }).isDisabled());
  await page.keyboard.press("KeyW");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "joint", exact: true }).click();
  assert.match(await page.textContent("#log"), /no authority/);
  await page.waitForSelector("#parameters input");
  assert.equal(await page.locator("#acts button:enabled, #faults button:enabled, #parameters input:enabled").count(), 0);
  assert.equal(mock.pictures.length + mock.dropped, 0);
  await page.close();
});

const page = await open(`?operator=${OPERATOR}`);
const seen = (what) => page.evaluate((name) => window.cockpit[name], what);
const button = (name) => page.getByRole("button", { name, exact: true });

await check("nothing is sent before authority is taken; the first picture is at rest", async () => {
  await page.keyboard.press("KeyW");
  assert.equal(mock.pictures.length + mock.dropped, 0);
  await page.keyboard.down("KeyR");
  await button("Take").click();
  await page.waitForFunction(() => window.cockpit.authority.isHeld);
  await until("a picture", () => mock.pictures.length > 0);
  await page.keyboard.down("KeyR"); // the board repeats it; who had it down before presses it anew
  await nap(100);
  await page.keyboard.up("KeyR");
  await page.keyboard.press("Shift");
  assert(mock.pictures.every(isAtRest));
  const [first] = mock.pictures;
  assert.deepEqual([first.magic, first.version, first.size], ["HAND", 2, 116]);
  assert(isAtRest(first));
  assert.match(await page.textContent("#authority"), /You have authority/);
});

await check("pictures go on while nothing moves, and none is older than the one before", async () => {
  const pictures = since();
  await until("heartbeats", () => pictures().length > 20);
  assert(pictures().every(isAtRest));
  const times = mock.pictures.map(({ sentUs }) => sentUs);
  assert(times.every((time, i) => i === 0 || time >= times[i - 1]));
  const now = BigInt(Date.now()) * 1000n;
  assert(times.every((time) => time > now - 3600000000n && time < now + 60000000n), "this machine's clock, in us");
});

/* ---- every button ------------------------------------------------------------------------------- */

await check("mode buttons", async () => {
  for (const [i, mode] of ARM.modes.entries()) {
    await presses1(ARM.mode_buttons[i], () => button(mode).click());
    await page.waitForFunction((wanted) => window.cockpit.arm.mode === wanted, i);
    await page.waitForSelector(`.modes button:nth-child(${i + 1}).on`);
  }
});

await check("poses, in mode auto only", async () => {
  for (const [i, pose] of ARM.poses.entries()) await presses1(ARM.select[i], () => button(pose).click());
  await page.waitForSelector('.poses button:nth-child(2).on');
  await presses1(1, () => button("joint").click());
  await page.waitForSelector(".poses button:disabled");
});

await check("joints are selected in mode joint", async () => {
  const rows = page.locator(".joint");
  assert.equal(await rows.count(), ARM.joints.length);
  for (const i of [2, 5, 0]) {
    await presses1(ARM.select[i], () => rows.nth(i).click());
    await page.waitForSelector(`.joint.on:nth-of-type(${i + 1})`);
  }
});

await check("vernier, brakes, next, grapple, release and safe, by pointer and by key", async () => {
  const { buttons } = ARM;
  const named = (act) => page.locator(`[data-act="${act}"]`);
  for (const [act, key] of [["vernier", "KeyV"], ["brakes", "KeyB"], ["next", "KeyN"]]) {
    await presses1(buttons[act], () => named(act).click());
    await presses1(buttons[act], () => page.keyboard.press(key));
  }
  await presses1(buttons.grapple, () => named("grapple").click());
  await page.waitForFunction(() => window.cockpit.arm.refused === 1);
  assert(await named("release").isDisabled());
  mock.arm.reach = 0.05;
  await page.waitForSelector(".grapple .lamp.good.on");
  await presses1(buttons.grapple, () => page.keyboard.press("KeyG"));
  await page.waitForFunction(() => /holds satellite/.test(document.querySelector(".held.good")?.textContent));
  await presses1(buttons.release, () => named("release").click());
  await page.waitForFunction(() => window.cockpit.arm.payload === 0);
  await presses1(buttons.safe, () => page.locator("#safe").click());
  await page.waitForFunction(() => [...document.querySelectorAll(".lamp.bad.on")].some((lamp) => lamp.textContent === "safed"));
  await presses1(ARM.mode_buttons[1], () => page.keyboard.press("KeyE"));
  await page.waitForFunction(() => window.cockpit.arm.mode === 1);
  await presses1(buttons.safe, () => page.keyboard.press("Escape"));
  await page.waitForFunction(() => window.cockpit.arm.mode === 0);
});

await check("two quick presses are two presses", async () => {
  const pictures = since();
  await page.evaluate(() => {
    const vernier = document.querySelector('[data-act="vernier"]');
    vernier.click();
    vernier.click();
  });
  await until("both", () => presses(pictures()).length === 2);
  assert.deepEqual(presses(pictures()), [ARM.buttons.vernier, ARM.buttons.vernier]);
  await until("up", () => newest().buttons === 0);
});

/* ---- every axis --------------------------------------------------------------------------------- */

await check("keys fly while they are down", async () => {
  const keys = { KeyW: [0, 1], KeyS: [0, -1], KeyD: [1, 1], KeyA: [1, -1], KeyR: [2, 1], KeyF: [2, -1], KeyL: [3, 1], KeyJ: [3, -1], KeyI: [4, 1], KeyK: [4, -1], KeyO: [5, 1], KeyU: [5, -1] };
  for (const [key, [index, value]] of Object.entries(keys))
    await moves(axis(index, value), () => page.keyboard.down(key), () => page.keyboard.up(key));
  await page.keyboard.down("Shift");
  await moves(axis(0, 0.25), () => page.keyboard.down("KeyW"), () => page.keyboard.up("KeyW"));
  await page.keyboard.up("Shift");
});

await check("pads follow the pointer and spring back", async () => {
  const drags = [["Translation, X and Y", 1, 0], ["Translation, Z", undefined, 2], ["Rotation, pitch and roll", 3, 4], ["Rotation, yaw", undefined, 5]];
  for (const [name, across, along] of drags) {
    const box = await page.getByRole("slider", { name }).boundingBox();
    const middle = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(...middle);
    await page.mouse.down();
    await page.mouse.move(middle[0] + 0.2 * box.width, middle[1] - 0.2 * box.height);
    await until(`${name} is deflected`, () => Math.abs(newest().axes[along] - 0.5) < 0.05);
    if (across !== undefined) assert(Math.abs(newest().axes[across] - 0.5) < 0.05);
    await page.mouse.move(middle[0], middle[1] + 3 * box.height); // further than it goes
    await until(`${name} is at its stop`, () => newest().axes[along] === -1);
    await page.mouse.up();
    await until("spring", () => isAtRest(newest()));
    const pictures = since();
    await page.mouse.move(...middle);
    await page.mouse.down({ button: "right" });
    await page.mouse.move(middle[0], middle[1] - 0.3 * box.height);
    await page.mouse.up({ button: "right" });
    await until("pictures", () => pictures().length > 3);
    assert(pictures().every(isAtRest), "only the first button flies");
  }
});

await check("a pad that is dragged is let go when the page loses the focus, until it is taken anew", async () => {
  const box = await page.getByRole("slider", { name: "Translation, X and Y" }).boundingBox();
  const to = (up) => page.mouse.move(box.x + box.width / 2, box.y + box.height * (0.5 - 0.4 * up));
  await to(0);
  await page.mouse.down();
  await to(0.5);
  await until("flies", () => Math.abs(newest().axes[0] - 0.5) < 0.05);
  await page.evaluate(() => window.dispatchEvent(new Event("blur")));
  await until("rests", () => isAtRest(newest()));
  const pictures = since();
  await to(0.9);
  await until("pictures", () => pictures().length > 3);
  assert(pictures().every(isAtRest));
  await page.mouse.up();
  await to(0);
  await page.mouse.down();
  await to(1);
  await until("flies again", () => newest().axes[0] > 0.95);
  await page.mouse.up();
  await until("spring", () => isAtRest(newest()));
});

await check("pads obey the arrow keys", async () => {
  await page.getByRole("slider", { name: "Rotation, pitch and roll" }).focus();
  await moves(axis(4, 1), () => page.keyboard.down("ArrowUp"), () => page.keyboard.up("ArrowUp"));
  await moves(axis(3, -1), () => page.keyboard.down("ArrowLeft"), () => page.keyboard.up("ArrowLeft"));
});

const setGamepad = (axes, buttons) =>
  page.evaluate(([given, values]) => {
    const pad = { id: "test pad", connected: true, mapping: "standard", axes: given, buttons: Array.from({ length: 17 }, (_, i) => ({ value: values[i] ?? 0, pressed: (values[i] ?? 0) > 0.5 })) };
    Object.defineProperty(navigator, "getGamepads", { value: () => [null, pad], configurable: true });
  }, [axes, buttons]);

await check("a gamepad flies, presses, and is merged with the keys", async () => {
  const set = setGamepad;
  await set([0, 0, 0, 0], {});
  await page.waitForFunction(() => /test pad/.test(document.querySelector("#gamepad").textContent)); // looked at, and at home
  await moves([1, 1, 0, 0, 0, 0], () => set([1, -1, 0, 0], {}), () => set([0, 0, 0, 0], {}));
  await moves([0, 0, 1, 0, 0, -1], () => set([0, 0, 0, 0], { 7: 1, 4: 1 }), () => set([0, 0, 0, 0], {}));
  await moves([0, 0, 0, 1, -1, 0], () => set([0.05, 0.05, 1, 1], {}), () => set([0, 0, 0, 0], {}));
  await presses1(ARM.buttons.vernier, () => set([0, 0, 0, 0], { 2: 1 }));
  await set([0, -1, 0, 0], {});
  await moves(axis(0, 0), () => page.keyboard.down("KeyS"), () => Promise.all([page.keyboard.up("KeyS"), set([0, 0, 0, 0], {})]));
});

const hide = (hidden) =>
  page.evaluate((value) => {
    Object.defineProperty(document, "hidden", { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);

await check("a gamepad that is deflected when it comes to fly is let go first", async () => {
  await hide(true);
  await setGamepad([0, -1, 0, 0], {});
  const pictures = since();
  await hide(false);
  await until("comes back", () => pictures().length > 10);
  assert(pictures().every(isAtRest));
  await setGamepad([0, 0, 0, 0], {});
  await page.waitForTimeout(100); // until it was looked at
  await moves(axis(0, 1), () => setGamepad([0, -1, 0, 0], {}), () => setGamepad([0, 0, 0, 0], {}));
});

await check("hands are off when the page loses the focus, and silent when it is hidden", async () => {
  await page.keyboard.down("KeyW");
  await until("flies", () => newest().axes[0] === 1);
  const pictures = since();
  await page.evaluate(() => window.dispatchEvent(new Event("blur")));
  await until("rests", () => isAtRest(newest()));
  await until("goes on", () => pictures().filter(isAtRest).length > 5);
  await page.keyboard.up("KeyW");
  await page.keyboard.down("KeyW");
  await until("flies", () => newest().axes[0] === 1);
  await hide(true);
  await until("rests", () => isAtRest(newest()));
  let silent = since();
  for (let tries = 0; tries < 20; tries++) { // what was under way arrives first
    await nap(500);
    if (silent().length === 0) break;
    silent = since();
  }
  assert.equal(silent().length, 0);
  await page.waitForFunction(() => [...document.querySelectorAll(".lamp.bad.on")].some((lamp) => lamp.textContent === "link lost"));
  await hide(false);
  await until("comes back", () => silent().length > 0);
  assert(isAtRest(silent()[0]));
  await page.keyboard.up("KeyW");
});

await check("a page that is busy for a moment is not missed; one that hangs is", async () => {
  const busy = (ms) =>
    page.evaluate((long) => {
      for (const end = performance.now() + long; performance.now() < end; );
    }, ms);
  let during = [];
  for (let tries = 0; tries < 10 && during.length < 6; tries++) { // the machine may be busy too
    const pictures = since();
    await busy(700);
    const all = pictures();
    assert(all.every(isAtRest));
    during = all.filter(({ sentUs }, i) => i > 0 && sentUs === all[i - 1].sentUs);
  }
  assert(during.length > 5, `${during.length} times the same again`);
  await page.keyboard.down("KeyW");
  await until("flies", () => newest().axes[0] === 1);
  const stuck = since();
  await busy(900);
  await until("flies again", () => newest().axes[0] === 1);
  await page.keyboard.up("KeyW");
  const pictures = stuck();
  const off = pictures.findIndex(isAtRest);
  assert(off > 0, "the sticks of a page that stands are let go");
  assert.equal(pictures[off].sentUs, pictures[off - 1].sentUs, "by the worker, not by the page");
  const hung = busy(3000);
  await until("the link is lost", () => mock.arm.flags & FLAG.lost);
  await hung;
  await until("and heard again", () => !(mock.arm.flags & FLAG.lost));
});

/* ---- what is shown ------------------------------------------------------------------------------ */

await check("delays are measured for every change, by its answer", async () => {
  let before = -1; // what was asked earlier is answered first
  for (let now = 0; now !== before; now = (await seen("delays")).picture.count) {
    before = now;
    await nap(500);
  }
  mock.answer = false;
  await page.keyboard.press("KeyD");
  await nap(500);
  assert.equal((await seen("delays")).picture.count, before);
  mock.arm.delay = 0.25;
  mock.answer = true;
  await page.waitForFunction((count) => window.cockpit.delays.picture.count === Math.min(100, count + 2), before);
  const { motion, picture, transport } = await seen("delays");
  assert(motion.count > 0 && motion.median > 0 && motion.max >= motion.last);
  assert(picture.last > 400 && picture.max >= picture.last, `held back on purpose: ${picture.last}`);
  assert.equal(transport, 250);
  await page.waitForFunction(() => /250 ms on purpose/.test(document.querySelector("#delays").textContent));
  mock.arm.delay = 0;
});

await check("bodies in orbit are where they are, to a micrometre", async () => {
  mock.arm.command.fill(0);
  mock.arm.brakes = 2;
  mock.swing = 0;
  const near = async (body, expected, error) => {
    const is = await page.evaluate((name) => window.cockpit.where(name), body);
    return Math.hypot(...is.map((part, i) => part - expected[i])) < error;
  };
  const places = (factor) => {
    const [straight, bent] = [bodies(mock.arm.position, 0, 0), bodies(mock.arm.position, mock.sag, 0)];
    return straight.map(({ at }, i) => at.map((part, k) => part + factor * (bent[i].at[k] - part)));
  };
  for (const [i, body] of BODIES.entries()) await until(`${body} is there`, () => near(body, places(1)[i], 1e-6));
  await page.locator("#exaggeration").fill("50");
  assert.equal(await page.textContent("#factor"), "×10");
  for (const [i, body] of BODIES.entries()) await until(`${body} is bent ten times as much`, () => near(body, places(10)[i], 1e-5));
  await page.locator("#exaggeration").fill("100");
  assert.equal(await seen("exaggeration"), 100);
  await until("a hundred times", () => near("end_effector", places(100)[4], 1e-4));
  await page.locator("#exaggeration").fill("0");
  await until("as it is", () => near("end_effector", places(1)[4], 1e-6));
});

await check("a hand that points down has angles that mean something", async () => {
  const angles = () => page.locator(".axis b").allTextContents().then((all) => all.slice(3).map((text) => Number(text.replace("−", "-"))));
  const [c, s] = [Math.cos(0.1), Math.sin(0.1)]; // rolled by 0.2, after pitch of a quarter turn
  mock.arm.aim = { w: c * Math.SQRT1_2, x: s * Math.SQRT1_2, y: c * Math.SQRT1_2, z: -s * Math.SQRT1_2 };
  const wanted = [11.46, 90, 0]; // roll, pitch, yaw
  await until("roll is told as roll", async () => (await angles()).every((angle, i) => Math.abs(angle - wanted[i]) < 0.02));
  mock.arm.aim = undefined;
});

await check("cameras by button, number and list", async () => {
  assert.deepEqual(await page.locator("#cameras button").allTextContents(), ["overview", "follow", "top", "elbow", "wrist"]);
  await button("elbow").click();
  assert.equal((await seen("camera")).main, "elbow");
  await page.keyboard.press("Digit2");
  await page.keyboard.press("Shift+Digit3");
  assert.deepEqual(await seen("camera"), { main: "follow", second: "top" });
  await page.keyboard.press("Shift+Digit3");
  await page.waitForSelector("#inset", { state: "hidden" });
  await page.locator("#second").focus();
  await page.locator("#second").selectOption("wrist");
  assert.deepEqual(await seen("camera"), { main: "follow", second: "wrist" });
  await moves(axis(0, 1), () => page.keyboard.down("KeyW"), () => page.keyboard.up("KeyW")); // the list takes no letters
  assert.deepEqual(await seen("camera"), { main: "follow", second: "wrist" });
  await button("overview").click();
});

await check("a view that has the focus is turned by keys", async () => {
  const [x0, y0, z0] = await seen("eye");
  const from = Math.hypot(x0, y0, z0);
  const now = () => seen("eye");
  await page.locator("#scene").focus();
  await page.keyboard.press("ArrowRight");
  await until("it went around", async () => Math.hypot((await now())[0] - x0, (await now())[1] - y0) > 0.05 * from);
  await page.keyboard.press("ArrowUp");
  await until("it rose", async () => (await now())[2] > z0 + 0.03 * from);
  for (let i = 0; i < 60; i++) await page.keyboard.press("ArrowUp"); // to the pole, and no further
  assert((await now()).every(Number.isFinite));
  await page.keyboard.press("+");
  await until("it came nearer", async () => Math.hypot(...(await now())) < 0.95 * from);
  await page.keyboard.press("Home");
  await until("it is where it was", async () => Math.hypot(...(await now()).map((part, i) => part - [x0, y0, z0][i])) < 0.1 * from);
});

await check("the keys are told on request", async () => {
  const help = page.locator("#help");
  assert(!(await help.isVisible()));
  await page.keyboard.press("?");
  await help.waitFor({ state: "visible" });
  assert.match(await help.textContent(), /pause or resume.*translation.*SAFE/s);
  await page.screenshot({ path: path.join(shots, "arm-help.png") });
  await presses1(ARM.buttons.safe, () => page.keyboard.press("Escape")); // and nothing is in the way of this key
  await help.waitFor({ state: "hidden" });
});

await check("pause, step and faults are lit, and a reset ends them", async () => {
  const pill = (text) => page.waitForFunction((wanted) => document.querySelector("#state").textContent === wanted, text);
  await page.locator("#scene").focus();
  for (const [key, text] of [["Space", "paused"], ["Space", "running"], [".", "paused"], ["Space", "running"]]) {
    await page.keyboard.press(key);
    await pill(text);
  }
  const asked = mock.calls.map(({ name }) => name).filter((name) => ["/pause", "/resume", "/step"].includes(name));
  assert.deepEqual(asked.slice(-4), ["/pause", "/resume", "/step", "/resume"]);
  const fault = page.locator("#faults button");
  for (const isOn of [true, false, true]) {
    await fault.click();
    await page.waitForSelector(`#faults button[aria-pressed="${isOn}"]`);
    assert.equal(mock.calls.at(-1).request.active, isOn);
  }
  await button("Reset").click();
  await page.waitForSelector('#faults button[aria-pressed="false"]');
});

await check("time that stands, and a run that says nothing, are told", async () => {
  const pill = (text) => page.waitForFunction((wanted) => document.querySelector("#state").textContent === wanted, text);
  mock.frozen = true;
  await pill("waiting");
  mock.mute = true;
  await pill("no answer");
  mock.frozen = mock.mute = false;
  await pill("running");
});

await check("the predicted arm is shown while there is one", async () => {
  await page.waitForSelector("#ghost", { state: "visible" });
  mock.ghost = false;
  await page.waitForSelector("#ghost", { state: "hidden" });
  mock.ghost = true;
});

await check("numbers of the arm can be charted", async () => {
  const before = await page.locator("#charts .chart").count();
  for (const name of ["position", "torque", "twist command"]) await page.getByLabel(`arm ${name}`, { exact: false }).first().check();
  assert.equal(await page.locator("#charts .chart").count(), before + 3);
});

await check("the connection is judged", async () => {
  mock.status(1, "123 messages were lost: they come faster than this client takes them", "lost");
  await page.waitForFunction(() => /messages\/s.*there and back.*123 lost/.test(document.querySelector("#quality").textContent));
});

await check("main numbers are large, and the tab key reaches every control", async () => {
  for (const selector of ["#clock", ".joint b", ".axis b", ".figure b", "#delays td.main", "#safe"]) {
    const size = await page.locator(selector).first().evaluate((element) => parseFloat(getComputedStyle(element).fontSize));
    assert(size >= 22, `${selector} has ${size} px`);
  }
  await page.locator("#theme").focus();
  const reached = [];
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    reached.push(await page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent));
  }
  assert(await page.evaluate(() => parseFloat(getComputedStyle(document.activeElement).outlineWidth) >= 2), "the focus is seen");
  const order = ["overview", "wrist", "Give", "SAFEEsc", "Translation, X and Y", "Translation, Z", "Rotation, pitch and roll", "Rotation, yaw", "hold", "auto"];
  const places = order.map((name) => reached.indexOf(name));
  assert(places.every((place, i) => place >= 0 && (i === 0 || place > places[i - 1])), `${reached}`);
});

await check("nothing is cut off and nothing lies on another, in windows of many sizes", async () => {
  for (const [width, height] of [[2560, 1440], [1920, 1080], [1366, 768], [1280, 800], [1024, 768], [820, 1180], [414, 896]]) {
    await page.setViewportSize({ width, height });
    await page.screenshot({ path: path.join(shots, `arm-${width}.png`) });
    assert.deepEqual(await findClutter(page), [], `${width} x ${height}`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
});

await check("dark and light: as the system has it until somebody chooses", async () => {
  const is = (theme) => page.waitForSelector(`html[data-theme="${theme}"]`);
  await is("dark");
  await page.screenshot({ path: path.join(shots, "arm-dark.png") });
  await page.emulateMedia({ colorScheme: "light" });
  await is("light");
  await page.screenshot({ path: path.join(shots, "arm-light.png") });
  await page.locator("#scene").focus();
  await page.keyboard.press("KeyT");
  await is("dark");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.emulateMedia({ colorScheme: "light" });
  await nap(100);
  await is("dark");
});

/* ---- authority between two ---------------------------------------------------------------------- */

await check("one asks, the other gives, and only who has it sends", async () => {
  const other = await open(`?operator=${OPERATOR}`, "light");
  assert.match(await other.textContent("#authority"), /Viewer 2 has authority/);
  assert(await other.getByRole("button", { name: "Take", exact: true }).isDisabled());
  await other.getByRole("button", { name: "Ask", exact: true }).click();
  await page.waitForFunction(() => /Viewer 3 asks for it/.test(document.querySelector("#authority").textContent));
  await other.waitForFunction(() => /You have asked/.test(document.querySelector("#authority").textContent));
  await other.getByRole("button", { name: "Pause", exact: true }).click();
  await other.waitForFunction(() => /viewer 2 has authority/.test(document.querySelector("#log").textContent));
  await button("Give").click();
  await other.getByRole("button", { name: "Take", exact: true }).click();
  await other.waitForFunction(() => window.cockpit.authority.isHeld);
  await page.waitForFunction(() => !window.cockpit.authority.isHeld);
  // Who looks on sees how long the other's commands take to his own picture, too.
  mock.tellLatency(60e6);
  await page.waitForFunction(() => window.cockpit.delays.picture.max > 60000);
  const pictures = since();
  await page.bringToFront();
  await page.keyboard.press("KeyW");
  await nap(300);
  assert(pictures().every(isAtRest));
  assert.equal(mock.dropped, 0, "a page that has none stays silent");
  await other.close();
  await page.waitForFunction(() => window.cockpit.authority.holder === 0);
  await button("Take").click();
  await page.waitForFunction(() => window.cockpit.authority.isHeld);
});

/* ---- what is wrong ------------------------------------------------------------------------------ */

await check("messages that are none are survived", async () => {
  const garbage = Uint8Array.from({ length: 64 }, (_, i) => (i * 73) % 256);
  for (const topic of ["/arm", "/tf", "/tf/straight", "/tf/ghost", "/scene", "/scene/bent", "/scene/straight", "/live", "/latency", "/authority", "/log"])
    for (const size of [0, 3, 4, 11, 64]) mock.send(topic, garbage.subarray(0, size));
  const { position, reach } = mock.arm;
  mock.arm.position = position.map(() => NaN);
  mock.arm.reach = Infinity;
  await nap(300);
  mock.arm.position = position;
  mock.arm.reach = reach;
  mock.tell();
  await page.waitForFunction(() => /not as its definition says/.test(document.querySelector("#log").textContent));
  await page.waitForFunction(([first]) => Math.abs(window.cockpit.arm.position[0] - first) < 0.1, position);
});

await check("a run that comes back is found, without authority; its URDF is drawn", async () => {
  mock.urdf = true;
  await page.getByLabel("arm torque", { exact: false }).first().check();
  const charted = () => page.locator("#charts .u-title").allTextContents().then((titles) => titles.sort());
  await page.waitForFunction(() => document.querySelectorAll("#charts .chart").length === document.querySelectorAll("#charts .u-title").length);
  const before = await charted();
  await page.keyboard.press("Digit2");
  mock.closed = true;
  mock.drop();
  await page.waitForSelector('html[data-connected="no"]');
  await page.waitForSelector("#gone", { state: "visible" });
  await page.waitForFunction(() => document.querySelector("#state").textContent === "no run");
  assert.equal(await page.locator("#acts button:enabled").count(), 0);
  await page.screenshot({ path: path.join(shots, "arm-gone.png") });
  mock.closed = false;
  await page.waitForSelector('html[data-connected="yes"]');
  await page.waitForSelector("#gone", { state: "hidden" });
  await until("the same charts", async () => (await charted()).join() === before.join());
  await until("the same camera", async () => (await seen("camera")).main === "follow");
  await page.waitForFunction(() => !window.cockpit.authority.isHeld && window.cockpit.arm);
  await until("the URDF is asked for", () => mock.served.includes("/model.urdf"));
  await until("the URDF is drawn", () => page.evaluate(() => window.cockpit.clothed.includes("wrist")));
  assert.doesNotMatch(await page.textContent("#log"), /URDF cannot be read/);
  await page.screenshot({ path: path.join(shots, "arm-urdf.png") });
});

await check("an arm that cannot be read leaves the rest of the page", async () => {
  mock.metadata = { arm: '{"joints": 7', cameras: "[1, null, {}]", viewer: "many" };
  mock.drop();
  await page.waitForSelector('html[data-vehicle="free"]');
  await page.waitForSelector(".ball");
  await page.waitForFunction(() => /its arm cannot be read/.test(document.querySelector("#log").textContent));
  const frames = await seen("frames");
  await page.waitForFunction((before) => window.cockpit.frames > before + 2, frames);
});

assert.deepEqual(complaints.filter((text) => !/WebSocket connection/.test(text)), []);
await browser.close();
mock.close();
