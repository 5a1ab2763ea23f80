// Package cli is the command halyard as a part of a program: a program of a few lines adds its own servo vendors,
// sensors and protocols, and all sub-commands know them. Each sub-command is one file.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/command"
	"github.com/halyard-robotics/halyard/internal/console"
	"github.com/halyard-robotics/halyard/internal/report"
)

// Main runs the command line of the process, with the rows of more beside the built-in hardware and protocols (nil =
// none), and ends the process. It takes the signals, standard streams and arguments of the process. Where robots are
// real it starts the program a second time, as "supervise", which switches torque off if the first one dies: a program
// must come here at once and write nothing to its standard output before.
func Main(more *halyard.Catalog) {
	// The real-time loop must get a processor back after each sleep, with any other load in this process: keep more of
	// the runtime's processors than there are goroutines that can be busy at once.
	runtime.GOMAXPROCS(max(8, 4*runtime.NumCPU()))
	// A pipe that closes must not end the control loop.
	signal.Ignore(syscall.SIGPIPE)
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, signals: make(chan os.Signal, 2), exit: os.Exit,
		more: more, supervised: true}
	signal.Notify(a.signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	os.Exit(a.Run(context.Background(), os.Args[1:]))
}

// app is one run of the command: its streams, and the values of the common flags.
type app struct {
	in       io.Reader
	out, err io.Writer
	signals  chan os.Signal
	exit     func(code int) // ends the process, at a signal that waits for nothing more

	more       *halyard.Catalog // of the program: added to the built-in hardware and protocols
	format     string           // table, json or jsonl
	quiet      bool
	units      report.Units
	config     string // which the sub-command is about; "" = none
	dashboard  halyard.DashboardOptions
	token      command.Token
	faults     []string               // of serve --fault
	expose     string                 // the folder of serve --expose
	teleop     *teleopSession         // nil = the command is another
	started    bool                   // a sub-command ran: its arguments were good
	torqueOff  atomic.Pointer[func()] // takes the torque off everything at once; nil where nothing runs
	supervised bool                   // real lines are held by a supervising process too: this very program
	terminal   bool                   // a.err is one
	bar        *console.Progress      // nil = none is shown
	sink       hal.Sink               // what a.err is written through: a terminal that is stopped stops nothing else
}

// Run executes the command line and returns the exit code.
func (a *app) Run(ctx context.Context, args []string) int {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a.terminal = terminalOf(a.err) != nil
	a.err = a.sink.Writer(a.err)
	defer a.sink.Flush(flushTime)
	ended := make(chan struct{})
	watched := make(chan struct{})
	defer func() { close(ended); <-watched }()
	go func() {
		defer close(watched)
		a.handleSignals(cancel, ended)
	}()
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	var by command.Interrupted
	if errors.As(context.Cause(ctx), &by) && (err == nil || errors.Is(err, context.Canceled)) {
		return command.ExitOfSignal(by.Signal)
	}
	if err == nil {
		return 0
	}
	if !a.started && hal.KindOf(err) == hal.Unexpected {
		err = misused(root, args, err)
	}
	a.complain(err)
	return int(hal.KindOf(err)) + 1
}

// terminalOf returns stream if it is a terminal, else nil.
func terminalOf(stream any) *os.File {
	if f, ok := stream.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// misused returns the error of a command's arguments, with the help of the sub-command that they are for, or with the
// most similar one.
func misused(c *cobra.Command, args []string, err error) error {
	of, _, unknown := c.Find(args)
	if unknown == nil && of != c {
		return &hal.Error{Kind: hal.Invalid, Err: err, Try: of.CommandPath() + " --help"}
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	if len(args) > 0 {
		if fix := catalog.Likely(args[0], names); fix != "" {
			err = fmt.Errorf("%w; %s", err, fix)
		}
	}
	return &hal.Error{Kind: hal.Invalid, Err: err, Try: c.CommandPath() + " --help"}
}

// flushTime is how long the end of the command waits for a stderr that is not read.
const flushTime = 300 * time.Millisecond

const (
	timeoutOfTerm      = 3 * time.Second // a service manager sends SIGKILL some time after SIGTERM
	timeoutOfTorqueOff = time.Second

	// echoOfSignal is how long the same signal counts as the echo of the first one: timeout(1), and a terminal that is
	// closed under a shell, send a signal both to the process and to its group. The second one must not drop an arm.
	echoOfSignal = 200 * time.Millisecond
)

// echoesSignal reports whether s, so long after first, is the same signal once more and no second one.
func echoesSignal(first, s os.Signal, since time.Duration) bool {
	return s == first && since < echoOfSignal
}

// handleSignals ends the sub-command at the first signal: it stops its robots by their policies. A second signal, or a
// SIGTERM or SIGHUP that has waited too long, switches all torque off and ends the process.
func (a *app) handleSignals(cancel context.CancelCauseFunc, ended <-chan struct{}) {
	var first os.Signal
	var at time.Time
	var late <-chan time.Time
	for {
		select {
		case s := <-a.signals:
			if first == nil {
				first, at = s, time.Now()
				cancel(command.Interrupted{Signal: s})
				if s != os.Interrupt {
					late = time.After(timeoutOfTerm)
				}
				continue
			}
			if echoesSignal(first, s, time.Since(at)) {
				continue
			}
		case <-late:
		case <-ended:
			return
		}
		a.abandon()
		a.sink.Flush(flushTime)
		a.exit(command.ExitOfSignal(first))
		return
	}
}

// abandon switches all torque off, where something runs, and waits for it no longer than timeoutOfTorqueOff.
func (a *app) abandon() {
	torqueOff := a.torqueOff.Load()
	if torqueOff == nil {
		fmt.Fprintln(a.err, "halyard: not waiting any longer")
		return
	}
	fmt.Fprintln(a.err, "halyard: not waiting any longer: torque off")
	done := make(chan struct{})
	go func() { defer close(done); (*torqueOff)() }()
	select {
	case <-done:
	case <-time.After(timeoutOfTorqueOff):
		fmt.Fprintln(a.err, "halyard: NOT CONFIRMED: cut the power")
	}
}

// catalog is the hardware and the protocols that configs may name.
func (a *app) catalog() *catalog.Catalog { return builtin.Catalog().With(a.more) }

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "halyard",
		Short:         "connect controllers to simulated, emulated or real robots",
		Long:          "Halyard connects robot controllers to simulated, emulated or real robots.",
		SilenceErrors: true,
		SilenceUsage:  true,

		DisableSuggestions: true, // misused has one in the words of the other faults
	}
	command.AddFormat(root, &a.format, &a.quiet)
	root.PersistentFlags().StringVar((*string)(&a.units), "units", string(report.SI),
		"units of tables, files and numbers that you type: rad (rad, m) or deg (deg, mm)")
	checkFormat := root.PersistentPreRunE
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		if a.units != report.SI && a.units != report.Degrees {
			return fmt.Errorf("--units: got %q, want rad or deg", a.units)
		}
		return checkFormat(c, args)
	}
	root.RegisterFlagCompletionFunc("units", words(string(report.SI), string(report.Degrees)))
	root.CompletionOptions.HiddenDefaultCmd = false
	root.AddCommand(a.commands()...)
	a.noteStart(root.Commands())
	root.SetOut(a.out) // which the completion command keeps from here on
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.HasSubCommands() && c.Run == nil && c.RunE == nil {
			c.Args, c.RunE = cobra.ArbitraryArgs, groupHelp
		}
		switch c.Name() {
		case "help":
			c.Short, c.Run, c.RunE = "show help for a command", nil, topicHelp
		case "completion":
			c.Short = "print a shell completion script"
		}
	}
	return root
}

// noteStart makes commands and their sub-commands set started when they run.
func (a *app) noteStart(commands []*cobra.Command) {
	for _, c := range commands {
		if run := c.RunE; run != nil {
			c.RunE = func(cmd *cobra.Command, args []string) error {
				a.started = true
				return run(cmd, args)
			}
		}
		a.noteStart(c.Commands())
	}
}

// log is where the rig's faults go: stderr, as text.
func (a *app) log() *slog.Logger {
	if a.quiet {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(a.err, nil))
}

// progress shows the completed share of total, only on a terminal, until the command ends.
func (a *app) progress(what string, total int) *console.Progress {
	a.bar.Clear()
	if a.terminal && !a.quiet {
		a.bar = console.NewProgress(a.err, what, total, nil)
	}
	return a.bar
}

// note prints a message for people on stderr.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		a.bar.Clear()
		fmt.Fprintf(a.err, format+"\n", args...)
	}
}
