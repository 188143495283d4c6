// A real browser for the cockpit's tests.
import { createRequire } from "node:module";

const { chromium } = createRequire(new URL("../../../tools/peers/package.json", import.meta.url))("playwright-core");

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    // Put together by the processor at once, a page costs a tenth of what it costs as a picture of a graphics card that is none.
    args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-gpu-compositing"],
  });

/** A page that waits long for everything, and what it complains of; it works without the internet.  Its view is tiny:
 * the processor draws it, and has better things to do. */
export async function newPage(browser, width, height, complaints, colorScheme = "dark") {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme });
  await page.addInitScript(() => {
    window.tiny = new CSSStyleSheet();
    window.tiny.replaceSync("#scene { width: 80px !important; height: 50px !important; }");
    document.adoptedStyleSheets = [window.tiny];
  });
  page.setDefaultTimeout(100000); // all of it is drawn by the processor, which may be busy
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.stack));
  page.on("request", (request) => /^https?:\/\/127\.0\.0\.1[:/]/.test(request.url()) || complaints.push(`asked for ${request.url()}`));
  return page;
}

/** Has the next pictures drawn whole. */
export async function drawn(page) {
  const before = await page.evaluate(() => window.cockpit.frames);
  await page.waitForFunction((frames) => window.cockpit.frames > frames + 2, before);
}

/** At once: a second click counts for some seconds only, and the machine may be busy.  What the button said in between. */
export function clickTwice(page, name) {
  return page.getByRole("button", { name, exact: true }).evaluate((button) => {
    button.click();
    const words = button.textContent;
    button.click();
    return words;
  });
}

/** The view in its own size, as long as somebody looks at it. */
export async function inFull(page, look) {
  const shrink = (on) => page.evaluate((tiny) => (window.tiny.disabled = !tiny), on);
  await shrink(false);
  await drawn(page);
  const saw = await look();
  await shrink(true);
  return saw;
}

/** How many colours are in the middle of the view; where nothing is drawn, one or two.  Looked at on
 * another page, since the cockpit's policy loads nothing that it was not served. */
export async function countColours(browser, page) {
  const view = (await page.locator("#scene").screenshot()).toString("base64");
  const desk = await browser.newPage();
  const count = await desk.evaluate(async (png) => {
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
  await desk.close();
  return count;
}

/** Texts of the view's controls and of the panels that are cut off, or that lie one on the other. */
export function findClutter(page) {
  return page.evaluate(() => {
    const found = [];
    const named = (element) => `${element.id || element.className || element.tagName} "${element.textContent.slice(0, 30)}"`;
    for (const element of document.querySelectorAll("button, .figure b, .axis b, .joint b, .bar b, .lamp, #clock, td, .held, kbd, #panel > section, aside > section"))
      if (element.checkVisibility() && element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== "inline") found.push(`cut off: ${named(element)}`);
    const boxes = [...document.querySelectorAll("header > *, #command, #cameras button, #looks > *, #corner, #hands > *, main > *")]
      .filter((element) => element.checkVisibility() && element.getBoundingClientRect().width > 0);
    for (const [i, one] of boxes.entries())
      for (const other of boxes.slice(i + 1)) {
        if (one.contains(other)) continue;
        const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const along = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 1 && along > 1) found.push(`overlap: ${named(one)} and ${named(other)}`);
      }
    if (document.documentElement.scrollWidth > innerWidth) found.push(`wider than the window: ${document.documentElement.scrollWidth}`);
    return found;
  });
}
