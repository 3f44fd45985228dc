// Small tools for elements: making them, icons, drags that end cleanly, memory in the browser, and events between parts of the page.

// Attributes that are functions are listeners (`onclick`), `class` and `text` are short forms, `false` and `null` leave one out.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (name === "text") element.textContent = value;
    else if (name === "class") element.className = value;
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// Strokes on a grid of 16 × 16.
const ICONS = {
  reset: "M3.5 8a4.5 4.5 0 1 0 1.4-3.3M3.2 2.6v2.6h2.6",
  play: "M5 3.2v9.6l7.5-4.8z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  step: "M4.5 3.5v9l6-4.5zM12 3.5v9",
  restart: "M11.5 3.5v9l-6-4.5zM4 3.5v9",
  stop: "M4.5 4.5h7v7h-7z",
  pin: "M6 2.5h4l-.5 4 2.5 2.5H4l2.5-2.5zM8 9v4.5",
  split: "M8 2v12M3 4h2.5M3 8h2.5M3 12h2.5M10.5 4H13v8h-2.5z",
  difference: "M8 3v5M5.5 5.5h5M5.5 11.5h5",
  export: "M8 2.5v7.5M5 7l3 3 3-3M3 11.5v2h10v-2",
  copy: "M6 5.5h7v8H6zM3.5 10.5h-1v-8h7v1",
  check: "M3 8.5l3.2 3.2L13 4.8",
  panel: "M2.5 3h11v10h-11zM10 3v10",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M8 1.5v1.4M8 13.1v1.4M1.5 8h1.4M13.1 8h1.4M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1",
  moon: "M12.8 9.6A5.3 5.3 0 0 1 6.4 3.2a5.3 5.3 0 1 0 6.4 6.4z",
  help: "M6 6.2a2 2 0 1 1 2.9 1.8c-.6.3-.9.7-.9 1.5M8 11.8v.2",
  close: "M4 4l8 8M12 4l-8 8",
  fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  camera: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M2.5 8c2.5 2 8.5 2 11 0M8 2.5c-2 3-2 8 0 11",
  zoom: "M7 3a4 4 0 1 0 0 8 4 4 0 0 0 0-8M10 10l3.5 3.5",
  chevron: "M6 4l4 4-4 4",
  text: "M3 4l3.5 3.5L3 11M8 12h5",
  warning: "M8 2.5L14 13H2zM8 6.5v3M8 11.2v.2",
  more: "M8 3.5v9M3.5 8h9",
  less: "M3.5 8h9",
};

export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const picture = document.createElementNS(space, "svg");
  picture.setAttribute("viewBox", "0 0 16 16");
  picture.setAttribute("class", "icon");
  picture.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", ICONS[name] || "");
  picture.append(path);
  return picture;
}

export function iconButton(name, label, onclick, more = {}) {
  return make("button", { type: "button", class: "icon-button", title: label, "aria-label": label, onclick, ...more }, icon(name));
}

export function setIcon(button, name, label) {
  if (button.dataset.icon === name) return;
  button.dataset.icon = name;
  button.replaceChildren(icon(name));
  if (label) {
    button.title = label;
    button.setAttribute("aria-label", label);
  }
}

// Calls `start(event)` when a button of the mouse goes down; what it returns is called with every movement, and `end` at the end.
// The pointer is captured, so that nothing listens outside of the element.
export function onDrag(element, start) {
  element.addEventListener("pointerdown", (event) => {
    const drag = start(event);
    if (!drag) return;
    element.setPointerCapture(event.pointerId);
    const move = (next) => {
      if (next.pointerId === event.pointerId) drag.move?.(next.clientX - event.clientX, next.clientY - event.clientY, next);
    };
    const end = (last) => {
      if (last.pointerId !== event.pointerId) return;
      element.removeEventListener("pointermove", move);
      element.removeEventListener("pointerup", end);
      element.removeEventListener("pointercancel", end);
      element.removeEventListener("lostpointercapture", end);
      drag.end?.(last);
    };
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", end);
    element.addEventListener("pointercancel", end);
    element.addEventListener("lostpointercapture", end);
  });
}

// Memory of the browser may be forbidden, in private windows and in notebooks.
export function remembered(key, otherwise) {
  try {
    return localStorage.getItem("diderot-view." + key) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function remember(key, value) {
  try {
    localStorage.setItem("diderot-view." + key, value);
  } catch {
    // Then it is forgotten.
  }
}

// Events between the parts of the page. A listener that fails does not stop the others.
export class Events {
  constructor() {
    this.listeners = new Map();
  }

  on(name, listener) {
    if (!this.listeners.has(name)) this.listeners.set(name, []);
    this.listeners.get(name).push(listener);
  }

  emit(name, value) {
    for (const listener of this.listeners.get(name) ?? []) {
      try {
        listener(value);
      } catch (error) {
        console.error(error);
      }
    }
  }
}

export function downloadBlob(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = make("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// The clipboard is missing on pages that are not secure; an invisible field does the same.
export async function copyText(text, near) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = make("textarea", { class: "out-of-sight", value: text });
    near.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}
