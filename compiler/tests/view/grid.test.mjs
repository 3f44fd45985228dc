// Slices, channels, ranges, and where pictures are on the screen.

import test from "node:test";
import assert from "node:assert/strict";
import { AS_COLOR, AS_MAGNITUDE, decodeColors, defaultChannel, fittingChannel, mapPlace, panView, pictureRect, planeOf, rangeOf, statisticsOf, statisticsOfValues, zoomView } from "../../src/view/page/grid.js";
import { tintsOf } from "../../src/view/page/geometry.js";
import { excerptOf } from "../../src/view/page/messages.js";
import { readoutText } from "../../src/view/page/status.js";

const frame = (size, channels, samples, more = {}) => ({ header: { size, full: size, stride: 1, channels, encoding: "f32", scale: [0, 1], alpha: false, ...more }, samples });
const count = (n) => Float32Array.from({ length: n }, (_, k) => k);

test("colours are shown as colours, other channels by magnitude or one by one", () => {
  assert.equal(defaultChannel({ channels: 3 }), AS_COLOR);
  assert.equal(defaultChannel({ channels: 4 }), AS_COLOR);
  assert.equal(defaultChannel({ channels: 2, alpha: true }), AS_COLOR);
  assert.equal(defaultChannel({ channels: 2, alpha: false }), AS_MAGNITUDE);
  assert.equal(defaultChannel({ channels: 1 }), 0);
  assert.equal(defaultChannel({ channels: 9 }), 0);
  assert.equal(fittingChannel({ channels: 1 }, AS_COLOR), 0);
  assert.equal(fittingChannel({ channels: 2 }, 5), AS_MAGNITUDE);
});

test("small pictures are passed on without a copy", () => {
  const samples = count(12);
  assert.equal(planeOf(frame([2, 2], 3, samples), AS_COLOR).samples, samples);
});

test("slices along each axis", () => {
  const volume = frame([2, 3, 4], 1, count(24));
  assert.deepEqual([...planeOf(volume, 0, { axis: 2, index: 1 }).samples], [6, 7, 8, 9, 10, 11]);
  assert.deepEqual([...planeOf(volume, 0, { axis: 1, index: 2 }).samples], [4, 5, 10, 11, 16, 17, 22, 23]);
  assert.deepEqual([...planeOf(volume, 0, { axis: 0, index: 1 }).samples], [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23]);
  assert.deepEqual(planeOf(volume, 0, { axis: 0, index: 1 }).full, [3, 4]);
  assert.deepEqual([...planeOf(volume, 0, { axis: 2, index: 99 }).samples], [18, 19, 20, 21, 22, 23]);
});

test("one of many channels, or their magnitude", () => {
  const many = frame([1, 2], 5, Float32Array.from([1, 2, 3, 4, 5, 0, 3, 4, 0, 0]));
  assert.deepEqual([...planeOf(many, 3).samples], [4, 0]);
  assert.equal(planeOf(many, AS_MAGNITUDE).samples[1], 5);
  assert.equal(planeOf(many, AS_MAGNITUDE).channels, 1);
});

test("pictures larger than a texture are thinned", () => {
  const plane = planeOf(frame([8, 1], 1, count(8)), 0, null, 4);
  assert.deepEqual([...plane.samples], [0, 2, 4, 6]);
  assert.equal(plane.stride, 2);
});

test("statistics leave out what is not a number", () => {
  const plane = planeOf(frame([3, 2], 1, Float32Array.from([1, NaN, 3, 2, Infinity, 5])), 0);
  const { min, max, nan, histogram } = statisticsOf(plane, false);
  assert.deepEqual([min, max, nan], [1, 5, 1]);
  assert.equal(histogram.reduce((a, b) => a + b), 4);
  assert.equal(histogram[0], 1);
  assert.equal(histogram[63], 1);
  assert.equal(statisticsOfValues([]).min, null);
});

test("opacity is not part of the range of colours", () => {
  const plane = planeOf(frame([1, 1], 4, Float32Array.from([0.1, 0.2, 0.3, 9])), AS_COLOR);
  assert.ok(Math.abs(statisticsOf(plane, true).max - 0.3) < 1e-6);
  assert.equal(statisticsOf(plane, false).max, 9);
});

test("ranges: all, percentiles, one's own; diverging ones have 0 in the middle", () => {
  const statistics = { min: -1, max: 4, p1: 0, p99: 3 };
  assert.deepEqual(rangeOf({ rangeMode: "full" }, statistics, false), [-1, 4]);
  assert.deepEqual(rangeOf({ rangeMode: "percent" }, statistics, false), [0, 3]);
  assert.deepEqual(rangeOf({ rangeMode: "unit" }, statistics, false), [0, 1]);
  assert.deepEqual(rangeOf({ rangeMode: "own", low: 2, high: 3 }, statistics, true), [2, 3]);
  assert.deepEqual(rangeOf({ rangeMode: "full" }, statistics, true), [-4, 4]);
  assert.deepEqual(rangeOf({ rangeMode: "full" }, { min: 2, max: 2 }, false), [1.5, 2.5]);
  assert.deepEqual(rangeOf({ rangeMode: "full" }, { min: null, max: null }, false), [0, 1]);
});

test("the place in a map", () => {
  assert.equal(mapPlace(5, [0, 10], 1, false), 0.5);
  assert.equal(mapPlace(-5, [0, 10], 1, false), 0);
  assert.equal(mapPlace(0, [-1, 3], 1, true), 0.5);
  assert.equal(mapPlace(3, [-1, 3], 1, true), 1);
  assert.equal(mapPlace(0.25, [0, 1], 2, false), 0.5);
});

test("the whole picture fits, with a margin", () => {
  const rect = pictureRect({ zoom: 1, x: 0.5, y: 0.5 }, [100, 50], 420, 420, 10);
  assert.deepEqual(rect, { left: 10, top: 110, scale: 4, width: 400, height: 200 });
});

test("a zoom keeps what is under the mouse, a pan follows it", () => {
  const view = { zoom: 1.3, x: 0.4, y: 0.7 };
  const full = [300, 200];
  const at = (v) => {
    const r = pictureRect(v, full, 800, 600, 16);
    return [(123 - r.left) / r.scale, (456 - r.top) / r.scale];
  };
  const after = zoomView(view, 2.5, full, 123, 456, 800, 600, 16);
  assert.ok(at(after).every((x, k) => Math.abs(x - at(view)[k]) < 1e-9));
  const before = pictureRect(view, full, 800, 600, 16);
  const moved = pictureRect(panView(view, 30, -20, before), full, 800, 600, 16);
  assert.ok(Math.abs(moved.left - before.left - 30) < 1e-9 && Math.abs(moved.top - before.top + 20) < 1e-9);
});

test("maps are 256 colours, and damaged ones are grey", () => {
  const colors = decodeColors("ff0080" + "000000".repeat(255));
  assert.deepEqual([...colors.slice(0, 4)], [255, 0, 128, 255]);
  assert.deepEqual([...decodeColors("").slice(4 * 200, 4 * 201)], [200, 200, 200, 255]);
});

test("numbers of strands belong to all their points", () => {
  const lines = { points: 5, header: { kind: "lines" }, sections: { lengths: { values: Uint32Array.from([2, 3]) } } };
  const tints = tintsOf(lines, { name: "energy", components: 1, values: Float32Array.from([7, 8]), per: "strand" });
  assert.deepEqual([0, 1, 2, 3, 4].map((k) => tints[3 * k]), [7, 7, 8, 8, 8]);
  const triangles = { points: 6, header: { kind: "triangles" }, sections: {} };
  const each = tintsOf(triangles, { name: "energy", components: 1, values: Float32Array.from([7, 8]) });
  assert.deepEqual([0, 2, 3, 5].map((k) => each[3 * k]), [7, 7, 8, 8]);
  assert.equal(tintsOf(triangles, { name: "energy", components: 1, values: Float32Array.from([7, 8, 9]) }), null);
});

test("excerpts do not repeat the message", () => {
  const item = { message: "undeclared variable `x`", text: "[undeclared-variable] Error: undeclared variable `x`\n   ╭─[ a.diderot:1:2 ]\n───╯\n" };
  assert.equal(excerptOf(item), "   ╭─[ a.diderot:1:2 ]\n───╯");
  assert.equal(excerptOf({ message: "a", text: "b" }), "b");
  assert.equal(excerptOf({ message: "a" }), "");
});

test("the read-out has index, position and values", () => {
  assert.equal(readoutText({ index: [3, 4], values: [0.5, NaN], world: [1, -2] }), "[3, 4]   (1, −2)   0.5  NaN");
  assert.equal(readoutText({ index: [3], values: [1], world: null, pinned: [2] }), "[3]   1   pinned 2");
});

test("percentiles leave out rare extremes", () => {
  const values = Float32Array.from({ length: 50000 }, (_, k) => (k % 1000 === 0 ? 1e6 : (k % 100) / 100));
  const { p1, p99, max } = statisticsOfValues(values);
  assert.ok(p1 <= 0.02 && p99 <= 1 && p99 > 0.9, `${p1} ${p99}`);
  assert.equal(max, 1e6);
});
