// Opens a page in a real browser: open_page.mjs FILE SCREENSHOT.  Prints its complaints and how many
// pictures it has, as JSON.
import { createRequire } from "node:module";

const { chromium } = createRequire(new URL("../../../tools/peers/package.json", import.meta.url))("playwright-core");
const [file, screenshot] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
const complaints = [];
page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
page.on("pageerror", (error) => complaints.push(error.message));
page.on("request", (request) => request.url().startsWith("file:") || complaints.push(`asked for ${request.url()}`));
await page.goto(`file://${file}`);
const pictures = await page.locator("svg").evaluateAll((all) =>
  all.filter((svg) => svg.getBoundingClientRect().height > 20).length);
await page.screenshot({ path: screenshot, fullPage: true });
await browser.close();
console.log(JSON.stringify({ complaints, pictures }));
