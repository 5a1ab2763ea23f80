// Command halyard-work runs rollouts on copies of a rig by workers that share a queue.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/command"
	"github.com/halyard-robotics/halyard/internal/work"
)

// workFlags are those of "halyard-work".
type workFlags struct {
	body     string
	set      []string
	queue    work.Options
	token    command.Token
	server   work.ServerOptions
	rollouts string
	workers  int
	untilEOF bool
}

func main() { command.Main(newRoot) }

func newRoot(p *command.Program) *cobra.Command {
	var f workFlags
	c := &cobra.Command{
		Use:   "halyard-work [CONFIG]",
		Short: "run rollouts by workers that share a queue",
		Long: "Rollouts are episodes on simulated or emulated copies of a rig. They wait in a NATS JetStream work " +
			"queue, in this process unless\n" +
			"--queue names another; each has one result by its key, also if workers die.\n\n" +
			"  with CONFIG       queues the rollouts of --rollouts, waits, and prints their results in their order\n" +
			"  with --queue      takes rollouts of any config from that queue, until it is interrupted\n" +
			"  with neither      serves a queue at --listen and runs workers, until it is interrupted",
		Example: "  halyard-work so101 --rollouts todo.jsonl -o jsonl > results.jsonl\n" +
			"  halyard-work --listen 127.0.0.1:4222 --store queue --workers 0\n" +
			"  halyard-work --queue nats://127.0.0.1:4222\n" +
			"  halyard-work so101 --rollouts todo.jsonl --queue nats://127.0.0.1:4222",
		Args:              command.Arguments("[CONFIG]", "halyard-work so101 --rollouts todo.jsonl"),
		ValidArgsFunction: command.CompleteConfigs,
		RunE: func(cmd *cobra.Command, args []string) error {
			given := cmd.Flags().Changed
			if !given("workers") && f.queue.URL != "" {
				f.workers = 0 // those of the queue do
			}
			token, err := f.token.Read(p.Note)
			if err != nil {
				return err
			}
			f.queue.Token, f.server.Token = token, token
			if strings.Contains(f.queue.URL, "@") {
				p.Note("warning: other users can read the password of --queue in the process list: use --token-file " +
					"FILE or $HALYARD_TOKEN")
			}
			refuse := func(format string, args ...any) error {
				return &hal.Error{Kind: hal.Invalid, Op: "halyard-work", Err: fmt.Errorf(format, args...),
					Try: "halyard-work --help"}
			}
			switch {
			case f.workers < 0 || f.workers > 1024:
				return refuse("--workers: got %d, want 0..1024", f.workers)
			case f.queue.URL != "" && (given("listen") || given("store")):
				return refuse("got --queue with --listen or --store, which are of a queue in this process")
			case len(args) > 0 && f.rollouts == "":
				return refuse("got CONFIG without --rollouts, want a file of rollouts, one JSON object a line")
			case len(args) == 0 && (f.rollouts != "" || given("set") || given("body")):
				return refuse("got no CONFIG, want CONFIG with --rollouts, --set and --body")
			case len(args) == 0 && f.queue.URL != "" && given("workers"):
				return refuse("got --workers with --queue alone, which is one worker: start several")
			case len(args) > 0 && f.queue.URL == "" && f.workers == 0:
				return refuse("got --workers 0 without --queue: no process would run the rollouts")
			}
			return runQueue(cmd.Context(), p, &f, args)
		},
	}
	c.Flags().StringVar(&f.body, "body", "", "body of all agents: sim or emulated; overrides parts")
	c.RegisterFlagCompletionFunc("body", command.Words("sim", "emulated"))
	c.Flags().StringArrayVar(&f.set, "set", nil,
		"PATH=VALUE: override a key of the config, for example clock.mode=realtime")
	c.Flags().StringVar(&f.rollouts, "rollouts", "", "file of rollouts, one JSON object a line; - reads standard input")
	c.Flags().StringVar(&f.queue.URL, "queue", "", "nats://HOST:PORT of a NATS server with JetStream")
	c.Flags().StringVar(&f.queue.Name, "name", "halyard", "name of the queue; its results are kept under it")
	f.token.Add(c, "the queue")
	c.Flags().IntVar(&f.workers, "workers", runtime.NumCPU(), "worker processes to run here; with --queue by default 0")
	c.Flags().StringVar(&f.server.Address, "listen", work.DefaultAddress,
		"HOST:PORT of the queue in this process; with CONFIG any free port")
	c.Flags().StringVar(&f.server.Dir, "store", "",
		"folder for rollouts and results of the queue in this process (default: a temporary one)")
	c.Flags().BoolVar(&f.untilEOF, "until-eof", false, "end with standard input: of worker processes")
	c.Flags().MarkHidden("until-eof")
	return c
}

// runQueue runs the queue, workers and submission of the flags.
func runQueue(ctx context.Context, p *command.Program, f *workFlags, args []string) (err error) {
	log := p.Log()
	if len(args) == 0 && f.queue.URL != "" {
		return workHere(ctx, p, f, log)
	}
	var cfg *halyard.Config
	var list []*work.Rollout
	if len(args) > 0 {
		if cfg, err = halyard.Check(args[0], func(o *configs.Options) { o.Body, o.Set = f.body, f.set }); err != nil {
			return err
		}
		for _, n := range cfg.Notes {
			p.Note("note: %v", n)
		}
		if list, err = work.ReadRollouts(f.rollouts, p.In); err != nil {
			return err
		}
		if f.queue.URL == "" && f.server.Address == work.DefaultAddress {
			f.server.Address = "127.0.0.1:0"
		}
	}
	if f.queue.URL == "" {
		server, err := work.Listen(f.server)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, server.Close()) }()
		f.queue.URL = server.URL()
	}
	q, err := work.Dial(ctx, f.queue)
	if err != nil {
		return err
	}
	defer q.Close()
	ctx, cancel := context.WithCancel(ctx)
	var crew sync.WaitGroup
	defer crew.Wait()
	defer cancel()
	for i := range f.workers {
		crew.Go(func() { work.KeepProcess(ctx, f.queue, i+1, log) })
	}
	if cfg == nil {
		if *p.Format == "table" {
			p.Note("queue %s at %s, %d workers here; more: halyard-work --queue %s", f.queue.Name, f.queue.URL,
				f.workers, f.queue.URL)
		} else {
			*p.Format = "jsonl"
			p.Line(queueReady{"ready", f.queue.URL, f.queue.Name, f.workers})
		}
		<-ctx.Done()
		return ctx.Err()
	}
	return submit(ctx, p, q, cfg, list)
}

// queueReady is the line that reports to a script that a queue is open.
type queueReady struct {
	Event   string `json:"event"`
	Queue   string `json:"queue"`
	Name    string `json:"name"`
	Workers int    `json:"workers"`
}

// submit queues rollouts and shows their results in order. Its error reports those that failed.
func submit(ctx context.Context, p *command.Program, q *work.Queue, cfg *halyard.Config, list []*work.Rollout) error {
	bar := p.Progress("rollouts", len(list))
	var rows []work.Result
	failed, first := 0, ""
	err := q.Submit(ctx, cfg, work.Build(), list, func(r *work.Result) error {
		bar.Add(1)
		if r.Error != "" {
			if failed++; first == "" {
				first = r.Key + ": " + r.Error
			}
		}
		if *p.Format == "jsonl" {
			return p.Line(r)
		}
		rows = append(rows, *r)
		return nil
	})
	if *p.Format != "jsonl" {
		err = errors.Join(err, command.Show(&p.Host, rows))
	}
	if err == nil && failed > 0 {
		err = &hal.Error{Kind: hal.Differs, Op: "halyard-work",
			Err: fmt.Errorf("%d of %d rollouts ended with an error, first %s", failed, len(list), first)}
	}
	return err
}

// workHere is one worker in this process.
func workHere(ctx context.Context, p *command.Program, f *workFlags, log *slog.Logger) error {
	if f.untilEOF {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go func() { // ends with the process: a read of standard input cannot be broken off
			io.Copy(io.Discard, p.In)
			cancel()
		}()
	}
	q, err := work.Dial(ctx, f.queue)
	if err != nil {
		return err
	}
	defer q.Close()
	if !f.untilEOF {
		p.Note("worker of queue %s at %s", f.queue.Name, work.Shown(f.queue.URL))
	}
	w := work.Worker{Queue: q, Build: work.Build(), Log: log,
		Open: func(cfg *configs.Config, o halyard.BatchOptions) (work.Environment, error) {
			return halyard.OpenBatch(cfg, o)
		}}
	if err := w.Run(ctx); err != nil {
		return err
	}
	if !f.untilEOF {
		p.Note("%d rollouts done", w.Done())
	}
	if f.untilEOF && !errors.As(context.Cause(ctx), new(command.Interrupted)) {
		return nil
	}
	return ctx.Err()
}
