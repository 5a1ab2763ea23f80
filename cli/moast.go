package cli

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/moast/shell"
	"github.com/halyard-robotics/halyard/internal/protocols/nml"
	servemoast "github.com/halyard-robotics/halyard/internal/serve/moast"
)

func newMOAST(a *app) *cobra.Command {
	run := servemoast.Run{}
	var ini, file, address string
	var set []string
	c := &cobra.Command{
		Use:   "moast",
		Short: "run MOAST's hierarchy on simulated robots",
		Long: "Runs MOAST's modules for a simulated P2AT in the yellow arena, or for the vehicles of a moast.ini, " +
			"and serves their NML\n" +
			"buffers. Other robots run them by a server of protocol nml in their config.",
		Example: "  halyard moast --nml moast.nml\n  halyard shell prim --nml moast.nml\n  halyard moast --ini " +
			"moast.ini --map orange",
		Args: arguments("", "halyard moast"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := servemoast.ParseLevels(run.Levels); err != nil {
				return &hal.Error{Kind: hal.Invalid, Op: "moast: --levels", Err: err}
			}
			host, text, err := net.SplitHostPort(address)
			port, perr := strconv.Atoi(text)
			if err != nil || perr != nil || port == 0 && file != "" {
				return &hal.Error{Kind: hal.Invalid, Op: "moast: --listen",
					Err: fmt.Errorf("got %q, want HOST:PORT, with a port above 0 for --nml", address)}
			}
			run.Host, run.Port = host, port
			if ini != "" {
				if run.INI, err = readINI(ini, run.World); err != nil {
					return &hal.Error{Kind: hal.Invalid, Op: "moast: --ini", Err: err}
				}
			}
			config, err := halyard.Parse("halyard moast", run.Config(), func(o *configs.Options) { o.Set = set })
			if err != nil {
				return err
			}
			if file == "" && port > 0 && a.format == "table" {
				file = "-"
			}
			if file != "" {
				if err := writeNML(a, config, file, host); err != nil {
					return err
				}
			}
			return a.serve(cmd.Context(), config)
		},
	}
	c.Flags().StringVar(&run.Levels, "levels", "", "of servo, prim, am, veh, sect, with commas between (all)")
	c.Flags().StringVar(&ini, "ini", "", "moast.ini: vehicles, start poses, UTM offset, cycle of servo")
	c.Flags().StringVar(&run.World, "map", "yellow",
		"the arena; with --ini the section of that name is read, also [DM-USAR_NAME]")
	c.Flags().StringVar(&file, "nml", "",
		"write the buffers' configuration for rcslib programs to this file (standard output)")
	c.Flags().StringVar(&address, "listen", fmt.Sprintf("127.0.0.1:%d", nml.FirstPort),
		"HOST:PORT of the buffers; further vehicles have the next ports")
	c.Flags().StringVar(&run.Encoding, "encoding", "packed", "packed, xdr or disp")
	c.Flags().StringArrayVar(&set, "set", nil, "PATH=VALUE: override a key of the resulting config")
	return c
}

func readINI(name, world string) (*servemoast.INI, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return servemoast.ParseINI(name, world, f)
}

// writeNML writes the configuration file of the buffers that c will serve.
func writeNML(a *app, c *halyard.Config, name, host string) error {
	p, err := plan.Resolve(c, a.catalog())
	if err != nil {
		return err
	}
	config, err := servemoast.Buffers(p, host)
	if err != nil {
		return err
	}
	if name == "-" {
		_, err = config.WriteTo(a.out)
		return err
	}
	if err := servemoast.WriteBuffers(name, config); err != nil {
		return &hal.Error{Kind: hal.Invalid, Op: "moast: --nml", Err: err}
	}
	return nil
}

// readNML reads a configuration file of buffers.
func readNML(name string) (*nml.Config, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "--nml", Err: err, Try: "halyard moast --nml " + name}
	}
	defer f.Close()
	c, err := nml.ParseConfig(name, f)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "--nml", Err: err}
	}
	return c, nil
}

// dialNML connects to a buffer of a configuration file.
func dialNML(c *nml.Config, buffer string) (*nml.Client, error) {
	line, ok := c.Buffer(buffer)
	if !ok {
		return nil, &hal.Error{Kind: hal.Absent, Op: "buffer " + buffer, Err: fmt.Errorf("no B line")}
	}
	if line.Refused == "" && line.Port == 0 {
		line.Refused = "no TCP port, want TCP=port"
	}
	if line.Refused != "" {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "buffer " + buffer,
			Err: fmt.Errorf("line %d: got %s", line.Line, line.Refused)}
	}
	client, err := nml.Dial(line)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Absent, Op: "nml", Err: err, Try: "halyard moast"}
	}
	return client, nil
}

func newShell(a *app) *cobra.Command {
	var file string
	var vehicle int
	c := &cobra.Command{
		Use:   "shell servo|prim|am|veh|sect",
		Short: "command a level of MOAST",
		Long: "Reads commands for one level of MOAST from standard input; help lists them. An empty line " +
			"prints the status.",
		Example:   "  halyard shell prim --nml moast.nml",
		Args:      arguments("LEVEL", "halyard shell prim"),
		ValidArgs: []string{"servo", "prim", "am", "veh", "sect"},
		RunE: func(cmd *cobra.Command, args []string) error {
			config, err := readNML(file)
			if err != nil {
				return err
			}
			s := &shell.Shell{Level: args[0], Vehicle: vehicle, In: a.in, Out: a.out,
				Open: func(buffer string) (shell.Channel, error) { return dialNML(config, buffer) }}
			return s.Run(cmd.Context())
		},
	}
	addNMLFlags(c, &file)
	c.Flags().IntVarP(&vehicle, "vehicle", "m", 1, "number of the vehicle")
	return c
}

func newNML(a *app) *cobra.Command {
	var file string
	c := &cobra.Command{Use: "nml", Short: "read NML buffers"}
	printer := &cobra.Command{
		Use:   "print BUFFER",
		Short: "print the message of an NML buffer",
		Long: "Prints the latest message of a buffer: its type, then a line for each field. A map is printed in " +
			"rows, for gnuplot.",
		Example: "  halyard nml print navDataExt1 --nml moast.nml",
		Args:    arguments("BUFFER", "halyard nml print navDataExt1"),
		RunE: func(_ *cobra.Command, args []string) error {
			config, err := readNML(file)
			if err != nil {
				return err
			}
			client, err := dialNML(config, args[0])
			if err != nil {
				return err
			}
			defer client.Close()
			m, err := client.Peek(moast.New)
			if err != nil {
				return fmt.Errorf("buffer %s: %w", args[0], err)
			}
			return shell.Print(a.out, m)
		},
	}
	addNMLFlags(printer, &file)
	c.AddCommand(printer, newNMLModules(a))
	return c
}

func newNMLModules(a *app) *cobra.Command {
	var file string
	var watch bool
	c := &cobra.Command{
		Use:   "modules",
		Short: "list MOAST's modules, their commands and states",
		Long: "Lists each module with its last command, serial numbers, status, state and cycle. It only looks on: " +
			"a module whose\n" +
			"superior is silent stops all the same.",
		Example: "  halyard nml modules --watch --nml moast.nml",
		Args:    arguments("", "halyard nml modules"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := readNML(file)
			if err != nil {
				return err
			}
			var names []string
			for _, b := range config.Buffers {
				if b.Refused != "" {
					a.note("note: buffer %s: line %d: got %s: left out", b.Name, b.Line, b.Refused)
					continue
				}
				names = append(names, b.Name)
			}
			modules, err := shell.OpenModules(names,
				func(buffer string) (shell.Channel, error) { return dialNML(config, buffer) })
			if err != nil {
				return &hal.Error{Kind: hal.Absent, Op: "nml", Err: err, Try: "halyard moast"}
			}
			defer modules.Close()
			if !watch {
				return modules.Print(a.out)
			}
			return modules.Watch(cmd.Context(), a.out)
		},
	}
	addNMLFlags(c, &file)
	c.Flags().BoolVar(&watch, "watch", false, "print again each second until Ctrl-C")
	return c
}

func addNMLFlags(c *cobra.Command, file *string) {
	c.Flags().StringVarP(file, "nml", "n", cmp.Or(os.Getenv("CONFIG_NML"), "moast.nml"),
		"configuration file of the buffers; $CONFIG_NML if set")
}
