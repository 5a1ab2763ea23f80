module extension

go 1.26.0

require github.com/halyard-robotics/halyard v0.0.0

require (
	github.com/coder/websocket v1.8.15 // indirect
	github.com/goccy/go-yaml v1.19.2 // indirect
	github.com/tarm/goserial v0.0.0-20151007205400-b3440c3c6355 // indirect
	go.bug.st/serial v1.8.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/tools v0.30.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
	periph.io/x/conn/v3 v3.7.2 // indirect
	periph.io/x/host/v3 v3.8.5 // indirect
)

replace github.com/halyard-robotics/halyard => ../..
