// What an entity of /scene looks like: boxes, balls, cylinders, triangles, lines and tubes.
import * as THREE from "three";
import { exaggeratePoints } from "./bend";
import { readPoint, readTurn } from "./frames";
import { fields, list, number, numbers, text } from "./read";
import { Tube } from "./tube";

const OPAQUE = 0.85; // what is nearly so looks better so
const LINE_LOOP = 1;
const LINE_LIST = 2;
const EDGE_ANGLE = 30; // degrees; flatter edges are not drawn

export interface Entity {
  id: string;
  frame: string;
  source: Record<string, unknown>;
}

export function readEntities(message: Record<string, unknown>): Entity[] {
  return list(message["entities"])
    .map(fields)
    .map((source) => ({ id: text(source["id"]), frame: text(source["frame_id"]), source }))
    .filter(({ id, frame }) => id !== "" && frame !== "");
}

export function readColor(value: unknown): { color: THREE.Color; opacity: number } {
  const { r, g, b, a } = fields(value);
  const one = (part: unknown) => Math.max(0, Math.min(1, number(part, 0.6)));
  const opacity = Math.max(0, Math.min(1, number(a, 1)));
  return { color: new THREE.Color().setRGB(one(r), one(g), one(b), THREE.SRGBColorSpace), opacity: opacity >= OPAQUE ? 1 : opacity };
}

export function paint(color: THREE.Color, opacity: number): THREE.MeshStandardMaterial {
  return new THREE.MeshStandardMaterial({
    color,
    transparent: opacity < 1,
    opacity,
    depthWrite: opacity === 1,
    roughness: 0.62,
    metalness: 0.12,
    side: opacity < 1 ? THREE.DoubleSide : THREE.FrontSide,
  });
}

function place(object: THREE.Object3D, pose: unknown): void {
  const { position, orientation } = fields(pose);
  object.position.copy(readPoint(position));
  object.quaternion.copy(readTurn(orientation));
}

/** Edges make a box readable whatever light falls on it. */
export function withEdges(mesh: THREE.Mesh, color: THREE.Color): THREE.Mesh {
  const lines = new THREE.LineBasicMaterial({ color: color.clone().multiplyScalar(0.35), transparent: true, opacity: 0.55 });
  mesh.add(new THREE.LineSegments(new THREE.EdgesGeometry(mesh.geometry, EDGE_ANGLE), lines));
  return mesh;
}

const points = (value: unknown): THREE.Vector3[] => list(value).map(readPoint);

function linePoints(line: Record<string, unknown>): THREE.Vector3[] {
  const all = points(line["points"]);
  return line["type"] === LINE_LOOP ? [...all, ...all.slice(0, 1)] : all;
}

export function freeObject(object: THREE.Object3D): void {
  object.traverse((part) => {
    if (!(part instanceof THREE.Mesh || part instanceof THREE.Line)) return;
    part.geometry.dispose();
    for (const material of [part.material].flat() as THREE.Material[]) material.dispose();
  });
  object.removeFromParent();
}

function solids(entity: Entity): THREE.Object3D[] {
  const made: THREE.Object3D[] = [];
  const add = (geometry: THREE.BufferGeometry, shape: Record<string, unknown>, isSized: boolean) => {
    const { color, opacity } = readColor(shape["color"]);
    const mesh = withEdges(new THREE.Mesh(geometry, paint(color, opacity)), color);
    place(mesh, shape["pose"]);
    if (isSized) mesh.scale.copy(readPoint(shape["size"])).max(new THREE.Vector3(1e-6, 1e-6, 1e-6));
    made.push(mesh);
  };
  const each = (name: string) => list(entity.source[name]).map(fields);
  for (const cube of each("cubes")) add(new THREE.BoxGeometry(1, 1, 1), cube, true);
  for (const sphere of each("spheres")) add(new THREE.SphereGeometry(0.5, 32, 20), sphere, true);
  for (const c of each("cylinders")) {
    const top = 0.5 * Math.max(0, number(c["top_scale"], 1));
    const bottom = 0.5 * Math.max(0, number(c["bottom_scale"], 1));
    // Ours stand along z, three's along y.
    add(new THREE.CylinderGeometry(top, bottom, 1, 32).rotateX(Math.PI / 2), c, true);
  }
  for (const t of each("triangles")) {
    const corners = points(t["points"]);
    const indices = numbers(t["indices"]).filter((i) => i >= 0 && i < corners.length);
    if (corners.length < 3) continue;
    const geometry = new THREE.BufferGeometry().setFromPoints(corners);
    if (indices.length) geometry.setIndex(indices);
    geometry.computeVertexNormals();
    add(geometry, t, false);
  }
  return made;
}

interface Line { points: THREE.Vector3[]; isList: boolean; radius: number; pose: unknown; color: unknown }

/** Radius 0: a thin line, however near. */
function readLines(entity: Entity): Line[] {
  return list(entity.source["lines"]).map(fields).map((line) => ({
    points: linePoints(line),
    isList: line["type"] === LINE_LIST,
    radius: line["scale_invariant"] === false ? Math.max(0, number(line["thickness"]) / 2) : 0,
    pose: line["pose"],
    color: line["color"],
  }));
}

function isTube(line: Line): boolean {
  return line.radius > 0 && !line.isList && line.points.length > 1;
}

/** One entity in the scene.  Lines that keep their number are bent in place; else it is made anew. */
export class Shown {
  readonly group = new THREE.Group();
  private lines: Line[];
  private drawn: { tube?: Tube; thin?: THREE.BufferGeometry }[] = [];

  constructor(entity: Entity, private straight?: Shown, factor = 1) {
    this.lines = readLines(entity);
    for (const solid of solids(entity)) this.group.add(solid);
    for (const line of this.lines) this.addLine(line);
    this.bend(factor);
  }

  /** True: it is the same entity with its lines bent; false: it is another. */
  take(entity: Entity, factor: number): boolean {
    const lines = readLines(entity);
    const isSame =
      lines.length > 0 &&
      lines.length === this.lines.length &&
      lines.every((line, i) => line.points.length === this.lines[i]!.points.length && line.radius === this.lines[i]!.radius);
    if (isSame) {
      this.lines = lines;
      this.bend(factor);
    }
    return isSame;
  }

  /** The same lines, unbent. */
  compare(straight: Shown | undefined): void {
    this.straight = straight;
  }

  bend(factor: number): void {
    this.lines.forEach((line, i) => {
      const bent = exaggeratePoints(this.straight?.lines[i]?.points, line.points, factor);
      this.drawn[i]!.tube?.bend(bent);
      this.drawn[i]!.thin?.setFromPoints(bent);
    });
  }

  private addLine(line: Line): void {
    const { color, opacity } = readColor(line.color);
    let object: THREE.Object3D;
    if (isTube(line)) {
      const tube = new Tube(line.points.length, line.radius);
      object = new THREE.Mesh(tube.geometry, paint(color, opacity));
      this.drawn.push({ tube });
    } else {
      const thin = new THREE.BufferGeometry();
      const look = new THREE.LineBasicMaterial({ color });
      object = line.isList ? new THREE.LineSegments(thin, look) : new THREE.Line(thin, look);
      object.frustumCulled = false; // its sphere is not kept
      this.drawn.push({ thin });
    }
    place(object, line.pose);
    this.group.add(object);
  }
}
