package commission

import (
	"errors"
	"strings"

	"github.com/halyard-robotics/halyard/internal/catalog"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/cybergear"
	"github.com/halyard-robotics/halyard/servo/odrive"
	"github.com/halyard-robotics/halyard/servo/vesc"
)

// MotorTable is the model called name of a type of bus that has motor controllers, nil of another. A VESC does not say
// which one it is.
func MotorTable(kind, name string) *catalog.RegisterModel {
	switch {
	case kind == "vesc":
		return &catalog.RegisterModel{Name: "vesc", Table: vesc.Parameters()}
	case kind == catalog.CybergearType:
		return &catalog.RegisterModel{Name: "cybergear", Table: cybergear.Parameters()}
	case odrive.ModelByName(name) == nil:
		return nil
	case kind == "odrive":
		return &catalog.RegisterModel{Name: name, Table: odrive.Parameters()}
	case kind == catalog.OdriveCAN:
		return &catalog.RegisterModel{Name: name, Table: odrive.CANParameters()}
	}
	return nil
}

// motorErrors are the errors of a motor controller by their names, "" of another model.
func motorErrors(m catalog.ServoModel, raw int64) string {
	t, _ := m.(*catalog.RegisterModel)
	switch {
	case t == nil:
		return ""
	case t.Name == "vesc":
		return vesc.Fault(raw).String()
	case t.Name == "odrive-v3": // which has firmware 0.5
		return odriveErrors(odrive.Errors(raw), odrive.V05)
	}
	return odriveErrors(odrive.Errors(raw), odrive.V06)
}

// odriveErrors are alarms, and what is none: that its host was away.
func odriveErrors(e odrive.Errors, d odrive.Dialect) string {
	text := e.Alarm(d).String()
	if e.Expired(d) {
		text = strings.TrimPrefix(text+", watchdog", "none, ")
	}
	return text
}

// keeper is a tool of what keeps nothing until it is told to.
type keeper interface {
	keep() (restarts bool, err error)
}

// keep makes what was written last, where that needs saying. restarts tells that the controller starts again for it.
func (s settled) keep() (restarts bool, err error) {
	if k, ok := s.Tool.(keeper); ok {
		return k.keep()
	}
	return false, nil
}

// keepsBy saves what was written by t, and says where that is more than it seems.
func keepsBy(t Tool, note func(string, ...any)) error {
	k, ok := t.(keeper)
	if !ok {
		return nil
	}
	restarts, err := k.keep()
	if restarts && err == nil {
		note("! it starts anew now: its port may be away for some seconds")
	}
	return err
}

// noSuch is what a table does not have.
func noSuch(bus string, id int, op, register string) error {
	return servo.Refuse(bus, id, op+" "+register, "%w", servo.ErrNoRegister)
}

type cybergearTool struct {
	c *cybergear.Client
	m *catalog.RegisterModel
}

func (t cybergearTool) Identify(id int) (catalog.ServoModel, error) { return t.m, t.c.Ping(byte(id)) }

func (t cybergearTool) Read(id int, register string) (int64, error) {
	switch r := t.m.Register(register); {
	case register == "id":
		return int64(id), t.c.Ping(byte(id))
	case r == nil || register == "torque_enable":
		return 0, noSuch(t.c.Name, id, "read", register)
	default:
		return t.c.Read(byte(id), r)
	}
}

func (t cybergearTool) Write(id int, register string, v int64) error {
	r := t.m.Register(register)
	if err := r.CheckWrite(t.m.Name, v); err != nil {
		return servo.Refuse(t.c.Name, id, "write "+register, "%w", err)
	}
	switch {
	case register == "id":
		return t.c.SetID(byte(id), byte(v))
	case register == "torque_enable" && v == 0:
		return t.c.Stop(byte(id))
	case register == "torque_enable":
		return noSuch(t.c.Name, id, "write", register)
	}
	return t.c.Write(byte(id), r, v)
}

// odriveClient is a client of ODrives on either line.
type odriveClient interface {
	Identify(id int) (*odrive.Model, error)
	Read(id int, r *servo.Register) (int64, error)
	Write(id int, r *servo.Register, v int64) error
}

type odriveTool struct {
	c          odriveClient
	kind, port string
	m          *catalog.RegisterModel
}

func (t *odriveTool) Identify(id int) (catalog.ServoModel, error) {
	m, err := t.c.Identify(id)
	if err != nil {
		return nil, err
	}
	t.m = MotorTable(t.kind, m.Name)
	return t.m, nil
}

func (t *odriveTool) Read(id int, register string) (int64, error) {
	if r := t.m.Register(register); r != nil {
		return t.c.Read(id, r)
	}
	return 0, noSuch(t.port, id, "read", register)
}

func (t *odriveTool) Write(id int, register string, v int64) error {
	r := t.m.Register(register)
	if err := r.CheckWrite(t.m.Name, v); err != nil {
		return servo.Refuse(t.port, id, "write "+register, "%w", err)
	}
	err := t.c.Write(id, r, v)
	var e *hal.Error
	if errors.Is(err, servo.ErrNoRegister) && errors.As(err, &e) && t.kind == catalog.OdriveCAN {
		e.Try = "its serial line (--protocol odrive), or odrivetool; of the watchdog a config's registers: name the endpoints"
	}
	return err
}

// keep saves on a serial line; CANSimple has no word for it that both firmwares know.
func (t *odriveTool) keep() (restarts bool, err error) {
	if c, ok := t.c.(*odrive.Client); ok {
		return c.Restarts(), c.Save()
	}
	return false, nil
}

type vescTool struct {
	c *vesc.Client
	m *catalog.RegisterModel
}

func (t vescTool) Identify(id int) (catalog.ServoModel, error) {
	_, err := t.c.Identify(byte(id))
	return t.m, err
}

func (t vescTool) Read(id int, register string) (int64, error) {
	if r := t.m.Register(register); r != nil {
		return t.c.Read(byte(id), r)
	}
	return 0, noSuch(t.c.Name, id, "read", register)
}

func (t vescTool) Write(id int, register string, _ int64) error {
	return VescRefusal(t.c.Name, id, "write "+register)
}

// VescRefusal says who configures a VESC.
func VescRefusal(bus string, id int, op string) error {
	return &hal.Error{Kind: hal.Invalid, Bus: bus, ID: id, Op: op,
		Err: errors.New("a VESC keeps its configuration as one block of bytes that each firmware lays out anew"),
		Try: "VESC Tool: App Settings, General has its id and timeout, Motor Settings its limits"}
}

// motorTool is the client of a motor controller's protocol on line, nil of another. endpoints are what a config says of the
// nodes of a CAN bus, by their ids.
func motorTool(line servo.Line, f *Finder, protocol int) Tool {
	kind := TypeOf(protocol)
	switch protocol {
	case catalog.AsVESC:
		c := vesc.NewClient(line)
		c.Name, c.Latency = f.Port, f.Latency
		return vescTool{c, MotorTable(kind, "")}
	case catalog.AsODrive:
		c := odrive.NewClient(line)
		c.Name, c.Latency = f.Port, f.Latency
		return &odriveTool{c: c, kind: kind, port: f.Port}
	case catalog.AsODriveCAN:
		c := odrive.NewCANClient(line)
		c.Name, c.Latency = f.Port, f.Latency
		return &odriveTool{c: &nodes{c, f.Said}, kind: kind, port: f.Port}
	case catalog.AsCyberGear:
		c := cybergear.NewClient(line)
		c.Name, c.Latency = f.Port, f.Latency
		return cybergearTool{c, MotorTable(kind, "")}
	}
	return nil
}

// nodes is a client that knows the endpoints of each node by the config.
type nodes struct {
	*odrive.CANClient
	said map[int]map[string]int // registers of the config, by id
}

func (n *nodes) Identify(id int) (*odrive.Model, error) {
	n.Watchdog, n.Armed = uint16(n.said[id]["watchdog_endpoint"]), uint16(n.said[id]["enable_endpoint"])
	return n.CANClient.Identify(id)
}

// SaidOn are the registers that a config says of what is connected to a bus, by id.
func SaidOn(c *configs.Config, bus string) map[int]map[string]int {
	said := map[int]map[string]int{}
	for _, r := range c.Robots() {
		if r.Hardware == nil {
			continue
		}
		for _, j := range r.Hardware.Joints {
			if j.Bus == bus {
				said[j.ID] = j.Registers
			}
		}
	}
	return said
}
