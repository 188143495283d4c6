// The cockpit flies an arm that is none (arm_mock.mjs): every control is used in a real browser, and
// what the page sent is looked at picture by picture.
//
//   cockpit_arm.mjs SCREENSHOTS
//
// Each check prints its name and how long it took; the first that fails ends it.  Pictures are taken where SCREENSHOTS is
// set.

import assert from "node:assert/strict";
import path from "node:path";
import { ARM, BODIES, bodies, FLAG, Mock, OPERATOR } from "./arm_mock.mjs";
import { clickTwice, drawn, findClutter, inFull, launch, newPage } from "./cockpit_browser.mjs";

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
  const begunMs = performance.now();
  await body();
  console.log(`${((performance.now() - begunMs) / 1000).toFixed(1).padStart(5)} s  ${name}`);
}

/** A picture for people to look at. */
async function shoot(name) {
  if (process.env.SCREENSHOTS) await inFull(page, () => page.screenshot({ path: path.join(shots, `${name}.png`) }));
}

/* ---- who may ------------------------------------------------------------------------------------ */

await check("a viewer without the token watches and sends nothing", async () => {
  const page = await open("");
  assert.match(await page.textContent("#authority"), /You may watch/);
  for (const name of ["Take", "Give", "Ask"]) assert(await page.getByRole("button", { name, exact: true }).isDisabled());
  await page.keyboard.press("KeyW");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "joint", exact: true }).click({ force: true }); // it looks as if it were off
  assert.match(await page.textContent("#log"), /no authority/);
  assert.equal(await page.getAttribute("#safe", "aria-disabled"), "true");
  await page.waitForSelector("#parameters input");
  assert.equal(await page.locator("#acts button:enabled, #faults button:enabled, #parameters input:enabled").count(), 0);
  assert.equal(mock.pictures.length + mock.dropped, 0);
  await page.close();
});

const page = await open(`?operator=${OPERATOR}`);
const seen = (what) => page.evaluate((name) => window.cockpit[name], what);
const button = (name) => page.getByRole("button", { name, exact: true });
const says = (pattern, id = "log") => page.waitForFunction(([source, where]) => new RegExp(source, "s").test(document.getElementById(where).textContent), [pattern, id]);
const pill = (text) => page.waitForFunction((wanted) => document.querySelector("#state").textContent === wanted, text);
const isHeld = (held = true) => page.waitForFunction((wanted) => window.cockpit.authority.isHeld === wanted, held);
/** The first pad, from its middle: up and to the right, 1 is full. */
async function pointAt(name, up, right = 0) {
  const box = await page.getByRole("slider", { name }).boundingBox();
  await page.mouse.move(box.x + box.width * (0.5 + 0.4 * right), box.y + box.height * (0.5 - 0.4 * up));
}
const XY = "Translation, X and Y";
/** What is sent while this is done, and for a while after, is at rest. */
async function rests(doing) {
  const pictures = since();
  await doing();
  const before = pictures().length;
  await until("pictures", () => pictures().length > before + 4);
  assert(pictures().every(isAtRest), "nothing moves");
}

await check("the key is not left in the address bar; a reload keeps it, who opens the bare address has none", async () => {
  const mayCommand = (may) => page.waitForFunction((wanted) => window.cockpit?.authority.viewer > 0 && window.cockpit.authority.operator === wanted, may);
  await mayCommand(true);
  assert.equal(page.url(), mock.address);
  await page.reload();
  await mayCommand(true);
  await page.goto(mock.address);
  await mayCommand(false);
  await page.reload();
  await mayCommand(false);
  await page.goto(`${mock.address}?operator=${OPERATOR}`);
  await mayCommand(true);
  const other = await newPage(browser, 1280, 800, complaints);
  await other.addInitScript(() => Object.defineProperty(window, "sessionStorage", { get() { throw new Error("none"); } }));
  await other.goto(`${mock.address}?operator=${OPERATOR}`);
  await other.waitForFunction(() => window.cockpit?.authority.viewer > 0 && window.cockpit.authority.operator);
  assert(other.url().endsWith(OPERATOR), "without storage it stays where it is");
  await other.close();
  await page.waitForFunction(() => window.cockpit.arm);
});

await check("what only an operator can do looks so, and is told so", async () => {
  const off = page.locator('.modes button, [data-act="brakes"], [data-act="grapple"]');
  const look = () => off.evaluateAll((all) => all.map((each) => [each.getAttribute("aria-disabled"), parseFloat(getComputedStyle(each).opacity)]));
  assert((await look()).length > 7);
  for (const [disabled, opacity] of await look()) assert(disabled === "true" && opacity < 0.6, `${disabled} ${opacity}`);
  await button("Take").click();
  await isHeld();
  for (const [disabled, opacity] of await look()) assert(disabled === "false" && opacity === 1, `${disabled} ${opacity}`);
  await button("Give").click();
  await isHeld(false);
  mock.pictures.length = 0; // as if nobody had been here
});

await check("whoever has the token stops the arm, without authority", async () => {
  const isSafed = (is) => page.waitForFunction((wanted) => ((window.cockpit.arm.flags & 16) !== 0) === wanted, is);
  for (const doing of [() => page.locator("#safe").click(), () => page.keyboard.press("Escape")]) {
    mock.arm.flags &= ~FLAG.safed;
    await isSafed(false);
    assert.deepEqual(await page.locator("#safe").evaluate((each) => [each.getAttribute("aria-disabled"), getComputedStyle(each).opacity]), ["false", "1"]);
    const asked = mock.calls.length;
    await doing();
    await isSafed(true);
    assert.deepEqual(mock.calls.slice(asked).map(({ name }) => name), ["/safe"]);
  }
  assert.equal((await seen("authority")).holder, 0);
  assert.equal(mock.pictures.length + mock.dropped, 0);
  await page.waitForSelector("#unsafe", { state: "hidden" });
});

await check("nothing is sent before authority is taken; the first picture is at rest", async () => {
  await page.keyboard.press("KeyW");
  assert.equal(mock.pictures.length + mock.dropped, 0);
  await page.keyboard.down("KeyR");
  await button("Take").click();
  await page.waitForFunction(() => window.cockpit.authority.isHeld);
  await until("a picture", () => mock.pictures.length > 0);
  await page.keyboard.down("KeyR"); // the board repeats it; who had it down before presses it anew
  await rests(() => page.keyboard.up("KeyR"));
  await rests(() => page.keyboard.press("Shift"));
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
  await page.waitForFunction(() => document.querySelector(".grapple .figures").textContent === "0.050 mreach ≤ 0.1 m4.0°tilt ≤ 15°1.2 cm/sspeed ≤ 1 cm/s");
  assert.equal(await page.locator(".grapple b.over").count(), 1);
  await presses1(buttons.grapple, () => page.keyboard.press("KeyG"));
  await page.waitForFunction(() => /holds satellite/.test(document.querySelector(".held.good")?.textContent));
  const lamp = (text, isOn) => page.waitForFunction(([wanted, on]) => {
    const { textContent, classList } = document.querySelector(".grapple .lamp.good");
    return textContent === wanted && classList.contains("on") === on && document.querySelector('[data-act="release"]').classList.contains("ready") === on;
  }, [text, isOn]);
  const captions = (wanted, over) => page.waitForFunction(([texts, out]) => [...document.querySelectorAll(".grapple .figure")].every((figure, i) =>
    figure.querySelector("span").textContent === texts[i] && figure.querySelector("b").classList.contains("over") === out[i]), [wanted, over]);
  const berth = ["reach ≤ 0.05 m", "tilt ≤ 3°", "speed ≤ 5 cm/s"];
  await lamp("no berth", false);
  await captions(berth, [false, false, false]); // nothing is told
  mock.arm.berth = 1.234;
  await lamp("off berth", false);
  await captions(berth, [true, true, false]);
  await page.waitForFunction(() => /1\.234 m/.test(document.querySelector(".grapple .figures").textContent) && /to its berth/.test(document.querySelector(".grapple .held").textContent));
  mock.arm.flags |= FLAG.berthed;
  await lamp("in berth", true);
  assert(!(await named("grapple").getAttribute("class")).includes("ready"));
  mock.arm.flags &= ~FLAG.berthed;
  mock.arm.berth = -1;
  await presses1(buttons.release, () => named("release").click());
  await page.waitForFunction(() => window.cockpit.arm.payload === 0);
  await presses1(buttons.safe, () => page.locator("#safe").click());
  await page.waitForFunction(() => [...document.querySelectorAll(".lamp.bad.on")].some((lamp) => lamp.textContent === "safed"));
  await presses1(ARM.mode_buttons[1], () => page.keyboard.press("KeyE"));
  await page.waitForFunction(() => window.cockpit.arm.mode === 1);
  await presses1(buttons.safe, () => page.keyboard.press("Escape"));
  await page.waitForFunction(() => window.cockpit.arm.mode === 0);
});

await check("brakes are on when any is, and slip when any does", async () => {
  const brakes = page.locator('[data-act="brakes"]');
  for (const [brake, text, isOn] of [[[0, 0, 2, 0, 0, 0], "Brakes on", true], [[0, 1, 2, 2, 2, 2], "Brakes slipping", true], [[0, 0, 0, 0, 0, 0], "Brakes off", false]]) {
    mock.arm.brake = brake;
    await page.waitForFunction((wanted) => document.querySelector('[data-act="brakes"]').textContent === wanted, text);
    assert.equal(await brakes.getAttribute("aria-pressed"), String(isOn));
  }
  mock.arm.brake = undefined;
});

await check("space is for the run after a click, and for the button that keys have reached", async () => {
  const vernier = page.locator('[data-act="vernier"]');
  await presses1(ARM.buttons.vernier, () => vernier.click());
  const pictures = since();
  await page.keyboard.press("Space");
  await pill("paused");
  assert.deepEqual(presses(pictures()), []);
  await page.keyboard.press("Space");
  await pill("running");
  const asked = mock.calls.length;
  await vernier.focus();
  await presses1(ARM.buttons.vernier, () => page.keyboard.press("Space"));
  assert(await vernier.evaluate((element) => element === document.activeElement));
  assert.equal(mock.calls.length, asked);
  await vernier.blur();
});

await check("Escape is SAFE also in a browser without popovers", async () => {
  await page.evaluate(() => {
    window.kept = HTMLElement.prototype.hidePopover;
    delete HTMLElement.prototype.hidePopover;
  });
  await presses1(ARM.buttons.safe, () => page.keyboard.press("Escape"));
  await page.evaluate(() => (HTMLElement.prototype.hidePopover = window.kept));
});

await check("two quick presses are two presses", async () => {
  const pictures = since();
  await page.evaluate(() => {
    const vernier = document.querySelector('[data-act="vernier"]');
    vernier.click();
    vernier.click();
  });
  await until("both", () => presses(pictures()).length >= 2);
  assert.deepEqual(presses(pictures()), [ARM.buttons.vernier, ARM.buttons.vernier]);
  await until("up", () => newest().buttons === 0);
});

await check("a press outlives a stall of the network", async () => {
  const mode = (wanted) => page.waitForFunction((is) => window.cockpit.arm.mode === is, wanted);
  await presses1(ARM.mode_buttons[2], () => button("end-effector").click());
  await mode(2);
  for (const [act, doing] of [[3, () => page.keyboard.press("KeyE")], [ARM.buttons.vernier, () => page.keyboard.press("KeyV")], [ARM.buttons.safe, () => page.keyboard.press("Escape")]]) {
    const { stale } = mock;
    await presses1(act, async () => {
      mock.stall(450);
      await doing();
    });
    assert(mock.stale > stale, "what is old is dropped");
  }
  await mode(0);
  await presses1(ARM.mode_buttons[2], () => button("end-effector").click());
  const pictures = since();
  mock.stall(450);
  await page.keyboard.press("KeyV");
  await page.keyboard.press("KeyV");
  await until("both", () => presses(pictures()).length >= 2);
  await until("up", () => newest().buttons === 0);
  assert.deepEqual(presses(pictures()), [ARM.buttons.vernier, ARM.buttons.vernier]);
});

await check("SAFE stays down until the arm is safed, and who waits for it is told", async () => {
  const note = page.locator("#unsafe");
  await presses1(ARM.mode_buttons[2], () => button("end-effector").click());
  mock.isDeaf = true;
  const pictures = since();
  await page.keyboard.press("Escape");
  await note.waitFor({ state: "visible" });
  assert.equal(await note.textContent(), "SAFE not confirmed");
  await shoot("arm-unsafe");
  const red = await note.evaluate((each) => getComputedStyle(each).backgroundColor.match(/\d+/g).map(Number));
  assert(red[0] > 180 && red[1] < 80 && red[2] < 80, `${red}`);
  await page.keyboard.press("KeyE"); // and is not undone by what is pressed meanwhile
  await says("SAFE is not confirmed yet");
  await nap(1000);
  assert.deepEqual(presses(pictures()), [ARM.buttons.safe]);
  assert.notEqual(newest().buttons, 0);
  await page.evaluate(() => window.dispatchEvent(new Event("blur")));
  mock.isDeaf = false;
  await page.waitForFunction(() => (window.cockpit.arm.flags & 16) !== 0);
  await note.waitFor({ state: "hidden" });
  await until("up", () => newest().buttons === 0);
});

await check("who gives authority away before SAFE is confirmed has asked for it all the same", async () => {
  await presses1(ARM.mode_buttons[2], () => button("end-effector").click());
  mock.isDeaf = true;
  await page.keyboard.press("Escape");
  await button("Give").click();
  await isHeld(false);
  await until("the run is asked", () => mock.calls.some(({ name }, i) => name === "/safe" && i >= mock.calls.length - 2));
  mock.isDeaf = false;
  await page.waitForFunction(() => (window.cockpit.arm.flags & 16) !== 0);
  await button("Take").click();
  await isHeld();
});

await check("modes are stepped from the one that was asked for", async () => {
  const mode = (wanted) => page.waitForFunction((is) => window.cockpit.arm.mode === is, wanted);
  await presses1(ARM.mode_buttons[0], () => button("hold").click());
  await mode(0);
  for (const [key, wanted] of [["KeyE", 3], ["KeyQ", 0]]) {
    await page.evaluate((code) => {
      for (let i = 0; i < 3; i++) document.dispatchEvent(new KeyboardEvent("keydown", { code, key: code, bubbles: true }));
    }, key);
    await mode(wanted);
  }
  mock.answer = false; // a mode that never comes is not stepped from for ever
  await page.keyboard.press("KeyE");
  await until("up", () => newest().buttons === 0);
  mock.arm.mode = 0;
  await nap(1100);
  mock.answer = true;
  await presses1(ARM.mode_buttons[1], () => page.keyboard.press("KeyE"));
  await presses1(ARM.mode_buttons[0], () => button("hold").click());
  await mode(0);
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

await check("a key that is down is let go with ctrl, alt or the command key, which hide that it comes up", async () => {
  for (const modifier of ["Control", "Alt", "Meta"]) {
    await page.keyboard.down("KeyW");
    await until("flies", () => newest().axes[0] === 1);
    await page.keyboard.down(modifier);
    await until(`${modifier} lets go`, () => isAtRest(newest()));
    await page.keyboard.up(modifier);
    await rests(() => page.keyboard.up("KeyW"));
  }
  await page.getByRole("slider", { name: XY }).focus();
  await page.keyboard.down("ArrowUp");
  await until("flies", () => newest().axes[0] === 1);
  await page.keyboard.down("Meta");
  await until("rests", () => isAtRest(newest()));
  await page.keyboard.up("Meta");
  await page.keyboard.up("ArrowUp");
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

await check("no menu keeps the stick", async () => {
  const mouse = await page.context().newCDPSession(page);
  await pointAt(XY, 0);
  await page.mouse.down();
  await pointAt(XY, 0.6);
  await until("flies", () => newest().axes[0] > 0.5);
  const box = await page.getByRole("slider", { name: XY }).boundingBox();
  await mouse.send("Input.dispatchMouseEvent", { type: "mouseMoved", x: box.x + box.width / 2, y: box.y + box.height / 3, button: "none", buttons: 0 });
  await until("a button that is up flies nothing", () => isAtRest(newest()));
  await page.mouse.up();
  const menu = (selector) => page.evaluate((where) => document.querySelector(where).dispatchEvent(new MouseEvent("contextmenu", { bubbles: true, cancelable: true })), selector);
  assert.equal(await menu(".pad"), false, "a pad has no menu");
  for (const open of [() => menu("#scenario"), () => page.evaluate(() => document.querySelector("#second").dispatchEvent(new PointerEvent("pointerdown", { bubbles: true })))]) {
    await page.keyboard.down("KeyW");
    await until("flies", () => newest().axes[0] === 1);
    await open();
    await until("rests", () => isAtRest(newest()));
    await rests(() => page.keyboard.up("KeyW"));
  }
});

await check("hands are off whatever goes wrong", async () => {
  await pointAt(XY, 0);
  await page.mouse.down();
  await pointAt(XY, 0.6);
  await until("flies", () => newest().axes[0] > 0.5);
  await page.evaluate(() => {
    const pad = document.querySelector(".pad");
    pad.releasePointerCapture = () => { throw new Error("on purpose"); };
    window.dispatchEvent(new Event("blur"));
    delete pad.releasePointerCapture;
  });
  await until("rests", () => isAtRest(newest()));
  await page.mouse.up();
  assert.match(complaints.pop(), /on purpose/);
});

await check("who takes authority with a stick or a key down moves nothing, nor who gets it again", async () => {
  const take = () => page.evaluate(() => document.querySelectorAll("#authority button")[0].click());
  await button("Give").click();
  await isHeld(false);
  await pointAt(XY, 0);
  await page.mouse.down();
  await pointAt(XY, 0.7);
  await take();
  await isHeld();
  await rests(() => pointAt(XY, 0.9));
  await page.mouse.up();
  await button("Give").click();
  await isHeld(false);
  await page.getByRole("slider", { name: XY }).focus();
  await page.keyboard.down("ArrowUp");
  await take();
  await isHeld();
  await rests(() => page.keyboard.down("ArrowUp"));
  await page.keyboard.up("ArrowUp");
  const { viewer } = await seen("authority");
  await page.keyboard.down("KeyW");
  await pointAt("Rotation, yaw", 0);
  await page.mouse.down();
  await pointAt("Rotation, yaw", 0.7);
  await until("both fly", () => newest().axes[0] === 1 && newest().axes[5] > 0.6);
  for (const holder of [0, viewer]) {
    mock.holder = holder;
    mock.tell();
    await isHeld(holder !== 0);
  }
  await rests(() => pointAt("Rotation, yaw", 0.9));
  await rests(() => page.mouse.up());
  await rests(() => page.keyboard.up("KeyW"));
  mock.dropped = 0; // those that were under way when it was taken away
});

await check("pads obey the arrow keys", async () => {
  await page.getByRole("slider", { name: "Rotation, pitch and roll" }).focus();
  await moves(axis(4, 1), () => page.keyboard.down("ArrowUp"), () => page.keyboard.up("ArrowUp"));
  await moves(axis(3, -1), () => page.keyboard.down("ArrowLeft"), () => page.keyboard.up("ArrowLeft"));
});

/** Until the page has looked at it; no axes: there is none. */
const setGamepad = (axes, buttons = {}) =>
  page.evaluate(([given, values]) => new Promise((done) => {
    const pad = { id: "test pad", index: 1, connected: true, mapping: "standard", axes: given, buttons: Array.from({ length: 17 }, (_, i) => ({ value: values[i] ?? 0, pressed: (values[i] ?? 0) > 0.5 })) };
    let looks = 0;
    const look = () => {
      if (++looks === 3) done(); // by then the second is over
      return [null, given ? pad : null];
    };
    Object.defineProperty(navigator, "getGamepads", { value: look, configurable: true });
  }), [axes, buttons]);

await check("the press that wakes a gamepad, or that was there before the focus, is no command", async () => {
  const pictures = since();
  const isPressed = async () => {
    await until("pictures", () => pictures().length > 3);
    return presses(pictures()).length > 0;
  };
  await setGamepad();
  await setGamepad([0, 0, 0, 0], { 8: 1 }); // back, which is SAFE
  assert(!(await isPressed()), "it was not there before");
  await page.evaluate(() => (document.hasFocus = () => false));
  await setGamepad([0, 0, 0, 0], {});
  await setGamepad([0, 0, 0, 0], { 8: 1 });
  await page.evaluate(() => delete document.hasFocus);
  await setGamepad([0, 0, 0, 0], { 8: 1 });
  assert(!(await isPressed()), "nobody looked");
  await setGamepad([0, 0, 0, 0], {});
  await presses1(ARM.buttons.safe, () => setGamepad([0, 0, 0, 0], { 8: 1 }));
  await setGamepad([0, 0, 0, 0], {});
});

await check("a gamepad flies, presses, and is merged with the keys", async () => {
  const set = setGamepad;
  await set([0, 0, 0, 0], {});
  await says("gamepad: test pad", "gamepad");
  await rests(() => set([0.1, -0.1, 0, 0], { 6: 0.1, 7: 0.05 })); // sticks and triggers that do not come back all the way
  await moves([1, 1, 0, 0, 0, 0], () => set([1, -1, 0, 0], {}), () => set([0, 0, 0, 0], {}));
  await moves([0, 0, 1, 0, 0, -1], () => set([0, 0, 0, 0], { 7: 1, 4: 1 }), () => set([0, 0, 0, 0], {}));
  await moves([0, 0, 0, 1, -1, 0], () => set([0.05, 0.05, 1, 1], {}), () => set([0, 0, 0, 0], {}));
  await presses1(ARM.buttons.vernier, () => set([0, 0, 0, 0], { 2: 1 }));
  await set([0, -1, 0, 0], {});
  await until("the stick flies", () => newest().axes[0] === 1);
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
  await says("let go of the sticks first", "gamepad");
  await setGamepad([0, 0, 0, 0], {});
  await page.waitForFunction(() => !/let go/.test(document.querySelector("#gamepad").textContent));
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
  const isRepeat = ({ sentUs }) => sentUs % 2n === 1n;
  let during = [];
  for (let tries = 0; tries < 10 && during.length < 6; tries++) { // the machine may be busy too
    const pictures = since();
    await busy(700);
    assert(pictures().every(isAtRest));
    during = pictures().filter(isRepeat);
  }
  assert(during.length > 5, `${during.length} times the same again`);
  assert(during.every(({ sentUs }, i) => i === 0 || sentUs > during[i - 1].sentUs), "each at its own time");
  let after = Infinity; // ms, from the page's last picture to the sticks that its worker lets go
  for (let tries = 0; tries < 10 && after > 500; tries++) {
    await page.keyboard.down("KeyW");
    await until("flies", () => newest().axes[0] === 1);
    const first = mock.pictures.length - 1;
    await busy(900);
    const own = mock.pictures.slice(first).findIndex((picture, i, all) => isRepeat(all[i + 1] ?? picture) && !isAtRest(picture));
    const letGo = () => mock.pictures.slice(first + own).find((picture) => isRepeat(picture) && isAtRest(picture));
    await until("the sticks of a page that stands are let go", letGo);
    after = Number(letGo().sentUs - mock.pictures[first + own].sentUs) / 1000;
    await until("flies again", () => newest().axes[0] === 1);
    await page.keyboard.up("KeyW");
  }
  assert(after > 250 && after <= 500, `after ${after} ms`);
  const hung = busy(3000);
  await until("the link is lost", () => mock.arm.flags & FLAG.lost);
  await hung;
  await until("and heard again", () => !(mock.arm.flags & FLAG.lost));
});

/* ---- what is shown ------------------------------------------------------------------------------ */

/** How many there were, when what was asked earlier is answered. */
async function settled() {
  let before = -1;
  for (let now = 0; now !== before; now = (await seen("delays")).picture.total) {
    before = now;
    await nap(300);
  }
  return before;
}

await check("delays are measured for every change, by its answer", async () => {
  const before = await settled();
  mock.answer = false;
  const pictures = since();
  await page.keyboard.press("KeyD");
  await until("it was sent", () => pictures().some(({ axes }) => axes[1] === 1) && newest().axes[1] === 0);
  await nap(500);
  const [{ sentUs }] = mock.pictures.slice(-1);
  mock.say("/arm", { ...mock.arm.message(bodies(mock.arm.position, 0, 0)[4]), board_us: sentUs | 1n }); // what the worker repeats answers nothing
  await nap(300);
  assert.equal((await seen("delays")).picture.total, before);
  mock.arm.delay = 0.25;
  mock.answer = true;
  await page.waitForFunction((total) => window.cockpit.delays.picture.total >= total + 2, before);
  assert.equal(await settled(), before + 2);
  const { motion, picture, transport } = await seen("delays");
  assert(motion.count > 0 && motion.median > 0 && motion.max >= motion.last);
  assert(picture.last > 400 && picture.max >= picture.last, `held back on purpose: ${picture.last}`);
  assert.equal(transport, 250);
  await page.waitForFunction(() => /250 ms on purpose/.test(document.querySelector("#delays").textContent));
  mock.arm.delay = 0;
});

await check("who does not look, and a run that is paused, have no delay to the picture", async () => {
  const before = await settled();
  await page.keyboard.press("Space");
  await pill("paused");
  const pictures = since();
  await page.keyboard.press("KeyD");
  await until("it was sent", () => pictures().some(({ axes }) => axes[1] === 1) && newest().axes[1] === 0);
  await page.keyboard.press("Space");
  await pill("running");
  assert.equal(await settled(), before);
  await page.keyboard.down("KeyD");
  await until("flies", () => newest().axes[1] === 1);
  mock.answer = false; // the answer comes when nobody looks
  await page.keyboard.up("KeyD");
  const known = await settled();
  await hide(true);
  mock.tellLatency(90e6); // and another's command
  mock.answer = true;
  await nap(100);
  await hide(false);
  await until("heard again", () => !(mock.arm.flags & FLAG.lost));
  assert.equal(await settled(), known);
  assert((await seen("delays")).picture.max < 60000);
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

await check("half a turn has one sign, and rates of the hand are told as what they are", async () => {
  const roll = page.locator(".axis b").nth(3);
  for (const by of [1e-7, -1e-7]) {
    mock.arm.aim = { w: Math.sin(by), x: Math.cos(by), y: 0, z: 0 };
    await until("half a turn", async () => (await roll.textContent()) === "180.00");
    await nap(150);
    assert.equal(await roll.textContent(), "180.00");
  }
  mock.arm.aim = undefined;
  const rates = await page.locator(".axis small:not(.wanted)").allTextContents();
  assert.deepEqual(rates.map((text) => /^[^\d−]*/.exec(text)[0]), ["", "", "", "ωx ", "ωy ", "ωz "]);
  assert.deepEqual((await page.locator(".grapple .figure span").allTextContents()).map((text) => text.split(" ≤")[0]), ["reach", "tilt", "speed"]);
});

await check("what nobody asks of the hand is not told as asked", async () => {
  const asked = (pattern) => page.waitForFunction((source) => [...document.querySelectorAll(".axis .wanted")].every((each) => new RegExp(source).test(each.textContent)), pattern);
  for (const [mode, pattern] of [["base", "^−?\\d"], ["joint", "^–"], ["auto", "^–"]]) {
    await presses1(ARM.mode_buttons[ARM.modes.indexOf(mode)], () => button(mode).click());
    await asked(pattern);
  }
  await presses1(ARM.mode_buttons[3], () => button("base").click());
  mock.arm.brake = [0, 0, 0, 0, 0, 2];
  await asked("^–");
  mock.arm.brake = undefined;
  await presses1(ARM.mode_buttons[0], () => button("hold").click());
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
  await page.evaluate(() => { // to the pole, and no further
    for (let i = 0; i < 60; i++) document.querySelector("#scene").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp", bubbles: true }));
  });
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
  await shoot("arm-help");
  await presses1(ARM.buttons.safe, () => page.keyboard.press("Escape")); // and nothing is in the way of this key
  await help.waitFor({ state: "hidden" });
});

await check("pause, step and faults are lit, and a reset ends them", async () => {
  await page.locator("#scene").focus();
  for (const [key, text] of [["Space", "paused"], ["Space", "running"], [".", "paused"], ["Space", "running"]]) {
    await page.keyboard.press(key);
    await pill(text);
  }
  const asked = mock.calls.map(({ name }) => name).filter((name) => ["/pause", "/resume", "/step"].includes(name));
  assert.deepEqual(asked.slice(-4), ["/pause", "/resume", "/step", "/resume"]);
  const fault = page.locator("#faults button").nth(1); // of two with the same name
  for (const isOn of [true, false, true]) {
    await fault.click();
    await page.waitForSelector(`#faults button[aria-pressed="${isOn}"]:nth-child(2)`);
    assert.deepEqual(mock.calls.at(-1).request, { name: "1", active: isOn });
    assert.equal(await page.locator("#faults button").first().getAttribute("aria-pressed"), "false");
  }
  const known = mock.calls.length;
  assert.equal(await button("Reset").evaluate((reset) => (reset.click(), reset.textContent)), "Reset?");
  await button("Reset").waitFor(); // who does not click again did not mean it
  assert.equal(mock.calls.length, known);
  assert.equal(await clickTwice(page, "Reset"), "Reset?");
  await page.waitForSelector("#faults:not(:has(button.on))");
  await button("Reset").waitFor();
  assert.deepEqual(mock.calls.slice(known).map(({ name }) => name), ["/reset"]);
});

await check("what is so already is not asked for, and lines say what they mean", async () => {
  const enabled = () => page.locator("#acts button:enabled").allTextContents();
  await until("running", async () => (await enabled()).join() === "Pause,Step,Reset,Checkpoint,Restore");
  await button("Step").click();
  await until("paused", async () => (await enabled()).join() === "Resume,Step,Reset,Checkpoint,Restore");
  await says("1 frame from frame 7");
  await button("Resume").click();
  await pill("running");
  await button("Checkpoint").click();
  await says("checkpoint: cockpit.checkpoint");
});

await check("who comes in a pause is told so, with the faults that are on, and one key goes on; the prediction stays", async () => {
  await page.waitForSelector("#ghost", { state: "visible" });
  await page.locator("#faults button").nth(1).click();
  await page.waitForSelector("#faults button.on:nth-child(2)");
  await page.keyboard.press("Space");
  await pill("paused");
  await nap(3500);
  assert(await page.locator("#ghost").isVisible());
  await page.reload();
  await page.waitForSelector("#state:has-text('paused')");
  assert.equal(await page.locator("#faults button.on").count(), 1);
  await page.waitForSelector("#faults button.on:nth-child(2)");
  const asked = mock.calls.length;
  await page.keyboard.press("Space");
  await pill("running");
  assert.deepEqual(mock.calls.slice(asked).map(({ name }) => name), ["/resume"]);
  await page.waitForFunction(() => window.cockpit.arm);
  const [line] = await page.locator("#log li").filter({ hasText: "connected to" }).allTextContents();
  assert.doesNotMatch(line, /^0\.00|–/, "who comes late comes late");
  await clickTwice(page, "Reset");
  await isHeld(); // who commands has authority
});

await check("a run that does not tell of its desk is judged by its time", async () => {
  mock.hasDesk = false;
  mock.drop();
  await isHeld(false);
  await pill("running");
  await button("Take").click();
  await isHeld();
  await page.keyboard.press("Space");
  await pill("waiting");
  await page.keyboard.press("Space");
  await pill("running");
  assert.deepEqual(mock.calls.slice(-2).map(({ name }) => name), ["/pause", "/resume"]);
  for (const isOn of [true, false]) {
    await page.locator("#faults button").first().click();
    await page.waitForSelector(`#faults button[aria-pressed="${isOn}"]:first-child`);
  }
  mock.hasDesk = true;
  mock.drop();
  await isHeld(false);
  await button("Take").click();
  await isHeld();
});

await check("a parameter that is refused does not stay on the screen", async () => {
  const input = page.locator("#parameters input");
  const shows = (value) => page.waitForFunction((wanted) => document.querySelector("#parameters input").value === wanted, value);
  await input.fill("2.5");
  await input.press("Enter");
  await until("it is set", () => mock.gain === 2.5);
  await input.fill("99");
  await input.press("Enter");
  await shows("2.5");
  await says("99 is not from 0 to 10");
  await input.fill("7");
  mock.gain = 3;
  mock.shout({ op: "parameterValues", parameters: [{ name: "arm.gain", value: 3, type: "float64" }] });
  mock.log("told");
  await says("told");
  assert.equal(await input.inputValue(), "7", "who types is not disturbed");
  await input.fill("");
  await input.blur();
  await shows("3");
});

await check("time that stands, and a run that says nothing, are told", async () => {
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

await check("charts tell their units, and draw no line where nothing was heard", async () => {
  await page.waitForFunction(() => [...document.querySelectorAll("#charts .u-title")].some((title) => title.textContent === "arm rate, rad/s"));
  await page.getByLabel("arm rate command", { exact: false }).first().check();
  await page.waitForFunction(() => [...document.querySelectorAll("#charts .u-title")].some((title) => title.textContent === "arm rate command"));
  await page.getByLabel("arm rate command", { exact: false }).first().uncheck();
  const gaps = () => page.evaluate(() => window.cockpit.gaps("arm rate"));
  const before = await gaps();
  mock.answer = false;
  await nap(1500);
  mock.answer = true;
  await until("a gap", async () => (await gaps()) > before);
});

await check("the connection is judged", async () => {
  mock.status(1, "123 messages were lost: this client reads too slowly", "lost");
  await says("messages/s.*there and back.*123 lost", "quality");
  await page.waitForSelector("#quality.bad");
  mock.lagMs = 1700; // longer than from one question to the next
  await page.waitForFunction(() => window.cockpit.quality.trip > 1600);
  assert((await seen("quality")).trip < 30000);
  mock.lagMs = 0;
});

await check("a page that is too slow skips what is old, and keeps what must be whole", async () => {
  const { skipped } = await seen("quality");
  const slow = page.evaluate(() => { // as slow as it takes, whatever the machine does
    const request = new XMLHttpRequest();
    request.open("GET", "/stand", false);
    request.send();
  });
  await until("the page stands", () => mock.standing);
  for (let i = 0; i < 40; i++) {
    mock.log(`line ${i} of forty`, 2);
    for (let k = 0; k < 25; k++) mock.tellLatency(500 + i);
    await nap(10);
  }
  mock.standing.end();
  await slow;
  await page.waitForFunction((before) => window.cockpit.quality.skipped > before + 500, skipped);
  await until("every line", async () => (await page.textContent("#log")).match(/line \d+ of forty/g).length === 40);
  const before = mock.time;
  await page.waitForFunction((time) => parseFloat(document.querySelector("#clock").textContent) > time, before);
  await says("skipped", "quality");
});
const lostMs = performance.now();

await check("what stands has one line, and overruns drown nothing", async () => {
  const lines = (pattern) => page.locator("#log li").filter({ hasText: pattern }).allTextContents();
  for (let i = 1; i <= 3; i++) mock.status(1, `${i} frames overran and 0 releases were missed so far`, "overruns");
  await says("3 frames overran and");
  assert.equal((await lines(/so far/)).length, 1);
  mock.log("in between");
  await says("in between");
  mock.status(1, "4 frames overran and 0 releases were missed so far", "overruns");
  await says("4 frames overran");
  assert.match((await lines(/./))[0], /4 frames overran/, "it is where it last changed");
  mock.log("begins");
  for (let i = 0; i < 30; i++) mock.log(`frame ${i} overran by 4.2 us: own`);
  mock.status(1, "30 frames overran and 0 releases were missed so far", "overruns");
  mock.log("and 12 more frames overran");
  await says("42 overruns, the last: frame 29 overran by 4.2 us: own");
  assert.equal((await lines(/overran by/)).length, 1);
  mock.log("something else");
  mock.log("frame 77 overran by 4.2 us: own");
  await says("frame 77");
  assert.equal((await lines(/overran by/)).length, 2);
  mock.shout({ op: "removeStatus", statusIds: ["overruns"] });
  await page.waitForFunction(() => !/so far/.test(document.querySelector("#log").textContent));
  const room = await page.locator("#log").evaluate((list) => list.clientHeight / list.firstElementChild.offsetHeight);
  assert(room > 5, `${room} lines are seen`);
});

await check("main numbers are large, and the tab key reaches every control", async () => {
  for (const selector of ["#clock", ".joint b", ".axis b", ".figure b", "#delays td.main", "#safe"]) {
    const size = await page.locator(selector).first().evaluate((element) => parseFloat(getComputedStyle(element).fontSize));
    assert(size >= 22, `${selector} has ${size} px`);
  }
  await page.locator("#theme").focus();
  await page.evaluate(() => {
    window.reached = [];
    addEventListener("focusin", ({ target }) => window.reached.push(target.getAttribute("aria-label") ?? target.textContent));
  });
  await Promise.all(Array.from({ length: 60 }, () => page.keyboard.press("Tab"))); // one after the other, all the same
  const reached = await page.evaluate(() => window.reached);
  assert(await page.evaluate(() => parseFloat(getComputedStyle(document.activeElement).outlineWidth) >= 2), "the focus is seen");
  const order = ["overview", "wrist", "Give", "SAFEEsc", "Translation, X and Y", "Translation, Z", "Rotation, pitch and roll", "Rotation, yaw", "hold", "auto"];
  const places = order.map((name) => reached.indexOf(name));
  assert(places.every((place, i) => place >= 0 && (i === 0 || place > places[i - 1])), `${reached}`);
});

await check("nothing is cut off and nothing lies on another, in windows of many sizes; SAFE is always in sight", async () => {
  const safe = () => page.evaluate(() => {
    const { top, bottom } = document.querySelector("#safe").getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
  for (const [width, height] of [[2560, 1440], [1920, 1080], [1366, 768], [1280, 800], [1024, 768], [820, 1180], [414, 896], [390, 844]]) {
    await page.setViewportSize({ width, height });
    await page.evaluate(() => scrollTo(0, 0));
    await drawn(page);
    assert.deepEqual(await findClutter(page), [], `${width} x ${height}`);
    await shoot(`arm-${width}`);
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    assert(await safe(), `${width} x ${height}`);
    const pads = await page.locator(".pad").evaluateAll((all) => all.map((pad) => pad.getBoundingClientRect()).filter(({ left, right }) => left < 0 || right > innerWidth).length);
    assert.equal(pads, 0, `pads at ${width} x ${height}`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
});

await check("on a small laptop all of the panel is in sight, and names are whole", async () => {
  const seven = ["shoulder_roll", "shoulder_yaw", "shoulder_pitch", "elbow_pitch", "wrist_pitch", "wrist_yaw", "end_effector_roll"];
  await page.setViewportSize({ width: 1366, height: 768 });
  for (const joints of [ARM.joints, seven.map((name, i) => ({ ...ARM.joints[i % 6], name }))]) {
    mock.metadata = { arm: JSON.stringify({ ...ARM, joints }) };
    mock.drop();
    await isHeld(false);
    await page.waitForFunction((count) => window.cockpit.arm?.position.length === count && document.querySelectorAll(".joint").length === count, joints.length);
    await button("Take").click();
    await isHeld();
    await presses1(ARM.mode_buttons[2], () => button("end-effector").click()); // whose words are the longest
    mock.arm.brake = Array(6).fill(2);
    await page.waitForSelector(".joint em.holding");
    await drawn(page);
    const hidden = await page.locator('[data-act="grapple"], [data-act="release"], .poses button, .grapple .held').evaluateAll((all) => all.filter((each) => each.getBoundingClientRect().bottom > innerHeight - 7).map((each) => each.textContent));
    assert.deepEqual(hidden, [], `${joints.length} joints`);
    const cut = await page.locator(".joint .name, #signals label > span:first-child").evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent));
    assert.deepEqual(cut, []);
    assert.deepEqual(await findClutter(page), []);
    await shoot(`arm-laptop-${joints.length}`);
    mock.arm.brake = undefined;
  }
  mock.metadata = {};
  mock.drop();
  await isHeld(false);
  await page.waitForFunction(() => document.querySelectorAll(".joint").length === 6);
  await button("Take").click();
  await isHeld();
  await presses1(ARM.mode_buttons[0], () => button("hold").click());
  await page.setViewportSize({ width: 1280, height: 800 });
});

await check("a wall shows what matters large enough for three metres", async () => {
  await page.setViewportSize({ width: 1920, height: 1080 });
  await page.locator("#scene").focus();
  await page.keyboard.press("KeyM");
  await page.waitForSelector('html[data-wall="yes"]');
  await drawn(page);
  for (const [selector, least] of [["#clock", 60], ["#safe", 60], [".mode b", 50], ["#state", 44], [".arm .lamp", 32]]) {
    const size = await page.locator(selector).first().evaluate((element) => parseFloat(getComputedStyle(element).fontSize));
    assert(size >= least, `${selector} has ${size} px`);
  }
  assert.deepEqual(await findClutter(page), []);
  await shoot("arm-wall");
  await page.keyboard.press("KeyM");
  await page.waitForSelector('html[data-wall="no"]');
  await page.setViewportSize({ width: 1280, height: 800 });
});

await check("who hears the page hears its lamps, but not its clock", async () => {
  assert.deepEqual(await page.locator("#clock").evaluate((clock) => [clock.tagName, clock.getAttribute("role")]), ["SPAN", "timer"]); // <output> is read out at every change
  const lamp = (name) => page.getByRole("img", { name, exact: true });
  mock.arm.flags |= FLAG.safed;
  await lamp("safed: on").waitFor();
  mock.arm.flags &= ~FLAG.safed;
  await lamp("safed: off").waitFor();
  assert.equal(await page.locator(".pad").first().evaluate((pad) => getComputedStyle(pad).userSelect + getComputedStyle(pad).touchAction), "nonenone");
});

/** WCAG's contrast of an element's letters; every colour is put on the page as it would be drawn. */
const contrast = (selector, className) =>
  page.evaluate(([where, kind]) => {
    const element = document.querySelector(where);
    const kept = element.className;
    element.className = kind;
    const { color, backgroundColor } = getComputedStyle(element);
    element.className = kept;
    const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const lightness = (of) => {
      context.fillStyle = of;
      context.fillRect(0, 0, 1, 1);
      const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map((part) => part / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const [low, high] = [lightness(backgroundColor), lightness(color)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }, [selector, className]);

await check("dark and light: as the system has it until somebody chooses; both can be read", async () => {
  const is = async (theme) => {
    await page.waitForSelector(`html[data-theme="${theme}"]`);
    for (const kind of ["pill", "pill good", "pill warn", "pill bad"]) {
      const is = await contrast("#state", kind);
      assert(is >= 4.5, `${theme} ${kind}: ${is}`);
    }
    for (const kind of ["lamp good on", "lamp warn on", "lamp bad on"]) {
      const is = await contrast(".arm .lamp", kind);
      assert(is >= 4.5, `${theme} ${kind}: ${is}`);
    }
  };
  await is("dark");
  await shoot("arm-dark");
  await page.emulateMedia({ colorScheme: "light" });
  await is("light");
  await shoot("arm-light");
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
  const { viewer } = await seen("authority");
  const other = await open(`?operator=${OPERATOR}`, "light");
  const asker = await other.evaluate(() => window.cockpit.authority.viewer);
  await other.waitForFunction((holder) => document.querySelector("#authority").textContent.includes(`Viewer ${holder} has authority`), viewer);
  assert(await other.getByRole("button", { name: "Take", exact: true }).isDisabled());
  await other.getByRole("button", { name: "Ask", exact: true }).click();
  await says(`Viewer ${asker} asks for it`, "authority");
  await says(`viewer ${asker} asks viewer ${viewer} for authority`);
  assert.equal((await page.textContent("#log")).match(new RegExp(`viewer ${asker} asks`, "g")).length, 1, "told once");
  await other.waitForFunction(() => /You have asked/.test(document.querySelector("#authority").textContent));
  await other.getByRole("button", { name: "Pause", exact: true }).click();
  await other.waitForFunction((holder) => document.querySelector("#log").textContent.includes(`viewer ${holder} has authority`), viewer);
  await button(`Give to viewer ${asker}`).click();
  await other.waitForFunction(() => window.cockpit.authority.isHeld);
  await other.waitForFunction(() => /You have authority/.test(document.querySelector("#authority").textContent));
  await button("Give").waitFor();
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
  for (const topic of ["/arm", "/tf", "/tf/straight", "/tf/ghost", "/scene", "/scene/bent", "/scene/straight", "/live", "/latency", "/authority", "/log", "/desk"])
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

await check("one picture that goes wrong is not the last", async () => {
  await page.evaluate(() => Object.defineProperty(document.querySelector("#clock"), "textContent", { get() { throw new Error("on purpose"); }, configurable: true }));
  await until("it goes wrong", () => complaints.some((text) => /on purpose/.test(text)));
  await page.evaluate(() => delete document.querySelector("#clock").textContent);
  await drawn(page);
  complaints.splice(0, complaints.length, ...complaints.filter((text) => !/on purpose/.test(text)));
});

await check("a run that comes back is found, without authority; its URDF is drawn", async () => {
  await nap(10000 - (performance.now() - lostMs));
  await page.waitForSelector("#quality:not(.bad)"); // what was lost long ago is no news
  await page.waitForSelector("#boards", { state: "visible" });
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
  await pill("no run");
  assert.equal(await page.locator("#acts button:enabled").count(), 0);
  assert.equal(await page.textContent("#quality"), "");
  await shoot("arm-gone");
  mock.closed = false;
  await page.waitForSelector('html[data-connected="yes"]');
  await page.waitForSelector("#gone", { state: "hidden" });
  await until("the same charts", async () => (await charted()).join() === before.join());
  await until("the same camera", async () => (await seen("camera")).main === "follow");
  await page.waitForFunction(() => !window.cockpit.authority.isHeld && window.cockpit.arm);
  await until("the URDF is asked for", () => mock.served.includes("/model.urdf"));
  await until("the URDF is drawn", () => page.evaluate(() => window.cockpit.clothed.includes("wrist")));
  assert.doesNotMatch(await page.textContent("#log"), /URDF cannot be read/);
  assert(await page.locator("#boards").isHidden(), "the loop of the run before");
  await shoot("arm-urdf");
});

await check("the looks of a run go with it, and never come to the next", async () => {
  const clothed = () => page.evaluate(() => window.cockpit.clothed.length);
  const again = async () => {
    const { viewer } = await seen("authority");
    mock.drop();
    await page.waitForFunction((before) => window.cockpit.authority.viewer > before && window.cockpit.arm, viewer);
  };
  await drawn(page);
  const shapes = await seen("shapes");
  for (let i = 0; i < 3; i++) {
    await again();
    await until("clothed", async () => (await clothed()) > 0);
    await drawn(page);
  }
  const more = (await seen("shapes")) - shapes;
  assert(more <= 2, `${more} more`); // a box that was seen before the URDF came; what stays of three runs would be six
  mock.urdfMs = 2500;
  await again();
  mock.urdf = false;
  await again();
  await nap(2500);
  assert.equal(await clothed(), 0);
});

await check("a new run at the same address with another token can be watched", async () => {
  mock.operator = "another";
  mock.drop();
  await page.waitForSelector("#gone", { state: "visible" });
  await page.waitForSelector("#gone", { state: "hidden" });
  await page.waitForFunction(() => window.cockpit.authority.operator === false);
  await says("another operator token, so you may only watch");
  await says("You may watch", "command");
  mock.operator = OPERATOR;
  mock.drop();
  await page.waitForFunction(() => window.cockpit.authority.operator === true);
});

await check("an arm that cannot be read leaves the rest of the page", async () => {
  mock.metadata = { arm: '{"joints": 7', cameras: "[1, null, {}]", viewer: "many", "link.0": "hand" };
  mock.drop();
  await page.waitForSelector('html[data-vehicle="free"]');
  await page.waitForSelector(".ball");
  await says("its arm cannot be read");
  await drawn(page);
  await page.waitForFunction(() => document.querySelector(".links .lamp.good.on")?.textContent === "hand heard");
  await page.evaluate(() => (document.querySelector(".links .lamp").isTheSame = true));
  await nap(200);
  assert(await page.evaluate(() => document.querySelector(".links .lamp").isTheSame), "lamps are not made anew at every look");
});

// A run that is gone is looked for, and the browser says so.
assert.deepEqual(complaints.filter((text) => !/WebSocket connection|ERR_EMPTY_RESPONSE/.test(text)), []);
await browser.close();
mock.close();
