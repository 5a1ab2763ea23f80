package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/batch"
)

const (
	maxDeliveries = 100              // of a rollout whose workers die: then its result is an error
	longestAsk    = 5 * time.Second  // for the next rollout, or an answer of the queue
	signOfLife    = time.Second      // between two reports on a rollout under way
	otherBuild    = 10 * time.Second // until a rollout of another build is offered again
)

// Worker takes rollouts from a queue, one at a time.
type Worker struct {
	Queue *Queue
	Build string // of this program
	Open  func(*configs.Config, batch.Options) (Environment, error)
	Log   *slog.Logger

	env  Environment // of the last rollout
	rig  string      // its config's digest
	of   batch.Options
	seen int // rollouts that ended here
}

// Run works until ctx ends, which gives the rollout at hand back to the queue. It waits while the queue is away.
func (w *Worker) Run(ctx context.Context) error {
	defer w.closeRig()
	for ctx.Err() == nil {
		ask, cancel := context.WithTimeout(ctx, longestAsk)
		msg, err := w.Queue.jobs.Next(jetstream.FetchContext(ask))
		cancel()
		if err != nil {
			if !errors.Is(err, nats.ErrTimeout) && !errors.Is(err, context.DeadlineExceeded) &&
				!errors.Is(err, jetstream.ErrNoMessages) {
				w.Log.Debug("queue away", "fault", err)
				wait(ctx, again)
			}
			continue
		}
		if err := w.do(ctx, msg); err != nil {
			if ctx.Err() == nil {
				w.Log.Warn("rollout given back", "subject", msg.Subject(), "fault", err)
			}
			msg.NakWithDelay(again)
		}
	}
	return nil
}

// Done is how many rollouts have ended here. Call it after Run.
func (w *Worker) Done() int { return w.seen }

// do makes one rollout. An error gives it back.
func (w *Worker) do(ctx context.Context, msg jetstream.Msg) error {
	var j job
	if err := strict(msg.Data(), &j); err != nil {
		return w.drop(msg, err)
	}
	if err := j.Rollout.check(); err != nil {
		return w.drop(msg, err)
	}
	if j.Build != w.Build {
		w.Log.Warn("rollout of another build of halyard left in the queue", "key", j.Rollout.Key, "build", j.Build,
			"own", w.Build)
		return msg.NakWithDelay(otherBuild)
	}
	id, err := j.Rollout.digest(j.Rig)
	if err != nil {
		return err
	}
	_, err = w.Queue.results.Get(ctx, j.Rollout.Key)
	switch {
	case err == nil:
		return msg.DoubleAck(ctx) // its worker died between the two
	case !errors.Is(err, jetstream.ErrKeyNotFound):
		return err
	}
	r, err := w.result(ctx, msg, &j)
	if err != nil {
		return err
	}
	r.Rollout = id
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if most := w.Queue.nats.MaxPayload(); int64(len(data)) > most {
		data, err = json.Marshal(&Result{Key: r.Key, Rollout: id, Seed: r.Seed, Columns: r.Columns,
			Observations: []Row{}, Hash: r.Hash,
			Error: fmt.Sprintf("result: got %d bytes, want at most %d (try: a greater every, fewer columns in observe)",
				len(data), most)})
		if err != nil {
			return err
		}
	}
	// The end of ctx does not throw away what is done: it is stored, if the queue answers.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestAsk)
	defer cancel()
	if _, err := w.Queue.results.Create(ctx, r.Key, data); err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
		return err
	}
	w.seen++
	return msg.DoubleAck(ctx)
}

// drop takes a message that is no rollout off the queue.
func (w *Worker) drop(msg jetstream.Msg, why error) error {
	w.Log.Error("message dropped", "subject", msg.Subject(), "fault", why)
	return msg.TermWithReason(why.Error())
}

// result makes the rollout of j.
func (w *Worker) result(ctx context.Context, msg jetstream.Msg, j *job) (*Result, error) {
	refused := &Result{Key: j.Rollout.Key, Seed: j.Rollout.Seed, Columns: []string{}, Observations: []Row{}}
	if about, err := msg.Metadata(); err != nil {
		return nil, err
	} else if about.NumDelivered > maxDeliveries {
		refused.Error = fmt.Sprintf("gave up: %d workers were lost with it", maxDeliveries)
		return refused, nil
	}
	if err := w.openRig(ctx, j, refused); err != nil || refused.Error != "" {
		return refused, err
	}
	last := time.Now()
	return Run(w.env, &j.Rollout, func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if now := time.Now(); now.Sub(last) > signOfLife {
			last = now
			return msg.InProgress()
		}
		return nil
	})
}

// openRig opens the rig of j unless it is that of the rollout before. What would be the same on any machine is
// refused's error.
func (w *Worker) openRig(ctx context.Context, j *job, refused *Result) error {
	of := batch.Options{Copies: 1, Actions: j.Rollout.Act, Observations: j.Rollout.Observe}
	if w.env != nil && w.rig == j.Rig && slices.Equal(w.of.Actions, of.Actions) &&
		slices.Equal(w.of.Observations, of.Observations) {
		return nil
	}
	w.closeRig()
	dir, err := os.MkdirTemp("", "halyard-work-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cfg, err := w.Queue.fetch(ctx, j.Rig, dir)
	if cfg == nil && err != nil {
		return err
	}
	if err == nil {
		var env Environment
		if env, err = w.Open(cfg, of); err == nil {
			w.env, w.rig, w.of = env, j.Rig, of
			return nil
		}
	}
	refused.Error = err.Error()
	return nil
}

func (w *Worker) closeRig() {
	if w.env == nil {
		return
	}
	if err := w.env.Close(); err != nil {
		w.Log.Warn("rig closed", "fault", err)
	}
	w.env = nil
}

// KeepProcess runs a worker of the queue of o in a process of this program, and another when it dies, until ctx ends.
// It logs as worker number.
func KeepProcess(ctx context.Context, o Options, number int, log *slog.Logger) {
	const between, timeout = 200 * time.Millisecond, 3 * time.Second
	program, err := os.Executable()
	for err == nil && ctx.Err() == nil {
		c := exec.CommandContext(ctx, program, "--queue", o.URL, "--name", o.Name, "--until-eof")
		c.Env = append(os.Environ(), "HALYARD_TOKEN="+o.Token) // not in the list of processes
		c.Stderr, c.WaitDelay = os.Stderr, timeout
		var in io.WriteCloser
		if in, err = c.StdinPipe(); err != nil { // it ends with this process, however this one ends
			break
		}
		c.Cancel = in.Close
		if err = c.Start(); err != nil {
			break
		}
		died := c.Wait()
		if ctx.Err() != nil {
			return
		}
		log.Warn("worker process ended; another one starts", "worker", number, "cause", died)
		select {
		case <-time.After(between):
		case <-ctx.Done():
		}
	}
	if err != nil {
		log.Error("worker process", "worker", number, "fault", err)
	}
}

// Build identifies this program to workers: results of another build may differ.
func Build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	v := map[string]string{}
	for _, s := range info.Settings {
		v[s.Key] = s.Value
	}
	return strings.Join([]string{info.Main.Version, v["vcs.revision"], v["vcs.modified"]}, " ")
}
