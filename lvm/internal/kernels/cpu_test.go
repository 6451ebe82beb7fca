package kernels

import "testing"

// force makes p the active path until the test ends, and skips the test on a
// processor that cannot run p.
func force(t testing.TB, p path) {
	t.Helper()
	if p > best() {
		t.Skipf("this processor cannot run the %v path", p)
	}
	saved := active
	active = p
	t.Cleanup(func() { active = saved })
}

// onEachPath runs the test once per path; those the processor lacks are skipped
// by name, so that a log shows what was not covered.
func onEachPath(t *testing.T, test func(t *testing.T)) {
	for p := portable; p < numPaths; p++ {
		t.Run(p.String(), func(t *testing.T) {
			force(t, p)
			test(t)
		})
	}
}

func TestActivePathIsTheBest(t *testing.T) {
	if active != best() {
		t.Errorf("active path %v, best is %v", active, best())
	}
	t.Logf("active path: %v", active)
}
