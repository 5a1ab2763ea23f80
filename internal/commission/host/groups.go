package host

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/drivers/serial"
)

// nodeRules give a group access to what is no serial adapter. pwm has files instead of a node, so that a program
// changes them.
var nodeRules = [...]struct{ group, rule string }{
	{"gpio", `SUBSYSTEM=="gpio", KERNEL=="gpiochip*", GROUP="%[1]s", MODE="0660", TAG+="uaccess"`},
	{"i2c", `SUBSYSTEM=="i2c-dev", GROUP="%[1]s", MODE="0660", TAG+="uaccess"`},
	{"spi", `SUBSYSTEM=="spidev", GROUP="%[1]s", MODE="0660", TAG+="uaccess"`},
	{"gpio", `SUBSYSTEM=="pwm", ACTION!="remove", RUN+="/bin/sh -c 'chgrp -R %[1]s /sys%%p && chmod -R g=u /sys%%p'"`},
}

// UdevRules is a udev rules file for the machine whose files are under root: serial adapters, GPIO, I2C, SPI and PWM.
// udev passes over a group that does not exist, so the rules name one that does, and the header creates plugdev where
// none does.
func UdevRules(root string) string {
	var b strings.Builder
	dialout := Group(root, "dialout", "uucp")
	members, create := []string{dialout}, ""
	for _, r := range nodeRules {
		if group := Group(root, r.group); !slices.Contains(members, group) {
			members = append(members, group)
		}
	}
	for _, m := range members {
		if !hasGroup(root, m) {
			create += "#   sudo groupadd --system " + m + "\n"
		}
	}
	fmt.Fprintf(&b, "# Devices of robots. Install:\n%s#   halyard ports --udev | sudo tee %s\n#   sudo udevadm "+
		"control --reload && sudo udevadm trigger\n"+
		"#   sudo usermod -aG %s $USER, then log in again\n", create, serial.RulesFile, strings.Join(members, ","))
	for _, r := range nodeRules {
		fmt.Fprintf(&b, r.rule+"\n", Group(root, r.group))
	}
	return b.String() + serial.UdevRules(dialout)
}

// Group is the first of names that is a group of the machine under root, else plugdev, which most distributions have.
func Group(root string, names ...string) string {
	for _, n := range names {
		if hasGroup(root, n) {
			return n
		}
	}
	return "plugdev"
}

func hasGroup(root, name string) bool {
	text, _ := os.ReadFile(filepath.Join(root, "etc/group"))
	return strings.HasPrefix(string(text), name+":") || strings.Contains(string(text), "\n"+name+":")
}

// GroupFix is the command that helps a user who may not open a file: to join the group that owns it; where that is
// root's, the rules that give it to a group, by custom one called usual.
func GroupFix(root, path, usual string) string {
	if group := ownerGroup(path); group != "" {
		return "sudo usermod -aG " + group + " $USER and log in again"
	}
	group, create := Group(root, usual), ""
	if !hasGroup(root, group) {
		create = "sudo groupadd --system " + group + " && "
	}
	return create + "halyard ports --udev | sudo tee " + serial.RulesFile +
		" && sudo udevadm control --reload && sudo udevadm trigger; sudo usermod -aG " + group +
		" $USER and log in again"
}
