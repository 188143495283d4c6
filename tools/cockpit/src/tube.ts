// A round tube along a smooth curve through some points; when they move, it is bent in place.
import * as THREE from "three";

const SIDES = 14;
const RINGS_PER_SPAN = 6;
const RINGS_MAX = 160;

export class Tube {
  readonly geometry = new THREE.BufferGeometry();
  private rings: number;
  private position: THREE.BufferAttribute;
  private normal: THREE.BufferAttribute;

  constructor(count: number, private radius: number) {
    this.rings = Math.min(RINGS_MAX, Math.max(2, (count - 1) * RINGS_PER_SPAN + 1));
    const vertices = this.rings * SIDES + 2; // and the middle of each end
    this.position = new THREE.BufferAttribute(new Float32Array(vertices * 3), 3);
    this.normal = new THREE.BufferAttribute(new Float32Array(vertices * 3), 3);
    this.geometry.setAttribute("position", this.position);
    this.geometry.setAttribute("normal", this.normal);
    this.geometry.setIndex(this.faces());
  }

  bend(points: THREE.Vector3[]): void {
    const curve = new THREE.CatmullRomCurve3(points);
    const at = Array.from({ length: this.rings }, (_, i) => curve.getPoint(i / (this.rings - 1)));
    const side = new THREE.Vector3();
    const along = new THREE.Vector3();
    const other = new THREE.Vector3();
    at.forEach((centre, i) => {
      along.subVectors(at[Math.min(i + 1, this.rings - 1)]!, at[Math.max(i - 1, 0)]!);
      if (along.lengthSq() < 1e-18) along.set(1, 0, 0);
      along.normalize();
      if (i === 0) side.set(Math.abs(along.z) < 0.9 ? 0 : 1, 0, Math.abs(along.z) < 0.9 ? 1 : 0);
      side.addScaledVector(along, -side.dot(along)).normalize(); // carried along, so that it does not twist
      other.crossVectors(along, side);
      for (let k = 0; k < SIDES; k++) {
        const angle = (2 * Math.PI * k) / SIDES;
        const n = side.clone().multiplyScalar(Math.cos(angle)).addScaledVector(other, Math.sin(angle));
        this.normal.setXYZ(i * SIDES + k, n.x, n.y, n.z);
        n.multiplyScalar(this.radius).add(centre);
        this.position.setXYZ(i * SIDES + k, n.x, n.y, n.z);
      }
      if (i === 0) this.end(this.rings * SIDES, centre, along, -1);
      if (i === this.rings - 1) this.end(this.rings * SIDES + 1, centre, along, 1);
    });
    this.position.needsUpdate = true;
    this.normal.needsUpdate = true;
    this.geometry.computeBoundingBox();
    this.geometry.computeBoundingSphere();
  }

  private end(index: number, centre: THREE.Vector3, along: THREE.Vector3, sign: number): void {
    this.position.setXYZ(index, centre.x, centre.y, centre.z);
    this.normal.setXYZ(index, sign * along.x, sign * along.y, sign * along.z);
  }

  private faces(): number[] {
    const faces: number[] = [];
    const first = this.rings * SIDES;
    const last = (this.rings - 1) * SIDES;
    for (let k = 0; k < SIDES; k++) {
      const next = (k + 1) % SIDES;
      for (let i = 0; i + 1 < this.rings; i++) {
        const a = i * SIDES;
        faces.push(a + k, a + next, a + SIDES + next, a + k, a + SIDES + next, a + SIDES + k);
      }
      faces.push(first, next, k, first + 1, last + k, last + next);
    }
    return faces;
  }
}
