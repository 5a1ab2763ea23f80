module extension

go 1.26.0

require github.com/halyard-robotics/halyard v0.0.0

replace github.com/halyard-robotics/halyard => ../..
