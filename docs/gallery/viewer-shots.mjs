// Makes the pictures of the chapter on the viewer: pages of its programs in a real browser.
//
//   NODE_PATH=FOLDER/node_modules node docs/gallery/viewer-shots.mjs DIDEROTC [NAME…]
//
// FOLDER has playwright-core; `.ci/extended viewer` puts it into target/tools. Look at every picture that has changed.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packed } from "./pack-png.mjs";
import { Place, ROOT, openPage, settled, sleep, startBrowser } from "../../compiler/tests/view/browser/harness.mjs";

const CHAPTER = readFileSync(join(ROOT, "docs/book/src/viewer.md"), "utf8");

// A program of the chapter.
function program(name) {
  const found = new RegExp("```diderot,file=" + name + "\\n([^]*?)```").exec(CHAPTER);
  if (!found) throw new Error(`the chapter has no program ${name}`);
  return found[1];
}

const slide = (page, name, part) => page.locator(`[data-input="${name}"] input[type=range]`).fill(String(part));

// Moves the mouse over the stage by parts of its size.
async function move(page, x, y, options) {
  const box = await page.locator(".stage").boundingBox();
  await page.mouse.move(box.x + x * box.width, box.y + y * box.height, options);
}

async function drag(page, from, to) {
  await move(page, ...from);
  await page.mouse.down();
  await move(page, ...to, { steps: 5 });
  await page.mouse.up();
}

const SHOTS = {
  async glow({ place, open }) {
    place.write("glow.diderot", program("glow.diderot"));
    const page = await open("glow.diderot", "-vol", "data/phantom.nrrd");
    await drag(page, [0.5, 0.5], [0.56, 0.55]);
    await page.mouse.wheel(0, -420);
    await sleep(300);
    return page;
  },

  async shapes({ place, open }) {
    place.write("shapes.diderot", program("shapes.diderot"));
    const page = await open("shapes.diderot", "-xres", "480", "-yres", "400");
    await slide(page, "waves", 670);
    await slide(page, "height", 740);
    await drag(page, [0.5, 0.5], [0.53, 0.6]);
    return page;
  },

  async display({ place, open }) {
    place.write("slice.diderot", program("slice.diderot"));
    const page = await open("slice.diderot", "-vol", "data/phantom.nrrd");
    await page.keyboard.press("p");
    await slide(page, "z", 640);
    await settled(page);
    await page.evaluate(() => app.events.emit("gesture"));
    await move(page, 0.62, 0.42);
    return page;
  },

  async error({ place, open }) {
    place.write("glow.diderot", program("glow.diderot"));
    const page = await open("glow.diderot", "-vol", "data/phantom.nrrd");
    place.write("glow.diderot", program("glow.diderot").replace("|∇F(x)|", "∇F(x)"));
    await page.locator("[data-role=messages]").waitFor({ state: "visible" });
    return page;
  },

  async lines({ place, open }) {
    place.write("flow.diderot", program("flow.diderot"));
    const page = await open("flow.diderot");
    await page.getByLabel("Colour by").selectOption("speed");
    await page.getByTitle("Choose a colour map").click();
    await page.locator(".map-option", { hasText: "plasma" }).click();
    await drag(page, [0.5, 0.5], [0.55, 0.6]);
    return page;
  },
};

const [diderotc, ...names] = process.argv.slice(2);
const browser = await startBrowser();
const place = new Place(diderotc);
try {
  for (const [name, shot] of Object.entries(SHOTS).filter(([one]) => names.length === 0 || names.includes(one))) {
    const open = async (...words) => {
      const page = await openPage(browser, (await place.view(...words)).address);
      await settled(page);
      return page;
    };
    const page = await shot({ place, open });
    // Hints and marks of the focus go away.
    if (await page.evaluate(() => app.good)) await settled(page);
    await page.evaluate(() => document.activeElement?.blur());
    await sleep(800);
    const file = join(ROOT, `docs/book/src/pictures/viewer-${name}.png`);
    const bytes = packed(await page.screenshot());
    writeFileSync(file, bytes);
    console.log(`${file}, ${Math.round(bytes.length / 1024)} KB`);
    await page.context().close();
  }
} finally {
  await browser.close();
  await place.end();
}
