package dashboard_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
)

// BenchmarkObservers is a cycle of the emulated humanoid at 1 kHz, in turn alone and with all that may look on: two
// tabs of the dashboard that ask as often as they may, a recording with the bytes of every line on the disk, a scrape
// of the metrics each second, and two Foxglove clients that subscribe to every channel. It reports the quantiles of the
// rounds' medians, their ratios and the allocations of the whole process a cycle, clients of the benchmark included.
func BenchmarkObservers(b *testing.B) {
	const round = 3 * time.Second
	b.Setenv("XDG_RUNTIME_DIR", b.TempDir())
	c, err := halyard.Load("a-series", halyard.Set("agents[0].body", "emulated"), halyard.Set("clock.period", "1ms"),
		halyard.Set("servers", `[{protocol: foxglove, listen: "127.0.0.1:0"}]`))
	if err != nil {
		b.Fatal(err)
	}
	sys, err := halyard.Open(c)
	if err != nil {
		b.Fatal(err)
	}
	defer sys.Close()
	servers, err := sys.Listen()
	if err != nil {
		b.Fatal(err)
	}
	d, err := halyard.OpenDashboard(halyard.DashboardOptions{Address: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	d.Show(sys)
	ctx, cancel := context.WithCancel(b.Context())
	var all sync.WaitGroup
	all.Go(func() { d.Run(ctx) })
	defer all.Wait()
	defer cancel()
	arm := sys.Agents()[0]
	// steps runs the rig for a round, at 1 kHz.
	steps := func() (p50, p99, allocs float64) {
		var took hal.Histogram
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n := 0
		for begin := time.Now(); time.Since(begin) < round; n++ {
			arm.Command(arm.Joints()[n%len(arm.Joints())], halyard.Position(0.001*float64(n%100)))
			start := time.Now()
			if err := sys.Step(); err != nil {
				b.Fatal(err)
			}
			took.Add(time.Since(start))
			time.Sleep(time.Until(begin.Add(time.Duration(n+1) * time.Millisecond)))
		}
		runtime.ReadMemStats(&after)
		return float64(took.Quantile(0.5).Nanoseconds()) / 1e3, float64(took.Quantile(0.99).Nanoseconds()) / 1e3,
			float64(after.Mallocs-before.Mallocs) / float64(n)
	}
	// watched is what steps gives while all look on.
	watched := func(k int) (p50, p99, allocs float64) {
		f, err := os.Create(filepath.Join(b.TempDir(), fmt.Sprint(k, ".mcap")))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		r, err := sys.Record(f)
		if err != nil {
			b.Fatal(err)
		}
		on, off := context.WithCancel(ctx)
		var clients sync.WaitGroup
		for range 2 {
			clients.Go(func() { talk(on, strings.Replace(d.URL(), "http", "ws", 1)+"ws", "", `{"op":"next"}`, true) })
			clients.Go(func() {
				talk(on, "ws://"+servers[0].Address, "foxglove.websocket.v1",
					`{"op":"subscribe","subscriptions":[{"id":1,"channelId":1},{"id":2,"channelId":2},{"id":3,"channelId":3},{"id":4,"channelId":4}]}`, false)
			})
		}
		clients.Go(func() {
			for tick := time.NewTicker(time.Second); ; {
				select {
				case <-tick.C:
					if r, err := http.Get(d.URL() + "metrics"); err == nil {
						io.Copy(io.Discard, r.Body)
						r.Body.Close()
					}
				case <-on.Done():
					tick.Stop()
					return
				}
			}
		})
		p50, p99, allocs = steps()
		off()
		clients.Wait()
		if stats, err := r.Stop(); err != nil || stats.Dropped+stats.Orders+stats.Ops > 0 {
			b.Fatalf("got %+v, %v, want a whole recording", stats, err)
		}
		return p50, p99, allocs
	}
	steps()
	var figures [8][]float64
	k := 0
	for b.Loop() {
		a50, a99, aAllocs := steps()
		w50, w99, wAllocs := watched(k)
		k++
		for i, v := range []float64{a50, a99, w50, w99, w50 / a50, w99 / a99, aAllocs, wAllocs} {
			figures[i] = append(figures[i], v)
		}
	}
	for i, unit := range []string{"us-p50-alone", "us-p99-alone", "us-p50-watched", "us-p99-watched", "ratio-p50",
		"ratio-p99", "allocs-alone", "allocs-watched"} {
		slices.Sort(figures[i])
		b.ReportMetric(figures[i][len(figures[i])/2], unit)
	}
}

// talk is a client of a WebSocket that reads until ctx ends, and says text once, or after each message.
func talk(ctx context.Context, url, subprotocol, text string, again bool) {
	c, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{Subprotocols: []string{subprotocol}})
	if err != nil {
		return
	}
	defer c.CloseNow()
	c.SetReadLimit(1 << 22)
	for said := false; ; said = true {
		if !said || again {
			if c.Write(ctx, websocket.MessageText, []byte(text)) != nil {
				return
			}
		}
		kind, _, err := c.Read(ctx)
		for again && err == nil && kind == websocket.MessageText { // a frame is binary
			kind, _, err = c.Read(ctx)
		}
		if err != nil {
			return
		}
	}
}
