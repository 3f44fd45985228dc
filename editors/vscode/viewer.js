// The command "Diderot: View": `diderotc view` for the program of the editor, shown in a panel beside it.
'use strict';

const { spawn } = require('node:child_process');
const path = require('node:path');
const readline = require('node:readline');

const ADDRESS = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\]):(\d+)\/#([0-9a-f]+)$/;

/** The words of a line, as a shell divides it: quotes and backslashes keep blanks. */
function words(line) {
  const found = [];
  let word = null;
  let quote = null;
  for (let k = 0; k < line.length; k += 1) {
    const letter = line[k];
    if (quote !== null && letter === quote) {
      quote = null;
    } else if (quote === null && (letter === '"' || letter === "'")) {
      quote = letter;
      word ??= '';
    } else if (letter === '\\' && quote !== "'" && k + 1 < line.length) {
      k += 1;
      word = (word ?? '') + line[k];
    } else if (quote === null && /\s/.test(letter)) {
      if (word !== null) {
        found.push(word);
      }
      word = null;
    } else {
      word = (word ?? '') + letter;
    }
  }
  return word === null ? found : [...found, word];
}

/** The page of a panel: a frame that has the viewer, and its address for systems that show none. */
function page(address) {
  const { origin } = new URL(address);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; frame-src ${origin}">
<style>html, body, iframe { border: 0; height: 100%; margin: 0; padding: 0; width: 100%; }</style>
</head>
<body><iframe src="${address}" allow="clipboard-write" title="The viewer"></iframe></body>
</html>`;
}

/** The viewers of an editor, at most one for each file. `vscode` is the module of the editor; `state` keeps the options of files. */
class Viewers {
  constructor(vscode, state) {
    this.vscode = vscode;
    this.state = state;
    this.open = new Map();
    this.output = null;
  }

  /** Asks for the options of the program in the editor and shows it. */
  async view() {
    const { window } = this.vscode;
    const document = window.activeTextEditor?.document;
    if (document?.languageId !== 'diderot') {
      return window.showWarningMessage('Diderot: open a program to view it.');
    }
    if ((document.isUntitled || document.isDirty) && !(await document.save())) {
      return undefined;
    }
    const file = document.uri.fsPath;
    const key = `options:${file}`;
    const options = await window.showInputBox({
      title: `View ${path.basename(file)}`,
      prompt: 'Options of the program, such as the files of its images',
      placeHolder: '-vol data/phantom.nrrd',
      value: this.state.get(key, ''),
    });
    if (options === undefined) {
      return undefined;
    }
    await this.state.update(key, options);
    return this.start(file, words(options));
  }

  /** Starts the command; its viewer ends with the panel, and the panel is closed when the command ends. */
  async start(file, options) {
    const { window, workspace, ViewColumn, Uri } = this.vscode;
    this.open.get(file)?.end();
    const command = workspace.getConfiguration('diderot').get('command');
    const folder = workspace.getWorkspaceFolder?.(Uri.file(file))?.uri.fsPath ?? path.dirname(file);
    const child = spawn(command, ['view', '--no-open', file, ...options], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    this.output ??= window.createOutputChannel('Diderot viewer');
    const viewer = { child, panel: null, end: () => child.kill('SIGINT') };
    this.open.set(file, viewer);
    let messages = '';
    child.stderr.on('data', (data) => {
      messages += data;
      this.output.append(String(data));
    });
    const ended = new Promise((done) => {
      child.once('error', (error) => done(error.message));
      child.once('close', (code) => done(`it ended with status ${code}. ${messages}`.trim()));
    });
    ended.then(() => {
      if (this.open.get(file) === viewer) {
        this.open.delete(file);
      }
      viewer.panel?.dispose();
    });
    const first = new Promise((done) => readline.createInterface(child.stdout).once('line', done));
    const found = await Promise.race([first.then((address) => ({ address })), ended.then((failure) => ({ failure }))]);
    if (!ADDRESS.test(found.address ?? '')) {
      viewer.end();
      return window.showErrorMessage(`Diderot: \`${command} view\` cannot be started; the setting "diderot.command" has its path. (${found.failure ?? found.address})`);
    }
    const address = await this.reachable(found.address);
    viewer.panel = window.createWebviewPanel('diderot.view', path.basename(file), { viewColumn: ViewColumn.Beside, preserveFocus: true }, {
      enableScripts: true,
      retainContextWhenHidden: true,
    });
    viewer.panel.webview.html = page(address);
    viewer.panel.onDidDispose(() => {
      viewer.panel = null;
      viewer.end();
    });
    return viewer.panel;
  }

  /** The address as the browser of the editor reaches it: if the command runs on another machine, the editor forwards its port. */
  async reachable(address) {
    const { env, window, Uri } = this.vscode;
    const { origin, port, hash } = new URL(address);
    const external = new URL((await env.asExternalUri(Uri.parse(origin))).toString(true));
    if (external.port !== port) {
      // The viewer refuses requests for another port than its own.
      window.showWarningMessage(`Diderot: the viewer needs the port ${port}, which is taken here. Start it again, or forward that port by hand.`);
    }
    return `${external.origin}/${hash}`;
  }

  /** Ends all viewers. */
  dispose() {
    for (const viewer of this.open.values()) {
      viewer.end();
    }
    this.output?.dispose();
  }
}

module.exports = { Viewers, page, words };
