// Opens the cockpit in a real browser and uses it: cockpit.mjs ADDRESS SCREENSHOT.  Prints what it
// saw as JSON.
import { createRequire } from "node:module";

const { chromium } = createRequire(new URL("../../tools/peers/package.json", import.meta.url))("playwright-core");

const [address, screenshot] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
});
const page = await browser.newPage({ viewport: { width: 1600, height: 950 }, colorScheme: "dark" });
page.setDefaultTimeout(100000); // all of it is drawn by the processor, which may be busy
const complaints = [];
page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
page.on("pageerror", (error) => complaints.push(error.message));

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
  await page.waitForSelector("#state.warn");
  let paused = NaN; // what was under way arrives first
  for (let tries = 0; tries < 60 && paused !== (await seconds()); tries++) {
    paused = await seconds();
    await page.waitForTimeout(700);
  }
  saw.held = paused === (await seconds());
  await page.keyboard.press(".");
  await page.waitForFunction(() => /then a pause/.test(document.querySelector("#log").textContent));
  await page.keyboard.press("Space");
  await page.waitForSelector("#state.good");
  await page.waitForFunction((t) => parseFloat(document.querySelector("#clock").textContent) > t + 0.5, paused);
}
saw.events = await page.locator("#log li").allTextContents();
await page.keyboard.press("2");
await page.waitForTimeout(300);

// What is drawn of the vehicle: colours in the middle of the view.  Looked at on another page, since
// this one's policy loads nothing that it was not served.
const view = (await page.locator("#scene").screenshot()).toString("base64");
const desk = await browser.newPage();
saw.colours = await desk.evaluate(async (png) => {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(image.width / 4, image.height / 4, image.width / 2, image.height / 2);
  const seen = new Set();
  for (let i = 0; i < data.length; i += 4) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
  return seen.size;
}, view);
await page.screenshot({ path: screenshot });
saw.complaints = complaints;
await browser.close();
console.log(JSON.stringify(saw));
