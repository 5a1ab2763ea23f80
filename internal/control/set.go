package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// maxSet bounds the line of a set.
const maxSet = 2048

// set reads a line with the name of a value and, after a space, what it is set to; without that it only reads it.
func (c *Control) set(in *bufio.Reader) (ans Answer) {
	ans.Joints = []JointStatus{}
	line, err := readLine(in, maxSet)
	if err == nil {
		name, text, set := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		ans.Value, err = setValue(c.Rig.Values(), name, text, set)
	}
	if err != nil {
		ans.Error, ans.Kind = err.Error(), hal.KindOf(err)
	}
	return ans
}

func setValue(values *hal.Values, name, text string, set bool) (string, error) {
	fault := func(err error) (string, error) {
		if e := (*hal.Error)(nil); errors.As(err, &e) {
			return "", err
		}
		return "", &hal.Error{Kind: hal.Invalid, Op: "set " + name, Err: err}
	}
	id, ok := values.Lookup(name)
	if !ok {
		return "", &hal.Error{Kind: hal.Absent, Op: "set", Err: fmt.Errorf("got %.100q, want a value of the rig", name)}
	}
	_, kind, _ := values.Info(id)
	if set {
		v, err := valueOf(kind, text)
		if err == nil {
			err = values.Set(id, v)
		}
		if err != nil {
			return fault(err)
		}
	}
	v, err := values.Get(id)
	if err != nil {
		return fault(err)
	}
	return textOf(v), nil
}

func valueOf(kind hal.ValueKind, text string) (v hal.Value, err error) {
	v.Kind = kind
	switch kind {
	case hal.BoolValue:
		v.Bool, err = strconv.ParseBool(text)
	case hal.IntValue:
		v.Int, err = strconv.ParseInt(text, 10, 64)
	case hal.DoubleValue, hal.InterfaceValue:
		if v.Double, err = strconv.ParseFloat(text, 64); err == nil &&
			(math.IsNaN(v.Double) || math.IsInf(v.Double, 0)) {
			err = fmt.Errorf("got %q, want a number", text)
		}
	case hal.StringValue:
		v.Text = text
	default:
		err = errors.New("got a vector, want a value of one part")
	}
	return v, err
}

func textOf(v hal.Value) string {
	switch v.Kind {
	case hal.BoolValue:
		return strconv.FormatBool(v.Bool)
	case hal.IntValue:
		return strconv.FormatInt(v.Int, 10)
	case hal.DoubleValue, hal.InterfaceValue:
		return strconv.FormatFloat(v.Double, 'g', -1, 64)
	case hal.StringValue:
		return v.Text
	}
	return fmt.Sprint(v.Vector)
}

// Set sets a value of the rig called rig, or of the only one that runs, and returns what it is then. text nil only
// reads it.
func Set(ctx context.Context, rig, name string, text *string) (string, error) {
	rig, err := theRig(rig, OrderSet)
	if err != nil {
		return "", err
	}
	conn, err := dial(ctx, ControlSocket(rig), rig, OrderSet)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(ControlTimeout))
	line := name
	if text != nil {
		line += " " + *text
	}
	if strings.ContainsFunc(line, func(c rune) bool { return c < ' ' }) || len(line) >= maxSet {
		return "", &hal.Error{Kind: hal.Invalid, Op: "set", Err: fmt.Errorf("got %.100q, want one short line", line)}
	}
	fmt.Fprintf(conn, "%s\n%s\n", OrderSet, line)
	var ans Answer
	answer, err := readLine(bufio.NewReader(conn), 1<<20)
	if err == nil {
		err = json.Unmarshal(answer, &ans)
	}
	if err != nil {
		return "", &hal.Error{Kind: hal.Timeout, Op: "set " + name, Err: fmt.Errorf("no answer: %w", err)}
	}
	if ans.Error != "" {
		return "", &hal.Error{Kind: ans.Kind, Err: errors.New(ans.Error)}
	}
	return ans.Value, nil
}
