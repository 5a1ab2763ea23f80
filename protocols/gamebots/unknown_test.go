package gamebots

import (
	"math"
	"strings"
	"testing"
	"time"
)

// TestUnknown is what a client sees of what is not known: of lost joints, lost sensors, values that a sensor does not
// have, and of a robot that no command moves.
func TestUnknown(t *testing.T) {
	for _, c := range []struct {
		name      string
		dialect   Dialect
		lost      string // a device
		set       string // a sensor with values that it does not know
		values    []float64
		disarm    bool
		send      string
		want, not string // in the messages of an interval
		log       string
		goals     string // an input that must not be commanded
	}{
		{name: "all known", want: "{Battery 3598}|F1 Range 0.0000", not: "NaN|State"},
		{name: "a lost sonar is left out", lost: "F1", want: "{Name F2 Range 0.0000}", not: "F1"},
		{name: "the odometry is left out", lost: "Odometry", want: "INU", not: "Odometry"},
		{name: "a lost encoder is left out", lost: "ECLeft", want: "ECRight", not: "ECLeft"},
		{name: "a lost contact is left out", lost: "Front", want: "{Name Left Touch False}", not: "Front"},
		{name: "a lost ray is NaN, no echo the greatest range", set: "Scanner1",
			values: []float64{math.NaN(), 2, math.Inf(1), 7, math.NaN()},
			send:   "SET {Type RangeScanner} {Name Scanner1} {Opcode SCAN}",
			want:   "{Range NaN,2.0000,20.0000,7.0000,NaN}"},
		{name: "a lost scanner answers no scan", lost: "Scanner1",
			send: "SET {Type RangeScanner} {Name Scanner1} {Opcode SCAN}",
			want: "RES", not: "{Resolution"},
		{name: "a part behind a lost joint", lost: "pan",
			want: "{Part CameraPan Location 0.0000,0.0000,0.0280 Orientation NaN,NaN,NaN}|{Part CameraTilt Location " +
				"0.0000,0.0000,0.0000 Orientation 0.0000,0.0000,0.0000}"},
		{name: "links of a lost joint", dialect: Later, lost: "pan",
			want: "{Link 1} {Value NaN} {Torque NaN} {Link 2} {Value 0.0000}"},
		{name: "the steering of a lost joint", dialect: Later, lost: "steering",
			want: "{FrontSteer NaN} {RearSteer 0.0000}"},
		{name: "the steering on UDK", dialect: udk, lost: "steering", want: "{FrontSteer NaN}"},
		{name: "no true pose, no STA", lost: "truth", want: "SEN", not: "STA"},
		{name: "a goal relative to a lost joint", lost: "pan", send: "CAMERA {Rotation 0,0,0.5}", log: "CameraPan",
			goals: "pan/position"},
		{name: "a solver without a joint's angle", lost: "steering", send: "MISPKG {Name Arm1} {Rotation 0,0.5,0}",
			log: "not known", goals: "steering/position"},
		{name: "disarmed", disarm: true, send: "DRIVE {Left 1} {Right 1}",
			want: "{Battery 3598} {State disarmed}", log: "command=\"DRIVE, disarmed\"", goals: "LeftFWheel/velocity"},
		{name: "disarmed, later", dialect: Later, disarm: true, want: "{View -1} {State disarmed}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := config{change: func(r *Robot) { r.AbsoluteCamera = false }}
			set.Dialect = c.dialect
			bubble(t, set, func(s *stage) {
				s.play("a> INIT {ClassName USARBot.P2AT} {Name R1}")
				s.listen("a", 500*time.Millisecond)
				p := s.town.puppet("R1")
				if p.mu.Lock(); c.lost != "" {
					p.lost = map[string]bool{c.lost: true}
				}
				p.mu.Unlock()
				if c.set != "" {
					p.set(c.set, c.values...)
				}
				if c.disarm {
					s.rig.Agent("R1").Disarm()
				}
				s.listen("a", time.Second)
				if c.send != "" {
					s.play("a> " + c.send)
				}
				got := s.listen("a", time.Second)
				for _, want := range strings.Split(c.want, "|") {
					if !strings.Contains(got, want) {
						t.Errorf("got %s, want %q", got, want)
					}
				}
				for _, not := range strings.Split(c.not, "|") {
					if not != "" && strings.Contains(got, not) {
						t.Errorf("got %s, want no %q", got, not)
					}
				}
				if !strings.Contains(s.log.String(), c.log) {
					t.Errorf("log: got %s, want %q", s.log, c.log)
				}
				if v := p.goal(c.goals); c.goals != "" && !math.IsNaN(v) {
					t.Errorf("%s: got %g, want no goal", c.goals, v)
				}
			})
		})
	}
}

// listen returns all that a client gets in a time.
func (s *stage) listen(client string, d time.Duration) string {
	s.conn(client).SetReadDeadline(time.Now().Add(d))
	var all strings.Builder
	for {
		line, err := s.received[client].ReadString('\n')
		if all.WriteString(line); err != nil {
			return all.String()
		}
	}
}
