package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
)

// rigUnder is a system with its dashboard, running.
type rigUnder struct {
	*halyard.System
	url string
	end func() // ends the dashboard and the system; again is harmless
}

// serve runs a config with its dashboard until the test ends.
func serve(t testing.TB, config string, settings ...halyard.Setting) rigUnder {
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
	d, err := halyard.OpenDashboard(halyard.DashboardOptions{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	d.Show(sys)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- d.Run(ctx) }()
	go func() { ended <- sys.Run(ctx) }()
	end := sync.OnceFunc(func() {
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		sys.Close()
	})
	t.Cleanup(end)
	return rigUnder{sys, d.URL(), end}
}

// browser starts a headless Chromium; it skips the test if none is installed. A page that draws in software beside the
// other packages' tests would measure the machine: the tests have a command of their own, which sets HALYARD_BROWSER.
func browser(t testing.TB) context.Context {
	t.Helper()
	if _, test := t.(*testing.T); test && os.Getenv("HALYARD_BROWSER") == "" {
		t.Skip("needs a browser: HALYARD_BROWSER=1 runs it")
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
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("use-angle", "swiftshader"), chromedp.Flag("enable-unsafe-swiftshader", true),
		chromedp.Flag("disable-gpu", false))
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
func value[T any](t testing.TB, ctx context.Context, script string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](script))
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return v
}

func run(t testing.TB, ctx context.Context, actions ...action) {
	t.Helper()
	within, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	if err := chromedp.Do(within, actions...); err != nil {
		shoot(t, ctx, "failed")
		t.Fatal(err)
	}
}

// patience is the timeout of a condition: only a fault takes as long, on a machine with any load.
const patience = 3 * time.Minute

// until waits for a condition of the page.
func until(condition string) action {
	return chromedp.Poll[chromedp.Void](condition, chromedp.WithPollingTimeout(patience))
}

// again runs a script every two seconds until a condition of the page is true, as a person does: an order is refused
// while the page does not hear the server, or if its values are too old.
func again(script, condition string) action {
	return until(`(` + condition + `) || (((window.tried ??= {})[` + "`" + script + "`" +
		`] ?? -2000) < performance.now() - 2000 && (tried[` + "`" + script + "`] = performance.now(), " + script +
		`), false)`)
}

// press clicks a button of the page until a condition is true.
func press(id, condition string) action {
	return again(heard+` && document.getElementById("`+id+`").click()`, condition)
}

// viewport sets the window's size and waits until the page has it and fits into it.
func viewport(t testing.TB, ctx context.Context, width, height int64) {
	t.Helper()
	run(t, ctx, chromedp.EmulateViewport(width, height), until(fmt.Sprintf(`innerWidth === %d && innerHeight === %d`,
		width, height)), frames,
		until(`document.documentElement.scrollWidth <= document.documentElement.clientWidth`))
}

// eventually waits for what is true in this process, as until does for what is true on the page.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for begin := time.Now(); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > patience {
			t.Fatalf("after %v: %s", patience, what)
		}
	}
}

// frames waits until the page has been drawn twice.
var frames = until(`new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(() => f(true))))`)

// held presses something down, again where the page has not heard the server for a moment, until a condition holds.
func held(t testing.TB, ctx context.Context, down, up action, is func() bool) {
	t.Helper()
	for range 20 {
		run(t, ctx, until(heard), down)
		for begin := time.Now(); time.Since(begin) < 5*time.Second; time.Sleep(5 * time.Millisecond) {
			if is() {
				return
			}
		}
		run(t, ctx, up)
	}
	t.Fatal("after 20 presses: got no motion")
}

// pictures is where pictures of the pages go; "" is nowhere.
var pictures = os.Getenv("HALYARD_PICTURES")

func shoot(t testing.TB, ctx context.Context, name string) {
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
		{"so101", []halyard.Setting{halyard.Set("agents[0].body", "emulated"),
			halyard.Set("agents[0].shadow", "true")}},
		{"usarsim", nil},
	} {
		t.Run(c.config, func(t *testing.T) {
			ctx := browser(t)
			rig := serve(t, c.config, c.set...)
			if c.config == "usarsim" {
				for i, class := range []string{"USARBot.P2AT", "USARBot.P2DX"} {
					if _, err := rig.Spawn(class, fmt.Sprint("robot", i),
						hal.Pose{Position: [3]float64{float64(2 * i), 0, 0.3}, Rotation: [4]float64{1}}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if c.config != "usarsim" {
				t.Cleanup(wave(rig.System))
			}
			faults := watch(ctx)
			settle := 300 * time.Millisecond
			if pictures != "" {
				settle = 1500 * time.Millisecond
			}
			for _, theme := range []string{"light", "dark"} {
				for _, page := range []string{"robot", "joints", "plots", "buses", "events", "recordings"} {
					run(t, ctx, chromedp.EmulateViewport(1366, 768),
						chromedp.Navigate(rig.url+"?theme="+theme+"#"+page),
						chromedp.WaitVisible(chromedp.CSS("#page > *")),
						until(`document.title.includes("Halyard") && document.getElementById("state").textContent !== "no link"`),
						chromedp.Sleep(settle))
					shoot(t, ctx, c.config+"-"+page+"-"+theme)
					if theme == "dark" {
						continue
					}
					viewport(t, ctx, 390, 844)
					shoot(t, ctx, c.config+"-"+page+"-phone")
				}
			}
			if list := faults(); len(list) > 0 {
				t.Errorf("the browser reports: %s", strings.Join(list, "\n"))
			}
		})
	}
}

// wave moves the first joints of the first robot to and fro until it is ended.
func wave(sys *halyard.System) (end func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		arm := sys.Agents()[0]
		for tick := time.NewTicker(10 * time.Millisecond); ; {
			select {
			case <-tick.C:
			case <-ended:
				tick.Stop()
				arm.Release()
				return
			}
			for i, joint := range arm.Joints()[:min(5, len(arm.Joints()))] {
				l := arm.Layout().Actuators[i].Limits
				at := 0.4*math.Sin(2*float64(time.Now().UnixMilli()%1000000)/1000+float64(i)) + 0.2
				arm.Command(joint, halyard.Position(max(l.MinPosition, min(l.MaxPosition, at))))
			}
			if sys.Step() != nil {
				return
			}
		}
	}()
	return func() { close(ended); <-done }
}

// TestBrowserJog holds a button and lets go: the joint moves, and stops within the deadline.
func TestBrowserJog(t *testing.T) {
	ctx := browser(t)
	rig := serve(t, "so101", halyard.Set("agents[0].body", "emulated"))
	arm := rig.Agents()[0]
	velocity := func() float64 { return arm.State("elbow_flex").Velocity }
	button := `document.querySelector('[aria-label="jog elbow_flex up"]')`
	run(t, ctx, chromedp.EmulateViewport(1366, 768), chromedp.Navigate(rig.url+"#joints"), until(button+" !== null"))
	x, y := value[float64](t, ctx, button+".getBoundingClientRect().x + 10"),
		value[float64](t, ctx, button+".getBoundingClientRect().y + 10")
	before := arm.State("elbow_flex").Position
	mouse := func(kind input.DispatchMouseEventType) action {
		return chromedp.MouseEvent(kind, x, y, chromedp.ButtonLeft, chromedp.ClickCount(1))
	}
	held(t, ctx, mouse(chromedp.MousePressed), mouse(chromedp.MouseReleased), func() bool {
		return arm.State("elbow_flex").Position-before > 0.05 && velocity() > 0.05
	})
	run(t, ctx, mouse(chromedp.MouseReleased))
	begin, still := time.Now(), 0
	eventually(t, "the joint still moves after the release", func() bool {
		if still++; math.Abs(velocity()) > 0.02 {
			still = 0
		}
		return still == 5
	})
	t.Logf("still %v after the release", time.Since(begin).Round(time.Millisecond))
}

// stopped presses for a stop until every joint has acknowledged it. The first press latches; where the machine is so
// busy that an emulated servo answers too late, the page says which joint did not, and a person presses again.
func stopped(t testing.TB, ctx context.Context, press action) {
	t.Helper()
	pressed(t, ctx, press, verdict+` === "Stopped"`)
}

// pressed presses for a stop, again and again, until a condition is true of what the page says about it.
func pressed(t testing.TB, ctx context.Context, press action, condition string) {
	t.Helper()
	for range 30 {
		run(t, ctx, press, until(`document.getElementById("stop").textContent === "STOP" && `+verdict+` !== ""`))
		for begin := time.Now(); time.Since(begin) < 2*time.Second; time.Sleep(20 * time.Millisecond) {
			if value[bool](t, ctx, condition) {
				return
			}
		}
		t.Log(value[string](t, ctx, verdict+"+"+note+`+document.getElementById("acks").innerText`))
	}
	t.Fatalf("after 30 presses: want %s", condition)
}

// TestBrowserStop stops with Space on each page, and while the WebSocket's way there is blocked.
func TestBrowserStop(t *testing.T) {
	ctx := browser(t)
	rig := serve(t, "so101", halyard.Set("agents[0].body", "emulated"))
	for _, page := range []string{"robot", "joints", "plots", "buses", "events", "recordings"} {
		for _, how := range []string{"Space", "a blocked WebSocket"} {
			run(t, ctx, chromedp.Navigate("about:blank"), chromedp.EmulateViewport(1366, 768),
				chromedp.Navigate(rig.url+"#"+page), chromedp.WaitVisible(chromedp.CSS("#page > *")),
				until(`document.getElementById("state").textContent === "armed"`))
			press := chromedp.KeyEvent(" ")
			if how != "Space" {
				run(t, ctx, chromedp.Evaluate[chromedp.Void](
					`window.way = WebSocket.prototype.send; WebSocket.prototype.send = () => {}`))
				press = chromedp.Click(chromedp.CSS("#stop"))
			}
			pressed(t, ctx, press, verdict+` === "Stopped" && `+acks+` === 6`)
			if !rig.Rig().Latched() {
				t.Errorf("%s, %s: got no latched stop", page, how)
			}
			if page == "joints" && how == "Space" {
				run(t, ctx, until(`document.getElementById("state").textContent === "STOPPED" && [...document.querySelectorAll(".why")].every((e) => e.textContent === "stopped")`))
				shoot(t, ctx, "stopped")
			}
			if how != "Space" { // nothing is heard without a way out, and STOP alone is sent then
				run(t, ctx, chromedp.Evaluate[chromedp.Void](`WebSocket.prototype.send = way`))
			}
			run(t, ctx, chromedp.Click(chromedp.CSS("#closestop")))
			run(t, ctx, reset)
			eventually(t, page+": Reset does not disarm", func() bool {
				return !rig.Rig().Latched() && rig.Rig().Agents()[0].Condition().State == hal.Disarmed
			})
			run(t, ctx, rearm)
			eventually(t, page+": Arm does not arm", func() bool {
				return rig.Rig().Agents()[0].Condition().State == hal.Armed
			})
		}
	}
}

// TestBrowserPick clicks on the arm until a joint is picked, and jogs it with a key from there.
func TestBrowserPick(t *testing.T) {
	ctx := browser(t)
	rig := serve(t, "so101", halyard.Set("agents[0].body", "emulated"))
	// it has no torque yet, and falls
	run(t, ctx, chromedp.EmulateViewport(1366, 768), chromedp.Navigate(rig.url+"#robot"),
		until(`document.querySelectorAll("select option").length > 1`))
	at, still := map[string]float64{}, 0
	eventually(t, "the arm still falls", func() bool {
		still++
		for _, joint := range rig.Agents()[0].Joints() {
			p := rig.Agents()[0].State(joint).Position
			if math.Abs(p-at[joint]) > 0.01 {
				at[joint], still = p, 0
			}
		}
		return still == 400
	})
	const picked = `document.querySelector(".details h2")?.textContent ?? ""`
	name, x, y := "", 0.0, 0.0
	for i := 0; i < 240 && !strings.Contains(name, "so101/") || name == "so101/base"; i++ {
		x, y = float64(400+25*(i%10)), float64(330+30*(i/10%8))
		run(t, ctx, chromedp.MouseClickXY(x, y), frames)
		name = value[string](t, ctx, picked)
	}
	joint := strings.TrimPrefix(name, "so101/")
	if rig.Agents()[0].Layout().Actuator(joint) == hal.None {
		t.Fatalf("picked: got %q, want a joint", name)
	}
	shoot(t, ctx, "picked")
	// The hand pulls the link up: it has no torque before the first command.
	run(t, ctx, chromedp.Evaluate[chromedp.Void](
		`[...document.querySelectorAll("label")].find((l) => l.textContent.includes("hand")).querySelector("input").click()`))
	before := rig.Agents()[0].State(joint).Position
	pull := 0.0
	eventually(t, joint+": a hand does not move it", func() bool {
		if pull == 0 || pull > 1000 { // it is held from here on, or was missed
			run(t, ctx, chromedp.MouseEvent(chromedp.MouseReleased, x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)),
				chromedp.MouseEvent(chromedp.MousePressed, x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
			pull = 0
		}
		run(t, ctx, chromedp.MouseEvent(chromedp.MouseMoved, x, y-math.Min(pull, 180), chromedp.ButtonLeft), frames)
		pull += 20
		return math.Abs(rig.Agents()[0].State(joint).Position-before) > 0.02
	})
	shoot(t, ctx, "hand")
	run(t, ctx, chromedp.MouseEvent(chromedp.MouseReleased, x, y-180, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	before = rig.Agents()[0].State(joint).Position
	key := func(kind input.DispatchKeyEventType) action {
		return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind,
				Key: "ArrowRight", Code: "ArrowRight", WindowsVirtualKeyCode: 39})
			return err
		})
	}
	run(t, ctx, chromedp.Focus(chromedp.CSS(`[aria-label="jog `+joint+` up"]`)))
	held(t, ctx, key(input.DispatchKeyEventTypeRawKeyDown), key(input.DispatchKeyEventTypeKeyUp), func() bool {
		return strings.HasPrefix(rig.Rig().Agents()[0].Holder(), "dashboard@") &&
			math.Abs(rig.Agents()[0].State(joint).Position-before) > 0.02
	})
	run(t, ctx, key(input.DispatchKeyEventTypeKeyUp))
	eventually(t, "the page still holds the robot after the key", func() bool {
		return rig.Rig().Agents()[0].Holder() == ""
	})
}

// TestBrowserCSV exports what a plot shows.
func TestBrowserCSV(t *testing.T) {
	ctx := browser(t)
	rig := serve(t, "so101")
	run(t, ctx, chromedp.EmulateViewport(1366, 768), chromedp.Navigate(rig.url+"#plots"),
		until(`document.querySelectorAll(".pick input:checked").length === 3`),
		chromedp.Evaluate[chromedp.Void](
			`URL.createObjectURL = (b) => { b.text().then((t) => { window.csv = t; }); return "#plots"; }`),
		// samples may come late
		until(`([...document.querySelectorAll("button")].find((b) => b.textContent === "Export CSV").click(), (window.csv ?? "").trim().split("\n").length >= 3)`))
	rows := strings.Split(strings.TrimSpace(value[string](t, ctx, "window.csv")), "\n")
	if rows[0] != "time_s,so101/shoulder_pan/position [rad],so101/shoulder_lift/position "+
		"[rad],so101/elbow_flex/position [rad]" || len(rows) < 3 {
		t.Fatalf("got %d rows, the first %q", len(rows), rows[0])
	}
	for _, row := range rows[1:] {
		if strings.Count(row, ",") != 3 {
			t.Errorf("got %q, want four columns", row)
		}
	}
}

// TestBrowserRecordings chooses a recording, goes through it, and compares it with one under another guard.
func TestBrowserRecordings(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, slew string }{{"slow.mcap", "0.2"}, {"fast.mcap", "1"}} {
		recorded(t, filepath.Join(dir, c.name), c.slew, 300)
	}
	ctx := browser(t)
	rig := serve(t, "so101", halyard.Set("record.file", filepath.Join(dir, "now.mcap")))
	faults := watch(ctx)
	choose := func(name, side, condition string) action { // the page may open once more when the rig's layout arrives
		return again(fmt.Sprintf(`document.querySelector('input[name="%s"][value="%s"]')?.click()`, side, name),
			condition)
	}
	run(t, ctx, chromedp.EmulateViewport(1366, 768), chromedp.Navigate(rig.url+"#recordings"),
		until(`document.getElementById("rig").textContent !== "" && document.querySelectorAll('input[name="a"]').length === 3`),
		choose("fast.mcap", "a", `document.querySelectorAll(".values tr").length > 10`))
	elbow := `[...document.querySelectorAll(".values tbody tr")].find((r) => r.textContent.includes("so101/elbow_flex.position")).children[1].textContent`
	begin := value[string](t, ctx, elbow)
	run(t, ctx, chromedp.Evaluate[chromedp.Void](
		`(() => { const s = document.querySelector(".scrub input"); s.value = 1000; s.dispatchEvent(new Event("input")); })()`))
	run(t, ctx, until(elbow+` !== "`+begin+`" && `+elbow+`.startsWith("0.5")`))
	run(t, ctx, choose("slow.mcap", "b", `document.querySelector("#page").textContent.includes("cycles differ")`),
		chromedp.Evaluate[chromedp.Void](
			`[...document.querySelectorAll("button.link")].find((b) => b.textContent === "measured.elbow_flex.position").click()`), frames)
	run(t, ctx, chromedp.EmulateViewport(1366, 1100))
	for _, theme := range []string{"light", "dark"} {
		run(t, ctx, chromedp.Evaluate[chromedp.Void](`document.documentElement.dataset.theme = "`+theme+`"`), frames)
		shoot(t, ctx, "recordings-"+theme)
	}
	viewport(t, ctx, 390, 844)
	shoot(t, ctx, "recordings-phone")
	stopped(t, ctx, chromedp.KeyEvent(" "))
	if list := faults(); len(list) > 0 {
		t.Errorf("the browser reports: %s", strings.Join(list, "\n"))
	}
}

// recorded writes a recording of an arm whose elbow goes to 0.5 rad, as fast as its guard lets it.
func recorded(t testing.TB, name, slew string, cycles int) {
	t.Helper()
	c, err := halyard.Load("so101", halyard.Set("servers", "[]"), halyard.Set("agents[0].guard.slew", slew),
		halyard.Set("record.file", name))
	if err != nil {
		t.Fatal(err)
	}
	sys, err := halyard.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	for range cycles {
		if err := errors.Join(sys.Agents()[0].Command("elbow_flex", halyard.Position(0.5)), sys.Step()); err != nil {
			t.Fatal(err)
		}
	}
	if err := sys.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestBrowserForeignPage: a page of another port, and one of another name of this computer, try all that a browser lets
// them.
func TestBrowserForeignPage(t *testing.T) {
	ctx := browser(t)
	rig := serve(t, "so101")
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `<!doctype html><title>foreign</title><iframe name="f"></iframe><form method="post" action="%[1]sstop" target="f"></form><script>
			const tried = window.tried = [];
			const note = (what) => (v) => tried.push(what + " " + (v?.status ?? v?.type ?? v));
			for (const path of ["stop", "disarm", "fault?rig=0&agent=so101&joint=elbow_flex&fault=stuck"]) {
				fetch("%[1]s" + path, { method: "POST", mode: "no-cors" }).then(note("opaque"), note("refused"));
				fetch("%[1]s" + path, { method: "POST", headers: { Accept: "application/json", Authorization: "Bearer x" } }).then(note("read"), note("refused"));
			}
			fetch("%[1]sscene").then(note("read"), note("refused"));
			document.forms[0].submit();
			const s = new WebSocket("%[1]sws".replace("http", "ws"));
			s.onopen = () => { note("open")("ws"); s.send('{"op":"stop"}'); };
			s.onerror = note("refused ws");
			navigator.sendBeacon("%[1]sstop", "x");
		</script>`, rig.url)
	}))
	defer page.Close()
	for _, host := range []string{"127.0.0.1", "localhost"} {
		run(t, ctx, chromedp.Navigate(strings.Replace(page.URL, "127.0.0.1", host, 1)),
			until(`window.tried?.length >= 8`), chromedp.Sleep(500*time.Millisecond))
		for _, what := range value[[]string](t, ctx, "tried") {
			if strings.HasPrefix(what, "open") || strings.HasPrefix(what, "read") {
				t.Errorf("from %s: got through: %s", host, what)
			}
		}
		if rig.Rig().Latched() || rig.Rig().Agents()[0].Condition().State == hal.Disarmed {
			t.Errorf("from %s: latched %v, %v", host, rig.Rig().Latched(), rig.Rig().Agents()[0].Condition())
		}
	}
}

// TestBrowserWithoutScripts: the button is a form.
func TestBrowserWithoutScripts(t *testing.T) {
	ctx := browser(t)
	rig := serve(t, "so101")
	run(t, ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled,
			emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}), chromedp.EmulateViewport(1366, 768), chromedp.Navigate(rig.url))
	var clicked time.Time
	eventually(t, "got no stop", func() bool {
		if time.Since(clicked) > 5*time.Second { // a click before the page was drawn hits nothing
			clicked = time.Now()
			run(t, ctx, chromedp.MouseClickXY(1300, 40))
		}
		return rig.Rig().Latched()
	})
}

// boxes is a scene of 200 loose boxes.
const boxes = `name: boxes
materials: {ground: {friction: 1}}
ground: ground
scatter:
  - {name: box, count: 200, density_kgm3: 500, material: ground, size_x_m: [0.05, 0.2], size_y_m: [0.05, 0.2], size_z_m: [0.05, 0.2], x_m: [-2, 2], y_m: [-2, 2], z_m: [0.2, 2]}
`

// BenchmarkPage measures the Robot page in a headless browser: the time between two frames, the main thread's work in
// one, and what is on the wire. A browser without a graphics card draws in software, which the time between frames
// shows.
func BenchmarkPage(b *testing.B) {
	for _, c := range []struct {
		name, config string
		robots       int
		set          []halyard.Setting
	}{
		{"humanoid", "demo", 0, nil},
		{"16 arena robots", "usarsim", 16, nil},
		{"200 boxes", "so101", 0, []halyard.Setting{halyard.Set("world.scene", scene(b))}},
	} {
		b.Run(c.name, func(b *testing.B) {
			ctx := browser(b)
			rig := serve(b, c.config, c.set...)
			for i := range c.robots {
				at := hal.Pose{Position: [3]float64{1.5 + 2.5*float64(i%4), -2 - 2*float64(i/4), -1.5},
					Rotation: [4]float64{1}}
				if _, err := rig.Spawn("USARBot.P2AT", fmt.Sprint("robot", i), at); err != nil {
					b.Fatal(err)
				}
			}
			run(b, ctx, chromedp.EmulateViewport(1366, 768), chromedp.Navigate(rig.url+"#robot"),
				until(`document.querySelectorAll("select option").length > 1`), chromedp.Sleep(2*time.Second),
				chromedp.Evaluate[chromedp.Void](`(() => {
					const draw = requestAnimationFrame, m = window.measured = { gaps: [], work: [] };
					let last = 0;
					requestAnimationFrame = (f) => draw((t) => { const begin = performance.now(); f(t); m.work.push(performance.now() - begin); if (last) m.gaps.push(t - last); last = t; });
					import("/link.js").then(({ rig }) => { m.rig = rig; m.bytes = rig.bytes; m.begin = performance.now(); });
					m.of = (list, q) => [...list].sort((a, b) => a - b)[Math.floor(q * (list.length - 1))];
				})()`))
			for b.Loop() {
				run(b, ctx, chromedp.Sleep(5*time.Second))
			}
			for unit, script := range map[string]string{
				"ms-between-p50": "measured.of(measured.gaps, 0.5)",
				"ms-between-p99": "measured.of(measured.gaps, 0.99)",
				"ms-work-p50":    "measured.of(measured.work, 0.5)", "ms-work-p99": "measured.of(measured.work, 0.99)",
				"kB/s": "(measured.rig.bytes - measured.bytes) / (performance.now() - measured.begin)",
			} {
				b.ReportMetric(value[float64](b, ctx, script), unit)
			}
			shoot(b, ctx, "bench-"+strings.ReplaceAll(c.name, " ", "-"))
		})
	}
}

func scene(b *testing.B) string {
	name := filepath.Join(b.TempDir(), "boxes.yaml")
	if err := os.WriteFile(name, []byte(boxes), 0o644); err != nil {
		b.Fatal(err)
	}
	return name
}
