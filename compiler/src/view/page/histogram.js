// The range of a picture: its histogram with two handles, and the colour bar under it.

import { formatNumber, roundTo } from "./values.js";
import { make, onDrag } from "./dom.js";
import { mapPlace } from "./grid.js";

// `change(range, done)` is called while a handle moves.
export function createHistogram(change) {
  const canvas = make("canvas", { class: "histogram-canvas", "aria-hidden": "true" });
  const bar = make("canvas", { class: "colorbar", "data-role": "colorbar", "aria-label": "Colour bar", role: "img" });
  const handles = ["Low", "High"].map((name, k) => make("div", { class: `handle ${k === 0 ? "low" : "high"}`, tabindex: "0", role: "slider", "aria-label": `${name} end of the range`, title: `${name} end of the range` }));
  const area = make("div", { class: "histogram" }, canvas, handles);
  const element = make("div", { class: "histogram-area" }, area, bar);
  let state = null;
  let held = null;

  const domain = () => held ?? state?.domain ?? [0, 1];
  const place = (value) => {
    const [low, high] = domain();
    return high > low ? (value - low) / (high - low) : 0.5;
  };
  function setEnd(k, value, done) {
    const range = [...state.range];
    const least = (domain()[1] - domain()[0]) / 1000;
    range[k] = roundTo(domain()[1] - domain()[0], k === 0 ? Math.min(value, range[1] - least) : Math.max(value, range[0] + least));
    change(range, done);
  }

  handles.forEach((handle, k) => {
    onDrag(handle, (event) => {
      if (!state) return null;
      event.preventDefault();
      handle.focus();
      held = state.domain;
      const first = state.range[k];
      return {
        move: (dx) => setEnd(k, first + (dx / Math.max(1, area.clientWidth)) * (held[1] - held[0]), false),
        end: () => {
          held = null;
          change(state.range, true);
        },
      };
    });
    handle.addEventListener("keydown", (event) => {
      const presses = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
      if (!presses || !state) return;
      event.preventDefault();
      event.stopPropagation();
      setEnd(k, state.range[k] + (presses * (event.shiftKey ? 10 : 1) * (domain()[1] - domain()[0])) / 100, true);
    });
  });

  function sized(target, height) {
    const ratio = Math.max(1, globalThis.devicePixelRatio || 1);
    const width = Math.max(1, target.clientWidth);
    if (target.width !== Math.round(width * ratio)) target.width = Math.round(width * ratio);
    if (target.height !== Math.round(height * ratio)) target.height = Math.round(height * ratio);
    const context = target.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return [context, width];
  }

  function drawHistogram() {
    const { statistics, range } = state;
    const height = 56;
    const [context, width] = sized(canvas, height);
    const style = getComputedStyle(canvas);
    const counts = statistics.histogram;
    // Roots, since one full bar would make all others invisible.
    const most = Math.sqrt(counts.reduce((a, b) => Math.max(a, b), 1));
    const span = (statistics.max ?? 0) - (statistics.min ?? 0);
    const inside = [place(range[0]) * width, place(range[1]) * width];
    for (let k = 0; k < counts.length && statistics.min !== null; k++) {
      const x = place(statistics.min + (span * k) / counts.length) * width;
      const next = span > 0 ? place(statistics.min + (span * (k + 1)) / counts.length) * width : x + 3;
      const tall = counts[k] > 0 ? Math.max(1, (Math.sqrt(counts[k]) / most) * (height - 4)) : 0;
      context.globalAlpha = (x + next) / 2 >= inside[0] && (x + next) / 2 <= inside[1] ? 0.75 : 0.25;
      context.fillStyle = style.color;
      context.fillRect(x, height - tall, Math.max(0.75, next - x - 0.4), tall);
    }
    context.globalAlpha = 1;
  }

  function drawBar() {
    const { range, map, gamma, diverging, colors } = state;
    bar.hidden = colors;
    element.classList.toggle("without-bar", colors);
    if (colors) return;
    const height = 12;
    const [context, width] = sized(bar, height);
    const [low, high] = domain();
    for (let x = 0; x < width; x++) {
      const value = low + ((high - low) * (x + 0.5)) / width;
      const k = Math.round(mapPlace(value, range, gamma, diverging) * 255);
      context.fillStyle = `rgb(${map.colors[4 * k]},${map.colors[4 * k + 1]},${map.colors[4 * k + 2]})`;
      context.fillRect(x, 0, 1, height);
    }
  }

  return {
    element,
    // `state` has statistics, range, map, gamma, diverging, and whether colours are shown.
    show(next) {
      const { statistics, range } = next;
      const low = Math.min(statistics.min ?? range[0], range[0]);
      const high = Math.max(statistics.max ?? range[1], range[1]);
      state = { ...next, domain: high > low ? [low, high] : [low - 0.5, low + 0.5] };
      handles.forEach((handle, k) => {
        handle.style.left = `${Math.min(1, Math.max(0, place(range[k]))) * 100}%`;
        handle.setAttribute("aria-valuenow", String(range[k]));
        handle.setAttribute("aria-valuemin", String(state.domain[0]));
        handle.setAttribute("aria-valuemax", String(state.domain[1]));
        handle.setAttribute("aria-valuetext", formatNumber(range[k]));
      });
      drawHistogram();
      drawBar();
    },
    redraw() {
      if (state) this.show(state);
    },
  };
}
