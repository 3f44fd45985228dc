// The page of `diderotc view`: connects to the server that sent it, and again when it is back.

import { mount } from "./app.js";

const RETRY_MILLISECONDS = 1000;

function connectSocket() {
  let socket = null;
  const listeners = { text: () => {}, binary: () => {}, state: () => {} };
  const transport = {
    token: location.hash.slice(1),
    send(message) {
      if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
    },
    onText: (listener) => (listeners.text = listener),
    onBinary: (listener) => (listeners.binary = listener),
    onState: (listener) => {
      listeners.state = listener;
      open();
    },
  };
  function open() {
    socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/socket`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => listeners.state("open");
    socket.onmessage = (event) => (typeof event.data === "string" ? listeners.text(event.data) : listeners.binary(event.data));
    socket.onclose = () => {
      listeners.state("closed");
      setTimeout(open, RETRY_MILLISECONDS);
    };
  }
  return transport;
}

mount(document.querySelector("[data-mount]"), connectSocket(), { own: true });
