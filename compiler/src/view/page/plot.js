// Draws grids of one axis as curves with axes.

import { formatNumber, niceTicks } from "./values.js";
import { sampleValue, worldPosition } from "./protocol.js";

const CURVE_COLORS = { light: ["#2563a8", "#c2410c", "#15803d", "#7e22ce", "#a16207", "#0e7490"], dark: ["#7cb7f0", "#f4a26b", "#79cf95", "#c59af2", "#e2c25c", "#6cd0e0"] };

// The plot's place in CSS pixels, so that the mouse can be understood.
export function drawPlot(canvas, ratio, frame, display, range, styled, marked) {
  const { header } = frame;
  const context = canvas.getContext("2d");
  const style = getComputedStyle(styled);
  const ink = style.color;
  const dark = (style.backgroundColor.match(/[\d.]+/g) ?? [255])[0] < 128;
  const [width, height] = [canvas.width / ratio, canvas.height / ratio];
  const place = { left: 72, top: 28, width: Math.max(10, width - 104), height: Math.max(10, height - 84) };
  const last = Math.max(1, header.full[0] - 1);
  const at = (index) => positionOf(header, index);
  let [low, high] = range;
  const pad = display.rangeMode === "own" ? 0 : (high - low) * 0.04;
  low -= pad;
  high += pad;
  const toX = (index) => place.left + (index / last) * place.width;
  const toY = (value) => place.top + place.height * (1 - (value - low) / (high - low || 1));

  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "12px system-ui, sans-serif";
  context.lineWidth = 1;
  context.strokeStyle = ink;
  context.fillStyle = ink;
  const line = (x0, y0, x1, y1, opacity) => {
    context.globalAlpha = opacity;
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    context.stroke();
  };
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const tick of niceTicks(low, high, Math.max(2, Math.round(place.height / 70)))) {
    const y = Math.round(toY(tick)) + 0.5;
    line(place.left, y, place.left + place.width, y, tick === 0 ? 0.4 : 0.12);
    context.globalAlpha = 0.8;
    context.fillText(formatNumber(tick), place.left - 8, y);
  }
  const [begin, end] = [at(0), at(last)];
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const tick of niceTicks(Math.min(begin, end), Math.max(begin, end), Math.max(2, Math.round(place.width / 110)))) {
    const x = Math.round(toX(((tick - begin) / (end - begin || 1)) * last)) + 0.5;
    line(x, place.top, x, place.top + place.height, 0.12);
    context.globalAlpha = 0.8;
    context.fillText(formatNumber(tick), x, place.top + place.height + 8);
  }
  context.globalAlpha = 0.6;
  context.fillText(header.place ? "position" : "index", place.left + place.width / 2, place.top + place.height + 28);

  context.save();
  context.beginPath();
  context.rect(place.left, place.top - 2, place.width, place.height + 4);
  context.clip();
  context.globalAlpha = 1;
  context.lineWidth = 1.75;
  context.lineJoin = "round";
  const colors = CURVE_COLORS[dark ? "dark" : "light"];
  const shown = Number.isInteger(display.channel) && header.channels > 1 ? [display.channel] : Array.from({ length: Math.min(header.channels, 24) }, (_, c) => c);
  for (const channel of shown) {
    context.strokeStyle = colors[channel % colors.length];
    context.beginPath();
    let open = false;
    for (let i = 0; i < header.size[0]; i++) {
      const value = sampleValue(frame, i * header.channels + channel);
      // A value that is no number interrupts the curve.
      if (!Number.isFinite(value)) open = false;
      else if (open) context.lineTo(toX(i * header.stride), toY(value));
      else {
        context.moveTo(toX(i * header.stride), toY(value));
        open = true;
      }
    }
    context.stroke();
    if (Number.isInteger(marked)) {
      const value = sampleValue(frame, Math.round(marked / header.stride) * header.channels + channel);
      context.beginPath();
      context.arc(toX(marked), toY(value), 4, 0, 2 * Math.PI);
      context.fillStyle = context.strokeStyle;
      if (Number.isFinite(value)) context.fill();
    }
  }
  context.restore();
  context.textAlign = "right";
  context.globalAlpha = 1;
  if (shown.length > 1 && shown.length <= 8) {
    shown.forEach((channel, k) => {
      context.fillStyle = colors[channel % colors.length];
      context.fillText(`component ${channel}`, place.left + place.width - 92 * (shown.length - 1 - k), 8);
    });
  }
  context.lineWidth = 1;
  context.strokeStyle = ink;
  if (Number.isInteger(marked)) line(toX(marked), place.top, toX(marked), place.top + place.height, 0.3);
  context.globalAlpha = 1;
  return place;
}

// The position along the curve: that in the world if it has one component, the length of the way if it has more.
function positionOf(header, index) {
  const world = worldPosition(header.place, [index]);
  if (!world) return index;
  if (world.length === 1) return world[0];
  const start = worldPosition(header.place, [0]);
  return Math.hypot(...world.map((x, k) => x - start[k]));
}

export function plotIndex(place, x, count) {
  if (!place || x < place.left - 4 || x > place.left + place.width + 4) return null;
  return Math.min(count - 1, Math.max(0, Math.round(((x - place.left) / place.width) * (count - 1))));
}
