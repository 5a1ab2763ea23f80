package mutants

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

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

// testTime bounds the tests of one package: an error that hangs them is noticed too.
const testTime = "4m"

// Runner applies mutants to the tree below Root, one at a time.
type Runner struct {
	Root  string
	Chaos int  // schedules of each config after tests that noticed nothing; 0 = none
	Own   bool // only the tests of the file's own package
}

// Root is the folder of the module that the working directory is in.
func Root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	dir := filepath.Dir(strings.TrimSpace(string(out)))
	if err != nil || dir == "." {
		return "", fmt.Errorf("mutants: got %q, %w, want to be in Halyard's source", out, err)
	}
	return dir, nil
}

// Try runs the tests on one mutant. The error is not about the mutant: ctx is done, or no file can be written.
func (r *Runner) Try(ctx context.Context, m *Mutant) (res Result, err error) {
	res = Result{File: m.File, Breaks: m.Breaks, Outcome: Stale}
	text, err := m.Apply(r.Root)
	if err != nil {
		res.By = err.Error()
		return res, nil
	}
	dir, err := os.MkdirTemp("", "halyard-mutant")
	if err != nil {
		return res, err
	}
	defer os.RemoveAll(dir)
	overlay, err := writeOverlay(dir, filepath.Join(r.Root, filepath.FromSlash(m.File)), text)
	if err != nil {
		return res, err
	}
	packages := Packages(m.File)
	if r.Own {
		packages = packages[:1]
	}
	if out, err := r.command(ctx, "go", "build", "-overlay", overlay,
		"./"+filepath.ToSlash(filepath.Dir(m.File))); err != nil {
		res.By = firstLine(out)
		return res, ctx.Err()
	}
	for _, p := range packages {
		out, err := r.command(ctx, "go", "test", "-overlay", overlay, "-vet=off", "-count=1", "-failfast", "-timeout",
			testTime, p)
		if ctx.Err() != nil {
			return res, ctx.Err()
		}
		if err != nil {
			res.Outcome, res.By = Noticed, p+" "+failedTest(out)
			return res, nil
		}
	}
	res.Outcome = Survived
	if r.Chaos > 0 {
		for _, config := range []string{"so101", "xm430-arm"} {
			if _, err := r.command(ctx, "go", "run", "-overlay", overlay, "./cmd/halyard-lab", "chaos", config, "-q",
				"--seeds", fmt.Sprint(r.Chaos)); err != nil {
				res.Outcome, res.By = Noticed, "chaos "+config
				break
			}
		}
	}
	return res, ctx.Err()
}

func (r *Runner) command(ctx context.Context, program string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = r.Root
	out, err := c.CombinedOutput()
	return string(out), err
}

// writeOverlay writes text and the file that makes the go command read it in place of file.
func writeOverlay(dir, file, text string) (string, error) {
	changed := filepath.Join(dir, filepath.Base(file))
	b, err := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, b, 0o600); err != nil {
		return "", err
	}
	return overlay, os.WriteFile(changed, []byte(text), 0o600)
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
