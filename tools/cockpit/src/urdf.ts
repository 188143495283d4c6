// The looks of a vehicle from its URDF: boxes, cylinders and balls of links that are bodies here.
import * as THREE from "three";
import URDFLoader from "urdf-loader";
import { paint, withEdges } from "./shapes";

function look(visual: THREE.Object3D): THREE.Object3D {
  const meshes: THREE.Mesh[] = [];
  visual.traverse((part) => part instanceof THREE.Mesh && meshes.push(part));
  for (const mesh of meshes) {
    const was = [mesh.material].flat()[0] as THREE.MeshPhongMaterial;
    mesh.material = paint(was.color, was.opacity);
    withEdges(mesh, was.color);
  }
  return visual;
}

/** By the name of the link. */
export async function loadUrdf(address: string): Promise<Map<string, THREE.Object3D[]>> {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  const loader = new URDFLoader();
  loader.loadMeshCb = (_address, _manager, _material, done) => done(new THREE.Group()); // no meshes here
  const robot = loader.parse(await answer.text());
  const looks = new Map<string, THREE.Object3D[]>();
  for (const [name, link] of Object.entries(robot.links)) {
    const visuals = link.children.filter((child) => "isURDFVisual" in child);
    if (visuals.length > 0) looks.set(name, visuals.map(look));
  }
  return looks;
}
