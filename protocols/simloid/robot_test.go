package simloid

import (
	"reflect"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
)

// TestDescribe: the channels of joints, boards and bodies, for each kind of sensor.
func TestDescribe(t *testing.T) {
	l := haltest.Layout("a", "b", "c")
	l.Actuators[1].Kind = hal.Slide // the protocol has only hinges
	l.Actuators[2].Wraps = true
	sensor := func(name, kind string, count int) {
		l.Sensors = append(l.Sensors, hal.Sensor{Name: name, Kind: kind, First: len(l.Outputs) + len(l.Infos),
			Count: count})
		for i := range count {
			l.Infos = append(l.Infos, hal.Channel{Name: name + string(rune('0'+i)), Min: -1, Max: 1})
		}
	}
	sensor("board", "accelerometer", 2)
	sensor("foot", "contact", 1)
	sensor("trunk", "body", 6)
	sensor("head", "pose", 13)
	sensor("motors", "current", 3)
	b := haltest.NewBodyOf(l)
	rig, err := hal.New(hal.Config{Period: period})
	if err != nil {
		t.Fatal(err)
	}
	a, err := rig.Add(hal.AgentConfig{Name: "robot", Body: b})
	if err != nil {
		t.Fatal(err)
	}
	got := Describe(a)
	want := &Robot{
		Agent: a,
		Traits: Traits{Bodies: 2, Accels: 1, Names: []string{"trunk", "head"}, Joints: []Joint{
			{Name: "a", Partner: 0, Low: -0.6366197723675814, High: 0.6366197723675814},
			{Name: "c", Partner: 1, Low: -1, High: 1}}},
		Joints: []jointChannels{
			{Position: 0, Velocity: 3, Current: 28, Duty: hal.None, Goal: 0, Limit: 1},
			{Position: 2, Velocity: 5, Current: 30, Duty: hal.None, Goal: 4, Limit: 5}},
		Accels: [][3]int{{6, 7, hal.None}},
		Bodies: []bodyChannels{{[3]int{9, 10, 11}, [3]int{12, 13, 14}}, {[3]int{15, 16, 17}, [3]int{22, 23, 24}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if err := got.validate(); err != nil {
		t.Error(err)
	}
}
