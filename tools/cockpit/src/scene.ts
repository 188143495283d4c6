// The vehicle in 3-D, from the transforms and shapes that the run publishes.
import * as THREE from "three";
import type { ArmSpec } from "./arm";
import { Backdrop } from "./backdrop";
import { exaggerate } from "./bend";
import { Cameras, frame, type Camera } from "./cameras";
import { Frames, readPlaces, type Places } from "./frames";
import { Ghost } from "./ghost";
import { fields, list, text } from "./read";
import { freeObject, readEntities, Shown } from "./shapes";

const DELETE_ALL = 1;
const UNPAIRED_MAX = 0.5; // s; a straight twin that is older has stopped coming
const PIXEL_RATIO_MAX = 2;
const WORLD = "world";
const LEVEL = 0.99; // cosine; an arm that leans more stands on no floor

interface Timed { time: number; places: Places }

export class Scene {
  readonly cameras: Cameras;
  private renderer?: THREE.WebGLRenderer;
  private scene = new THREE.Scene();
  private frames = new Frames();
  private ghost = new Ghost(this.frames);
  private backdrop = new Backdrop();
  private layers = new Map<string, Map<string, Shown>>(); // by topic, then id
  private straight = new Map<string, Shown>();
  private clothes = new Map<string, THREE.Object3D>(); // bodies that the URDF draws
  private arm?: ArmSpec;
  private carried?: string;
  private equipped = "";
  private bent?: Timed;
  private unbent?: Timed;
  private factor = 1;
  private upright = new THREE.Matrix4();
  private size = 1;
  private standsOnFloor = false; // an arm that flies has none

  constructor(private canvas: HTMLCanvasElement, private inset: HTMLElement, private refitted: () => void) {
    this.cameras = new Cameras(canvas);
    try {
      this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true });
      this.renderer.toneMapping = THREE.NeutralToneMapping;
      this.renderer.autoClear = false;
    } catch {
      canvas.replaceWith(Object.assign(document.createElement("p"), { textContent: "This browser has no WebGL, so there is no 3-D view." }));
    }
    this.scene.add(this.frames.root, this.backdrop.world, this.backdrop.lamps);
  }

  /** Another run: everything of the one that ended goes. */
  begin(arm: ArmSpec | undefined, carried: string | undefined): void {
    for (const layer of this.layers.values()) for (const shown of layer.values()) freeObject(shown.group);
    this.layers.clear();
    for (const shape of this.clothes.values()) freeObject(shape);
    this.straight.clear();
    this.clothes.clear();
    this.ghost.clear();
    this.frames.clear();
    this.bent = this.unbent = undefined;
    this.upright.identity();
    this.equipped = "";
    this.arm = arm;
    this.carried = carried;
  }

  /* ---- what came ------------------------------------------------------------------------- */

  /** A message of /tf. */
  move(message: Record<string, unknown>, time: number): void {
    this.bent = { time, places: readPlaces(message) };
    this.settle();
  }

  /** A message of /tf/straight. */
  moveStraight(message: Record<string, unknown>, time: number): void {
    this.unbent = { time, places: readPlaces(message) };
    this.settle();
  }

  moveGhost(message: Record<string, unknown>, simulated: number): void {
    this.ghost.take(readPlaces(message), simulated);
  }

  /** A message of /scene or /scene/bent. */
  update(topic: string, message: Record<string, unknown>): void {
    const layer = this.layers.get(topic) ?? new Map<string, Shown>();
    this.layers.set(topic, layer);
    for (const each of list(message["deletions"])) {
      const deletion = fields(each);
      const ids = deletion["type"] === DELETE_ALL ? [...layer.keys()] : [text(deletion["id"])];
      for (const id of ids) this.remove(layer, id);
    }
    for (const entity of readEntities(message)) {
      if (layer.get(entity.id)?.take(entity, this.factor)) continue;
      this.remove(layer, entity.id);
      const shown = new Shown(entity, this.straight.get(entity.id), this.factor);
      shown.group.userData["isBody"] = true;
      shown.group.visible = !this.clothes.has(entity.frame);
      this.frames.group(entity.frame).add(shown.group);
      layer.set(entity.id, shown);
      this.ghost.renew();
      this.cameras.reframe();
    }
  }

  /** A message of /scene/straight. */
  updateStraight(message: Record<string, unknown>): void {
    for (const entity of readEntities(message)) this.straight.set(entity.id, new Shown(entity));
    for (const layer of this.layers.values()) for (const [id, shown] of layer) shown.compare(this.straight.get(id));
  }

  /** Looks of bodies that replace those of /scene. */
  clothe(looks: Map<string, THREE.Object3D[]>): void {
    for (const [name, parts] of looks) {
      const group = this.frames.group(name);
      for (const part of group.children) if (part.userData["isBody"]) part.visible = false;
      const shape = new THREE.Group();
      shape.add(...parts);
      shape.userData["isBody"] = true;
      group.add(shape);
      this.clothes.set(name, shape);
    }
    this.ghost.renew();
    this.cameras.reframe();
  }

  /** How much bending is exaggerated: 1 to 100. */
  bend(factor: number): void {
    this.factor = factor;
    for (const layer of this.layers.values()) for (const shown of layer.values()) shown.bend(factor);
    this.settle();
  }

  get exaggeration(): number {
    return this.factor;
  }

  get clothedBodies(): string[] {
    return [...this.clothes.keys()];
  }

  /** In the graphics memory; what is freed leaves it. */
  get shapeCount(): number {
    return this.renderer?.info.memory.geometries ?? 0;
  }

  hasGhost(simulated: number): boolean {
    return this.ghost.isShown(simulated);
  }

  /** Where a body is drawn, from the base, in its axes. */
  where(body: string): number[] {
    const pose = this.frames.pose(this.base).invert().multiply(this.frames.pose(body));
    return new THREE.Vector3().setFromMatrixPosition(pose).toArray();
  }

  /* ---- drawing ---------------------------------------------------------------------------- */

  draw(simulated: number): void {
    const main = this.cameras.shown;
    if (!this.renderer || !main) return;
    this.resize();
    this.ghost.draw(this.base, simulated);
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.renderer.setScissorTest(false);
    this.renderer.clear();
    this.drawFrom(main, 0, 0, width, height);
    const second = this.cameras.second;
    this.inset.hidden = !second;
    if (!second) return;
    const box = this.inset.getBoundingClientRect();
    const around = this.canvas.getBoundingClientRect();
    this.renderer.setScissorTest(true);
    this.drawFrom(second, box.left - around.left, around.bottom - box.bottom, box.width, box.height);
  }

  private get base(): string {
    return this.arm?.base || this.frames.vehicle;
  }

  private drawFrom(view: Camera, left: number, bottom: number, width: number, height: number): void {
    const renderer = this.renderer!;
    renderer.setViewport(left, bottom, width, height);
    renderer.setScissor(left, bottom, width, height);
    renderer.clear();
    view.camera.aspect = width / Math.max(1, height);
    view.camera.updateProjectionMatrix();
    if (view.framed) this.stand(view);
    else this.fit(view);
    view.controls?.update();
    const root = this.frames.root.matrix;
    const base = this.frames.pose(this.base);
    this.backdrop.world.quaternion.setFromRotationMatrix(new THREE.Matrix4().extractRotation(root));
    this.backdrop.lamps.quaternion.copy(this.backdrop.world.quaternion);
    if (this.arm) {
      const turn = new THREE.Matrix4().extractRotation(base).multiply(this.upright.clone().invert());
      this.backdrop.lamps.quaternion.multiply(new THREE.Quaternion().setFromRotationMatrix(turn));
    }
    const up = new THREE.Vector3(0, 0, 1).applyQuaternion(this.backdrop.world.quaternion);
    const hasFloor = !this.arm || (this.standsOnFloor && (!view.controls || up.z > LEVEL));
    this.backdrop.draw(new THREE.Vector3().setFromMatrixPosition(this.frames.pose(view.stand.at)), this.size, hasFloor);
    renderer.render(this.scene, view.camera);
  }

  /** Bent and unbent belong together by their time. */
  private settle(): void {
    const { bent, unbent } = this;
    if (!bent) return;
    const isPair = unbent?.time === bent.time;
    if (this.factor !== 1 && unbent && !isPair && Math.abs(bent.time - unbent.time) < UNPAIRED_MAX) return;
    this.frames.move(isPair ? exaggerate(unbent.places, bent.places, this.base, this.factor) : bent.places);
    if (this.equipped === this.base) return;
    this.equipped = this.base;
    this.cameras.equip(this.base, this.arm, this.carried);
    this.refitted();
  }

  private fit(view: Camera): void {
    this.findUp();
    this.stand(view);
    const box = this.bounds();
    if (box.isEmpty()) return;
    this.size = Math.max(0.2, box.getSize(new THREE.Vector3()).length());
    frame(view, box);
    view.framed = true;
  }

  /** Up in a vehicle's own axes: with an arm where it stands on its base, whichever way z points there;
   * without one against z where the world's z is down. */
  private findUp(): void {
    let isDown = new THREE.Vector3(0, 0, 1).transformDirection(this.frames.pose(WORLD)).z < 0;
    if (this.arm) {
      this.frames.stand(this.base, this.base, new THREE.Matrix4());
      this.frames.root.updateMatrixWorld(true);
      const box = this.bounds();
      const size = box.getSize(new THREE.Vector3()).length();
      isDown = !box.isEmpty() && box.getCenter(new THREE.Vector3()).z < -0.02 * size;
      this.standsOnFloor = box.min.z > -0.05 * size;
    }
    this.upright.makeRotationX(isDown ? Math.PI : 0);
  }

  private stand(view: Camera): void {
    this.frames.stand(view.stand.at, view.stand.turn, view.controls && view.stand.turn ? this.upright : new THREE.Matrix4());
    this.frames.root.updateMatrixWorld(true);
  }

  private bounds(): THREE.Box3 {
    const box = new THREE.Box3();
    this.frames.root.traverse((part) => part.userData["isBody"] && part.visible && box.expandByObject(part));
    return box;
  }

  private remove(layer: Map<string, Shown>, id: string): void {
    const shown = layer.get(id);
    if (shown) freeObject(shown.group);
    layer.delete(id);
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const size = this.renderer!.getSize(new THREE.Vector2());
    if (size.x === width && size.y === height) return;
    this.renderer!.setPixelRatio(Math.min(PIXEL_RATIO_MAX, devicePixelRatio));
    this.renderer!.setSize(width, height, false);
  }
}
