// Sliders, numbers and colours.

import test from "node:test";
import assert from "node:assert/strict";
import { colorOfHex, columnsOf, fieldDigits, fieldText, formatCount, formatNumber, formatTime, hexOfColor, niceTicks, parseNumber, parseNumbers, plainText, roundTo, sameValue, scrubStep, sliderPosition, sliderValue, stepValue } from "../../src/view/page/values.js";

const linear = { low: -2, high: 6, step: null, log: false };
const log = { low: 0.001, high: 10, step: null, log: true };
const ints = { low: 0, high: 8, step: 1, log: false };

test("linear sliders map their ends and the middle", () => {
  assert.equal(sliderValue(linear, 0), -2);
  assert.equal(sliderValue(linear, 1), 6);
  assert.equal(sliderValue(linear, 0.5), 2);
  assert.equal(sliderPosition(linear, 2), 0.5);
  assert.equal(sliderPosition(linear, -2), 0);
});

test("typed values may leave the range; the slider stays at its end", () => {
  assert.equal(sliderPosition(linear, 100), 1);
  assert.equal(sliderPosition(linear, -100), 0);
  assert.equal(sliderPosition(log, -1), 0);
  assert.equal(sliderPosition(linear, NaN), 0);
  assert.equal(sliderPosition(linear, null), 0);
});

test("logarithmic sliders have equal ratios at equal distances", () => {
  assert.ok(Math.abs(sliderValue(log, 0.5) - 0.1) < 1e-4);
  assert.ok(Math.abs(sliderPosition(log, 0.1) - 0.5) < 1e-12);
  assert.equal(sliderValue(log, 0), 0.001);
  assert.equal(sliderValue(log, 1), 10);
});

test("a logarithm needs positive ends", () => {
  assert.equal(sliderValue({ low: -1, high: 1, log: true }, 0.5), 0);
});

test("ranges may go downwards", () => {
  const down = { low: 0, high: -4 };
  assert.equal(sliderValue(down, 1), -4);
  assert.equal(sliderPosition(down, -1), 0.25);
  assert.equal(sliderValue({ low: 0, high: -4, step: 1 }, 0.6), -2);
});

test("steps are counted from the low end", () => {
  assert.equal(sliderValue(ints, 0.49), 4);
  assert.equal(sliderValue({ low: 1, high: 10, step: 2 }, 0.5), 5);
  assert.equal(sliderValue({ low: 0, high: 1, step: 0.1 }, 0.3), 0.3);
});

test("places of a slider give short numbers that come back to the same place", () => {
  for (const control of [linear, log, ints, { low: 0, high: 255 }, { low: 1e-8, high: 3e-8 }]) {
    for (let place = 0; place <= 1000; place += 37) {
      const value = sliderValue(control, place / 1000);
      assert.ok(String(value).length <= 12, `${value} is long`);
      if (!control.step) assert.ok(Math.abs(sliderPosition(control, value) - place / 1000) <= 0.00051, `${value} at ${place}`);
    }
  }
});

test("arrow keys move by a step, or by a hundredth", () => {
  assert.equal(stepValue(ints, 3, 1), 4);
  assert.equal(stepValue(ints, 8, 1), 8);
  assert.equal(stepValue(ints, 0, -1), 0);
  assert.equal(stepValue({ low: 0, high: 1 }, 0.5, 10), 0.6);
});

test("numbers are short, and odd ones have names", () => {
  const cases = [[0.1 + 0.2, "0.3"], [1 / 3, "0.33333"], [-1.5, "−1.5"], [0, "0"], [-0, "0"], [123456789, "123456789"], [1e12, "1e12"], [1.25e-7, "1.25e−7"], [NaN, "NaN"], [Infinity, "∞"], [-Infinity, "−∞"], [null, "–"], [undefined, "–"]];
  for (const [x, text] of cases) assert.equal(formatNumber(x), text);
  assert.equal(formatNumber(Math.PI, 3), "3.14");
});

test("a field's text reads back as the same number", () => {
  for (const x of [0.1, 1 / 3, 12345678.9, 1e-20, -7, 0.30000001192092896]) assert.ok(Math.abs(parseNumber(fieldText(x)) - x) <= Math.abs(x) * 1e-9);
  assert.equal(fieldText(null), "");
  assert.equal(fieldDigits(1 / 3), "0.33333");
  assert.equal(fieldDigits(1234567), "1234567");
});

test("typed numbers are understood, other texts are not", () => {
  const cases = [["3", 3], [" -2.5 ", -2.5], ["−4", -4], ["1e-3", 0.001], [".5", 0.5], ["5.", 5], ["1,5", 1.5], ["", null], ["abc", null], ["1e999", null], ["1 2", null], ["0x10", null], ["NaN", null]];
  for (const [text, x] of cases) assert.equal(parseNumber(text), x, text);
  assert.equal(parseNumber("2.6", true), 3);
  assert.deepEqual(parseNumbers("[1, 2 3;4]"), [1, 2, 3, 4]);
  assert.equal(parseNumbers("1 x"), null);
});

test("colours go to eight bits and back", () => {
  assert.equal(hexOfColor([1, 0.5, 0]), "#ff8000");
  assert.equal(hexOfColor([2, -1, NaN]), "#ff0000");
  for (const hex of ["#000000", "#ffffff", "#123456", "#80ff01"]) assert.equal(hexOfColor(colorOfHex(hex)), hex);
  assert.equal(colorOfHex("red"), null);
});

test("ticks are round and inside", () => {
  assert.deepEqual(niceTicks(0, 1, 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(niceTicks(-0.5, 0.5, 2), [-0.5, 0, 0.5]);
  assert.deepEqual(niceTicks(3, 3), [3]);
  assert.deepEqual(niceTicks(NaN, 1), []);
});

test("times, counts and columns", () => {
  assert.deepEqual([3.21, 45.6, 2345, 12345, 75000].map(formatTime), ["3.2 ms", "46 ms", "2.35 s", "12.3 s", "1 min 15 s"]);
  assert.equal(formatTime(null), "");
  assert.equal(formatCount(1234567), "1\u202f234\u202f567");
  assert.equal(formatCount(null), "–");
  assert.deepEqual([columnsOf("tensor[3,3]", 9), columnsOf("tensor[2,2]", 4), columnsOf("vec3", 3), columnsOf("real[7]", 7)], [3, 2, 3, 3]);
});

test("steps of free numbers follow their size", () => {
  assert.equal(scrubStep(250), 1);
  assert.equal(scrubStep(0), 0.01);
  assert.equal(scrubStep(0.5, true), 1);
});

test("values are compared by their parts", () => {
  assert.ok(sameValue([1, 2], [1, 2]));
  assert.ok(sameValue(0, -0));
  assert.ok(!sameValue([1, 2], [1, 3]));
  assert.ok(!sameValue([1], 1));
});

test("colours of terminals are left out of texts", () => {
  assert.equal(plainText("\u001b[31merror\u001b[0m: x"), "error: x");
  assert.equal(plainText(null), "");
});

test("ends of ranges keep the digits that their length needs", () => {
  assert.equal(roundTo(0.2, 10000.123456), 10000.1235);
  assert.equal(roundTo(100, 33.333333), 33.3);
  assert.equal(roundTo(0, 1 / 3), 1 / 3);
});
