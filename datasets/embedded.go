package datasets

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
)

//go:embed data
var files embed.FS

// OldFaithful returns 272 eruptions of the Old Faithful geyser in Yellowstone
// National Park, August 1985: X is 272×2, the length of the eruption and the
// waiting time until the next, both in minutes. There are no labels.
//
// Source: Azzalini and Bowman (1990), as datasets::faithful in R.
func OldFaithful() *Data {
	d := embedded("faithful.csv", nil)
	d.Name = "Old Faithful"
	d.Columns = []string{"eruption (min)", "waiting (min)"}
	d.Source = "Azzalini & Bowman (1990), Applied Statistics 39, 357–365; R datasets::faithful"
	return d
}

// Iris returns 150 iris flowers, 50 of each of three species: X is 150×4, length
// and width of sepal and petal in centimetres; the labels are the species.
//
// Source: Anderson (1935), Fisher (1936), as datasets::iris in R. The copy in the
// UCI repository differs from the paper, and so from this one, in rows 35 and 38.
func Iris() *Data {
	d := embedded("iris.csv", &CSVOptions{Label: "Species"})
	d.Name = "iris"
	d.Columns = []string{"sepal length (cm)", "sepal width (cm)", "petal length (cm)", "petal width (cm)"}
	d.Source = "Anderson (1935), Fisher (1936), Annals of Eugenics 7, 179–188; R datasets::iris"
	return d
}

// Digits returns 1797 handwritten digits as images of 8×8 pixels: X is 1797×64,
// pixels row by row from the top left, each the number of inked dots in a 4×4
// cell of a scan, 0 to 16; the labels are the digits.
//
// Source: Alpaydin and Kaynak (1998), the test part of the UCI data set Optical
// Recognition of Handwritten Digits, CC BY 4.0.
func Digits() *Data {
	d := embedded("digits8x8.csv.gz", &CSVOptions{Header: HeaderAbsent, Label: "x65"})
	d.Name = "digits 8×8"
	for j := range d.Columns {
		d.Columns[j] = fmt.Sprintf("pixel %d,%d (0–16)", j/8, j%8)
	}
	d.Source = "Alpaydin & Kaynak (1998), UCI Optical Recognition of Handwritten Digits, test part; CC BY 4.0"
	return d
}

// embedded parses a file of the package. That it can is a test's business, so a
// failure here is a panic.
func embedded(name string, opts *CSVOptions) *Data {
	text, err := contents(name)
	if err != nil {
		panic(err)
	}
	d, err := CSV(bytes.NewReader(text), opts)
	if err != nil {
		panic(err)
	}
	return d
}

// contents returns an embedded file, decompressed.
func contents(name string) ([]byte, error) {
	b, err := files.ReadFile("data/" + name)
	if err != nil || !isGzip(b) {
		return b, err
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
