package chaos

import "testing"

// TestFound: schedules that broke an invariant once break none, with the timing of real lines and an ideal one.
func TestFound(t *testing.T) {
	all, err := AllKnown()
	if err != nil || len(all) < 25 {
		t.Fatalf("got %d schedules, %v", len(all), err)
	}
	for _, k := range all {
		t.Run(k.Name, func(t *testing.T) {
			for _, ideal := range []bool{false, true} {
				if result, err := k.Run(ideal); err != nil || result.Violated != "" {
					t.Errorf("ideal %v: %v %s", ideal, err, result.Describe())
				}
			}
		})
	}
}
