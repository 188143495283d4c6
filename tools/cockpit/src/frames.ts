// The tree of frames: where each body is, from /tf, and how to stand on one of them.
import * as THREE from "three";
import { fields, list, number, text } from "./read";

export interface Place { parent: string; child: string; at: THREE.Vector3; turn: THREE.Quaternion }
/** By the name of the body. */
export type Places = Map<string, Place>;

export function readPoint(value: unknown): THREE.Vector3 {
  const { x, y, z } = fields(value);
  return new THREE.Vector3(number(x), number(y), number(z));
}

export function readTurn(value: unknown): THREE.Quaternion {
  const { x, y, z, w } = fields(value);
  const turn = new THREE.Quaternion(number(x), number(y), number(z), number(w));
  return turn.lengthSq() > 1e-12 ? turn.normalize() : turn.identity();
}

export function readPlaces(message: Record<string, unknown>): Places {
  const places: Places = new Map();
  for (const each of list(message["transforms"])) {
    const transform = fields(each);
    const child = text(transform["child_frame_id"]);
    const parent = text(transform["parent_frame_id"]);
    if (!child || child === parent) continue;
    places.set(child, { parent, child, at: readPoint(transform["translation"]), turn: readTurn(transform["rotation"]) });
  }
  return places;
}

const ONE = new THREE.Vector3(1, 1, 1);

/** A vehicle in orbit is 6.7e6 m from the world's origin, which a float has to half a metre.  So the
 * root is moved until what one looks from is at zero, in doubles, before anything is drawn. */
export class Frames {
  readonly root = new THREE.Group();
  private groups = new Map<string, THREE.Group>();
  private first = "";

  constructor() {
    this.root.matrixAutoUpdate = false;
  }

  clear(): void {
    for (const group of this.groups.values()) group.removeFromParent();
    this.groups.clear();
    this.first = "";
  }

  get vehicle(): string {
    return this.first;
  }

  has(name: string): boolean {
    return this.groups.has(name);
  }

  group(name: string): THREE.Group {
    let group = this.groups.get(name);
    if (!group) {
      group = new THREE.Group();
      this.groups.set(name, group);
      this.root.add(group);
    }
    return group;
  }

  move(places: Places): void {
    for (const { parent, child, at, turn } of places.values()) {
      const group = this.group(child);
      const onto = this.group(parent);
      if (group.parent !== onto && !this.isAbove(group, onto)) onto.add(group);
      group.position.copy(at);
      group.quaternion.copy(turn);
      this.first ||= child;
    }
  }

  /** From the frame's axes to the root's. */
  pose(name: string): THREE.Matrix4 {
    const pose = new THREE.Matrix4();
    const local = new THREE.Matrix4();
    for (let at: THREE.Object3D | null | undefined = this.groups.get(name); at && at !== this.root; at = at.parent)
      pose.premultiply(local.compose(at.position, at.quaternion, ONE));
    return pose;
  }

  /** Puts one frame's origin at zero, with the axes of another, or the root's own where that is empty.  Then `after`. */
  stand(at: string, turn: string, after: THREE.Matrix4): void {
    const origin = new THREE.Vector3().setFromMatrixPosition(this.pose(at));
    const turned = new THREE.Matrix4().extractRotation(this.pose(turn)).transpose();
    const moved = new THREE.Matrix4().makeTranslation(origin.negate());
    this.root.matrix.copy(after).multiply(turned).multiply(moved);
    this.root.matrixWorldNeedsUpdate = true;
  }

  private isAbove(group: THREE.Object3D, of: THREE.Object3D): boolean {
    for (let at: THREE.Object3D | null = of; at; at = at.parent) if (at === group) return true;
    return false;
  }
}
