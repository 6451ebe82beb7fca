package datasets_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/latent-lessons/latent/datasets"
)

// The hashes are those of the files that were compared with R and scikit-learn,
// see README.md; the facts are independent of them.
func TestProvenance(t *testing.T) {
	for _, test := range []struct {
		file, hash string
	}{
		{"faithful.csv", "2da9ef67231ab7542d2ec3e5a741a8d53ada92a24103195ce7d1f9b8e36a986d"},
		{"iris.csv", "d440daded18634c1da2f05e6b1a30385f2aca6cd38455b31d263e1657260112a"},
		{"digits8x8.csv.gz", "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8"}, // unpacked
	} {
		b, err := os.ReadFile("data/" + test.file)
		if err != nil {
			t.Fatal(err)
		}
		if z, err := gzip.NewReader(bytes.NewReader(b)); err == nil {
			if b, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(b)); got != test.hash {
			t.Errorf("%s has changed: its hash is %s", test.file, got)
		}
	}
}

func TestEmbedded(t *testing.T) {
	for _, test := range []struct {
		load   func() *datasets.Data
		n, d   int
		sums   []float64 // of the first columns
		total  float64
		counts []int // of the classes
	}{
		// Sums from colSums of R 4.2.2, of the digits and their counts from scikit-learn 1.6.1.
		{datasets.OldFaithful, 272, 2, []float64{948.677, 19284}, 20232.677, nil},
		{datasets.Iris, 150, 4, []float64{876.5, 458.6, 563.7, 179.9}, 2078.7, []int{50, 50, 50}},
		{datasets.Digits, 1797, 64, []float64{0, 546, 9353, 21269}, 561718,
			[]int{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}},
	} {
		d := test.load()
		valid(t, d)
		if r, c := d.X.Dims(); r != test.n || c != test.d {
			t.Fatalf("%s is %d×%d, want %d×%d", d.Name, r, c, test.n, test.d)
		}
		// Sums of at most 10⁵ terms below 100 with an error of 1e-16 relative each.
		const tol = 1e-9
		for j, want := range test.sums {
			if got := mat.Sum(d.X.ColView(j)); !scalar.EqualWithinAbs(got, want, tol) {
				t.Errorf("%s: %s sums to %v, want %v", d.Name, d.Columns[j], got, want)
			}
		}
		if got := mat.Sum(d.X); !scalar.EqualWithinAbs(got, test.total, tol) {
			t.Errorf("%s sums to %v, want %v", d.Name, got, test.total)
		}
		if got := counts(d); !slices.Equal(got, test.counts) {
			t.Errorf("%s: class counts %v, want %v", d.Name, got, test.counts)
		}
		if d.Source == "" {
			t.Errorf("%s has no source", d.Name)
		}
	}
}

// Rows 35 and 38 tell Fisher's table from the copy at UCI, which has
// 4.9, 3.1, 1.5, 0.1 and 4.9, 3.1, 1.5, 0.1.
func TestIrisIsFishers(t *testing.T) {
	d := datasets.Iris()
	for row, want := range map[int][]float64{35: {4.9, 3.1, 1.5, 0.2}, 38: {4.9, 3.6, 1.4, 0.1}} {
		if got := d.X.RawRowView(row - 1); !slices.Equal(got, want) {
			t.Errorf("row %d is %v, want %v", row, got, want)
		}
	}
	if want := []string{"setosa", "versicolor", "virginica"}; !slices.Equal(d.Classes, want) {
		t.Errorf("classes %q, want %q", d.Classes, want)
	}
	if d.Labels[0] != 0 || d.Labels[50] != 1 || d.Labels[100] != 2 {
		t.Errorf("labels of rows 1, 51, 101 are %d, %d, %d", d.Labels[0], d.Labels[50], d.Labels[100])
	}
}

func TestDigitsLookLikeDigits(t *testing.T) {
	d := datasets.Digits()
	if lo, hi := mat.Min(d.X), mat.Max(d.X); lo != 0 || hi != 16 {
		t.Errorf("pixels from %v to %v, want 0 to 16", lo, hi)
	}
	// The middle of a mean zero is paper, of a mean one ink.
	means := d.ClassMeans()
	middle := 8*3 + 4
	if zero, one := means.At(0, middle), means.At(1, middle); zero > 2 || one < 12 {
		t.Errorf("middle of the mean 0 is %.1f, of the mean 1 %.1f", zero, one)
	}
	for i, c := range d.Labels[:10] {
		if d.Classes[c] != fmt.Sprint(i) {
			t.Errorf("row %d is labelled %q; the file begins with 0 to 9", i, d.Classes[c])
		}
	}
}

func TestFreshCopies(t *testing.T) {
	for _, load := range []func() *datasets.Data{datasets.OldFaithful, datasets.Iris, datasets.Digits} {
		d := load()
		want := load()
		d.X.Zero()
		d.Columns[0] = "changed"
		for i := range d.Labels {
			d.Labels[i], d.Classes[0] = -1, "changed"
		}
		got := load()
		if !mat.Equal(got.X, want.X) || !slices.Equal(got.Labels, want.Labels) ||
			!slices.Equal(got.Columns, want.Columns) || !slices.Equal(got.Classes, want.Classes) {
			t.Errorf("%s: changing one copy changes the next", want.Name)
		}
	}
}

func TestClassMeans(t *testing.T) {
	d := &datasets.Data{
		X:       mat.NewDense(3, 2, []float64{1, 2, 10, 20, 3, 6}),
		Labels:  []int{2, 0, 2},
		Classes: []string{"a", "nobody", "c"},
	}
	want := mat.NewDense(3, 2, []float64{10, 20, 0, 0, 2, 4})
	if got := d.ClassMeans(); !mat.Equal(got, want) {
		t.Errorf("got %v, want %v", mat.Formatted(got), mat.Formatted(want))
	}
	panics(t, "datasets: ClassMeans: Old Faithful has no labels", func() { datasets.OldFaithful().ClassMeans() })
}

func TestStandardise(t *testing.T) {
	x := datasets.OldFaithful().X
	before := mat.DenseCopyOf(x)
	z, mean, sd, err := datasets.Standardise(x)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(x, before) {
		t.Error("the input was changed")
	}
	n := 272.0
	for j := range 2 {
		col := mat.Col(nil, j, x)
		m, s := stat.MeanStdDev(col, nil) // two other loops, divisor n−1
		s *= math.Sqrt((n - 1) / n)
		if !scalar.EqualWithinRel(mean[j], m, 1e-14) || !scalar.EqualWithinRel(sd[j], s, 1e-14) {
			t.Errorf("column %d: mean %v, sd %v, want %v, %v", j, mean[j], sd[j], m, s)
		}
		zm, zs := stat.PopMeanStdDev(mat.Col(nil, j, z), nil)
		if math.Abs(zm) > 1e-14 || math.Abs(zs-1) > 1e-14 {
			t.Errorf("column %d of z has mean %v, sd %v", j, zm, zs)
		}
		for i := range 272 {
			if back := mean[j] + sd[j]*z.At(i, j); !scalar.EqualWithinRel(back, x.At(i, j), 1e-14) {
				t.Fatalf("z does not lead back to x: %v, want %v", back, x.At(i, j))
			}
		}
	}
}

func TestStandardiseHardColumns(t *testing.T) {
	// 0.1 summed and divided does not give 0.1 back; squares of 1e-200 vanish
	// and those of 1e200 are infinite; 1e9+{0,1,2} loses all digits to E[x²]−E[x]².
	x := mat.NewDense(3, 4, []float64{
		0.1, 1e-200, 1e200, 1e9,
		0.1, 2e-200, 2e200, 1e9 + 1,
		0.1, 3e-200, 3e200, 1e9 + 2,
	})
	z, mean, sd, err := datasets.Standardise(x)
	if err != nil {
		t.Fatal(err)
	}
	if mean[0] != 0.1 || sd[0] != 0 || mat.Norm(z.ColView(0), 1) != 0 {
		t.Errorf("constant column: mean %v, sd %v, z %v", mean[0], sd[0], mat.Col(nil, 0, z))
	}
	s := math.Sqrt(2.0 / 3)
	for j, unit := range []float64{1e-200, 1e200, 1} {
		j++
		if !scalar.EqualWithinRel(sd[j], s*unit, 1e-14) {
			t.Errorf("column %d: sd %v, want %v", j, sd[j], s*unit)
		}
		if got := mat.Col(nil, j, z); !scalar.EqualWithinAbs(got[0], -1/s, 1e-14) || math.Abs(got[1]) > 1e-14 {
			t.Errorf("column %d: z = %v, want ∓%v and 0", j, got, 1/s)
		}
	}
}

func TestStandardiseRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		x    mat.Matrix
		want string
	}{
		{"NaN", mat.NewDense(2, 2, []float64{1, 2, 3, math.NaN()}),
			"datasets: row 1, column 1: the value is not finite; drop the row or fill the value in"},
		{"Inf", mat.NewDense(2, 1, []float64{math.Inf(-1), 1}),
			"datasets: row 0, column 0: the value is not finite; drop the row or fill the value in"},
		{"empty", &mat.Dense{}, "datasets: no values to standardise; load or generate the data first"},
		{"far", mat.NewDense(2, 1, []float64{-1.5e308, 1.5e308}),
			"datasets: column 0: the values are too far apart for a float64; rescale the column"},
	} {
		_, _, _, err := datasets.Standardise(test.x)
		if _, ok := err.(*datasets.ValueError); !ok || err.Error() != test.want {
			t.Errorf("%s: got %T %v, want %s", test.name, err, err, test.want)
		}
	}
}

// valid checks what holds for every Data.
func valid(t *testing.T, d *datasets.Data) {
	t.Helper()
	n, cols := d.X.Dims()
	if n == 0 || cols == 0 || len(d.Columns) != cols {
		t.Fatalf("%s: X is %d×%d with %d column names", d.Name, n, cols, len(d.Columns))
	}
	if d.Labels != nil && len(d.Labels) != n || (d.Labels == nil) != (d.Classes == nil) {
		t.Fatalf("%s: %d labels of %d classes for %d rows", d.Name, len(d.Labels), len(d.Classes), n)
	}
	for i, c := range d.Labels {
		if c < 0 || c >= len(d.Classes) {
			t.Fatalf("%s: label %d of row %d is not one of %d classes", d.Name, c, i, len(d.Classes))
		}
	}
	for i := range n {
		for j, v := range d.X.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%s: row %d, column %d is %v", d.Name, i, j, v)
			}
		}
	}
}

func counts(d *datasets.Data) []int {
	if d.Labels == nil {
		return nil
	}
	n := make([]int, len(d.Classes))
	for _, c := range d.Labels {
		n[c]++
	}
	return n
}

// panics checks that f panics with the message.
func panics(t *testing.T, message string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != message {
			t.Errorf("panic %v, want %s", got, message)
		}
	}()
	f()
}
