// The viewer in a real browser: what a user of `diderotc view` does, and the values and files that must come of it.
//
//   NODE_PATH=FOLDER/node_modules node compiler/tests/view/browser.mjs DIDEROTC [CHECK…]
//
// FOLDER has playwright-core, and the system has Chromium (or the variable CHROMIUM its path); `.ci/extended viewer` arranges both.
// A line is printed for each check. DIDEROT_RELOADS is the number of reloads of the page (200).

import * as pictures from "./browser/pictures.mjs";
import * as others from "./browser/others.mjs";
import { Place, startBrowser } from "./browser/harness.mjs";

const CHECKS = [
  pictures.onlyItsServer, pictures.controlsGiveTheValues, pictures.dragsTurnTheCamera, pictures.dragsMoveThePlane, pictures.dragsAreAnsweredCoarselyFirst,
  pictures.exportsEqualTheCommandsFiles, pictures.displayNeedsNoRun, others.geometryIsDrawn, others.evolvingProgramsPlayAndStep, others.savesAreShown,
  others.reloadsLeakNothing, others.pagesFollowEachOther, others.strangersDisturbNothing, others.tunnelsWorkWithEqualPorts, others.panelsOfEditorsShowIt, others.interruptsFreeThePort,
];

// "dragsTurnTheCamera" becomes "drags turn the camera".
const title = (check) => check.name.replace(/[A-Z]/g, (letter) => " " + letter.toLowerCase());

async function main([diderotc, ...names]) {
  if (!diderotc) throw new Error("usage: node browser.mjs DIDEROTC [CHECK…]");
  const browser = await startBrowser();
  const place = new Place(diderotc);
  let failures = 0;
  try {
    for (const check of CHECKS.filter((one) => names.length === 0 || names.includes(one.name))) {
      const start = performance.now();
      const time = () => `${((performance.now() - start) / 1000).toFixed(1)} s`;
      try {
        const found = await check({ browser, place });
        console.log(`ok    ${title(check)}, ${time()}: ${found}`);
      } catch (error) {
        failures += 1;
        console.log(`WRONG ${title(check)}, ${time()}: ${error.message}`);
        if (process.env.DIDEROT_TRACE) console.log(error.stack);
      }
    }
  } finally {
    await browser.close();
    await place.end();
  }
  return failures === 0 ? 0 : 1;
}

main(process.argv.slice(2)).then((status) => process.exit(status), (error) => {
  console.error(`error: ${error.message}`);
  process.exit(2);
});
