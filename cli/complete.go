package cli

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/command"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/commission/host"
	"github.com/halyard-robotics/halyard/servo"
)

// Shell completion. It runs at every Tab: it opens no device, and omits words that cannot be read.

// words is the completion of a flag that is one of them.
func words(list ...string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return command.Words(list...)
}

// completeLines completes servo lines: the adapters' stable names, CAN interfaces, and CONFIG:BUS of the embedded
// configs, or of the config typed so far.
func (f *lineFlags) completeLines(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	rows, _ := host.ListPorts(assembly.MachineRoot)
	var names []string
	for _, r := range rows {
		names = append(names, r.Port)
	}
	links, _ := filepath.Glob(filepath.Join(assembly.MachineRoot, "sys/class/net/*can*"))
	for _, l := range links {
		names = append(names, filepath.Base(l))
	}
	list := configs.Names()
	if config, _, two := strings.Cut(begun, ":"); two {
		list = []string{config}
	} else if files, _ := filepath.Glob(begun + "*.yaml"); !strings.HasPrefix(begun, "/dev/") {
		list = append(list, files...)
	}
	for _, config := range list {
		if c, err := configs.Load(config, configs.Options{}); err == nil {
			for _, bus := range commission.ServoBuses(f.buses, c) {
				names = append(names, config+":"+bus)
			}
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}

// completeIDs offers the ids of CONFIG:BUS, each with its joint.
func (f *lineFlags) completeIDs(_ *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
	for _, j := range f.joinedOn(args) {
		ids = append(ids, strconv.Itoa(j.ID)+"\t"+j.Name+", "+j.Model.Units().Name)
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// joinedOn are the servos of the line that is the first of args, where that is CONFIG:BUS.
func (f *lineFlags) joinedOn(args []string) []commission.WalkJoint {
	if len(args) == 0 {
		return nil
	}
	c, bus, err := commission.BusIn(f.buses, args[0])
	if err != nil || c == nil {
		return nil
	}
	list, _ := commission.JointsOn(f.buses, c, bus)
	return list
}

// completeRegisters offers the line, then the registers of the servo on it, by the config or by --protocol; with assign
// those that may be written, each with its "=".
func (f *lineFlags) completeRegisters(assign bool) func(*cobra.Command, []string, string) ([]string,
	cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, begun string) (names []string, _ cobra.ShellCompDirective) {
		if len(args) == 0 {
			return f.completeLines(cmd, args, begun)
		}
		id, _ := cmd.Flags().GetInt("id")
		s := commission.Registers{Spot: commission.Spot{Model: f.modelOfID(cmd, args, id), Buses: f.buses}}
		refused := func(r *servo.Register, v int64) bool { return hal.KindOf(s.Refuse(r, v)) == hal.Unsafe }
		if s.Model == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, r := range s.Model.Table() {
			switch {
			case !assign:
				names = append(names, r.Name)
			case r.Access != servo.ReadOnly && !(refused(&r, r.Min) && refused(&r, r.Max)):
				names = append(names, r.Name+"=")
			}
		}
		if assign {
			return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// modelOfID is that of the servo with id on the line of args, or a usual one of its type.
func (f *lineFlags) modelOfID(cmd *cobra.Command, args []string, id int) servo.Model {
	kind, _ := cmd.Flags().GetString("protocol")
	if c, bus, err := commission.BusIn(f.buses, args[0]); err == nil && c != nil {
		kind = c.Buses[bus].Type
	}
	t := f.buses.Of(kind)
	for _, j := range f.joinedOn(args) {
		if j.ID == id {
			return j.Model
		}
	}
	if len(t.Samples) == 0 {
		return nil
	}
	return t.Lookup(t.Samples[0])
}

// complete gives a command that takes a line its completions.
func (f *lineFlags) complete(c *cobra.Command) {
	if c.ValidArgsFunction == nil {
		c.ValidArgsFunction = f.completeLines
	}
	c.RegisterFlagCompletionFunc("protocol", words(append(f.buses.Names(), "all", "both")...))
	c.RegisterFlagCompletionFunc("serial-backend", words(serial.Bugst, serial.Tarm))
	if c.Flags().Lookup("id") != nil {
		c.RegisterFlagCompletionFunc("id", f.completeIDs)
	}
}
