package datasets_test

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-lessons/latent/datasets"
)

func ExampleOldFaithful() {
	d := datasets.OldFaithful()
	n, _ := d.X.Dims()
	fmt.Println(n, d.Columns)
	fmt.Println(d.X.RawRowView(0))
	// Output:
	// 272 [eruption (min) waiting (min)]
	// [3.6 79]
}

func ExampleIris() {
	d := datasets.Iris()
	fmt.Println(d.Columns)
	fmt.Println(d.X.RawRowView(149), d.Classes[d.Labels[149]])
	// Output:
	// [sepal length (cm) sepal width (cm) petal length (cm) petal width (cm)]
	// [5.9 3 5.1 1.8] virginica
}

func ExampleDigits() {
	d := datasets.Digits()
	for y := range 8 {
		fmt.Print("|")
		for _, ink := range d.X.RawRowView(0)[8*y : 8*y+8] {
			fmt.Print(string(" .:*#"[int(ink/4)]))
		}
		fmt.Println("|")
	}
	fmt.Println("label", d.Classes[d.Labels[0]])
	// Output:
	// |  .*:   |
	// |  **:*. |
	// |  *  :: |
	// | .*  :: |
	// | .:  :: |
	// | .:  *. |
	// |  *.:*  |
	// |  .*:   |
	// label 0
}

func ExampleData_ClassMeans() {
	d := datasets.Iris()
	fmt.Printf("%.3f\n", mat.Formatted(d.ClassMeans()))
	// Output:
	// ⎡5.006  3.428  1.462  0.246⎤
	// ⎢5.936  2.770  4.260  1.326⎥
	// ⎣6.588  2.974  5.552  2.026⎦
}

func ExampleStandardise() {
	x := mat.NewDense(3, 2, []float64{
		1, 5,
		2, 5,
		3, 5, // the second column is constant
	})
	z, mean, sd, err := datasets.Standardise(x)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("mean %.3f, sd %.3f\n", mean, sd)
	fmt.Printf("%.3f\n", mat.Formatted(z))
	// Output:
	// mean [2.000 5.000], sd [0.816 0.000]
	// ⎡-1.225   0.000⎤
	// ⎢ 0.000   0.000⎥
	// ⎣ 1.225   0.000⎦
}

func ExampleBlobs() {
	rng := rand.New(rand.NewPCG(1, 2))
	d := datasets.Blobs(rng, 6, 3, &datasets.BlobsOptions{SD: 0.1})
	for i, c := range d.Labels {
		fmt.Printf("%.1f %s\n", d.X.RawRowView(i), d.Classes[c])
	}
	// Output:
	// [3.7 -0.6] cluster 0
	// [0.2 -1.5] cluster 1
	// [6.0 -2.2] cluster 2
	// [3.3 -0.7] cluster 0
	// [0.3 -1.6] cluster 1
	// [6.0 -2.1] cluster 2
}

// A mixture is anything that samples components and observations.
type dice struct{ faces []int }

func (d dice) Sample(rng *rand.Rand, n int) (z []int, x *mat.Dense) {
	z, x = make([]int, n), mat.NewDense(n, 1, nil)
	for i := range n {
		z[i] = rng.IntN(len(d.faces))
		x.Set(i, 0, float64(1+rng.IntN(d.faces[z[i]])))
	}
	return z, x
}

func ExampleMixture() {
	rng := rand.New(rand.NewPCG(1, 2))
	d := datasets.Mixture(rng, dice{faces: []int{6, 20}}, 5)
	for i, c := range d.Labels {
		fmt.Println(d.X.At(i, 0), d.Classes[c])
	}
	// Output:
	// 4 component 0
	// 5 component 0
	// 1 component 0
	// 9 component 1
	// 4 component 1
}

func ExampleCSV() {
	d, err := datasets.CSV(strings.NewReader("height (cm),weight (kg),kind\n170,65,cat\n180,80,dog\n"),
		&datasets.CSVOptions{Label: "kind"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Columns, d.Labels, d.Classes)
	fmt.Println(d.X.RawRowView(1))

	_, err = datasets.CSV(strings.NewReader("height (cm)\n170\ntall\n"), nil)
	fmt.Println(err)
	// Output:
	// [height (cm) weight (kg)] [0 1] [cat dog]
	// [180 80]
	// datasets: CSV, line 3, column 1 (height (cm)): "tall" is not a number; name the column in CSVOptions.Label if it holds classes, or in CSVOptions.Skip ("height (cm)")
}

func ExampleIDX() {
	file := "\x00\x00\x08\x02" + // unsigned bytes in two dimensions
		"\x00\x00\x00\x02" + "\x00\x00\x00\x03" + // 2×3
		"\x01\x02\x03\x04\x05\x06"
	a, err := datasets.IDX(strings.NewReader(file))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Dims, a.Values)

	_, err = datasets.IDX(strings.NewReader(file[:15]))
	fmt.Println(err)
	// Output:
	// [2 3] [1 2 3 4 5 6]
	// datasets: IDX, byte 15: the data end after 3 of 6 values [2 3]; check that this is the whole file, and download it again
}

func ExampleMNIST() {
	_, _, err := datasets.MNIST("no-such-folder")
	var missing *datasets.MissingFilesError
	if errors.As(err, &missing) {
		for _, name := range missing.Files {
			fmt.Println(name)
		}
		fmt.Println("from", missing.Home)
	}
	// Output:
	// train-images-idx3-ubyte
	// train-labels-idx1-ubyte
	// t10k-images-idx3-ubyte
	// t10k-labels-idx1-ubyte
	// from https://github.com/cvdfoundation/mnist
}

func ExampleImage() {
	var file bytes.Buffer
	if err := png.Encode(&file, datasets.Picture().Image()); err != nil {
		fmt.Println(err)
		return
	}
	p, err := datasets.Image(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, c := p.X.Dims()
	fmt.Printf("%d×%d pixels as %d×%d\n", p.Width, p.Height, r, c)
	// Output:
	// 160×120 pixels as 19200×3
}

func ExamplePicture() {
	p := datasets.Picture()
	fmt.Printf("the sun is %.2f\n", p.X.RawRowView(53*p.Width+103))
	fmt.Printf("the sail is %.2f\n", p.X.RawRowView(75*p.Width+44))
	// Output:
	// the sun is [1.00 0.97 0.84]
	// the sail is [0.84 0.19 0.15]
}
