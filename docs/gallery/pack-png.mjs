// Makes PNG files of browsers smaller: 256 colours that are near to all that the picture has.

import { deflateSync, inflateSync } from "node:zlib";

const CHANNELS = { 2: 3, 6: 4 };
const COLORS = 256;

// The prediction of a byte by its neighbours at the left, above, and above at the left.
function paeth(a, b, c) {
  const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}
const FILTERS = [() => 0, (a) => a, (a, b) => b, (a, b) => (a + b) >> 1, paeth];

function chunks(file) {
  const found = [];
  for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at)) {
    found.push({ name: file.toString("latin1", at + 4, at + 8), data: file.subarray(at + 8, at + 8 + file.readUInt32BE(at)) });
  }
  return found;
}

function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(checksum(body));
  return Buffer.concat([length, body, sum]);
}

function checksum(bytes) {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let k = 0; k < 8; k++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

// The colours of all pixels as numbers 0xrrggbb.
function pixels(file, head) {
  const [width, height, step] = [head.readUInt32BE(0), head.readUInt32BE(4), CHANNELS[head[9]]];
  if (head[8] !== 8 || head[12] !== 0 || !step) throw new Error("not a PNG file of a browser");
  const parts = chunks(file).filter((part) => part.name === "IDAT");
  const raw = inflateSync(Buffer.concat(parts.map((part) => part.data)));
  const length = width * step;
  const found = new Uint32Array(width * height);
  let above = new Uint8Array(length);
  for (let y = 0; y < height; y++) {
    const start = y * (length + 1);
    const row = new Uint8Array(length);
    const filter = FILTERS[raw[start]];
    for (let x = 0; x < length; x++) row[x] = raw[start + 1 + x] + filter(row[x - step] ?? 0, above[x], above[x - step] ?? 0);
    for (let x = 0; x < width; x++) found[y * width + x] = (row[x * step] << 16) | (row[x * step + 1] << 8) | row[x * step + 2];
    above = row;
  }
  return found;
}

const part = (color, channel) => (color >> (16 - 8 * channel)) & 255;

// Boxes of colours: the one with the greatest extent, by the square root of its pixels, is divided in its middle until there are enough.
function boxes(counts) {
  const describe = (colors) => {
    const extents = [0, 1, 2].map((channel) => {
      const values = colors.map((color) => part(color, channel));
      return values.reduce((most, x) => Math.max(most, x), 0) - values.reduce((least, x) => Math.min(least, x), 255);
    });
    const channel = extents.indexOf(Math.max(...extents));
    const weight = colors.reduce((sum, color) => sum + counts.get(color), 0);
    return { colors, channel, weight, size: extents[channel] * weight ** 0.5 };
  };
  const found = [describe([...counts.keys()])];
  while (found.length < COLORS) {
    found.sort((a, b) => b.size - a.size);
    const { colors, channel, size } = found[0];
    if (size === 0) break;
    const values = colors.map((color) => part(color, channel));
    const middle = (values.reduce((most, x) => Math.max(most, x), 0) + values.reduce((least, x) => Math.min(least, x), 255)) / 2;
    found.splice(0, 1, describe(colors.filter((color) => part(color, channel) <= middle)), describe(colors.filter((color) => part(color, channel) > middle)));
  }
  return found;
}

export function packed(file) {
  const head = Buffer.from(chunks(file)[0].data);
  const all = pixels(file, head);
  const counts = new Map();
  for (const color of all) counts.set(color, (counts.get(color) ?? 0) + 1);
  const palette = Buffer.alloc(3 * COLORS);
  const places = new Map();
  for (const [place, { colors, weight }] of boxes(counts).entries()) {
    for (const channel of [0, 1, 2]) palette[3 * place + channel] = Math.round(colors.reduce((sum, color) => sum + part(color, channel) * counts.get(color), 0) / weight);
    for (const color of colors) places.set(color, place);
  }
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = places.get(all[y * width + x]);
  // Indexed colours.
  head[9] = 3;
  return Buffer.concat([file.subarray(0, 8), chunk("IHDR", head), chunk("PLTE", palette), chunk("IDAT", deflateSync(rows, { level: 9, memLevel: 9 })), chunk("IEND", Buffer.alloc(0))]);
}
