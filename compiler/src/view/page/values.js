// Numbers and values of inputs: how they are shown, typed and mapped to sliders. No element of the page is touched here.

// A number in at most `digits` significant digits, without digits that say nothing.
export function formatNumber(x, digits = 5) {
  if (x === null || x === undefined) return "–";
  if (typeof x !== "number") return String(x);
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (Number.isInteger(x) && size < 1e9) return String(x).replace("-", "−");
  const text = size >= 1e-4 && size < 1e7 ? String(Number(x.toPrecision(digits))) : x.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e");
  return text.replace(/-/g, "−");
}

// The text of a number in a field: it must read back as the same number, so nothing is rounded that the user typed.
export function fieldText(x) {
  if (typeof x !== "number") return x === null || x === undefined ? "" : String(x);
  if (Number.isInteger(x)) return String(x);
  const short = Number(x.toPrecision(7));
  return String(Math.abs(short - x) <= Math.abs(x) * 1e-9 ? short : x);
}

// What a field shows while it is not edited: short enough for its place.
export function fieldDigits(x) {
  if (typeof x !== "number" || Number.isInteger(x)) return fieldText(x);
  return String(Number(x.toPrecision(5)));
}

// The number in a text, or null. Decimal commas and the typographic minus are understood.
export function parseNumber(text, integer = false) {
  const plain = String(text).trim().replace(/−/g, "-").replace(/^([-+]?\d*),(\d+)$/, "$1.$2");
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain)) return null;
  const x = Number(plain);
  if (!Number.isFinite(x)) return null;
  return integer ? Math.round(x) : x;
}

export function parseNumbers(text) {
  const parts = String(text).trim().split(/[\s;]+|,\s*/).filter((part) => part !== "" && part !== "[" && part !== "]");
  const numbers = parts.map((part) => parseNumber(part.replace(/[[\]{}]/g, "")));
  return numbers.some((x) => x === null) ? null : numbers;
}

export function clampTo(low, high, x) {
  return Math.min(Math.max(x, low), high);
}

function isLogarithmic(control) {
  return Boolean(control.log) && control.low > 0 && control.high > 0;
}

// The place of a value on its slider, from 0 to 1. Values outside of the range are at its ends.
export function sliderPosition(control, value) {
  const { low, high } = control;
  if (typeof value !== "number" || Number.isNaN(value) || !(high !== low)) return 0;
  const place = isLogarithmic(control)
    ? Math.log(Math.max(value, Number.MIN_VALUE) / low) / Math.log(high / low)
    : (value - low) / (high - low);
  return clampTo(0, 1, place);
}

// The value at a place of the slider. Steps are counted from `low`; reals are rounded to what a slider of 1000 places can tell apart.
export function sliderValue(control, place) {
  const { low, high, step } = control;
  const t = clampTo(0, 1, place);
  const raw = isLogarithmic(control) ? low * Math.pow(high / low, t) : low + (high - low) * t;
  if (step) return Number(clampTo(Math.min(low, high), Math.max(low, high), low + Math.round((raw - low) / step) * step).toPrecision(12));
  if (t === 0) return low;
  if (t === 1) return high;
  return roundTo(isLogarithmic(control) ? raw : Math.abs(high - low), raw);
}

// The value some presses of an arrow key away.
export function stepValue(control, value, presses) {
  if (control.step) {
    const target = sliderValue(control, sliderPosition(control, value)) + presses * control.step;
    return Number(clampTo(Math.min(control.low, control.high), Math.max(control.low, control.high), target).toPrecision(12));
  }
  return sliderValue(control, sliderPosition(control, value) + presses / 100);
}

// A step for a number without a range: a hundredth of its size, as a power of ten.
export function scrubStep(value, integer = false) {
  if (integer) return 1;
  const size = Math.abs(value || 0);
  return size > 0 ? Math.pow(10, Math.floor(Math.log10(size)) - 2) : 0.01;
}

// A number without more digits than a range of this length needs: a thousandth of it can still be told apart.
export function roundTo(length, x) {
  if (!(length > 0) || !Number.isFinite(length)) return x;
  const unit = Math.pow(10, Math.floor(Math.log10(length / 1000)));
  return Number((Math.round(x / unit) * unit).toPrecision(12));
}

export function sameValue(a, b) {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((x, k) => sameValue(x, b[k]));
  return Object.is(a, b) || (a === 0 && b === 0);
}

export function hexOfColor(rgb) {
  const part = (x) => Math.round(clampTo(0, 1, Number(x) || 0) * 255).toString(16).padStart(2, "0");
  return "#" + part(rgb[0]) + part(rgb[1]) + part(rgb[2]);
}

// Components have three decimals, so that the command line stays short; 8 bits need no more.
export function colorOfHex(hex) {
  const match = /^#?([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(hex || "");
  return match ? match.slice(1).map((part) => Math.round((parseInt(part, 16) / 255) * 1000) / 1000) : null;
}

// Round numbers between `low` and `high` for the ticks of an axis.
export function niceTicks(low, high, count = 5) {
  if (!(high > low) || !Number.isFinite(high - low)) return Number.isFinite(low) ? [low] : [];
  const rough = (high - low) / Math.max(1, count);
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = power * ([1, 2, 5, 10].find((m) => m * power >= rough * 0.999) || 10);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9 && ticks.length < 100; k++) ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}

export function formatCount(n) {
  return typeof n === "number" && Number.isFinite(n) ? String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, "\u202f") : "–";
}

export function formatTime(milliseconds) {
  if (typeof milliseconds !== "number" || !Number.isFinite(milliseconds)) return "";
  if (milliseconds < 10) return milliseconds.toFixed(1) + " ms";
  if (milliseconds < 1000) return Math.round(milliseconds) + " ms";
  if (milliseconds < 60000) return (milliseconds / 1000).toFixed(milliseconds < 10000 ? 2 : 1) + " s";
  return Math.floor(milliseconds / 60000) + " min " + Math.round((milliseconds % 60000) / 1000) + " s";
}

// The columns in which the fields of a tensor are arranged: the length of its last axis, as far as it fits.
export function columnsOf(type, count) {
  const axes = /\[([\d,\s]+)\]/.exec(String(type));
  const last = axes ? Number(axes[1].split(",").pop()) : count;
  return last >= 2 && last <= 4 && count % last === 0 ? last : Math.min(count, count <= 4 ? count : 3);
}

// The text without the codes that colour it in a terminal.
export function plainText(text) {
  return String(text ?? "").replace(/\u001b\[[0-9;]*[A-Za-z]/g, "");
}
