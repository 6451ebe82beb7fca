package datasets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// mnistHome links to the four files, with the consent of their authors.
const mnistHome = "https://github.com/cvdfoundation/mnist"

// MNIST reads the handwritten digits of LeCun, Cortes and Burges (1998) from the
// four files of the data set, which the caller has in the folder dir, packed or
// not:
//
//	train-images-idx3-ubyte[.gz]  60000 images of 28×28 pixels
//	train-labels-idx1-ubyte[.gz]
//	t10k-images-idx3-ubyte[.gz]   10000 images
//	t10k-labels-idx1-ubyte[.gz]
//
// Links to them are at https://github.com/cvdfoundation/mnist. A row of X is
// an image, its 784 pixels row by row from the top left, 0 (paper) to 255 (ink);
// the labels are the digits. As float64 the training images take 376 MB.
// Data of another size in the same format, such as Fashion-MNIST, is read alike.
//
// Absent files are a *[MissingFilesError], damaged ones and labels that do not fit
// the images a *[ParseError].
func MNIST(dir string) (train, test *Data, err error) {
	names := []string{
		"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
		"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte",
	}
	missing := &MissingFilesError{Name: "MNIST", Dir: dir, Home: mnistHome}
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i], err = locate(dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			missing.Files = append(missing.Files, name)
		} else if err != nil {
			return nil, nil, fmt.Errorf("datasets: %w", err)
		}
	}
	if missing.Files != nil {
		return nil, nil, missing
	}
	if train, err = mnist("MNIST, training part", paths[0], paths[1]); err != nil {
		return nil, nil, err
	}
	if test, err = mnist("MNIST, test part", paths[2], paths[3]); err != nil {
		return nil, nil, err
	}
	return train, test, nil
}

// locate returns the path under which a file is in dir: plain or packed, with the
// dash or the dot before idx that some copies have.
func locate(dir, name string) (string, error) {
	for _, n := range []string{name, strings.Replace(name, "-idx", ".idx", 1)} {
		for _, ext := range []string{"", ".gz"} {
			path := filepath.Join(dir, n+ext)
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				return path, nil
			} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
		}
	}
	return "", fs.ErrNotExist
}

// mnist reads one part of the data set.
func mnist(name, images, labels string) (*Data, error) {
	x, err := IDXFile(images)
	if err != nil {
		return nil, err
	}
	y, err := IDXFile(labels)
	if err != nil {
		return nil, err
	}
	bad := func(file string, offset int, format string, args ...any) error {
		return &ParseError{Format: "IDX", File: file, Offset: int64(offset), Problem: fmt.Sprintf(format, args...),
			Try: "check that the images and the labels are of one data set"}
	}
	if x.Type != IDXUint8 || len(x.Dims) != 3 {
		return nil, bad(images, 2, "not images: %d dimensions of type %#02x", len(x.Dims), x.Type)
	}
	if y.Type != IDXUint8 || len(y.Dims) != 1 {
		return nil, bad(labels, 2, "not labels: %d dimensions of type %#02x", len(y.Dims), y.Type)
	}
	if x.Dims[0] != y.Dims[0] {
		return nil, bad(labels, 4, "%d labels for %d images", y.Dims[0], x.Dims[0])
	}
	d := &Data{Name: name, X: x.Matrix(), Labels: make([]int, y.Dims[0]), Classes: numbered("", 0, 10),
		Source: "LeCun, Cortes & Burges (1998), files " + filepath.Base(images) + " and " + filepath.Base(labels)}
	for i, v := range y.Values {
		if v > 9 {
			return nil, bad(labels, 8+i, "label %v is not a digit", v)
		}
		d.Labels[i] = int(v)
	}
	for j := range x.Dims[1] * x.Dims[2] {
		d.Columns = append(d.Columns, fmt.Sprintf("pixel %d,%d (0–255)", j/x.Dims[2], j%x.Dims[2]))
	}
	return d, nil
}
