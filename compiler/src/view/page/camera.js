// The arithmetic of cameras: what drags and turns of the wheel do to eye, look, fov and to a plane. Distances of the mouse are in
// CSS pixels, x to the right and y down. The ray of a pixel is that of `std/camera`: right = ahead × up, `fov` is vertical.

export const DEGREES_PER_PIXEL = 0.4;
// The angle to `up` never becomes smaller than this, since at the pole the picture would flip.
export const POLE_DEGREES = 1;

const RADIAN = Math.PI / 180;

export const addVec = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const subVec = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scaleVec = (s, a) => [s * a[0], s * a[1], s * a[2]];
export const dotVec = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const crossVec = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const lengthVec = (a) => Math.hypot(a[0], a[1], a[2]);
export function unitVec(a, otherwise = [0, 0, 1]) {
  const length = lengthVec(a);
  return length > 0 && Number.isFinite(length) ? scaleVec(1 / length, a) : otherwise;
}

// Any unit vector at a right angle to `a`.
function acrossVec(a) {
  const least = [0, 1, 2].reduce((best, k) => (Math.abs(a[k]) < Math.abs(a[best]) ? k : best), 0);
  return unitVec(crossVec(a, [0, 1, 2].map((k) => (k === least ? 1 : 0))));
}

// The vector turned about a unit axis, counterclockwise seen against the axis.
export function turnVec(v, axis, radians) {
  const c = Math.cos(radians);
  const s = Math.sin(radians);
  return addVec(addVec(scaleVec(c, v), scaleVec(s, crossVec(axis, v))), scaleVec(dotVec(axis, v) * (1 - c), axis));
}

export function cameraFrame(camera) {
  const ahead = unitVec(subVec(camera.look, camera.eye), [0, 1, 0]);
  const side = crossVec(ahead, camera.up);
  const right = lengthVec(side) > 1e-9 * lengthVec(camera.up) ? unitVec(side) : acrossVec(ahead);
  return { ahead, right, up: crossVec(right, ahead), distance: lengthVec(subVec(camera.look, camera.eye)) };
}

// Rounding keeps the command line readable: nine digits are more than pixels can show.
export function tidyVec(v) {
  const size = Math.max(...v.map(Math.abs), 1e-300);
  const unit = Math.pow(10, Math.floor(Math.log10(size)) - 6);
  return v.map((x) => Number((Math.round(x / unit) * unit).toPrecision(7)));
}

// The eye after a drag that turns the scene with the mouse. `look`, `up` and the distance stay.
export function orbitCamera(camera, dx, dy) {
  const axis = unitVec(camera.up);
  const arm = subVec(camera.eye, camera.look);
  const distance = lengthVec(arm);
  if (!(distance > 0)) return camera;
  const along = dotVec(arm, axis);
  const flat = subVec(arm, scaleVec(along, axis));
  const outwards = lengthVec(flat) > 1e-9 * distance ? unitVec(flat) : acrossVec(axis);
  const limit = (90 - POLE_DEGREES) * RADIAN;
  const before = Math.asin(Math.min(1, Math.max(-1, along / distance)));
  const elevation = Math.min(limit, Math.max(-limit, before + dy * DEGREES_PER_PIXEL * RADIAN));
  const turned = turnVec(outwards, axis, -dx * DEGREES_PER_PIXEL * RADIAN);
  const moved = addVec(scaleVec(distance * Math.cos(elevation), turned), scaleVec(distance * Math.sin(elevation), axis));
  return { ...camera, eye: addVec(camera.look, moved) };
}

// The length of a pixel in the plane of `look`; `height` is that of the whole picture in pixels.
export function worldPerPixel(camera, height) {
  return (2 * lengthVec(subVec(camera.look, camera.eye)) * Math.tan((camera.fov * RADIAN) / 2)) / Math.max(1, height);
}

// Moves eye and look so that a point in the plane of `look` stays under the mouse.
export function panCamera(camera, dx, dy, height) {
  const { right, up } = cameraFrame(camera);
  const unit = worldPerPixel(camera, height);
  const shift = addVec(scaleVec(-dx * unit, right), scaleVec(dy * unit, up));
  return { ...camera, eye: addVec(camera.eye, shift), look: addVec(camera.look, shift) };
}

// Positive amounts go away. 100 is one notch of most wheels.
export function wheelFactor(amount) {
  return Math.exp(Math.min(400, Math.max(-400, amount)) * 0.0012);
}

// Changes the distance to `look`, or the angle of view if rays are parallel: there the distance changes nothing that is seen.
export function dollyCamera(camera, amount) {
  const factor = wheelFactor(amount);
  if (camera.ortho) {
    const half = Math.tan((camera.fov * RADIAN) / 2) * factor;
    return { ...camera, fov: Math.min(170, Math.max(0.001, (2 * Math.atan(half)) / RADIAN)) };
  }
  return { ...camera, eye: addVec(camera.look, scaleVec(factor, subVec(camera.eye, camera.look))) };
}

// A part of the plane: `unit` is the world's length of a pixel, `sign` is 1 if y grows upwards and -1 otherwise.
export function panPlane(plane, dx, dy) {
  return { ...plane, center: [plane.center[0] - dx * plane.unit, plane.center[1] + dy * plane.unit * plane.sign] };
}

// Zooms about a position given in pixels from the middle of the picture: what is there stays there.
export function zoomPlane(plane, amount, x, y) {
  const factor = wheelFactor(amount);
  const fixed = [plane.center[0] + x * plane.unit, plane.center[1] - y * plane.unit * plane.sign];
  const center = plane.center.map((c, k) => fixed[k] + (c - fixed[k]) * factor);
  return { ...plane, center, size: plane.size * factor, unit: plane.unit * factor };
}

// A camera that sees the whole box, in the direction in which `std/camera` looks at data; in two dimensions from straight above.
export function fitCamera(bounds, dimension, aspect = 1) {
  const low = bounds[0];
  const high = bounds[1];
  const middle = [0, 1, 2].map((k) => ((low[k] ?? 0) + (high[k] ?? 0)) / 2);
  const half = [0, 1, 2].map((k) => Math.abs((high[k] ?? 0) - (low[k] ?? 0)) / 2);
  const look = middle.map((x) => (Number.isFinite(x) ? x : 0));
  const fov = 30;
  const tangent = Math.tan((fov * RADIAN) / 2) * 0.92;
  if (dimension === 2) {
    const tall = Math.max(half[1], half[0] / Math.max(0.01, aspect)) || 1;
    return { eye: [look[0], look[1], look[2] + tall / tangent], look, up: [0, 1, 0], fov, ortho: true };
  }
  const away = unitVec([4, -7, 5]);
  const { ahead, right, up } = cameraFrame({ eye: addVec(look, away), look, up: [0, 0, 1] });
  let distance = 0;
  for (let k = 0; k < 8; k++) {
    const corner = half.map((x, axis) => (Number.isFinite(x) ? x : 1) * ((k >> axis) & 1 ? 1 : -1));
    const needed = Math.max(Math.abs(dotVec(corner, up)), Math.abs(dotVec(corner, right)) / Math.max(0.01, aspect)) / tangent;
    distance = Math.max(distance, needed - dotVec(corner, ahead));
  }
  return { eye: addVec(look, scaleVec(distance || 4, away)), look, up: [0, 0, 1], fov, ortho: false };
}

// The product of projection and view for WebGL, by columns; `radius` bounds the distance of everything from `look`.
export function cameraMatrix(camera, aspect, radius) {
  const { ahead, right, up, distance } = cameraFrame(camera);
  const { eye } = camera;
  const near = Math.max(distance - radius, (distance + radius) * 1e-4);
  const far = distance + radius;
  const tangent = Math.tan((camera.fov * RADIAN) / 2);
  const rows = [right, up, scaleVec(-1, ahead)].map((axis) => [...axis, -dotVec(axis, eye)]);
  const scaled = (row, s) => row.map((x) => x * s);
  if (camera.ortho) {
    const tall = tangent * distance;
    const back = distance - radius;
    const depth = rows[2].map((x) => (-2 * x) / (far - back));
    depth[3] -= (far + back) / (far - back);
    return columnsOfRows([scaled(rows[0], 1 / (tall * aspect)), scaled(rows[1], 1 / tall), depth, [0, 0, 0, 1]]);
  }
  const depth = rows[2].map((x) => (-(far + near) / (far - near)) * x);
  depth[3] -= (2 * far * near) / (far - near);
  return columnsOfRows([scaled(rows[0], 1 / (tangent * aspect)), scaled(rows[1], 1 / tangent), depth, scaled(rows[2], -1)]);
}

function columnsOfRows(rows) {
  return new Float32Array(16).map((_, k) => rows[k % 4][Math.floor(k / 4)]);
}
