// The command "Diderot: View" with an editor that is none, and a program in the place of `diderotc`.
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { Viewers, page, words } = require('../viewer');

test('options are divided as a shell does', () => {
  assert.deepStrictEqual(words(''), []);
  assert.deepStrictEqual(words('  -vol  a.nrrd -n 3 '), ['-vol', 'a.nrrd', '-n', '3']);
  assert.deepStrictEqual(words(`-vol "my scan.nrrd" -s 'a "b"' -t a\\ b -e ''`), ['-vol', 'my scan.nrrd', '-s', 'a "b"', '-t', 'a b', '-e', '']);
});

test('the panel may show the viewer and nothing else', () => {
  const text = page('http://127.0.0.1:8123/#00ff');
  assert.match(text, /default-src 'none'; style-src 'unsafe-inline'; frame-src http:\/\/127\.0\.0\.1:8123"/);
  assert.match(text, /<iframe src="http:\/\/127\.0\.0\.1:8123\/#00ff"/);
});

// A folder with a command that does what `diderotc view` does for an editor, and a file `log` of its words and its end.
function folderWith(script) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'diderot-vscode-'));
  const command = path.join(folder, 'diderotc');
  fs.writeFileSync(command, `#!/usr/bin/env node\nconst log = (text) => require('fs').appendFileSync(${JSON.stringify(path.join(folder, 'log'))}, text + '\\n');\n${script}`);
  fs.chmodSync(command, 0o755);
  fs.writeFileSync(path.join(folder, 'a program.diderot'), '#version 2.0\n');
  return { folder, command, file: path.join(folder, 'a program.diderot'), log: () => fs.readFileSync(path.join(folder, 'log'), 'utf8').split('\n').filter(Boolean) };
}

const SERVES = `
log(JSON.stringify(process.argv.slice(2)));
process.on('SIGINT', () => { log('end'); process.exit(130); });
console.log('http://127.0.0.1:8123/#00ff');
setInterval(() => {}, 1000);`;

function editor({ command, file, answer, forwarded }) {
  const seen = { panels: [], errors: [], asked: [] };
  const kept = new Map();
  const vscode = {
    ViewColumn: { Beside: -2 },
    Uri: { file: (fsPath) => ({ fsPath }), parse: (text) => text },
    env: { asExternalUri: async (address) => forwarded ?? address },
    workspace: { getConfiguration: () => ({ get: () => command }), getWorkspaceFolder: () => undefined },
    window: {
      activeTextEditor: file && { document: { languageId: 'diderot', uri: { fsPath: file }, isDirty: true, save: async () => (seen.saved = true) } },
      showInputBox: async (options) => {
        seen.asked.push(options.value);
        return answer;
      },
      showErrorMessage: (text) => void seen.errors.push(text),
      showWarningMessage: (text) => void seen.errors.push(text),
      createOutputChannel: () => ({ append() {}, dispose() {} }),
      createWebviewPanel: (kind, title, column, options) => {
        const panel = { kind, title, options, webview: {}, closed: false, listeners: [], onDidDispose: (listener) => panel.listeners.push(listener), dispose: () => {
          if (panel.closed) return;
          panel.closed = true;
          panel.listeners.forEach((listener) => listener());
        } };
        seen.panels.push(panel);
        return panel;
      },
    },
  };
  const state = { get: (key, otherwise) => kept.get(key) ?? otherwise, update: async (key, value) => void kept.set(key, value) };
  return { viewers: new Viewers(vscode, state), seen };
}

async function until(condition) {
  for (let k = 0; k < 200 && !condition(); k += 1) {
    await new Promise((done) => setTimeout(done, 50));
  }
  assert.ok(condition(), String(condition));
}

test('a panel shows the program, and its end is the end of the command', async () => {
  const place = folderWith(SERVES);
  const { viewers, seen } = editor({ ...place, answer: '-vol "my scan.nrrd"' });
  await viewers.view();
  assert.deepStrictEqual(seen.errors, []);
  assert.ok(seen.saved);
  assert.match(seen.panels[0].webview.html, /http:\/\/127\.0\.0\.1:8123\/#00ff/);
  assert.deepStrictEqual(JSON.parse(place.log()[0]), ['view', '--no-open', place.file, '-vol', 'my scan.nrrd']);
  // Again: the options are those of before, and the first command ends.
  await viewers.view();
  assert.deepStrictEqual(seen.asked, ['', '-vol "my scan.nrrd"']);
  await until(() => place.log().filter((line) => line === 'end').length === 1 && seen.panels[0].closed);
  assert.strictEqual(viewers.open.size, 1);
  seen.panels[1].dispose();
  await until(() => place.log().filter((line) => line === 'end').length === 2);
  await until(() => viewers.open.size === 0);
});

test('a forwarded port must be the same', async () => {
  for (const [forwarded, errors] of [['http://localhost:8123/', 0], ['http://localhost:9000/', 1]]) {
    const { viewers, seen } = editor({ ...folderWith(SERVES), answer: '', forwarded });
    await viewers.view();
    assert.match(seen.panels[0].webview.html, new RegExp(`src="${forwarded}#00ff"`));
    assert.strictEqual(seen.errors.length, errors);
    viewers.dispose();
  }
});

test('the end of the extension ends the commands', async () => {
  const place = folderWith(SERVES);
  const { viewers } = editor({ ...place, answer: '' });
  await viewers.view();
  viewers.dispose();
  await until(() => place.log().includes('end'));
});

test('a command that fails, a missing one and a missing program are reported', async () => {
  const fails = folderWith("console.error('error: no such option'); process.exit(2);");
  const { viewers, seen } = editor({ ...fails, answer: '-x' });
  await viewers.view();
  assert.match(seen.errors[0], /status 2\. error: no such option/);
  assert.strictEqual(seen.panels.length, 0);
  const missing = editor({ command: path.join(fails.folder, 'nothing'), file: fails.file, answer: '' });
  await missing.viewers.view();
  assert.match(missing.seen.errors[0], /"diderot\.command" has its path.*ENOENT/);
  const without = editor({ command: 'x' });
  await without.viewers.view();
  assert.match(without.seen.errors[0], /open a program/);
  const refused = editor({ ...fails, answer: undefined });
  assert.strictEqual(await refused.viewers.view(), undefined);
});
