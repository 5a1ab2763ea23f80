package assembly_test

import (
	"errors"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
)

// What a chain finds wrong when it is opened has a command to type, each joint's its own line; one that names another
// keeps it.
func TestOpeningAdvises(t *testing.T) {
	missing := &hal.Error{Kind: hal.Absent, Bus: "arm", ID: 3, Joint: "elbow", Op: "open", Err: errors.New("no answer")}
	down := &hal.Error{Kind: hal.Absent, Bus: "can0", Op: "open", Err: errors.New("interface can0 is down"),
		Try: "sudo ip link set can0 up"}
	plain := errors.New("no room")
	err := assembly.Advise(errors.Join(missing, down, plain), "halyard doctor arm.yaml")
	want := `bus "arm": id 3: joint "elbow": open: no answer (try: halyard doctor arm.yaml)
bus "can0": open: interface can0 is down (try: sudo ip link set can0 up)
no room`
	if err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if missing.Try != "" || hal.KindOf(err) != hal.Absent {
		t.Errorf("the chain's own error was changed, or its kind lost: %v", err)
	}
	if assembly.Advise(missing, "x").(*hal.Error).Try != "x" {
		t.Error("a single one has no advice")
	}
}
