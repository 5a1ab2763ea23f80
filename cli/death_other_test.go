//go:build !linux

package cli

import "testing"

func dieOnSignal(string) {}

// keepNumber is of Linux, the only system with emulated terminals.
func keepNumber(*testing.T, string) {}
