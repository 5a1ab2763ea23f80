package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

// Row is one module in the diagnostics: its last command and its status.
type Row struct {
	Name    string // of the Stat buffer, without the role: primMobJA1
	Command string // the type of the message in Cmd; "" = none
	Serial  int32  // of that message
	Echo    int32
	Status  string
	State   int32
	Admin   string
	Cycles  int32
	Period  float64 // s, the mean cycle
	Message string
}

// Modules peeks at the Cmd and Stat buffers of the modules among names. Its reads do not count as a superior's: they
// keep no task running.
type Modules struct {
	rows        []string // names of Stat buffers
	stats, cmds []Channel
}

// OpenModules opens the buffers of the modules among names; those that no server has are left out.
func OpenModules(names []string, open func(buffer string) (Channel, error)) (*Modules, error) {
	d := &Modules{}
	var last error
	for _, name := range names {
		module, rest, ok := cutRole(name)
		if !ok {
			continue
		}
		stat, err := open(name)
		if err != nil {
			last = err
			continue
		}
		cmd, err := open(module + moast.Cmd.String() + rest)
		if err != nil {
			closeAll(stat)
			last = err
			continue
		}
		d.rows, d.stats, d.cmds = append(d.rows, name), append(d.stats, stat), append(d.cmds, cmd)
	}
	if len(d.rows) == 0 {
		return nil, fmt.Errorf("modules: got no Stat buffer that answers: %w", orNone(last))
	}
	return d, nil
}

func orNone(err error) error {
	if err == nil {
		return errors.New("none in the configuration")
	}
	return err
}

// cutRole splits the name of a Stat buffer into its module and what follows the role.
func cutRole(name string) (module, rest string, ok bool) {
	for _, m := range moast.Modules() {
		if rest, ok = strings.CutPrefix(name, m.Name+moast.Stat.String()); ok {
			return m.Name, rest, true
		}
	}
	return "", "", false
}

// Close closes the buffers.
func (d *Modules) Close() error {
	closeAll(d.stats...)
	closeAll(d.cmds...)
	return nil
}

// Rows are the modules as they are now.
func (d *Modules) Rows() (rows []Row, err error) {
	for i, name := range d.rows {
		module, rest, _ := cutRole(name)
		row := Row{Name: module + rest}
		m, err := d.cmds[i].Peek(moast.New)
		if c, ok := m.(moast.Command); err == nil && ok {
			row.Command, row.Serial = moast.Symbol(c.MessageType()), c.Head().Serial
		} else if err != nil && !isOld(err) {
			return nil, err
		}
		if m, err = d.stats[i].Peek(moast.New); err != nil && !isOld(err) {
			return nil, err
		}
		if r, ok := m.(moast.Reporter); err == nil && ok {
			h := r.Report()
			row.Echo, row.Status, row.State, row.Cycles, row.Period, row.Message = h.EchoSerial,
				short(h.Status.String()), int32(h.State), h.Tracker.Count, h.Tracker.Avg, h.Message
			row.Admin = short(h.Admin.String())
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func isOld(err error) bool { return errors.Is(err, nml.ErrOld) }

// short is a name of rcslib's without its prefix.
func short(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(strings.TrimSuffix(name, "_STATUS"), "RCS_"), "ADMIN_")
}

// Print prints the modules as a table.
func (d *Modules) Print(w io.Writer) error {
	rows, err := d.Rows()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%-16s %-26s %7s %7s %-13s %5s %-13s %8s %6s  %s\n", "MODULE", "COMMAND", "SERIAL", "ECHO", "STATUS",
		"STATE", "ADMIN", "CYCLES", "MS", "MESSAGE")
	for _, r := range rows {
		fmt.Fprintf(w, "%-16s %-26s %7d %7d %-13s %5d %-13s %8d %6.1f  %s\n", r.Name, r.Command, r.Serial, r.Echo,
			r.Status, r.State, r.Admin, r.Cycles, 1000*r.Period, r.Message)
	}
	return nil
}

// Watch prints the modules on a cleared screen each second, until ctx ends.
func (d *Modules) Watch(ctx context.Context, w io.Writer) error {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		fmt.Fprint(w, "\x1b[H\x1b[2J")
		if err := d.Print(w); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}
