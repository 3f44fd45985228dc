"""Pictures per second while a camera turns, as a page of the viewer gets them.

    python3 compiler/tests/view/frames.py DIDEROTC [--seconds S] [--line MBIT] PROGRAM.diderot [OPTIONS]

Starts `diderotc view`, turns the eye about the point looked at as a hand does, and prints the time to the first picture, the time from
every movement to its picture, pictures per second, and the time to the final picture after the last movement. With `--line` everything
comes over a connection of that many Mbit/s. Needs only Python.
"""

import base64
import json
import math
import os
import queue
import signal
import socket
import struct
import subprocess
import sys
import threading
import time


class Page:
    """A page of the viewer: a WebSocket by hand."""

    def __init__(self, address, line):
        base, self.token = address.split("/#")
        host = base.removeprefix("http://")
        name, port = host.split(":")
        self.socket = socket.create_connection((name, slow_line(int(port), line) if line else int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        head = f"GET /socket HTTP/1.1\r\nHost: {host}\r\nOrigin: {base}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        self.socket.sendall(f"{head}Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.file = self.socket.makefile("rb")
        while self.file.readline() != b"\r\n":
            pass
        self.send({"type": "hello", "token": self.token})

    def send(self, message):
        data = json.dumps(message).encode()
        mask = os.urandom(4)
        length = struct.pack("!B", 128 | len(data)) if len(data) < 126 else struct.pack("!BH", 128 | 126, len(data))
        self.socket.sendall(b"\x81" + length + mask + bytes(byte ^ mask[n % 4] for n, byte in enumerate(data)))

    def receive(self):
        """The next message: a dictionary, with the number of its bytes if it is binary."""
        kind, length = struct.unpack("!BB", self.file.read(2))
        if length == 126:
            (length,) = struct.unpack("!H", self.file.read(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", self.file.read(8))
        data = self.file.read(length)
        if kind & 15 == 1:
            return json.loads(data)
        (header,) = struct.unpack("<I", data[:4])
        message = json.loads(data[4 : 4 + header])
        message["bytes"] = length
        self.send({"type": "shown", "frame": message["frame"]})
        return message


def slow_line(port, megabits):
    """The port of a connection to another port that gives this many megabits a second."""
    listener = socket.create_server(("127.0.0.1", 0))

    def relay(source, target, rate):
        due = time.monotonic()
        while data := source.recv(2048):
            due = max(due, time.monotonic()) + len(data) / rate
            time.sleep(max(0, due - time.monotonic()))
            target.sendall(data)

    def serve():
        near, _ = listener.accept()
        far = socket.socket()
        # As little as possible waits on the way.
        far.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        far.connect(("127.0.0.1", port))
        near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for source, target in [(near, far), (far, near)]:
            threading.Thread(target=relay, args=(source, target, megabits * 1e6 / 8), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]


def turned(eye, look, angle):
    """The eye after a turn about the third axis through the point looked at."""
    x, y, z = (a - b for a, b in zip(eye, look))
    sine, cosine = math.sin(angle), math.cos(angle)
    return [look[0] + x * cosine - y * sine, look[1] + x * sine + y * cosine, look[2] + z]


def measure(command, seconds, line):
    start = time.monotonic()
    viewer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        turn(Page(viewer.stdout.readline().strip(), line), start, seconds)
    finally:
        viewer.send_signal(signal.SIGINT)
        viewer.wait()


def turn(page, start, seconds):
    messages = queue.Queue()

    def read():
        try:
            while True:
                messages.put((time.monotonic(), page.receive()))
        except (OSError, struct.error):
            pass

    threading.Thread(target=read, daemon=True).start()
    about, values, first = None, None, None
    while True:
        now, message = messages.get(timeout=120)
        if message["type"] == "interface":
            about = message
        elif message["type"] == "values":
            values = message["inputs"]
        elif message["type"] == "failure":
            sys.exit(message["message"])
        elif message["type"] == "picture":
            first = first or now - start
            if message["final"]:
                break
    camera = about["camera"]
    if not camera:
        sys.exit("the program has no camera")
    eye, look = values[camera["eye"]], values[camera["look"]]
    sent, delays, pictures, strides, size = {}, [], 0, [], 0
    begin = time.monotonic()
    number, due = 0, begin
    while time.monotonic() < begin + seconds or sent:
        if time.monotonic() >= due and time.monotonic() < begin + seconds:
            number += 1
            due = begin + number / 60
            sent[number] = time.monotonic()
            inputs = {camera["eye"]: turned(eye, look, number * 0.01)}
            page.send({"type": "set", "id": number, "inputs": inputs, "dragging": True})
        try:
            now, message = messages.get(timeout=max(due - time.monotonic(), 0.001))
        except queue.Empty:
            continue
        if message["type"] == "picture":
            pictures += 1
            size += message["bytes"]
            strides.append(message["stride"])
            for older in [n for n in sent if n <= message["set"]]:
                delays.append(now - sent.pop(older))
    took = time.monotonic() - begin
    rest = time.monotonic()
    page.send({"type": "rest"})
    final = None
    while final is None:
        now, message = messages.get(timeout=120)
        if message["type"] == "picture" and message["final"]:
            final = now - rest
    delays.sort()
    strides.sort()
    part = lambda p: 1e3 * delays[min(int(p * len(delays)), len(delays) - 1)]
    print(
        f"first {1e3 * first:.0f} ms; {pictures / took:.1f} pictures/s of {'×'.join(map(str, message['full']))},"
        f" stride {strides[len(strides) // 2]}, {size / pictures / 1024:.0f} KiB;"
        f" delay {part(0.5):.0f} ms, 95 % {part(0.95):.0f}, most {part(1):.0f}; final after {1e3 * final:.0f} ms"
    )


if __name__ == "__main__":
    words = sys.argv[1:]
    given = {"--seconds": 3.0, "--line": 0.0}
    for option in given:
        if option in words:
            place = words.index(option)
            given[option] = float(words[place + 1])
            del words[place : place + 2]
    if len(words) < 2:
        sys.exit(__doc__)
    measure([words[0], "view", "--no-open", *words[1:]], given["--seconds"], given["--line"])
