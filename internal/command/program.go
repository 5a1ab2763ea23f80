package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/console"
)

// Program is a command that drives no real robot: a signal ends its context, and a second one the process.
type Program struct {
	Host
	Signals <-chan os.Signal // nil = none are handled

	format string
	quiet  bool
	bar    *console.Progress
}

// Main runs the command that create returns with the process's arguments and streams, and ends the process.
func Main(create func(*Program) *cobra.Command) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	p := &Program{Host: Host{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, Signals: signals}
	os.Exit(p.Run(context.Background(), create, os.Args[1:]))
}

// Run executes a command line and returns the exit code. In, Out and Err must be set.
func (p *Program) Run(ctx context.Context, create func(*Program) *cobra.Command, args []string) int {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go p.handleSignals(ctx, cancel)
	p.Format, p.Note, p.Progress = &p.format, p.note, p.progress
	root := create(p)
	root.SilenceErrors, root.SilenceUsage = true, true
	AddFormat(root, &p.format, &p.quiet)
	started, check := false, root.PersistentPreRunE
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		err := check(c, args)
		started = err == nil
		return err
	}
	root.SetArgs(args)
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	err := root.ExecuteContext(ctx)
	p.bar.Clear()
	var by Interrupted
	if errors.As(context.Cause(ctx), &by) && (err == nil || errors.Is(err, context.Canceled)) {
		return ExitOfSignal(by.Signal)
	}
	if err == nil {
		return 0
	}
	if !started && hal.KindOf(err) == hal.Unexpected { // an unknown command or flag
		err = &hal.Error{Kind: hal.Invalid, Err: err, Try: root.Name() + " --help"}
	}
	p.Complain(root.Name(), err)
	return int(hal.KindOf(err)) + 1
}

// handleSignals ends when ctx does.
func (p *Program) handleSignals(ctx context.Context, cancel context.CancelCauseFunc) {
	var first os.Signal
	for {
		select {
		case s := <-p.Signals:
			if first != nil {
				os.Exit(ExitOfSignal(first))
			}
			first = s
			cancel(Interrupted{s})
		case <-ctx.Done():
			if first == nil {
				return
			}
			ctx = context.Background() // until the process ends
		}
	}
}

func (p *Program) note(format string, args ...any) {
	if !p.quiet {
		p.bar.Clear()
		fmt.Fprintf(p.Err, format+"\n", args...)
	}
}

func (p *Program) progress(what string, total int) *console.Progress {
	p.bar.Clear()
	if f, ok := p.Err.(*os.File); ok && term.IsTerminal(int(f.Fd())) && !p.quiet {
		p.bar = console.NewProgress(p.Err, what, total, nil)
	}
	return p.bar
}

// Log is where faults go: stderr, as text; nowhere with --quiet.
func (p *Program) Log() *slog.Logger {
	if p.quiet {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(p.Err, nil))
}
