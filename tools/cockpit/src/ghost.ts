// The vehicle as it is predicted to be: translucent copies of its bodies at the places of /tf/ghost.
import * as THREE from "three";
import { Frames, type Places } from "./frames";
import { color } from "./theme";

const GONE_S = 3; // of simulated time after the last message: it stays in a pause, and a busy machine predicts late
const NEAR = 2e-3; // m or rad

export class Ghost {
  private copies = new Map<string, THREE.Group>();
  private places: Places = new Map();
  private heard = -Infinity;
  private look = new THREE.MeshStandardMaterial({ transparent: true, opacity: 0.42, depthWrite: false, roughness: 1 });

  constructor(private frames: Frames) {}

  clear(): void {
    for (const copy of this.copies.values()) copy.removeFromParent();
    this.copies.clear();
    this.places.clear();
    this.heard = -Infinity;
  }

  /** Shapes of a body have changed: copies share their geometry, but not their number. */
  renew(): void {
    for (const copy of this.copies.values()) copy.removeFromParent();
    this.copies.clear();
  }

  take(places: Places, simulated: number): void {
    this.places = places;
    this.heard = simulated;
  }

  isShown(simulated: number): boolean {
    return Math.abs(simulated - this.heard) < GONE_S; // a run can also go back
  }

  /** Seen from the base: what the whole vehicle does until then is left out. */
  draw(base: string, simulated: number): void {
    const isShown = this.isShown(simulated);
    for (const copy of this.copies.values()) copy.visible = isShown;
    if (!isShown) return;
    this.look.color.set(color("accent"));
    this.look.emissive.set(color("accent")).multiplyScalar(0.5);
    const predicted = this.places.get(base);
    const onto = new THREE.Matrix4();
    if (predicted) {
      const one = new THREE.Vector3(1, 1, 1);
      const here = this.frames.group(base);
      onto.compose(here.position, here.quaternion, one).multiply(new THREE.Matrix4().compose(predicted.at, predicted.turn, one).invert());
    }
    for (const [name, { parent, at, turn }] of this.places) {
      if (name === base || !this.frames.has(name)) continue;
      const copy = this.copies.get(name) ?? this.copy(name, parent);
      copy.matrix.compose(at, turn, new THREE.Vector3(1, 1, 1));
      if (parent === predicted?.parent) copy.matrix.premultiply(onto);
      copy.matrixWorldNeedsUpdate = true;
      copy.visible = this.isElsewhere(name, copy);
    }
  }

  /** A twin in the same place would only tint the body. */
  private isElsewhere(name: string, copy: THREE.Group): boolean {
    const body = this.frames.group(name);
    const at = new THREE.Vector3();
    const turn = new THREE.Quaternion();
    copy.matrix.decompose(at, turn, new THREE.Vector3());
    return at.distanceTo(body.position) > NEAR || turn.angleTo(body.quaternion) > NEAR;
  }

  private copy(name: string, parent: string): THREE.Group {
    const copy = new THREE.Group();
    copy.matrixAutoUpdate = false;
    for (const part of this.frames.group(name).children) if (part.userData["isBody"]) copy.add(part.clone());
    copy.traverse((part) => {
      part.userData = {};
      if (part instanceof THREE.Mesh) part.material = this.look;
      else if (part instanceof THREE.Line) part.visible = false;
    });
    this.frames.group(parent).add(copy);
    this.copies.set(name, copy);
    return copy;
  }
}
