//go:build !race

package clustering

// raceDetector says that the race detector is on, which allocates for itself.
const raceDetector = false
