// Drives a notebook in a JupyterLab by a browser without a window: `node notebook_view.cjs ADDRESS BROWSER SCREENSHOT`. The notebook has
// a view in its first cell and prints the inputs in its second.

const assert = require("node:assert");
const { chromium } = require("playwright-core");

const [address, executablePath, screenshot] = process.argv.slice(2);

// Runs in the page: the element of the viewer, which is in a shadow root.
const ROOT = `[...document.querySelectorAll("[data-lm-suppress-shortcuts]")].map((host) => host.shadowRoot.querySelector("[data-mount]")).at(-1)`;

async function main() {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"] });
  const page = await browser.newPage({ viewport: { width: 1400, height: 1100 } });
  try {
    await drive(page);
  } catch (error) {
    console.error(await page.evaluate(`JSON.stringify(((found) => [found?.frame, found?.app.status, found?.app.inputs.get("gain")])(${ROOT}?.diderot))`));
    throw error;
  } finally {
    await page.screenshot({ path: screenshot });
    await browser.close();
  }
}

async function drive(page) {
  const until = (condition) => page.waitForFunction(condition, null, { timeout: 60000 });
  const ready = () => until(`window.jupyterapp?.shell?.currentWidget?.content?.widgets?.length > 1 && window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === "idle"`);
  const run = (cell) => page.evaluate(async (cell) => {
    const { content } = window.jupyterapp.shell.currentWidget;
    content.activeCellIndex = cell;
    await window.jupyterapp.commands.execute("notebook:run-cell");
    return content.model.cells.get(cell).outputs.toJSON();
  }, cell);
  const isFinal = (gain) => until(`${ROOT}?.diderot?.frame?.final && Math.abs(${ROOT}.diderot.frame.max - ${gain}) < 1e-3`);
  const gain = async () => Number(/'gain': ([\d.]+)/.exec((await run(1))[0].text)[1]);
  const drag = async (from, to) => {
    const slider = page.locator("[data-input=gain] input[type=range]").last();
    await slider.evaluate((element) => element.scrollIntoView({ block: "center" }));
    await page.waitForTimeout(500);
    const box = await slider.boundingBox();
    for (let step = 0; step <= 20; step++) {
      await page.mouse.move(box.x + box.width * (from + ((to - from) * step) / 20), box.y + box.height / 2);
      if (step === 0) await page.mouse.down();
      await page.waitForTimeout(20);
    }
    await page.mouse.up();
  };

  // The notebook may have changes that are not saved.
  page.on("dialog", (dialog) => dialog.accept());
  page.setDefaultTimeout(60000);
  await page.goto(address);
  await ready();
  const outputs = await run(0);
  assert.ok(outputs[0].data["image/png"].length > 100, "a picture for notebooks without a kernel");
  await isFinal(1);
  await drag(0.25, 0.75);
  await page.waitForTimeout(1000);
  const moved = await gain();
  assert.ok(moved > 2 && moved < 4, `the slider sets gain, which is ${moved}`);
  // The picture follows: its greatest value is the input.
  await isFinal(moved);

  // A page that is loaded again has the same view; a field takes keys from the notebook.
  await page.evaluate(() => window.jupyterapp.commands.execute("docmanager:save"));
  await page.reload({ waitUntil: "domcontentloaded" });
  await ready();
  await isFinal(moved);
  // JupyterLab gives the focus to a cell once it is complete.
  await page.waitForTimeout(2000);
  const field = page.locator("[data-input=gain] input.number").last();
  await field.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("0.5");
  await page.keyboard.press("Enter");
  await isFinal(0.5);
  assert.equal(await gain(), 0.5);

  // Cells that run again have a view of their own.
  await run(0);
  await isFinal(1);
  assert.equal(await gain(), 1);
  await page.evaluate(() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart());
  await until(`!${ROOT}.diderot.app.connected`);
  await page.evaluate(() => window.jupyterapp.commands.execute("docmanager:save"));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
