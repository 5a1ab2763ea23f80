package gamebots

import (
	"cmp"
	"math"
)

// What USARSim on UDK sends in its own way: one message a sensor, one segment a value, and ASTA for actuators.

// udkSTA is the robot's state: the time and the battery. Vehicles on wheels add the angles of their axles.
func (k *link) udkSTA(t *text, s *sample) {
	t.begin("STA")
	t.numberSegment("Time", s.time.Seconds(), fine)
	k.battery(t, s)
	k.refusal(t)
	if len(k.robot.Left)+len(k.robot.Right) > 0 {
		k.steering(t, s)
	}
	t.end()
}

// steering is the angle of both axles, rad.
func (k *link) steering(t *text, s *sample) {
	for _, axle := range [...]struct {
		name   string
		joints []int
	}{{"FrontSteer", k.robot.Front}, {"RearSteer", k.robot.Rear}} {
		steer := 0.0
		if len(axle.joints) > 0 {
			steer = signed(k.angle(axle.joints[0], s.measured), k.robot.Joints[axle.joints[0]].Reversed)
		}
		t.numberSegment(axle.name, steer, fine)
	}
}

// udkPlace is where an item is: a segment each, and the class of the robot as the mount of what is on the chassis.
func (k *link) udkPlace(t *text, it *item) {
	t.segment("Name", it.name)
	t.vectorSegment("Location", flip(it.pose.Position), fine)
	t.vectorSegment("Orientation", angles(it.pose.Rotation), fine)
	t.segment("Mount", cmp.Or(it.mount, orNone(one(k.robot.Class))))
}

// The GPS coordinates of the world's origin, and the length of a minute of each there, m: the original's
// configuration (39° 8.0273' N, 77° 12.998' W), with a flat earth.
const (
	originLatitude  = 39*60 + 8.0273
	originLongitude = -(77*60 + 12.998)
	latitudeMinute  = 111200.0 / 60
	longitudeMinute = 71670.0 / 60
	satellites      = 8 // an arena has no roof
)

// gps appends a position, SAE's x to the north and y to the east, in the form of a GPS receiver.
func gps(t *text, at [3]float64) {
	for _, k := range [...]struct {
		name       string
		minutes    float64
		plus, less string
	}{
		{"Latitude", originLatitude + at[0]/latitudeMinute, ",N", ",S"},
		{"Longitude", originLongitude + at[1]/longitudeMinute, ",E", ",W"},
	} {
		side := k.plus
		if k.minutes < 0 {
			side = k.less
		}
		minutes := math.Abs(k.minutes)
		degrees := math.Floor(minutes / 60)
		t.open()
		t.integer(k.name, int(degrees))
		t.b = append(t.b, ',')
		t.b = appendNumber(t.b, minutes-60*degrees, fine)
		t.b = append(append(t.b, side...), '}')
	}
	t.integerSegment("Fix", 1)
	t.integerSegment("Satellites", satellites)
}

// timed reports whether the message of a sensor begins with the time: in the manual's dialect as in its file, later by
// its type.
func (k *link) timed(s *Sensor, kind string) bool {
	d := k.dialect.get()
	switch {
	case d == document:
		return s.TimeStamp
	case s.Type == "INS" || s.Type == "GPS":
		return false
	case d == udk:
		return true
	}
	switch kind {
	case "sonar", "range", "pose", "body", "rfid", "victim":
		return true
	case "encoder", "odometry", "inertial":
		return false
	}
	return s.TimeStamp
}

// has reports whether a sensor is one of the dialect's: UDK has an INS and no INU.
func (k *link) has(s *Sensor) bool {
	return k.dialect.since(s.Since) && !(s.Type == "INU" && k.dialect.get() == udk)
}

// settingName is a setting's name in the dialect, "" where it has none.
func (k *link) settingName(s *Setting) string {
	switch {
	case !k.dialect.since(s.Since):
		return ""
	case s.Name == "ScanFov" && k.dialect.since(Later):
		return "Fov"
	}
	return s.Name
}

// pace makes scanners without a rate of their own read as often as the later dialects' did. Between two cycles.
func (k *link) pace() {
	for i := range k.robot.Sensors {
		s := &k.robot.Sensors[i]
		if !s.Unpaced || s.Manual || k.robot.Pacer == nil || k.layout.Sensors[s.Index].Kind != "range" {
			continue
		}
		if k.robot.Pacer.Pace(s.Index, laterInterval) != nil {
			continue
		}
		k.mu.Lock()
		for g := range k.groups {
			if k.groups[g].members[0] == i {
				k.groups[g].every = laterInterval
			}
		}
		k.mu.Unlock()
	}
}
