// Short hints at first, and the list of all mouse actions and keys.

import { iconButton, make } from "./dom.js";

// Which actions of the mouse there are depends on what is shown.
export function mouseActions(app) {
  if (app.stage.kind === "geometry") {
    const flat = app.frame?.header.dimension === 2;
    return flat ? [["Drag", "move"], ["Wheel", "zoom at the mouse"]] : [["Drag", "turn"], ["Right drag", "move"], ["Wheel", "nearer or farther"]];
  }
  if (app.stage.kind !== "picture") return [];
  if (app.stage.tool === "input" && app.camera()) return [["Drag", "turn"], ["Right drag", "move"], ["Wheel", app.camera().ortho ? "angle of view" : "nearer or farther"]];
  if (app.stage.tool === "input" && app.iface?.plane) return [["Drag", "move"], ["Wheel", "zoom at the mouse"]];
  return [["Drag", "move the picture"], ["Wheel", "zoom at the mouse"]];
}

const HINT_MILLISECONDS = 12000;

export function createHints(app) {
  const element = make("div", { class: "hints", hidden: true });
  let done = false;
  const show = () => {
    const actions = done ? [] : mouseActions(app);
    element.hidden = actions.length === 0 || !app.good || Boolean(app.failure);
    if (!element.hidden) timer ||= setTimeout(fade, HINT_MILLISECONDS);
    element.replaceChildren(...actions.map(([key, text]) => make("span", {}, make("b", { text: key }), " " + text)), make("span", {}, make("b", { text: "?" }), " more"));
  };
  app.events.on("view", show);
  app.events.on("messages", show);
  app.events.on("frame", () => !done && element.hidden && show());
  let timer = 0;
  const fade = () => {
    if (done) return;
    done = true;
    element.classList.add("gone");
    setTimeout(() => {
      element.hidden = true;
    }, 400);
  };
  app.events.on("gesture", fade);
  return { element };
}

const KEYS = [
  ["R", "camera or plane as at first"],
  ["F", "show everything"],
  ["+  −", "larger, smaller"],
  ["Z", "the mouse moves the inputs or the picture"],
  ["P", "pin the picture, or let it go"],
  ["S", "pinned and live picture side by side"],
  ["D", "difference to the pinned picture"],
  ["M", "next colour map"],
  ["O", "next output"],
  ["Space  .  ,", "play or pause, one step, back to the beginning"],
  ["E", "export"],
  ["C", "copy the command line"],
  ["T", "printed text"],
  ["H", "show or hide the panel"],
  ["Esc", "close what is open"],
];

export function createHelp(app) {
  const close = iconButton("close", "Close", () => app.showHelp(false));
  const mouse = make("dl", { class: "key-list" });
  const card = make("div", { class: "help-card", role: "dialog", "aria-modal": "true", "aria-label": "Mouse and keys" },
    make("header", { class: "drawer-head" }, make("h2", { text: "Mouse and keys" }), close),
    make("div", { class: "help-columns" },
      make("div", {}, make("h3", { text: "On the picture" }), mouse, make("h3", { text: "Inputs" }), keyList([["Double click", "on a name or slider: default value"], ["↑  ↓", "in a number: change it; with Shift faster"], ["Drag", "x, y, z of a vector"], ["Typed", "values may leave the slider"]])),
      make("div", {}, make("h3", { text: "Keys" }), keyList(KEYS))));
  const element = make("div", { class: "help", hidden: true, onclick: (event) => event.target === element && app.showHelp(false) }, card);
  let before = null;
  app.showHelp = (on) => {
    if (on === !element.hidden) return;
    element.hidden = !on;
    if (on) {
      before = element.getRootNode().activeElement;
      mouse.replaceChildren(...keyList([...mouseActions(app), ["Ctrl", "with drag or wheel: the picture itself"], ["← ↑ → ↓", "turn; with Shift move"]]).children);
      close.focus();
    } else {
      before?.focus?.();
    }
  };
  app.helpShown = () => !element.hidden;
  return { element };
}

function keyList(rows) {
  return make("dl", { class: "key-list" }, rows.flatMap(([key, text]) => [make("dt", {}, key.split("  ").map((one) => make("kbd", { text: one }))), make("dd", { text })]));
}
