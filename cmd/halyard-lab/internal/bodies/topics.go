package bodies

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/coder/websocket"
)

// socket is a WebSocket whose messages arrive on channels.
type socket struct {
	conn *websocket.Conn
	ctx  context.Context
	end  context.CancelFunc
	text chan []byte
	data chan []byte
	done chan struct{}
}

func dialSocket(ctx context.Context, address string, subprotocols ...string) (*socket, error) {
	conn, _, err := websocket.Dial(ctx, "ws://"+address, &websocket.DialOptions{Subprotocols: subprotocols})
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(1 << 22)
	s := &socket{conn: conn, text: make(chan []byte, 1024), data: make(chan []byte, 1024), done: make(chan struct{})}
	s.ctx, s.end = context.WithCancel(ctx)
	go func() { // ends with close
		defer close(s.done)
		for {
			kind, b, err := conn.Read(s.ctx)
			if err != nil {
				return
			}
			to := s.text
			if kind == websocket.MessageBinary {
				to = s.data
			}
			select {
			case to <- b:
			case <-s.ctx.Done():
				return
			}
		}
	}()
	return s, nil
}

func (s *socket) send(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.conn.Write(s.ctx, websocket.MessageText, b)
}

func (s *socket) close() error {
	err := s.conn.Close(websocket.StatusNormalClosure, "")
	s.end()
	<-s.done
	return err
}

// next waits for a message for which take returns true.
func (s *socket) next(from chan []byte, take func(b []byte) bool) error {
	timeout := time.After(patience)
	for {
		select {
		case b := <-from:
			if take(b) {
				return nil
			}
		case <-s.done:
			return errors.New("the server has closed the connection")
		case <-timeout:
			return errors.New("no message has come")
		}
	}
}

type object = map[string]any

// number is v, NaN where it is null or absent.
func number(list []*float64, i int) float64 {
	if i < 0 || i >= len(list) || list[i] == nil {
		return math.NaN()
	}
	return *list[i]
}

// rosbridge speaks rosbridge, as roslibjs does.
type rosbridge struct{ *socket }

func newRosbridge(s *stage, address string) (client, error) {
	c, err := dialSocket(s.ctx, address)
	if err != nil {
		return nil, err
	}
	return rosbridge{c}, errors.Join(
		c.send(object{"op": "subscribe", "topic": "/joint_states"}),
		c.send(object{"op": "advertise", "topic": "/joint_commands", "type": "sensor_msgs/msg/JointState"}))
}

func (r rosbridge) step(goals []float64, seen *Seen) error {
	if err := r.send(object{"op": "publish", "topic": "/joint_commands",
		"msg": object{"name": joints, "position": goals}}); err != nil {
		return err
	}
	return r.next(r.text, func(b []byte) bool {
		var m struct {
			Op, Topic, Msg string
			State          struct {
				Name             []string
				Position, Effort []*float64
			} `json:"-"`
		}
		var raw struct {
			Op, Topic string
			Msg       json.RawMessage
		}
		if json.Unmarshal(b, &raw) != nil {
			return false
		}
		if raw.Op == "status" {
			json.Unmarshal(raw.Msg, &m.Msg)
			seen.Told = append(seen.Told, m.Msg)
		}
		if raw.Op != "publish" || json.Unmarshal(raw.Msg, &m.State) != nil {
			return false
		}
		for i, j := range joints {
			k := slices.Index(m.State.Name, j)
			seen.Position[i], seen.Torque[i] = number(m.State.Position, k), number(m.State.Effort, k)
		}
		return true
	})
}

func (r rosbridge) reset(*Seen) error { return errNoReset }

// foxglove speaks Foxglove's protocol, as its viewer does.
type foxglove struct {
	*socket
}

func newFoxglove(s *stage, address string) (client, error) {
	c, err := dialSocket(s.ctx, address, "foxglove.websocket.v1")
	if err != nil {
		return nil, err
	}
	channel := -1
	err = c.next(c.text, func(b []byte) bool {
		var m struct {
			Op       string
			Channels []struct {
				ID    int
				Topic string
			}
		}
		json.Unmarshal(b, &m)
		for _, ch := range m.Channels {
			if ch.Topic == "/joint_states" {
				channel = ch.ID
			}
		}
		return channel >= 0
	})
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return &foxglove{socket: c}, errors.Join(
		c.send(object{"op": "subscribe", "subscriptions": []object{{"id": 1, "channelId": channel}}}),
		c.send(object{"op": "advertise", "channels": []object{{"id": 1, "topic": "/joint_commands",
			"encoding": "json", "schemaName": "sensor_msgs/msg/JointState"}}}))
}

func (f *foxglove) step(goals []float64, seen *Seen) error {
	b, err := json.Marshal(object{"name": joints, "position": goals})
	if err != nil {
		return err
	}
	head := binary.LittleEndian.AppendUint32([]byte{1}, 1) // MESSAGE_DATA of channel 1
	if err := f.conn.Write(f.ctx, websocket.MessageBinary, append(head, b...)); err != nil {
		return err
	}
	err = f.next(f.data, func(b []byte) bool {
		const header = 1 + 4 + 8
		var m struct {
			Joints []struct {
				Name             string
				Position, Effort *float64
			}
		}
		if len(b) < header || json.Unmarshal(b[header:], &m) != nil {
			return false
		}
		for i := range joints {
			seen.Position[i], seen.Torque[i] = math.NaN(), math.NaN()
		}
		for _, j := range m.Joints {
			if k := slices.Index(joints, j.Name); k >= 0 {
				seen.Position[k], seen.Torque[k] = number([]*float64{j.Position}, 0), number([]*float64{j.Effort}, 0)
			}
		}
		return true
	})
	for {
		select {
		case b := <-f.text:
			var m struct{ Op, Message string }
			if json.Unmarshal(b, &m) == nil && m.Op == "status" {
				seen.Told = append(seen.Told, m.Message)
			}
			continue
		default:
		}
		return err
	}
}

func (f *foxglove) reset(*Seen) error { return errNoReset }
