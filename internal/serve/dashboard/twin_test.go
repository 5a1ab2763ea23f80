package dashboard_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/halyard-robotics/halyard"
)

// TestTwin: the ghost of a twin that stands as its robot does is where the robot is.
func TestTwin(t *testing.T) {
	rig := serve(t, "so101", halyard.Set("agents[0].body", "emulated"), halyard.Set("agents[0].shadow", "true"),
		halyard.Set("agents[0].pose.position", "[0.3, -0.2, 0.1]"))
	conn, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(rig.url, "http")+"ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 20)
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(`{"op":"next"}`)); err != nil {
		t.Fatal(err)
	}
	var layout struct {
		Op     string
		Length int
		Rigs   []struct{ Poses, Bodies int }
		Agents []struct {
			Ghost int
			Links []int
		}
	}
	var values []float32
	for values == nil {
		kind, b, err := conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if kind == websocket.MessageText && strings.HasPrefix(string(b), `{"op":"layout"`) {
			if err := json.Unmarshal(b, &layout); err != nil {
				t.Fatal(err)
			}
		}
		if kind == websocket.MessageBinary { // the first one has all values, in one run
			for b = b[32:]; len(b) > 0; b = b[4:] {
				values = append(values, math.Float32frombits(binary.LittleEndian.Uint32(b)))
			}
		}
	}
	a := layout.Agents[0]
	if len(values) != layout.Length || a.Ghost < 0 || len(a.Links) != 7 {
		t.Fatalf("got %d of %d values, ghost at %d, links %v", len(values), layout.Length, a.Ghost, a.Links)
	}
	for i, body := range a.Links {
		for axis := range 3 {
			ghost, robot := values[a.Ghost+7*i+axis], values[layout.Rigs[0].Poses+7*body+axis]
			if math.Abs(float64(ghost-robot)) > 0.005 {
				t.Errorf("link %d: axis %d: got %g m, want the robot's, %g", i, axis, ghost, robot)
			}
		}
	}
}
