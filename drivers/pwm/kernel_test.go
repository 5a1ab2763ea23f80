package pwm

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// sysfs is a folder that looks as the kernel's does, with the channels given exported.
func sysfs(t *testing.T, exported ...string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "pwmchip0"), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(root, "pwmchip0", "export"), "")
	for _, name := range exported {
		export(t, filepath.Join(root, "pwmchip0", name))
	}
	return root
}

func export(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"period", "duty_cycle", "enable"} {
		put(t, filepath.Join(dir, f), "0\n")
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// get is the first line of a file: a plain file keeps what a shorter text does not cover.
func get(t *testing.T, parts ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(b), "\n")
	return first
}

// udev exports what was asked for after a while, as udev and the kernel do.
type udev struct {
	fakeClock
	t    *testing.T
	root string
}

func (u *udev) SleepUntil(t time.Duration) {
	u.fakeClock.SleepUntil(t)
	if n := get(u.t, u.root, "pwmchip0", "export"); n != "" && u.now >= 30*time.Millisecond {
		export(u.t, filepath.Join(u.root, "pwmchip0", "pwm"+n))
	}
}

func TestKernel(t *testing.T) {
	root := sysfs(t, "pwm0")
	put(t, filepath.Join(root, "pwmchip0", "pwm0", "polarity"), "inversed\n")
	clock := &udev{t: t, root: root}
	k, err := NewKernel(KernelConfig{Root: root, Channels: []KernelChannel{{0, 0}, {0, 1}}, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Open(); err != nil {
		t.Fatal(err)
	}
	if got := get(t, root, "pwmchip0", "pwm0", "polarity"); !strings.HasPrefix(got, "normal") {
		t.Errorf("polarity: got %s", got)
	}
	if got := get(t, root, "pwmchip0", "pwm1", "period"); got != "20000000" {
		t.Errorf("period: got %s ns", got)
	}
	if err := k.Write([]time.Duration{1500 * time.Microsecond, 0}); err != nil {
		t.Fatal(err)
	}
	if d, e := get(t, root, "pwmchip0", "pwm0", "duty_cycle"),
		get(t, root, "pwmchip0", "pwm0", "enable"); d != "1500000" || e != "1" {
		t.Errorf("pulses: got duty %s, enable %s", d, e)
	}
	if e := get(t, root, "pwmchip0", "pwm1", "enable"); e != "0" {
		t.Errorf("no pulses: got enable %s", e)
	}
	if n := testing.AllocsPerRun(100, func() { _ = k.Write([]time.Duration{1501 * time.Microsecond, 0}) }); n != 0 {
		t.Errorf("a write: got %g allocations", n)
	}
	for i, err := range k.Off() {
		if e := get(t, root, "pwmchip0", "pwm0", "enable"); err != nil || e != "0" {
			t.Errorf("channel %d: off: got %v and enable %s", i, err, e)
		}
	}
	// The chip goes, an adapter on USB: it is absent, and opened again when it is back.
	if err := os.RemoveAll(filepath.Join(root, "pwmchip0")); err != nil {
		t.Fatal(err)
	}
	if err := k.Open(); hal.KindOf(err) != hal.Absent {
		t.Errorf("gone: got %v", err)
	}
	if err := k.Write([]time.Duration{0, 0}); hal.KindOf(err) != hal.Absent {
		t.Errorf("write to what is gone: got %v", err)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
}

// A channel that fails, or is gone, does not keep the pulses of the others on.
func TestKernelChannelGone(t *testing.T) {
	root := sysfs(t, "pwm0", "pwm1")
	other := filepath.Join(root, "pwmchip1")
	export(t, filepath.Join(other, "pwm0"))
	k, err := NewKernel(KernelConfig{Root: root, Channels: []KernelChannel{{1, 0}, {0, 0}, {0, 1}},
		Clock: &fakeClock{}})
	if err != nil {
		t.Fatal(err)
	}
	pulse := 1700 * time.Microsecond
	start := func() {
		t.Helper()
		export(t, filepath.Join(other, "pwm0"))
		if err := errors.Join(k.Open(), k.Write([]time.Duration{pulse, pulse, pulse})); err != nil {
			t.Fatal(err)
		}
	}
	idle := func(when string) {
		t.Helper()
		for _, name := range []string{"pwm0", "pwm1"} {
			if e := get(t, root, "pwmchip0", name, "enable"); e != "0" {
				t.Errorf("%s: %s: got enable %s, want 0", when, name, e)
			}
		}
	}
	start()
	k.outs[0].duty.Close()
	if k.outs[0].duty, err = os.Open(os.DevNull); err != nil { // which takes no write, as of a chip on a bus that fails
		t.Fatal(err)
	}
	if err := k.Write(make([]time.Duration, 3)); err == nil {
		t.Error("write: got no error")
	}
	idle("write")
	start()
	if err := os.RemoveAll(other); err != nil {
		t.Fatal(err)
	}
	if err := k.Open(); hal.KindOf(err) != hal.Absent {
		t.Errorf("open: got %v, want %v", err, hal.Absent)
	}
	idle("open")
}

func TestKernelRefuses(t *testing.T) {
	root := sysfs(t, "pwm0")
	one := []KernelChannel{{0, 0}}
	for _, c := range []KernelConfig{{}, {Channels: []KernelChannel{{-1, 0}}},
		{Channels: one, Period: time.Microsecond}} {
		if _, err := NewKernel(c); hal.KindOf(err) != hal.Invalid {
			t.Errorf("%+v: got %v", c, err)
		}
	}
	k, err := NewKernel(KernelConfig{Root: root, Channels: one, Clock: &fakeClock{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Write([]time.Duration{0}); hal.KindOf(err) != hal.Absent {
		t.Errorf("not open: got %v", err)
	}
	if errs := k.Off(); errs[0] != nil {
		t.Errorf("off, not open: got %v", errs[0])
	}
	if err := k.Open(); err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if err := k.Write([]time.Duration{20 * time.Millisecond}); hal.KindOf(err) != hal.Invalid {
		t.Errorf("a pulse of the whole period: got %v", err)
	}
}

// kernelRules writes as the kernel does: a channel without a period refuses to be enabled, disabled or given a duty.
func kernelRules(path, text string) error {
	dir, file := filepath.Split(path)
	if period, err := os.ReadFile(filepath.Join(dir, "period")); err == nil && file != "period" &&
		strings.TrimSpace(string(period)) == "0" {
		return &os.PathError{Op: "write", Path: path, Err: syscall.EINVAL}
	}
	return writeFile(path, text)
}

// A channel that was just exported has no period, and refuses everything else until it has.
func TestKernelFreshChannel(t *testing.T) {
	root := sysfs(t, "pwm0")
	put(t, filepath.Join(root, "pwmchip0", "pwm0", "polarity"), "inversed\n")
	k, err := NewKernel(KernelConfig{Root: root, Channels: []KernelChannel{{0, 0}}, Clock: &fakeClock{}})
	if err != nil {
		t.Fatal(err)
	}
	k.write = kernelRules
	if err := k.Open(); err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if period, polarity := get(t, root, "pwmchip0", "pwm0", "period"),
		get(t, root, "pwmchip0", "pwm0", "polarity"); period != "20000000" || !strings.HasPrefix(polarity, "normal") {
		t.Errorf("got period %s, polarity %s", period, polarity)
	}
	k.write = func(path, text string) error { return syscall.EINVAL } // of a chip that cannot have the period
	if err := k.Open(); hal.KindOf(err) != hal.BusFault {
		t.Errorf("period refused: got %v", err)
	}
}

func TestKernelProbe(t *testing.T) {
	root := sysfs(t, "pwm0")
	put(t, filepath.Join(root, "pwmchip0", "npwm"), "2\n")
	for _, c := range []struct {
		channel KernelChannel
		want    hal.Kind
	}{{KernelChannel{0, 0}, 0}, {KernelChannel{0, 1}, 0}, {KernelChannel{0, 2}, hal.Absent},
		{KernelChannel{1, 0}, hal.Absent}} {
		k, err := NewKernel(KernelConfig{Root: root, Channels: []KernelChannel{c.channel}, Clock: &fakeClock{}})
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Probe(); (err == nil) != (c.want == 0) || err != nil && hal.KindOf(err) != c.want {
			t.Errorf("%+v: got %v, want %v", c.channel, err, c.want)
		}
	}
	if got := get(t, root, "pwmchip0", "export"); got != "" {
		t.Errorf("a probe exported %q", got)
	}
}

// A channel that is gone is missing from the telegrams that end all pulses, with the error of a lost one.
func TestKernelTelegramsOfLostChannel(t *testing.T) {
	k, err := NewKernel(KernelConfig{Root: sysfs(t, "pwm0"), Channels: []KernelChannel{{0, 0}, {0, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	list, err := k.TorqueOffTelegrams()
	for _, telegram := range list {
		defer telegram.File.Close()
	}
	if len(list) != 1 || hal.KindOf(err) != hal.Absent {
		t.Errorf("got %d telegrams, %v (%v), want 1 and an error of kind %v", len(list), err, hal.KindOf(err),
			hal.Absent)
	}
}
