package dashboard

import (
	"bufio"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/manual"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest/topicstest"
)

// A program moves joints by the request of halyard move; when it leaves, they hold. A foreign page moves nothing.
func TestOperate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, topicstest.Config{Mode: hal.Realtime})
		time.Sleep(100 * time.Millisecond)
		send := func(ctx context.Context, body, origin string, seen func(manual.Update)) int {
			q, _ := http.NewRequestWithContext(ctx, "POST", home+"/operate?rig=0", strings.NewReader(body))
			if origin != "" {
				q.Header.Set("Origin", origin)
			}
			r, err := s.HTTP().Do(q)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Body.Close()
			for lines := bufio.NewScanner(r.Body); r.StatusCode == http.StatusOK && lines.Scan(); {
				var u manual.Update
				if err := json.Unmarshal(lines.Bytes(), &u); err != nil {
					t.Errorf("got %s: %v", lines.Bytes(), err)
				}
				seen(u)
			}
			return r.StatusCode
		}
		var last manual.Update
		keep := func(u manual.Update) { last = u }
		if code := send(t.Context(), `{"op":"move","goals":{"head":"30deg"}}`, "", keep); code != 200 || !last.Done ||
			math.Abs(s.Rover.Looks()-math.Pi/6) > 0.02 {
			t.Errorf("got %d, %+v, head at %g", code, last, s.Rover.Looks())
		}
		if send(t.Context(), `{"op":"move","goals":{"head":"9rad"}}`, "", keep); last.Kind != hal.Invalid ||
			last.Error == "" {
			t.Errorf("outside the limits: got %+v", last)
		}
		if code := send(t.Context(), `{"op":"move","goals":{"head":"0"}}`, "https://evil.example", keep); code != 403 {
			t.Errorf("a foreign page: got %d", code)
		}
		ctx, cancel := context.WithCancel(t.Context())
		send(ctx, `{"op":"move","goals":{"head":"-1rad"}}`, "", func(manual.Update) {
			if s.Rover.Looks() < 0.2 {
				cancel()
			}
		})
		cancel()
		time.Sleep(200 * time.Millisecond)
		at := s.Rover.Looks()
		time.Sleep(2 * time.Second)
		if now := s.Rover.Looks(); at < -0.3 || now != at || s.Agent.Holder() != "" {
			t.Errorf("after the client left: got %g, then %g, held by %q", at, now, s.Agent.Holder())
		}
	})
}
