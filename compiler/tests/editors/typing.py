"""Types every program of the gallery character by character into the language server, and measures its answers.

    python3 typing.py DIDEROTC [PROGRAM…]

After each character the editor asks one of several questions about that place. Prints the median, the 95th percentile and the greatest
time of an answer for each program, and the 95th percentile of all. Fails if the server ends, or reports something at the end that
`diderotc check` does not.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

QUESTIONS = ["completion", "hover", "semanticTokens/full", "signatureHelp", "documentSymbol", "inlayHint"]


class Server:
    def __init__(self, diderotc):
        self.process = subprocess.Popen([diderotc, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0
        self.messages = {}
        self.ask("initialize", {"capabilities": {}})
        self.tell("initialized", {})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def tell(self, method, parameters):
        self.send({"method": method, "params": parameters})

    def receive(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            name, value = line.split(b":")
            if name == b"Content-Length":
                length = int(value)
        if not length:
            sys.exit("the server has ended")
        message = json.loads(self.process.stdout.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            self.messages[message["params"]["uri"]] = message["params"]["diagnostics"]
        return message

    def ask(self, method, parameters):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": parameters})
        while (message := self.receive()).get("id") != self.number:
            pass
        return message


def position(line, text):
    return {"line": line, "character": len(text.encode("utf-16-le")) // 2}


def type_program(server, path):
    text = path.read_text()
    # Beside the program, so that it finds its imports.
    uri = (path.parent / f"typed-{path.name}").resolve().as_uri()
    document = {"uri": uri}
    server.tell("textDocument/didOpen", {"textDocument": {**document, "languageId": "diderot", "version": 0, "text": ""}})
    times = []
    line, before = 0, ""
    for number, letter in enumerate(text):
        here = position(line, before)
        change = {"range": {"start": here, "end": here}, "text": letter}
        server.tell("textDocument/didChange", {"textDocument": {**document, "version": number + 1}, "contentChanges": [change]})
        line, before = (line + 1, "") if letter == "\n" else (line, before + letter)
        here = position(line, before)
        parameters = {"textDocument": document, "position": here, "range": {"start": {"line": 0, "character": 0}, "end": here}}
        start = time.perf_counter()
        server.ask("textDocument/" + QUESTIONS[number % len(QUESTIONS)], parameters)
        times.append(1e3 * (time.perf_counter() - start))
    # The messages come once the editor is quiet.
    server.messages.pop(uri, None)
    while uri not in server.messages:
        server.receive()
    server.tell("textDocument/didClose", {"textDocument": document})
    return sorted(times), [message["message"] for message in server.messages[uri] if message["severity"] == 1]


def main():
    diderotc, *programs = sys.argv[1:]
    root = Path(__file__).resolve().parents[3]
    programs = [Path(name) for name in programs] or sorted((root / "programs/gallery").glob("*.diderot"))
    server = Server(diderotc)
    everything, wrong = [], 0
    for path in programs:
        times, errors = type_program(server, path)
        everything += times
        part = lambda p: times[min(len(times) - 1, int(p * len(times)))]
        print(f"{path.name:24} {len(times):6} characters, {part(0.5):5.1f} / {part(0.95):5.1f} / {times[-1]:5.1f} ms")
        for error in errors:
            print(f"    {error}")
        wrong += len(errors)
    everything.sort()
    print(f"all: {len(everything)} answers, 95 % within {everything[int(0.95 * len(everything))]:.1f} ms")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
