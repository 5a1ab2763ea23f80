package echelon

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/grid"
	"github.com/halyard-robotics/halyard/internal/protocols/moast"
)

// How vehicles of a fleet keep apart, ours. Each one's planners treat where the others publish that they are as
// obstacles; of two that meet, the one with the higher number waits while the other one moves.
const (
	clearance = 0.15 // m beyond both radii that a path keeps from another vehicle
	aware     = 4.0  // m: a vehicle farther away is elsewhere by the time this one comes there
	giveWay   = 1.8  // m between two middles, within which one of two waits
	moved     = 0.1  // m by which a vehicle has moved,
	still     = 1.0  // and the time after which it counts as still, s
	blur      = 0.3  // m by which a vehicle in a scan may be off its published place: scans are older
)

// traffic is where the other vehicles of a fleet are, by the positions that they publish.
type traffic struct {
	fleet *Fleet
	self  *buffers
	all   []neighbour
	nav   moast.NavDataExt
}

// neighbour is another vehicle, in absolute coordinates.
type neighbour struct {
	id     int
	radius float64 // m
	at     place
	mark   place   // where it was when it was last seen to have moved
	since  float64 // when that was, s
}

// look reads where the others are at now, s.
func (t *traffic) look(now float64) {
	n := 0
	for _, b := range t.fleet.others(t.self) {
		if b.nav.Peek(&t.nav) != nil {
			continue
		}
		at := placeOf(t.nav.Abs.Tran, t.nav.Abs.RPY)
		if bad(at.x) || bad(at.y) {
			continue
		}
		if n == len(t.all) || t.all[n].id != b.vehicle {
			t.all = append(t.all[:n], neighbour{id: b.vehicle, radius: b.radius, mark: at, since: now})
		}
		o := &t.all[n]
		if o.at = at; distance(at.x, at.y, o.mark.x, o.mark.y) > moved {
			o.mark, o.since = at, now
		}
		n++
	}
	t.all = t.all[:n]
}

// occupy blocks the cells of a field where others are, for a vehicle of so large a radius, m, that is here, in the cell
// start. cell is the row and the column of an absolute point, size that of a cell, m.
func (t *traffic) occupy(f *grid.Field, here place, start int, radius, size float64,
	cell func(x, y float64) (row, column float64)) {
	for i := range t.all {
		o := &t.all[i]
		if distance(here.x, here.y, o.at.x, o.at.y) < aware {
			row, column := cell(o.at.x, o.at.y)
			f.Occupy(row, column, (radius+o.radius+clearance)/size, start)
		}
	}
}

// waits reports whether the vehicle at here, at now, s, lets another one pass: none that is behind a wall.
func (t *traffic) waits(here place, now float64, walled func(x, y float64) bool) bool {
	for i := range t.all {
		o := &t.all[i]
		if o.id < t.self.vehicle && now-o.since < still && distance(here.x, here.y, o.at.x, o.at.y) < giveWay &&
			!walled(o.at.x, o.at.y) {
			return true
		}
	}
	return false
}

// slow is the speed, m/s, at which a vehicle at here can still stop before the others, however they move.
func (t *traffic) slow(here place) float64 {
	const (
		creep = 0.1 // m/s
		share = 0.4 // 1/s, of the distance left
	)
	v := math.Inf(1)
	for i := range t.all {
		o := &t.all[i]
		v = math.Min(v, creep+share*math.Max(0, distance(here.x, here.y, o.at.x, o.at.y)-t.self.radius-o.radius))
	}
	return v
}

// near reports whether another vehicle is so near to here that it may be in the way; free, whether none is where (x, y)
// would be in its way.
func (t *traffic) near(here place) bool   { return t.closest(here.x, here.y) < 1.5*giveWay }
func (t *traffic) free(x, y float64) bool { return t.closest(x, y) > 1.5*giveWay }
func (t *traffic) closest(x, y float64) (d float64) {
	d = math.Inf(1)
	for i := range t.all {
		d = math.Min(d, distance(x, y, t.all[i].at.x, t.all[i].at.y))
	}
	return d
}

// seen reports whether the absolute point (x, y) of a scan may be of another vehicle: that is no part of a map.
func (t *traffic) seen(x, y float64) bool {
	for i := range t.all {
		if o := &t.all[i]; distance(x, y, o.at.x, o.at.y) < o.radius+blur {
			return true
		}
	}
	return false
}
