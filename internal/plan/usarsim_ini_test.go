package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// item is an entry as USARSim's own files have them.
func item(key, class, name, more string) string {
	if name != "" {
		name = fmt.Sprintf(`,ItemName="%s"`, name)
	}
	return fmt.Sprintf("%s=(ItemClass=class'%s'%s%s,Position=(X=0.1,Y=0.0,Z=-0.2),Direction=(x=0.0,y=0.0,z=0.0))\n",
		key, class, name, more)
}

// Files as they are in the field: bases of several classes, one bad robot among good ones, settings of sensors alone,
// UDK's.
func TestReadINI(t *testing.T) {
	sonar := item("Sensors", "USARBot.SonarSensor", "F1", "")
	unknown := item("Sensors", "USARBot.RangeScanner3D", "Deep", "")
	udk := "[USARBotAPI.BotServer]\nListenPort=3000\nMaxConnections=64\n[USARSensor.SICK]\nScanFov=3.14159\nResolution=0.01745\nMaxRange=20.0\n" +
		"[USARBot.USARVehicle]\nmsgTimer=0.05\n[USARBot.P3AT]\nmsgTimer=0.1\n[USARBot.P3AT]\n" +
		item("AddParts", "USARSensor.GroundTruth", "GndTruth", "") + item("AddParts", "USARSensor.INS", "", "") +
		item("AddParts", "USARSensor.SICK", "lms200", "") +
		item("AddParts", "USARSensor.Battery", "battery", "") + item("AddParts", "USARDeco.P3ATBatteryPack", "Pack",
		"") + item("AddParts", "USARActuator.P3ATArm", "Arm", "") +
		item("AddParts", "USARSensor.USARCamera", "", "")
	for _, c := range []struct {
		name, text string
		lenient    bool
		classes    string // as they are found, with blanks
		carries    string // of the first, "path kind" as GETGEO has them
		notes, err string // a part of each
	}{
		{"a base and a robot", "[USARBot.KRobot]\nmsgTimer=0.2\n[USARBot.P2AT]\n" + sonar, false, "USARBot.P2AT",
			"/F1 sonar", "", ""},
		{"a base alone", "[USARBot.KRobot]\nmsgTimer=0.2\n", false, "", "", "", "got no robot that carries something"},
		{"an unknown sensor", "[USARBot.P2AT]\n" + unknown, false, "", "", "",
			`f.ini:2: [USARBot.P2AT] Sensors.ItemClass: got "USARBot.RangeScanner3D"`},
		{"an unknown sensor, left out", "[USARBot.P2AT]\n" + unknown + sonar, true, "USARBot.P2AT", "/F1 sonar", "",
			""},
		{"one bad among good ones", "[USARBot.P2AT]\n" + sonar + "[USARBot.P3AT]\nmsgTimer=soon\n[USARBot.P2DX]\n" +
			unknown, false, "USARBot.P2AT", "/F1 sonar", `f.ini:4: [USARBot.P3AT] msgTimer: got "soon"`, ""},
		{"sensors alone", "[USARBot.SonarSensor]\nMaxRange=6\n", false, "", "", "", ""},
		{"on a link of a package", "[USARBot.P2AT]\n" + item("Cameras", "USARBot.RobotCamera", "Camera",
			`,Parent="CameraPanTilt_Link2"`), false, "USARBot.P2AT", "", "", ""},
		{"on a link that is not there", "[USARBot.P2AT]\n" + item("Cameras", "USARBot.RobotCamera", "Camera",
			`,Parent="CameraPanTilt_Link3"`), false, "", "", "", "CameraPanTilt_Link3"},
		{"UDK", udk, false, "USARBot.P3AT", "/GndTruth pose /INS pose /lms200 range", "", ""},
	} {
		ini, err := plan.ReadINI("f.ini", []byte(c.text), c.lenient)
		if c.err != "" || err != nil {
			if err == nil || c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %v, want %q", c.name, err, c.err)
			}
			continue
		}
		if got := strings.Join(ini.Classes, " "); got != c.classes ||
			!strings.Contains(fmt.Sprint(ini.Notes), c.notes) || (c.notes == "") != (len(ini.Notes) == 0) {
			t.Errorf("%s: got %q and %v, want %q and %q", c.name, got, ini.Notes, c.classes, c.notes)
		}
		if c.classes == "" {
			continue
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "f.ini"), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("name: a\nclasses: {%s: {model: %s, lenient: %v}}\nservers: [{protocol: gamebots, "+
			"listen: '127.0.0.1:0'}]\n", c.classes, filepath.Join(dir, "f.ini"), c.lenient)
		cfg, err := configs.Parse([]byte(text), "a.yaml", configs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Resolve(cfg, builtin.Catalog())
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := ""
		for _, s := range p.Classes[c.classes].Robot.Sensors {
			if s.Path != "/Battery" && s.Path != "/GroundTruth" {
				got += fmt.Sprintf(" %s %s", s.Path, s.Kind)
			}
		}
		if c.carries != "" && strings.TrimSpace(got) != c.carries {
			t.Errorf("%s: got %q, want %q", c.name, got, c.carries)
		}
		if c.lenient && len(cfg.Notes) == 0 {
			t.Errorf("%s: got no warning of what was left out", c.name)
		}
		if udk := c.name == "UDK"; udk != (ini.API != nil) || udk != ini.UDK {
			t.Errorf("%s: got a server %v, of UDK %v", c.name, ini.API, ini.UDK)
		}
	}
}
