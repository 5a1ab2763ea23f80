package halyard_test

import (
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/halyard-robotics/halyard/"

// root is what the law calls the package at the module's root.
const root = "halyard"

// rooms says of which layer the packages under internal/ are that the law does not name: a layer's private packages
// obey the rules of its public ones.
var rooms = []struct{ path, layer string }{
	{"internal/autopilot", "hal/autopilot"}, {"internal/grid", "hal/grid"}, {"internal/sim/", "sim/"},
	{"internal/emulator/", "sim/emulator/"}, {"internal/protocols/", "protocols/"},
	{"internal/simloidconf", "configs/simloidconf"}, {"internal/usarini", "configs/usarini"},
}

// law lists the packages of this module that a package may import. The longest matching prefix on the left applies;
// each word on the right is a prefix of allowed imports. A folder may always import its own parents and children named
// on its right.
var law = []struct{ importer, may, reason string }{
	{"hal/", "hal", "kinematics, autopilots and test suites build on the vocabulary alone"},
	{"hal", "", "the vocabulary imports the standard library alone"},
	{"servo/", "hal servo internal/wire internal/sheet",
		"a vendor's bus is independent of calibration, bodies and physics"},
	{"servo", "hal", "what all servos share is independent of every vendor"},
	{"internal/sheet", "", "figures, independent of their user"},
	{"internal/yaml", "hal", "reads files, independent of their owner"},
	{"internal/must", "", "ends a function at its first error"},
	{"internal/xml", "", "reads files, independent of their owner"},
	{"internal/wire/", "hal servo internal/wire",
		"packets and registers, for a driver and the emulation of its device"},
	{"calibration", "hal internal/yaml", "converts numbers, independent of the device"},
	{"drivers/serial", "hal servo", "a line is independent of the devices connected to it"},
	{"drivers/", "hal servo drivers/i2c internal/wire", "a device driver uses its line, never a body"},
	{"drivers", "hal servo calibration", "the hardware body sees chains by their interface, never a vendor"},
	{"sim/emulator", "hal sim servo drivers internal/wire",
		"the other side of the wire: codecs, register tables and physics"},
	{"sim/model", "hal sim internal/yaml internal/xml", "robots and scenes are files"},
	{"sim/mesh", "internal/xml", "meshes are files"},
	{"sim/hydro", "hal sim internal/yaml", "vehicles are files"},
	{"sim/identify", "hal sim internal/yaml", "a fit simulates the robot's own servo; servos are files"},
	{"sim/actuator", "hal sim internal/sheet", "a servo's physics has the figures of its data sheet"},
	{"sim", "hal sim", "physics never sees hardware"},
	{"protocols/", "hal protocols", "a protocol uses the rig, never the bodies behind it"},
	{"protocols", "hal", "what protocols share"},
	{"internal/policyconf", "", "keys of the config"},
	{"internal/teleopconf", "", "keys of the config"},
	{"configs", "hal internal/policyconf internal/teleopconf internal/yaml", "checks form; cmd resolves names"},
	{"internal/supervise", "", "small enough to review; holds only descriptors and bytes"},
	{"internal/keys", "", "a terminal and the meaning of its keys"},
	{"internal/report", "", "numbers and rows, independent of their source"},
	{"internal/motion", "hal protocols sim internal/report", "reads samples and plays them as a client"},
	{"internal/console", "internal/control", "a terminal shows the answers of a rig's socket"},
	{"internal/manual", "hal internal/report internal/yaml", "moves a rig; what opened it is hidden"},
	{"internal/control", "hal protocols internal/manual internal/report",
		"a rig's socket uses only the rig, and the limits of every door"},
	{"internal/record", "hal servo", "a rig's journal and its lines as a file"},
	{"internal/replay", "hal servo configs internal/record internal/catalog internal/plan internal/assembly " +
		"internal/report", "builds the rig of a recording, and compares"},
	{"internal/catalog", "hal servo calibration drivers internal/wire sim configs internal/report",
		"the one table of hardware"},
	{"internal/plan", "hal servo calibration drivers sim configs internal/catalog internal/report",
		"a config resolved against the table; opens nothing"},
	{"internal/assembly", "hal servo calibration drivers internal/wire sim protocols configs internal/plan " +
		"internal/catalog " +
		"internal/report", "opens a plan"},
	{"internal/budget", "hal servo sim configs internal/catalog internal/plan internal/report internal/supervise",
		"runs drivers over emulated lines"},
	{"internal/batch", "hal configs internal/plan internal/assembly", "steps copies of what assembly opens"},
	{"internal/policy", "hal sim configs internal/must internal/policyconf internal/report",
		"networks and their terms; what is open is handed in"},
	{"internal/teleop", "hal configs internal/report internal/teleopconf",
		"a controller in the rig's cycle; a config names its agents"},
	{"internal/lerobot", "hal internal/record internal/report internal/teleop",
		"recordings as data sets of others"},
	{"internal/work", "hal sim configs internal/batch internal/policy",
		"rollouts from a queue; what opens their rigs is handed in"},
	{"internal/serve/servetest", "halyard", "serves configs for tests that are clients"},
	{"internal/serve/dashboard", "hal sim protocols configs internal/assembly internal/plan internal/serve/bridges " +
		"internal/control internal/manual internal/record internal/report",
		"pages for people: they order what the control socket does"},
	{"internal/serve", "hal sim protocols configs internal/assembly internal/batch internal/plan internal/catalog",
		"binds one protocol's server to an open system"},
	{"internal/builtin", "internal/catalog internal/serve", "the catalog that Halyard comes with"},
	{"internal/commission/host", "hal drivers internal/report", "adapters of this computer, without a config"},
	{"internal/commission/calibrate", "hal servo calibration sim configs internal/plan internal/builtin " +
		"internal/commission internal/report internal/yaml halyard",
		"a session over the public API; a robot's joints come from its plan"},
	{"internal/commission/doctor",
		"hal servo calibration drivers internal/wire sim configs internal/catalog internal/plan " +
			"internal/builtin internal/assembly internal/commission internal/report",
		"reads plans and the tools of a bus"},
	{"internal/commission/bundle", "hal servo drivers configs internal/catalog internal/plan internal/assembly " +
		"internal/builtin internal/commission internal/report sim/model",
		"examines a robot and its report with the doctor"},
	{"internal/commission", "hal servo drivers configs internal/wire internal/catalog internal/plan internal/assembly " +
		"internal/yaml " +
		"internal/report", "tools on a bus, by the table of hardware"},
	{"internal/rigtest", "hal servo drivers sim configs internal", "rigs and lines for the tests of other packages"},
	{"internal/bench", "hal servo sim configs internal/assembly internal/budget internal/builtin internal/catalog " +
		"internal/command internal/control internal/keys internal/must internal/plan internal/report internal/supervise",
		"measures what assembly opens on a robot's own computer"},
	{"internal/command", "hal configs internal/console internal/report",
		"what all programs share: arguments, tables, errors"},
	{root, "hal servo configs internal/catalog internal/plan internal/assembly internal/batch internal/budget " +
		"internal/builtin internal/commission/doctor internal/policy internal/record internal/replay internal/control " +
		"internal/report internal/serve/dashboard internal/supervise internal/teleop sim/model",
		"the public API: what it hands out is public"},
	{"extend", "servo configs internal/catalog", "names rows of the catalog for other programs"},
	{"cmd/halyard-lab/internal/bodies", "hal calibration protocols configs internal/budget internal/plan " +
		"internal/builtin internal/report halyard",
		"a client of each door, and the robots behind them by the public API"},
	{"cmd/halyard-lab/internal/", "hal servo calibration drivers internal/wire sim protocols configs internal/batch " +
		"internal/bench internal/budget internal/catalog internal/plan internal/builtin internal/assembly " +
		"internal/must internal/report", "measures and tests what assembly opens"},
	{"cmd/halyard-lab", "hal cmd/halyard-lab/internal internal/bench internal/command internal/commission/doctor " +
		"internal/report", "flags and tables of the laboratory"},
	{"cmd/halyard-work", "hal configs internal/command internal/work halyard", "flags and tables of the queue"},
	{"cmd/halyard", "cli", "the command without rows of its own"},
	{"cli", "hal servo drivers sim protocols configs internal/assembly internal/budget internal/bench " +
		"internal/builtin internal/catalog internal/command internal/commission internal/console internal/control " +
		"internal/keys internal/lerobot internal/manual internal/motion internal/plan internal/policy " +
		"internal/policyconf " +
		"internal/record internal/report " +
		"internal/serve/moast " +
		"internal/serve/simloid internal/teleop halyard",
		"flags, tables, prompts and exit codes: robots are opened by the public API"},
}

// stdOnly are packages that may import nothing but the standard library and our own.
var stdOnly = []string{"hal", "servo", "protocols"}

// outside lists the further imports of packages under stdOnly.
var outside = map[string]string{"protocols/ws": "github.com/coder/websocket"}

// toTests are packages that exist for tests; no shipped package imports them.
var toTests = []string{"hal/haltest", "servo/servotest", "protocols/protocolstest",
	"protocols/protocolstest/topicstest", "internal/yaml/yamltest", "sim/emulator/chiptest",
	"internal/rigtest", "internal/serve/servetest"}

func TestImportLaw(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		importer := strings.TrimPrefix(words[0], module)
		if words[0]+"/" == module {
			importer = root
		}
		for _, imported := range words[1:] {
			check(t, importer, imported)
		}
	}
}

func check(t *testing.T, importer, imported string) {
	t.Helper()
	path, ours := strings.CutPrefix(imported, module)
	if imported+"/" == module {
		path, ours = root, true
	}
	importer, path = layered(importer), layered(path)
	if !ours {
		first, _, _ := strings.Cut(imported, "/")
		if strings.Contains(first, ".") {
			for _, p := range stdOnly {
				if under(importer, p) && outside[importer] != imported {
					t.Errorf("%s imports %s: %s imports the standard library alone", importer, imported, p)
				}
			}
		}
		return
	}
	for _, p := range toTests {
		if path == p && !under(importer, p) && importer != "internal/rigtest" {
			t.Errorf("%s imports %s: that exists for tests", importer, path)
		}
	}
	for _, rule := range law {
		if importer != rule.importer && !strings.HasPrefix(importer, strings.TrimSuffix(rule.importer, "/")+"/") {
			continue
		}
		for _, p := range strings.Fields(rule.may) {
			if under(path, p) && !forbidden(importer, path) {
				return
			}
		}
		t.Errorf("%s imports %s: may import %q: %s", importer, path, rule.may, rule.reason)
		return
	}
	t.Errorf("%s: no rule of the import law names it", importer)
}

func layered(path string) string {
	for _, r := range rooms {
		if rest, found := strings.CutPrefix(path, r.path); found {
			return r.layer + rest
		}
	}
	return path
}

// forbidden reports imports that a prefix allows but the law forbids: sim never imports the emulator, parents never
// import their vendors.
func forbidden(importer, path string) bool {
	switch {
	case under(importer, "sim") && !under(importer, "sim/emulator"):
		return under(path, "sim/emulator")
	case under(importer, "sim/emulator"):
		return path == "drivers" || path == "drivers/serial"
	case importer == "drivers" || under(importer, "drivers"):
		return strings.HasPrefix(path, "servo/")
	}
	return false
}

func under(path, prefix string) bool { return path == prefix || strings.HasPrefix(path, prefix+"/") }

func TestLawBites(t *testing.T) {
	for _, c := range []struct{ importer, imported string }{
		{"hal", module + "servo"}, {"hal", "golang.org/x/sys/unix"}, {"protocols/osp", module + "sim"},
		{"sim/actuator", module + "servo"}, {"sim", module + "sim/emulator"}, {"drivers", module + "servo/dynamixel"},
		{"configs", module + "drivers"}, {"internal/yaml", module + "configs"}, {"sim", module + "internal/yaml"},
		{"hal", module + "internal/yaml"}, {"drivers", module + "internal/yaml"},
		{"sim/emulator/chip", module + "drivers"}, {"servo", module + "hal/haltest"}, {"unheard/of", module + "hal"},
		{root, module + "sim"}, {"internal/assembly", strings.TrimSuffix(module, "/")},
		{"internal/control", module + "internal/assembly"}, {"internal/assembly", module + "internal/commission"},
		{"internal/catalog", module + "internal/plan"}, {"internal/assembly", module + "internal/serve/okon"},
		{"internal/serve/okon", module + "internal/builtin"}, {"internal/plan", module + "internal/builtin"},
		{"internal/plan", module + "internal/assembly"}, {"internal/plan", module + "halyard"},
		{"cli", module + "internal/serve/okon"}, {"cli", module + "internal/yaml"},
		{"cli", module + "internal/supervise"}, {"cli", module + "calibration"},
		{"cli", module + "internal/work"}, {"cli", module + "cmd/halyard-lab/internal/lab"},
		{"extend", module + "internal/assembly"}, {"internal/sim/camera", module + "drivers"},
		{"internal/protocols/player", module + "sim"}, {"internal/autopilot", module + "servo"},
		{"hal", module + "internal/autopilot"}, {"sim", module + "internal/emulator/pty"},
	} {
		probe := &testing.T{}
		check(probe, c.importer, c.imported)
		if !probe.Failed() {
			t.Errorf("%s importing %s: passed, want a fault", c.importer, c.imported)
		}
	}
}
