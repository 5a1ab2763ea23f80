package dashboard_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard"
)

// TestFramesInWords: the packets of an emulated arm's line are explained with the names of its servos' registers.
func TestFramesInWords(t *testing.T) {
	rig := serve(t, "so101", halyard.Set("agents[0].body", "emulated"))
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(20 * time.Millisecond) {
		r, err := http.Get(rig.url + "frames?rig=0&bus=arm")
		if err != nil {
			t.Fatal(err)
		}
		var list []struct {
			Out     bool
			Packets []string
		}
		err = json.NewDecoder(r.Body).Decode(&list)
		r.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		asked := false
		for _, f := range list {
			words := strings.Join(f.Packets, "\n")
			if f.Out {
				asked = strings.Contains(words, "sync read ids 1 2 3 4 5 6: present_position .. present_temperature")
			} else if asked && strings.Contains(words, "id 6: present_position ") &&
				strings.Contains(words, "present_temperature 25") {
				return
			}
		}
	}
	t.Error("in 20 s: got no sync read with its replies in words")
}
