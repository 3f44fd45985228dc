// Keys of the viewer. They do nothing while something is typed, and leave combinations to the browser.

export function handleKey(app, event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.composedPath?.()[0] ?? event.target;
  const typing = target instanceof HTMLInputElement ? !["range", "checkbox", "color"].includes(target.type) : target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target?.isContentEditable;
  if (typing) return;
  const pressing = target instanceof HTMLButtonElement || (target instanceof HTMLInputElement && target.type === "checkbox") || target?.tagName === "SUMMARY";
  if (event.key === " " && pressing) return;
  if (app.helpShown() && event.key !== "Escape" && event.key !== "?") return;
  const action = actionOf(app, event.key);
  if (!action) return;
  event.preventDefault();
  action();
}

function actionOf(app, key) {
  const evolves = Boolean(app.iface?.evolves);
  switch (key.length === 1 ? key.toLowerCase() : key) {
    case "r": return app.resetView;
    case "f": return app.stage.fit;
    case "+": case "=": return () => app.stage.zoom(1.25);
    case "-": return () => app.stage.zoom(1 / 1.25);
    case "z": return () => app.setTool(app.stage.tool === "input" ? "view" : "input");
    case "p": return app.pin;
    case "s": return () => app.setCompare("split");
    case "d": return () => app.setCompare("difference");
    case "m": return app.nextMap;
    case "o": return () => nextOutput(app);
    case " ": return evolves ? () => app.run(app.status.state === "running" ? "pause" : "play") : null;
    case ".": return evolves ? () => app.run("step") : null;
    case ",": return evolves ? () => app.run("restart") : null;
    case "e": return app.frame ? app.openExport : null;
    case "c": return app.copyCommand;
    case "t": return () => app.showPrinted(!app.printedShown());
    case "h": return app.togglePanel;
    case "?": return () => app.showHelp(!app.helpShown());
    case "Escape": return () => {
      if (app.helpShown()) app.showHelp(false);
      else if (app.printedShown()) app.showPrinted(false);
      else app.showMessages(false);
    };
    default: return null;
  }
}

function nextOutput(app) {
  const names = (app.iface?.outputs ?? []).map((output) => output.name);
  if (names.length > 0) app.showOutput(names[(names.indexOf(app.output) + 1) % names.length]);
}
