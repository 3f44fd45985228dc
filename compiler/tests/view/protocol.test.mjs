// Decoding of frames, and when inputs are sent.

import test from "node:test";
import assert from "node:assert/strict";
import { InputSender, decodeFrame, decodeText, pixelValues, sampleValue, worldPosition } from "../../src/view/page/protocol.js";

// A frame as the server writes it.
function encode(header, ...parts) {
  const text = new TextEncoder().encode(typeof header === "string" ? header : JSON.stringify(header));
  const start = Math.ceil((4 + text.length) / 4) * 4;
  const data = parts.flatMap((part) => [...new Uint8Array(part.buffer, part.byteOffset, part.byteLength)]);
  const bytes = new Uint8Array(start + data.length);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(text, 4);
  bytes.set(data, start);
  return bytes.buffer;
}
const picture = { type: "picture", frame: 1, size: [3, 2], full: [3, 2], stride: 1, channels: 1, encoding: "f32", scale: [0, 1] };
const six = Float32Array.from([0, 1, 2, 3, 4, 5]);

test("pictures of 32 bits are read as they are, whatever the padding", () => {
  for (const extra of ["", "a", "ab", "abc"]) {
    const { header, samples } = decodeFrame(encode({ ...picture, output: "rgb" + extra }, six));
    assert.deepEqual([...samples], [0, 1, 2, 3, 4, 5]);
    assert.equal(header.output, "rgb" + extra);
  }
});

test("frames may begin at any address", () => {
  const bytes = new Uint8Array(encode(picture, six));
  const moved = new Uint8Array(bytes.length + 3);
  moved.set(bytes, 3);
  assert.deepEqual([...decodeFrame(moved.subarray(3)).samples], [0, 1, 2, 3, 4, 5]);
});

test("codes of 8 bits go from low to high, and 255 is not a number", () => {
  const frame = decodeFrame(encode({ ...picture, encoding: "u8", scale: [-1, 3] }, Uint8Array.from([0, 127, 254, 255, 1, 2])));
  assert.equal(sampleValue(frame, 0), -1);
  assert.equal(sampleValue(frame, 1), 1);
  assert.equal(sampleValue(frame, 2), 3);
  assert.ok(Number.isNaN(sampleValue(frame, 3)));
});

test("NaN and infinity of 32 bits stay what they are", () => {
  const frame = decodeFrame(encode({ ...picture, size: [3, 1] }, Float32Array.from([NaN, Infinity, -1])));
  assert.ok(Number.isNaN(sampleValue(frame, 0)));
  assert.equal(sampleValue(frame, 1), Infinity);
});

test("damaged frames are refused", () => {
  const good = new Uint8Array(encode(picture, six));
  const wrong = [
    [new ArrayBuffer(0), /shorter/], [new ArrayBuffer(3), /shorter/], [good.slice(0, 20).buffer, /shorter/],
    [encode("{oops"), /JSON/], [encode("null"), /type/], [encode('{"a":1}'), /type/], [encode({ type: "film" }), /unknown/],
    [good.slice(0, good.length - 1).buffer, /needs 24 bytes/],
    [encode({ ...picture, size: [3, 2, 2, 2] }, six), /size/], [encode({ ...picture, size: [-1, 2] }, six), /size/], [encode({ ...picture, size: null }, six), /size/],
    [encode({ ...picture, channels: 0 }, six), /channels/], [encode({ ...picture, channels: 1.5 }, six), /channels/],
    [encode({ ...picture, encoding: "f16" }, six), /encoding/], [encode({ ...picture, stride: 0 }, six), /stride/],
  ];
  for (const [bytes, reason] of wrong) assert.throws(() => decodeFrame(bytes), reason);
});

test("missing sizes of the full grid follow from the stride", () => {
  const { header } = decodeFrame(encode({ ...picture, stride: 4, full: undefined, scale: ["x"] }, six));
  assert.deepEqual(header.full, [12, 8]);
  assert.deepEqual(header.scale, [0, 1]);
});

test("pixels are found by their position in the full grid", () => {
  const frame = decodeFrame(encode({ ...picture, size: [2, 2], full: [7, 8], stride: 4, channels: 2, type: "picture" }, Float32Array.from([0, 1, 10, 11, 20, 21, 30, 31])));
  assert.deepEqual(pixelValues(frame, [0, 0]), [0, 1]);
  assert.deepEqual(pixelValues(frame, [4, 0]), [10, 11]);
  assert.deepEqual(pixelValues(frame, [0, 4]), [20, 21]);
  assert.deepEqual(pixelValues(frame, [6, 7]), [30, 31]);
  assert.deepEqual(pixelValues(frame, [100, 100]), [30, 31]);
});

test("volumes have z slowest", () => {
  const frame = decodeFrame(encode({ ...picture, size: [1, 2, 3], full: [1, 2, 3] }, six));
  assert.deepEqual(pixelValues(frame, [0, 1, 2]), [5]);
  assert.deepEqual(pixelValues(frame, [0, 0, 1]), [2]);
});

test("the world's position is the origin and steps along the axes", () => {
  assert.deepEqual(worldPosition({ origin: [1, 2, 3], directions: [[1, 0, 0], [0, 0, -2]] }, [3, 4]), [4, 2, -5]);
  assert.equal(worldPosition(null, [0, 0]), null);
  assert.equal(worldPosition({ origin: 3 }, [0, 0]), null);
});

test("geometry has its sections by name", () => {
  const positions = Float32Array.from([0, 0, 0, 1, 1, 1]);
  const lengths = Uint32Array.from([2]);
  const sections = [{ name: "positions", offset: 0, length: 24, type: "f32", components: 3 }, { name: "lengths", offset: 24, length: 4, type: "u32" }];
  const header = { type: "geometry", kind: "lines", dimension: 3, sections };
  const frame = decodeFrame(encode(header, positions, lengths));
  assert.equal(frame.points, 2);
  assert.deepEqual([...frame.sections.lengths.values], [2]);
  assert.throws(() => decodeFrame(encode({ ...header, sections: [] }, positions)), /positions/);
  assert.throws(() => decodeFrame(encode({ ...header, kind: "spheres" }, positions, lengths)), /unknown/);
  assert.throws(() => decodeFrame(encode({ ...header, sections: [{ ...sections[0], length: 400 }] }, positions)), /outside/);
  assert.throws(() => decodeFrame(encode({ ...header, sections: [null] }, positions)), /outside/);
  assert.throws(() => decodeFrame(encode(header, positions, Uint32Array.from([3]))), /more points/);
});

test("texts that are no messages are null", () => {
  for (const text of ["", "x", "[1]", "null", "3", '{"a":1}', '{"type":3}', undefined]) assert.equal(decodeText(text), null);
  assert.equal(decodeText('{"type":"status"}').type, "status");
});

function sender() {
  const world = { now: 0, sent: [] };
  world.sender = new InputSender((message) => world.sent.push(message), () => world.now);
  return world;
}

test("the first movement is sent at the next tick, later ones after an answer", () => {
  const world = sender();
  world.sender.change({ a: 1 }, true);
  assert.equal(world.sent.length, 0);
  world.sender.tick();
  assert.deepEqual(world.sent, [{ type: "set", id: 1, inputs: { a: 1 }, dragging: true }]);
  world.now = 16;
  world.sender.change({ a: 2 }, true);
  world.sender.change({ b: 3 }, true);
  world.sender.tick();
  assert.equal(world.sent.length, 1);
  world.sender.shown();
  world.sender.tick();
  assert.deepEqual(world.sent[1], { type: "set", id: 2, inputs: { a: 2, b: 3 }, dragging: true });
});

test("changes of several pages are numbered by time", () => {
  const sent = [];
  const time = { now: 1000 };
  const pages = [0, 1].map((page) => new InputSender(({ id }) => sent.push([page, id]), () => 0, () => time.now));
  for (const [page, now] of [[0, 1000], [0, 1000], [0, 1200], [1, 1500], [0, 1600]]) {
    time.now = now;
    pages[page].change({ a: now }, false);
  }
  assert.deepEqual(sent, [[0, 1000], [0, 1001], [0, 1200], [1, 1500], [0, 1600]]);
  assert.equal(pages[1].accepts("a", 1200), false);
  assert.equal(pages[1].accepts("a", 1600), true);
});

test("without an answer, movements wait for 100 ms", () => {
  const world = sender();
  world.sender.change({ a: 1 }, true);
  world.sender.tick();
  for (const [now, count] of [[50, 1], [99, 1], [100, 2]]) {
    world.now = now;
    world.sender.change({ a: now }, true);
    world.sender.tick();
    assert.equal(world.sent.length, count);
  }
});

test("150 ms after the last movement the picture is refined, once", () => {
  const world = sender();
  world.sender.change({ a: 1 }, true);
  world.sender.tick();
  world.now = 149;
  world.sender.tick();
  assert.equal(world.sent.length, 1);
  world.now = 150;
  world.sender.tick();
  world.sender.tick();
  assert.deepEqual(world.sent.slice(1), [{ type: "rest" }]);
  assert.equal(world.sender.busy, false);
});

test("the end of a drag sends what waits, or asks for refinement", () => {
  const world = sender();
  world.sender.change({ a: 1 }, true);
  world.sender.finish();
  assert.deepEqual(world.sent, [{ type: "set", id: 1, inputs: { a: 1 }, dragging: false }]);
  world.sender.change({ a: 2 }, true);
  world.sender.shown();
  world.sender.tick();
  world.sender.finish();
  world.sender.finish();
  assert.deepEqual(world.sent.slice(1).map((message) => message.type), ["set", "rest"]);
});

test("changes that are no drag are sent at once", () => {
  const world = sender();
  world.sender.change({ a: null }, false);
  assert.deepEqual(world.sent, [{ type: "set", id: 1, inputs: { a: null }, dragging: false }]);
});

test("old values of the server do not replace newer ones of the user", () => {
  const world = sender();
  world.sender.change({ a: 1 }, true);
  assert.equal(world.sender.accepts("a", 100), false);
  world.sender.tick();
  assert.equal(world.sender.accepts("a", 0), false);
  assert.equal(world.sender.accepts("a", 1), true);
  assert.equal(world.sender.accepts("b", 0), true);
  world.sender.change({ a: null }, false);
  assert.equal(world.sender.accepts("a", 0), true);
});
