// The bar at the top: name of the program, outputs, running, comparing, export, and settings of the page.

import { icon, iconButton, make, remember, setIcon } from "./dom.js";
import { formatCount } from "./values.js";

const FORMAT_NAMES = { png: "PNG picture", nrrd: "NRRD", npy: "NumPy array", npz: "NumPy arrays", svg: "SVG", pdf: "PDF", csv: "CSV table", txt: "Text", vtp: "VTK polygons", vti: "VTK image", vtu: "VTK mesh", ply: "PLY", obj: "OBJ", stl: "STL" };

export function createTopBar(app) {
  const name = make("span", { class: "program-name", "data-role": "program" });
  const outputs = make("div", { class: "segments", role: "radiogroup", "aria-label": "Output" });
  const many = make("select", { class: "output-select", "aria-label": "Output", hidden: true, onchange: () => app.showOutput(many.value) });

  const play = iconButton("play", "Play (Space)", () => app.run(app.status.state === "running" ? "pause" : "play"));
  const step = iconButton("step", "One step (.)", () => app.run("step"));
  const restart = iconButton("restart", "Back to the beginning (,)", () => app.run("restart"));
  const counter = make("span", { class: "step-counter", "data-role": "step" });
  const running = make("div", { class: "tool-group running", hidden: true, "aria-label": "Run" }, restart, play, step, counter);

  const tool = iconButton("camera", "", () => app.setTool(app.stage.tool === "input" ? "view" : "input"), { class: "icon-button tool" });
  const zoomOut = iconButton("less", "Smaller (−)", () => app.stage.zoom(1 / 1.25));
  const zoomText = make("button", { type: "button", class: "plain-button zoom-text", title: "Show everything (F)", onclick: () => app.stage.fit() });
  const zoomIn = iconButton("more", "Larger (+)", () => app.stage.zoom(1.25));
  const zooming = make("div", { class: "tool-group zooming" }, tool, zoomOut, zoomText, zoomIn);

  const pin = iconButton("pin", "Pin this picture to compare with it (P)", () => app.pin());
  const split = iconButton("split", "Pinned and live picture side by side (S)", () => app.setCompare("split"));
  const difference = iconButton("difference", "Difference to the pinned picture (D)", () => app.setCompare("difference"));
  const comparing = make("div", { class: "tool-group comparing" }, pin, split, difference);

  const menu = make("div", { class: "menu", role: "menu", hidden: true });
  const exporting = make("button", { type: "button", class: "button export", "aria-haspopup": "menu", "aria-expanded": "false", title: "Save what is shown (E)", onclick: () => showMenu(menu.hidden) }, icon("export"), make("span", { text: "Export" }));
  const exportArea = make("div", { class: "export-area" }, exporting, menu);
  function showMenu(on) {
    menu.hidden = !on;
    exporting.setAttribute("aria-expanded", String(on));
    if (!on) return;
    const formats = app.iface?.formats?.[app.output] ?? [];
    const item = (text, hint, action) => make("button", { type: "button", role: "menuitem", class: "menu-item", onclick: () => {
      showMenu(false);
      action();
    } }, make("span", { text }), make("span", { class: "menu-hint", text: hint }));
    menu.replaceChildren(
      ...(Array.isArray(formats) ? formats : []).map((format) => item(FORMAT_NAMES[format] ?? format.toUpperCase(), "." + format, () => app.exportFile(format))),
      ...(app.frame && app.stage.kind !== "table" ? [make("hr"), item("Picture as shown", ".png", () => app.exportShown())] : []));
    menu.querySelector("button")?.focus();
  }
  exportArea.addEventListener("focusout", (event) => {
    if (!exportArea.contains(event.relatedTarget)) showMenu(false);
  });
  exportArea.addEventListener("keydown", (event) => {
    const items = [...menu.querySelectorAll("button")];
    const at = items.indexOf(exportArea.getRootNode().activeElement);
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && !menu.hidden) {
      event.stopPropagation();
      showMenu(false);
      exporting.focus();
    } else if (move && at >= 0) {
      event.preventDefault();
      items[(at + move + items.length) % items.length].focus();
    }
  });

  const theme = iconButton("moon", "Dark or light", () => app.switchTheme());
  const help = iconButton("help", "Mouse and keys (?)", () => app.showHelp(true));
  const panel = iconButton("panel", "Show or hide the panel (H)", () => app.togglePanel());

  const element = make("header", { class: "top-bar" }, name, make("div", { class: "outputs" }, outputs, many), running, make("div", { class: "space" }), zooming, comparing, exportArea, make("div", { class: "tool-group" }, theme, help, panel));

  function showOutputs() {
    name.textContent = app.iface?.program ?? "Diderot";
    name.title = name.textContent;
    const list = app.iface?.outputs ?? [];
    outputs.hidden = list.length < 2 || list.length > 4;
    many.hidden = list.length <= 4;
    outputs.replaceChildren(...list.map((output) => make("button", { type: "button", role: "radio", class: "segment", "data-output": output.name, "aria-checked": String(output.name === app.output), title: `${output.type ?? ""} ${output.name}`, text: output.name, onclick: () => app.showOutput(output.name) })));
    many.replaceChildren(...list.map((output) => make("option", { value: output.name, text: output.name })));
    many.value = app.output ?? "";
    running.hidden = !app.iface?.evolves;
  }

  function showState() {
    const going = app.status.state === "running";
    setIcon(play, going ? "pause" : "play", going ? "Pause (Space)" : "Play (Space)");
    counter.textContent = typeof app.status.step === "number" ? `step ${formatCount(app.status.step)}` : "";
    exporting.disabled = !app.frame;
  }

  function showView() {
    const { kind, view, tool: chosen } = app.stage;
    const picture = kind === "picture";
    const moved = picture && (app.camera() || app.iface?.plane);
    zooming.hidden = !(picture || kind === "geometry");
    tool.hidden = !moved;
    const what = app.iface?.plane && !app.camera() ? "the plane" : "the camera";
    setIcon(tool, chosen === "input" ? "camera" : "zoom", "");
    const label = chosen === "input" ? `The mouse moves ${what} (Z: the picture)` : `The mouse moves the picture (Z: ${what})`;
    tool.title = label;
    tool.setAttribute("aria-label", label);
    tool.setAttribute("aria-pressed", String(chosen === "view"));
    zoomText.textContent = picture ? (Math.abs(view.zoom - 1) < 1e-6 ? "Fit" : `${Math.round(100 * app.stage.rect().scale)} %`) : "Fit";
    comparing.hidden = !picture;
    pin.setAttribute("aria-pressed", String(Boolean(app.pinned)));
    const label2 = app.pinned ? "Let go of the pinned picture (P)" : "Pin this picture to compare with it (P)";
    pin.title = label2;
    pin.setAttribute("aria-label", label2);
    for (const [button, mode] of [[split, "split"], [difference, "difference"]]) {
      button.hidden = !app.pinned;
      button.disabled = !app.stage.comparable;
      button.setAttribute("aria-pressed", String(app.compare === mode));
    }
    exporting.disabled = !app.frame;
  }

  app.events.on("interface", showOutputs);
  app.events.on("output", showOutputs);
  for (const event of ["status", "interface"]) app.events.on(event, showState);
  for (const event of ["view", "frame", "interface"]) app.events.on(event, showView);
  app.events.on("theme", () => setIcon(theme, app.isDark() ? "sun" : "moon", app.isDark() ? "Light colours" : "Dark colours"));
  return { element, openExport: () => showMenu(true) };
}

// The line between stage and panel, which changes the panel's width.
export function createResizer(app) {
  const element = make("div", { class: "resizer", role: "separator", tabindex: "0", "aria-orientation": "vertical", "aria-label": "Width of the panel" });
  const setWidth = (width) => {
    const most = Math.max(240, app.element.clientWidth * 0.6);
    app.panelWidth = Math.round(Math.min(most, Math.max(240, width)));
    app.element.style.setProperty("--panel", app.panelWidth + "px");
    remember("panel-width", String(app.panelWidth));
  };
  element.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    const [first, start] = [event.clientX, app.panelWidth];
    element.setPointerCapture(event.pointerId);
    const move = (next) => setWidth(start - (next.clientX - first));
    element.addEventListener("pointermove", move);
    element.addEventListener("lostpointercapture", () => element.removeEventListener("pointermove", move), { once: true });
  });
  element.addEventListener("dblclick", () => setWidth(340));
  element.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: 20, ArrowRight: -20 }[event.key];
    if (step) setWidth(app.panelWidth + step);
  });
  return { element, setWidth };
}
