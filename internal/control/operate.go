package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/manual"
)

const (
	maxRequest  = 32 << 20        // bytes of a request: a motion of maxSamples
	beatTimeout = 2 * time.Second // without a byte of the client
)

var (
	errClientLeft = errors.New("the client left: the joints hold")
	errRigEnds    = errors.New("the rig ends")
)

// operate executes a request until it is done, or the client or the rig ends.
func (c *Control) operate(conn net.Conn, in *bufio.Reader) {
	line, err := readLine(in, maxRequest)
	var q manual.Request
	if err == nil {
		err = json.Unmarshal(line, &q)
	}
	out := json.NewEncoder(conn)
	send := func(u manual.Update) error {
		conn.SetWriteDeadline(time.Now().Add(ControlTimeout))
		return out.Encode(u)
	}
	if err != nil {
		send(failed(&hal.Error{Kind: hal.Invalid, Op: "operate", Err: err}))
		return
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	listens := make(chan struct{})
	go func() {
		defer close(listens)
		defer c.Rig.Contain("control socket")
		for err := error(nil); err == nil; {
			conn.SetReadDeadline(time.Now().Add(beatTimeout))
			_, err = in.ReadByte()
			select {
			case <-c.ended:
				cancel(errRigEnds)
			default:
			}
		}
		cancel(errClientLeft)
	}()
	if err := manual.Run(ctx, c.Rig, &q, send); err != nil {
		if why := context.Cause(ctx); why != nil {
			err = &hal.Error{Kind: hal.Timeout, Op: string(q.Op), Err: why}
		}
		send(failed(err))
	}
	cancel(nil)
	conn.SetReadDeadline(time.Now())
	<-listens
}

func failed(err error) manual.Update {
	return manual.Update{Error: err.Error(), Kind: hal.KindOf(err), Joints: []manual.Joint{}}
}

// Operate sends a request to the rig called name, or to the only one that runs, and calls seen with each update until
// it is done. The end of ctx ends it: the joints hold.
func Operate(ctx context.Context, name string, q *manual.Request, seen func(manual.Update) error) error {
	name, err := theRig(name, OrderOperate)
	if err != nil {
		return err
	}
	conn, err := dial(ctx, ControlSocket(name), name, OrderOperate)
	if err != nil {
		return err
	}
	data, err := json.Marshal(q)
	if err != nil {
		conn.Close()
		return err
	}
	conn.SetWriteDeadline(time.Now().Add(ControlTimeout))
	if _, err := fmt.Fprintf(conn, "%s\n%s\n", OrderOperate, data); err != nil {
		conn.Close()
		return &hal.Error{Kind: hal.Timeout, Op: string(OrderOperate), Err: err}
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { // the rig ends it
		conn.CloseWrite()
		conn.SetReadDeadline(time.Now().Add(ControlTimeout))
	})()
	return updates(ctx, conn, q.Op, seen)
}

// updates reads the answers to a request, and tells after each that the client lives.
func updates(ctx context.Context, conn net.Conn, op manual.Op, seen func(manual.Update) error) error {
	in := bufio.NewReader(conn)
	for {
		if ctx.Err() == nil {
			conn.SetReadDeadline(time.Now().Add(ControlTimeout))
		}
		line, err := readLine(in, 1<<20)
		var u manual.Update
		if err == nil {
			err = json.Unmarshal(line, &u)
		}
		switch {
		case err != nil && ctx.Err() != nil && (op == manual.Watch || op == manual.Guide):
			return nil
		case ctx.Err() != nil && (err != nil || u.Error != ""):
			return errors.Join(context.Canceled, context.Cause(ctx))
		case err != nil:
			return &hal.Error{Kind: hal.Timeout, Op: string(OrderOperate), Err: fmt.Errorf("no answer: %w", err)}
		case u.Error != "":
			return &hal.Error{Kind: u.Kind, Err: errors.New(u.Error)}
		}
		if err := seen(u); err != nil || u.Done {
			return err
		}
		conn.SetWriteDeadline(time.Now().Add(ControlTimeout))
		conn.Write([]byte("\n")) // it is alive and reads; where that fails the next read does
	}
}
