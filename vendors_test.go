package halyard_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/catalog"
)

// namedElsewhere are the other files that name servos or their vendors, each with its reason. The keys are patterns.
var namedElsewhere = map[string]string{
	"sim/actuator/*.go": "parameters from the makers' data sheets and from measurements " +
		"of their servos",
	"internal/sheet/sheet.go":                     "figures of the makers' data sheets, which drivers and physics share",
	"internal/sim/identify/servo_check.go":        "published recordings by the names of their servos",
	"sim/emulator/timing.go":                      "cites the measurement that the reply delay was fitted to",
	"sim/emulator/servos/servos.go":               "makes every vendor's emulated servos for other programs",
	"calibration/lerobot.go":                      "LeRobot's files have two rules, by the vendor of the servo",
	"configs/config.go":                           "the help of key `type` lists its values",
	"drivers/serial/ports.go":                     "USB ids and the products that have them",
	"cli/identify.go":                             "an example to type: it takes a servo's name",
	"internal/commission/doctor/doctor_cases*.go": "made-up robots of the doctor's fault matrix",
	"internal/rigtest/lines.go":                   "a line of tests, of one protocol",
	"internal/commission/doctor/doctor_matrix.go": "the made-up calibration of that matrix",
}

// TestVendorsAreInTheirFolders: no Go file names a servo vendor or a model outside the vendor's folder, its emulation's
// folder and the catalog's rows of servos. Tests may, as may configs and docs.
func TestVendorsAreInTheirFolders(t *testing.T) {
	names := vendorNames()
	unused := maps.Clone(namedElsewhere)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") && path != ".":
			return filepath.SkipDir // testdata has programs of others
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || inOwnFolder(path):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found := named(names, string(text))
		if found == "" {
			return nil
		}
		for pattern := range namedElsewhere {
			if ok, _ := filepath.Match(pattern, path); ok {
				delete(unused, pattern)
				return nil
			}
		}
		t.Errorf("%s: %s: a vendor is named in its own folder alone", path, found)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range unused {
		t.Errorf("%s: names no vendor any more: take it from the list", path)
	}
}

// TestVendorNamesAreFound: the rule finds a name in code, in text and in a comment, but not within another word.
func TestVendorNamesAreFound(t *testing.T) {
	names := vendorNames()
	for text, want := range map[string]string{
		"case *feetech.Model:": "feetech", "// as a CyberGear does": "CyberGear", `"xm430-w350"`: "xm430-w350",
		"ROBOTIS":      "ROBOTIS",
		`"odrive-can"`: "odrive", "isDynamixel(m)": "Dynamixel", "harvesc(x)": "", "a second odometer": "", "max": "",
	} {
		if got := named(names, text); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	if !inOwnFolder("servo/feetech/chain.go") || !inOwnFolder("internal/emulator/vesc/device.go") ||
		!inOwnFolder("internal/wire/vescwire/packet.go") ||
		inOwnFolder("servo/chain.go") || inOwnFolder("sim/emulator/bus.go") {
		t.Error("own folders: got others than servo/VENDOR, internal/emulator/VENDOR and internal/wire/VENDORwire")
	}
}

// vendorNames matches the folders of the drivers, the vendors' and makers' names and the names of the models.
func vendorNames() *regexp.Regexp {
	words := map[string]bool{"ROBOTIS": true, "LewanSoul": true, "Xiaomi": true}
	var models []string
	for _, t := range catalog.BuiltinBuses() {
		words[regexp.QuoteMeta(t.Vendor)] = true
		for _, m := range t.Driver.Models() {
			models = append(models, regexp.QuoteMeta(m.Units().Name))
		}
	}
	slices.SortFunc(models, func(a, b string) int { return len(b) - len(a) })
	// In identifiers a name begins with a capital in the middle of one.
	all := strings.Join(slices.Sorted(maps.Keys(words)), "|")
	return regexp.MustCompile(`(?i:\b(?:` + all + `|` + strings.Join(models, "|") + `))|(?:` + all + `)`)
}

func named(names *regexp.Regexp, text string) string { return names.FindString(text) }

func inOwnFolder(path string) bool {
	dir, vendors := filepath.Dir(path), map[string]bool{"motor": true}
	for _, t := range catalog.BuiltinBuses() {
		vendors[strings.ToLower(t.Vendor)] = true
	}
	for _, parent := range []string{"servo", "internal/emulator", "internal/wire"} {
		if filepath.Dir(dir) == parent && vendors[strings.TrimSuffix(filepath.Base(dir), "wire")] {
			return true
		}
	}
	return path == "internal/catalog/servos.go"
}
