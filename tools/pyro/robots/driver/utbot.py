"""A robot of USARSim for Pyrobot's brains, over the Gamebots protocol of Halyard or USARSim.

Python 2.6 or later and Python 3, standard library only. With Pyrobot installed UTBot is a pyrobot.robot.Robot; without
it the module works alone: connect, read range sensors, move. Its range sensors are pyrobot.robot.device.Device likewise.

Units: metres, radians and degrees as named; x ahead, y left, headings counter-clockwise. Ranges are in units of the
robot's diameter (ROBOTS) unless another unit is asked for.
"""

import math
import re
import socket
import threading
import time

try:
    from pyrobot.robot import Robot as BaseRobot
    from pyrobot.robot.device import Device as BaseDevice
except Exception:  # Pyrobot is Python 2 only, and may be absent
    BaseRobot = BaseDevice = object

RADIUS = 0.40      # m, as Pyrobot's Pioneers: one unit ROBOTS is twice that
MAX_WHEEL = 4.0    # rad/s of the wheels at full translate and rotate
MAX_LINE = 65536   # bytes of one message
LASER_RANGE = 20.0 # m: what lies farther away does not matter to a brain
TIMEOUT = 10.0     # s to connect and to spawn

GROUPS_8 = {
    'all': tuple(range(8)), 'front': (3, 4), 'front-left': (1, 2, 3), 'front-right': (4, 5, 6),
    'front-all': (1, 2, 3, 4, 5, 6), 'front-to-back-left': (3, 2, 1, 0), 'front-to-back-right': (4, 5, 6, 7),
    'left': (0,), 'right': (7,), 'left-front': (0,), 'right-front': (7,), 'left-back': (), 'right-back': (),
    'back-right': (), 'back-left': (), 'back': (), 'back-all': ()}

GROUPS_16 = dict(GROUPS_8, **{
    'all': tuple(range(16)), 'front-to-back-left': (3, 2, 1, 0, 15, 14, 13, 12),
    'front-to-back-right': (4, 5, 6, 7, 8, 9, 10, 11), 'left': (0, 15), 'right': (7, 8), 'left-back': (15,),
    'right-back': (8,), 'back-right': (9, 10, 11), 'back-left': (12, 13, 14), 'back': (11, 12),
    'back-all': (9, 10, 11, 12, 13, 14)})


class DeviceError(AttributeError):
    """A device, group or unit that does not exist."""


def parse(line):
    """Splits a message into its type and its segments, each a list of words."""
    head, _, rest = line.partition('{')
    return head.strip(), [s.split() for s in re.findall(r'\{([^{}]*)\}', '{' + rest)]


def value(segments, name):
    """The words after name in the first segment that has it, or None."""
    for words in segments:
        if name in words:
            return words[words.index(name) + 1:]
    return None


def numbers(text):
    """The numbers of 1.0,2.0,3.0."""
    return [float(n) for n in re.split(r'[,\s]+', text.strip()) if n]


class SensorValue(object):
    """One reading: distance and angle in any unit."""

    def __init__(self, device, raw, pos, geometry):
        self._dev, self.rawValue, self.pos, self.geometry = device, raw, pos, geometry
        self.noise = 0.0
        self.value = self.distance()

    def distance(self, unit=None):
        return self._dev.convert(self.rawValue, unit)

    def angle(self, unit='degrees'):
        if unit.lower() == 'radians':
            return self.geometry[3]
        if unit.lower() == 'degrees':
            return math.degrees(self.geometry[3])
        raise DeviceError("unit: got %r, want degrees or radians" % unit)

    @property
    def hit(self):
        """The measured point in the robot's axes, m."""
        x, y, z, th = self.geometry[:4]
        return x + self.rawValue * math.cos(th), y + self.rawValue * math.sin(th), z


class RangeDevice(BaseDevice):
    """A sonar array or a laser scanner: indexed by number, slice or the name of a group."""

    def __init__(self, kind, geometry, maximum, groups=None):
        if BaseDevice is not object:
            BaseDevice.__init__(self, kind)
        self.type = self.title = kind
        self.index, self.active, self.visible, self.window = 0, 1, 0, 0
        self.asyncSleep, self.state, self.timestamp = 0.01, 'started', 0.0
        setattr(self, 'async', 0)  # the name is a keyword since Python 3.7
        self._rays = geometry  # each one: x, y, z, angle (radians, to the left), arc
        self.count = len(geometry)
        self.maxvalueraw = maximum  # m
        self.radius, self.units, self.rawunits, self._noise = RADIUS, 'ROBOTS', 'METERS', 0.0
        self.ranges = [maximum] * len(geometry)
        self.arc = geometry[0][4] if geometry else 0.0
        self.groups = groups or {'all': tuple(range(len(geometry)))}

    def convert(self, metres, unit=None):
        unit = (unit or self.units).upper()
        scale = {'ROBOTS': 0.5 / self.radius, 'METERS': 1.0, 'M': 1.0, 'CM': 100.0, 'MM': 1000.0, 'RAW': 1.0}.get(unit)
        if unit == 'SCALED':
            return min(1.0, metres / self.maxvalueraw)
        if scale is None:
            raise DeviceError('unit: got %r, want ROBOTS, METERS, CM, MM, SCALED or RAW' % unit)
        return metres * scale

    def rawToUnits(self, raw, noise=0.0, units=None):
        if (units or '').upper() == 'UNRAW':  # the inverse
            return raw / self.convert(1.0) if self.units != 'SCALED' else raw * self.maxvalueraw
        return self.convert(raw, units)

    def distance(self, unit=None):
        return [v.distance(unit) for v in self]

    def angle(self, unit='degrees'):
        return [v.angle(unit) for v in self]

    def getMaxvalue(self):
        return self.convert(self.maxvalueraw)

    def getUnits(self):
        return self.units

    def setUnits(self, units):
        self.convert(0.0, units)
        self.units = units.upper()

    def getSensorValue(self, pos):
        return SensorValue(self, self.ranges[pos], pos, self._rays[pos])

    def __len__(self):
        return len(self._rays)

    def __iter__(self):
        return iter([self.getSensorValue(i) for i in range(len(self))])

    def __getitem__(self, item):
        if isinstance(item, int):
            return self.getSensorValue(item)
        if isinstance(item, slice):
            return [self.getSensorValue(i) for i in range(*item.indices(len(self)))]
        if isinstance(item, (tuple, list)):
            return [v for part in item for v in ([self[part]] if isinstance(part, int) else self[part])]
        if item in self.groups:
            return [self.getSensorValue(i) for i in self.groups[item]]
        raise DeviceError('group: got %r, want one of %s' % (item, ', '.join(sorted(self.groups))))

    def setTitle(self, title):
        self.title = title

    def updateDevice(self):
        self.timestamp = time.time()


def order(yaw, x):
    """Where a sonar is in Pyrobot's order: from the left side to the right, then along the back to the left."""
    turn = (math.degrees(-yaw) + 90.0) % 360.0  # 0 = left, 90 = ahead, 180 = right
    turn = round(turn, 3) % 360.0
    if turn < 1.0 and x < 0:
        turn = 360.0  # the left sonar of the back
    return turn, -x if turn < 181.0 else x


class UTBot(BaseRobot):
    """A robot that is spawned by connecting."""

    def __init__(self, name='Pyro', location=(4.5, 1.9, 1.8), rotation=(0.0, 0.0, 0.0), host='127.0.0.1', port=3000,
                 model='USARBot.P2AT'):
        self._closed, self._lock = True, threading.Lock()
        if BaseRobot is not object:
            BaseRobot.__init__(self)
        self.name, self.model, self.brain = name, model, None
        self.type, self.subtype, self.simulated, self.radius, self.units = 'USARSim', model, 1, RADIUS, 'METERS'
        self.devices, self.builtinDevices = [], []
        self.supportedFeatures = ['range-sensor', 'odometry', 'continuous-movement']
        self.x = self.y = self.z = self.th = self.thr = 0.0
        self.stall, self.timestamp = 0, time.time()
        self._translate = self._rotate = 0.0
        self._raw, self._origin = (0.0, 0.0, 0.0), (0.0,) * 6
        self._new, self._moved = {}, (time.time(), 0.0, 0.0)
        self._fault = None
        self._socket = socket.create_connection((host, port), TIMEOUT)
        self._closed = False
        self._reader = threading.Thread(target=self._read, name='utbot')
        self._reader.daemon = True
        self._reader.start()
        self._send('INIT {ClassName %s} {Name %s} {Location %f,%f,%f} {Rotation %f,%f,%f}' %
                   ((model, name) + tuple(location) + tuple(rotation)))
        try:
            self._discover()
        except Exception:
            self.disconnect()
            raise

    # the wire

    def _send(self, text):
        self._socket.sendall((text + '\r\n').encode('ascii'))

    def _read(self):
        waiting = b''
        try:
            while not self._closed:
                try:
                    data = self._socket.recv(65536)
                except socket.timeout:
                    continue
                if not data:
                    raise IOError('connection closed')
                waiting += data
                lines = waiting.split(b'\n')
                waiting = lines.pop()
                if len(waiting) > MAX_LINE:
                    raise IOError('message longer than %d bytes' % MAX_LINE)
                for line in lines:
                    self._receive(line.decode('latin-1').strip())
        except Exception as e:
            self._fault = e

    def _receive(self, line):
        head, segments = parse(line)
        kind = value(segments, 'Type')
        key = (head, kind[0] if kind else '')
        if head == 'SEN' and key[1] == 'RangeScanner':
            key += ((value(segments, 'Name') or [''])[0],)
        with self._lock:
            self._new[key] = segments

    def _message(self, *key):
        with self._lock:
            return self._new.get(key)

    def _wait(self, *key):
        end = time.time() + TIMEOUT
        while time.time() < end:
            if self._fault:
                raise IOError('%s: %s' % (self.name, self._fault))
            refused = self._message('RES', self.model)
            if refused:
                raise IOError('spawn %s: %s' % (self.model, refused))
            message = self._message(*key)
            if message is not None:
                return message
            time.sleep(0.01)
        raise IOError('%s: no %s in %g s' % (self.name, ' '.join(key), TIMEOUT))

    # devices

    def _discover(self):
        first = self._wait('SEN', 'Sonar')
        self._send('GETGEO {Type Sonar}')
        places = {}
        for words in self._wait('GEO', 'Sonar'):
            if words and words[0] == 'Name' and 'Location' in words and 'Orientation' in words:
                x, y, z = numbers(words[words.index('Location') + 1])
                places[words[1]] = x, -y, -z, -numbers(words[words.index('Orientation') + 1])[2]
        names = [w[1] for w in first if w and w[0] == 'Name']
        self._sonars = sorted(names, key=lambda n: order(places[n][3], places[n][0]) if n in places else (999, 0))
        arc = math.radians(7.5)
        groups = {8: GROUPS_8, 16: GROUPS_16}.get(len(names))
        self.sonar = [RangeDevice('sonar', [places.get(n, (0, 0, 0, 0)) + (arc,) for n in self._sonars], 8.0, groups)]
        self.range = self.sonar[0]
        self.laser = []
        self._scan()
        self.devices = self.builtinDevices = ['sonar'] + (['laser'] if self.laser else [])
        self.update()

    def _scan(self):
        """Makes a laser of the first scanner, where the robot has one."""
        end = time.time() + 1.0
        scanners = []
        while not scanners and time.time() < end:
            with self._lock:
                scanners = sorted(k for k in self._new if len(k) == 3)
            time.sleep(0.01)
        if not scanners:
            return
        message, self._laser = self._message(*scanners[0]), scanners[0][2]
        ranges, fov = numbers(' '.join(value(message, 'Range') or [])), float(value(message, 'FOV')[0])
        n, longest = len(ranges), LASER_RANGE
        step = fov / max(1, n - 1)
        # the wire's rays go from right to left, Pyrobot's as well
        rays = [(0.0, 0.0, 0.0, i * step - fov / 2, step) for i in range(n)]
        third = n // 3
        self.laser = [RangeDevice('laser', rays, longest, {
            'all': tuple(range(n)), 'right': tuple(range(third)), 'front': tuple(range(third, n - third)),
            'front-all': tuple(range(n)), 'left': tuple(range(n - third, n)),
            'front-right': tuple(range(third, n // 2)), 'front-left': tuple(range(n // 2, n - third))})]

    def update(self):
        """Takes the newest readings."""
        if self._fault:
            raise IOError('%s: %s' % (self.name, self._fault))
        self.timestamp = time.time()
        sonar = self._message('SEN', 'Sonar')
        if sonar:
            found = dict((w[1], float(w[w.index('Range') + 1])) for w in sonar if 'Range' in w and w[0] == 'Name')
            for i, name in enumerate(self._sonars):
                self.sonar[0].ranges[i] = found.get(name, self.sonar[0].ranges[i])
        if self.laser:
            scan = self._message('SEN', 'RangeScanner', self._laser)
            ranges = numbers(' '.join(value(scan, 'Range') or [])) if scan else []
            if len(ranges) == len(self.laser[0]):
                self.laser[0].ranges = ranges
        odometry = self._message('SEN', 'Odometry')
        pose = value(odometry, 'Pose') if odometry else None
        if pose:
            x, y, th = numbers(' '.join(pose))[:3]
            self._raw = x, -y, -th
            self._place()
        self._look_for_stall()
        for device in self.sonar + self.laser:
            device.updateDevice()

    def _look_for_stall(self):
        """A robot that is driven ahead and has moved less than 2 cm in a second stalls."""
        then, x, y = self._moved
        if abs(self._translate) < 0.05 or math.hypot(self.x - x, self.y - y) > 0.02:
            self.stall, self._moved = 0, (self.timestamp, self.x, self.y)
        elif self.timestamp - then > 1.0:
            self.stall = 1

    def __getitem__(self, name):
        return getattr(self, name)

    def requires(self, feature):
        for f in [feature] if isinstance(feature, str) else feature:
            if f not in self.supportedFeatures and not self.hasA(f):
                raise ImportError('robot does not support %r' % f)
        return 1

    def hasA(self, kind):
        return 1 if kind in self.devices else 0

    def getDevice(self, kind):
        if not self.hasA(kind):
            raise AttributeError('unknown device %r' % kind)
        return getattr(self, kind)[0]

    def getDevices(self):
        return self.devices

    def getSupportedDevices(self):
        return self.builtinDevices

    def startDeviceBuiltin(self, item):
        """Pyrobot's startDevice calls it: sonar and laser run already, and get no second one."""
        if not self.hasA(item):
            raise AttributeError('no such builtin device %r' % item)
        return item

    def setRangeSensor(self, name, index=0):
        self.range = getattr(self, name)[index]
        return 'Ok'

    def localize(self, x=0, y=0, thr=0):
        """Brains call it as they begin: the pose counts from here, m and radians."""
        with self._lock:
            self._origin = self._raw + (x, y, thr)
        self._place()

    def _place(self):
        """Sets the pose: the odometry since localize."""
        x0, y0, th0, x, y, th = self._origin
        dx, dy, turn = self._raw[0] - x0, self._raw[1] - y0, th - th0
        self.x = x + math.cos(turn) * dx - math.sin(turn) * dy
        self.y = y + math.sin(turn) * dx + math.cos(turn) * dy
        self.thr = math.atan2(math.sin(self._raw[2] + turn), math.cos(self._raw[2] + turn))
        self.th = math.degrees(self.thr)

    def supports(self, feature):
        return feature in self.supportedFeatures

    # motion: -1..1; rotate positive to the left

    def move(self, translate, rotate, z=0):
        self._translate, self._rotate = [max(-1.0, min(1.0, float(v))) for v in (translate, rotate)]
        left, right = [MAX_WHEEL * (self._translate + s * self._rotate) for s in (-1, 1)]
        self._send('DRIVE {Left %.4f} {Right %.4f}' % (left, right))

    def translate(self, v):
        self.move(v, self._rotate)

    def rotate(self, v):
        self.move(self._translate, v)

    def motors(self, left, right):
        self.move((left + right) / 2.0, (right - left) / 2.0)

    def stop(self):
        self.move(0, 0)

    def disconnect(self):
        """Stops the robot and ends the connection, which removes it."""
        if self._closed:
            return
        try:
            self.stop()
        except Exception:
            pass
        self._closed = True
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except socket.error:
            pass
        self._socket.close()

    def destroy(self):
        self.disconnect()
