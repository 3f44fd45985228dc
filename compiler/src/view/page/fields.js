// Single controls: number fields, sliders, colour fields and a ball for directions. Each is { element, show(value, isDefault) } and calls
// `change(value, dragging)`; with `dragging`, more changes follow.

import { cameraFrame, dotVec, turnVec, unitVec } from "./camera.js";
import { colorOfHex, fieldDigits, fieldText, formatNumber, hexOfColor, parseNumber, scrubStep, sliderPosition, sliderValue, stepValue } from "./values.js";
import { make, onDrag } from "./dom.js";

const SLIDER_PLACES = 1000;

// A field that shows few digits until it is edited; then it has all of them. Arrow keys change the number.
export function numberField({ label, integer, change, step }) {
  let value = null;
  const field = make("input", { class: "number", type: "text", inputmode: "decimal", spellcheck: "false", autocomplete: "off", "aria-label": label });
  const showValue = () => {
    field.value = field === field.getRootNode().activeElement ? fieldText(value) : fieldDigits(value);
    field.title = fieldText(value);
    field.classList.remove("wrong");
  };
  const commit = () => {
    const typed = parseNumber(field.value, integer);
    if (typed === null) {
      showValue();
    } else if (field.value !== fieldDigits(value) && typed !== value) {
      value = typed;
      change(typed, false);
    }
  };
  field.addEventListener("focus", () => {
    showValue();
    field.select();
  });
  field.addEventListener("blur", () => {
    commit();
    field.value = fieldDigits(value);
    field.classList.remove("wrong");
  });
  field.addEventListener("input", () => field.classList.toggle("wrong", parseNumber(field.value, integer) === null));
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const direction = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (event.key === "Enter") {
      commit();
      field.select();
    } else if (event.key === "Escape") {
      showValue();
      field.blur();
    } else if (direction) {
      event.preventDefault();
      const unit = (step ?? scrubStep(value, integer)) * (event.shiftKey ? 10 : 1);
      const next = Number(((parseNumber(field.value, integer) ?? value ?? 0) + direction * unit).toPrecision(12));
      value = integer ? Math.round(next) : next;
      showValue();
      change(value, true);
    }
  });
  return {
    element: field,
    show(next) {
      if (Object.is(next, value) && field.value !== "") return;
      value = typeof next === "number" ? next : null;
      // What is being typed is not replaced.
      if (field !== field.getRootNode().activeElement || !field.classList.contains("wrong")) showValue();
    },
  };
}

export function sliderField({ label, control, change, reset }) {
  const slider = make("input", { class: "slider", type: "range", min: "0", max: String(SLIDER_PLACES), step: "1", "aria-label": label });
  let value = null;
  const show = (next) => {
    value = next;
    const place = sliderPosition(control, next);
    slider.value = String(Math.round(place * SLIDER_PLACES));
    slider.style.setProperty("--place", String(place));
    slider.setAttribute("aria-valuetext", formatNumber(next));
  };
  slider.addEventListener("input", () => {
    const next = sliderValue(control, Number(slider.value) / SLIDER_PLACES);
    show(next);
    change(next, true);
  });
  slider.addEventListener("change", () => change(value, "end"));
  slider.addEventListener("keydown", (event) => {
    const presses = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (presses === undefined) return;
    event.preventDefault();
    show(stepValue(control, value, presses * (event.shiftKey ? 10 : 1)));
    change(value, true);
  });
  slider.addEventListener("dblclick", () => reset?.());
  return {
    element: slider,
    show(next, defaultValue) {
      show(next);
      const marked = typeof defaultValue === "number" && defaultValue >= Math.min(control.low, control.high) && defaultValue <= Math.max(control.low, control.high);
      slider.style.setProperty("--mark", marked ? String(sliderPosition(control, defaultValue)) : "-1");
    },
  };
}

// Several numbers. Their names can be dragged to change them.
export function numbersField({ label, count, columns, integer, change }) {
  let values = new Array(count).fill(0);
  const names = count <= 4 && columns === count ? ["x", "y", "z", "w"] : null;
  const put = (k, x, dragging) => {
    values = values.map((old, at) => (at === k ? x : old));
    change(values, dragging);
  };
  const fields = values.map((_, k) => numberField({ label: `${label}, ${names ? names[k] : "component " + (k + 1)}`, integer, change: (x, dragging) => put(k, x, dragging) }));
  const cells = fields.map((field, k) => {
    const name = names ? make("span", { class: "scrub", text: names[k], title: "Drag to change" }) : null;
    if (name) {
      onDrag(name, () => {
        const first = values[k] ?? 0;
        const step = scrubStep(Math.max(...values.map((x) => Math.abs(x || 0))), integer);
        return {
          move: (dx, dy, event) => put(k, Number((first + dx * step * (event.shiftKey ? 10 : 1)).toPrecision(12)), true),
          end: () => change(values, "end"),
        };
      });
    }
    return make("label", { class: "cell" }, name, field.element);
  });
  const element = make("div", { class: "cells" }, cells);
  element.style.setProperty("--columns", String(columns));
  return {
    element,
    show(next) {
      values = Array.isArray(next) ? next.slice(0, count) : new Array(count).fill(null);
      fields.forEach((field, k) => field.show(values[k]));
    },
  };
}

export function colorField({ label, count, change }) {
  let values = [0, 0, 0, 1].slice(0, count);
  const picker = make("input", { class: "color", type: "color", "aria-label": label });
  const numbers = numbersField({ label, count, columns: count, change: (next, dragging) => {
    values = next;
    change(next, dragging);
  } });
  numbers.element.querySelectorAll(".scrub").forEach((name, k) => {
    name.textContent = "rgba"[k];
  });
  const pick = (dragging) => {
    const rgb = colorOfHex(picker.value);
    if (!rgb) return;
    values = [...rgb, ...values.slice(3)];
    numbers.show(values);
    change(values, dragging);
  };
  picker.addEventListener("input", () => pick(true));
  picker.addEventListener("change", () => pick("end"));
  return {
    element: make("div", { class: "color-row" }, picker, numbers.element),
    show(next) {
      if (!Array.isArray(next)) return;
      values = next;
      const hex = hexOfColor(next);
      if (picker.value !== hex) picker.value = hex;
      numbers.show(next);
    },
  };
}

// A ball that shows a direction as the camera sees it: a full dot points to the viewer, a ring away.
export function directionField({ label, change, camera }) {
  let value = [0, 0, 1];
  const size = 56;
  const canvas = make("canvas", { class: "ball", tabindex: "0", role: "img", "aria-label": `${label}, direction; arrow keys turn it` });
  const numbers = numbersField({ label, count: 3, columns: 3, change: (next, dragging) => {
    value = next;
    draw();
    change(next, dragging);
  } });
  const frame = () => {
    const seen = camera();
    return seen ? cameraFrame(seen) : { ahead: [0, 1, 0], right: [1, 0, 0], up: [0, 0, 1] };
  };
  const tidy = (v) => unitVec(v).map((x) => Math.round(x * 10000) / 10000);
  const turn = (from, dx, dy) => {
    const { right, up } = frame();
    return tidy(turnVec(turnVec(from, up, dx), right, dy));
  };
  function draw() {
    const ratio = Math.max(1, globalThis.devicePixelRatio || 1);
    canvas.width = canvas.height = size * ratio;
    const context = canvas.getContext("2d");
    const ink = getComputedStyle(canvas).color;
    const { ahead, right, up } = frame();
    const unit = unitVec(value);
    const [x, y, z] = [dotVec(unit, right), -dotVec(unit, up), -dotVec(unit, ahead)];
    const radius = size / 2 - 5;
    context.setTransform(ratio, 0, 0, ratio, (size * ratio) / 2, (size * ratio) / 2);
    context.clearRect(-size, -size, 2 * size, 2 * size);
    const shade = context.createRadialGradient(radius * x * 0.7, radius * y * 0.7, 1, 0, 0, radius * 1.3);
    shade.addColorStop(0, z >= 0 ? "rgba(140,150,165,.10)" : "rgba(140,150,165,.45)");
    shade.addColorStop(1, "rgba(140,150,165,.45)");
    context.fillStyle = shade;
    context.strokeStyle = ink;
    context.beginPath();
    context.arc(0, 0, radius, 0, 7);
    context.fill();
    context.globalAlpha = 0.5;
    context.stroke();
    context.beginPath();
    context.moveTo(0, 0);
    context.lineTo(radius * x, radius * y);
    context.stroke();
    context.globalAlpha = 1;
    context.beginPath();
    context.arc(radius * x, radius * y, 4, 0, 7);
    context.fillStyle = ink;
    if (z >= 0) context.fill();
    else context.stroke();
  }
  onDrag(canvas, () => {
    const first = value;
    return {
      move: (dx, dy) => {
        value = turn(first, (2 * dx) / size, (2 * dy) / size);
        numbers.show(value);
        draw();
        change(value, true);
      },
      end: () => change(value, "end"),
    };
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    value = turn(value, step[0] * 0.0873, step[1] * 0.0873);
    numbers.show(value);
    draw();
    change(value, true);
  });
  return {
    element: make("div", { class: "direction-row" }, canvas, numbers.element),
    show(next) {
      if (Array.isArray(next) && next.length === 3) value = next;
      numbers.show(value);
      draw();
    },
  };
}
