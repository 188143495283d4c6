// Our magnetic field judged by npm's geomagnetism, from the ground to a low orbit.
//
//   node geomagnetism_peer.mjs PROGRAM WMM.COF        PROGRAM is field_points
//
// Exit 0 good, 1 a problem, 77 the package or the coefficients are not there (tools/test fetches both).

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";

const peers = createRequire(new URL("../../tools/peers/package.json", import.meta.url));

function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(77);
}

function load() {
  try {
    return peers("geomagnetism");
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    return skip("the packages of tools/peers are not installed");
  }
}

const geomagnetism = load();
const [program, coefficients] = process.argv.slice(2);
if (!existsSync(coefficients)) skip("no build-deps/wmm/WMM.COF; tools/setup/wmm makes it");

// Fixed dates; its years are 365 days long. Latitudes do not quite reach the poles, where it has no east.
const dates = ["2025-01-01T00:00:00Z", "2026-07-01T12:00:00Z", "2029-06-15T00:00:00Z"].map((text) => new Date(text));
const points = [];
for (const date of dates)
  for (let latitude = -89.5; latitude <= 90; latitude += 8.95)
    for (let longitude = -180; longitude < 180; longitude += 24)
      for (const height of [-400, 0, 488, 12000, 600000]) points.push({ date, latitude, longitude, height });

function yearOf(date) {
  const year = date.getUTCFullYear();
  return year + (date.valueOf() - Date.UTC(year)) / (365 * 86400e3);
}

const models = new Map(dates.map((date) => [date, geomagnetism.model(date)]));
assert.equal(models.get(dates[0]).name, "WMM-2025");

const input = points.map((p) => `${yearOf(p.date)} ${p.latitude} ${p.longitude} ${p.height}\n`).join("");
const ours = execFileSync(program, [coefficients], { input, maxBuffer: 1 << 26 }).toString().trim().split("\n");
assert.equal(ours.length, points.length);

let worst = 0;
points.forEach((p, i) => {
  const field = models.get(p.date).point([p.latitude, p.longitude, p.height / 1000]);
  const theirs = [field.x, field.y, field.z];
  ours[i].split(" ").map(Number).forEach((value, axis) => {
    const error = Math.abs(value - theirs[axis]);
    assert.ok(error < 0.01, `${JSON.stringify(p)}, axis ${axis}: ${value} nT, not ${theirs[axis]}`);
    worst = Math.max(worst, error);
  });
});
console.log(`${points.length} points, at most ${worst.toExponential(1)} nT apart`);
