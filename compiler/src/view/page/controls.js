// The panel of inputs: a row for each, those of modules in groups of their own.

import { columnsOf, parseNumbers, sameValue } from "./values.js";
import { colorField, directionField, numberField, numbersField, sliderField } from "./fields.js";
import { icon, iconButton, make, remember, remembered } from "./dom.js";

const FIELDS_AT_MOST = 36;

export function createControls(app) {
  const list = make("div", { class: "inputs" });
  const resetAll = make("button", { type: "button", class: "plain-button", title: "Set all inputs to their defaults", onclick: () => app.resetInputs([...app.inputs.keys()]) }, "Reset all");
  const element = make("section", { class: "inputs-area", "aria-label": "Inputs" },
    make("header", { class: "section-head" }, make("h2", { text: "Inputs" }), resetAll), list);
  let rows = new Map();
  let shape = "";

  // Rows are made anew only if the program has other inputs than before, so that nothing flickers and nobody loses the field they type in.
  function rebuild() {
    if (!app.iface) return;
    const specs = [...app.inputs.values()].map((input) => input.spec);
    const next = JSON.stringify(specs.map(({ name, type, description, module, control }) => [name, type, description, module, control]));
    if (next !== shape) {
      shape = next;
      rows = new Map();
      const groups = new Map([[null, []]]);
      for (const spec of specs) {
        const row = createRow(app, spec);
        rows.set(spec.name, row);
        const module = spec.module ?? null;
        if (!groups.has(module)) groups.set(module, []);
        groups.get(module).push(row.element);
      }
      list.replaceChildren(...[...groups].map(([module, elements]) => (module === null ? plainGroup(elements, groups.size) : moduleGroup(module, elements))));
    }
    showValues();
  }

  function plainGroup(elements, groups) {
    if (elements.length > 0) return make("div", { class: "group" }, elements);
    return make("p", { class: "hint", text: groups > 1 ? "The program has no inputs of its own." : "The program has no inputs." });
  }

  function moduleGroup(module, elements) {
    const count = make("span", { class: "badge", hidden: true });
    const group = make("details", { class: "group module", "data-module": module },
      make("summary", {}, icon("chevron"), make("span", { class: "module-name", text: module }), count), elements);
    group.open = remembered("open." + module, "no") === "yes";
    group.addEventListener("toggle", () => remember("open." + module, group.open ? "yes" : "no"));
    group.countSet = () => {
      const set = [...app.inputs.values()].filter((input) => input.spec.module === module && input.isSet).length;
      count.hidden = set === 0;
      count.textContent = `${set} set`;
    };
    return group;
  }

  function showValues() {
    for (const [name, row] of rows) row.show(app.inputs.get(name));
    list.querySelectorAll("details").forEach((group) => group.countSet?.());
    resetAll.disabled = ![...app.inputs.values()].some((input) => input.isSet);
  }

  app.events.on("interface", rebuild);
  app.events.on("values", showValues);
  app.events.on("value", (name) => {
    const input = app.inputs.get(name);
    if (input) rows.get(name)?.show(input);
    list.querySelectorAll("details").forEach((group) => group.countSet?.());
    resetAll.disabled = ![...app.inputs.values()].some((entry) => entry.isSet);
  });
  return { element };
}

function createRow(app, spec) {
  const { name, control } = spec;
  const change = (value, dragging) => {
    if (dragging === "end") app.endDrag();
    else app.setInputs({ [name]: value }, dragging);
  };
  const reset = () => app.resetInputs([name]);
  const fixed = control?.kind === "fixed";
  const resetButton = fixed ? null : iconButton("reset", `Set ${name} to its default`, reset, { class: "icon-button reset" });
  const title = make("span", { class: "input-name", text: name, title: `${spec.type ?? ""}${spec.type ? "  " : ""}${name}\nDouble click: set to the default` });
  if (!fixed) title.addEventListener("dblclick", reset);
  const description = spec.description ? make("span", { class: "input-description", text: spec.description, title: spec.description }) : null;
  const { head, below, show } = controlOf(app, spec, change, reset);
  const element = make("div", { class: `input-row kind-${control?.kind ?? "text"}`, "data-input": name },
    make("div", { class: "input-head" }, make("div", { class: "input-title" }, title, description), resetButton, head), below);
  return {
    element,
    show(input) {
      if (!input) return;
      const isDefault = !input.isSet || (spec.default !== null && sameValue(input.value, spec.default));
      element.classList.toggle("is-default", isDefault);
      show(input.value, spec.default);
    },
  };
}

// The parts of a row: `head` is beside the name, `below` under it.
function controlOf(app, spec, change, reset) {
  const { name, control, type } = spec;
  const integer = String(type).startsWith("int");
  const kind = control?.kind;
  if (kind === "slider") {
    const field = numberField({ label: name, integer, step: control.step, change });
    const slider = sliderField({ label: name, control: { ...control, step: control.step ?? (integer ? 1 : null) }, reset, change: (value, dragging) => {
      field.show(value);
      change(value, dragging);
    } });
    return { head: field.element, below: slider.element, show: (value, standard) => {
      field.show(value);
      slider.show(value, standard);
    } };
  }
  if (kind === "color") {
    const field = colorField({ label: name, count: Array.isArray(spec.value) ? spec.value.length : /4/.test(type) ? 4 : 3, change });
    return { below: field.element, show: field.show };
  }
  if (kind === "direction") {
    const field = directionField({ label: name, change, camera: () => (name === app.iface?.camera?.up ? null : app.camera()) });
    return { below: field.element, show: field.show };
  }
  if (kind === "choice") {
    const options = (Array.isArray(control.choices) ? control.choices : []).map((choice) => make("option", { value: choice, text: choice }));
    const select = make("select", { "aria-label": name, onchange: () => change(select.value, false) }, options);
    return { head: select, show: (value) => {
      select.value = value;
    } };
  }
  if (kind === "flag") {
    const box = make("input", { type: "checkbox", class: "switch", role: "switch", "aria-label": name, onchange: () => change(box.checked, false) });
    return { head: box, show: (value) => {
      box.checked = value === true;
    } };
  }
  if (kind === "numbers") return numbersOf(spec, control, integer, change);
  if (kind === "fixed") {
    const text = make("span", { class: "fixed-value" });
    return { below: text, show: (value) => {
      const shown = Array.isArray(value) ? value.join(" ") : String(value ?? "–");
      text.textContent = shown;
      text.title = `${shown}\nSet on the command line`;
    } };
  }
  const field = make("input", { class: "text-field", type: "text", spellcheck: "false", "aria-label": name, onchange: () => change(field.value, false), onkeydown: (event) => event.stopPropagation() });
  return { below: field, show: (value) => {
    if (field !== field.getRootNode().activeElement) field.value = value ?? "";
  } };
}

// Numbers in fields of their own, or one text if there are many or their count may change.
function numbersOf(spec, control, integer, change) {
  const { name, type } = spec;
  const count = control.count ?? (Array.isArray(spec.value) ? spec.value.length : 1);
  if (count === 1 && !Array.isArray(spec.value)) {
    const field = numberField({ label: name, integer, change });
    return { head: field.element, show: field.show };
  }
  if (count >= 1 && count <= FIELDS_AT_MOST) {
    const field = numbersField({ label: name, count, columns: columnsOf(type, count), integer, change });
    return { below: field.element, show: field.show };
  }
  const field = make("textarea", { class: "text-field", rows: "3", spellcheck: "false", "aria-label": `${name}, numbers with spaces between them` });
  field.addEventListener("keydown", (event) => event.stopPropagation());
  field.addEventListener("input", () => field.classList.toggle("wrong", parseNumbers(field.value) === null));
  field.addEventListener("change", () => {
    const numbers = parseNumbers(field.value);
    if (numbers) change(numbers, false);
  });
  return { below: field, show: (value) => {
    if (field !== field.getRootNode().activeElement) field.value = Array.isArray(value) ? value.join(" ") : "";
  } };
}
