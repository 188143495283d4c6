// What bends, shown bending more: shown = straight + factor * (bent - straight), seen from the base,
// so that what the whole vehicle does meanwhile is not exaggerated.
import * as THREE from "three";
import type { Place, Places } from "./frames";

const TURN_MAX = 1.2; // rad; more is no bending any more

function relative(place: Place, base: Place): Place {
  const back = base.turn.clone().invert();
  return { ...place, at: place.at.clone().sub(base.at).applyQuaternion(back), turn: back.multiply(place.turn) };
}

function absolute(place: Place, base: Place): Place {
  return {
    ...place,
    at: place.at.clone().applyQuaternion(base.turn).add(base.at),
    turn: base.turn.clone().multiply(place.turn),
  };
}

function more(straight: Place, bent: Place, factor: number): Place {
  const turn = bent.turn.clone().multiply(straight.turn.clone().invert());
  if (turn.w < 0) turn.set(-turn.x, -turn.y, -turn.z, -turn.w);
  const axis = new THREE.Vector3(turn.x, turn.y, turn.z);
  const angle = 2 * Math.atan2(axis.length(), turn.w);
  const shown = Math.min(TURN_MAX, angle * factor);
  if (axis.lengthSq() > 0) turn.setFromAxisAngle(axis.normalize(), shown);
  return { ...bent, at: straight.at.clone().lerp(bent.at, factor), turn: turn.multiply(straight.turn) };
}

/** Bodies that have no straight twin, and those of another parent, are shown as they are. */
export function exaggerate(straight: Places, bent: Places, base: string, factor: number): Places {
  const straightBase = straight.get(base);
  const bentBase = bent.get(base);
  if (!straightBase || !bentBase || factor === 1) return bent;
  const shown: Places = new Map();
  for (const [name, place] of bent) {
    const twin = straight.get(name);
    const isPair = twin && name !== base && place.parent === bentBase.parent && twin.parent === straightBase.parent;
    shown.set(name, isPair ? absolute(more(relative(twin, straightBase), relative(place, bentBase), factor), bentBase) : place);
  }
  return shown;
}

/** Of a body's line, in its own axes. */
export function exaggeratePoints(straight: THREE.Vector3[] | undefined, bent: THREE.Vector3[], factor: number): THREE.Vector3[] {
  if (!straight || straight.length !== bent.length || factor === 1) return bent;
  return bent.map((point, i) => straight[i]!.clone().lerp(point, factor));
}
