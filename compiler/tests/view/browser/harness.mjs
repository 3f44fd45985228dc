// The tools of the tests in a browser: the command, the viewer as a process, pages, and values of frames and files.

import { createRequire } from "node:module";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, extname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../../../..");
export const SIZE = { width: 1280, height: 800 };
// Slow machines and debug builds need patience; nothing waits longer than it has to.
const PATIENCE = 1000 * Number(process.env.DIDEROT_PATIENCE || 60);

// `require` looks into the folders of NODE_PATH, which imports do not.
export function playwright() {
  try {
    return createRequire(import.meta.url)("playwright-core");
  } catch {
    throw new Error("playwright-core is not in the folders of NODE_PATH; `.ci/extended viewer` installs it");
  }
}

export function findBrowser() {
  const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
  const folders = (process.env.PATH ?? "").split(delimiter);
  const all = [process.env.CHROMIUM, ...names.flatMap((name) => folders.map((folder) => join(folder, name)))];
  const found = all.find((path) => path && existsSync(path));
  if (!found) throw new Error("there is no Chromium: install Debian's chromium-headless-shell or chromium, or set CHROMIUM to its path");
  return found;
}

// A browser that resolves no name: a page that needs another machine cannot work in it. A rule redirects an address.
export function startBrowser(rule = "EXCLUDE localhost") {
  const mapped = `${rule},MAP * ~NOTFOUND,EXCLUDE 127.0.0.1`;
  return playwright().chromium.launch({ executablePath: findBrowser(), args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", `--host-resolver-rules=${mapped}`] });
}

// A folder for programs, with the command in it so that printed command lines can be run, and `data` of the repository.
export class Place {
  constructor(diderotc) {
    this.folder = mkdtempSync(join(tmpdir(), "diderot-view-"));
    this.bin = join(this.folder, "bin");
    mkdirSync(this.bin);
    symlinkSync(resolve(diderotc), join(this.bin, "diderotc"));
    symlinkSync(join(ROOT, "data"), join(this.folder, "data"));
    this.environment = { ...process.env, PATH: this.bin + delimiter + process.env.PATH };
    this.viewers = [];
    this.files = 0;
  }

  path(name) {
    return join(this.folder, name);
  }

  write(name, text) {
    writeFileSync(this.path(name), text);
    return name;
  }

  // Runs a line by a shell; its output, or an Error with all that it printed.
  shell(line) {
    const run = spawnSync("sh", ["-c", line], { cwd: this.folder, env: this.environment, encoding: "utf8" });
    if (run.status !== 0) throw new Error(`${line}\n${run.stdout}${run.stderr}`);
    return run.stdout;
  }

  // The bytes of the file that a command line writes with `-o`.
  made(line, suffix) {
    this.files += 1;
    const name = `made-${this.files}.${suffix}`;
    this.shell(`${line} -q -o ${name}`);
    return readFileSync(this.path(name));
  }

  // The samples of the NRRD file that a command line makes.
  samples(line) {
    return nrrdData(this.made(line, "nrrd"));
  }

  async view(...words) {
    const viewer = await Viewer.start(this, words);
    this.viewers.push(viewer);
    return viewer;
  }

  async end() {
    await Promise.all(this.viewers.map((viewer) => viewer.stop()));
    rmSync(this.folder, { recursive: true });
  }
}

export class Viewer {
  static async start(place, words) {
    const viewer = new Viewer();
    viewer.process = spawn("diderotc", ["view", "--no-open", ...words], { cwd: place.folder, env: place.environment, stdio: ["ignore", "pipe", "inherit"] });
    viewer.ended = new Promise((done) => viewer.process.once("exit", (code, signal) => done(code ?? signal)));
    const lines = createInterface(viewer.process.stdout);
    viewer.address = await new Promise((done, fail) => {
      lines.once("line", done);
      viewer.ended.then((code) => fail(new Error(`the viewer ended with ${code}`)));
    });
    const { port, origin, hash } = new URL(viewer.address);
    return Object.assign(viewer, { port: Number(port), origin, token: hash.slice(1) });
  }

  stop(signal = "SIGINT") {
    this.process.kill(signal);
    return this.ended;
  }

  // Memory in use, in bytes; null where the system does not tell.
  memory() {
    try {
      return 1024 * Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${this.process.pid}/status`, "utf8"))[1]);
    } catch {
      return null;
    }
  }

  openFiles() {
    return readdirSync(`/proc/${this.process.pid}/fd`).length;
  }
}

// A page of a viewer. Its requests, its errors and all frames that it showed are recorded.
export async function openPage(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: SIZE, acceptDownloads: true, colorScheme: "light", ...options });
  const page = await context.newPage();
  page.problems = [];
  page.requests = [];
  page.setDefaultTimeout(PATIENCE);
  if (process.env.DIDEROT_PAGE) await replacePage(page, process.env.DIDEROT_PAGE);
  page.on("request", (request) => page.requests.push(request.url()));
  page.on("websocket", (socket) => page.requests.push(socket.url()));
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && page.problems.push(message.text()));
  await page.goto(address);
  await page.waitForFunction(() => document.querySelector("[data-mount]")?.diderot);
  await page.evaluate(() => {
    const { app } = document.querySelector("[data-mount]").diderot;
    globalThis.app = app;
    globalThis.shown = [];
    app.events.on("frame", () => shown.push({ at: performance.now(), ...app.frame.header, histogram: null, sections: null, rows: null }));
  });
  return page;
}

// Takes scripts and style of the page from a folder instead of the command, so that changes of them need no compiler.
async function replacePage(page, folder) {
  const kinds = { ".js": "text/javascript", ".css": "text/css" };
  await page.route(/\.(js|css)$/, (route) => {
    const name = basename(new URL(route.request().url()).pathname);
    return existsSync(join(folder, name)) ? route.fulfill({ body: readFileSync(join(folder, name)), contentType: kinds[extname(name)] }) : route.continue();
  });
}

// Waits for the final frame of all that was set, and gives its header.
export async function settled(page, patience = PATIENCE) {
  const wait = page.waitForFunction(() => {
    const header = app.frame?.header;
    const done = header?.final && !app.sender.busy && (header.set ?? 0) >= app.sender.lastId && app.status.state !== "running";
    return done && app.good && !app.failure ? { ...header, histogram: null, sections: null } : null;
  }, null, { timeout: patience });
  try {
    return await (await wait).jsonValue();
  } catch (error) {
    const state = await page.evaluate(() => JSON.stringify({ header: { ...app.frame?.header, histogram: 0, sections: 0 }, status: app.status, failure: app.failure, good: app.good, sender: app.sender }));
    throw new Error(`no final frame: ${state} ${page.problems}`, { cause: error });
  }
}

// The samples of the frame as they came, in 32 bits.
export async function frameData(page) {
  if (await page.evaluate(() => app.frame.header.encoding === "u8")) {
    await page.evaluate(() => app.wantExact());
    await page.waitForFunction(() => app.frame.header.encoding === "f32");
  }
  const text = await page.evaluate(() => {
    const { buffer, byteOffset, byteLength } = app.frame.samples;
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    let all = "";
    for (let k = 0; k < bytes.length; k += 32768) all += String.fromCharCode(...bytes.subarray(k, k + 32768));
    return btoa(all);
  });
  return Buffer.from(text, "base64");
}

// The number of colours that the picture has on the screen, up to 1000.
export function shownColors(page) {
  return page.evaluate(async () => {
    const bitmap = await createImageBitmap(await app.stage.snapshot());
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext("2d");
    context.drawImage(bitmap, 0, 0);
    const words = new Uint32Array(context.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer);
    const colors = new Set();
    for (const word of words) if (colors.size < 1000) colors.add(word);
    return colors.size;
  });
}

export function nrrdData(file) {
  const end = file.indexOf("\n\n");
  const head = file.subarray(0, end).toString();
  if (!/^encoding: raw$/m.test(head) || !/^type: float$/m.test(head)) throw new Error(`not a NRRD file of floats:\n${head}`);
  return file.subarray(end + 2);
}

// Nothing if two buffers of floats are the same, else where they differ.
export function difference(found, wanted) {
  if (found.length !== wanted.length) return `${found.length} bytes instead of ${wanted.length}`;
  if (found.equals(wanted)) return null;
  const at = found.findIndex((byte, k) => byte !== wanted[k]) & ~3;
  const count = Array.from({ length: found.length >> 2 }, (_, k) => k).filter((k) => found.readUInt32LE(4 * k) !== wanted.readUInt32LE(4 * k)).length;
  return `${count} of ${found.length >> 2} values differ, the first is number ${at >> 2}: ${found.readFloatLE(at)} instead of ${wanted.readFloatLE(at)}`;
}

export const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

export function must(condition, message) {
  if (!condition) throw new Error(message);
}

export function mustEqual(found, wanted, name) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
  must(a === b, `${name}: ${a} instead of ${b}`);
}
