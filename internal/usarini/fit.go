package usarini

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/internal/yaml"
)

// itemClasses maps the manual's classes of items to the kinds of a robot file.
var itemClasses = map[string]string{
	"sonarsensor": "sonar", "irsensor": "infrared", "rangesensor": "infrared", "rangescanner": "range",
	"irscanner":      "range",
	"odometrysensor": "odometry", "inusensor": "inertial", "encodersensor": "encoder", "touchsensor": "contact",
	"rfidsensor": "rfid", "rfidvictsensor": "victim", "victrfidsensor": "victim", "soundsensor": "sound",
	"humanmotionsensor": "motion", "robotcamera": "camera", "rfidreleaser": "releaser", "headlight": "headlight",
	// of 2007 and after
	"groundtruth": "pose", "ins": "pose", "inssensor": "pose", "gps": "pose", "gpssensor": "pose",
	"hokuyo": "range", "sicklms": "range",
	// of UDK
	"sick": "range", "hokuyourg04lx": "range", "odometry": "odometry", "encoder": "encoder", "touch": "contact",
	"usarcamera": "camera",
	"battery":    "battery", "victimsensor": "victim",
}

// poseMessages maps classes that measure their pose to message types.
var poseMessages = map[string]string{"groundtruth": "GroundTruth", "ins": "INS", "inssensor": "INS", "gps": "GPS",
	"gpssensor": "GPS"}

// scanners are the settings of scanners with a maker's name that have no section in the file: those of USARSim's own
// file.
var scanners = map[string]string{
	"hokuyo":  ", range_m: 4, fov_deg: 240, resolution_deg: 1.0547, interval_s: 0.3",
	"sicklms": ", range_m: 20, fov_deg: 180, resolution_deg: 1, interval_s: 0.2",
	"sick":    ", range_m: 20, fov_deg: 180, resolution_deg: 1, interval_s: 0.2",
}

// shortClass is a class without its package, in small letters.
func shortClass(class string) string { return strings.ToLower(short(class)) }

// kind is the kind of an item of a class. A user's own class is recognized by keys that only one kind has.
func (w *writer) kind(class string) (kind string, clear bool) {
	short := shortClass(class)
	if kind, ok := itemClasses[short]; ok {
		return kind, short == "irscanner"
	}
	v := w.bots.Device(class)
	if v == nil {
		return "", false
	}
	for _, k := range [...]struct {
		has  bool
		kind string
	}{{v.ScanFOV > 0, "range"}, {v.BeamAngle > 0, "sonar"}, {v.FPMinRange > 0, "victim"},
		{v.EncoderResolution > 0, "odometry"},
		{v.Diameter > 0, "contact"}, {v.FOV > 0, "motion"}, {v.CameraDefFOV > 0, "camera"}, {v.NumTags > 0, "releaser"},
		{v.Resolution > 0, "encoder"}} {
		if k.has {
			return k.kind, false
		}
	}
	return "", false
}

// equip writes the robot's sensors, cameras and effecters.
func (w *writer) equip() {
	r := w.robot
	var tail strings.Builder
	w.line("sensors:")
	n := 0
	sensors, cameras, effecters := w.sort()
	for i := range sensors {
		n += w.sensor(&sensors[i], n)
	}
	w.line("  - {name: %s, path: /Battery, kind: battery, body: %s, life_s: %s}", w.own("battery"), w.base.Chassis,
		num(r.BatteryLife))
	w.place(fmt.Sprintf("sensors[%d]", n), r.Line, "batteryLife")
	w.line("  - {name: %s, path: /GroundTruth, kind: pose, body: %s}", w.own("groundtruth"), w.base.Chassis)
	if len(cameras) > 0 {
		w.line("\ncameras:")
	}
	for i := range cameras {
		w.camera(&cameras[i], i)
	}
	for i := range effecters {
		w.effecter(&effecters[i], &tail)
	}
	w.drive(&tail)
}

// sort adds the items of AddParts to the sensors, cameras and effecters of the robot, by their class. It leaves out
// items that every robot has here, and purely visual ones.
func (w *writer) sort() (sensors, cameras, effecters []Item) {
	r := w.robot
	sensors, cameras, effecters = slices.Clone(r.Sensors), slices.Clone(r.Cameras), slices.Clone(r.Effecters)
	for _, it := range r.Added {
		kind, _ := w.kind(it.Class)
		switch pack := strings.ToLower(packageOf(it.Class)); {
		case kind == "camera":
			cameras = append(cameras, it)
		case kind == "releaser" || kind == "headlight":
			effecters = append(effecters, it)
		case kind == "battery" || pack == "usardeco":
		case pack == "usaractuator":
			w.note(it.Line, "AddParts.ItemClass", yaml.Quote(it.Class),
				"nothing: the robot has its own mission packages")
		default:
			sensors = append(sensors, it)
		}
	}
	return sensors, cameras, effecters
}

// drive writes the usarsim section. A built-in robot keeps its own wheels, sides and packages.
func (w *writer) drive(tail *strings.Builder) {
	r := w.robot
	w.place("usarsim.interval_s", r.Line, "msgTimer")
	w.line("\nusarsim:\n  class: %q\n  interval_s: %s\n  relative_camera: %v\n  torque_drive: %v", r.Class,
		num(r.Interval), !r.AbsoluteCamera, !r.SpeedControl)
	w.out.WriteString(tail.String())
	section, list := "", ""
	for line := range strings.Lines(string(w.base.YAML)) {
		line = strings.TrimRight(line, "\r\n")
		switch key, _, _ := strings.Cut(strings.TrimSpace(line), ":"); {
		case line != "" && line[0] >= 'a' && line[0] <= 'z':
			section = key
			continue
		case section != "usarsim" || strings.TrimSpace(line) == "":
			continue
		case strings.HasPrefix(line, "  ") && line[2] != ' ':
			list = key
		}
		switch list {
		case "class", "interval_s", "relative_camera", "torque_drive", "releaser":
			continue
		case "packages":
			if w.packages != "" {
				continue
			}
		}
		w.line("%s", line)
	}
	w.out.WriteString(w.packages)
}

// carrier is the body that an item is mounted on, and its pose there. A part of a built-in robot is another body than
// in the INI, at the same position.
func (w *writer) carrier(it *Item, list string) (body string, ok bool) {
	if it.Parent == "" {
		return w.base.Chassis, true
	}
	part, ok := w.base.Joints[strings.ToLower(it.Parent)]
	if !ok {
		w.decoder.line = it.Line
		w.fault(list+".Parent", yaml.Quote(it.Parent), "a part that the robot has")
	}
	return part[1], ok
}

// sensor writes one sensor and reports how many that were.
func (w *writer) sensor(it *Item, n int) int {
	kind, clear := w.kind(it.Class)
	w.decoder.line = it.Line
	if kind == "" && w.lenient {
		w.note(it.Line, "Sensors.ItemClass", yaml.Quote(it.Class), "nothing: "+it.Name+" is left out")
		return 0
	}
	if kind == "" || kind == "camera" || kind == "releaser" || kind == "headlight" {
		w.fault("Sensors.ItemClass", yaml.Quote(it.Class),
			"a sensor of the manual, or a class whose section sets its kind")
		return 0
	}
	body, ok := w.carrier(it, "Sensors")
	if !ok {
		return 0
	}
	s := fmt.Sprintf("  - {name: %s, path: \"/%s\", kind: %s, body: %s%s", w.own(it.Name), it.Name, kind, body,
		pose(it.Pose))
	if kind == "encoder" {
		part, ok := w.base.Joints[strings.ToLower(it.Parent)]
		if !ok && w.lenient {
			w.note(it.Line, "Sensors.Parent", yaml.Quote(it.Parent),
				"nothing: "+it.Name+" counts the turns of no part and is left out")
			return 0
		}
		if !ok {
			w.fault("Sensors.Parent", yaml.Quote(it.Parent), "the part whose turns the encoder counts")
			return 0
		}
		s += ", joint: " + part[0]
	}
	w.place(fmt.Sprintf("sensors[%d]", n), it.Line, "Sensors "+it.Name)
	if kind == "pose" { // its section has no relevant keys
		w.line("%s, message: %s}", s, poseMessages[shortClass(it.Class)])
		return 1
	}
	if v := w.bots.Device(it.Class); v != nil {
		s += w.settings(kind, v, n)
	} else {
		s += scanners[shortClass(it.Class)]
	}
	if clear {
		s += ", infrared: true"
	}
	w.line("%s}", s)
	return 1
}

// settings are the values of a class's section as keys of a robot file; the defaults are those of USARSim's own file.
func (w *writer) settings(kind string, v *Device, n int) (s string) {
	add := func(key, value, ini string) {
		s += ", " + key + ": " + value
		w.twin.places[fmt.Sprintf("sensors[%d].%s", n, key)] = entry{key: where(v.Class, ini), line: v.Line}
	}
	if v.TimeStamp {
		add("time_stamp", "true", "bWithTimeStamp")
	} else if kind == "sonar" || kind == "infrared" {
		add("time_stamp", "false", "bWithTimeStamp")
	}
	for _, k := range [...]struct {
		kinds, key, ini string
		value           float64
	}{
		{"sonar infrared range rfid motion", "range_m", "MaxRange", v.MaxRange},
		{"victim", "range_m", "FPMinRange", v.FPMinRange}, {"victim", "near_m", "VictMinRange", v.VictMinRange},
		{"victim", "nearest_m", "VictStatusRange", v.VictStatusRange},
		{"victim", "fov_deg", "RFIDFOV", inDegrees(v.RFIDFOV)},
		{"sonar", "beam_deg", "BeamAngle", inDegrees(v.BeamAngle)}, {"motion", "fov_deg", "FOV", inDegrees(v.FOV)},
		{"range", "fov_deg", "ScanFov", inDegrees(v.ScanFOV)},
		{"range encoder", "resolution_deg", "Resolution", inDegrees(v.Resolution)},
		{"odometry", "resolution_deg", "EncoderResolution", inDegrees(v.EncoderResolution)},
		{"contact", "diameter_m", "Diameter", v.Diameter},
	} {
		if slices.Contains(strings.Fields(k.kinds), kind) && k.value > 0 {
			add(k.key, num(k.value), k.ini)
		}
	}
	switch kind {
	case "range":
		// a scanner without an interval scans on request
		if add("interval_s", num(v.ScanInterval), "ScanInterval"); v.ScanInterval == 0 {
			add("manual", "true", "ScanInterval")
		}
		if v.Pitch && !v.Yaw {
			add("plane", "xz", "bPitch")
		}
	case "odometry", "inertial":
		add("interval_s", num(v.ScanInterval), "ScanInterval")
	}
	if slices.Contains([]string{"sonar", "infrared", "range", "inertial", "encoder", "sound", "motion"}, kind) {
		add("noise", num(v.Noise), "Noise")
		if len(v.OutputCurve) > 0 {
			points := make([]string, len(v.OutputCurve))
			for i, p := range v.OutputCurve {
				points[i] = "[" + num(p.In) + ", " + num(p.Out) + "]"
			}
			add("curve", "["+strings.Join(points, ", ")+"]", "OutputCurve")
		}
	}
	if kind == "odometry" {
		for _, t := range [...]struct{ key, ini, tire string }{{"left", "LeftTire", v.LeftTire},
			{"right", "RightTire", v.RightTire}} {
			if t.tire == "" || strings.EqualFold(t.tire, "None") {
				continue
			}
			part, ok := w.base.Joints[strings.ToLower(t.tire)]
			if !ok {
				// one section serves all robots: for a wheel that this one lacks the sensor selects one itself (8.4.1)
				w.twin.Notes = append(w.twin.Notes, fault(w.file, v.Line, where(v.Class, t.ini), yaml.Quote(t.tire),
					"a part of "+w.robot.Class+": its outermost wheel is taken"))
				continue
			}
			add(t.key, part[0], t.ini)
		}
	}
	return s
}

func (w *writer) camera(it *Item, n int) {
	w.decoder.line = it.Line
	if kind, _ := w.kind(it.Class); kind != "camera" {
		w.fault("Cameras.ItemClass", yaml.Quote(it.Class), "USARBot.RobotCamera, or a class with CameraDefFov")
		return
	}
	body, ok := w.carrier(it, "Cameras")
	if !ok {
		return
	}
	fov, least, most := 0.7854, 0.3491, 2.0944 // the manual's own (8.12.2)
	if v := w.bots.Device(it.Class); v != nil && v.CameraDefFOV > 0 {
		fov = v.CameraDefFOV
		if least = fov; v.CameraMinFOV > 0 {
			least = math.Min(fov, v.CameraMinFOV)
		}
		most = math.Max(fov, v.CameraMaxFOV)
	}
	path := fmt.Sprintf("cameras[%d]", n)
	w.place(path, it.Line, "Cameras "+it.Name)
	s := fmt.Sprintf("  - {name: %s, path: \"/%s\", body: %s%s, fov_deg: %s", w.own(it.Name), it.Name, body,
		pose(it.Pose), num(inDegrees(fov)))
	if most > least {
		s += ", zoom_deg: [" + num(inDegrees(least)) + ", " + num(inDegrees(most)) + "]"
	}
	if p := w.base.Package[strings.ToLower(it.Parent)]; p != "" {
		s += fmt.Sprintf(", package: %q", p)
	}
	w.line("%s}", s)
}

func (w *writer) effecter(it *Item, tail *strings.Builder) {
	w.decoder.line = it.Line
	kind, _ := w.kind(it.Class)
	switch {
	case kind == "headlight":
		fmt.Fprintf(tail, "  headlight: true\n")
	case kind == "releaser" && strings.Contains(tail.String(), "releaser:"):
		w.fault("Effecters", "a second releaser of tags", "one")
	case kind == "releaser":
		if _, ok := w.carrier(it, "Effecters"); !ok {
			return
		}
		tags := 10 // the manual's own (9.1.2)
		if v := w.bots.Device(it.Class); v != nil && v.NumTags > 0 {
			tags = v.NumTags
		}
		at := it.Pose
		if it.Parent != "" {
			at = w.base.Poses[strings.ToLower(it.Parent)].Times(at)
		}
		w.place("usarsim.releaser", it.Line, "Effecters "+it.Name)
		fmt.Fprintf(tail, "  releaser: {name: %q, tags: %d, at_m: %s}\n", it.Name, tags, list3(at.Position))
	default:
		w.fault("Effecters.ItemClass", yaml.Quote(it.Class),
			"USARBot.RFIDReleaser, USARBot.Headlight, or a class with NumTags")
	}
}
