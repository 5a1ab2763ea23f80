package cli

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"time"
)

// searcher is a controller of a P2AT written only from the manual: lines of text over a socket, without code of this
// project. Positions and rotations are the wire's: x north, y east, z down, clockwise.
type searcher struct {
	conn net.Conn
	in   *bufio.Scanner

	time    float64 // s, of the last STA
	at      [2]float64
	heading float64
	born    bool
	sonar   map[string]float64 // m, by name
	seen    float64            // when a victim with an unknown name was last in range
	seenAt  [2]float64         // its position, in the axes of the reader

	doing    int
	began    float64      // time of the first STA
	start    [2]float64   // where that was
	trail    [][2]float64 // where it has been
	next     int          // of the trail, on the way back
	followed float64      // s of following walls
	way      float64      // m that it has driven
	shy      float64      // time until which victims are left alone
	victim   string
	left     float64 // rad/s, of the wheels
	right    float64
}

// What the searcher can be doing.
const (
	following = iota
	nearing   // a victim whose name it does not know
	returning
	arrived
)

const (
	pace    = 2.0 // rad/s of the wheels
	forgets = 600 // s after which it gives up
	crumb   = 0.15
)

// rescue runs the controller against a server until it is back at the start. obeyed, where it is not nil, hears of each
// sonar message that it has acted on, and how long it is until the next.
func rescue(address string, obeyed func(time.Duration)) (*searcher, error) {
	r := &searcher{sonar: map[string]float64{}}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return r, err
	}
	defer conn.Close()
	r.conn, r.in = conn, bufio.NewScanner(conn)
	r.in.Buffer(make([]byte, 1<<16), 1<<20)
	if err := r.say("INIT {ClassName USARBot.P2AT} {Location 4.5,1.9,1.8} {Rotation 0,0,-1.5708} {Name Rescuer}"); err != nil {
		return r, err
	}
	for r.doing != arrived {
		conn.SetReadDeadline(time.Now().Add(time.Minute))
		if !r.in.Scan() {
			return r, errors.Join(errors.New("the server is gone"), r.in.Err())
		}
		if !r.hear(r.in.Text()) {
			continue
		}
		r.act()
		if err := r.say("DRIVE {Left %.3f} {Right %.3f}", r.left, r.right); err != nil {
			return r, err
		}
		if obeyed != nil {
			if err := r.settle(); err != nil {
				return r, err
			}
			obeyed(200 * time.Millisecond)
		}
		if r.time-r.began > forgets {
			return r, errors.New("it has lost its way")
		}
	}
	return r, nil
}

// settle waits until the server has taken all that was said: what it is asked last it answers last.
func (r *searcher) settle() error {
	if err := r.say("GETSTARTPOSES"); err != nil {
		return err
	}
	for r.in.Scan() {
		if strings.HasPrefix(r.in.Text(), "NFO {StartPoses") {
			return nil
		}
		r.hear(r.in.Text())
	}
	return errors.Join(errors.New("the server is gone"), r.in.Err())
}

func (r *searcher) say(format string, args ...any) error {
	_, err := fmt.Fprintf(r.conn, format+"\r\n", args...)
	return err
}

// hear takes a message, and reports whether it is one to act on: the ring of sonars.
func (r *searcher) hear(line string) bool {
	kind, rest, _ := strings.Cut(line, " ")
	var segments [][]string
	for _, s := range strings.FieldsFunc(rest, func(c rune) bool { return c == '{' || c == '}' }) {
		if words := strings.Fields(s); len(words) > 0 {
			segments = append(segments, words)
		}
	}
	// value is what stands behind a name in a segment.
	value := func(words []string, name string) string {
		for i := 0; i+1 < len(words); i += 2 {
			if words[i] == name {
				return words[i+1]
			}
		}
		return ""
	}
	switch kind {
	case "STA":
		for _, s := range segments {
			switch v := triple(s[1]); s[0] {
			case "Time":
				r.time = v[0]
			case "Location":
				r.Move([2]float64{v[0], v[1]})
			case "Orientation":
				r.heading = v[2]
			}
		}
	case "SEN":
		var of string
		for _, s := range segments {
			if s[0] == "Type" {
				of = s[1]
			}
		}
		id := ""
		for _, s := range segments {
			switch {
			case of == "Sonar" && s[0] == "Name":
				r.sonar[s[1]] = triple(value(s, "Range"))[0]
			case of == "VictRFID" && s[0] == "ID":
				id = s[1]
			case of == "VictRFID" && s[0] == "Location" && id == "None":
				v := triple(s[1])
				r.seen, r.seenAt = r.time, [2]float64{v[0], v[1]}
			}
		}
		if id != "" && id != "None" && id != "FalsePositive" {
			r.victim = id
		}
		return of == "Sonar" && r.born
	}
	return false
}

// triple parses a list of numbers of the wire; a malformed number is 0.
func triple(s string) (v [3]float64) {
	for i, word := range strings.Split(s, ",") {
		if i < len(v) {
			v[i], _ = strconv.ParseFloat(word, 64)
		}
	}
	return v
}

// Move keeps the trail.
func (r *searcher) Move(to [2]float64) {
	if !r.born {
		r.born, r.began, r.start, r.at = true, r.time, to, to
		r.trail = [][2]float64{to}
	}
	r.way += between(r.at, to)
	r.at = to
	if r.doing != returning && between(to, r.trail[len(r.trail)-1]) > crumb {
		r.trail = append(r.trail, to)
	}
}

func between(a, b [2]float64) float64 { return math.Hypot(a[0]-b[0], a[1]-b[1]) }

// act decides on the wheels' speeds.
func (r *searcher) act() {
	const tick = 0.2 // s
	if r.doing == following {
		r.followed += tick
		switch {
		case r.victim == "" && r.time > r.shy && r.Open():
			r.doing, r.shy = nearing, r.time+15
		case r.victim != "" && r.followed >= 120:
			r.doing, r.next = returning, len(r.trail)-1
		}
	}
	switch r.doing {
	case following:
		r.follow()
	case nearing:
		r.near()
	case returning:
		r.comeBack()
	}
}

// ahead is the nearest thing in front. What stands beside the front counts where it is nearer than a turn needs.
func (r *searcher) ahead() float64 {
	near := math.Min(r.sonar["F4"], r.sonar["F5"])
	if r.sonar["F3"] < 0.36 || r.sonar["F6"] < 0.36 || r.sonar["F7"] < 0.22 {
		near = math.Min(near, 0.34)
	}
	return near
}

// follow keeps the wall at the left: it steers for a distance to what F1 (to the left) and F2 (50° ahead of it) see,
// and turns away from what is in front.
func (r *searcher) follow() {
	const keep, front = 0.36, 0.4 // m
	ahead := r.ahead()
	if ahead < front {
		r.left, r.right = pace, -pace
		return
	}
	side := math.Min(r.sonar["F1"], r.sonar["F2"]*0.7)
	turn := math.Max(-0.8, math.Min(0.55, 2.5*(side-keep)))
	slow := math.Min(1, ahead/0.8)
	r.left, r.right = pace*(slow-turn), pace*(slow+turn)
}

// Open reports whether a victim has just been seen without an obstacle in between: tags are seen through walls too.
func (r *searcher) Open() bool {
	const body = 0.35 // m, from the tag to the skin, and from the reader to the sonars
	ahead := math.Min(r.sonar["F4"], r.sonar["F5"])
	return r.born && r.time-r.seen < 0.5 && ahead > math.Hypot(r.seenAt[0], r.seenAt[1])-body &&
		ahead > 0.2 && math.Min(r.sonar["F3"], r.sonar["F6"]) > 0.2
}

// near drives towards a victim until its name is known, or an obstacle is in between.
func (r *searcher) near() {
	if r.victim != "" || r.time > r.shy || !r.Open() {
		r.doing, r.shy = following, r.time+10
		r.left, r.right = 0, 0
		return
	}
	turn := math.Max(-0.6, math.Min(0.6, 2*math.Atan2(r.seenAt[1], r.seenAt[0])))
	r.left, r.right = 1+turn, 1-turn
}

// comeBack goes the trail backwards, without its loops, from crumb to crumb.
func (r *searcher) comeBack() {
	if between(r.at, r.start) < 0.2 {
		r.doing, r.left, r.right = arrived, 0, 0
		return
	}
	const reach, short = 0.3, 0.25 // m
	for r.next > 0 && between(r.at, r.trail[r.next]) < reach {
		r.next--
		// Where the trail has been before, it has been in a circle.
		for i := 0; i < r.next; i++ {
			if between(r.trail[i], r.trail[r.next]) < short {
				r.next = i
			}
		}
	}
	to := r.trail[r.next]
	off := math.Remainder(math.Atan2(to[1]-r.at[1], to[0]-r.at[0])-r.heading, 2*math.Pi)
	// What the sonars see beside the way pushes it to the other side.
	push := func(names ...string) (p float64) {
		for _, n := range names {
			p = math.Max(p, 0.3-r.sonar[n])
		}
		return p
	}
	turn := math.Max(-1, math.Min(1, 1.5*off)) + 4*(push("F1", "F2", "F3")-push("F6", "F7", "F8"))
	slow := math.Max(0, math.Cos(off))
	if math.Abs(off) > 0.8 || r.ahead() < 0.3 {
		slow = 0
	}
	r.left, r.right = pace*(slow+turn), pace*(slow-turn)
}
