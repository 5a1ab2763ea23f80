package osp

import (
	"errors"
	"testing"
	"testing/synctest"
)

// TestUnknown is what a client sees of lost joints and sensors and of the state of a robot: NaN, nan in a text, and the
// events of states, which occur also for a client that comes after them.
func TestUnknown(t *testing.T) {
	const register = hello + `
	a> 64 i1
	a< 65 i1 01 78
	`
	const step = `
	a> 50 i1 i0
	a< 51 i1 78
	a< 55 i1 i1 i1 i0 i0 f0 f0 78
	a> 56 i1
	`
	lose := func(s *stage) {
		s.bodies[0].Silent[0] = errors.New("no reply")
		s.bodies[0].Speed = 0
	}
	for _, c := range []struct {
		name string
		do   func(s *stage) // with a client that controls the robot
		text string
	}{
		{"all known", func(*stage) {}, step},
		{"a lost joint", lose, `
		a> 28 s/pendulum/hinge/JointAngle
		a< 29 i1 78
		a< 2b i0 i1 sInterface s/pendulum/hinge/JointAngle 78
		a> 32 i1
		a< 33 i1 snan 78
		a> 14 s/pendulum/hinge/Fault              # it has been, and lasts
		a< 15 i1 78
		a> 50 i1 i0
		a< 51 i1 78
		a< 55 i1 i1 i1 i1 i0 fNaN fNaN i1 78
		a> 56 i1
		a> 50 i1 i0
		a< 51 i1 78
		a< 55 i1 i1 i1 i0 i0 fNaN fNaN 78
		a> 56 i1
		`},
		{"disarmed", func(s *stage) { s.rig.Agent("pendulum").Disarm() }, `
		a> 14 s/pendulum/Armed                    # is not so
		a< 15 i1 78
		a> 14 s/pendulum/Disarmed                 # is so, and was before the client asked
		a< 15 i2 78
		a> 28 s/pendulum/State
		a< 29 i1 78
		a< 2b i0 i1 sString s/pendulum/State 78
		a> 32 i1
		a< 33 i1 sdisarmed 78
		a> 50 i1 i0
		a< 51 i1 78
		a< 55 i1 i1 i1 i1 i0 f0 f0 i2 78
		a> 56 i1
		` + step},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, Options{}, "pendulum")
				c.do(s)
				s.play(register)
				for range 20 {
					s.wire("a").conn.WriteToUDPAddrPort(encode(t, []string{"50", "i1", "i0"}), s.wire("a").to)
					synctest.Wait()
					s.wire("a").next()
					s.wire("a").next()
					s.wire("a").conn.WriteToUDPAddrPort(encode(t, []string{"56", "i1"}), s.wire("a").to)
					synctest.Wait()
				}
				s.play(c.text)
			})
		})
	}
}
