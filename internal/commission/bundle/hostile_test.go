package bundle_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/commission/bundle"
)

// small is a report of a servo that is silent.
func small(t *testing.T) []bundle.Entry {
	t.Helper()
	r := met(t, trio(t, "feetech", "sts3215", 1000000, 7.4), "emulated", nil, false, "off servo 2")
	list, err := r.Entries()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// A report is a stranger's file: whatever is not one of ours is refused, and nothing is written outside of its folder.
func TestHostileReports(t *testing.T) {
	list := small(t)
	text := func(name string) string {
		var b bytes.Buffer
		if err := bundle.Write(&b, list); err != nil {
			t.Fatal(err)
		}
		z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		f, err := z.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var text bytes.Buffer
		text.ReadFrom(f)
		return text.String()
	}
	whole := map[string]string{}
	for _, e := range list {
		whole[e.Name] = text(e.Name)
	}
	wire := "wire/line.emulated.jsonl"
	for name, change := range map[string]func(files map[string]string){
		"a path that leads up":      func(f map[string]string) { f["files/../../x"] = "x" },
		"an absolute path":          func(f map[string]string) { f["/etc/x"] = "x" },
		"a path of Windows":         func(f map[string]string) { f[`files/..\x`] = "x" },
		"an unknown file":           func(f map[string]string) { f["run.sh"] = "x" },
		"no config":                 func(f map[string]string) { delete(f, "config.yaml") },
		"no head":                   func(f map[string]string) { delete(f, "report.json") },
		"an unknown key":            func(f map[string]string) { f["report.json"] = `{"format":1,"run":"x"}` },
		"another format":            func(f map[string]string) { f["report.json"] = `{"format":2}` },
		"a bad state":               func(f map[string]string) { f["findings.json"] = `[{"state":"fine","exit":1}]` },
		"an exit that is none":      func(f map[string]string) { f["findings.json"] = `[{"state":"ok","exit":99}]` },
		"a request of another op":   func(f map[string]string) { f[wire] = `{"op":"exec"}` },
		"bytes that are no hex":     func(f map[string]string) { f[wire] = `{"send":"zz"}` },
		"an answer before its time": func(f map[string]string) { f[wire] = `{"answer":[{"after_ns":-1}]}` },
		"registers of no servo": func(
			f map[string]string) {
			f["registers/line.emulated-9.json"] = `{"model":"x"}`
		},
		"an entry too long": func(f map[string]string) { f["log.txt"] = strings.Repeat("0", 33<<20) },
	} {
		files := map[string]string{}
		for n, data := range whole {
			files[n] = data
		}
		change(files)
		if _, err := bundle.Read(zipped(t, files)); hal.KindOf(err) != hal.Invalid {
			t.Errorf("%s: got %v, want it refused as invalid", name, err)
		}
	}
	// A config may name nothing of this machine.
	secret := filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(secret, []byte(whole["files/robot.yaml"]), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{secret, "../secret.yaml"} {
		files := map[string]string{}
		for n, data := range whole {
			files[n] = data
		}
		files["config.yaml"] = strings.Replace(files["config.yaml"], "robot.yaml", path, 1)
		r, err := bundle.Read(zipped(t, files))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := r.Doctor(t.Context(), t.TempDir()); hal.KindOf(err) != hal.Invalid {
			t.Errorf("%s: got %v, want it refused as invalid", path, err)
		}
	}
}

func zipped(t *testing.T, files map[string]string) (*bytes.Reader, int64) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range files {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(data))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b.Bytes()), int64(b.Len())
}

// Names of people and machines, and secrets, are in no file of a report; a serial number is the same hash everywhere.
func TestMasked(t *testing.T) {
	path := trio(t, "feetech", "sts3215", 1000000, 7.4)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("port: /dev/ttyUSB0"),
		[]byte("port: /dev/serial/by-id/usb-FTDI_Serial_FT4THVLA-if00-port0"), 1)
	text = append(text, "# by annalena on gizmo: password: hunter22, /home/annalena/robots\n"...)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	log := "level=INFO msg=open user=annalena path=/Users/bertram/x --token abcdefgh Authorization: Bearer qwertz " +
		"url=http://u:pw99@10.0.0.1/ env=zzsecretzz FT4THVLA"
	r, err := bundle.Make(t.Context(), path,
		bundle.Options{Catalog: builtin.Catalog(), Config: configs.Options{Body: "emulated"}, Log: []byte(log),
			Note: func(string, ...any) {}, Machine: bundle.Machine{Host: "gizmo", User: "annalena",
				FullName: "Anna Lena",
				Home:     "/home/annalena", Serials: []string{"FT4THVLA"}, Secrets: []string{"zzsecretzz"}}})
	if err != nil {
		t.Fatal(err)
	}
	all, err := json.Marshal([]any{string(r.Config), string(r.Log), r.Findings, r.About})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"annalena", "gizmo", "bertram", "hunter22", "abcdefgh", "qwertz", "pw99",
		"zzsecretzz",
		"FT4THVLA", filepath.Dir(path)} {
		if strings.Contains(string(all), name) {
			t.Errorf("got %q in the report: %s", name, all)
		}
	}
	if n := strings.Count(string(all), "serial-"); n < 2 {
		t.Errorf("got %d hashes of the serial number, want one in the config and one in the log: %s", n, all)
	}
	if _, _, err := packed(t, r).Doctor(t.Context(), t.TempDir()); err != nil {
		t.Error(err)
	}
}

// FuzzRead: no file makes reading fail otherwise than by an error, and what is read can be written again.
func FuzzRead(f *testing.F) {
	for _, files := range []map[string]string{
		{"report.json": `{"format":1}`, "findings.json": `[]`, "config.yaml": "name: x\n"},
		{"report.json": `{"format":1}`, "findings.json": `[]`, "config.yaml": "name: x\n",
			"wire/a.real.jsonl": "{\"op\":\"open\"}\n" +
				`{"send":"ff","answer":[{"after_ns":1,"data":"00","fault":{"kind":"disconnected"}}]}`},
	} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for name, data := range files {
			w, _ := z.Create(name)
			w.Write([]byte(data))
		}
		z.Close()
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := bundle.Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		if _, err := r.Entries(); err != nil {
			t.Error(err)
		}
	})
}
