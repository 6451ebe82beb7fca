package lvm

// Options are the settings that every iterative fit shares. The options of
// each model embed them. The zero value means the defaults of that model,
// which its own options document.
type Options struct {
	// MaxIter is the largest number of steps of one restart.
	// 0 means the model's default.
	MaxIter int

	// Tol stops a restart when the objective changes by no more than
	// Tol·|objective| in one step. 0 means the model's default; a negative
	// value never stops early, so that exactly MaxIter steps are taken.
	Tol float64

	// Restarts is how many times the fit starts afresh, each time with its
	// own random start; the run with the largest objective wins, and among
	// equals the earliest. 0 means the model's default.
	Restarts int
}

// Or returns o with the fields that are zero taken from d.
func (o Options) Or(d Options) Options {
	if o.MaxIter == 0 {
		o.MaxIter = d.MaxIter
	}
	if o.Tol == 0 {
		o.Tol = d.Tol
	}
	if o.Restarts == 0 {
		o.Restarts = d.Restarts
	}
	return o
}
