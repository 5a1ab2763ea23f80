package player

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func fromHex(s string) []byte {
	b, err := hex.DecodeString(strings.NewReplacer(" ", "", "\n", "", "\t", "").Replace(s))
	if err != nil {
		panic(err)
	}
	return b
}

const (
	one  = "3ff0000000000000"
	two  = "4000000000000000"
	half = "3f000000" // a float
	zero = "0000000000000000"
)

var unitPose = pose3{vector{1, 2, 0}, vector{0, 0, 1}}

const unitPoseHex = one + two + zero + zero + zero + one

// payloads drive encoding, decoding and the fuzz seeds: one of each kind. The first four were captured from Player.
var payloads = []struct {
	name  string
	bytes string
	value payload
}{
	{"open", "00000000 00000000 00000004 00000000 00000001 00000000 00000000",
		&deviceRequest{address{0, 0, Device{Position2D, 0}}, accessOpen, nil}},
	{"opened", "0100007f 0000876b 00000004 00000000 00000001 00000008 00000008" +
		hex.EncodeToString([]byte("usarsim\x00")),
		&deviceRequest{address{localhost, 34667, Device{Position2D, 0}}, accessOpen, []byte("usarsim\x00")}},
	{"velocity", "3fc999999999999a" + zero + zero + "00000001", &position2Velocity{pose2{X: 0.2}, 1}},
	{"pull", "00000002", &number{modePull}},
	{"devices", "00000001 00000001 0100007f 00001a09 00000004 00000002",
		&deviceList{[]address{{localhost, 6665, Device{Position2D, 2}}}}},
	{"driver", "00000000 00000000 00000005 00000000 00000003 00000003 61620000",
		&driverInfo{address{Device: Device{Sonar, 0}}, "ab"}},
	{"rule", "ffffffff ffffffff 00000001 ffffffff 00000001", &replaceRule{-1, -1, 1, -1, 1}},
	{"geometry", unitPoseHex + one + two + zero, &geometry{unitPose, vector{1, 2, 0}}},
	{"position2d", one + two + one + two + zero + one + "00000000", &position2Data{pose2{1, 2, 1}, pose2{2, 0, 1}, 0}},
	{"goal", one + two + one + two + zero + one + "00000001", &position2Goal{pose2{1, 2, 1}, pose2{2, 0, 1}, 1}},
	{"car", one + two, &carCommand{1, 2}},
	{"position3d", unitPoseHex + unitPoseHex + "00000000", &position3Data{unitPose, unitPose, 0}},
	{"fly", unitPoseHex + "00000001", &position3Velocity{unitPose, 1}},
	{"simulation 2", "00000002 00000002 61000000" + one + two + zero, &simulationPose{"a", pose2{1, 2, 0}}},
	{"simulation 3", "00000002 00000002 61000000" + unitPoseHex + one, &simulationPose3{"a", unitPose, 1}},
	{"sonar", "00000002 00000002" + half + half, &floats{0.5, 0.5}},
	{"sonars", "00000001 00000001" + unitPoseHex, &sonarGeometry{[]pose3{unitPose}}},
	{"laser", half + half + half + half + "00000001 00000001" + half + "00000000 00000000 00000007",
		&laserData{0.5, 0.5, 0.5, 0.5, []float64{0.5}, nil, 7}},
	{"laser config", half + half + half + half + half + "00000001" + half,
		&laserConfig{0.5, 0.5, 0.5, 0.5, 0.5, 1, 0.5}},
	{"ranger", "00000001 00000001" + two, &doubles{2}},
	{"ranger geometry", unitPoseHex + one + two + zero + "00000001 00000001" + unitPoseHex + "00000001 00000001" + one +
		one + one,
		&rangerGeometry{geometry{unitPose, vector{1, 2, 0}}, []pose3{unitPose}, []vector{{1, 1, 1}}}},
	{"ranger config", one + two + one + two + one + two + one, &rangerConfig{1, 2, 1, 2, 1, 2, 1}},
	{"bumper", "00000003 00000003 00010000", &octets{0, 1, 0}},
	{"bumpers", "00000001 00000001" + unitPoseHex + half + half, &bumperGeometry{[]bumperPlace{{unitPose, 0.5, 0.5}}}},
	{"actarray", "00000001 00000001" + half + half + half + half + "00000002 00000001",
		&actArrayData{[]actuatorState{{0.5, 0.5, 0.5, 0.5, 2}}, 1}},
	{"actuators", "00000001 00000001 00000002" + half + zero + zero + zero + one + zero + zero + half + half + half +
		half + half + "00000001" + unitPoseHex,
		&actArrayGeometry{[]actuatorGeometry{{2, 0.5, vector{}, vector{1, 0, 0}, 0.5, 0.5, 0.5, 0.5, 0.5, 1}},
			unitPose}},
	{"joint", "ffffffff" + half, &jointValue{-1, 0.5}},
	{"home", "00000003", &jointNumber{3}},
	{"joints", "00000002 00000002" + half + half, &floats{0.5, 0.5}},
	{"limb", one + two + zero + one + two + zero + one + two + zero + "00000001",
		&limbData{vector{1, 2, 0}, vector{1, 2, 0}, vector{1, 2, 0}, 1}},
	{"limb pose", one + two + zero + one + two + zero + one + two + zero,
		&limbPose{vector{1, 2, 0}, vector{1, 2, 0}, vector{1, 2, 0}}},
	{"gripper", "00000001 00000000 00000000", &gripperData{1, 0, 0}},
	{"gripper geometry", unitPoseHex + one + one + one + two + two + two + "00000001 00000002",
		&gripperGeometry{unitPose, vector{1, 1, 1}, vector{2, 2, 2}, 1, 2}},
	{"power", "00000001" + half + half + half + half + "00000000", &powerData{1, 0.5, 0.5, 0.5, 0.5, 0}},
	{"ptz", half + half + half + half + half + "00000000", &ptzData{ptzCommand{0.5, 0.5, 0.5, 0.5, 0.5}, 0}},
	{"ptz command", half + half + half + half + half, &ptzCommand{0.5, 0.5, 0.5, 0.5, 0.5}},
	{"camera", "00000001 00000001 00000018 00000005 00000001 00000000 00000003 00000003 01020300",
		&cameraData{1, 1, 24, 5, 1, 0, []byte{1, 2, 3}}},
	{"dio", "00000002 00000003", &dioData{2, 3}},
	{"opaque", "00000001 00000001 78000000", new(octets("x"))},
	{"imu", unitPoseHex, &pose3{unitPose.P, unitPose.R}},
	{"imu calibrated", strings.Repeat(half, 9), &imuCalibrated{[3]float64{.5, .5, .5}, [3]float64{.5, .5, .5},
		[3]float64{.5, .5, .5}}},
	{"imu quaternion", strings.Repeat("00000000", 9) + strings.Repeat(half, 4),
		&imuQuaternion{Q: [4]float64{.5, .5, .5, .5}}},
	{"imu angles", strings.Repeat("00000000", 9) + one + two + zero, &imuEuler{Orientation: vector{1, 2, 0}}},
	{"imu full", unitPoseHex + unitPoseHex + unitPoseHex, &imuFull{unitPose, unitPose, unitPose}},
	{"rfid", "00000001 00000001 00000000 00000002 00000002 34320000", &rfidData{[]rfidTag{{0, []byte("42")}}}},
	{"fiducials", "00000001 00000001 00000009" + unitPoseHex + unitPoseHex,
		&fiducialData{[]fiducial{{9, unitPose, unitPose}}}},
	{"fiducial geometry", unitPoseHex + one + two + zero + one + one,
		&fiducialGeometry{geometry{unitPose, vector{1, 2, 0}}, 1, 1}},
	{"fiducial view", half + half + half, &fiducialView{0.5, 0.5, 0.5}},
	{"address", "0100007f 00001a09 00000004 00000002", &address{localhost, 6665, Device{Position2D, 2}}},
	{"pose 2", one + two + zero, &pose2{1, 2, 0}},
	{"vector", one + two + zero, &vector{1, 2, 0}},
}

func TestPayloads(t *testing.T) {
	for _, k := range payloads {
		want := fromHex(k.bytes)
		if got := appendPayload(nil, k.value); !bytes.Equal(got, want) {
			t.Errorf("%s: encode: got\n%x, want\n%x", k.name, got, want)
		}
		p := reflect.New(reflect.TypeOf(k.value).Elem()).Interface().(payload)
		if err := decodePayload(want, p); err != nil || !reflect.DeepEqual(p, k.value) {
			t.Errorf("%s: decode: got %+v, %v, want %+v", k.name, p, err, k.value)
		}
		for n := range want {
			if err := decodePayload(want[:n], p); !errors.Is(err, ErrFormat) {
				t.Errorf("%s cut at %d: got %v, want %v", k.name, n, err, ErrFormat)
			}
		}
		if err := decodePayload(append(want, 0), p); !errors.Is(err, ErrFormat) {
			t.Errorf("%s and a byte: got %v, want %v", k.name, err, ErrFormat)
		}
	}
}

func TestBadCounts(t *testing.T) {
	for _, b := range []string{"00000001 00000002" + half, "ffffffff ffffffff", "00000002 00000002" + half,
		"00200000 00200000"} {
		if err := decodePayload(fromHex(b), &floats{}); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got %v, want %v", b, err, ErrFormat)
		}
	}
}

// headers drive the header's two directions. The first was captured.
var headers = []struct {
	bytes string
	value Header
}{
	{"0100007f 0000876b 00000001 00000000 00000004 00000005 41dac0ef00000000 00000000 00000000",
		Header{Host: localhost, Robot: 34667, Device: Device{Player, 0}, Type: Ack, Subtype: 5, Time: 1795406848}},
	{"00000000 00000000 0000003e 00000003 00000006 000000ff" + one + "00000009 00000028",
		Header{Device: Device{Ranger, 3}, Type: Nack, Subtype: 255, Time: 1, Seq: 9, Size: 40}},
}

func TestHeaders(t *testing.T) {
	for _, k := range headers {
		want := fromHex(k.bytes)
		if got := k.value.Append(nil); !bytes.Equal(got, want) {
			t.Errorf("encode %+v: got %x, want %x", k.value, got, want)
		}
		var h Header
		if err := h.Decode(want); err != nil || h != k.value {
			t.Errorf("decode: got %+v, %v, want %+v", h, err, k.value)
		}
	}
	var h Header
	bad := fromHex(headers[0].bytes)
	bad[8] = 1 // interface 0x01000001
	if err := h.Decode(bad); !errors.Is(err, ErrFormat) {
		t.Errorf("interface: got %v, want %v", err, ErrFormat)
	}
	if err := h.Decode(bad[:39]); !errors.Is(err, ErrFormat) {
		t.Errorf("39 bytes: got %v, want %v", err, ErrFormat)
	}
	if s := (Device{Ranger, 3}).String() + Interface(99).String(); s != "ranger:3interface(99)" {
		t.Errorf("names: got %s", s)
	}
}

func FuzzPayloads(f *testing.F) {
	for i, k := range payloads {
		f.Add(fromHex(k.bytes), uint8(i))
	}
	f.Fuzz(func(t *testing.T, b []byte, kind uint8) {
		p := reflect.New(reflect.TypeOf(payloads[int(kind)%len(payloads)].value).Elem()).Interface().(payload)
		if decodePayload(b, p) != nil {
			return
		}
		again := appendPayload(nil, p)
		q := reflect.New(reflect.TypeOf(p).Elem()).Interface().(payload)
		if err := decodePayload(again, q); err != nil {
			t.Fatalf("%+v: encoded and decoded: %v", p, err)
		}
	})
}
