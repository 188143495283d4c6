// Opens the cockpit in a real browser and uses it: cockpit.mjs ADDRESS SCREENSHOT.  Prints what it
// saw as JSON.
import { clickTwice, countColours, drawn, findClutter, inFull, launch, newPage } from "./cockpit_browser.mjs";

const [address, screenshot] = process.argv.slice(2);
const browser = await launch();
const complaints = [];
const page = await newPage(browser, 1600, 950, complaints);

const seconds = async () => parseFloat(await page.textContent("#clock"));
const saw = { took: {} };
let lapMs = performance.now();
/** How long it took since the last one. */
const lap = (name) => {
  saw.took[name] = Number(((performance.now() - lapMs) / 1000).toFixed(1));
  lapMs = performance.now();
};
for (let tries = 0; ; tries++) {
  const failed = await page.goto(address).then(() => undefined, (error) => error);
  if (!failed) break;
  if (tries === 100) throw failed;
  await page.waitForTimeout(200);
}
complaints.length = 0; // the run was not there yet
await page.waitForSelector('html[data-connected="yes"]');
lap("open");
await page.waitForFunction(() => parseFloat(document.querySelector("#clock").textContent) > 0);
const first = await seconds();
await page.waitForFunction((t) => parseFloat(document.querySelector("#clock").textContent) > t + 1, first);
await page.waitForSelector("#figures b");
saw.figures = await page.textContent("#figures");
saw.causes = await page.textContent("#causes");
await page.waitForSelector("#charts .chart canvas");
saw.signals = await page.locator("#signals label").count();
saw.charts = await page.locator("#charts .chart").count();
saw.acts = await page.locator("#acts button").allTextContents();
lap("figures and charts");

if (saw.acts.includes("Pause")) {
  const shows = (each, wanted) => each.waitForFunction((text) => document.querySelector("#state").textContent === text, wanted);
  await page.keyboard.press("Space");
  await shows(page, "paused");
  let paused = NaN; // what was under way arrives first, and is drawn later still
  for (let tries = 0; tries < 60 && paused !== (await seconds()); tries++) {
    paused = await seconds();
    await page.waitForTimeout(700);
    await drawn(page);
  }
  await drawn(page);
  saw.held = paused === (await seconds());
  await page.keyboard.press(".");
  await page.waitForFunction(() => /then a pause/.test(document.querySelector("#log").textContent));
  // Who comes now, and may only watch, sees that time stands, and then all that is done.
  const watcher = await newPage(browser, 800, 600, complaints);
  await watcher.goto(new URL("/", address).href);
  const says = (wanted) => shows(watcher, wanted);
  await says("paused");
  await shows(page, "paused");
  await page.reload(); // and so does who comes again
  await shows(page, "paused");
  saw.mayPress = await watcher.locator("#acts button:enabled, #faults button:enabled, #parameters input:enabled").count();
  await page.keyboard.press("Space");
  await page.waitForSelector("#state.good");
  await says("running");
  await page.waitForFunction((t) => parseFloat(document.querySelector("#clock").textContent) > t + 0.5, paused);
  await page.keyboard.press("Space");
  await says("paused");
  await shows(page, "paused"); // it may hear of it later
  await page.keyboard.press("Space");
  await says("running");
  lap("pause");
  saw.faults = await page.locator("#faults button").count();
  if (saw.faults > 0) {
    for (const isOn of [true, false]) {
      await page.locator("#faults button").first().click();
      for (const each of [page, watcher]) await each.waitForSelector(`#faults button[aria-pressed="${isOn}"]:first-child`);
    }
    await page.locator("#faults button").first().click();
    await watcher.waitForSelector("#faults button.on");
    await watcher.reload();
    await watcher.waitForSelector("#faults button.on:first-child");
    await clickTwice(page, "Reset");
    for (const each of [page, watcher]) await each.waitForSelector("#faults:not(:has(button.on))");
  }
  await watcher.close();
  lap("faults");
}
// What stands where an arm's panel would.
await page.waitForSelector(".links .lamp.good.on");
await page.waitForFunction(() => /there and back/.test(document.querySelector("#quality").textContent));
const texts = (selector) => page.locator(selector).allTextContents();
saw.panel = {
  angles: await texts(".attitude .stack b"),
  rates: await texts(".rates .bar b"),
  wheels: await texts(".wheels .bar"),
  motors: await texts(".motors .bar"),
  links: await texts(".links .lamp"),
  hands: await page.locator("#hands").isVisible(),
  small: await page.locator(".figure b, #clock").evaluateAll((all) => all.filter((each) => parseFloat(getComputedStyle(each).fontSize) < 22).length),
};

lap("panel");

saw.events = await page.locator("#log li").allTextContents();
await page.keyboard.press("2");
saw.clutter = await findClutter(page);
saw.colours = await inFull(page, () => countColours(browser, page));
const shoot = async (path) => {
  if (process.env.SCREENSHOTS) await inFull(page, () => page.screenshot({ path }));
};
await shoot(screenshot);
await page.keyboard.press("t");
await page.waitForSelector('html[data-theme="light"]');
await shoot(screenshot.replace(".png", "-light.png"));
lap("pictures");
saw.complaints = complaints;
await browser.close();
console.log(JSON.stringify(saw));
