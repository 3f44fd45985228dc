// What the server's text messages change. Values of the wrong kind are taken as missing, so that no message can stop the page.

import { decodeColors } from "./grid.js";
import { decodeText } from "./protocol.js";

// The hooks do what only the mounted viewer can: welcomed(), showStale(), sendShow() and named(program).
export function createReceiver(app, hooks) {
  const { events, sender } = app;
  let fresh = true;

  const handlers = {
    welcome(message) {
      fresh = true;
      app.connected = true;
      hooks.welcomed();
      sender.restart();
      app.version = message.version;
      app.maps = named(message.maps).map((map) => ({ name: map.name, diverging: map.diverging === true, colors: decodeColors(map.colors) }));
      events.emit("connection");
      events.emit("display");
      if (!app.frame) app.stage.refresh();
    },

    interface(message) {
      app.iface = { ...message, inputs: named(message.inputs), outputs: named(message.outputs), formats: message.formats ?? {} };
      const before = app.inputs;
      app.inputs = new Map(app.iface.inputs.map((spec) => [spec.name, inputOf(spec, before.get(spec.name))]));
      if (!app.iface.outputs.some((output) => output.name === app.output)) {
        app.output = app.iface.outputs[0]?.name ?? null;
        app.outputChosen = false;
      } else if (app.outputChosen && fresh) {
        hooks.sendShow();
      }
      fresh = false;
      events.emit("interface");
      hooks.named(app.iface.program);
      app.stage.refresh();
    },

    // `id`, if there is one, is the number of the `set` that these values answer; else the last frame tells it.
    values(message) {
      const answered = Math.max(typeof message.id === "number" ? message.id : 0, app.frame?.header.set ?? 0);
      const set = new Set(listOf(message.set));
      for (const [name, value] of Object.entries(message.inputs ?? {})) {
        const input = app.inputs.get(name);
        if (!input || !sender.accepts(name, answered)) continue;
        input.value = value;
        input.isSet = set.has(name);
      }
      events.emit("values");
    },

    diagnostics(message) {
      app.diagnostics = listOf(message.items);
      app.good = message.good !== false;
      hooks.showStale();
      events.emit("messages");
      if (!app.frame) app.stage.refresh();
    },

    status(message) {
      if (message.state !== "running") app.runningSince = null;
      else app.runningSince ??= performance.now();
      app.status = { ...app.status, ...message };
      events.emit("status");
    },

    failure(message) {
      app.failure = { message: String(message.message ?? "the run failed"), text: message.text };
      hooks.showStale();
      events.emit("messages");
    },

    notes(message) {
      app.notes = listOf(message.items);
      events.emit("messages");
    },

    printed(message) {
      app.printed += String(message.text ?? "");
      events.emit("printed");
    },

    command(message) {
      app.command = String(message.line ?? "");
      events.emit("command");
    },
  };

  // An input keeps what the user is changing at this moment, and whether it was set until the server says so.
  function inputOf(spec, old) {
    const kept = old && old.spec.type === spec.type;
    const differs = spec.default !== null && spec.default !== undefined && JSON.stringify(spec.default) !== JSON.stringify(spec.value);
    return { spec, value: kept && !sender.accepts(spec.name, Infinity) ? old.value : spec.value, isSet: kept ? old.isSet : differs };
  }

  return (text) => {
    const message = decodeText(text);
    if (!message || !Object.hasOwn(handlers, message.type)) return;
    try {
      handlers[message.type](message);
    } catch (error) {
      console.error(error);
    }
  };
}

function named(value) {
  return listOf(value).filter((item) => typeof item.name === "string");
}

function listOf(value) {
  return Array.isArray(value) ? value.filter((item) => item !== null && item !== undefined) : [];
}
