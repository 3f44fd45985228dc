// Follows the scripts of the viewer's page in one module: shows the page in a cell of a notebook. Messages take the way of the widget.

export default (() => {
  const session = Math.random().toString(36).slice(2);
  let displays = 0;

  // Notebooks say whether they are dark in their own ways.
  const isDark = () => document.body.dataset.jpThemeLight === "false" || document.body.classList.contains("vscode-dark");

  function render({ model, el }) {
    const display = `${session}.${displays++}`;
    const listeners = {};
    let files = 0;
    const post = (content) => {
      try {
        model.send({ display, ...content });
      } catch {
        listeners.state?.("closed");
      }
    };
    const receive = (content, buffers) => {
      if (content.text) listeners.text?.(content.text);
      else if (content.state) listeners.state?.(content.state);
      // All displays of a view get its files; one of them has asked.
      else if (!content.file || files-- > 0) listeners.binary?.(buffers[0]);
      files = Math.max(files, 0);
    };
    const end = () => listeners.state?.("closed");
    const transport = {
      send(message) {
        if (message.type === "export") files += 1;
        post({ text: JSON.stringify(message) });
      },
      onText: (listener) => (listeners.text = listener),
      onBinary: (listener) => (listeners.binary = listener),
      onState: (listener) => {
        listeners.state = listener;
        listener("open");
      },
    };

    // Styles of the notebook stay outside, and so do its keys.
    const host = document.createElement("div");
    host.dataset.lmSuppressShortcuts = "true";
    const shadow = host.attachShadow({ mode: "open" });
    const style = document.createElement("style");
    // There is no command line to copy.
    style.textContent = `${STYLE} .diderot-view { grid-template-rows: 46px minmax(0, 1fr) 0; } .diderot-view .command-bar { display: none; }`;
    const root = document.createElement("div");
    root.dataset.mount = "";
    root.style.height = `${model.get("height")}px`;
    shadow.append(style, root);
    el.append(host);
    model.on("msg:custom", receive);
    model.on("comm_live_update", end);
    const unmount = mount(root, transport);
    const page = root.querySelector(".diderot-view");
    if (!page.dataset.theme) page.dataset.theme = isDark() ? "dark" : "light";
    page.querySelector("[data-role=banner]").textContent = "The view has ended; run the cell again.";

    return () => {
      model.off("msg:custom", receive);
      model.off("comm_live_update", end);
      unmount();
      post({ bye: true });
    };
  }
  return { render };
})();
