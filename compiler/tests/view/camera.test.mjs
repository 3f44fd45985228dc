// What drags and turns of the wheel do to cameras and planes.

import test from "node:test";
import assert from "node:assert/strict";
import { DEGREES_PER_PIXEL, POLE_DEGREES, cameraFrame, cameraMatrix, crossVec, dollyCamera, dotVec, fitCamera, lengthVec, orbitCamera, panCamera, panPlane, subVec, tidyVec, unitVec, wheelFactor, worldPerPixel, zoomPlane } from "../../src/view/page/camera.js";

const camera = { eye: [4, -7, 5], look: [0.5, 0.25, -1], up: [0, 0, 1], fov: 20, ortho: false };
const near = (a, b, tolerance = 1e-9) => {
  const [x, y] = [[a].flat(), [b].flat()];
  assert.equal(x.length, y.length);
  x.forEach((value, k) => assert.ok(Math.abs(value - y[k]) <= tolerance * (1 + Math.abs(y[k])), `${a} is not near ${b}`));
};
const distance = (c) => lengthVec(subVec(c.eye, c.look));
const elevation = (c) => (Math.asin(dotVec(unitVec(subVec(c.eye, c.look)), unitVec(c.up))) * 180) / Math.PI;
const azimuth = (c) => {
  const arm = subVec(c.eye, c.look);
  return (Math.atan2(arm[1], arm[0]) * 180) / Math.PI;
};

// Where a point is in a picture of this height, in pixels from the middle, by the rays of std/camera.
function project(c, point, height) {
  const { ahead, right, up, distance: d } = cameraFrame(c);
  const v = subVec(point, c.eye);
  const half = d * Math.tan((c.fov * Math.PI) / 360);
  const depth = c.ortho ? d : dotVec(v, ahead);
  return [(dotVec(v, right) / depth) * d * (height / 2 / half), -(dotVec(v, up) / depth) * d * (height / 2 / half)];
}

test("a drag of 100 px to the right turns the eye by 40 degrees clockwise about up", () => {
  assert.equal(DEGREES_PER_PIXEL, 0.4);
  const after = orbitCamera(camera, 100, 0);
  near(azimuth(after), azimuth(camera) - 40);
  near(elevation(after), elevation(camera));
  near(distance(after), distance(camera));
  assert.deepEqual(after.look, camera.look);
  assert.deepEqual(after.up, camera.up);
});

test("a drag downwards raises the eye", () => {
  const after = orbitCamera(camera, 0, 50);
  near(elevation(after), elevation(camera) + 20);
  near(azimuth(after), azimuth(camera));
});

test("what faces the viewer moves with the mouse", () => {
  const front = subVec(camera.look, cameraFrame(camera).ahead.map((x) => 0.5 * x));
  const [x, y] = project(orbitCamera(camera, 30, 20), front, 400);
  assert.ok(x > 5 && y > 5, `${x} ${y}`);
});

test("the pole is not crossed", () => {
  for (const dy of [1000, -1000, 1e6]) {
    const after = orbitCamera(camera, 0, dy);
    near(Math.abs(elevation(after)), 90 - POLE_DEGREES, 1e-6);
    near(distance(after), distance(camera));
  }
});

test("up may be any vector and stays what it is", () => {
  const tilted = { ...camera, up: [1, 2, 0.5] };
  const after = orbitCamera(tilted, 100, 0);
  assert.deepEqual(after.up, [1, 2, 0.5]);
  near(elevation(after), elevation(tilted));
  const axis = unitVec(tilted.up);
  const flat = (c) => {
    const arm = subVec(c.eye, c.look);
    return unitVec(subVec(arm, axis.map((x) => x * dotVec(arm, axis))));
  };
  near(dotVec(flat(tilted), flat(after)), Math.cos((40 * Math.PI) / 180));
  near(dotVec(axis, crossVec(flat(tilted), flat(after))), -Math.sin((40 * Math.PI) / 180));
});

test("an eye that looks along up can be turned away", () => {
  const after = orbitCamera({ ...camera, eye: [0.5, 0.25, 9] }, 10, -100);
  assert.ok(after.eye.every(Number.isFinite));
  near(elevation(after), 50);
});

test("a camera at its own look point stays there", () => {
  const stuck = { ...camera, eye: camera.look };
  assert.deepEqual(orbitCamera(stuck, 10, 10).eye, stuck.eye);
});

test("a pan keeps the point at the depth of look under the mouse", () => {
  for (const ortho of [false, true]) {
    const before = { ...camera, ortho };
    const after = panCamera(before, 37, -21, 480);
    near(project(after, before.look, 480), [37, -21], 1e-9);
    near(subVec(after.eye, after.look), subVec(before.eye, before.look));
  }
});

test("pixels are as long as the picture is tall", () => {
  near(worldPerPixel({ ...camera, eye: [0, -10, 0], look: [0, 0, 0], fov: 90 }, 200), 0.1);
});

test("the wheel changes the distance, and back again", () => {
  const after = dollyCamera(camera, 100);
  near(distance(after), distance(camera) * wheelFactor(100));
  near(dollyCamera(after, -100).eye, camera.eye);
  assert.ok(wheelFactor(100) > 1);
  assert.equal(after.fov, camera.fov);
});

test("parallel rays change the angle of view instead, and what is seen grows by the factor", () => {
  const before = { ...camera, ortho: true };
  const after = dollyCamera(before, 100);
  assert.deepEqual(after.eye, before.eye);
  near(worldPerPixel(after, 100) / worldPerPixel(before, 100), wheelFactor(100));
  assert.ok(dollyCamera({ ...before, fov: 169.9 }, 400).fov <= 170);
  assert.ok(dollyCamera({ ...before, fov: 0.001 }, -400).fov > 0);
});

test("a drag in the plane moves its middle against the mouse", () => {
  const plane = { center: [1, 2], size: 4, unit: 0.01, sign: 1 };
  near(panPlane(plane, 100, 50).center, [0, 2.5]);
  near(panPlane({ ...plane, sign: -1 }, 100, 50).center, [0, 1.5]);
});

test("a zoom of the plane keeps what is under the mouse", () => {
  for (const sign of [1, -1]) {
    const plane = { center: [1, 2], size: 4, unit: 0.01, sign };
    const at = (p, x, y) => [p.center[0] + x * p.unit, p.center[1] - y * p.unit * p.sign];
    const after = zoomPlane(plane, -200, 130, -70);
    near(at(after, 130, -70), at(plane, 130, -70));
    near(after.size / plane.size, wheelFactor(-200));
    near(after.unit / plane.unit, wheelFactor(-200));
  }
});

test("rounding keeps seven digits of the longest component", () => {
  assert.deepEqual(tidyVec([1.23456789, 1e-12, -0.000123456789]), [1.234568, 0, -0.000123]);
  assert.deepEqual(tidyVec([0, 0, 0]), [0, 0, 0]);
  near(tidyVec([12345.6789, 1, 2]), [12345.68, 1, 2], 1e-12);
});

function clip(matrix, point) {
  const out = [0, 1, 2, 3].map((row) => [...point, 1].reduce((sum, x, k) => sum + matrix[4 * k + row] * x, 0));
  return out.slice(0, 3).map((x) => x / out[3]);
}

test("the fitted camera shows the whole box and little more", () => {
  for (const aspect of [0.5, 1, 2.2]) {
    for (const [low, high, dimension] of [[[-1, -2, -3], [4, 5, 6], 3], [[10, 10, 0], [11, 14, 0], 2]]) {
      const fitted = fitCamera([low, high], dimension, aspect);
      const matrix = cameraMatrix(fitted, aspect, lengthVec(subVec(high, low)));
      let most = 0;
      for (let k = 0; k < 8; k++) {
        const corner = [0, 1, 2].map((axis) => ((k >> axis) & 1 ? high : low)[axis]);
        const [x, y, z] = clip(matrix, corner);
        most = Math.max(most, Math.abs(x), Math.abs(y));
        assert.ok(Math.abs(z) <= 1, `depth ${z}`);
      }
      near(most, 0.92, 1e-6);
    }
  }
});

test("a box that is a point, or not finite, can be fitted", () => {
  for (const bounds of [[[1, 1, 1], [1, 1, 1]], [[NaN, 0, 0], [1, 1, 1]]]) assert.ok(fitCamera(bounds, 3, 1).eye.every(Number.isFinite));
});

test("the matrix puts look in the middle and nearer points in front", () => {
  for (const ortho of [false, true]) {
    const matrix = cameraMatrix({ ...camera, ortho }, 1.5, 3);
    const [x, y, z] = clip(matrix, camera.look);
    near([x, y], [0, 0], 1e-5);
    const front = subVec(camera.look, cameraFrame(camera).ahead);
    assert.ok(clip(matrix, front)[2] < z);
  }
});
