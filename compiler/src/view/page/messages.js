// Messages of the compiler and of runs, and the text that the program printed. They lie over the lower part of the stage.

import { iconButton, make } from "./dom.js";
import { plainText } from "./values.js";

const PRINTED_AT_MOST = 200000;

export function createMessages(app) {
  const list = make("div", { class: "message-list" });
  const title = make("h2", { text: "Messages" });
  const messages = make("section", { class: "drawer messages", "data-role": "messages", "aria-label": "Messages", hidden: true },
    make("header", { class: "drawer-head" }, title, iconButton("close", "Hide the messages", () => app.showMessages(false))), make("div", { class: "drawer-body", role: "log", "aria-live": "polite" }, list));
  const printed = make("pre", { class: "printed-text", tabindex: "0", "aria-label": "Printed text" });
  const printedBody = make("div", { class: "drawer-body" }, printed);
  const output = make("section", { class: "drawer printed", "data-role": "printed", "aria-label": "Printed text", hidden: true },
    make("header", { class: "drawer-head" }, make("h2", { text: "Printed text" }), make("button", { type: "button", class: "plain-button", text: "Clear", onclick: () => {
      app.printed = "";
      app.events.emit("printed");
    } }), iconButton("close", "Hide the printed text", () => app.showPrinted(false))), printedBody);
  const element = make("div", { class: "drawers" }, output, messages);

  let shown = "";
  let wasBad = false;
  function refresh() {
    const items = allMessages(app);
    const key = JSON.stringify(items);
    const bad = items.some((item) => item.severity === "error");
    if (key !== shown) {
      shown = key;
      list.replaceChildren(...items.map(messageElement));
      const errors = items.filter((item) => item.severity === "error").length;
      title.textContent = errors > 0 ? (errors === 1 ? "1 error" : `${errors} errors`) : "Messages";
      // Errors show themselves and go away by themselves; warnings wait to be asked for.
      if (bad) app.showMessages(true);
      else if (wasBad || items.length === 0) app.showMessages(false);
      messages.classList.toggle("bad", bad);
    }
    wasBad = bad;
  }

  app.showMessages = (on) => {
    messages.hidden = !on || allMessages(app).length === 0;
    app.events.emit("drawers");
  };
  app.messagesShown = () => !messages.hidden;
  app.showPrinted = (on) => {
    output.hidden = !on;
    app.events.emit("drawers");
    if (on) printedBody.scrollTop = printedBody.scrollHeight;
  };
  app.printedShown = () => !output.hidden;

  app.events.on("messages", refresh);
  app.events.on("printed", () => {
    if (app.printed.length > PRINTED_AT_MOST) app.printed = app.printed.slice(-PRINTED_AT_MOST);
    const atEnd = printedBody.scrollTop + printedBody.clientHeight >= printedBody.scrollHeight - 30;
    printed.textContent = app.printed || "Nothing has been printed.";
    if (atEnd) printedBody.scrollTop = printedBody.scrollHeight;
  });
  printed.textContent = "Nothing has been printed.";
  return { element };
}

// Messages of the compiler come first, then why the run failed, then remarks on it.
export function allMessages(app) {
  const items = [...app.diagnostics];
  if (app.failure) items.push({ severity: "error", message: app.failure.message, text: app.failure.text });
  return [...items, ...app.notes];
}

// The excerpt without its first line if that repeats the message, and without the code of colours.
export function excerptOf(item) {
  const text = plainText(item.text).replace(/\s+$/, "");
  if (!text) return "";
  const lines = text.split("\n");
  if (item.message && lines[0].includes(item.message)) lines.shift();
  return lines.join("\n");
}

function messageElement(item) {
  const severity = ["error", "warning", "note"].includes(item.severity) ? item.severity : "note";
  const place = item.file ? `${item.file}${item.line ? ":" + item.line : ""}${item.line && item.column ? ":" + item.column : ""}` : "";
  const excerpt = excerptOf(item);
  return make("article", { class: `message ${severity}` },
    make("div", { class: "message-head" },
      make("span", { class: "severity", text: severity }),
      make("span", { class: "message-text", text: plainText(item.message) }),
      item.code && !item.page ? make("code", { class: "message-code", text: item.code }) : null,
      place && !excerpt.includes(place) ? make("span", { class: "message-place", text: place }) : null),
    excerpt ? make("pre", { class: "excerpt", text: excerpt }) : null,
    // The page of the code: a wrong and a right program.
    item.code && item.page ? make("details", { class: "message-page" },
      make("summary", {}, make("code", { class: "message-code", text: item.code })),
      make("pre", { class: "excerpt", text: pageText(item.page) })) : null);
}

// The page of a code without its title and the marks around programs.
export function pageText(page) {
  const lines = plainText(page).split("\n").filter((line) => !line.startsWith("# ") && !line.startsWith("```"));
  return lines.join("\n").trim();
}
