// An attitude ball: the horizon as seen from the vehicle, turned by roll and shifted by pitch.
import { color } from "./theme";

const FIELD = 45; // degrees of pitch from the middle to the rim

export function drawBall(canvas: HTMLCanvasElement, roll: number, pitch: number): void {
  const context = canvas.getContext("2d");
  const scale = Math.min(2, devicePixelRatio);
  const size = (canvas.width = canvas.height = Math.max(1, Math.round(canvas.clientWidth * scale)));
  if (!context) return;
  const radius = size / 2 - 2 * scale;
  const shift = (degrees: number) => (Math.max(-90, Math.min(90, degrees)) / FIELD) * radius;
  context.translate(size / 2, size / 2);
  context.save();
  context.beginPath();
  context.arc(0, 0, radius, 0, 2 * Math.PI);
  context.clip();
  context.rotate(-roll);
  context.translate(0, shift((pitch * 180) / Math.PI));
  context.fillStyle = color("sky");
  context.fillRect(-2 * size, -4 * size, 4 * size, 4 * size);
  context.fillStyle = color("soil");
  context.fillRect(-2 * size, 0, 4 * size, 4 * size);
  context.strokeStyle = color("ball-line");
  context.lineWidth = 1.5 * scale;
  context.beginPath();
  context.moveTo(-2 * size, 0);
  context.lineTo(2 * size, 0);
  for (let degrees = -80; degrees <= 80; degrees += 10) {
    const half = degrees % 30 === 0 ? radius / 3 : radius / 7;
    context.moveTo(-half, shift(-degrees));
    context.lineTo(half, shift(-degrees));
  }
  context.stroke();
  context.restore();
  context.strokeStyle = color("warn");
  context.lineWidth = 3 * scale;
  context.beginPath();
  context.moveTo(-radius / 2, 0);
  context.lineTo(-radius / 6, 0);
  context.moveTo(radius / 6, 0);
  context.lineTo(radius / 2, 0);
  context.moveTo(0, -1.5 * scale);
  context.lineTo(0, 1.5 * scale);
  context.stroke();
  context.strokeStyle = color("line");
  context.beginPath();
  context.arc(0, 0, radius, 0, 2 * Math.PI);
  context.stroke();
}
