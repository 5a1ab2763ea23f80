package osp

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// hello opens a session for client a with agents known.
const hello = `
	a> 05 i1 i1
	a< 06 i1 i1 78
	a> 5a
	a< 5b i1 78
	a< 5c i0 i1 sAgent 01 spendulum 78
	a> 5d
`

const helloAgain = `
	b> 05 01 01
	b< 06 01 01 78
	b> 5a
	b< 5b i2 78
	b< 5c i0 i1 sAgent 01 sone 78
	b< 5c i1 i2 sAgent 01 stwo 78
	b> 5d
`

var transcripts = []struct {
	name   string
	agents string
	text   string
	drops  map[protocols.Cause]uint64
}{
	{"a whole session", "pendulum", hello + `
	a> 5f i1
	a< 60 i1 i2 i1 i1 spendulum 78
	a< 62 i0 f-1 f1 s/hinge/DesiredAngle 78
	a< 62 i1 f0 f1 s/hinge/DesiredTorque 78
	a< 62 i2 f-1 f1 s/hinge/JointAngle 78
	a< 62 i3 f-1 f1 s/hinge/JointVelocity 78
	a> 61
	a> 64 i1
	a< 65 i1 01 78
	a> 64 i1                                # once more, as if the answer was lost
	a< 65 i1 01 78
	a> 5a                                   # not available now, and the same id
	a< 5b i1 78
	a< 5c i0 i1 sAgent 00 spendulum 78
	a> 5d
	a> 46 i7
	a< 47 78
	a< 4b 78
	a> 4c
	a> 50 i1 i2 f0.5 f1
	a< 51 i1 78
	a< 55 i1 i1 i1 i0 i0 f0.019100821 f0 78 # seed 7 offsets the joint by 7e-6 rad; 0.06 rad of π in a step
	a> 56 i1
	a> 50 i1 i0                             # no inputs: they stay as they were
	a< 51 i1 78
	a< 55 i1 i1 i1 i0 i0 f0.038199414 f0 78
	a> 56 i1
	a> 69 i1
	a< 6a i1 01 78
	a> 69 i1                                # not this client's any more
	a< 6a i1 01 78
	a> 69 i9                                # no agent
	a< 6a i9 02 78
	a> 07
	a< 08 78
	a> 5a                                   # no session
	`, nil},

	{"version as bytes, and with a terminator", "pendulum", `
	a> 05 01 01 78
	a< 06 01 01 78
	`, nil},

	{"unsupported versions", "pendulum", `
	a> 05 i1 i2
	a> 05 02 00
	a> 05 i65537 i1
	a> 5a
	`, map[protocols.Cause]uint64{protocols.Version: 3, protocols.Unknown: 1}},

	{"what does not exist", "pendulum", `
	a> 05 01 01
	a< 06 01 01 78
	a> 64 i1                                # before an overview no agent has an id
	a< 65 i1 00 78
	a> 5f i1
	a< 60 i0 i0 i0 i0 s 78
	a> 50 i1 i1 f0
	a> 69 i1
	a< 6a i1 02 78
	a> 14 s/No/Such/Event
	a< 15 i0 78
	a> 14 s
	a< 15 i0 78
	a> 1e i99
	a< 1f i99 78
	a> 32 i1
	a< 33 i-1 s 78
	a> 34 i1 sT
	a< 35 i1 02 78
	a> 36 i2 i1 i2
	a< 37 i2 i0 i0 78
	a> 38 i1 i3
	a< 39 i1 i0 78
	`, map[protocols.Cause]uint64{protocols.Unheld: 1}},

	{"values", "pendulum", `
	a> 05 01 01
	a< 06 01 01 78
	a> 28 sNumberOf                         # a part of a name matches nothing
	a< 29 i0 78
	a> 28 s(((
	a< 29 i0 78
	a> 28 s.*NumberOf.*
	a< 29 i2 78
	a< 2b i0 i1 sInt s/Control/NumberOfSteps 78
	a< 2b i1 i2 sInt s/Control/NumberOfTries 78
	a> 2a                                   # may acknowledge them
	a> 28 s/Control/NumberOf|/Control/NumberOfTries
	a< 29 i1 78
	a< 2b i0 i2 sInt s/Control/NumberOfTries 78
	a> 28 s/Control/(Pause|NumberOfTries)   # ids stay, sorted by name
	a< 29 i2 78
	a< 2b i0 i2 sInt s/Control/NumberOfTries 78
	a< 2b i1 i3 sBool s/Control/Pause 78
	a> 32 i3
	a< 33 i3 sF 78
	a> 34 i1 s250
	a< 35 i1 01 78
	a> 32 i1
	a< 33 i1 s250 78
	a> 34 i1 smany
	a< 35 i1 00 78
	a> 34 i1 s-1                            # its owner refuses
	a< 35 i1 00 78
	a> 32 i1
	a< 33 i1 s250 78
	a> 28 s/pendulum/hinge/(JointAngle|DesiredAngle)
	a< 29 i2 78
	a< 2b i0 i4 sInterface s/pendulum/hinge/DesiredAngle 78
	a< 2b i1 i5 sInterface s/pendulum/hinge/JointAngle 78
	a> 34 i5 s1                             # measured
	a< 35 i5 00 78
	a> 34 i4 s90
	a< 35 i4 01 78
	`, nil},

	{"events and observed values", "one two", helloAgain + `
	b> 28 s/Control/(CurrentStep|TimeStepSize)|/Simulation/TimeStepSize
	b< 29 i2 78
	b< 2b i0 i1 sInt s/Control/CurrentStep 78
	b< 2b i1 i2 sDouble s/Simulation/TimeStepSize 78
	b> 36 i3 i2 i9 i1
	b< 37 i3 i2 i0 i1 78
	b> 14 s/Control/StepCompleted
	b< 15 i1 78
	b> 14 s/Control/ResetSimulationFinalized
	b< 15 i2 78
	b> 14 s/Control/StepCompleted           # the same id again
	b< 15 i1 78
	b> 64 i2
	b< 65 i2 01 78
	b> 64 i1
	b< 65 i1 01 78
	b> 50 i2 i0
	b< 51 i2 78
	b> 50 i1 i0
	b< 51 i1 78
	b< 55 i1 i1 i1 i1 i2 f0 f0 i1 78        # the first of the step, by id, has them all
	b< 33 i2 s0.01 78
	b< 33 i1 s1 78
	b< 55 i2 i1 i1 i0 i0 f0 f0 78
	b> 56 i1
	b> 56 i2
	b> 38 i2 i1 i2
	b< 39 i2 i1 i2 78
	b> 1e i1
	b< 1f i1 78
	b> 46 i0                                # once for each agent
	b< 47 78
	b> 46 i0
	b< 47 78
	b< 4b 78
	b> 4c
	b> 50 i1 i0
	b< 51 i1 78
	b> 50 i2 i0
	b< 51 i2 78
	b< 55 i1 i1 i1 i1 i0 f3.1830987e-07 f0 i2 78
	b< 55 i2 i1 i1 i0 i0 f3.1830987e-07 f0 78
	b> 56 i1
	b> 56 i2
	`, nil},

	{"a step waits for every client", "one two", helloAgain + `
	a> 05 01 01
	a< 06 01 01 78
	a> 5a
	a< 5b i2 78
	a< 5c i0 i1 sAgent 01 sone 78
	a< 5c i1 i2 sAgent 01 stwo 78
	a> 5d
	a> 64 i1
	a< 65 i1 01 78
	b> 64 i1
	b< 65 i1 00 78
	b> 64 i2
	b< 65 i2 01 78
	a> 46 i5
	a< 47 78
	b> 46 i0
	b< 47 78
	a< 4b 78
	b< 4b 78
	a> 4c
	b> 4c
	a> 50 i1 i1 f0.25
	a< 51 i1 78
	wait 10s
	b> 50 i2 i1 f-0.25
	b< 51 i2 78
	a< 55 i1 i1 i1 i0 i0 f0.019100185 f0 78
	b< 55 i2 i1 i1 i0 i0 f-0.019097002 f0 78
	a> 56 i1
	b> 56 i2
	a> 50 i1 i0
	a< 51 i1 78
	b> 07                                   # a client that leaves does not delay the others
	b< 08 78
	a< 55 i1 i1 i1 i0 i0 f0.038198777 f0 78
	a> 56 i1
	`, map[protocols.Cause]uint64{protocols.Refused: 1}},

	{"a client that only watches receives the end of a reset", "one two", helloAgain + `
	b> 64 i1
	b< 65 i1 01 78
	w> 05 01 01
	w< 06 01 01 78
	b> 46 i0
	b< 47 78
	b< 4b 78
	w< 4b 78
	b> 4c
	w> 4c
	w> 46 i0                                # and may not ask for one
	w< 47 78
	`, nil},

	{"communication reset", "one two", helloAgain + `
	b> 64 i1
	b< 65 i1 01 78
	a> 05 01 01
	a< 06 01 01 78
	a> 0a
	a< 0b 78
	a< 47 78
	b< 0b 78
	b< 47 78
	c> 05 01 01
	c< 06 01 01 78
	c> 5a
	c< 5b i2 78
	c< 5c i0 i1 sAgent 01 sone 78
	c< 5c i1 i2 sAgent 01 stwo 78
	c> 5d
	`, nil},
}

func TestTranscripts(t *testing.T) {
	for _, kind := range []hal.BodyKind{hal.Simulated, hal.Emulated} {
		for _, c := range transcripts {
			t.Run(kind.String()+" "+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newStageOf(t, kind, Options{}, strings.Fields(c.agents)...)
					s.play(c.text)
					s.dropped(c.drops)
				})
			})
		}
	}
}

func TestPhysical(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{Physical: true}, "pendulum")
		s.bodies[0].Position[0] = 0.5
		s.play(hello + `
		a> 64 i1
		a< 65 i1 01 78
		a> 50 i1 i0
		a< 51 i1 78
		a< 55 i1 i1 i1 i0 i0 f28.64789 f0 78 # degrees, as in the original
		a> 56 i1
		`)
	})
}

// TestNotANumber: NaN keeps, infinity is the guard's to refuse; neither moves anything.
func TestNotANumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{}, "pendulum")
		s.play(hello + `
		a> 64 i1
		a< 65 i1 01 78
		a> 50 i1 i2 0000c07f 0000807f
		a< 51 i1 78
		a< 55 i1 i1 i1 i0 i0 f0 f0 78
		a> 56 i1
		a> 50 i1 i2 000080ff 0000c0ff
		a< 51 i1 78
		a< 55 i1 i1 i1 i0 i0 f0 f0 78
		a> 56 i1
		`)
		if _, counts, _ := s.rig.Agent("pendulum").Guard(); counts.Refused != 2 {
			t.Errorf("refused by the guard: got %d, want 2", counts.Refused)
		}
	})
}

// TestEventsBeforeReset: events before a reset are not sent after it.
func TestEventsBeforeReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{}, "one", "two")
		s.play(helloAgain + `
		b> 14 s/Simulation/PhysicsEnvironmentChanged
		b< 15 i1 78
		c> 05 01 01
		c< 06 01 01 78
		c> 5a
		c< 5b i2 78
		c< 5c i0 i1 sAgent 01 sone 78
		c< 5c i1 i2 sAgent 01 stwo 78
		c> 5d
		c> 64 i1
		c< 65 i1 01 78
		`)
		event, _ := s.rig.Events().Lookup("/Simulation/PhysicsEnvironmentChanged")
		s.rig.Events().Raise(event)
		s.play(`
		c> 50 i1 i0                            # b, without an agent, has seen the event and was told nothing yet
		c< 51 i1 78
		c< 55 i1 i1 i1 i0 i0 f0 f0 78
		c> 07
		c< 08 78
		b> 64 i1
		b< 65 i1 01 78
		b> 46 i0
		b< 47 78
		b< 4b 78
		b> 4c
		b> 50 i1 i0
		b< 51 i1 78
		b< 55 i1 i1 i1 i0 i0 f3.1830987e-07 f0 78
		b> 56 i1
		`)
	})
}

// TestSetInput: an input set as a value commands the agent, in degrees, as ODCP would.
func TestSetInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{}, "pendulum")
		s.play(hello + `
		a> 28 s/pendulum/hinge/DesiredAngle
		a< 29 i1 78
		a< 2b i0 i1 sInterface s/pendulum/hinge/DesiredAngle 78
		a> 34 i1 s90
		a< 35 i1 01 78
		a> 64 i1
		a< 65 i1 01 78
		a> 50 i1 i0
		a< 51 i1 78
		a< 55 i1 i1 i1 i0 i0 f0.019098593 f0 78
		a> 56 i1
		`)
	})
}
