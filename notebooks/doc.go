// Package notebooks holds the lessons, a folder per chapter, and the tests that
// hold them to their form. The test in each folder executes its lessons.
//
// A lesson is committed with its outputs, in canonical form: after a change,
//
//	go run ./cmd/lessons run -w clustering/01-kmeans
//
// writes them again. The tests compare what a lesson shows with what it showed
// then, so its numbers and pictures are regression tests of the library.
package notebooks
