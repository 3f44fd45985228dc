// The lines at the bottom: state of the run, what is under the mouse, messages, and the equivalent command line.

import { allMessages } from "./messages.js";
import { copyText, icon, iconButton, make, setIcon } from "./dom.js";
import { formatCount, formatNumber, formatTime, hexOfColor } from "./values.js";

const STATES = { running: "Running", idle: "Done", paused: "Paused", failed: "Failed" };

export function createStatus(app) {
  const dot = make("span", { class: "dot" });
  const state = make("span", { class: "state" });
  const facts = make("span", { class: "facts" });
  const stop = make("button", { type: "button", class: "plain-button stop", text: "Stop", title: "End this run", hidden: true, onclick: () => app.run("stop") });
  const warnings = make("button", { type: "button", class: "chip", hidden: true, onclick: () => app.showMessages(!app.messagesShown()) });
  const printed = make("button", { type: "button", class: "chip", hidden: true, title: "Text that the program printed (T)", onclick: () => app.showPrinted(!app.printedShown()) }, icon("text"), make("span", { text: "Printed" }));
  const swatch = make("span", { class: "read-swatch", hidden: true });
  const readout = make("span", { class: "readout", "data-role": "readout" });
  const bar = make("div", { class: "progress-bar" });
  const progress = make("div", { class: "progress", role: "progressbar", "aria-label": "Progress", "aria-valuemin": "0", "aria-valuemax": "100" }, bar);
  const line = make("div", { class: "status-line", "data-role": "status" }, progress, make("div", { class: "status-left" }, dot, state, facts, stop, warnings, printed), make("div", { class: "status-right" }, readout, swatch));

  const command = make("code", { class: "command-text", "data-role": "command", tabindex: "0", "aria-label": "Equivalent command line" });
  const copy = iconButton("copy", "Copy the command line (C)", () => app.copyCommand());
  const commandBar = make("footer", { class: "command-bar", title: "The command that makes this picture" }, make("span", { class: "prompt", text: "$", "aria-hidden": "true" }), command, copy);

  function showState() {
    const { state: now, fraction, step, active, stable, dead, milliseconds } = app.status;
    const known = !app.connected ? "waiting" : !app.good ? "failed" : app.failure ? "failed" : now ?? "waiting";
    dot.className = `dot ${known}`;
    state.textContent = !app.connected ? "No connection" : !app.good ? "Not compiled" : app.failure ? "Failed" : STATES[now] ?? "Starting";
    const header = app.frame?.header;
    const parts = [];
    if (typeof fraction === "number" && now === "running") parts.push(`${Math.round(fraction * 100)} %`);
    if (app.iface?.evolves) {
      if (typeof step === "number") parts.push(`step ${formatCount(step)}`);
      for (const [count, word] of [[active, "active"], [stable, "stable"], [dead, "dead"]]) if (typeof count === "number" && (count > 0 || word === "active")) parts.push(`${formatCount(count)} ${word}`);
    }
    if (typeof milliseconds === "number") parts.push(formatTime(milliseconds));
    if (header?.type === "picture") parts.push(header.full.map(formatCount).join(" × ") + (header.stride > 1 ? `, every ${ordinal(header.stride)}` : ""));
    if (header?.type === "geometry") parts.push(geometryText(app.frame));
    facts.textContent = parts.join(" · ");
    const part = now === "running" && typeof fraction === "number" ? Math.min(1, Math.max(0, fraction)) : 0;
    bar.style.transform = `scaleX(${part})`;
    progress.classList.toggle("on", now === "running" && app.connected);
    progress.classList.toggle("unknown", now === "running" && app.connected && typeof fraction !== "number");
    progress.setAttribute("aria-valuenow", String(Math.round(part * 100)));
    stop.hidden = !(now === "running" && !app.iface?.evolves && app.runningLong());
  }

  function showMessagesChip() {
    const items = allMessages(app);
    const count = (severity) => items.filter((item) => item.severity === severity).length;
    const text = [["error", "errors"], ["warning", "warnings"], ["note", "notes"]].map(([one, several]) => (count(one) === 0 ? null : count(one) === 1 ? `1 ${one}` : `${count(one)} ${several}`)).filter(Boolean).join(", ");
    warnings.hidden = text === "";
    warnings.className = `chip ${count("error") ? "error" : count("warning") ? "warning" : "note"}`;
    warnings.replaceChildren(icon("warning"), make("span", { text }));
    warnings.setAttribute("aria-pressed", String(app.messagesShown()));
    printed.hidden = app.printed === "" && !app.printedShown();
    printed.setAttribute("aria-pressed", String(app.printedShown()));
  }

  app.copyCommand = async () => {
    if (!app.command || !(await copyText(app.command, app.element))) return;
    setIcon(copy, "check", "Copied");
    setTimeout(() => setIcon(copy, "copy", "Copy the command line (C)"), 1200);
  };

  for (const event of ["status", "frame", "connection", "messages", "interface"]) app.events.on(event, showState);
  for (const event of ["messages", "drawers", "printed"]) app.events.on(event, showMessagesChip);
  app.events.on("command", () => {
    command.textContent = app.command;
    copy.disabled = !app.command;
  });
  app.events.on("readout", (found) => {
    readout.textContent = found ? readoutText(found) : "";
    const color = found && app.stage.kind === "picture" && app.display().channel === "color" && found.values.slice(0, 3).every(Number.isFinite);
    swatch.hidden = !color;
    if (color) swatch.style.background = hexOfColor(found.values.length < 3 ? [found.values[0], found.values[0], found.values[0]] : found.values);
  });
  return { line, commandBar };
}

// "61 points", or "10 lines, 1,200 points": the count of lines is that of their points.
function geometryText({ header, sections, points }) {
  const count = `${formatCount(header.count ?? points)}${header.total > header.count ? ` of ${formatCount(header.total)}` : ""}`;
  return header.kind === "lines" ? `${formatCount(sections.lengths.values.length)} lines, ${count} points` : `${count} ${header.kind}`;
}

function ordinal(n) {
  const endings = { 1: "st", 2: "nd", 3: "rd" };
  return `${n}${(n % 100 > 10 && n % 100 < 14 ? null : endings[n % 10]) ?? "th"} pixel`;
}

// "[12, 40]  at (0.5, 1.2)  0.25  0.5  0.75"
export function readoutText({ index, values, world, pinned }) {
  const list = (numbers) => numbers.slice(0, 9).map((x) => formatNumber(x, 6)).join("  ") + (numbers.length > 9 ? "  …" : "");
  const parts = [`[${index.join(", ")}]`];
  if (world) parts.push(`(${world.map((x) => formatNumber(x)).join(", ")})`);
  parts.push(list(values));
  if (pinned && pinned.length > 0) parts.push(`pinned ${list(pinned)}`);
  return parts.join("   ");
}
