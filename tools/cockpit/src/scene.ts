// The vehicle in 3-D, from the transforms and shapes that the run publishes.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { color } from "./theme";

type Vector = { x: number; y: number; z: number };
type Quaternion = Vector & { w: number };
type Pose = { position: Vector; orientation: Quaternion };
type Color = { r: number; g: number; b: number; a: number };
type Shape = { pose: Pose; size: Vector; color: Color };
type Cylinder = Shape & { bottom_scale: number; top_scale: number };
type Line = { type: number; pose: Pose; points: Vector[]; color: Color };
type Triangles = { pose: Pose; points: Vector[]; color: Color; indices: number[] };
interface Entity {
  id: string;
  frame_id: string;
  cubes: Shape[];
  spheres: Shape[];
  cylinders: Cylinder[];
  lines: Line[];
  triangles: Triangles[];
}
export interface SceneUpdate { entities: Entity[]; deletions: { type: number; id: string }[] }
export interface FrameTransform { parent_frame_id: string; child_frame_id: string; translation: Vector; rotation: Quaternion }
export interface FrameTransforms { transforms: FrameTransform[] }

export type Camera = "orbit" | "follow" | "top";
export const CAMERAS: Camera[] = ["orbit", "follow", "top"];

function place(object: THREE.Object3D, pose: Pose): void {
  object.position.set(pose.position.x, pose.position.y, pose.position.z);
  object.quaternion.set(pose.orientation.x, pose.orientation.y, pose.orientation.z, pose.orientation.w);
}

function material(c: Color): THREE.MeshStandardMaterial {
  return new THREE.MeshStandardMaterial({
    color: new THREE.Color(c.r, c.g, c.b),
    transparent: c.a < 1,
    opacity: c.a,
    roughness: 0.55,
    metalness: 0.15,
    side: THREE.DoubleSide,
  });
}

function meshes(entity: Entity): THREE.Object3D[] {
  const out: THREE.Object3D[] = [];
  const add = (geometry: THREE.BufferGeometry, shape: { pose: Pose; color: Color }, size?: Vector) => {
    const mesh = new THREE.Mesh(geometry, material(shape.color));
    place(mesh, shape.pose);
    if (size) mesh.scale.set(size.x, size.y, size.z);
    out.push(mesh);
  };
  for (const cube of entity.cubes) add(new THREE.BoxGeometry(1, 1, 1), cube, cube.size);
  for (const sphere of entity.spheres) add(new THREE.SphereGeometry(0.5, 32, 20), sphere, sphere.size);
  for (const c of entity.cylinders) {
    // Ours stand along z, three's along y.
    const geometry = new THREE.CylinderGeometry(0.5 * c.top_scale, 0.5 * c.bottom_scale, 1, 32).rotateX(Math.PI / 2);
    add(geometry, c, c.size);
  }
  for (const t of entity.triangles) {
    const geometry = new THREE.BufferGeometry().setFromPoints(t.points.map((p) => new THREE.Vector3(p.x, p.y, p.z)));
    if (t.indices.length) geometry.setIndex([...t.indices]);
    geometry.computeVertexNormals();
    add(geometry, t);
  }
  for (const line of entity.lines) {
    const geometry = new THREE.BufferGeometry().setFromPoints(line.points.map((p) => new THREE.Vector3(p.x, p.y, p.z)));
    const paint = new THREE.LineBasicMaterial({ color: new THREE.Color(line.color.r, line.color.g, line.color.b) });
    const strip = line.type === 2 ? new THREE.LineSegments(geometry, paint) : new THREE.Line(geometry, paint);
    place(strip, line.pose);
    out.push(strip);
  }
  return out;
}

function free(object: THREE.Object3D): void {
  object.traverse((part) => {
    if (part instanceof THREE.Mesh || part instanceof THREE.Line) part.geometry.dispose();
  });
  object.removeFromParent();
}

export class Scene {
  private renderer?: THREE.WebGLRenderer;
  private scene = new THREE.Scene();
  private camera = new THREE.PerspectiveCamera(40, 1, 0.05, 1e5);
  private controls: OrbitControls;
  private frames = new Map<string, THREE.Group>();
  private entities = new Map<string, THREE.Group>();
  private vehicle = "";
  private mode: Camera = "orbit";
  private target = new THREE.Vector3();
  private framed = false;
  private grid = new THREE.GridHelper(1, 20);

  constructor(private canvas: HTMLCanvasElement) {
    try {
      this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true });
    } catch {
      canvas.replaceWith(Object.assign(document.createElement("p"), { textContent: "This browser has no WebGL, so there is no 3-D view." }));
    }
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.camera.up.set(0, 0, 1);
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x30405a, 1.4));
    const sun = new THREE.DirectionalLight(0xffffff, 2.2);
    sun.position.set(3, -4, 6);
    this.scene.add(sun);
    this.grid.rotateX(Math.PI / 2);
    this.scene.add(this.grid);
  }

  /** Everything of a run that ended goes. */
  clear(): void {
    for (const group of [...this.entities.values(), ...this.frames.values()]) free(group);
    this.entities.clear();
    this.frames.clear();
    this.vehicle = "";
    this.framed = false;
  }

  update(update: SceneUpdate): void {
    for (const deletion of update.deletions) this.remove(deletion.type === 1 ? [...this.entities.keys()] : [deletion.id]);
    for (const entity of update.entities) {
      this.remove([entity.id]);
      const group = new THREE.Group();
      group.add(...meshes(entity));
      this.frame(entity.frame_id).add(group);
      this.entities.set(entity.id, group);
    }
  }

  move(transforms: FrameTransform[]): void {
    for (const t of transforms) {
      const frame = this.frame(t.child_frame_id);
      const parent = this.frame(t.parent_frame_id);
      if (frame.parent !== parent) parent.add(frame);
      frame.position.set(t.translation.x, t.translation.y, t.translation.z);
      frame.quaternion.set(t.rotation.x, t.rotation.y, t.rotation.z, t.rotation.w);
      this.vehicle ||= t.child_frame_id;
    }
  }

  look(mode: Camera): void {
    this.mode = mode;
    this.framed = false;
  }

  draw(): void {
    if (!this.renderer) return;
    this.resize();
    this.aim();
    this.controls.update();
    this.renderer.render(this.scene, this.camera);
  }

  private remove(ids: string[]): void {
    for (const id of ids) {
      const group = this.entities.get(id);
      if (group) free(group);
      this.entities.delete(id);
    }
  }

  private frame(name: string): THREE.Group {
    let group = this.frames.get(name);
    if (!group) {
      group = new THREE.Group();
      this.frames.set(name, group);
      this.scene.add(group);
    }
    return group;
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const size = this.renderer!.getSize(new THREE.Vector2());
    if (size.x === width && size.y === height) return;
    this.renderer!.setPixelRatio(devicePixelRatio);
    this.renderer!.setSize(width, height, false);
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
  }

  /** The view travels with the vehicle; a new vehicle or camera finds its own distance. */
  private aim(): void {
    const box = new THREE.Box3();
    for (const group of this.entities.values()) box.expandByObject(group);
    if (box.isEmpty()) return;
    const vehicle = this.frames.get(this.vehicle);
    const centre = vehicle ? vehicle.getWorldPosition(new THREE.Vector3()) : box.getCenter(new THREE.Vector3());
    const moved = centre.clone().sub(this.target);
    this.target.copy(centre);
    if (this.framed) {
      this.camera.position.add(moved);
      this.controls.target.add(moved);
      this.paintGrid();
      return;
    }
    const size = Math.max(0.5, box.getSize(new THREE.Vector3()).length());
    const direction = { orbit: [1, -1.2, 0.7], follow: [-1.4, 0, 0.5], top: [0, -0.01, 1.6] }[this.mode];
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).addScaledVector(new THREE.Vector3(...(direction as [number, number, number])), size);
    this.grid.scale.setScalar(size * 4);
    this.framed = true;
    this.paintGrid();
  }

  private paintGrid(): void {
    const paint = this.grid.material as THREE.LineBasicMaterial;
    paint.vertexColors = false;
    paint.color.set(color("line"));
    paint.needsUpdate = true;
    this.grid.position.set(this.target.x, this.target.y, 0);
    this.grid.visible = Math.abs(this.target.z) < 20 * this.grid.scale.x;
  }
}
