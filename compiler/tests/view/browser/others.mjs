// Geometry, programs that evolve, files that change, reloads, strangers, tunnels, and the end.

import net from "node:net";
import { createRequire } from "node:module";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { spawnSync } from "node:child_process";
import * as programs from "./programs.mjs";
import { ROOT, difference, frameData, must, mustEqual, openPage, settled, shownColors, sleep, startBrowser } from "./harness.mjs";

export async function geometryIsDrawn({ browser, place }) {
  const found = [];
  for (const [kind, text, count] of [["points", programs.POINTS, 61], ["lines", programs.LINES, 10], ["triangles", programs.TRIANGLES, 21], ["points", programs.MILLION, 1000000]]) {
    place.write(`${kind}.diderot`, text);
    const viewer = await place.view(`${kind}.diderot`);
    const page = await openPage(browser, viewer.address);
    const header = await settled(page);
    mustEqual([header.type, header.kind], ["geometry", kind], "the header");
    const facts = await page.locator("[data-role=status]").textContent();
    must(facts.replace(/[^\w ]/g, "").includes(`${count} ${kind}`), `${count} ${kind}: the status line has ${facts}`);
    const before = await shownColors(page);
    must(before > 2, `${count} ${kind} have ${before} colours on the screen`);
    const view = () => page.evaluate(() => JSON.stringify(app.stage.own.eye));
    const eye = await view();
    const box = await page.locator("[data-role=picture]").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 60, box.y + box.height / 2 + 20, { steps: 3 });
    await page.mouse.up();
    await sleep(100);
    must((await view()) !== eye, `a drag does not move ${kind}`);
    const time = await page.evaluate(() => {
      const start = performance.now();
      for (let k = 0; k < 3; k++) app.stage.draw();
      const gl = app.stage.canvas.getContext("webgl2");
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
      return (performance.now() - start) / 3;
    });
    must((await shownColors(page)) > 2, `${kind} vanish in a drag`);
    mustEqual(page.problems, [], "messages of the browser");
    found.push(`${count} ${kind} ${time.toFixed(0)} ms`);
    await page.context().close();
    await viewer.stop();
  }
  return `${found.join(", ")} by software`;
}

export async function evolvingProgramsPlayAndStep({ browser, place }) {
  place.write("evolve.diderot", programs.EVOLVING);
  const viewer = await place.view("evolve.diderot");
  const page = await openPage(browser, viewer.address);
  await page.waitForFunction(() => app.iface?.evolves && app.frame);
  const step = (n) => page.waitForFunction((wanted) => app.frame.header.step === wanted, n);
  const height = () => page.evaluate(() => app.frame.sections.positions.values[1]);
  await settled(page);
  mustEqual([await page.evaluate(() => app.frame.header.step), await height()], [100, 50], "the end");
  await page.getByLabel("One step (.)").click();
  await page.getByLabel("Back to the beginning (,)").click();
  await step(0);
  for (const n of [1, 2, 3]) {
    await page.keyboard.press(".");
    await step(n);
    mustEqual(await height(), n / 2, `the height after ${n} steps`);
  }
  await page.locator('[data-input="speed"] input[type=range]').fill("1000");
  await step(0);
  await page.keyboard.press(".");
  await step(1);
  mustEqual(await height(), 1, "the height after a step of another speed");
  await page.keyboard.press(" ");
  await settled(page);
  mustEqual(await height(), 100, "the height at the end of another speed");
  // The picture from before is final too, so a newer one is waited for.
  const before = await page.evaluate(() => app.frame.header.frame);
  await page.keyboard.press(" ");
  await page.waitForFunction((old) => app.frame.header.frame > old, before);
  await settled(page);
  mustEqual(await height(), 100, "the height after playing again");
  mustEqual(page.problems, [], "messages of the browser");
  await page.context().close();
  return "play, pause, step, restart, and a change on the way";
}

const messages = (page) => page.locator("[data-role=messages]");
const isStale = (page) => page.evaluate(() => app.stage.element.classList.contains("stale"));

export async function savesAreShown({ browser, place }) {
  place.write("other.diderot", "#version 2.0\nconst real b = 1;\n");
  place.write("saved.diderot", programs.picture("b", 'import "other.diderot";'));
  const viewer = await place.view("saved.diderot");
  const page = await openPage(browser, viewer.address);
  await settled(page);
  await page.locator('[data-input="a"] input[type=range]').fill("900");
  await settled(page);
  const a = await page.evaluate(() => app.inputs.get("a").value);
  const first = () => page.evaluate(() => document.querySelector("[data-mount]").diderot.pixel(1, 0)[0]);
  mustEqual(await first(), Math.fround(a + 1), "the first picture");
  const times = [];
  const broken = async (file, text, place_, words) => {
    const start = performance.now();
    place.write(file, text);
    await page.waitForFunction(() => !app.good);
    times.push(performance.now() - start);
    await messages(page).waitFor({ state: "visible" });
    const shown = await messages(page).textContent();
    must(shown.includes(place_), `the message has no place ${place_}: ${shown}`);
    must(shown.includes(words), `the message has no ${words}: ${shown}`);
    must(await isStale(page), "the picture is not grey");
    must((await shownColors(page)) > 10, "the picture is gone");
  };
  const mended = async (file, text, value) => {
    const start = performance.now();
    place.write(file, text);
    await page.waitForFunction(([wanted]) => app.good && document.querySelector("[data-mount]").diderot.pixel(1, 0)[0] === wanted, [Math.fround(a + value)]);
    times.push(performance.now() - start);
    await settled(page);
    must(!(await isStale(page)), "the picture stays grey");
    must(await messages(page).isHidden(), "the message stays");
  };
  await broken("saved.diderot", programs.picture("∇bb", 'import "other.diderot";'), "saved.diderot:6:", "bb");
  await mended("saved.diderot", programs.picture("b + 10", 'import "other.diderot";'), 11);
  await broken("other.diderot", "#version 2.0\nconst real b = ;\n", "other.diderot:2:", "error");
  await mended("other.diderot", "#version 2.0\nconst real b = 100;\n", 110);
  // A run that fails is shown as one.
  place.write("saved.diderot", "");
  await page.waitForFunction(() => !app.good);
  await mended("saved.diderot", programs.picture("b", 'import "other.diderot";'), 100);
  // Half a save of an editor: no file for a moment.
  spawnSync("rm", [place.path("saved.diderot")]);
  await sleep(400);
  await mended("saved.diderot", programs.picture("b + 1", 'import "other.diderot";'), 101);
  mustEqual(page.problems, [], "messages of the browser");
  await page.context().close();
  return `program and import; shown after ${Math.round(Math.min(...times))} to ${Math.round(Math.max(...times))} ms`;
}

// Reloads of the page take nothing from the server's memory.
export async function reloadsLeakNothing({ browser, place }) {
  const rounds = Number(process.env.DIDEROT_RELOADS || 200);
  place.write("again.diderot", programs.CAMERA);
  const viewer = await place.view("again.diderot");
  // Small pictures are drawn quickly without a GPU.
  const page = await openPage(browser, viewer.address, { viewport: { width: 480, height: 320 } });
  await settled(page);
  let before = null;
  let files = 0;
  for (let round = 0; round < rounds; round++) {
    await page.reload();
    await page.waitForFunction(() => document.querySelector("[data-mount]")?.diderot?.frame?.final);
    if (round === Math.floor(rounds / 2)) [before, files] = [viewer.memory(), viewer.openFiles()];
  }
  await sleep(300);
  const after = viewer.memory();
  // The allocator keeps a part for every thread, so that the first hundred reloads tell nothing.
  must(before === null || rounds < 200 || after <= 1.05 * before, `the memory grew from ${before} to ${after} bytes`);
  must(viewer.openFiles() <= files + 4, `open files grew from ${files} to ${viewer.openFiles()}`);
  mustEqual(page.problems, [], "messages of the browser");
  await page.context().close();
  return `${rounds} reloads; memory ${(before / 1048576).toFixed(1)} → ${(after / 1048576).toFixed(1)} MB`;
}

// A socket by hand, so that it can do what browsers do not.
function stranger(viewer, token = viewer.token) {
  return new Promise((done, fail) => {
    const socket = net.connect(viewer.port, "127.0.0.1");
    const host = `127.0.0.1:${viewer.port}`;
    socket.on("error", () => {});
    socket.write(`GET /socket HTTP/1.1\r\nHost: ${host}\r\nOrigin: http://${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\nSec-WebSocket-Version: 13\r\n\r\n`);
    socket.once("data", () => {
      socket.write(masked(JSON.stringify({ type: "hello", token })));
      done(socket);
    });
    setTimeout(() => fail(new Error("a stranger is not answered")), 10000).unref();
  });
}

function masked(text, kind = 0x81) {
  const data = Buffer.from(text);
  const head = data.length < 126 ? Buffer.from([kind, 0x80 | data.length]) : Buffer.from([kind, 0xfe, data.length >> 8, data.length & 255]);
  return Buffer.concat([head, Buffer.alloc(4), data]);
}

export async function strangersDisturbNothing({ browser, place }) {
  place.write("strangers.diderot", programs.CAMERA);
  const viewer = await place.view("strangers.diderot", "-xres", "160", "-yres", "120");
  const page = await openPage(browser, viewer.address);
  await settled(page);
  const sleepers = [];
  for (let k = 0; k < 8; k++) {
    const sleeper = await stranger(viewer);
    sleeper.pause();
    sleepers.push(sleeper);
    const vanishing = await stranger(viewer);
    vanishing.write(masked(JSON.stringify({ type: "set", id: k, inputs: { nothing: k } })));
    vanishing.resetAndDestroy();
    const wild = await stranger(viewer);
    for (const text of ["{", "[]", '{"type":"set","id":-1}', '{"type":"run","action":"fly"}', '{"type":"export","output":"no","format":"exe","options":["--x"]}', "\0"]) wild.write(masked(text));
    wild.write(masked("\xff\xfe", 0x82));
    wild.write(randomBytes(5000));
    const raw = net.connect(viewer.port, "127.0.0.1");
    raw.on("error", () => {});
    raw.write(randomBytes(3000));
    setTimeout(() => [wild, raw].forEach((socket) => socket.destroy()), 200);
  }
  const wrong = await stranger(viewer, "0".repeat(32));
  const closed = await new Promise((done) => {
    wrong.on("data", () => {});
    wrong.once("close", () => done(true));
    setTimeout(() => done(false), 5000);
  });
  must(closed, "a wrong token is not refused");
  await page.locator('[data-input="level"] input[type=range]').fill("333");
  await settled(page);
  const line = (await page.locator("[data-role=command]").textContent()).trim();
  const differs = difference(await frameData(page), place.samples(line));
  must(!differs, `${line}: ${differs}`);
  sleepers.forEach((socket) => socket.destroy());
  await page.goto(`${viewer.origin}/#${"0".repeat(32)}`);
  await page.reload();
  await page.getByText("does not know this page").waitFor();
  await page.context().close();
  return "garbage, sleep, sudden ends, a wrong token";
}

// As `ssh -L PORT:127.0.0.1:PORT` does: the page comes from the same port of another machine.
export async function tunnelsWorkWithEqualPorts({ place }) {
  place.write("tunnel.diderot", programs.CAMERA);
  const viewer = await place.view("tunnel.diderot", "-xres", "80", "-yres", "60");
  const forwarder = net.createServer((near) => {
    const far = net.connect(viewer.port, "127.0.0.1");
    near.pipe(far).pipe(near);
    for (const end of [near, far]) end.on("error", () => [near, far].forEach((socket) => socket.destroy()));
  });
  await new Promise((done) => forwarder.listen(0, "127.0.0.1", done));
  const port = forwarder.address().port;
  const browser = await startBrowser(`MAP localhost:${viewer.port} 127.0.0.1:${port}`);
  try {
    const page = await openPage(browser, `http://localhost:${viewer.port}/#${viewer.token}`);
    await settled(page);
    const connections = await new Promise((done) => forwarder.getConnections((_, count) => done(count)));
    must(connections > 0, "the page did not come through the forwarder");
    const answer = await page.request.get(`http://127.0.0.1:${port}/`);
    mustEqual(answer.status(), 403, "the answer on another port");
  } finally {
    await browser.close();
    forwarder.close();
  }
  return "a page by a forwarder; with another port 403";
}

export async function pagesFollowEachOther({ browser, place }) {
  place.write("two.diderot", programs.INPUTS);
  const viewer = await place.view("two.diderot");
  const pages = [await openPage(browser, viewer.address), await openPage(browser, viewer.address)];
  await Promise.all(pages.map((page) => settled(page)));
  // The first page makes more changes than the second, so that their numbers differ.
  for (const [who, part] of [[0, 100], [0, 300], [0, 500], [1, 700], [0, 200], [1, 900]]) {
    await pages[who].locator('[data-input="a"] input[type=range]').fill(String(part));
    const { set } = await settled(pages[who]);
    const wanted = (4 * part) / 1000;
    await pages[1 - who].waitForFunction((value) => Math.abs(app.inputs.get("a").value - value) < 1e-9, wanted);
    // The values come before the picture.
    await pages[1 - who].waitForFunction((set) => app.frame.header.set >= set, set);
    await settled(pages[1 - who]);
    const differs = difference(await frameData(pages[1 - who]), await frameData(pages[who]));
    must(!differs, `the pages differ: ${differs}`);
  }
  await Promise.all(pages.map((page) => page.context().close()));
  return "six changes, by turns";
}

// The panel of the extension for VS Code, as a page of another origin.
export async function panelsOfEditorsShowIt({ browser, place }) {
  const { page: panel } = createRequire(import.meta.url)(join(ROOT, "editors/vscode/viewer.js"));
  place.write("panel.diderot", programs.CAMERA);
  const viewer = await place.view("panel.diderot", "-xres", "80", "-yres", "60");
  place.write("panel.html", panel(viewer.address));
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`file://${place.path("panel.html")}`);
  const frame = await (await page.waitForSelector("iframe")).contentFrame();
  await frame.waitForFunction(() => document.querySelector("[data-mount]")?.diderot?.frame?.final);
  await context.close();
  return "a final picture in a frame";
}

export async function interruptsFreeThePort({ browser, place }) {
  place.write("end.diderot", programs.CAMERA);
  const viewer = await place.view("end.diderot");
  const page = await openPage(browser, viewer.address);
  await settled(page);
  const listed = spawnSync("ss", ["-ltnH"], { encoding: "utf8" });
  let loopback = "ss is not installed";
  if (listed.status === 0) {
    const own = listed.stdout.split("\n").map((line) => line.split(/\s+/)[3] ?? "").filter((address) => address.endsWith(`:${viewer.port}`));
    mustEqual(own, [`127.0.0.1:${viewer.port}`], "addresses of `ss -ltn`");
    loopback = `listens on ${own}`;
  }
  const code = await viewer.stop("SIGINT");
  mustEqual(code, 130, "the exit status");
  await page.getByText("The server has ended").waitFor();
  const again = net.createServer();
  await new Promise((done, fail) => {
    again.once("error", fail);
    again.listen(viewer.port, "127.0.0.1", done);
  });
  again.close();
  await page.context().close();
  return `${loopback}; the port is free after Ctrl-C, and the page reports the end`;
}
