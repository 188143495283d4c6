// Where one looks from: around the vehicle, after it, from above, and from every camera it carries.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { ArmSpec } from "./arm";
import { fields, json, list, number, text, vector } from "./read";

/** Coordinates for a view: where zero is, and whose axes; empty: the world's. */
export interface Stand { at: string; turn: string }

export interface Camera {
  name: string;
  camera: THREE.PerspectiveCamera;
  stand: Stand;
  controls?: OrbitControls; // none: it is bolted on
  direction?: THREE.Vector3; // from which it frames the vehicle
  zoom: number; // 1: all of it fits
  framed: boolean;
}

const FIELD = 38; // degrees
const FAR = 1e5;
const UP = new THREE.Vector3(0, 0, 1);
const POLE = 0.05; // rad; nearer to straight up or down there is no left and right

/** Keys of a view that has the focus: around, over (rad), nearer (factor). */
const STEER: Record<string, [number, number, number]> = {
  ArrowLeft: [-0.08, 0, 1], ArrowRight: [0.08, 0, 1], ArrowUp: [0, 0.08, 1], ArrowDown: [0, -0.08, 1],
  "+": [0, 0, 0.9], "=": [0, 0, 0.9], "-": [0, 0, 1 / 0.9],
};

interface Free { name: string; stand: Stand; direction: [number, number, number]; zoom: number }

function freeCameras(vehicle: string, arm: ArmSpec | undefined): Free[] {
  const base = arm?.base || vehicle;
  const hand = arm?.hand || vehicle;
  const turn = arm ? base : "";
  return [
    { name: "overview", stand: { at: base, turn }, direction: arm ? [0.55, -1, 0.5] : [1, -1.2, 0.7], zoom: 1 },
    { name: "follow", stand: { at: hand, turn: base }, direction: [-1, -0.35, 0.4], zoom: arm ? 0.45 : 1 },
    { name: "top", stand: { at: base, turn }, direction: [0, -0.001, 1], zoom: 1 },
  ];
}

function readBolted(value: unknown, index: number): Camera | undefined {
  const spec = fields(value);
  const body = text(spec["body"]);
  if (!body) return undefined;
  const camera = new THREE.PerspectiveCamera(Math.max(5, Math.min(150, number(spec["field"], 50))), 1, 0.02, FAR);
  const at = new THREE.Vector3(...(vector(spec["at"], 3) as [number, number, number]));
  const look = new THREE.Vector3(...(vector(spec["look"], 3) as [number, number, number]));
  const up = new THREE.Vector3(...(vector(spec["up"], 3) as [number, number, number]));
  if (look.lengthSq() === 0) look.set(1, 0, 0);
  if (up.lengthSq() > 0) camera.up.copy(up);
  else camera.up.set(0, 0, 1);
  camera.position.copy(at);
  camera.lookAt(at.clone().add(look));
  return { name: text(spec["name"]) || `camera ${index + 1}`, camera, stand: { at: body, turn: body }, zoom: 1, framed: true };
}

export class Cameras {
  private all: Camera[] = [];
  private main = 0;
  private inset = -1; // none

  constructor(private canvas: HTMLCanvasElement) {
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key in STEER) this.steer(...STEER[event.key]!);
      else if (event.key === "Home") this.reframe();
      else return;
      event.preventDefault();
    });
  }

  /** A vehicle, with the cameras it carries. */
  equip(vehicle: string, arm: ArmSpec | undefined, carried: string | undefined): void {
    for (const { controls } of this.all) controls?.dispose();
    const before = this.all.length > 0 ? { main: this.shown?.name, inset: this.all[this.inset]?.name } : undefined;
    const bolted = list(json(carried)).map(readBolted).filter((each): each is Camera => each !== undefined);
    this.all = [...freeCameras(vehicle, arm).map((free) => this.free(free)), ...bolted];
    const find = (name: string | undefined) => this.all.findIndex((each) => each.name === name);
    const isKept = before && (before.inset === undefined || find(before.inset) >= 0); // as it was in the run before
    this.inset = isKept ? find(before.inset) : bolted.length > 0 ? this.all.length - 1 : -1;
    this.look(Math.max(0, find(before?.main)));
  }

  get names(): string[] {
    return this.all.map(({ name }) => name);
  }

  get shown(): Camera | undefined {
    return this.all[this.main];
  }

  get second(): Camera | undefined {
    return this.inset === this.main ? undefined : this.all[this.inset];
  }

  get mainIndex(): number {
    return this.main;
  }

  get secondIndex(): number {
    return this.inset;
  }

  look(index: number): void {
    if (!this.all[index]) return;
    this.main = index;
    this.all.forEach(({ controls }, i) => controls && (controls.enabled = i === index));
  }

  /** Of the picture in the corner; the same again, or -1: none. */
  lookToo(index: number): void {
    this.inset = index === this.inset || !this.all[index] ? -1 : index;
  }

  /** All of the vehicle in view again. */
  reframe(): void {
    for (const each of this.all) if (each.controls) each.framed = false;
  }

  private steer(around: number, over: number, nearer: number): void {
    const { shown } = this;
    if (!shown?.controls) return;
    shown.framed = true;
    const way = shown.camera.position.clone().sub(shown.controls.target).multiplyScalar(nearer).applyAxisAngle(UP, around);
    const tilt = way.angleTo(UP);
    const tilted = Math.max(POLE, Math.min(Math.PI - POLE, tilt - over));
    if (over !== 0) way.applyAxisAngle(new THREE.Vector3().crossVectors(UP, way).normalize(), tilted - tilt);
    shown.camera.position.copy(shown.controls.target).add(way);
  }

  private free({ name, stand, direction, zoom }: Free): Camera {
    const camera = new THREE.PerspectiveCamera(FIELD, 1, 0.05, FAR);
    camera.up.set(0, 0, 1);
    camera.position.set(...direction);
    const controls = new OrbitControls(camera, this.canvas);
    controls.enableDamping = true;
    controls.enabled = false;
    const made: Camera = { name, camera, stand, controls, direction: new THREE.Vector3(...direction).normalize(), zoom, framed: false };
    controls.addEventListener("start", () => (made.framed = true)); // from now on it is the user's
    return made;
  }
}

/** Far enough for all of the box, in the coordinates of the camera's stand. */
export function frame(of: Camera, box: THREE.Box3): void {
  if (!of.controls || !of.direction || box.isEmpty()) return;
  const sphere = box.getBoundingSphere(new THREE.Sphere());
  const half = THREE.MathUtils.degToRad(of.camera.fov / 2);
  const narrow = Math.min(half, Math.atan(Math.tan(half) * of.camera.aspect));
  const distance = (Math.max(0.1, sphere.radius) / Math.sin(narrow)) * of.zoom * 0.92;
  const centre = of.zoom < 1 ? new THREE.Vector3() : sphere.center;
  of.controls.target.copy(centre);
  of.camera.position.copy(centre).addScaledVector(of.direction, distance);
  of.camera.near = distance * 0.005;
  of.camera.updateProjectionMatrix();
}
