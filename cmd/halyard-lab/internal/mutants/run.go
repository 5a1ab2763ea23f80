package mutants

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/internal/report"
)

// Outcomes of a mutant.
const (
	Noticed  = "noticed"
	Survived = "survived"
	Stale    = "stale" // its text is not in the tree once, or does not compile
)

// Result is what became of a mutant. By names the test that failed first, chaos, or why a mutant is stale.
type Result struct {
	File    string `json:"file"`
	Breaks  string `json:"breaks"`
	Outcome string `json:"outcome"`
	By      string `json:"by"`
}

func (r Result) Cells() report.Cells {
	return report.Cells{{"outcome", r.Outcome}, {"file", r.File}, {"breaks", r.Breaks}, {"by", r.By}}
}

// tests are the packages whose tests must notice an error, its own first, by the prefix of its file; the longest one
// applies.
var tests = map[string]string{
	"hal/":                      "./hal ./drivers ./internal/control . ./cmd/halyard-lab/internal/chaos",
	"servo/":                    "./servo/... ./drivers ./cmd/halyard-lab/internal/chaos",
	"drivers/":                  "./drivers ./internal/assembly ./cmd/halyard-lab/internal/chaos",
	"drivers/gpio/":             "./drivers/gpio",
	"drivers/serial/":           "./drivers/serial",
	"internal/supervise/":       "./internal/supervise .",
	"internal/serve/dashboard/": "./internal/serve/dashboard",
}

// Packages returns the packages whose tests must notice an error in file.
func Packages(file string) []string {
	if parts := strings.Split(file, "/"); parts[0] == "servo" && len(parts) == 3 { // of a vendor
		return []string{"./servo/" + parts[1]}
	}
	best := ""
	for prefix := range tests {
		if strings.HasPrefix(file, prefix) && len(prefix) > len(best) {
			best = prefix
		}
	}
	return strings.Fields(cmp.Or(tests[best], "./"+filepath.ToSlash(filepath.Dir(file))))
}

// testTime bounds the tests of one package, scheduleTime the schedules of one robot: an error that hangs them is
// noticed too.
const (
	testTime     = "4m"
	scheduleTime = 4 * time.Minute
)

// Runner tries errors in the tree below Root, one at a time. Prepare comes first, Close ends it.
type Runner struct {
	Root  string
	Own   bool // only the tests of the file's own package
	Chaos int  // schedules of each of Robots in place of tests; 0 = tests

	Robots []string // configs of halyard-lab chaos
	list   []Mutant
	dir    string // of the files below
	all    build
	in     map[int]bool   // errors that are in all
	bad    map[int]string // errors that do not compile there
}

// build is an overlay of changed files, and the laboratory with them.
type build struct{ overlay, lab string }

// Root is the folder of the module that the working directory is in.
func Root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	dir := filepath.Dir(strings.TrimSpace(string(out)))
	if err != nil || dir == "." {
		return "", fmt.Errorf("mutants: got %q, %w, want to be in Halyard's source", out, err)
	}
	return dir, nil
}

// Prepare puts as many of list as it can into one build.
func (r *Runner) Prepare(ctx context.Context, list []Mutant) (err error) {
	r.list, r.bad = slices.Clone(list), map[int]string{}
	if r.dir, err = os.MkdirTemp("", "halyard-mutants"); err != nil {
		return err
	}
	for {
		left := slices.Clone(list)
		for i := range r.bad {
			left[i].From = "" // fits nowhere
		}
		texts, in, err := combine(r.Root, left)
		if err != nil {
			return err
		}
		if r.in = in; len(in) == 0 {
			return nil
		}
		var out string
		if r.all, out, err = r.build(ctx, "all", texts); err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		found := compileError.FindAllStringSubmatch(out, -1)
		for _, m := range found {
			i, _ := strconv.Atoi(m[1])
			r.bad[i] = m[2]
		}
		if len(found) == 0 {
			return fmt.Errorf("mutants: build of all: %s", out)
		}
	}
}

var compileError = regexp.MustCompile(`(?m)mutant-(\d+):\d+(?::\d+)?: (.*)$`)

// Close removes what Prepare has built.
func (r *Runner) Close() { os.RemoveAll(r.dir) }

// build writes an overlay of texts, and compiles the packages with it.
func (r *Runner) build(ctx context.Context, name string, texts map[string]string) (b build, out string, err error) {
	dir := filepath.Join(r.dir, name)
	replace := map[string]string{}
	for file, text := range texts {
		changed := filepath.Join(dir, filepath.FromSlash(file))
		replace[filepath.Join(r.Root, filepath.FromSlash(file))] = changed
		if err = errors.Join(os.MkdirAll(filepath.Dir(changed), 0o700),
			os.WriteFile(changed, []byte(text), 0o600)); err != nil {
			return b, "", err
		}
	}
	b = build{filepath.Join(dir, "overlay.json"), filepath.Join(dir, "lab")}
	encoded, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(b.overlay, encoded, 0o600)
	}
	if err != nil {
		return b, "", err
	}
	args := []string{"build", "-gcflags=-e", "-overlay", b.overlay}
	if r.Chaos > 0 {
		args = append(args, "-o", b.lab, "./cmd/halyard-lab")
	} else {
		for file := range texts {
			args = append(args, "./"+filepath.ToSlash(filepath.Dir(file)))
		}
	}
	out, err = r.command(ctx, nil, "go", args...)
	return b, out, err
}

// Try judges error i of the list that was prepared. The error is not about it: ctx is done, or no file can be written.
func (r *Runner) Try(ctx context.Context, i int) (res Result, err error) {
	m := &r.list[i]
	res = Result{File: m.File, Breaks: m.Breaks, Outcome: Stale}
	text, err := m.Apply(r.Root)
	if err != nil {
		res.By = err.Error()
		return res, nil
	}
	if res.By = r.bad[i]; res.By != "" {
		return res, nil
	}
	b := r.all
	if !r.in[i] {
		var out string
		if b, out, err = r.build(ctx, fmt.Sprint(i), map[string]string{m.File: text}); err != nil {
			res.By = firstLine(out)
			return res, ctx.Err()
		}
	}
	env := []string{fmt.Sprintf("%s=%d", Variable, i)}
	if r.Chaos > 0 {
		res.By = r.schedules(ctx, b, env)
	} else {
		res.By = r.tests(ctx, b, env, m)
	}
	if res.Outcome = Noticed; res.By == "" {
		res.Outcome = Survived
	}
	return res, ctx.Err()
}

// tests is the first test that notices error m, "" = none.
func (r *Runner) tests(ctx context.Context, b build, env []string, m *Mutant) string {
	packages := Packages(m.File)
	if r.Own {
		packages = packages[:1]
	}
	for _, p := range packages {
		if out, err := r.command(ctx, env, "go", "test", "-overlay", b.overlay, "-vet=off", "-count=1", "-failfast",
			"-timeout", testTime, p); err != nil {
			return p + " " + failedTest(out)
		}
	}
	return ""
}

// schedules is the first violation of the schedules that found an error once, and of each config; "" = none.
func (r *Runner) schedules(ctx context.Context, b build, env []string) string {
	runs := [][]string{{"chaos", "--known"}}
	for _, config := range r.Robots {
		runs = append(runs, []string{"chaos", config, "--quick", "--seeds", fmt.Sprint(r.Chaos)})
	}
	for _, args := range runs {
		limited, cancel := context.WithTimeout(ctx, scheduleTime)
		out, err := r.command(limited, env, b.lab, args...)
		cancel()
		if err != nil && ctx.Err() == nil {
			return "chaos " + firstLine(out)
		}
	}
	return ""
}

func (r *Runner) command(ctx context.Context, env []string, program string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir, c.Env = r.Root, append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	return string(out), err
}

// failedTest is the first test that failed, or how else its package ended.
func failedTest(out string) string {
	if m := regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`).FindStringSubmatch(out); m != nil {
		return m[1]
	}
	if m := regexp.MustCompile(`(?m)^(panic: .*|fatal error: .*)`).FindStringSubmatch(out); m != nil {
		return m[1]
	}
	return firstLine(out)
}

func firstLine(out string) string {
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return "failed"
}
