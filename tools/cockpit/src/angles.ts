// Angles for people: degrees, and roll, pitch and yaw of a turn, in two orders.

export const DEGREES = 180 / Math.PI;

/** Radians, of a unit quaternion w x y z: yaw, then pitch, then roll. */
export function rollPitchYaw(w: number, x: number, y: number, z: number): [number, number, number] {
  const roll = Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y));
  const pitch = Math.asin(Math.max(-1, Math.min(1, 2 * (w * y - z * x))));
  const yaw = Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
  return [roll, pitch, yaw];
}

/** The same three, but turned by pitch, then yaw, then roll: a hand that points straight down or up,
 * as over a bay or a table, has no singular angles then. */
export function rollPitchYawOfHand(w: number, x: number, y: number, z: number): [number, number, number] {
  const roll = Math.atan2(2 * (w * x - y * z), 1 - 2 * (x * x + z * z));
  const pitch = Math.atan2(2 * (w * y - x * z), 1 - 2 * (y * y + z * z));
  const yaw = Math.asin(Math.max(-1, Math.min(1, 2 * (x * y + w * z))));
  return [roll, pitch, yaw];
}

/** As signed; what is half a turn one way is it the other way, too, and does not change its sign all the time. */
export function inDegrees(value: number, digits: number): string {
  return signed(Number(value.toFixed(digits)) === -180 ? 180 : value, digits);
}

/** With a sign and so many digits, and never "-0.00". */
export function signed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : minus(text);
}

/** As it is printed, and not as it is typed. */
export function minus(text: string): string {
  return text.replaceAll("-", "−");
}
