package usarini

import (
	"strings"
	"testing"
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
	for _, want := range []string{`path: "/GroundTruth", kind: pose, body: chassis, message: GroundTruth}`, `path: "/INS", kind: pose, body: chassis, message: INS}`,
		`path: "/GPS1", kind: pose, body: chassis, message: GPS}`, `path: "/Scanner1", kind: range, body: chassis, range_m: 20,`,
		`path: "/Scanner2", kind: range, body: chassis, range_m: 4,`} {
		if !strings.Contains(string(twin.YAML), want) {
			t.Errorf("want %s in\n%s", want, twin.YAML)
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
