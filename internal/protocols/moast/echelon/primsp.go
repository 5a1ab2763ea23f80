package echelon

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

// primSP is PrimSP: it turns the ranges of servo's buffers into pairs of a sensor's place and a hit, each scan from
// where the vehicle was when it was taken. It publishes from the start; GO sets how often.
type primSP struct {
	plain
	nav, sonar *nml.Buffer
	points     *nml.Buffer
	scanners   []scanner
	at         moast.NavDataExt
	navs       int32 // writes of nav seen
	past       track
	every      float64 // s between two lists, at least
	due        float64
	list       moast.SensorDataList
}

// scanner is one line scan buffer and its last scan as points.
type scanner struct {
	mount  SensorMount
	buffer *nml.Buffer
	writes int32 // of buffer, that were seen
	scan   moast.SensorData1D
	points []moast.SensorPoint
}

func (c *primSP) Update(m *Module, now float64) {
	if n := c.nav.State().Count; n != c.navs && c.nav.Peek(&c.at) == nil {
		c.navs = n
		c.past.add(c.at.Time, placeOf(c.at.Rel.Tran, c.at.Rel.RPY))
	}
	fresh := false
	for i := range c.scanners {
		s := &c.scanners[i]
		if n := s.buffer.State().Count; n != s.writes && c.past.n > 0 && s.buffer.Peek(&s.scan) == nil {
			s.writes, fresh = n, true
			s.points = hits(s.points[:0], &s.scan, s.mount, c.past.at(s.scan.Time))
			c.shorten(s.points)
		}
	}
	if !fresh || now < c.due {
		return
	}
	c.due = now + c.every
	c.list.Points = c.list.Points[:0]
	for i := range c.scanners {
		s := &c.scanners[i]
		c.list.Increment, c.list.MaxRange, c.list.MinRange = s.scan.Increment, s.scan.MaxRange, s.scan.MinRange
		c.list.Time = math.Max(c.list.Time, s.scan.Time)
		c.list.Points = append(c.list.Points, s.points[:min(len(s.points), moast.MaxPoints-len(c.list.Points))]...)
	}
	m.note(c.points.Write(&c.list))
}

// hits appends the points of a scan that was taken from a vehicle at here, from straight ahead to the sides. A ray
// without a hit ends beyond the range: what it passed is free.
func hits(to []moast.SensorPoint, scan *moast.SensorData1D, mount SensorMount, here place) []moast.SensorPoint {
	n := len(scan.Features)
	sx, sy := here.of(mount.X, mount.Y)
	for i := range n {
		k := n / 2
		if k += (i + 1) / 2; i%2 == 1 {
			k -= i + 1
		}
		if k < 0 || k >= n || bad(scan.Features[k]) || scan.Features[k] < scan.MinRange {
			continue
		}
		r := scan.Features[k]
		sin, cos := math.Sincos(here.yaw + mount.Yaw + scan.Start + float64(k)*scan.Increment)
		to = append(to, moast.SensorPoint{Param: r, Sensor: moast.Cartesian{X: sx, Y: sy, Z: mount.Z},
			Hit: moast.Cartesian{X: sx + r*cos, Y: sy + r*sin, Z: mount.Z}})
	}
	return to
}

// What is made of a sonar's echo: how far it counts, the half width of its cone, and how much nearer than everything
// the scanner sees in it an echo is that comes from a mirror, glass, or a thing below the scanner's plane.
const (
	sonarReach = 1.2  // m
	sonarBeam  = 0.17 // rad
	sonarSide  = 0.14 // rad beyond the cone where a hit of the scanner explains an echo
	sonarSlack = 0.1  // m, and as much of the range
)

// shorten ends rays at the echoes of the sonars that are nearer.
func (c *primSP) shorten(points []moast.SensorPoint) {
	var array moast.SensorData3D
	if c.sonar.Peek(&array) != nil {
		return
	}
	for i := range array.Elements {
		e := &array.Elements[i]
		if !(e.Range > 0 && e.Range < sonarReach) {
			continue
		}
		here := c.past.at(e.Time)
		x, y := here.of(e.Pose.Translation.X, e.Pose.Translation.Y)
		echo(points, place{x, y, here.yaw + e.Pose.Yaw()}, e.Range)
	}
}

// echo ends the rays in a sonar's cone at its range, where none of them ends there or before.
func echo(points []moast.SensorPoint, sonar place, r float64) {
	low, high := 0.0, 0.0 // the part of the cone and its sides that the scanner sees
	for i := range points {
		p := sonar.from(place{x: points[i].Hit.X, y: points[i].Hit.Y})
		off := math.Atan2(p.y, p.x)
		if math.Abs(off) > sonarBeam+sonarSide {
			continue
		}
		if math.Hypot(p.x, p.y) < r+sonarSlack*(1+r) {
			return
		}
		low, high = math.Min(low, off), math.Max(high, off)
	}
	if low > -sonarBeam || high < sonarBeam {
		return // it may be outside the scanner's field of view
	}
	for i := range points {
		p := &points[i]
		q := sonar.from(place{x: p.Hit.X, y: p.Hit.Y})
		if math.Abs(math.Atan2(q.y, q.x)) > sonarBeam || p.Param <= 0 {
			continue
		}
		// where the ray leaves the circle of r about the sonar
		ux, uy := (p.Hit.X-p.Sensor.X)/p.Param, (p.Hit.Y-p.Sensor.Y)/p.Param
		dx, dy := p.Sensor.X-sonar.x, p.Sensor.Y-sonar.y
		b := ux*dx + uy*dy
		t := math.Sqrt(math.Max(0, b*b-dx*dx-dy*dy+r*r)) - b
		if t > 0 && t < p.Param {
			p.Param, p.Hit.X, p.Hit.Y = t, p.Sensor.X+t*ux, p.Sensor.Y+t*uy
		}
	}
}

func (c *primSP) Task(m *Module, command moast.Command, _ bool) {
	if g, ok := command.(*moast.PrimSPCmdGo); ok {
		if !(g.OutputCycle >= 0) || bad(g.OutputCycle) {
			m.Fail("output cycle out of range")
			return
		}
		c.every = g.OutputCycle
	}
	m.Finish()
}

func (c *primSP) Configure(m *Module, config moast.Command) error {
	if d, ok := config.(*moast.CfgDebug); ok {
		m.settings.(*moast.PlainSet).Debug = d.Debug
	}
	return nil
}

// track is where a vehicle was in the last second: a scan is up to half a second old when it can be read.
type track struct {
	past      [128]moment
	newest, n int
}

type moment struct {
	time float64 // s
	place
}

// add stores where the vehicle is at a time. The same time again is ignored; an earlier one clears the track.
func (t *track) add(time float64, at place) {
	if t.n > 0 && time == t.past[t.newest].time {
		return
	}
	if t.n > 0 && time < t.past[t.newest].time {
		t.n = 0
	}
	t.newest = (t.newest + 1) % len(t.past)
	t.n = min(t.n+1, len(t.past))
	t.past[t.newest] = moment{time, at}
}

// at is where the vehicle was, between the two moments about a time; the nearest one that is known outside of them. It
// needs one moment.
func (t *track) at(time float64) place {
	after := &t.past[t.newest]
	for k := range t.n {
		m := &t.past[(t.newest-k+len(t.past))%len(t.past)]
		if m.time > time {
			after = m
			continue
		}
		if after.time <= m.time {
			return m.place
		}
		share := (time - m.time) / (after.time - m.time)
		return place{m.x + share*(after.x-m.x), m.y + share*(after.y-m.y), wrap(m.yaw + share*wrap(after.yaw-m.yaw))}
	}
	return after.place
}
