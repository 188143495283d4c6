// Opens the cockpit in a real browser and uses it: cockpit.mjs ADDRESS SCREENSHOT.  Prints what it
// saw as JSON.
import { countColours, findClutter, launch, newPage } from "./cockpit_browser.mjs";

const [address, screenshot] = process.argv.slice(2);
const browser = await launch();
const complaints = [];
const page = await newPage(browser, 1600, 950, complaints);

const seconds = async () => parseFloat(await page.textContent("#clock"));
const saw = {};
for (let tries = 0; ; tries++) {
  const failed = await page.goto(address).then(() => undefined, (error) => error);
  if (!failed) break;
  if (tries === 100) throw failed;
  await page.waitForTimeout(200);
}
complaints.length = 0; // the run was not there yet
await page.waitForSelector('html[data-connected="yes"]');
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

if (saw.acts.includes("Pause")) {
  await page.keyboard.press("Space");
  await page.waitForFunction(() => document.querySelector("#state").textContent === "paused");
  let paused = NaN; // what was under way arrives first
  for (let tries = 0; tries < 60 && paused !== (await seconds()); tries++) {
    paused = await seconds();
    await page.waitForTimeout(700);
  }
  saw.held = paused === (await seconds());
  await page.keyboard.press(".");
  await page.waitForFunction(() => /then a pause/.test(document.querySelector("#log").textContent));
  // Who comes now, and may only watch, sees that time stands, and then all that is done.
  const watcher = await newPage(browser, 800, 600, complaints);
  await watcher.goto(new URL("/", address).href);
  const says = (wanted) => watcher.waitForFunction((text) => document.querySelector("#state").textContent === text, wanted);
  await says("waiting");
  saw.mayPress = await watcher.locator("#acts button:enabled, #faults button:enabled, #parameters input:enabled").count();
  await page.keyboard.press("Space");
  await page.waitForSelector("#state.good");
  await says("running");
  await page.waitForFunction((t) => parseFloat(document.querySelector("#clock").textContent) > t + 0.5, paused);
  await page.keyboard.press("Space");
  await says("paused");
  await page.waitForFunction(() => document.querySelector("#state").textContent === "paused"); // it may hear of it later
  await page.keyboard.press("Space");
  await says("running");
  saw.faults = await page.locator("#faults button").count();
  if (saw.faults > 0) {
    for (const isOn of [true, false]) {
      await page.locator("#faults button").first().click();
      for (const each of [page, watcher]) await each.waitForSelector(`#faults button[aria-pressed="${isOn}"]:first-child`);
    }
    await page.locator("#faults button").first().click();
    await watcher.waitForSelector("#faults button.on");
    await page.getByRole("button", { name: "Reset", exact: true }).click();
    for (const each of [page, watcher]) await each.waitForSelector("#faults:not(:has(button.on))");
  }
  await watcher.close();
}
// What stands where an arm's panel would.
await page.waitForFunction(() => /heard/.test(document.querySelector(".links")?.textContent));
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

saw.events = await page.locator("#log li").allTextContents();
await page.keyboard.press("2");
/** The next picture is whole. */
const drawn = async () => {
  const before = await page.evaluate(() => window.cockpit.frames);
  await page.waitForFunction((frames) => window.cockpit.frames > frames + 2, before);
};
await drawn();
saw.colours = await countColours(browser, page);
saw.clutter = await findClutter(page);
await page.screenshot({ path: screenshot });
await page.keyboard.press("t");
await page.waitForSelector('html[data-theme="light"]');
await drawn();
await page.screenshot({ path: screenshot.replace(".png", "-light.png") });
saw.complaints = complaints;
await browser.close();
console.log(JSON.stringify(saw));
