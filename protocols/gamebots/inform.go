package gamebots

import (
	"cmp"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// item is a sensor, effecter or camera that GETGEO, GETCONF and SET find by type and name.
type item struct {
	family            int
	kind, name, mount string
	pose              hal.Pose
	settings          []Setting
	camera            int // of Robot.Cameras, or hal.None
	sensor            int // of Robot.Sensors, or hal.None
	effecter          int // of Robot.Effecters, or hal.None
}

const cameraType = "Camera"

// The families of items, in the order in which the original answers.
const (
	sensorFamily = iota
	effecterFamily
	cameraFamily
	families
)

// items returns those of the robot, by family.
func (k *link) items() (all []item) {
	add := func(family int, it item) *item {
		it.family, it.camera, it.sensor, it.effecter = family, hal.None, hal.None, hal.None
		all = append(all, it)
		return &all[len(all)-1]
	}
	for i, s := range k.robot.Sensors {
		add(sensorFamily, item{kind: s.Type, name: s.Name, mount: s.Mount, settings: s.Settings,
			pose: k.layout.Sensors[s.Index].Mount}).sensor = i
	}
	for i, e := range k.robot.Effecters {
		add(effecterFamily, item{kind: e.Type, name: e.Name, mount: e.Mount, settings: e.Settings,
			pose: e.Pose}).effecter = i
	}
	for i, c := range k.robot.Cameras {
		add(cameraFamily, item{kind: cameraType, name: c.Name, mount: c.Mount,
			pose: k.layout.Cameras[c.Index].Mount}).camera = i
	}
	return all
}

// is reports whether an item is of that type, has that name, "" for any, and is one of the dialect's.
func (k *link) is(it *item, kind, name []byte) bool {
	return equal(kind, it.kind) && (len(name) == 0 || equal(name, it.name)) &&
		(it.sensor == hal.None || k.has(&k.robot.Sensors[it.sensor]))
}

// find is the first item of that type and name, or nil.
func (k *link) find(kind, name []byte) *item {
	for i := range k.all {
		if it := &k.all[i]; k.is(it, kind, name) && equal(name, it.name) {
			return it
		}
	}
	return nil
}

// orNone is how a mount or parent is called that has no name: the chassis.
func orNone(name string) string { return cmp.Or(name, "None") }

// nfo appends the NFO of the game.
func nfo(t *text, a *Arena) {
	t.begin("NFO")
	t.segment("Gametype", a.Game)
	t.segment("Level", a.Level)
	t.integerSegment("TimeLimit", int(a.TimeLimit.Seconds()))
	t.end()
}

// startPoses appends the recommended starts, all in one segment.
func startPoses(t *text, starts []Start) {
	t.begin("NFO")
	t.integerSegment("StartPoses", len(starts))
	if len(starts) > 0 {
		t.open()
		for i := range starts {
			t.vector(one(starts[i].Name), flip(starts[i].Pose.Position), fine)
			t.b = append(t.b, ' ')
			a := angles(starts[i].Pose.Rotation)
			t.numbers(a[:], fine)
		}
		t.close()
	}
	t.end()
}

// res answers a command of a sensor or effecter.
func res(t *text, now time.Duration, decimals int, kind, name, status string) {
	t.begin("RES")
	t.numberSegment("Time", now.Seconds(), decimals)
	t.segment("Type", kind)
	t.segment("Name", name)
	t.segment("Status", status)
	t.end()
}

// query answers GETGEO and GETCONF: one message a family that has items of that type, else the question itself.
func (k *link) query(t *text, head string, kind, name []byte) {
	answered := false
	for family := range families {
		begun := false
		for i := range k.all {
			it := &k.all[i]
			if it.family != family || !k.is(it, kind, name) {
				continue
			}
			if !begun {
				t.begin(head)
				t.segment("Type", it.kind)
			}
			begun = true
			switch {
			case head != "GEO":
				k.conf(t, it)
			case k.dialect.get() == udk:
				k.udkPlace(t, it)
			default:
				t.open()
				t.word("Name", it.name)
				t.place(it.pose)
				t.word("Mount", orNone(it.mount))
				t.close()
			}
			if head == "CONF" && !k.dialect.since(Later) {
				break // the manual's CONF is the type's, whose items are alike
			}
		}
		if begun {
			t.end()
		}
		answered = answered || begun
	}
	switch {
	// packages first: a type may be that of items and packages alike
	case k.packages(t, head, kind, name) || answered:
	case k.dialect.since(Later) && equal(kind, "Robot"):
		k.whole(t, head)
	default:
		t.begin(head)
		t.segment("Type", string(kind))
		if len(name) > 0 {
			t.segment("Name", string(name))
		}
		t.end()
	}
}

// conf is an item's settings.
func (k *link) conf(t *text, it *item) {
	if k.dialect.since(Later) {
		t.segment("Name", it.name)
	}
	if it.camera != hal.None {
		c := &k.robot.Cameras[it.camera]
		t.numberSegment("CameraDefFov", c.Default, fine)
		t.numberSegment("CameraMinFov", c.Min, fine)
		t.numberSegment("CameraMaxFov", c.Max, fine)
		t.numberSegment("CameraFov", k.fov[it.camera], fine)
	}
	for i := range it.settings {
		s := &it.settings[i]
		switch name := k.settingName(s); {
		case name == "":
		case s.Word != "":
			t.segment(name, s.Word)
		default:
			t.numberSegment(name, s.Value, fine)
		}
	}
}

// packages answers for all mission packages of a type, and reports whether there are any.
func (k *link) packages(t *text, head string, kind, name []byte) bool {
	begun := false
	actuator := k.dialect.get() == udk && equal(kind, "Actuator")
	all := actuator || k.dialect.since(Later) && equal(kind, "MisPkg")
	for i := range k.robot.Packages {
		p := &k.robot.Packages[i]
		if !all && !equal(kind, p.Type) || len(name) > 0 && !equal(name, p.Name) {
			continue
		}
		if !begun {
			t.begin(head)
			switch {
			case actuator:
				t.segment("Type", "Actuator")
			case all:
				t.segment("Type", "MisPkg")
			default:
				t.segment("Type", p.Type)
				if head == "CONF" {
					t.numberSegment("ScanInterval", k.robot.Interval.Seconds(), coarse)
				}
			}
		}
		begun = true
		switch {
		case all:
			k.links(t, head, p, actuator)
		case head == "GEO":
			t.open()
			t.word("Name", p.Name)
			t.place(p.Pose)
			t.close()
			for j := range p.Parts {
				t.part(p.Parts[j].Name, p.Parts[j].Pose)
				t.close()
			}
		default:
			t.segment("Name", p.Name)
			for j := range p.Parts {
				t.carries(&p.Parts[j])
			}
		}
	}
	if begun {
		t.end()
	}
	return begun
}

// carries is a part with the mounts on it.
func (t *text) carries(p *Part) {
	t.open()
	t.word("Part", p.Name)
	t.word("Parent", orNone(p.Parent))
	for _, m := range p.Mounts {
		t.word("Mount", "M_"+p.Name+"_"+m.Carries)
		t.place(m.Pose)
	}
	t.close()
}
