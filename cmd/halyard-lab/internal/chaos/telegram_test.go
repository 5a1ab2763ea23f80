package chaos

import (
	"context"
	"os"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/servo"
)

// filed is an emulated line with a descriptor.
type filed struct{ servo.Line }

func (filed) File() (*os.File, error) { return os.Open(os.DevNull) }

// TestSafety18Telegrams: the telegrams that a supervisor writes after the process has died switch off the torque of
// every servo of every model, on serial lines and on CAN, without an answer and with any partial packet on the line.
func TestSafety18Telegrams(t *testing.T) {
	names := Generated()
	if testing.Short() {
		names = sampled()[5:]
	}
	for _, name := range names {
		r, err := Open(name, true)
		if err != nil {
			t.Fatal(err)
		}
		for variant := range int64(3) { // position, a mirrored arm, and a wheel
			var line servo.Line
			s, err := r.build(int64(len(r.variants)-1)+variant, func(p *plan.Plan) {
				p.Tap = func(_ string, _ configs.BodyKind, open servo.Opener) servo.Opener {
					return func() (servo.Line, error) {
						l, err := open()
						if err == nil {
							line, l = l, filed{l}
						}
						return l, err
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			with := func() (n int) {
				for i := range s.joints {
					if a := s.joints[i].truth; a.Enable && a.Limit > 0 {
						n++
					}
				}
				return n
			}
			ctx, cancel := context.WithCancel(t.Context())
			var list []servo.Telegram
			cycle := 0
			s.clock.tick = func() {
				if cycle == 0 { // as serve asks for them: before a torque
					list, err = s.sys.Lines[0].Chain.(interface {
						TorqueOffTelegrams() ([]servo.Telegram, error)
					}).TorqueOffTelegrams()
					if err != nil || len(list) != 1 || len(list[0].Bytes) == 0 {
						t.Fatalf("%s: got %d telegrams, %v", name, len(list), err)
					}
					list[0].File.Close()
				}
				if cycle++; cycle < 80 {
					for i := range s.joints {
						j := &s.joints[i]
						inputs := hal.NewFrame(s.agents[j.agent].Layout()).Inputs
						inputs[s.actuator(j).Goal[j.modes[len(j.modes)-1]]] = 0.1
						s.agents[j.agent].Override(inputs)
					}
					return
				}
				if cycle > 80 {
					return
				}
				if n := with(); n != len(s.joints) {
					t.Errorf("%s: torque on %d of %d joints", name, n, len(s.joints))
				}
				line.Write(list[0].Bytes[:1]) // the process died in the middle of a packet
				line.Write(list[0].Bytes)     // which may spoil the first, and not the next
				line.Write(list[0].Bytes)
				line.Read(make([]byte, 256), 0)
				if n := with(); n > 0 {
					t.Errorf("%s, variant %d: torque on %d of %d joints after % x", name, variant, n, len(s.joints),
						list[0].Bytes)
				}
				cancel()
			}
			s.sys.Rig.Run(ctx)
			cancel()
			s.close()
		}
	}
}
