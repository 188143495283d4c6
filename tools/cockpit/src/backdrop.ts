// What is behind the vehicle: stars that turn with the world, a floor where the ground is near, and
// the lights.
import * as THREE from "three";
import { color, opacity } from "./theme";

const STARS = 900;
const STAR_DISTANCE = 4e4;
const CELLS = 100;

/** The same sky every time. */
function starPlaces(): Float32Array {
  const places = new Float32Array(STARS * 3);
  let seed = 12345;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  for (let i = 0; i < STARS; i++) {
    const z = 2 * random() - 1;
    const turn = 2 * Math.PI * random();
    const flat = Math.sqrt(1 - z * z);
    places.set([flat * Math.cos(turn), flat * Math.sin(turn), z].map((part) => part * STAR_DISTANCE), 3 * i);
  }
  return places;
}

export class Backdrop {
  readonly world = new THREE.Group(); // has the world's axes
  readonly lamps = new THREE.Group(); // has those of the base
  private stars: THREE.Points<THREE.BufferGeometry, THREE.PointsMaterial>;
  private grid = new THREE.GridHelper(CELLS, CELLS);
  private sky = new THREE.HemisphereLight(0xffffff, 0x56657f, 1.7);

  constructor() {
    const geometry = new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(starPlaces(), 3));
    this.stars = new THREE.Points(geometry, new THREE.PointsMaterial({ size: 1.7, sizeAttenuation: false, transparent: true, depthWrite: false }));
    this.stars.frustumCulled = false;
    const floor = this.grid.material as THREE.LineBasicMaterial;
    floor.vertexColors = false;
    floor.transparent = true;
    floor.depthWrite = false;
    this.grid.rotateX(Math.PI / 2);
    this.world.add(this.stars, this.grid);
    const lamp = (tint: number, strength: number, x: number, y: number, z: number) => {
      const made = new THREE.DirectionalLight(tint, strength);
      made.position.set(x, y, z);
      this.lamps.add(made, made.target);
    };
    lamp(0xfff4e0, 3.2, 3, -4, 6);
    lamp(0x9fc4ff, 1.1, -5, 3, 1);
    lamp(0xbcd0ff, 0.8, 0, 4, -5);
    this.lamps.add(this.sky);
    this.sky.position.set(0, 0, 1);
  }

  /** `origin` is where the vehicle is in the world; the floor moves under it by whole cells. */
  draw(origin: THREE.Vector3, size: number, hasFloor: boolean): void {
    this.stars.material.color.set(color("star"));
    this.stars.material.opacity = opacity("star-opacity");
    const cell = 10 ** Math.round(Math.log10(Math.max(0.1, size) / 8));
    const floor = this.grid.material as THREE.LineBasicMaterial;
    floor.color.set(color("grid"));
    floor.opacity = opacity("grid-opacity");
    this.grid.scale.setScalar(cell);
    this.grid.position.set(-(origin.x % cell), -(origin.y % cell), -origin.z);
    this.grid.visible = hasFloor && Math.abs(origin.z) < 20 * cell && Math.hypot(origin.x, origin.y) < 1e5;
  }
}
