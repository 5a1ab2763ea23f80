package work

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

const (
	// Lost is how long a rollout may go without a sign of life of its worker before another worker gets it.
	Lost = 3 * time.Second
	// maxRig is the greatest length of a config with its files.
	maxRig = 64 << 20
	// again is the time between two attempts while the queue is away.
	again = 200 * time.Millisecond
)

var names = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Options are how a queue is reached.
type Options struct {
	URL   string // "nats://HOST:PORT", several with commas
	Name  string // of the queue; "" = "halyard"
	Token string
}

// Queue is a connection to a queue. Its methods may be called from any goroutine.
type Queue struct {
	name    string
	nats    *nats.Conn
	js      jetstream.JetStream
	jobs    jetstream.Consumer
	results jetstream.KeyValue
	rigs    jetstream.ObjectStore
}

// job is a rollout as it is published.
type job struct {
	Rig     string  `json:"rig"`   // digest of the config with its files
	Build   string  `json:"build"` // of the submitter; workers of another leave it
	Rollout Rollout `json:"rollout"`
}

// rig is a config with its files as it is stored.
type rig struct {
	Source string           `json:"source"` // how faults call it
	Config *configs.Archive `json:"config"`
}

// Shown is url for people and logs: without a password.
func Shown(url string) string {
	if i := strings.LastIndex(url, "@"); i >= 0 {
		return "nats://..." + url[i:]
	}
	return url
}

// Dial connects to a queue and makes its streams where it has none. A connection that is lost later is made again. The
// error is hal.Absent where no server answers and hal.Invalid where it has no JetStream.
func Dial(ctx context.Context, o Options) (*Queue, error) {
	o.Name = cmp.Or(o.Name, "halyard")
	fault := func(kind hal.Kind, try string, err error) error {
		return &hal.Error{Kind: kind, Op: "queue " + Shown(o.URL), Err: err, Try: try}
	}
	if !names.MatchString(o.Name) {
		return nil, fault(hal.Invalid, "--name halyard",
			fmt.Errorf("name: got %.80q, want 1 to 64 letters, digits, _ and -", o.Name))
	}
	q := &Queue{name: o.Name}
	var err error
	if q.nats, err = nats.Connect(o.URL, nats.Name("halyard-work"), nats.Token(o.Token), nats.MaxReconnects(-1),
		nats.ReconnectWait(again)); err != nil {
		kind := hal.Absent
		if errors.Is(err, nats.ErrAuthorization) {
			kind = hal.Busy
		}
		return nil, fault(kind, "halyard-work", err)
	}
	if err = q.ensure(ctx); err != nil {
		q.Close()
		if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, nats.ErrNoResponders) {
			return nil, fault(hal.Invalid, "nats-server --jetstream", err)
		}
		return nil, fault(hal.KindOf(err), "", err)
	}
	return q, nil
}

// ensure opens the streams of the queue, and makes those that are not there.
func (q *Queue) ensure(ctx context.Context) (err error) {
	if q.js, err = jetstream.New(q.nats); err != nil {
		return err
	}
	stream, err := q.js.CreateStream(ctx, jetstream.StreamConfig{Name: q.name + "_jobs",
		Subjects: []string{q.name + ".job.*"}, Retention: jetstream.WorkQueuePolicy,
		Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, MaxMsgsPerSubject: 1})
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		stream, err = q.js.Stream(ctx, q.name+"_jobs")
	}
	if err != nil {
		return err
	}
	q.jobs, err = stream.CreateConsumer(ctx, jetstream.ConsumerConfig{Durable: "workers",
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: Lost, MaxAckPending: -1})
	if errors.Is(err, jetstream.ErrConsumerExists) {
		q.jobs, err = stream.Consumer(ctx, "workers")
	}
	if err != nil {
		return err
	}
	q.results, err = q.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: q.name + "_results"})
	if errors.Is(err, jetstream.ErrBucketExists) {
		q.results, err = q.js.KeyValue(ctx, q.name+"_results")
	}
	if err != nil {
		return err
	}
	q.rigs, err = q.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: q.name + "_rigs"})
	if errors.Is(err, jetstream.ErrBucketExists) {
		q.rigs, err = q.js.ObjectStore(ctx, q.name+"_rigs")
	}
	return err
}

// Close ends the connection.
func (q *Queue) Close() { q.nats.Close() }

// Store puts cfg with all its files into the queue and returns its digest.
func (q *Queue) Store(ctx context.Context, cfg *configs.Config) (string, error) {
	archive, err := cfg.Archive(model.FilesOf)
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(rig{cfg.Source, archive})
	if err != nil {
		return "", err
	}
	if len(data) > maxRig {
		return "", &hal.Error{Kind: hal.Invalid, Op: "queue config",
			Err: fmt.Errorf("got %d bytes with its files, want at most %d", len(data), maxRig)}
	}
	name := digest(data)
	if _, err := q.rigs.GetInfo(ctx, name); err == nil {
		return name, nil
	} else if !errors.Is(err, jetstream.ErrObjectNotFound) {
		return "", err
	}
	_, err = q.rigs.Put(ctx, jetstream.ObjectMeta{Name: name}, bytes.NewReader(data))
	return name, err
}

// fetch reads the config of a digest; its files go below dir.
func (q *Queue) fetch(ctx context.Context, name, dir string) (*configs.Config, error) {
	info, err := q.rigs.GetInfo(ctx, name)
	if err != nil {
		return nil, err
	}
	if info.Size > maxRig {
		return nil, fmt.Errorf("rig %s: got %d bytes, want at most %d", name, info.Size, maxRig)
	}
	data, err := q.rigs.GetBytes(ctx, name)
	if err != nil {
		return nil, err
	}
	var stored rig
	if err := json.Unmarshal(data, &stored); err != nil || stored.Config == nil || digest(data) != name {
		return nil, fmt.Errorf("rig %s: got %d bytes that are not it, %v", name, len(data), err)
	}
	return stored.Config.Extract(dir, stored.Source)
}

// subject is that of a key.
func (q *Queue) subject(key string) string { return q.name + ".job." + key }

// errMaxPerSubject is the server's code of a second message on a subject: the rollout is in the queue.
const errMaxPerSubject jetstream.ErrorCode = 10077

// publish queues a rollout unless one of its key waits for its result.
func (q *Queue) publish(ctx context.Context, rig, build string, r *Rollout) error {
	data, err := json.Marshal(job{rig, build, *r})
	if err != nil {
		return err
	}
	if most := q.nats.MaxPayload(); int64(len(data)) > most {
		return invalid("%s: got %d bytes, want at most %d (max_payload of the queue's server)", r.Key, len(data), most)
	}
	for {
		_, err := q.js.Publish(ctx, q.subject(r.Key), data)
		var refused *jetstream.APIError
		if errors.As(err, &refused) {
			if refused.ErrorCode == errMaxPerSubject {
				return nil
			}
			return err
		}
		if err == nil || !wait(ctx, again) {
			return errors.Join(err, ctx.Err())
		}
	}
}

// wait waits for d and reports whether ctx goes on.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
