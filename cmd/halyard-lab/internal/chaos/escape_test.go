package chaos

import (
	"slices"
	"testing"

	"github.com/halyard-robotics/halyard/internal/plan"
)

// TestMotorEscapes: a hand pushes a motor of each kind of controller so far outside its soft limits that it must lose
// its torque. With the default following error, which is more than the joint can turn, it would keep it: that is seen,
// by this or by its goal.
func TestMotorEscapes(t *testing.T) {
	const script = `
at 5 command a 0 position 0.9
at 60 hand 0 3.5
at 110 hand 0 0
at 130 leave a
`
	const seed = 4 // of the first variant
	loose := &plant{plan: func(p *plan.Plan) {
		p.Agents = slices.Clone(p.Agents)
		c := *p.Agents[0].Config
		c.Guard.FollowingError = 0
		p.Agents[0].Config = &c
	}}
	schedule, err := ParseAll(script)
	if err != nil {
		t.Fatal(err)
	}
	for kind, name := range map[string]string{"cybergear": "cybergear/cybergear", "odrive": "odrive/odrive-s1",
		"odrive-can": "odrive-can/odrive-v3", "vesc": "vesc/vesc-6"} {
		r, err := Open(name, false)
		if err != nil {
			t.Fatal(err)
		}
		sound, err := r.Run(seed, schedule)
		if err != nil || sound.Violated != "" || sound.Exercised[kind][escaped] == 0 {
			t.Errorf("%s: got violation %q, %v, exercised %v", name, sound.What, err, sound.Exercised[kind])
		}
		if wrong, err := r.execute(seed, slices.Clone(schedule), loose); err != nil ||
			wrong.Violated != Invariants[escaped].Name && wrong.Violated != Invariants[ahead].Name {
			t.Errorf("%s, default following error: got %q, %v", name, wrong.Violated, err)
		}
	}
}
