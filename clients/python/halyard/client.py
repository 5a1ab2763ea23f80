"""The batch protocol, as docs/learning.md describes its bytes."""

import socket
import struct

import numpy as np

MAGIC, VERSION = b"HLYB", 1
HELLO, STEP, RESET = 1, 2, 3
SPACES, OBSERVATIONS, ERROR = 129, 130, 255
COPIES, ITSELF = 0, 1
UNSAFE = 6  # Refused.kind of a step that moves nothing


class Refused(Exception):
    """The server refused a request; kind is a number of hal.Kind."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


class Column:
    """One column of the actions or observations: its name, unit and range."""

    def __init__(self, name, unit, low, high):
        self.name, self.unit, self.low, self.high = name, unit, low, high

    def __repr__(self):
        return f"{self.name} [{self.unit}] {self.low:g}..{self.high:g}"


class Client:
    """A session: copies of a rig, or with itself=True the served rig. Arrays have one row a copy, SI units, float64."""

    def __init__(self, address, copies=1, seed=0, actions=(), observations=(), itself=False, timeout=60.0):
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host.strip("[]"), int(port)), timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        body = struct.pack("<B4sHBIq", HELLO, MAGIC, VERSION, ITSELF if itself else COPIES, copies, seed)
        for names in (actions, observations):
            body += struct.pack("<H", len(names)) + b"".join(_string(n) for n in names)
        try:
            answer = _Reader(self._ask(body, SPACES))
        except BaseException:
            self._socket.close()
            raise
        self.copies, period = answer.take("<Iq")
        self.period = period * 1e-9  # s of a step
        self.actions, self.observations = answer.columns(), answer.columns()

    def step(self, actions):
        """Commands every copy and returns what each measures a period later. NaN is no new command, or not known.

        Where no joint follows the actions, it raises Refused (kind UNSAFE): disarmed, stopped, or a fault in every joint."""
        actions = np.ascontiguousarray(actions, "<f8")
        if actions.shape != (self.copies, len(self.actions)):
            raise ValueError(f"actions: got shape {actions.shape}, want {(self.copies, len(self.actions))}")
        return self._observed(struct.pack("<B", STEP) + actions.tobytes())

    def reset(self, which=None, seeds=None):
        """Returns the copies for which which is true (None: all) to the start of their seeds (None, or 0: those they had)."""
        marks = np.ones(self.copies, np.uint8) if which is None else np.asarray(which, bool).astype(np.uint8)
        seeds = np.zeros(self.copies, "<i8") if seeds is None else np.asarray(seeds, "<i8")
        if marks.shape != (self.copies,) or seeds.shape != (self.copies,):
            raise ValueError(f"reset: got {marks.shape} marks and {seeds.shape} seeds, want {self.copies} of each")
        return self._observed(struct.pack("<B", RESET) + marks.tobytes() + seeds.tobytes())

    def close(self):
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _observed(self, body):
        rest = self._ask(body, OBSERVATIONS)
        return np.frombuffer(rest, "<f8").reshape(self.copies, len(self.observations)).copy()

    def _ask(self, body, want):
        self._socket.sendall(struct.pack("<I", len(body)) + body)
        size, kind = struct.unpack("<IB", self._receive(5))
        rest = self._receive(size - 1)
        if kind == ERROR:
            r = _Reader(rest)
            (code,) = r.take("<B")
            raise Refused(code, r.string())
        if kind != want:
            raise ConnectionError(f"got a frame of type {kind}, want {want}")
        return rest

    def _receive(self, n):
        buffer = bytearray(n)
        view = memoryview(buffer)
        while view:
            got = self._socket.recv_into(view)
            if got == 0:
                raise ConnectionError("the server has closed the session")
            view = view[got:]
        return bytes(buffer)


def _string(text):
    data = text.encode()
    return struct.pack("<H", len(data)) + data


class _Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return values

    def string(self):
        (n,) = self.take("<H")
        text = self.data[self.at : self.at + n].decode()
        self.at += n
        return text

    def columns(self):
        (n,) = self.take("<H")
        return [Column(self.string(), self.string(), *self.take("<dd")) for _ in range(n)]
