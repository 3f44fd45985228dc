// Pictures: the page alone, controls, camera and plane, frames of a drag, files.

import { readFileSync } from "node:fs";
import * as programs from "./programs.mjs";
import { difference, frameData, must, mustEqual, openPage, settled, shownColors, sleep } from "./harness.mjs";

export async function onlyItsServer({ browser, place }) {
  place.write("alone.diderot", programs.CAMERA);
  const viewer = await place.view("alone.diderot");
  const page = await openPage(browser, viewer.address);
  await settled(page);
  await page.keyboard.press("?");
  await sleep(300);
  const own = [viewer.origin + "/", viewer.origin.replace("http", "ws") + "/"];
  const foreign = page.requests.filter((url) => !own.some((start) => url.startsWith(start)) && !/^(data|blob):/.test(url));
  mustEqual(foreign, [], "requests to others");
  mustEqual(page.problems, [], "messages of the browser");
  must(page.requests.length > 20, `only ${page.requests.length} requests were seen`);
  await page.context().close();
  return `${page.requests.length} requests, all to it`;
}

// Moves controls and compares each frame with the command's file.
export async function controlsGiveTheValues({ browser, place }) {
  place.write("inputs.diderot", programs.INPUTS);
  const viewer = await place.view("inputs.diderot");
  const page = await openPage(browser, viewer.address);
  await settled(page);
  const input = (name) => page.locator(`[data-input="${name}"]`);
  const slide = (name, part) => input(name).locator("input[type=range]").fill(String(part));
  const moves = [
    ["a", () => slide("a", 731)],
    ["width", () => slide("width", 480)],
    ["n", () => slide("n", 640)],
    ["form", () => input("form").locator("select").selectOption("square")],
    ["inverse", () => input("inverse").locator("input[type=checkbox]").check()],
    ["a", () => input("a").locator("input.number").fill("17.25").then(() => page.keyboard.press("Enter"))],
  ];
  const words = {};
  for (const [name, move] of moves) {
    const before = await page.evaluate(() => app.sender.lastId);
    await move();
    await page.waitForFunction((id) => app.sender.lastId > id, before);
    await settled(page);
    words[name] = String(await page.evaluate((key) => app.inputs.get(key).value, name));
    const line = `diderotc inputs.diderot ${Object.entries(words).map(([key, value]) => `-${key} ${value}`).join(" ")}`;
    const differs = difference(await frameData(page), place.samples(line));
    must(!differs, `${line}: ${differs}`);
    mustEqual((await printed(page)).split(" ").sort(), line.split(" ").sort(), "the printed command");
  }
  must(Number(words.a) === 17.25, `the field gave ${words.a}`);
  must(Math.abs(Number(words.n) - 5) < 1e-9, `a slider of whole numbers gave ${words.n}`);
  await page.getByText("Reset all").click();
  await settled(page);
  const differs = difference(await frameData(page), place.samples("diderotc inputs.diderot"));
  must(!differs, `after Reset all: ${differs}`);
  mustEqual(page.problems, [], "messages of the browser");
  await page.context().close();
  return `${moves.length + 1} frames equal to the command's, bit for bit`;
}

const printed = async (page) => (await page.locator("[data-role=command]").textContent()).trim();

// Drags from the middle of the picture.
async function drag(page, dx, dy, options = {}) {
  const box = await page.locator("[data-role=picture]").boundingBox();
  const [x, y] = [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)];
  await page.mouse.move(x, y);
  await page.mouse.down(options);
  for (let k = 1; k <= 10; k++) {
    await page.mouse.move(x + (dx * k) / 10, y + (dy * k) / 10);
    if (options.pause) await sleep(options.pause);
  }
  await page.mouse.up(options);
}

export async function dragsTurnTheCamera({ browser, place }) {
  place.write("turn it.diderot", programs.CAMERA);
  const viewer = await place.view("turn it.diderot", "-eye", "4", "-7", "5", "-look", "0.1", "0", "0", "-xres", "200", "-yres", "150");
  const page = await openPage(browser, viewer.address);
  await settled(page);
  const value = (name) => page.evaluate((key) => app.inputs.get(key).value, name);
  const [eye, look, up] = [await value("eye"), await value("look"), await value("up")];
  const reproduces = async (what) => {
    const line = await printed(page);
    const differs = difference(await frameData(page), place.samples(line));
    must(!differs, `${what}, ${line}: ${differs}`);
    return line;
  };
  await drag(page, 100, 0);
  await settled(page);
  const turned = await value("eye");
  const angle = angleAbout(up, minus(eye, look), minus(turned, look));
  must(Math.abs(angle + 40) < 0.01, `100 px to the right turn by ${angle}° instead of -40°`);
  mustEqual(await value("look"), look, "look");
  const line = await reproduces("after a drag to the right");
  await drag(page, 0, 50);
  await settled(page);
  const raised = elevation(up, minus(await value("eye"), look)) - elevation(up, minus(turned, look));
  must(Math.abs(raised - 20) < 0.01, `50 px downwards raise the eye by ${raised}° instead of 20°`);
  await reproduces("after a drag downwards");
  await drag(page, 40, 0, { button: "right" });
  await settled(page);
  must(JSON.stringify(await value("look")) !== JSON.stringify(look), "a drag by the right button moves nothing");
  await reproduces("after a drag by the right button");
  await page.mouse.wheel(0, 240);
  await sleep(50);
  await settled(page);
  await reproduces("after the wheel");
  await page.keyboard.press("r");
  await page.waitForFunction(() => !app.inputs.get("eye").isSet);
  await settled(page);
  await reproduces("after R");
  mustEqual(page.problems, [], "messages of the browser");
  await page.context().close();
  return `by ${angle.toFixed(3)}°; ${line}`;
}

const minus = (a, b) => a.map((x, k) => x - b[k]);
const dot = (a, b) => a.reduce((sum, x, k) => sum + x * b[k], 0);
const across = (axis, v) => minus(v, axis.map((x) => (x * dot(axis, v)) / dot(axis, axis)));
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
function angleAbout(axis, from, to) {
  const [a, b] = [across(axis, from), across(axis, to)];
  return (Math.atan2(dot(cross(a, b), axis) / Math.hypot(...axis), dot(a, b)) * 180) / Math.PI;
}
const elevation = (axis, v) => (Math.asin(dot(axis, v) / Math.hypot(...axis) / Math.hypot(...v)) * 180) / Math.PI;

export async function dragsMoveThePlane({ browser, place }) {
  place.write("plane.diderot", programs.PLANE);
  const viewer = await place.view("plane.diderot");
  const page = await openPage(browser, viewer.address);
  await settled(page);
  const state = () => page.evaluate(() => ({ center: app.inputs.get("center").value, radius: app.inputs.get("radius").value, height: app.stage.rect().height }));
  const before = await state();
  await drag(page, 60, -30);
  await settled(page);
  const after = await state();
  const unit = (2 * before.radius) / before.height;
  const wanted = [before.center[0] - 60 * unit, before.center[1] - 30 * unit];
  must(after.center.every((x, k) => Math.abs(x - wanted[k]) < 1e-6), `the centre is ${after.center} instead of ${wanted}`);
  await page.mouse.wheel(0, -300);
  await sleep(50);
  await settled(page);
  const zoomed = await state();
  must(zoomed.radius < before.radius, "the wheel does not zoom");
  const line = await printed(page);
  const differs = difference(await frameData(page), place.samples(line));
  must(!differs, `${line}: ${differs}`);
  await page.context().close();
  return line;
}

// The time from a movement to its first picture is a figure, not a test: it depends on the machine.
export async function dragsAreAnsweredCoarselyFirst({ browser, place }) {
  place.write("glow.diderot", programs.GLOW);
  const viewer = await place.view("glow.diderot", "-vol", "data/phantom.nrrd");
  const page = await openPage(browser, viewer.address);
  const final = await settled(page);
  await page.evaluate(() => {
    globalThis.moved = [];
    app.stage.element.addEventListener("pointermove", () => moved.push(performance.now()), true);
    shown.length = 0;
  });
  await drag(page, 160, 20, { pause: 60 });
  await settled(page);
  await sleep(800);
  const { times, moves } = await page.evaluate(() => ({ times: shown, moves: moved }));
  const firstMove = moves[1];
  const first = times.find((frame) => frame.at > firstMove);
  must(first, "a drag shows no picture");
  const strides = times.map((frame) => frame.stride);
  for (const [k, frame] of times.entries()) {
    if (k === 0) continue;
    must(frame.frame > times[k - 1].frame, `frame ${frame.frame} was shown after ${times[k - 1].frame}`);
    must((frame.set ?? 0) >= (times[k - 1].set ?? 0), `a frame of set ${frame.set} was shown after one of ${times[k - 1].set}`);
    must(frame.set > times[k - 1].set || frame.final || !times[k - 1].final, `a coarse frame of set ${frame.set} was shown after its final one`);
  }
  const last = times.at(-1);
  must(last.final && last.stride === 1, `the last frame is ${JSON.stringify(last)}`);
  const line = await printed(page);
  const differs = difference(await frameData(page), place.samples(line));
  must(!differs, `${line}: ${differs}`);
  await page.context().close();
  return `first picture ${(first.at - firstMove).toFixed(0)} ms after a movement; ${times.length} pictures of ${final.full.join(" × ")}, strides ${[...new Set(strides)].join(", ")}`;
}

async function exported(page, name) {
  await page.keyboard.press("e");
  const coming = page.waitForEvent("download");
  await page.locator(".menu-item", { hasText: name }).click();
  return readFileSync(await (await coming).path());
}

export async function exportsEqualTheCommandsFiles({ browser, place }) {
  place.write("export.diderot", programs.CAMERA);
  const rgb = await place.view("export.diderot", "-xres", "120", "-yres", "90");
  const page = await openPage(browser, rgb.address);
  await settled(page);
  await page.locator('[data-input="level"] input[type=range]').fill("700");
  await settled(page);
  const line = await printed(page);
  for (const [name, suffix] of [["PNG picture", "png"], ["NRRD", "nrrd"]]) {
    const [found, wanted] = [await exported(page, name), place.made(line, suffix)];
    must(found.equals(wanted), `${name}: ${found.length} bytes differ from the ${wanted.length} of ${line}`);
  }
  const seen = await exported(page, "Picture as shown");
  must(seen.subarray(1, 4).toString() === "PNG", "the picture as shown is not a PNG file");
  await page.context().close();

  place.write("numbers.diderot", programs.INPUTS);
  const scalar = await place.view("numbers.diderot");
  const other = await openPage(browser, scalar.address);
  await settled(other);
  await other.keyboard.press("m");
  const { map, range } = await other.evaluate(() => ({ map: app.map(app.display().map).name, range: app.stage.range }));
  const [found, wanted] = [await exported(other, "PNG picture"), place.made(`${await printed(other)} --cmap ${map},${range}`, "png")];
  must(found.equals(wanted), `with a colour map: ${found.length} bytes differ from ${wanted.length}`);
  mustEqual(other.problems, [], "messages of the browser");
  await other.context().close();
  return "PNG, NRRD, and PNG with a colour map, byte for byte";
}

// All that the panel of the display changes happens in the browser.
export async function displayNeedsNoRun({ browser, place }) {
  place.write("display.diderot", programs.INPUTS);
  const viewer = await place.view("display.diderot");
  const page = await openPage(browser, viewer.address);
  await settled(page);
  const frames = await page.evaluate(() => shown.length);
  const hash = () => page.evaluate(async () => {
    const bytes = await (await app.stage.snapshot()).arrayBuffer();
    return String.fromCharCode(...new Uint8Array(await crypto.subtle.digest("SHA-1", bytes)));
  });
  const seen = [await hash()];
  const changes = [
    () => page.keyboard.press("m"),
    () => page.getByLabel("Range", { exact: true }).selectOption("percent"),
    () => page.getByLabel("Hatch values outside of the range").check(),
    () => page.locator("input[type=range][aria-label=Gamma]").fill("900"),
    () => page.keyboard.press("+"),
    () => page.keyboard.press("f"),
  ];
  for (const change of changes) {
    await change();
    await sleep(150);
    seen.push(await hash());
  }
  for (const [k, one] of seen.entries()) if (k > 0) must(one !== seen[k - 1], `change ${k} of the display shows nothing`);
  const { at, value } = await page.evaluate(() => ({ at: app.stage.rect(), value: document.querySelector("[data-mount]").diderot.pixel(40, 30)[0] }));
  const box = await page.locator("[data-role=picture]").boundingBox();
  await page.mouse.move(box.x + at.left + 40.5 * at.scale, box.y + at.top + 30.5 * at.scale);
  await page.waitForFunction(() => document.querySelector("[data-role=readout]").textContent.startsWith("[40, 30]"));
  const text = await page.locator("[data-role=readout]").textContent();
  const read = Number(text.split(/\s+/).at(-1).replace("−", "-"));
  must(Math.abs(read - value) < 1e-5 * Math.max(1, Math.abs(value)), `the line under the picture has ${text}, the value is ${value}`);
  // The choice of an output may send the same frame again.
  const late = await page.evaluate(() => shown);
  must(late.length <= frames + 1 && late.every((frame) => frame.final && !frame.set), `frames after changes of the display: ${JSON.stringify(late)}`);
  must((await shownColors(page)) > 50, "the picture has few colours");
  await page.context().close();
  return `${changes.length} changes, a value read at the mouse, no frame`;
}
