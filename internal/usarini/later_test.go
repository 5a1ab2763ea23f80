package usarini

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestLaterClasses: sensors of 2007 and after, by the names that files of that age have them.
func TestLaterClasses(t *testing.T) {
	bots, err := ParseBots("USARBot.ini", []byte(`[USARBot.P2AT]
Sensors=(ItemClass=class'USARBot.GroundTruth',ItemName="GroundTruth",Position=(X=0,Y=0,Z=0),Direction=(Y=0,Z=0,X=0))
Sensors=(ItemClass=class'USARBot.INS',ItemName="INS",Position=(X=0,Y=0,Z=0),Direction=(Y=0,Z=0,X=0))
Sensors=(ItemClass=class'USARBot.GPSSensor',ItemName="GPS1",Position=(X=0,Y=0,Z=0),Direction=(Y=0,Z=0,X=0))
Sensors=(ItemClass=class'USARBot.SICKLMS',ItemName="Scanner1",Position=(X=0,Y=0,Z=0),Direction=(Y=0,Z=0,X=0))
Sensors=(ItemClass=class'USARBot.Hokuyo',ItemName="Scanner2",Position=(X=0,Y=0,Z=0),Direction=(Y=0,Z=0,X=0))
[USARBot.GPSSensor]
ScanInterval=0.2
`))
	if err != nil {
		t.Fatal(err)
	}
	twin, err := bots.Twin("USARBot.P2AT", &Base{Chassis: "chassis", YAML: []byte("name: p2at\n")}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`path: "/GroundTruth", kind: pose, body: chassis, message: GroundTruth}`,
		`path: "/INS", kind: pose, body: chassis, message: INS}`,
		`path: "/GPS1", kind: pose, body: chassis, message: GPS}`,
		`path: "/Scanner1", kind: range, body: chassis, range_m: 20,`,
		`path: "/Scanner2", kind: range, body: chassis, range_m: 4,`} {
		if !strings.Contains(string(twin.YAML), want) {
			t.Errorf("want %s in\n%s", want, twin.YAML)
		}
	}
}

// TestUDKScanner: a scanner's class inherits omitted values from RangeScanner, with the values of UDK's
// DefaultUSAR.ini; an interval of its own is kept.
func TestUDKScanner(t *testing.T) {
	for own, want := range map[string]string{"": "interval_s: 0.2", "ScanInterval=0.5\n": "interval_s: 0.5",
		"ScanInterval=0\n": "manual: true"} {
		bots, err := ParseBots("DefaultUSAR.ini", []byte(`[USARBot.P3AT]
AddParts=(ItemClass=class'USARSensor.SICK',ItemName="lms200",Position=(X=0.2085,Y=0.0,Z=-0.2),Direction=(x=0.0,y=0.0,z=0.0))
[USARSensor.SICK]
ScanFov=3.14159
Resolution=0.01745
MaxRange=20.000000
`+own+`[USARSensor.RangeScanner]
MaxRange=4.000000
ScanInterval=0.2
Resolution=0.157
ScanFov=3.14
`))
		if err != nil {
			t.Fatal(err)
		}
		twin, err := bots.Twin("USARBot.P3AT", &Base{Chassis: "chassis", YAML: []byte("name: p3at\n")}, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(twin.YAML); !strings.Contains(got, want) || !strings.Contains(got, "range_m: 20") ||
			strings.Contains(got, "range_m: 4") || own != "ScanInterval=0\n" && strings.Contains(got, "manual") {
			t.Errorf("%q: want %s in\n%s", own, want, got)
		}
	}
}

// TestUDKServer: the section of the server as USARSim on UDK names it, with the values of its DefaultUSAR.ini.
func TestUDKServer(t *testing.T) {
	api, err := ParseAPI("DefaultUSAR.ini", []byte("[USARBotAPI.BotServer]\nListenPort=3000\nMaxConnections=64\n"))
	if err != nil || !api.Found || api.ListenPort != 3000 || api.MaxConnections != 64 {
		t.Errorf("got %+v, %v, want port 3000 and 64 connections", api, err)
	}
}

// TestManyKeys: a base class of 70,000 keys, and a robot of 5000 sensors in a file of 20,000 classes, take no time.
func TestManyKeys(t *testing.T) {
	var b strings.Builder
	b.WriteString("[USARSensor.Own]\nScanFov=1\nResolution=1\n[USARSensor.RangeScanner]\nMaxRange=3\n")
	for i := range 70_000 {
		fmt.Fprintf(&b, "k%d=1\n", i)
	}
	b.WriteString("MaxRange=4\n[USARBot.R]\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "Sensors=(ItemClass=Z%d.y,ItemName=\"G%d\",Position=(X=0))\n", i, i)
	}
	for i := range 20_000 {
		fmt.Fprintf(&b, "[USARBot.X%d]\nFOV=1\n", i)
	}
	start := time.Now()
	bots, err := ParseBots("f", []byte(b.String()))
	if v := bots.Device("own"); v == nil || v.MaxRange != 3 {
		t.Errorf("got %+v, want the range of the base; %.200v", v, err)
	}
	bots.Twin("USARBot.R", &Base{Chassis: "chassis", YAML: []byte("name: r\n")}, false)
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("took %v", took)
	}
}
