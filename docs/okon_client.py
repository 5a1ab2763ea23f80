#!/usr/bin/env python3
"""Dives, steers through the pool's gates and into its finish. It knows the page "Networking" of Okon's wiki and nothing
of Halyard: python3 okon_client.py [HOST [CONTROL_PORT [VIDEO_PORT]]]"""
import json, math, socket, struct, sys, time

SET_MTR, ARM_MTR, DISARM_MTR, SET_CONTROL_MODE, SET_STABLE = 0xA0, 0xA1, 0xA2, 0xA3, 0xA5
GET_SENS, GET_CPS, HIT_NGZ, HIT_FZ, ERROR, GET_DETE = 0xB0, 0xC6, 0xC7, 0xC8, 0xCA, 0xDE
GET_VIDEO_BYTES = 0xB3


class Okon:
    """The control channel: type, flag, length as int32 little endian, data."""

    def __init__(self, host, port):
        self.socket = socket.create_connection((host, port), timeout=10)
        self.finished = False

    def read(self, n):
        data = b""
        while len(data) < n:
            data += self.socket.recv(n - len(data)) or sys.exit("the server has gone")
        return data

    def tell(self, kind, data=b"", flag=2):
        """Sends a packet; an object goes as JSON, bytes as they are."""
        data = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.socket.sendall(struct.pack("<BBi", kind, flag, len(data)) + data)

    def ask(self, kind):
        """Sends a packet without data and returns the data that answer it."""
        self.tell(kind)
        while True:
            got, _, length = struct.unpack("<BBi", self.read(6))
            data = self.read(length)
            if got == kind:
                return data
            if got in (HIT_NGZ, HIT_FZ, ERROR):
                print({HIT_NGZ: "no-go zone", HIT_FZ: "finish zone", ERROR: "error"}[got], data.decode())
                self.finished = self.finished or got == HIT_FZ

    def steer(self, heading, depth, forward):
        self.tell(SET_STABLE, {"rot": {"x": 0, "y": heading, "z": 0}, "vel": {"x": 0, "y": 0, "z": forward}, "depth": depth})


def video(host, port):
    """One frame of the video channel: a byte asks; type and length stand before the JPEG."""
    with socket.create_connection((host, port), timeout=10) as s, s.makefile("rb") as f:
        s.sendall(b"\x69")
        _, length = struct.unpack("<Bi", f.read(5))
        return f.read(length)


def main(host="127.0.0.1", control=44210, channel=44209):
    okon = Okon(host, int(control))
    okon.tell(SET_CONTROL_MODE, b"stable")
    heading = json.loads(okon.ask(GET_SENS))["rot"]["y"]
    okon.steer(heading, 1.5, 0)
    okon.tell(ARM_MTR)
    while abs(json.loads(okon.ask(GET_SENS))["baro"]["pressure"] / 9810 - 1.5) > 0.1:
        time.sleep(0.05)
    print("at 1.5 m")
    want, shown, start = "gate", False, time.time()
    while not okon.finished and time.time() < start + 120:
        if want == "gate" and all(c["reached"] for c in json.loads(okon.ask(GET_CPS))):
            print("all checkpoints reached")
            want = "finish"
        rot = json.loads(okon.ask(GET_SENS))["rot"]
        seen = [d for d in json.loads(okon.ask(GET_DETE)) if d["visibleInFrame"] and d["className"] == want and d["distance"] > 1]
        if seen:
            nearest = min(seen, key=lambda d: d["distance"])
            # Where its middle is, from -1 at the left edge to 1; the camera sees 60 degrees from top to bottom of 16:9.
            middle = nearest["min"]["x"] + nearest["max"]["x"] - 1
            heading = rot["y"] + math.degrees(math.atan(middle * math.tan(math.radians(30)) * 16 / 9))
            if not shown and nearest["distance"] < 4:
                shown = True
                picture = video(host, int(channel))
                with open("okon-gate.jpg", "wb") as f:
                    f.write(picture)
                print("a gate %.1f m ahead; okon-gate.jpg has %d bytes" % (nearest["distance"], len(picture)))
        okon.steer(heading, 1.5, 0.5)
        time.sleep(0.1)
    okon.tell(DISARM_MTR)
    print("there after %.0f s" % (time.time() - start) if okon.finished else "not there")
    return 0 if okon.finished else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
