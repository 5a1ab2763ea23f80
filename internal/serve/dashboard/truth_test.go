package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
)

// do runs a script.
func do(script string) action { return chromedp.Evaluate[chromedp.Void](script) }

const (
	verdict = `document.getElementById("verdict").textContent`
	note    = `document.getElementById("verdictnote").textContent`
	acks    = `document.querySelectorAll("#acks tr").length`
	heard   = `!document.body.classList.contains("stale")`
	state   = `document.getElementById("state").textContent`
	// no order and no request leaves the page
	deafen = `WebSocket.prototype.send = () => {}; fetch = () => new Promise(() => {})`
)

// reset and rearm press Reset and Arm, until the robot is disarmed and armed.
var (
	reset = press("reset", `!document.getElementById("stopped").open && `+state+` === "disarmed"`)
	rearm = again(heard+` && (document.getElementById("arm").click(), document.getElementById("armyes").click())`,
		state+` === "armed"`)
)

// shown opens a page of an emulated arm and waits until it is heard.
func shown(t testing.TB, page string) (context.Context, rigUnder) {
	t.Helper()
	ctx := browser(t)
	rig := serve(t, "so101", halyard.Set("agents[0].body", "emulated"))
	run(t, ctx, chromedp.EmulateViewport(1366, 768), chromedp.Navigate(rig.url+"#"+page),
		until(heard+` && document.getElementById("state").textContent === "armed"`),
		chromedp.WaitVisible(chromedp.CSS("#page > *")))
	return ctx, rig
}

// readable is the least contrast of the texts in a part of the page, with the text; see WCAG 2.2, 1.4.3. Controls'
// borders count with a third less (1.4.11).
const readable = `((root) => {
	const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
	const rgb = (c) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
	const light = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
	const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] > 250) return c; } return [255, 255, 255]; };
	let least = [99, ""];
	for (const e of root.querySelectorAll("*")) {
		if (!e.checkVisibility() || e.closest("option, canvas, noscript")) continue;
		const own = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join("");
		if (own) { const c = (/\w/.test(own) ? 1 : 1.5) * contrast(rgb(getComputedStyle(e).color), behind(e)); if (c < least[0]) least = [c, own]; }
		if (e.matches("button:not(.link):not(#stop), select, input:not([type=checkbox]):not([type=radio]):not([type=range])")) {
			const s = getComputedStyle(e), c = 1.5 * contrast(rgb(s.borderTopColor), behind(e.parentElement));
			if (c < least[0] && contrast(behind(e), behind(e.parentElement)) < 3) least = [c, "border of " + (own || e.tagName)];
		}
	}
	return least[0].toFixed(2) + " " + least[1];
})`

// legible fails if a text has less contrast than 4.5, or a control's border less than 3.
func legible(t *testing.T, ctx context.Context, what, root string) {
	t.Helper()
	for _, theme := range []string{"light", "dark"} {
		run(t, ctx, themed(theme))
		contrast(t, ctx, what+", "+theme, root)
	}
}

func themed(theme string) action {
	return do(`document.documentElement.dataset.theme = "` + theme + `"`)
}

// settled ends the transitions that are under way. To wait for a moment without one has no end on a busy machine: each
// message of the server may begin the next.
const settled = `document.getAnimations().forEach((a) => a.cancel()); `

// contrast fails as legible does, for the present theme.
func contrast(t *testing.T, ctx context.Context, what, root string) {
	t.Helper()
	got, least := value[string](t, ctx, settled+readable+`(`+root+`)`), 0.0
	if _, err := fmt.Sscan(got, &least); err != nil || least < 4.5 {
		t.Errorf("%s: contrast: got %s, want 4.5", what, got)
	}
}

// TestBrowserVerdict: no acknowledgement of an earlier stop stands under a stop without an answer, and what is on red
// can be read.
func TestBrowserVerdict(t *testing.T) {
	ctx, rig := shown(t, "joints")
	stopped(t, ctx, chromedp.KeyEvent(" "))
	run(t, ctx, until(acks+` === 6 && `+note+`.includes("ms after the press")`))
	run(t, ctx, do(deafen), chromedp.KeyEvent(" "), until(verdict+`.startsWith("STOP NOT CONFIRMED") && `+acks+
		` === 0 && `+note+`.includes("No answer for")`))
	legible(t, ctx, "a stop without an answer", `document.getElementById("stopped")`)
	if !rig.Rig().Latched() {
		t.Error("got no stop")
	}
}

// TestBrowserDeafServo: a servo that does not acknowledge is told to lose its power, not to be stopped by software once
// more; its row says the cause, and so does the answer to a jog.
func TestBrowserDeafServo(t *testing.T) {
	ctx, _ := shown(t, "joints")
	row := `[...document.querySelectorAll("table.joints tbody tr")].find((r) => r.textContent.includes("elbow_flex"))`
	run(t, ctx, do(`fetch("/fault?rig=0&agent=so101&joint=elbow_flex&fault=unplugged", { method: "POST" })`),
		until(heard+` && `+row+`.querySelector(".why").textContent.includes("id 3") && `+row+
			`.classList.contains("old") && `+row+`.textContent.includes("silent for")`))
	run(t, ctx, until(heard+` && document.querySelectorAll("tr.old").length === 1 && document.getElementById("notice").textContent.includes("elbow_flex")`))
	run(t, ctx, do(`window.plus = `+row+`.querySelectorAll("button")[1]`),
		hold("window.plus", `document.getElementById("notice").textContent.includes("jog elbow_flex: ") && document.getElementById("notice").textContent.includes("id 3")`))
	// Where the machine is so busy that another servo answers too late as well, a person presses again.
	pressed(t, ctx, chromedp.KeyEvent(" "), verdict+`.startsWith("STOP NOT CONFIRMED") && `+acks+` === 6 && `+
		`((list) => list.split("✗ NO: cut its power").length === 2 && list.split("✓ torque off").length === 6 && `+
		`!list.includes("estop"))(document.getElementById("acks").innerText)`)
	legible(t, ctx, "a stop that a servo did not acknowledge", `document.getElementById("stopped")`)
	shoot(t, ctx, "unconfirmed")
	run(t, ctx, do(`fetch("/fault?rig=0&agent=so101&joint=elbow_flex", { method: "POST" })`),
		until(`document.querySelectorAll("tr.old").length === 0`))
}

// hold focuses a button and holds Enter until a condition is true; the key is pressed again and again, since a press
// may come while the page is not heard.
func hold(button, condition string) action {
	return until(`(` + condition + `) || (` + button +
		`.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" })), false)`)
}

// TestBrowserArmBox: a stop, of this page or of another program, closes the box that asks whether to arm; the box says
// what happens.
func TestBrowserArmBox(t *testing.T) {
	ctx, rig := shown(t, "joints")
	for _, how := range []string{"Space", "another program"} {
		run(t, ctx, press("disarm", state+` === "disarmed"`), press("arm", `document.getElementById("armask").open`))
		text := value[string](t, ctx, `document.getElementById("armask").innerText`)
		if !strings.Contains(text, "Arming gives no joint torque") ||
			!strings.Contains(text, "so101 EMULATED: no client holds it") || strings.Contains(text, "have torque now") {
			t.Errorf("got %q, want what happens to the arm", text)
		}
		if !value[bool](t, ctx, `document.getElementById("page").inert && document.getElementById("orders").inert && !document.getElementById("stopform").inert`) {
			t.Error("the box: got a page that can be used beside it, or a STOP that cannot")
		}
		legible(t, ctx, "the box", `document.getElementById("armask")`)
		if how == "Space" {
			run(t, ctx, chromedp.KeyEvent(" "))
		} else {
			rig.Rig().EmergencyStop("red button")
		}
		run(t, ctx, until(`document.getElementById("stopped").open && !document.getElementById("armask").open && !document.getElementById("page").inert`),
			press("arm", `document.getElementById("notice").textContent.includes("latched")`))
		if value[bool](t, ctx, `document.getElementById("armask").open`) ||
			rig.Rig().Agents()[0].Condition().State != hal.Stopped {
			t.Errorf("%s: Arm during a stop: got the box, or %v", how, rig.Rig().Agents()[0].Condition())
		}
		run(t, ctx, reset, rearm)
		// A client under way: its next command moves the robot.
	}
	if err := errors.Join(rig.Agents()[0].Command("elbow_flex", halyard.Position(0.3)), rig.Step()); err != nil {
		t.Fatal(err)
	}
	run(t, ctx, press("arm",
		`document.getElementById("armask").innerText.includes("its next command gives torque and moves it") && document.getElementById("armask").innerText.includes("1 of 6 joints have torque now")`))
}

// TestBrowserSilence: by a clock of the test, what was heard 300 ms ago is old, and said to be so; nothing but STOP is
// sent then.
func TestBrowserSilence(t *testing.T) {
	ctx, rig := shown(t, "joints")
	// An answer that was under way may come at any time: its age is the same.
	run(t, ctx, do(`import("/link.js").then((m) => { window.rig = m.rig; })`), until(`window.rig`),
		do(`window.age = 299; rig.now = () => rig.heard + age`), do(deafen),
		do(`window.ticks = 0; setInterval(() => ticks++, 50)`), until(heard), do(`ticks = 0`),
		until(`ticks > 4`))
	if !value[bool](t, ctx, heard+
		` && [...document.querySelectorAll("tr.old")].every((r) => [...r.querySelectorAll("td.n")].at(-1).textContent > 299) && `+
		`document.getElementById("arm").ariaDisabled !== "true"`) {
		t.Error("after 299 ms: got a page that calls its values old")
	}
	run(t, ctx, do(`age = 301`), until(`!(`+heard+`)`), do(`age = 6000`),
		until(`document.getElementById("state").textContent === "silent 6.0 s"`),
		until(`document.querySelectorAll("tr.old").length === 6 && [...document.querySelectorAll("tbody tr")].every((r) => [...r.querySelectorAll("td.n")].at(-1).textContent >= 6000)`))
	cells := value[string](t, ctx,
		`[...document.querySelectorAll("table.joints tbody tr")].map((r) => r.querySelector(".why").textContent + " " + [...r.querySelectorAll("td.n")].at(-1).textContent).join("; ")`)
	if strings.Contains(cells, "armed") || strings.Count(cells, "not heard ") != 6 || strings.Contains(cells, " 0") {
		t.Errorf("got %q, want each joint not heard for about 6000 ms", cells)
	}
	run(t, ctx, until(
		`document.getElementById("notice").textContent.startsWith("Nothing heard from the server since ")`))
	run(t, ctx, until(`getComputedStyle(document.querySelector("tr.old td")).opacity < 1 || getComputedStyle(document.querySelector("#page table")).opacity < 1`))
	run(t, ctx, do(`document.getElementById("disarm").click(); document.getElementById("arm").click(); window.sent = 0; WebSocket.prototype.send = () => { sent++; }; document.querySelector(".jog button").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }))`),
		until(`document.getElementById("notice").textContent !== ""`))
	if value[bool](t, ctx, `document.getElementById("armask").open`) ||
		rig.Rig().Agents()[0].Condition().State == hal.Disarmed || rig.Rig().Agents()[0].Holder() != "" {
		t.Errorf("without the server: got an order, or the box about one: %v, held by %q",
			rig.Rig().Agents()[0].Condition(),
			rig.Rig().Agents()[0].Holder())
	}
}

// TestBrowserServerGone: after the server's end no row says a state as if it were present.
func TestBrowserServerGone(t *testing.T) {
	ctx, rig := shown(t, "joints")
	rig.end()
	run(t, ctx, until(`document.getElementById("state").textContent === "no link" && document.querySelectorAll("tr.old").length === 6 && [...document.querySelectorAll(".why")].every((e) => e.textContent.includes("not heard"))`))
	if got := value[string](t, ctx,
		`[...document.querySelectorAll(".why")].map((e) => e.textContent).join()`); strings.Contains(got, "armed") ||
		!strings.Contains(got, "not heard") {
		t.Errorf("got %q, want joints that are not heard", got)
	}
	run(t, ctx, chromedp.KeyEvent(" "),
		until(verdict+`.startsWith("STOP NOT CONFIRMED") && `+note+`.includes("Nothing heard from the server since")`))
}

// TestBrowserTabs: a stop in one tab is a verdict in all; a reset elsewhere closes it; a stop by another door has no
// acknowledgements of an earlier one.
func TestBrowserTabs(t *testing.T) {
	ctx, rig := shown(t, "joints")
	other := browser(t) // of another person: a hidden tab of the same one draws nothing
	run(t, other, chromedp.EmulateViewport(1366, 768), chromedp.Navigate(rig.url+"#events"),
		until(heard+` && document.getElementById("state").textContent === "armed"`))
	open := `document.getElementById("stopped").open && ` + verdict
	stopped(t, ctx, chromedp.KeyEvent(" "))
	run(t, other, until(open+` === "Stopped" && `+acks+` === 6 && `+note+`.includes("another page")`))
	eventually(t, "a reset is refused", func() bool { return rig.Rig().Recover() == nil })
	for _, tab := range []context.Context{ctx, other} {
		run(t, tab, until(`!document.getElementById("stopped").open`))
	}
	rig.Rig().EmergencyStop("red button")
	for _, tab := range []context.Context{ctx, other} {
		run(t, tab, until(open+` === "Stopped elsewhere" && `+note+`.includes("red button") && `+acks+` === 0`))
	}
	run(t, other, chromedp.Navigate("about:blank"), chromedp.Navigate(rig.url+"#joints"),
		until(open+` === "Stopped elsewhere"`))
	stopped(t, other, chromedp.KeyEvent(" "))
	run(t, ctx, until(open+` === "Stopped" && `+acks+` === 6`))
}

// TestBrowserNothingMoves: at every width Reset, Arm, Disarm and STOP can be pressed, and a message, a holder, a fault,
// a stop and another page move none of them, nor a button or slider of a jog.
func TestBrowserNothingMoves(t *testing.T) {
	ctx, rig := shown(t, "joints")
	place := func(of string) string {
		return `[` + of + `].map((e) => { const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height].map(Math.round); }).join(" ")`
	}
	head := place(`...["reset", "arm", "disarm", "stop"].map((i) => document.getElementById(i))`)
	jogs := place(`...document.querySelectorAll(".jog button, .bar")`)
	hidden := `["reset", "arm", "disarm", "stop"].filter((i) => { const e = document.getElementById(i), r = e.getBoundingClientRect();
		return [[2, 2], [r.width / 2, r.height / 2], [r.width - 2, r.height - 2]].some(([x, y]) => document.elementFromPoint(r.x + x, r.y + y) !== e); }).join()`
	sizes := [][2]int64{{390, 844}, {600, 900}, {740, 800}, {844, 390}, {932, 430}, {1000, 700}, {1024, 768},
		{1440, 900}, {2560, 1300}}
	before := map[string]string{}
	settled := func(script, want string) (got string) { // within 50 frames
		for range 50 {
			if got = value[string](t, ctx, script); got == want {
				break
			}
			run(t, ctx, frames)
		}
		return got
	}
	same := func(what, where, script string) {
		if before[where] == "" {
			before[where] = value[string](t, ctx, script)
		}
		if got := settled(script, before[where]); got != before[where] {
			t.Errorf("%s, %s: got %s, want as before %s", what, where, got, before[where])
		}
	}
	pages := 0
	look := func(what string) {
		for _, page := range []string{"robot", "joints"} {
			run(t, ctx, do(`location.hash = "`+page+`"`), until(`document.getElementById("page").dataset.page === "`+
				page+`" && document.querySelectorAll(".jog button").length === 12`))
			for _, s := range sizes {
				viewport(t, ctx, s[0], s[1])
				if got := settled(hidden, ""); got != "" {
					t.Errorf("%s, %s, %v: got %s covered", what, page, s, got)
				}
				same(what+" on "+page, fmt.Sprint("head at ", s), head) // of all pages
				same(what, fmt.Sprint(page, " at ", s), jogs)
				pages++
			}
		}
	}
	look("armed")
	t.Cleanup(wave(rig.System))
	run(t, ctx, until(`document.getElementById("holder").textContent !== ""`))
	look("held")
	run(t, ctx, do(`fetch("/fault?rig=0&agent=so101&joint=wrist_flex&fault=unplugged", { method: "POST" })`),
		until(`document.querySelectorAll("div.fault").length > 0`))
	look("a fault")
	pressed(t, ctx, chromedp.KeyEvent(" "), verdict+`.startsWith("STOP NOT CONFIRMED") && `+acks+` === 6`)
	look("a stop")
	t.Logf("%d places of the head and of the jogs in %d looks: none has moved", len(before), pages)
	run(t, ctx, do(`fetch("/fault?rig=0&agent=so101&joint=wrist_flex", { method: "POST" })`),
		until(`document.querySelectorAll("tr.old").length === 0`))
}

// nameless lists the controls, pictures and boxes that a screen reader has no name for.
const nameless = `[...document.querySelectorAll("button, select, input, a, canvas, img, [role=meter], dialog")].filter((e) => !(e.matches("button, a") && e.textContent.trim() ||
	e.ariaLabel || e.getAttribute("aria-labelledby") || e.alt || e.closest("label"))).map((e) => e.outerHTML.slice(0, 80)).join()`

// TestBrowserLegible: texts of all pages have a contrast of 4.5, borders of controls of 3, and every control has a
// name.
func TestBrowserLegible(t *testing.T) {
	ctx, _ := shown(t, "joints")
	for _, theme := range []string{"light", "dark"} {
		for _, page := range []string{"robot", "joints", "plots", "buses", "events", "recordings"} {
			run(t, ctx, themed(theme), do(`location.hash = "`+page+`"`),
				until(`document.getElementById("page").dataset.page === "`+page+
					`" && document.querySelector("#page > *")`))
			for want, button := range map[string]string{"armed": "armyes", "disarmed": "disarm"} {
				run(t, ctx, press(button, heard+` && `+state+` === "`+want+`"`))
				contrast(t, ctx, page+", "+theme+", "+want, `document.body`)
			}
			if got := value[string](t, ctx, nameless); got != "" {
				t.Errorf("%s: without a name: %s", page, got)
			}
		}
	}
}

// BenchmarkBrowserLatency reports the times from Space to the acknowledgements, and from a press of a jog's key to
// motion.
func BenchmarkBrowserLatency(t *testing.B) {
	ctx, _ := shown(t, "joints")
	var stops, jogs []string
	name, code := "ArrowRight", int64(39)
	key := func(kind input.DispatchKeyEventType) action {
		return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, input.DispatchKeyEvent,
				input.DispatchKeyEventParams{Type: kind, Key: name, Code: name, WindowsVirtualKeyCode: code})
			return err
		})
	}
	for i := range 9 {
		if name, code = "ArrowRight", 39; i%2 == 1 {
			name, code = "ArrowLeft", 37
		}
		run(t, ctx, until(heard), chromedp.Focus(chromedp.CSS(`[aria-label="jog wrist_roll up"]`)),
			do(`(() => { let begun = 0, was = 0, frame;
			window.moved = 0; window.ready = false;
			import("/joints.js").then(({ read }) => import("/link.js").then(({ rig }) => {
				document.activeElement.addEventListener("keydown", () => { begun = performance.now(); was = read(0, 4).position; frame = setInterval(() => {
					if (Math.abs(read(0, 4).position - was) > 0.002) { window.moved = performance.now() - begun; clearInterval(frame); } }, 1); }, { once: true, capture: true });
				window.ready = true; })); })()`), until(`window.ready`), key(input.DispatchKeyEventTypeRawKeyDown), until(`window.moved > 0`))
		jogs = append(jogs, fmt.Sprintf("%.0f", value[float64](t, ctx, `window.moved`)))
		run(t, ctx, key(input.DispatchKeyEventTypeKeyUp))
		stopped(t, ctx, chromedp.KeyEvent(" "))
		stops = append(stops, strings.Fields(strings.SplitN(value[string](t, ctx, note), "ms, ", 2)[1])[0])
		run(t, ctx, reset, rearm)
	}
	t.Logf("Space to acknowledgements: %v ms; press to motion on the page: %v ms", stops, jogs)
}
