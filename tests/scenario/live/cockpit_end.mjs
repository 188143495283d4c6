// Looks at the cockpit in a real browser until the run is over: cockpit_end.mjs ADDRESS.  Prints what the page says
// of it, as JSON.
import { createRequire } from "node:module";

const { chromium } = createRequire(new URL("../../../tools/peers/package.json", import.meta.url))("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
await page.goto(process.argv[2]);
await page.waitForFunction(() => [...document.querySelectorAll("li span")].some((line) => line.textContent.startsWith("connected")));
console.log("looking");
await page.waitForFunction(() => [...document.querySelectorAll("li span")].some((line) => line.textContent.startsWith("verdict: ")),
  undefined, { timeout: 120000 });
const pill = page.locator("#state");
const events = await page.locator("li span").allTextContents();
console.log(JSON.stringify({ pill: await pill.textContent(), title: await pill.getAttribute("title"), kind: await pill.getAttribute("class"), events }));
await browser.close();
