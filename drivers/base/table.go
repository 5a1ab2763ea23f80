package base

import (
	"fmt"
	"slices"
	"strings"
)

// vel2Step is the unit of a wheel speed of Vel2, mm/s.
const vel2Step = 20

// Place is the position and direction of a sonar: m forward and to the left of the robot's centre, rad to the left.
type Place struct{ X, Y, Heading float64 }

// Robot is one type of base: the scales of its values. It is read-only.
type Robot struct {
	Name        string  // the subclass in its reply to SYNC2
	Distance    float64 // m a count of x and y
	Range       float64 // m a count of a sonar
	Speed       float64 // m/s a count of a wheel's speed
	Difference  float64 // rad of turn a metre of half the difference of the wheels
	Radius      float64 // of a wheel, m
	Length      float64 // m
	Width       float64 // m
	MaxSpeed    float64 // m/s
	MaxTurn     float64 // rad/s
	Wheels      int     // 2, or 4 where the two of a side are geared together: skid steering
	Sonar       []Place // one a transducer, in the order of their numbers
	Bumpers     int     // segments a ring, where it has rings
	FullVolts   float64 // battery
	EmptyVolts  float64 // V, likewise FullVolts
	NoEchoRange float64 // reading of a sonar without an echo
}

const degree = 3.14159265358979323846 / 180

// Angle is one count of a heading, rad: 4096 a turn.
const Angle = 360 * degree / 4096

// GyroScale is one count of the analog gyro, rad/s: a 300 °/s gyro of 2.5 V on a ten bit converter of 5 V, by ARIA's
// factor.
const GyroScale = 5.0 / 1023 * 300 / 2.5 * 1.626 * degree

// GyroStill is the nominal reading of the analog gyro at rest.
const GyroStill = 512

// places makes poses of the table's millimetres and degrees.
func places(at [][3]float64) []Place {
	p := make([]Place, len(at))
	for i, a := range at {
		p[i] = Place{a[0] / 1000, a[1] / 1000, a[2] * degree}
	}
	return p
}

func sonarAT() []Place {
	return places([][3]float64{
		{147, 136, 90}, {193, 119, 50}, {227, 79, 30}, {245, 27, 10}, {245, -27, -10}, {227, -79, -30},
		{193, -119, -50}, {147, -136, -90},
		{-144, -136, -90}, {-189, -119, -130}, {-223, -79, -150}, {-241, -27, -170}, {-241, 27, 170}, {-223, 79, 150},
		{-189, 119, 130}, {-144, 136, 90},
	})
}

func sonarDX() []Place {
	return places([][3]float64{
		{69, 136, 90}, {114, 119, 50}, {148, 78, 30}, {166, 27, 10}, {166, -27, -10}, {148, -78, -30}, {114, -119, -50},
		{69, -136, -90},
		{-157, -136, -90}, {-203, -119, -130}, {-237, -78, -150}, {-255, -27, -170}, {-255, 27, 170}, {-237, 78, 150},
		{-203, 119, 130}, {-157, 136, 90},
	})
}

func sonarAmigo() []Place {
	return places([][3]float64{
		{76, 100, 90}, {125, 75, 41}, {150, 30, 15}, {150, -30, -15}, {125, -75, -41}, {76, -100, -90},
		{-140, -58, -145}, {-140, 58, 145},
	})
}

// sonarPeople are the rings of a PeopleBot: that of a P3-DX, and one higher up.
func sonarPeople() []Place {
	return append(sonarDX(), places([][3]float64{
		{-20, 136, 90}, {24, 119, 50}, {58, 78, 30}, {77, 27, 10}, {77, -27, -10}, {58, -78, -30}, {24, -119, -50},
		{-20, -136, -90},
		{-191, -136, -90}, {-237, -119, -130}, {-271, -78, -150}, {-290, -27, -170}, {-290, 27, 170}, {-271, 78, 150},
		{-237, 119, 130}, {-191, 136, 90},
	})...)
}

// sonarPerformance are those of the older PeopleBots, whose boards number the rings by halves.
func sonarPerformance() []Place {
	p := sonarPeople()
	return slices.Concat(p[:8], p[16:24], p[8:16], p[24:])
}

// sonarPower are the rings of a PowerBot; numbers 7, 15, 23 and 31 have no transducer.
func sonarPower() []Place {
	return places([][3]float64{
		{152, 278, 90}, {200, 267, 65}, {241, 238, 45}, {274, 200, 35}, {300, 153, 25}, {320, 96, 15}, {332, 33, 5},
		{0, 0, -180},
		{332, -33, -5}, {320, -96, -15}, {300, -153, -25}, {274, -200, -35}, {241, -238, -45}, {200, -267, -65},
		{152, -278, -90}, {0, 0, -180},
		{-298, -278, -90}, {-347, -267, -115}, {-388, -238, -135}, {-420, -200, -145}, {-447, -153, -155},
		{-467, -96, -165}, {-478, -33, -175}, {0, 0, -180},
		{-478, 33, 175}, {-467, 96, 165}, {-447, 153, 155}, {-420, 200, 145}, {-388, 238, 135}, {-347, 267, 115},
		{-298, 278, 90}, {0, 0, -180},
	})
}

func sonarPatrol() []Place {
	return places([][3]float64{
		{83, 229, 90}, {169, 202, 55}, {232, 134, 30}, {263, 46, 10}, {263, -46, -10}, {232, -134, -30},
		{169, -202, -55}, {83, -229, -90},
		{-83, -229, -90}, {-169, -202, -125}, {-232, -134, -150}, {-263, -46, -170}, {-263, 46, 170}, {-232, 134, 150},
		{-169, 202, 125}, {-83, 229, 90},
	})
}

// accessories are what ARIA's parameter files name behind a robot: a laser, which changes no unit of the base.
func accessories() []string {
	return []string{"lms1xx", "lms500", "lms5xx", "lms2xx", "tim3xx", "tim5xx", "s3series", "urg", "uarcs"}
}

// bare is the name of a robot without its accessory: p3dx-sh of p3dx-sh-lms1xx.
func bare(name string) string {
	if i := strings.LastIndexByte(name, '-'); i > 0 && slices.Contains(accessories(), name[i+1:]) {
		return name[:i]
	}
	return name
}

// Robots are the bases known, by their names. Factors and sizes are those of ARIA's parameter files; radii of wheels
// are of the manuals' tables of dimensions, but those of PeopleBots, PowerBots and PatrolBots, which are not checked.
func Robots() []Robot {
	// A millimetre's worth of ARIA's factors, in SI.
	robot := func(name string, dist, rng, vel, diff, radius, length, width, speed, turn float64, wheels int,
		sonar []Place) Robot {
		return Robot{Name: name, Distance: dist / 1000, Range: rng / 1000, Speed: vel / 1000, Difference: diff * 1000,
			Radius: radius, Length: length / 1000, Width: width / 1000, MaxSpeed: speed / 1000, MaxTurn: turn * degree,
			Wheels: wheels, Sonar: sonar, Bumpers: 5, FullVolts: 12.8, EmptyVolts: 11, NoEchoRange: 5}
	}
	at := func(name string, dist, rng, diff, radius float64) Robot {
		return robot(name, dist, rng, 1, diff, radius, 626, 505, 1200, 300, 4, sonarAT())
	}
	dx := func(name string, dist, rng, diff, radius float64) Robot {
		return robot(name, dist, rng, 1, diff, radius, 511, 425, 2200, 500, 2, sonarDX())
	}
	people := func(name string, dist, rng, diff float64, sonar []Place) Robot {
		return robot(name, dist, rng, 1, diff, 0.0955, 513, 425, 2200, 500, 2, sonar)
	}
	bumped := func(n int, r Robot) Robot {
		r.Bumpers = n
		return r
	}
	return []Robot{
		at("p2at", 1.32, 0.268, 0.0034, 0.110), at("p2at8", 1.32, 1, 0.0034, 0.110),
		at("p2at8+", 0.465, 1, 0.0034, 0.110), at("p2it", 1.136, 0.268, 0.0032, 0.110),
		at("p3at", 0.465, 1, 0.0034, 0.111), at("p3at-sh", 1, 1, 0.0034, 0.111),
		dx("p2dx", 0.84, 0.268, 0.0056, 0.0825), dx("p2de", 0.969, 0.268, 0.0056, 0.095),
		dx("p2df", 0.485, 0.268, 0.0060, 0.0825), dx("p2d8", 0.485, 1, 0.0056, 0.095),
		dx("p2d8+", 0.485, 1, 0.0056, 0.095), dx("p2ce", 0.826, 0.268, 0.0057, 0.0825),
		dx("p3dx", 0.485, 1, 0.0056, 0.0975), dx("p3dx-sh", 1, 1, 0.0056, 0.0975),
		people("p2pb", 0.424, 0.268, 0.0056, append(sonarDX()[:8:8], sonarPerformance()[8:24]...)),
		people("perfpb", 0.485, 1, 0.006, sonarPerformance()), people("perfpb+", 0.485, 1, 0.006, sonarPerformance()),
		people("peoplebot-sh", 1, 1, 0.006, sonarPeople()),
		bumped(7, robot("powerbot", 0.5813, 1, 1, 0.00373, 0.13, 911, 680, 2000, 360, 2, sonarPower())),
		bumped(7, robot("powerbot-sh", 1, 1, 1, 0.00373, 0.13, 911, 680, 2000, 360, 2, sonarPower())),
		bumped(6, robot("patrolbot-sh", 1, 1, 1, 0.0056, 0.1, 510, 425, 2200, 500, 2, sonarPatrol())),
		robot("amigo", 0.5083, 1, 0.6154, 0.011, 0.05, 330, 279, 1000, 300, 2, sonarAmigo()),
		robot("amigo-sh", 1, 1, 1, 0.011, 0.05, 330, 279, 1000, 300, 2, sonarAmigo()),
	}
}

// RobotOf is the robot called name, with or without an accessory: p3dx-sh-lms1xx is a p3dx-sh.
func RobotOf(name string) (Robot, error) {
	for _, r := range Robots() {
		if r.Name == bare(name) {
			return r, nil
		}
	}
	return Robot{}, fmt.Errorf("base: robot: got %q, want one of base.Robots", name)
}
