// A person at the cockpit page flies the Shuttle's arm with the mouse: cockpit_fly.mjs ADDRESS SCREENSHOT.  Takes
// authority, takes the satellite, lifts it a little, lets it go and stops.  Prints what was seen as JSON.
import { countColours, inFull, launch, newPage } from "./cockpit_browser.mjs";

const [address, screenshot] = process.argv.slice(2);
const browser = await launch();
const complaints = [];
const page = await newPage(browser, 1100, 800, complaints);

const arm = () => page.evaluate(() => {
  const { pose, twist, reach, payload, mode, flags, brake } = window.cockpit.arm;
  return { pose: [...pose], twist: [...twist], reach, payload, mode, flags, brake: [...brake] };
});
/** Looks until it is so: /arm as the page has it. */
async function until(what, condition) {
  for (const end = Date.now() + 100000; Date.now() < end; ) {
    if (await condition(await arm())) return;
    await page.waitForTimeout(30);
  }
  throw new Error(`never ${what}: ${JSON.stringify(await arm())}`);
}
const stands = ({ twist }) => Math.hypot(...twist.slice(3)) < 0.01;

/** Takes hold of a pad, and pushes it: 1 is full. */
async function hold(name, up) {
  const box = await page.getByRole("slider", { name }).boundingBox();
  const push = (way) => page.mouse.move(box.x + box.width / 2, box.y + box.height / 2 - 0.4 * way * box.height);
  await push(0);
  await page.mouse.down();
  await push(up);
  return push;
}
const letGo = () => page.mouse.up();
const press = (name) => page.getByRole("button", { name, exact: true }).click();

await page.goto(address);
await page.waitForFunction(() => window.cockpit?.arm);
await page.selectOption("#second", "-1"); // one picture is work enough for a processor
await press("Take");
await page.waitForFunction(() => /You have/i.test(document.querySelector("#authority").textContent));
await press("end-effector");
await until("let loose", ({ mode, brake }) => mode === 2 && brake.every((b) => b === 0));

const start = await arm();
await hold("Translation, X and Y", 0.4);
await until("near", ({ reach }) => reach < 0.45);
await letGo();
await until("standing", stands);
await press("Coarse");
await until("in vernier", ({ flags }) => (flags & 32) !== 0);
// The browser may be slow, and nothing stops a hand that goes too far: so it is gentle where it is near, and comes back
// when it went past.
for (let way = 1, tries = 0; (await arm()).reach > 0.09; way = -way, tries++) {
  if (tries === 6) throw new Error(`never at the fixture: ${JSON.stringify(await arm())}`);
  const gentle = (reach) => way * Math.max(0.15, Math.min(0.7, 2 * (reach - 0.05)));
  let least = Infinity;
  const push = await hold("Translation, X and Y", gentle((await arm()).reach));
  await until("at the fixture, or past it", async ({ reach }) => {
    least = Math.min(least, reach);
    if (reach < 0.08 || reach > least + 0.05) return true;
    await push(gentle(reach));
    return false;
  });
  await letGo();
  await until("standing", stands);
}
await press("Vernier");
await until("coarse", ({ flags }) => (flags & 32) === 0);
const there = await arm();
await press("Grapple");
await until("grappled", ({ payload }) => payload === 1);

await press("base");
await until("in mode base", ({ mode }) => mode === 3);
const taken = await arm();
await hold("Translation, Z", 1);
await until("lifted", ({ pose }) => pose[2] > taken.pose[2] + 0.4);
await letGo();
await until("standing", stands);
const lifted = await arm();
const colours = await inFull(page, async () => {
  await page.screenshot({ path: screenshot });
  return countColours(browser, page);
});
await press("Release");
await until("released", ({ payload }) => payload === 0);
await page.keyboard.press("Escape");
await until("safed", ({ flags, brake }) => (flags & 16) !== 0 && brake.every((b) => b === 2));

const delays = await page.evaluate(() => window.cockpit.delays);
const events = await page.locator("#log li").allTextContents();
await browser.close();
console.log(JSON.stringify({ start, there, taken, lifted, colours, delays, events, complaints }));
