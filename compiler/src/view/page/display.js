// The panel that says how values are shown. Nothing in it runs the program again.

import { AS_COLOR, AS_MAGNITUDE, colorChannels } from "./grid.js";
import { automaticFog, automaticSize, colorSections, isColorSection } from "./geometry.js";
import { createHistogram } from "./histogram.js";
import { icon, iconButton, make, remember, remembered } from "./dom.js";
import { formatCount, hexOfColor } from "./values.js";
import { numberField, sliderField } from "./fields.js";

// What a new output is shown with.
export function defaultDisplay() {
  return { channel: AS_COLOR, rangeMode: null, low: 0, high: 1, gamma: 1, map: null, hatched: false, background: "checker", smooth: "auto", slice: null, colorBy: undefined, size: null, fog: null, flip: false, box: true, rounded: true };
}

const MODES = [["full", "Least to greatest"], ["percent", "1 to 99 %"], ["unit", "0 to 1"], ["own", "Own range"]];

export function createDisplay(app) {
  const display = () => app.display();
  const changed = (again = false) => app.displayChanged(again);
  const row = (label, ...parts) => make("div", { class: "display-row" }, make("span", { class: "display-label", text: label }), make("div", { class: "display-parts" }, parts));
  const choice = (label, options, onchange) => make("select", { "aria-label": label, onchange }, options.map(([value, text]) => make("option", { value, text })));
  const flag = (label, onchange) => {
    const box = make("input", { type: "checkbox", class: "switch", role: "switch", "aria-label": label, onchange: () => onchange(box.checked) });
    return box;
  };

  const channel = choice("Channel", [], () => {
    display().channel = [AS_COLOR, AS_MAGNITUDE].includes(channel.value) ? channel.value : Number(channel.value);
    display().rangeMode = null;
    changed(true);
  });
  const channelRow = row("Channel", channel);

  const axis = choice("Axis of the slices", [["0", "x"], ["1", "y"], ["2", "z"]], () => setSlice({ axis: Number(axis.value), index: null }));
  let sliceControl = { kind: "slider", low: 0, high: 1, step: 1 };
  const sliceNumber = numberField({ label: "Slice", integer: true, change: (index) => setSlice({ ...display().slice, index }) });
  const sliceHolder = make("div", { class: "slice-slider" });
  let sliceSlider = null;
  const sliceRow = row("Slice", axis, sliceHolder, sliceNumber.element);
  function setSlice(slice) {
    const full = app.frame?.header.full ?? [1, 1, 1];
    const most = (full[slice.axis] ?? 1) - 1;
    display().slice = { axis: slice.axis, index: Math.min(most, Math.max(0, slice.index ?? Math.floor(most / 2))) };
    changed(true);
  }

  const mode = choice("Range", MODES, () => {
    if (mode.value === "own") [display().low, display().high] = app.stage.range;
    display().rangeMode = mode.value;
    changed();
    app.rangeChanged();
  });
  const ownRange = (range, exact) => {
    Object.assign(display(), { rangeMode: "own", low: range[0], high: range[1] });
    if (exact) app.wantExact();
    changed();
    app.rangeChanged();
  };
  const low = numberField({ label: "Low end of the range", change: (x) => ownRange([x, app.stage.range[1]], true) });
  const high = numberField({ label: "High end of the range", change: (x) => ownRange([app.stage.range[0], x], true) });
  const histogram = createHistogram((range) => ownRange(range, true));
  const counts = make("span", { class: "range-note" });
  const rangeArea = make("div", { class: "range-area" }, histogram.element, make("div", { class: "range-row" }, low.element, mode, high.element), counts);

  const mapList = make("div", { class: "map-list", role: "listbox", "aria-label": "Colour maps", hidden: true });
  const mapSwatch = make("canvas", { class: "swatch" });
  const mapName = make("span", { class: "map-name" });
  const mapButton = make("button", { type: "button", class: "map-button", "aria-haspopup": "listbox", title: "Choose a colour map", onclick: () => showMaps(mapList.hidden) }, mapSwatch, mapName, icon("chevron"));
  const mapRow = make("div", { class: "display-row map-row" }, make("span", { class: "display-label", text: "Colours" }), mapButton, mapList);
  function showMaps(on) {
    mapList.hidden = !on;
    if (!on) return;
    mapList.replaceChildren(...app.maps.map((map) => {
      const swatch = make("canvas", { class: "swatch" });
      drawSwatch(swatch, map.colors);
      return make("button", { type: "button", role: "option", class: "map-option", "aria-selected": String(map === app.map(display().map)), onclick: () => {
        display().map = map.name;
        showMaps(false);
        changed();
        mapButton.focus();
      } }, swatch, make("span", { text: map.name }));
    }));
    (mapList.querySelector("[aria-selected=true]") ?? mapList.firstElementChild)?.focus();
  }
  mapRow.addEventListener("keydown", (event) => {
    const options = [...mapList.children];
    const at = options.indexOf(mapRow.getRootNode().activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && !mapList.hidden) {
      event.stopPropagation();
      showMaps(false);
      mapButton.focus();
    } else if (step && at >= 0) {
      event.preventDefault();
      options[(at + step + options.length) % options.length].focus();
    }
  });
  mapRow.addEventListener("focusout", (event) => {
    if (!mapRow.contains(event.relatedTarget)) mapList.hidden = true;
  });

  const slide = (label, control, put, get) => {
    const number = numberField({ label, change: (x) => put(x) });
    const slider = sliderField({ label, control, change: (x, dragging) => dragging !== "end" && put(x), reset: () => put(null) });
    return { element: row(label, slider.element, number.element), show: () => {
      number.show(get());
      slider.show(get(), null);
    } };
  };
  const gamma = slide("Gamma", { low: 0.2, high: 5, log: true }, (x) => {
    display().gamma = Math.min(20, Math.max(0.05, x ?? 1));
    changed();
  }, () => display().gamma);
  const size = slide("Size", { low: 0.5, high: 20, log: true }, (x) => {
    display().size = x === null ? null : Math.min(100, Math.max(0.1, x));
    changed();
  }, () => display().size ?? Number(automaticSize(app.frame, app.stage.element.clientHeight).toPrecision(2)));
  const fog = slide("Depth", { low: 0, high: 1 }, (x) => {
    display().fog = x === null ? null : Math.min(1, Math.max(0, x));
    changed();
  }, () => display().fog ?? automaticFog(app.frame));
  const colorBy = choice("Colour by", [], () => {
    display().colorBy = colorBy.value || null;
    display().rangeMode = null;
    changed(true);
  });
  const colorRow = row("Colour by", colorBy);
  const box = flag("Box around everything", (on) => {
    display().box = on;
    changed();
  });
  const boxRow = row("Box", box);
  const flip = flag("The second coordinate grows downwards", (on) => {
    display().flip = on;
    changed();
  });
  const flipRow = row("y downwards", flip);
  const rounded = flag("Shade by the output's normals", (on) => {
    display().rounded = on;
    changed();
  });
  const roundedRow = row("Normals", rounded);

  const hatched = flag("Hatch values outside of the range", (on) => {
    display().hatched = on;
    changed();
  });
  const hatchRow = row("Hatch clipped", hatched);
  const smooth = choice("Pixels", [["auto", "Automatic"], ["pixels", "Sharp"], ["smooth", "Smooth"]], () => {
    display().smooth = smooth.value;
    changed();
  });
  const smoothRow = row("Pixels", smooth);
  const background = choice("Background", [["checker", "Checkerboard"], ["white", "White"], ["black", "Black"], ["page", "Page"], ["own", "Own colour"]], () => {
    display().background = background.value === "own" ? ownColor.value : background.value;
    changed();
  });
  const ownColor = make("input", { type: "color", class: "color", value: hexOfColor([0.5, 0.5, 0.5]), "aria-label": "Own background", oninput: () => {
    display().background = ownColor.value;
    changed();
  } });
  const backgroundRow = row("Background", background, ownColor);

  const rows = { channel: channelRow, slice: sliceRow, range: rangeArea, map: mapRow, gamma: gamma.element, color: colorRow, size: size.element, fog: fog.element, box: boxRow, flip: flipRow, rounded: roundedRow, hatch: hatchRow, smooth: smoothRow, background: backgroundRow };
  const body = make("div", { class: "display-body" }, [rows.channel, rows.color, rows.slice, rows.range, rows.map, rows.gamma, rows.size, rows.fog, rows.hatch, rows.smooth, rows.background, rows.box, rows.rounded, rows.flip]);
  const fold = iconButton("chevron", "Fold the display panel", () => setOpen(!element.classList.contains("open")), { class: "icon-button fold" });
  const element = make("section", { class: "display-area", "aria-label": "Display", hidden: true },
    make("header", { class: "section-head" }, make("h2", { text: "Display" }),
      make("button", { type: "button", class: "plain-button", text: "Reset", title: "Show this output as at first", onclick: () => app.resetDisplay() }), fold), body);
  function setOpen(on) {
    element.classList.toggle("open", on);
    fold.setAttribute("aria-expanded", String(on));
    remember("display", on ? "open" : "folded");
    if (on) refresh();
  }

  function visibleRows(frame) {
    const kind = app.stage.kind;
    const { header } = frame;
    if (kind === "table") return [];
    if (kind === "curve") return ["range", ...(header.channels > 1 ? ["channel"] : [])];
    if (kind === "geometry") {
      const sections = colorSections(frame);
      const mapped = sections.some((section) => section.name === display().colorBy && !isColorSection(section));
      return [...(sections.length > 0 ? ["color"] : []), ...(mapped ? ["range", "map", "gamma"] : []), ...(header.kind === "triangles" ? [] : ["size"]),
        ...(header.dimension === 3 ? ["fog", "box"] : ["flip"]), ...(header.kind === "triangles" && Object.keys(frame.sections).some((name) => /normal/i.test(name)) ? ["rounded"] : [])];
    }
    const colors = display().channel === AS_COLOR;
    return ["range", "gamma", "hatch", "smooth", ...(header.channels > 1 ? ["channel"] : []), ...(header.size.length === 3 ? ["slice"] : []), ...(colors ? [] : ["map"]), ...(colors && header.alpha ? ["background"] : [])];
  }

  function setOptions(select, options) {
    const key = JSON.stringify(options);
    if (select.dataset.key === key) return;
    select.dataset.key = key;
    select.replaceChildren(...options.map(([value, text]) => make("option", { value, text })));
  }

  function refresh() {
    const { frame, stage } = app;
    element.hidden = !frame || stage.kind === "table";
    if (element.hidden || !element.classList.contains("open")) return;
    const look = display();
    const visible = visibleRows(frame);
    for (const [name, part] of Object.entries(rows)) part.hidden = !visible.includes(name);
    const { header } = frame;
    if (visible.includes("channel")) {
      const single = Array.from({ length: Math.min(256, header.channels) }, (_, k) => [String(k), colorChannels(header) && k < 4 && header.channels > 2 ? ["Red", "Green", "Blue", header.alpha ? "Opacity" : "Fourth"][k] : `Component ${k}`]);
      setOptions(channel, [...(colorChannels(header) || stage.kind === "curve" ? [[AS_COLOR, stage.kind === "curve" ? "All" : "Colour"]] : []), ...(stage.kind === "curve" ? [] : [[AS_MAGNITUDE, "Magnitude"]]), ...single]);
      channel.value = String(look.channel);
    }
    if (visible.includes("slice")) showSlice(header, look);
    if (visible.includes("color")) {
      setOptions(colorBy, [["", "One colour"], ...colorSections(frame).map((section) => [section.name, section.name])]);
      colorBy.value = look.colorBy ?? "";
    }
    const map = app.map(look.map);
    if (visible.includes("map")) {
      drawSwatch(mapSwatch, map.colors);
      mapName.textContent = map.name;
    }
    if (visible.includes("range")) {
      const colors = stage.kind === "curve" || (stage.kind === "picture" && look.channel === AS_COLOR);
      mode.value = look.rangeMode ?? "full";
      low.show(stage.range[0]);
      high.show(stage.range[1]);
      histogram.show({ statistics: stage.statistics, range: stage.range, map, gamma: look.gamma, diverging: map.diverging && !colors, colors });
      counts.textContent = stage.statistics.nan > 0 ? `${formatCount(stage.statistics.nan)} ${stage.statistics.nan === 1 ? "value is not a number" : "values are not numbers"}` : "";
      counts.hidden = counts.textContent === "";
    }
    gamma.show();
    size.show();
    fog.show();
    hatched.checked = look.hatched;
    box.checked = look.box;
    flip.checked = look.flip;
    rounded.checked = look.rounded;
    smooth.value = look.smooth;
    const named = ["checker", "white", "black", "page"].includes(look.background);
    background.value = named ? look.background : "own";
    ownColor.hidden = named;
  }

  function showSlice(header, look) {
    const slice = look.slice ?? { axis: 2, index: 0 };
    const most = Math.max(1, header.full[slice.axis] - 1);
    axis.value = String(slice.axis);
    if (!sliceSlider || sliceControl.high !== most) {
      sliceControl = { kind: "slider", low: 0, high: most, step: 1 };
      sliceSlider = sliderField({ label: "Slice", control: sliceControl, change: (index, dragging) => dragging !== "end" && setSlice({ ...display().slice, index }) });
      sliceHolder.replaceChildren(sliceSlider.element);
    }
    sliceSlider.show(slice.index, null);
    sliceNumber.show(slice.index);
  }

  setOpen(remembered("display", "open") === "open");
  for (const event of ["frame", "display", "view", "theme"]) app.events.on(event, refresh);
  return { element, nextMap: () => {
    const at = app.maps.indexOf(app.map(display().map));
    if (app.maps.length > 0) display().map = app.maps[(at + 1) % app.maps.length].name;
    changed();
  } };
}

function drawSwatch(canvas, colors) {
  if (canvas.shown === colors) return;
  canvas.shown = colors;
  canvas.width = 256;
  canvas.height = 1;
  canvas.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(colors), 256, 1), 0, 0);
}
