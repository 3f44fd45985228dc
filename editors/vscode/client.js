// Starts the language server `diderotc lsp` and connects the editor with it; adds the commands.
'use strict';

const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');
const { Viewers } = require('./viewer');

let client;

async function start() {
  const command = vscode.workspace.getConfiguration('diderot').get('command');
  client = new LanguageClient(
    'diderot',
    'Diderot',
    { command, args: ['lsp'] },
    { documentSelector: [{ language: 'diderot' }] },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    vscode.window.showWarningMessage(
      `Diderot: the command \`${command}\` cannot be started; the setting "diderot.command" has its path. (${error.message})`,
    );
  }
}

exports.activate = async (context) => {
  const restart = async () => {
    await client?.stop();
    await start();
  };
  const viewers = new Viewers(vscode, context.workspaceState);
  context.subscriptions.push(
    viewers,
    vscode.commands.registerCommand('diderot.restart', restart),
    vscode.commands.registerCommand('diderot.view', () => viewers.view()),
  );
  await start();
};

exports.deactivate = () => client?.stop();
