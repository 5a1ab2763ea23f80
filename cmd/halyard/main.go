// Command halyard runs robots: simulated, emulated or real ones, with the protocols of their controllers.
package main

import "github.com/halyard-robotics/halyard/cli"

func main() { cli.Main(nil) }
