package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
)

const (
	tokenVariable = "HALYARD_TOKEN"
	maxToken      = 4096 // bytes
)

// Token is the flags of a secret, which is given by a file, by the environment or, visible to others, by an argument.
type Token struct{ arg, file string }

// Add adds the flags to c; of is what the token opens.
func (t *Token) Add(c *cobra.Command, of string) {
	c.Flags().StringVar(&t.file, "token-file", "", "file with the token of "+of+
		", required beyond loopback (default: $"+tokenVariable+")")
	c.Flags().StringVar(&t.arg, "token", "",
		"the token itself, which others can read in the process list until it is taken out of there")
}

// Read returns the token, "" if none is given. Where it is an argument, note gets a warning and the program starts
// again in its process without it: call Read before anything is opened. The environment keeps no token for other
// programs that this one starts.
func (t *Token) Read(note func(format string, args ...any)) (string, error) {
	given := os.Getenv(tokenVariable)
	os.Unsetenv(tokenVariable)
	switch {
	case t.arg != "" && t.file != "":
		return "", &hal.Error{Kind: hal.Invalid, Op: "token",
			Err: errors.New("got --token and --token-file, want one of them"), Try: "--token-file FILE"}
	case t.file != "":
		return readToken(t.file, note)
	case t.arg != "":
		note("warning: other users could read --token in the process list: use --token-file FILE or $%s", tokenVariable)
		if err := restart(t.arg); err != nil {
			note("warning: the token stays in the process list: %v", err)
		}
		return t.arg, nil
	}
	return given, nil
}

// readToken reads the first line of a file, which has no other.
func readToken(name string, note func(format string, args ...any)) (string, error) {
	fault := func(err error) (string, error) {
		return "", &hal.Error{Kind: hal.Invalid, Op: "token file " + name, Err: err,
			Try: "umask 077; openssl rand -hex 16 > FILE"}
	}
	f, err := os.Open(name)
	if err != nil {
		return fault(errors.Unwrap(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxToken+1))
	token := strings.TrimRight(string(b), "\r\n")
	switch info, _ := f.Stat(); {
	case err != nil:
		return fault(err)
	case token == "" || len(b) > maxToken || strings.ContainsAny(token, "\r\n"):
		return fault(fmt.Errorf("got %d bytes, want one line of 1..%d", len(b), maxToken))
	case info != nil && info.Mode().IsRegular() && info.Mode().Perm()&0o004 != 0:
		note("warning: other users can read the token file %s: chmod 600 %s", name, name)
	}
	return token, nil
}

// restart replaces the running program by itself, with the token in the environment in place of the arguments. It
// returns only where it cannot, or where the process's arguments do not have the token.
func restart(token string) error {
	var args []string
	for i := 0; i < len(os.Args); i++ {
		switch a := os.Args[i]; {
		case a == "--token":
			i++
		case strings.HasPrefix(a, "--token="):
		default:
			args = append(args, a)
		}
	}
	if len(args) == len(os.Args) {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(program, args, append(os.Environ(), tokenVariable+"="+token))
}
