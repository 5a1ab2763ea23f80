package dashboard_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
)

// rigUnder is a system with its dashboard, running.
type rigUnder struct {
	*halyard.System
	url string
}

// serve runs a config with its dashboard until the test ends.
func serve(t *testing.T, config string, settings ...halyard.Setting) rigUnder {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	c, err := halyard.Load(config, append(settings, halyard.Set("servers", "[]"))...)
	if err != nil {
		t.Fatal(err)
	}
	sys, err := halyard.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	d, err := halyard.OpenDashboard(halyard.DashboardOptions{Address: "127.0.0.1:0"}, sys)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- d.Run(ctx) }()
	go func() { ended <- sys.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		sys.Close()
	})
	return rigUnder{sys, d.URL()}
}

// browser is a headless Chromium; the test is skipped where there is none.
func browser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("short")
	}
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"} {
		if p, err := exec.LookPath(name); err == nil {
			program = p
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium (try: apt-get install chromium)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("use-angle", "swiftshader"), chromedp.Flag("enable-unsafe-swiftshader", true), chromedp.Flag("disable-gpu", false))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // without a timeout: it would be the browser's
		t.Fatal(err)
	}
	return ctx
}

type action = chromedp.Action[chromedp.Void]

// value is what a script gives.
func value[T any](t *testing.T, ctx context.Context, script string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](script))
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return v
}

func run(t *testing.T, ctx context.Context, actions ...action) {
	t.Helper()
	within, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := chromedp.Do(within, actions...); err != nil {
		shoot(t, ctx, "failed")
		t.Fatal(err)
	}
}

// until waits for a condition of the page.
func until(condition string) action {
	return chromedp.Poll[chromedp.Void](condition, chromedp.WithPollingTimeout(20*time.Second))
}

// pictures is where pictures of the pages go; "" is nowhere.
var pictures = os.Getenv("HALYARD_PICTURES")

func shoot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	if pictures == "" {
		return
	}
	b, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(pictures, name+".png"), b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestPages opens every page of three robots, light and dark, and on a phone; none of them reports a fault.
func TestPages(t *testing.T) {
	for _, c := range []struct {
		config string
		set    []halyard.Setting
	}{
		{"demo", []halyard.Setting{halyard.Set("agents[0].body", "emulated")}},
		{"so101", []halyard.Setting{halyard.Set("agents[0].body", "emulated"), halyard.Set("agents[0].shadow", "true")}},
		{"usarsim", nil},
	} {
		t.Run(c.config, func(t *testing.T) {
			ctx := browser(t)
			rig := serve(t, c.config, c.set...)
			if c.config == "usarsim" {
				for i, class := range []string{"USARBot.P2AT", "USARBot.P2DX"} {
					if _, err := rig.Spawn(class, fmt.Sprint("robot", i), hal.Pose{Position: [3]float64{float64(2 * i), 0, 0.3}, Rotation: [4]float64{1}}); err != nil {
						t.Fatal(err)
					}
				}
			}
			faults := watch(ctx)
			for _, theme := range []string{"light", "dark"} {
				for _, page := range []string{"robot", "joints", "plots", "buses", "events"} {
					run(t, ctx, chromedp.EmulateViewport(1366, 768), chromedp.Navigate(rig.url+"?theme="+theme+"#"+page),
						chromedp.WaitVisible(chromedp.CSS("#page > *")), until(`document.title.includes("Halyard") && document.getElementById("state").textContent !== "no link"`),
						chromedp.Sleep(700*time.Millisecond))
					shoot(t, ctx, c.config+"-"+page+"-"+theme)
					if theme == "dark" {
						continue
					}
					run(t, ctx, chromedp.EmulateViewport(390, 844), chromedp.Sleep(300*time.Millisecond))
					if over := value[int](t, ctx, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
						t.Errorf("%s on a phone: got %d pixels more than the window", page, over)
					}
					shoot(t, ctx, c.config+"-"+page+"-phone")
				}
			}
			if list := faults(); len(list) > 0 {
				t.Errorf("the browser reports: %s", strings.Join(list, "\n"))
			}
		})
	}
}

// TestBrowserJog holds a button and lets go: the joint moves, and stops within the deadline.
func TestBrowserJog(t *testing.T) {
	ctx := browser(t)
	rig := serve(t, "so101", halyard.Set("agents[0].body", "emulated"))
	arm := rig.Agents()[0]
	velocity := func() float64 { return arm.State("elbow_flex").Velocity }
	button := `document.querySelector('[aria-label="jog elbow_flex up"]')`
	run(t, ctx, chromedp.EmulateViewport(1366, 768), chromedp.Navigate(rig.url+"#joints"), until(button+" !== null"))
	x, y := value[float64](t, ctx, button+".getBoundingClientRect().x + 10"), value[float64](t, ctx, button+".getBoundingClientRect().y + 10")
	before := arm.State("elbow_flex").Position
	run(t, ctx, chromedp.MouseEvent(chromedp.MousePressed, x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)), chromedp.Sleep(time.Second))
	moved, moving := arm.State("elbow_flex").Position-before, velocity()
	run(t, ctx, chromedp.MouseEvent(chromedp.MouseReleased, x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	begin := time.Now()
	for still := 0; still < 5; time.Sleep(5 * time.Millisecond) {
		if still++; velocity() > 0.02 || velocity() < -0.02 {
			still = 0
		}
		if time.Since(begin) > 5*time.Second {
			t.Fatalf("5 s after the release: got %g rad/s, want 0", velocity())
		}
	}
	t.Logf("moved %.3f rad in 1 s at %.2f rad/s; still %v after the release", moved, moving, time.Since(begin).Round(time.Millisecond))
	if moved < 0.05 || moving < 0.05 {
		t.Errorf("in 1 s: got %.3f rad, %.3f rad/s, want it to move", moved, moving)
	}
}

// TestBrowserStop stops with Space on each page, and while the WebSocket's way there is blocked.
func TestBrowserStop(t *testing.T) {
	ctx := browser(t)
	rig := serve(t, "so101", halyard.Set("agents[0].body", "emulated"))
	for _, page := range []string{"robot", "joints", "plots", "buses", "events"} {
		for _, how := range []string{"Space", "a blocked WebSocket"} {
			run(t, ctx, chromedp.Navigate("about:blank"), chromedp.EmulateViewport(1366, 768), chromedp.Navigate(rig.url+"#"+page), chromedp.WaitVisible(chromedp.CSS("#page > *")),
				until(`document.getElementById("state").textContent === "armed"`))
			if how == "Space" {
				run(t, ctx, chromedp.KeyEvent(" "))
			} else {
				run(t, ctx, chromedp.Evaluate[chromedp.Void](`WebSocket.prototype.send = () => {}`), chromedp.Click(chromedp.CSS("#stop")))
			}
			run(t, ctx, until(`document.getElementById("verdict").textContent === "Stopped"`))
			acks := value[int](t, ctx, `document.querySelectorAll("#acks tr").length`)
			if !rig.Rig().Latched() || acks != 6 {
				t.Errorf("%s, %s: latched %v, %d acknowledgements, want 6", page, how, rig.Rig().Latched(), acks)
			}
			if page == "joints" {
				shoot(t, ctx, "stopped")
			}
			run(t, ctx, chromedp.Click(chromedp.CSS("#closestop")), chromedp.Click(chromedp.CSS("#reset")), until(`document.getElementById("state").textContent === "disarmed" || document.getElementById("notice").textContent === "reset: done"`))
			if rig.Rig().Latched() || rig.Rig().Agents()[0].Condition().State != hal.Disarmed {
				t.Errorf("%s: after Reset: latched %v, %v, want disarmed", page, rig.Rig().Latched(), rig.Rig().Agents()[0].Condition())
			}
			run(t, ctx, chromedp.Click(chromedp.CSS("#arm")), chromedp.Click(chromedp.CSS("#armyes")), until(`document.getElementById("notice").textContent === "arm: done"`))
			if rig.Rig().Agents()[0].Condition().State != hal.Armed {
				t.Errorf("%s: after Arm: %v", page, rig.Rig().Agents()[0].Condition())
			}
		}
	}
}

// TestBrowserWithoutScripts: the button is a form.
func TestBrowserWithoutScripts(t *testing.T) {
	ctx := browser(t)
	rig := serve(t, "so101")
	run(t, ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}), chromedp.EmulateViewport(1366, 768), chromedp.Navigate(rig.url), chromedp.MouseClickXY(1300, 40))
	for begin := time.Now(); !rig.Rig().Latched() && time.Since(begin) < 10*time.Second; time.Sleep(10 * time.Millisecond) {
	}
	if !rig.Rig().Latched() {
		t.Error("got no stop")
	}
}
