// The middle of the page: shows the last frame in the way it needs, and turns movements of the mouse into changes of the camera,
// of the plane, or of the view of the picture.

import { AS_COLOR, fittingChannel, panView, pictureRect, planeOf, rangeOf, serverStatistics, statisticsOf, zoomView } from "./grid.js";
import { dollyCamera, fitCamera, orbitCamera, panCamera, panPlane, tidyVec, wheelFactor, zoomPlane } from "./camera.js";
import { make, onDrag } from "./dom.js";
import { openGraphics } from "./gl.js";
import { GeometryView, colorSections, isColorSection } from "./geometry.js";
import { PictureView } from "./picture.js";
import { drawPlot, plotIndex } from "./plot.js";
import { tableElement } from "./table.js";
import { pixelValues, worldPosition } from "./protocol.js";
import { formatNumber } from "./values.js";

const STAGE_MARGIN = 16;

export function colorParts(css) {
  const parts = (css.match(/[\d.]+/g) ?? ["0", "0", "0"]).slice(0, 3).map(Number);
  return parts.map((x) => x / 255);
}

export function createStage(app) {
  const canvas = make("canvas", { class: "surface", "data-role": "picture", "aria-label": "Picture", role: "img" });
  const plot = make("canvas", { class: "surface", "data-role": "plot", hidden: true });
  const table = make("div", { class: "table-area", "data-role": "table", hidden: true });
  const divider = make("div", { class: "divider", role: "separator", tabindex: "0", "aria-label": "Divider between the pinned and the live picture", "aria-orientation": "vertical", hidden: true },
    make("span", { class: "divider-label left", text: "pinned" }), make("span", { class: "divider-label right", text: "live" }));
  const label = make("div", { class: "stage-label", hidden: true });
  const empty = make("div", { class: "empty", text: "" });
  const element = make("div", { class: "stage", tabindex: "0", "aria-label": "Picture area" }, canvas, plot, table, divider, label, empty);

  const stage = { element, canvas, view: { zoom: 1, x: 0.5, y: 0.5 }, kind: null, own: null, statistics: serverStatistics({}), range: [0, 1], plane: null, reach: 1, tool: "input", drawnSize: [0, 0] };
  let gl = null;
  let picture = null;
  let geometry = null;
  let hover = null;

  function startGraphics() {
    gl = openGraphics(canvas);
    if (!gl) {
      stage.failure = "This browser has no WebGL 2, so pictures cannot be shown. Use a current browser, or allow hardware acceleration in its settings.";
      return;
    }
    try {
      picture = new PictureView(gl);
      geometry = new GeometryView(gl);
      stage.failure = null;
    } catch (error) {
      stage.failure = "The graphics of this browser cannot show pictures: " + error.message;
      picture = geometry = null;
    }
  }
  startGraphics();
  canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => {
    startGraphics();
    stage.refresh();
  });

  const frameKind = (frame) => {
    if (!frame) return null;
    if (frame.header.type === "picture") return frame.header.size.length === 1 ? "curve" : "picture";
    return frame.header.type;
  };

  const full = () => stage.plane?.full ?? [1, 1];
  const dpr = () => canvas.width / Math.max(1, canvas.clientWidth);
  const cssRect = () => pictureRect(stage.view, full(), canvas.clientWidth, canvas.clientHeight, STAGE_MARGIN);
  stage.rect = cssRect;

  // Makes everything that depends on the frame and on the channel; called for new frames and new choices of the display.
  stage.refresh = () => {
    const frame = app.frame;
    stage.kind = frameKind(frame);
    canvas.hidden = !(stage.kind === "picture" || stage.kind === "geometry") || Boolean(stage.failure);
    plot.hidden = stage.kind !== "curve";
    table.hidden = stage.kind !== "table";
    empty.textContent = stage.failure && (!stage.kind || stage.kind === "picture" || stage.kind === "geometry") ? stage.failure : frame ? "" : app.waitingText();
    empty.hidden = empty.textContent === "";
    if (!frame) return;
    const display = app.display();
    if (stage.kind === "picture") refreshPicture(frame, display);
    display.rangeMode ??= stage.kind === "picture" && display.channel === AS_COLOR ? "unit" : "full";
    if (stage.kind === "curve") {
      stage.plane = planeOf(frame, 0, null, 1e9);
      stage.statistics = serverStatistics(frame.header);
    }
    if (stage.kind === "geometry") refreshGeometry(frame, display);
    if (stage.kind === "table") {
      table.replaceChildren(tableElement(frame.header));
      stage.statistics = serverStatistics(frame.header);
    }
    stage.draw();
    showHover();
  };

  function refreshPicture(frame, display) {
    display.channel = fittingChannel(frame.header, display.channel);
    if (frame.header.size.length === 3) display.slice ??= { axis: 2, index: Math.floor((frame.header.full[2] - 1) / 2) };
    const plane = planeOf(frame, display.channel, display.slice, picture?.limit);
    stage.plane = plane;
    const whole = frame.header.channels === 1 || (display.channel === AS_COLOR && !frame.header.alpha);
    stage.statistics = whole ? serverStatistics(frame.header) : statisticsOf(plane, frame.header.alpha);
    if (frame.header.size.length === 3 && !whole) stage.statistics.note = "slice";
    picture?.setPlane("live", plane, frame.header.alpha);
    const pinned = app.pinned && frameKind(app.pinned) === "picture" && app.pinned.header.channels === frame.header.channels ? planeOf(app.pinned, display.channel, display.slice, picture?.limit) : null;
    picture?.setPlane("pinned", pinned, app.pinned?.header.alpha);
    stage.comparable = Boolean(pinned);
    stage.reach = pinned && app.compare === "difference" ? greatestDifference(plane, pinned) : 1;
  }

  function refreshGeometry(frame, display) {
    if (display.colorBy === undefined) display.colorBy = colorSections(frame).find(isColorSection)?.name ?? null;
    geometry?.setFrame(frame, display);
    stage.statistics = geometry?.statistics ?? serverStatistics({});
    if (!stage.own || stage.ownFor !== frame.header.dimension) {
      stage.ownFor = frame.header.dimension;
      stage.fit();
    }
  }

  stage.fit = () => {
    stage.view = { zoom: 1, x: 0.5, y: 0.5 };
    if (stage.kind === "geometry" && app.frame) {
      const bounds = geometry?.bounds ?? [[-1, -1, -1], [1, 1, 1]];
      stage.own = fitCamera(bounds, app.frame.header.dimension, canvas.clientWidth / Math.max(1, canvas.clientHeight));
    }
    stage.draw();
    app.events.emit("view");
  };

  // Sizes are set in the same task as the drawing, since setting them empties the canvas.
  stage.draw = () => {
    const ratio = Math.min(4, globalThis.devicePixelRatio || 1);
    const target = stage.kind === "curve" ? plot : canvas;
    if (target.hidden) return;
    const [width, height] = [Math.round(element.clientWidth * ratio), Math.round(element.clientHeight * ratio)];
    if (width < 1 || height < 1) return;
    if (target.width !== width || target.height !== height) {
      target.width = width;
      target.height = height;
    }
    if (!app.frame) return;
    const display = app.display();
    const map = app.map(display.map);
    const diverging = map.diverging && display.channel !== AS_COLOR;
    stage.range = rangeOf(display, stage.statistics, diverging);
    if (stage.kind === "curve") {
      stage.plotPlace = drawPlot(plot, ratio, app.frame, display, stage.range, element, hover?.index);
      return;
    }
    if (!gl || gl.isContextLost()) return;
    const outside = colorParts(getComputedStyle(element).backgroundColor);
    if (stage.kind === "picture" && picture) drawPicture(display, map, diverging, outside, ratio, width, height);
    if (stage.kind === "geometry" && geometry) {
      geometry.draw(stage.own, { display, map, range: stage.range, outside, dark: outside[0] < 0.5, ratio, ink: colorParts(getComputedStyle(element).color) });
    }
    placeDivider();
  };

  function drawPicture(display, map, diverging, outside, ratio, width, height) {
    const rect = pictureRect(stage.view, full(), width, height, STAGE_MARGIN * ratio);
    picture.setMap("map", map.colors);
    picture.setMap("differenceMap", app.differenceMap().colors);
    const backgrounds = { checker: null, white: [1, 1, 1], black: [0, 0, 0], page: outside };
    const smoothed = display.smooth === "smooth" || (display.smooth === "auto" && rect.scale < 4);
    picture.draw(rect, {
      range: stage.range, gamma: display.gamma, diverging, hatched: display.hatched, smoothed, outside,
      background: display.background in backgrounds ? backgrounds[display.background] : colorParts(display.background),
      split: app.compare === "split" ? app.splitAt * width : -1, difference: app.compare === "difference", reach: stage.reach,
    });
  }

  function placeDivider() {
    divider.hidden = !(stage.kind === "picture" && app.compare === "split" && stage.comparable);
    label.hidden = !(stage.kind === "picture" && app.compare === "difference" && stage.comparable);
    if (!label.hidden) label.textContent = `live − pinned, from −${formatNumber(stage.reach, 3)} to ${formatNumber(stage.reach, 3)}`;
    divider.style.left = app.splitAt * 100 + "%";
    divider.setAttribute("aria-valuenow", String(Math.round(app.splitAt * 100)));
  }
  const moveDivider = (place) => {
    app.splitAt = Math.min(1, Math.max(0, place));
    stage.draw();
  };
  onDrag(divider, (event) => {
    event.stopPropagation();
    return { move: (dx, dy, next) => moveDivider((next.clientX - element.getBoundingClientRect().left) / element.clientWidth) };
  });
  divider.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -0.02, ArrowRight: 0.02 }[event.key];
    if (step) moveDivider(app.splitAt + step);
  });

  // The picture as it is on the screen, without the space around it.
  stage.snapshot = () => new Promise((resolve) => {
    const source = stage.kind === "curve" ? plot : canvas;
    stage.draw();
    const rect = stage.kind === "picture" ? pictureRect(stage.view, full(), source.width, source.height, STAGE_MARGIN * dpr()) : { left: 0, top: 0, width: source.width, height: source.height };
    const left = Math.max(0, Math.round(rect.left));
    const top = Math.max(0, Math.round(rect.top));
    const copy = make("canvas");
    copy.width = Math.max(1, Math.min(source.width, Math.round(rect.left + rect.width)) - left);
    copy.height = Math.max(1, Math.min(source.height, Math.round(rect.top + rect.height)) - top);
    copy.getContext("2d").drawImage(source, -left, -top);
    copy.toBlob(resolve, "image/png");
  });

  // What the mouse moves: the inputs of the camera or of the plane, or what is on the screen.
  function grip(event) {
    if (stage.kind === "geometry") return "own";
    if (stage.kind !== "picture") return null;
    if (stage.tool === "view" || event.altKey || event.ctrlKey) return "view";
    if (app.camera()) return "camera";
    return app.plane(stage.rect()) ? "plane" : "view";
  }

  const sendCamera = (before, after, dragging) => {
    const names = app.iface.camera;
    const changed = {};
    if (after.eye !== before.eye) changed[names.eye] = tidyVec(after.eye);
    if (after.look !== before.look) changed[names.look] = tidyVec(after.look);
    if (after.fov !== before.fov && names.fov) changed[names.fov] = Number(after.fov.toPrecision(6));
    app.setInputs(changed, dragging);
  };
  const sendPlane = (after, dragging) => {
    const names = app.iface.plane;
    const size = app.inputs.get(names.height);
    const changed = { [names.center]: after.center.map((x) => Number(x.toPrecision(12))) };
    if (size && after.size !== size.value) changed[size.spec.name] = Number(after.size.toPrecision(9));
    app.setInputs(changed, dragging);
  };

  onDrag(element, (event) => {
    if (event.button > 2 || event.target === divider || table.contains(event.target)) return null;
    const mode = grip(event);
    if (!mode) return null;
    const pans = event.button !== 0 || event.shiftKey;
    const rect = stage.rect();
    element.classList.add("dragging");
    app.events.emit("gesture");
    const first = mode === "camera" ? app.camera() : mode === "plane" ? app.plane(rect) : mode === "own" ? stage.own : stage.view;
    let moved = false;
    return {
      move: (dx, dy) => {
        if (!moved && Math.hypot(dx, dy) < 2) return;
        moved = true;
        if (mode === "camera") sendCamera(first, pans ? panCamera(first, dx, dy, rect.height) : orbitCamera(first, dx, dy), true);
        else if (mode === "plane") sendPlane(panPlane(first, dx, dy), true);
        else if (mode === "own") moveOwn(first, dx, dy, pans);
        else {
          stage.view = panView(first, dx, dy, rect);
          app.later();
        }
      },
      end: () => {
        element.classList.remove("dragging");
        if (mode === "camera" || mode === "plane") app.endDrag();
      },
    };
  });

  function moveOwn(first, dx, dy, pans) {
    const flat = app.frame.header.dimension === 2;
    const flip = flat && app.display().flip ? -1 : 1;
    stage.own = pans || flat ? panCamera(first, dx, dy * flip, canvas.clientHeight) : orbitCamera(first, dx, dy);
    app.later();
  }

  element.addEventListener("contextmenu", (event) => event.preventDefault());
  element.addEventListener("wheel", (event) => {
    const mode = grip(event);
    if (!mode || table.contains(event.target)) return;
    event.preventDefault();
    app.events.emit("gesture");
    const amount = event.deltaY * (event.deltaMode === 1 ? 33 : event.deltaMode === 2 ? 300 : 1);
    const box = element.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    if (mode === "camera") {
      const before = app.camera();
      sendCamera(before, dollyCamera(before, amount), true);
    } else if (mode === "plane") {
      const rect = stage.rect();
      sendPlane(zoomPlane(app.plane(rect), amount, x - rect.left - rect.width / 2, y - rect.top - rect.height / 2), true);
    } else if (mode === "own") {
      zoomOwn(amount, x - canvas.clientWidth / 2, y - canvas.clientHeight / 2);
    } else {
      stage.zoom(1 / wheelFactor(1.5 * amount), x, y);
    }
  }, { passive: false });

  // Arrow keys do what drags do, for those who have no mouse.
  element.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const mode = way && event.target === element ? grip(event) : null;
    if (!mode) return;
    event.preventDefault();
    const [dx, dy] = way.map((x) => 25 * x);
    const rect = stage.rect();
    if (mode === "camera") {
      const before = app.camera();
      sendCamera(before, event.shiftKey ? panCamera(before, dx, dy, rect.height) : orbitCamera(before, dx, dy), true);
    } else if (mode === "plane") sendPlane(panPlane(app.plane(rect), dx, dy), true);
    else if (mode === "own") moveOwn(stage.own, dx, dy, event.shiftKey);
    else {
      stage.view = panView(stage.view, dx, dy, rect);
      app.later();
    }
  });

  // In the plane what is under the mouse stays there; in space the distance changes.
  function zoomOwn(amount, x, y) {
    const flat = app.frame.header.dimension === 2;
    const flip = flat && app.display().flip ? -1 : 1;
    const there = flat ? panCamera(stage.own, -x, -y * flip, canvas.clientHeight) : stage.own;
    const after = dollyCamera(there, amount);
    stage.own = flat ? panCamera(after, x, y * flip, canvas.clientHeight) : after;
    app.later();
  }

  stage.zoom = (factor, x = element.clientWidth / 2, y = element.clientHeight / 2) => {
    if (stage.kind === "geometry") zoomOwn(-Math.log(factor) / 0.0012, x - element.clientWidth / 2, y - element.clientHeight / 2);
    else if (stage.kind === "picture") stage.view = zoomView(stage.view, factor, full(), x, y, element.clientWidth, element.clientHeight, STAGE_MARGIN);
    app.later();
    app.events.emit("view");
  };

  element.addEventListener("pointermove", (event) => {
    const box = element.getBoundingClientRect();
    hover = { x: event.clientX - box.left, y: event.clientY - box.top };
    showHover();
  });
  element.addEventListener("pointerleave", () => {
    hover = null;
    showHover();
  });

  // Tells the status line what is under the mouse.
  function showHover() {
    let found = null;
    if (hover && app.frame && stage.kind === "picture") {
      const rect = stage.rect();
      const at = [Math.floor((hover.x - rect.left) / rect.scale), Math.floor((hover.y - rect.top) / rect.scale)];
      if (at.every((k, axis) => k >= 0 && k < full()[axis])) found = readout(at);
    } else if (hover && app.frame && stage.kind === "curve") {
      const before = hover.index;
      hover.index = plotIndex(stage.plotPlace, hover.x, app.frame.header.full[0]);
      if (hover.index !== null) found = { index: [hover.index], values: pixelValues(app.frame, [hover.index]), world: worldPosition(app.frame.header.place, [hover.index]) };
      if (before !== hover.index) app.later();
    }
    if (found && app.frame.header.encoding === "u8") app.wantExact();
    app.events.emit("readout", found);
  }

  function readout(at) {
    const position = [at[0], at[1]];
    if (app.frame.header.size.length === 3) {
      const slice = app.display().slice ?? { axis: 2, index: 0 };
      position.splice(slice.axis, 0, slice.index);
    }
    return { index: position, values: pixelValues(app.frame, position), world: worldPosition(app.frame.header.place, position), pinned: stage.comparable && app.compare ? pixelValues(app.pinned, position) : null };
  }

  const watcher = new ResizeObserver(() => {
    stage.draw();
    app.events.emit("view");
  });
  watcher.observe(element);
  stage.stop = () => {
    watcher.disconnect();
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
  };
  return stage;
}

// The greatest difference between two planes, over some of their samples, for the range of the difference picture.
function greatestDifference(a, b) {
  const count = Math.min(a.samples.length, b.samples.length);
  if (a.width !== b.width || a.height !== b.height || a.encoding !== "f32" || b.encoding !== "f32") return 1;
  const skip = Math.max(1, Math.floor(count / 300000));
  let most = 0;
  for (let k = 0; k < count; k += skip) {
    const d = Math.abs(a.samples[k] - b.samples[k]);
    if (d > most && Number.isFinite(d)) most = d;
  }
  return most || 1;
}
