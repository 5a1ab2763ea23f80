package ray

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// TestNothingFuses reads the code the compiler makes for a processor that has fused multiply-add: none may be there.
func TestNothingFuses(t *testing.T) {
	build := exec.Command("go", "build", "-gcflags=-S", ".")
	build.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	code, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v", err)
	}
	if !bytes.Contains(code, []byte("FMULD")) {
		t.Fatal("no code to read")
	}
	fused := regexp.MustCompile(`\((\S+)\)\s+FN?M(ADD|SUB)D`)
	for _, m := range fused.FindAllSubmatch(code, -1) {
		t.Errorf("%s: a product is not rounded before it is added", m[1])
	}
}
