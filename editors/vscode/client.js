// Starts the language server `diderotc lsp` and connects the editor with it.
'use strict';

const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

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
  context.subscriptions.push(vscode.commands.registerCommand('diderot.restart', restart));
  await start();
};

exports.deactivate = () => client?.stop();
