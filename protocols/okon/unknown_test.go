package okon

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// TestUnknown is what a client sees of lost and absent sensors, of a lost thruster and of a robot that nothing moves.
func TestUnknown(t *testing.T) {
	const known = `{"rot":{"x":0,"y":0,"z":0},"rotSpeed":{"x":0,"y":0,"z":0},"accel":{"x":0,"y":0,"z":0},` +
		`"rotAccel":{"x":0,"y":0,"z":0},"baro":{"pressure":0}}`
	nulls := strings.ReplaceAll(known, ":0", ":null")
	for _, c := range []struct {
		name   string
		lost   []string // from the start
		later  []string // once armed
		disarm bool
		text   string
	}{
		{name: "all known", text: "a> GET_SENS 2\na< GET_SENS 2 " + known},
		{name: "no pressure: the pose's height", lost: []string{"pressure"}, text: "a> GET_SENS 2\na< GET_SENS 2 " +
			known},
		{name: "neither pressure nor pose", lost: []string{"pressure", "pose"}, text: "a> GET_SENS 2\na< GET_SENS 2 " +
			strings.Replace(known, `"pressure":0`, `"pressure":null`, 1) +
			"\na> ARM_MTR 0\na< ERROR 0 {\"info\":\"arm okon: the autopilot needs a sensor of depth: no reply (try: " +
			"halyard doctor)\",\"fromClient\":\"\"}"},
		{name: "no attitude", lost: []string{"imu", "pose"}, text: "a> GET_SENS 2\na< GET_SENS 2 " +
			strings.Replace(nulls, `"pressure":null`, `"pressure":0`, 1) +
			"\na> ARM_MTR 0\na< ERROR 0 {\"info\":\"arm okon: the autopilot needs a sensor of attitude: no reply " +
			"(try: halyard doctor)\",\"fromClient\":\"\"}"},
		{name: "no place", lost: []string{"pose", "pressure", "imu"}, text: "a> SET_ORIEN 2\na< SET_ORIEN 2 " +
			`{"rot":{"x":null,"y":null,"z":null},"pos":{"x":null,"y":null,"z":null}}`},
		{name: "a sensor is lost", later: []string{"imu", "pose"},
			text: "a> PING 0 .\na< PING 0 .\na~ 40ms\na< ERROR 0 {\"info\":\"fault of imu...\na< ERROR 0 " +
				"{\"info\":\"fault of pose...\n" +
				"a~ 200ms\na> GET_SENS 2\na< GET_SENS 2 " + strings.Replace(nulls, `"pressure":null`, `"pressure":0`,
				1)},
		{name: "disarmed before the client came", disarm: true,
			text: "a< ERROR 0 {\"info\":\"command okon: disarmed (try: halyard arm)..."},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, config{Options: Options{Heartbeat: time.Hour}})
				lose := func(names []string) {
					s.body.mu.Lock()
					defer s.body.mu.Unlock()
					s.body.lost = map[string]error{}
					for _, name := range names {
						s.body.lost[name] = errors.New("no reply")
					}
				}
				lose(c.lost)
				if c.disarm {
					s.agent.Disarm()
				}
				<-time.After(300 * time.Millisecond)
				if c.later != nil {
					s.conn("a")
					<-time.After(time.Millisecond)
					lose(c.later)
				}
				s.play(c.text)
			})
		})
	}
}

// TestUnknownClient: the client reads null, and what is left out, as NaN.
func TestUnknownClient(t *testing.T) {
	var d []Detection
	if err := json.Unmarshal([]byte(`[{"className":"gate","fill":0.5,"distance":null}]`), &d); err != nil ||
		!math.IsNaN(float64(d[0].Distance)) || !math.IsNaN(float64(d[0].ColorPercentVisible)) || d[0].Fill != 0.5 {
		t.Errorf("got %+v, %v", d, err)
	}
}

// TestArming: clients are notified when the thrusters' drives begin to be switched on, and when they are.
func TestArming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{Options: Options{Heartbeat: time.Hour}})
		drive := func(d hal.Drive) {
			s.body.mu.Lock()
			defer s.body.mu.Unlock()
			s.body.drive = d
		}
		drive(hal.Switching)
		s.play("a> ARM_MTR 0\n" + `a< ACK 0 {"info":"arming: the thrusters do not turn yet"}`)
		drive(hal.Follows)
		s.play(`a< ACK 0 {"info":"armed"}`)
	})
}
