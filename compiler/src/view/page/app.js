// The viewer in an element: keeps what the server said, passes on what the user does, and redraws what has changed.

import { AS_COLOR, decodeColors } from "./grid.js";
import { Events, downloadBlob, make, remember, remembered } from "./dom.js";
import { InputSender, decodeFrame, pixelValues } from "./protocol.js";
import { createControls } from "./controls.js";
import { createDisplay, defaultDisplay } from "./display.js";
import { createHelp, createHints } from "./help.js";
import { createMessages } from "./messages.js";
import { createReceiver } from "./receive.js";
import { createResizer, createTopBar } from "./bars.js";
import { createStage } from "./stage.js";
import { createStatus } from "./status.js";
import { handleKey } from "./keys.js";

const GREY_MAP = { name: "grey", diverging: false, colors: decodeColors("") };
const BLUE_RED = { name: "difference", diverging: true, colors: decodeColors(Array.from({ length: 256 }, (_, k) => {
  const s = Math.abs(k - 127.5) / 127.5;
  const end = k < 128 ? [33, 80, 170] : [178, 36, 40];
  return end.map((x) => Math.round(235 + (x - 235) * s).toString(16).padStart(2, "0")).join("");
}).join("")) };

// Shows the viewer in `root`, an element or a shadow root. The transport sends objects and calls back with texts, with binary frames,
// and with its state: "open" or "closed". `options.own` says that the page belongs to the viewer, so that keys need no focus.
export function mount(root, transport, options = {}) {
  const events = new Events();
  const app = {
    events, maps: [], iface: null, inputs: new Map(), output: null, frame: null, displays: new Map(), status: {}, diagnostics: [], good: true,
    failure: null, notes: [], printed: "", command: "", connected: false, outputChosen: false, runningSince: null, pinned: null, compare: null, splitAt: 0.5, panelWidth: Number(remembered("panel-width", "")) || (globalThis.innerWidth > 2400 ? 420 : 340),
  };
  const send = (message) => transport.send(message);
  app.sender = new InputSender(send, () => performance.now(), () => Date.now());

  let pending = null;
  let unshown = [];
  let lastFrame = -1;
  let scheduled = 0;
  let redraw = false;
  let exactFor = null;
  let exactTimer = 0;
  let rangeTimer = 0;
  let ended = false;
  let opened = false;

  // Drawing and sending happen once per frame of the screen.
  function schedule() {
    if (scheduled === 0 && !ended) scheduled = requestAnimationFrame(onFrame);
  }
  function onFrame() {
    scheduled = 0;
    if (pending) {
      const frame = pending;
      pending = null;
      // A frame that cannot be shown must not stop the next ones.
      try {
        showFrame(frame);
      } catch (error) {
        console.error(error);
      }
    } else if (redraw) {
      app.stage.draw();
    }
    redraw = false;
    for (const frame of unshown.splice(0)) send({ type: "shown", frame });
    app.sender.tick();
    if (app.sender.busy) schedule();
  }
  app.later = () => {
    redraw = true;
    schedule();
  };

  function showFrame(frame) {
    const other = app.frame?.header.output !== frame.header.output || app.frame?.header.type !== frame.header.type;
    app.frame = frame;
    lastFrame = frame.header.frame ?? lastFrame;
    if (app.failure) {
      app.failure = null;
      events.emit("messages");
    }
    app.sender.shown();
    showStale();
    app.stage.refresh();
    root.diderot.frame = frame.header;
    if (other) events.emit("view");
    events.emit("frame");
  }

  function onBinary(buffer) {
    let frame;
    try {
      frame = decodeFrame(buffer);
    } catch (error) {
      console.warn("diderot: a frame was left out: " + error.message);
      return;
    }
    if (frame.header.type === "file") {
      receiveFile(frame);
      return;
    }
    const number = frame.header.frame;
    if (typeof number === "number") unshown.push(number);
    const newest = pending?.header.frame ?? lastFrame;
    const stale = typeof number === "number" && number <= newest;
    // Until the user chooses, the server decides which output is shown.
    if (!app.outputChosen && frame.header.output !== app.output && app.iface?.outputs.some((output) => output.name === frame.header.output)) {
      app.output = frame.header.output;
      events.emit("output");
    }
    const other = app.output !== null && frame.header.output !== undefined && frame.header.output !== app.output;
    if (!stale && !other) pending = frame;
    schedule();
  }

  function receiveFile({ header, data }) {
    if (typeof header.error === "string") toast(header.error, true);
    else downloadBlob(new Blob([data], { type: header.mime || "application/octet-stream" }), header.name || "output");
  }

  const receive = createReceiver(app, {
    welcomed() {
      lastFrame = -1;
      pending = null;
      banner.hidden = true;
    },
    showStale,
    sendShow,
    named: (program) => options.own && (document.title = program ? `${program} – Diderot` : "Diderot"),
  });
  const onText = (text) => {
    receive(text);
    schedule();
  };

  // The connection counts from the server's welcome: one that answers and ends the connection at once does not know the token.
  function onState(state) {
    if (state === "open") {
      opened = true;
      send({ type: "hello", token: transport.token ?? "" });
      return;
    }
    const refused = opened && !app.connected;
    opened = false;
    if (!app.connected && !refused) return;
    app.connected = false;
    banner.textContent = refused ? "The server does not know this page; open the address that it printed." : "The server has ended; start it again.";
    banner.hidden = false;
    app.status = { ...app.status, state: undefined };
    events.emit("connection");
    if (!app.frame) app.stage.refresh();
  }

  // What the parts of the page ask for.
  app.waitingText = () => (!app.connected ? "Waiting for the server…" : !app.good ? "" : "Waiting for the first picture…");
  app.setInputs = (changed, dragging) => {
    for (const [name, value] of Object.entries(changed)) {
      const input = app.inputs.get(name);
      if (input) Object.assign(input, { value, isSet: true });
    }
    app.sender.change(changed, Boolean(dragging));
    for (const name of Object.keys(changed)) events.emit("value", name);
    schedule();
  };
  app.endDrag = () => {
    app.sender.finish();
    schedule();
  };
  app.resetInputs = (names) => {
    const changed = {};
    for (const name of names) {
      const input = app.inputs.get(name);
      if (!input || !input.isSet || input.spec.control?.kind === "fixed") continue;
      changed[name] = null;
      input.isSet = false;
      if (!input.spec.computed && input.spec.default !== null && input.spec.default !== undefined) input.value = input.spec.default;
    }
    if (Object.keys(changed).length > 0) app.sender.change(changed, false);
    events.emit("values");
    schedule();
  };
  const valueOf = (name) => (name ? app.inputs.get(name)?.value : undefined);
  const isVector = (value, count) => Array.isArray(value) && value.length === count && value.every(Number.isFinite);
  app.camera = () => {
    const names = app.iface?.camera;
    if (!names) return null;
    const [eye, look, up] = [valueOf(names.eye), valueOf(names.look), valueOf(names.up)];
    if (![eye, look, up].every((v) => isVector(v, 3))) return null;
    const fov = valueOf(names.fov);
    return { eye, look, up, fov: Number.isFinite(fov) && fov > 0 ? fov : 20, ortho: Boolean(names.fov) && valueOf(names.ortho) === true };
  };
  // The plane with the world's length of a CSS pixel. Pixels of the last frame tell it if they have a place, else the input's name does.
  app.plane = (rect) => {
    const names = app.iface?.plane;
    const center = valueOf(names?.center);
    const size = valueOf(names?.height);
    if (!names || !isVector(center, 2) || !Number.isFinite(size) || !(rect.height > 0)) return null;
    const guess = /width/i.test(names.height) ? 1 / rect.width : /radius/i.test(names.height) ? 2 / rect.height : 1 / rect.height;
    const { place, set } = app.frame?.header ?? {};
    const directions = place?.directions;
    if (isVector(directions?.[0], 2) && isVector(directions?.[1], 2) && !app.sender.busy && (set ?? 0) >= app.sender.lastId) {
      app.planeRatio = { names: JSON.stringify(names), ratio: (Math.hypot(...directions[0]) / size) * full()[0], sign: directions[1][1] > 0 ? -1 : 1 };
    }
    const known = app.planeRatio?.names === JSON.stringify(names) ? app.planeRatio : null;
    const up = valueOf(names.up);
    return { center, size, unit: known ? (known.ratio * size) / rect.width : guess * size, sign: typeof up === "boolean" ? (up ? 1 : -1) : known?.sign ?? 1 };
  };
  const full = () => app.frame?.header.full ?? [1, 1];

  app.map = (name) => app.maps.find((map) => map.name === name) ?? app.maps.find((map) => map.name === "viridis") ?? app.maps[0] ?? GREY_MAP;
  app.differenceMap = () => app.maps.find((map) => map.diverging) ?? BLUE_RED;
  app.display = () => {
    const key = app.frame?.header.output ?? app.output ?? "";
    if (!app.displays.has(key)) app.displays.set(key, defaultDisplay());
    return app.displays.get(key);
  };
  app.displayChanged = (again) => {
    if (again) app.stage.refresh();
    else app.stage.draw();
    events.emit("display");
  };
  app.resetDisplay = () => {
    app.displays.delete(app.frame?.header.output ?? "");
    app.displayChanged(true);
    app.rangeChanged();
  };
  function sendShow() {
    const display = app.displays.get(app.output);
    send({ type: "show", output: app.output, range: display?.rangeMode === "own" ? [display.low, display.high] : null });
  }
  app.rangeChanged = () => {
    clearTimeout(rangeTimer);
    rangeTimer = setTimeout(sendShow, 300);
  };
  app.showOutput = (name) => {
    if (name === app.output || !app.iface?.outputs.some((output) => output.name === name)) return;
    app.output = name;
    app.outputChosen = true;
    app.pinned = null;
    app.compare = null;
    sendShow();
    events.emit("output");
  };
  // Pictures of 8 bits are enough to look at, not to read numbers from.
  app.wantExact = () => {
    const header = app.frame?.header;
    if (header?.encoding !== "u8" || exactFor === header.frame || header.final === false) return;
    clearTimeout(exactTimer);
    exactTimer = setTimeout(() => {
      if (app.frame?.header.encoding !== "u8") return;
      exactFor = app.frame.header.frame;
      send({ type: "exact" });
    }, 250);
  };
  app.run = (action) => {
    send({ type: "run", action });
  };
  app.runningLong = () => app.runningSince !== null && performance.now() - app.runningSince > 700;
  app.pin = () => {
    app.pinned = app.pinned || app.stage.kind !== "picture" ? null : app.frame;
    app.compare = app.pinned ? "split" : null;
    app.stage.refresh();
    events.emit("view");
  };
  app.setCompare = (mode) => {
    if (!app.pinned) return;
    app.compare = app.compare === mode ? null : mode;
    app.stage.refresh();
    events.emit("view");
  };
  app.setTool = (tool) => {
    app.stage.tool = tool;
    events.emit("view");
  };
  app.resetView = () => {
    const names = [app.iface?.camera, app.iface?.plane].filter(Boolean).flatMap((group) => Object.values(group)).filter((name) => typeof name === "string");
    app.resetInputs(names);
    app.stage.fit();
  };
  app.exportFile = (format) => {
    const display = app.display();
    const range = app.stage.range;
    const scalar = app.stage.kind === "picture" && display.channel !== AS_COLOR && app.frame?.header.channels === 1;
    const choices = format === "png" && scalar ? ["--cmap", `${app.map(display.map).name},${range[0]},${range[1]}`] : format === "png" && display.rangeMode === "own" ? ["--range", `${range[0]},${range[1]}`] : [];
    send({ type: "export", output: app.output, format, options: choices });
  };
  app.exportShown = async () => {
    const blob = await app.stage.snapshot();
    if (blob) downloadBlob(blob, `${(app.iface?.program ?? "picture").replace(/\.diderot$/, "")}-${app.output ?? "shown"}.png`);
  };
  app.togglePanel = () => element.classList.toggle("without-panel");
  app.isDark = () => (element.dataset.theme ? element.dataset.theme === "dark" : preference.matches);
  app.switchTheme = () => {
    element.dataset.theme = app.isDark() ? "light" : "dark";
    remember("theme", element.dataset.theme);
    events.emit("theme");
    app.stage.draw();
  };

  const banner = make("div", { class: "banner", role: "alert", "data-role": "banner", hidden: true });
  const note = make("div", { class: "toast", role: "status", hidden: true });
  let noteTimer = 0;
  function toast(text, bad) {
    note.textContent = text;
    note.classList.toggle("bad", Boolean(bad));
    note.hidden = false;
    clearTimeout(noteTimer);
    noteTimer = setTimeout(() => {
      note.hidden = true;
    }, 6000);
  }
  function showStale() {
    app.stage.element.classList.toggle("stale", !app.good || Boolean(app.failure));
  }

  const element = make("div", { class: "diderot-view", tabindex: "-1" });
  app.element = element;
  app.root = root;
  root.diderot = { frame: null, pixel: (i, j, k = 0) => (app.frame?.header.type === "picture" ? pixelValues(app.frame, [i, j, k]) : null), app };
  const theme = remembered("theme", "");
  if (theme === "light" || theme === "dark") element.dataset.theme = theme;
  app.stage = createStage(app);
  const status = createStatus(app);
  const messages = createMessages(app);
  const topBar = createTopBar(app);
  const display = createDisplay(app);
  const controls = createControls(app);
  const resizer = createResizer(app);
  const help = createHelp(app);
  const hints = createHints(app);
  Object.assign(app, { openExport: topBar.openExport, nextMap: display.nextMap });
  element.append(
    topBar.element,
    make("main", { class: "stage-column" }, make("div", { class: "stage-holder" }, app.stage.element, hints.element, messages.element, banner, note), status.line),
    resizer.element,
    make("aside", { class: "panel", "aria-label": "Inputs and display" }, controls.element, display.element),
    status.commandBar, help.element);
  root.append(element);
  element.style.setProperty("--panel", app.panelWidth + "px");

  const preference = globalThis.matchMedia("(prefers-color-scheme: dark)");
  const onPreference = () => {
    events.emit("theme");
    app.stage.draw();
  };
  preference.addEventListener("change", onPreference);
  const keyTarget = options.own ? document : element;
  const onKey = (event) => handleKey(app, event);
  keyTarget.addEventListener("keydown", onKey);

  for (const event of ["interface", "status", "messages", "command", "connection", "theme", "view"]) events.emit(event);
  app.stage.refresh();
  transport.onText(onText);
  transport.onBinary(onBinary);
  transport.onState(onState);

  return function unmount() {
    ended = true;
    cancelAnimationFrame(scheduled);
    for (const timer of [exactTimer, rangeTimer, noteTimer]) clearTimeout(timer);
    preference.removeEventListener("change", onPreference);
    keyTarget.removeEventListener("keydown", onKey);
    app.stage.stop();
    element.remove();
    delete root.diderot;
  };
}
