// Arithmetic of grids that are shown as pictures: slices and channels, statistics, ranges, and where the picture is on the screen.

import { sampleValue } from "./protocol.js";

// Values of the display's `channel`.
export const AS_COLOR = "color";
export const AS_MAGNITUDE = "magnitude";

export function colorChannels(header) {
  const { channels, alpha } = header;
  return (channels === 2 && alpha) || channels === 3 || channels === 4;
}

export function defaultChannel(header) {
  if (colorChannels(header)) return AS_COLOR;
  return header.channels === 1 ? 0 : header.channels > 4 ? 0 : AS_MAGNITUDE;
}

// A channel that the frame does not have is replaced by the usual one.
export function fittingChannel(header, channel) {
  if (channel === AS_COLOR) return colorChannels(header) ? channel : defaultChannel(header);
  if (channel === AS_MAGNITUDE) return header.channels > 1 ? channel : 0;
  return Number.isInteger(channel) && channel < header.channels ? channel : defaultChannel(header);
}

// The axes that a slice shows, as columns and rows.
export function axesOfSlice(axis) {
  return [[1, 2], [0, 2], [0, 1]][axis] ?? [0, 1];
}

// The part of a frame that is shown: a plane of at most four channels. Frames of two axes with few channels are passed on as they are.
export function planeOf(frame, channel, slice, limit = 8192) {
  const { header, samples } = frame;
  const { size, full, stride, channels, encoding } = header;
  const [columns, rows] = size.length === 3 ? axesOfSlice(slice?.axis) : [0, 1];
  const wide = size[columns] ?? 0;
  const tall = size[rows] ?? 1;
  const skip = Math.max(1, Math.ceil(Math.max(wide, tall) / limit));
  const plane = { width: Math.ceil(wide / skip), height: Math.ceil(tall / skip), stride: stride * skip, full: [full[columns] ?? 1, full[rows] ?? 1], encoding, scale: header.scale };
  if (size.length < 3 && channels <= 4 && skip === 1) return { ...plane, channels, channel, samples };

  const steps = [channels, channels * size[0], channels * size[0] * (size[1] ?? 1)];
  const axis = slice?.axis ?? 2;
  const deep = size.length === 3 ? Math.min(size[axis] - 1, Math.max(0, Math.round((slice?.index ?? 0) / stride))) : 0;
  const start = size.length === 3 ? deep * steps[axis] : 0;
  const few = channels <= 4;
  const kept = few ? channels : 1;
  const raw = few || channel !== AS_MAGNITUDE;
  const out = raw ? new samples.constructor(plane.width * plane.height * kept) : new Float32Array(plane.width * plane.height);
  const first = few ? 0 : Number(channel) || 0;
  let to = 0;
  for (let j = 0; j < plane.height; j++) {
    for (let i = 0; i < plane.width; i++) {
      const from = start + i * skip * steps[columns] + j * skip * steps[rows];
      if (raw) {
        for (let c = 0; c < kept; c++) out[to++] = samples[from + first + c];
      } else {
        let sum = 0;
        for (let c = 0; c < channels; c++) sum += sampleValue(frame, from + c) ** 2;
        out[to++] = Math.sqrt(sum);
      }
    }
  }
  return { ...plane, channels: kept, channel: few ? channel : 0, samples: out, encoding: raw ? encoding : "f32" };
}

// Least, greatest, percentiles and histogram of at most `most` samples, evenly taken.
export function statisticsOf(plane, alpha, most = 100000) {
  const count = plane.width * plane.height;
  const skip = Math.max(1, Math.floor(count / most));
  const { channels, channel } = plane;
  const parts = channel === AS_COLOR ? Math.max(1, channels - (alpha ? 1 : 0)) : 1;
  const view = { header: plane, samples: plane.samples };
  const values = new Float32Array(Math.ceil(count / skip) * parts);
  let n = 0;
  let nan = 0;
  for (let index = 0; index < count; index += skip) {
    for (let part = 0; part < parts; part++) {
      let x = 0;
      if (channel === AS_MAGNITUDE) {
        for (let c = 0; c < channels; c++) x += sampleValue(view, index * channels + c) ** 2;
        x = Math.sqrt(x);
      } else {
        x = sampleValue(view, index * channels + (channel === AS_COLOR ? part : channel));
      }
      if (Number.isFinite(x)) values[n++] = x;
      else if (Number.isNaN(x)) nan += skip;
    }
  }
  return statisticsOfValues(values.subarray(0, n), nan);
}

// Percentiles are those of at most 10 000 values: sorting all of them would cost more than drawing.
export function statisticsOfValues(values, nan = 0) {
  if (values.length === 0) return { min: null, max: null, p1: null, p99: null, nan, histogram: [] };
  let [min, max] = [Infinity, -Infinity];
  for (const x of values) {
    if (x < min) min = x;
    if (x > max) max = x;
  }
  const histogram = new Array(64).fill(0);
  const unit = max > min ? 64 / (max - min) : 0;
  for (const x of values) histogram[Math.min(63, Math.floor((x - min) * unit))] += 1;
  const skip = Math.ceil(values.length / 10000);
  const sorted = Float32Array.from({ length: Math.ceil(values.length / skip) }, (_, k) => values[k * skip]).sort();
  const at = (part) => sorted[Math.round(part * (sorted.length - 1))];
  return { min, max, p1: at(0.01), p99: at(0.99), nan, histogram };
}

// The server's statistics are of all samples; they are right if the display shows what they were made of.
export function serverStatistics(header) {
  const number = (x) => (typeof x === "number" && Number.isFinite(x) ? x : null);
  const histogram = Array.isArray(header.histogram) ? header.histogram.map((n) => Number(n) || 0) : [];
  return { min: number(header.min), max: number(header.max), p1: number(header.p1), p99: number(header.p99), nan: Number(header.nan) || 0, histogram };
}

// The range that is shown. Diverging maps have 0 in their middle, so their range is as long on both sides.
export function rangeOf(display, statistics, diverging) {
  if (display.rangeMode === "own") return [display.low, display.high];
  if (display.rangeMode === "unit") return [0, 1];
  const percent = display.rangeMode === "percent";
  let low = (percent ? statistics.p1 : null) ?? statistics.min ?? 0;
  let high = (percent ? statistics.p99 : null) ?? statistics.max ?? 1;
  if (diverging) {
    const reach = Math.max(Math.abs(low), Math.abs(high)) || 1;
    return [-reach, reach];
  }
  if (!(high > low)) [low, high] = [low - 0.5, low + 0.5];
  return [low, high];
}

// Where the picture is: its left and top edge and the size of a pixel. `view` has the zoom relative to the whole picture
// and the point of the picture, from 0 to 1, that is in the middle.
export function pictureRect(view, full, width, height, margin = 0) {
  const [w, h] = [Math.max(1, full[0]), Math.max(1, full[1])];
  const whole = Math.max(1e-6, Math.min((width - 2 * margin) / w, (height - 2 * margin) / h));
  const scale = whole * view.zoom;
  return { left: width / 2 - view.x * w * scale, top: height / 2 - view.y * h * scale, scale, width: w * scale, height: h * scale };
}

// The view after a zoom by `factor` that keeps what is under the position (x, y).
export function zoomView(view, factor, full, x, y, width, height, margin = 0) {
  const before = pictureRect(view, full, width, height, margin);
  const zoom = Math.min(2000, Math.max(0.1, view.zoom * factor));
  const at = [(x - before.left) / before.width, (y - before.top) / before.height];
  const after = pictureRect({ zoom, x: 0, y: 0 }, full, width, height, margin);
  return { zoom, x: at[0] + (width / 2 - x) / after.width, y: at[1] + (height / 2 - y) / after.height };
}

export function panView(view, dx, dy, rect) {
  return { ...view, x: view.x - dx / rect.width, y: view.y - dy / rect.height };
}

// The colours of a map: 256 × RRGGBB. Damaged ones become grey.
export function decodeColors(hex) {
  const colors = new Uint8Array(1024);
  for (let k = 0; k < 256; k++) {
    const code = parseInt(String(hex).slice(6 * k, 6 * k + 6), 16);
    const rgb = Number.isNaN(code) ? k * 0x10101 : code;
    colors.set([rgb >> 16, (rgb >> 8) & 255, rgb & 255, 255], 4 * k);
  }
  return colors;
}

// The place of a value in a map, as the pictures compute it.
export function mapPlace(value, range, gamma, diverging) {
  if (diverging) {
    const reach = Math.max(Math.abs(range[0]), Math.abs(range[1])) || 1;
    const x = Math.min(1, Math.max(-1, value / reach));
    return 0.5 + 0.5 * Math.sign(x) * Math.pow(Math.abs(x), 1 / gamma);
  }
  const t = Math.min(1, Math.max(0, (value - range[0]) / (range[1] - range[0] || 1)));
  return Math.pow(t, 1 / gamma);
}
