//go:build race

package clustering

const raceDetector = true
