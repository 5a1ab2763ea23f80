package assembly

// What other brands speak, behind the two protocols of Dynamixel.
const (
	AsFeetech  = 3
	AsHiwonder = 4
	AsKondo    = 5

	// Motor controllers, which nobody looks for unless told.
	AsVESC      = 6
	AsODrive    = 7
	AsODriveCAN = 8
	AsCyberGear = 9
)

// BrandWords are the types of line by these numbers.
var BrandWords = []string{AsFeetech: "feetech", AsHiwonder: "hiwonder", AsKondo: "kondo",
	AsVESC: "vesc", AsODrive: "odrive", AsODriveCAN: OdriveCAN, AsCyberGear: CybergearType}
