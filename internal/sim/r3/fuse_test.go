package r3

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// TestNothingFuses reads the code the compiler makes for a processor that has fused multiply-add: none may be there,
// nor in the packages that inline this one.
func TestNothingFuses(t *testing.T) {
	for _, folder := range []string{".", "../ray", "../../../sim/collide", "../../../sim/actuator", "../../../sim"} {
		build := exec.Command("go", "build", "-gcflags=-S", folder)
		build.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
		code, err := build.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: go build: %v", folder, err)
		}
		if !bytes.Contains(code, []byte("FMULD")) {
			t.Fatalf("%s: no code to read", folder)
		}
		fused := regexp.MustCompile(`\((\S+)\)\s+FN?M(ADD|SUB)D`)
		for _, m := range fused.FindAllSubmatch(code, -1) {
			t.Errorf("%s: a product is not rounded before it is added", m[1])
		}
	}
}
