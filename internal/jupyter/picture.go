package jupyter

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/png"
	"regexp"
	"strings"
)

var (
	// A PNG in base64 inside HTML or a script: every one begins with these letters.
	inlinePNG = regexp.MustCompile(`iVBORw0KGgo[A-Za-z0-9+/]+=*`)
	// An element that is named by the hash of the pictures in it.
	hashedID = regexp.MustCompile(`\bframes-[0-9a-f]{12}\b`)
	spaces   = strings.NewReplacer("\n", "", "\r", "", " ", "")
)

// decodeBase64 returns nil for text that is not base64.
func decodeBase64(s string) []byte {
	data, err := base64.StdEncoding.DecodeString(spaces.Replace(s))
	if err != nil {
		return nil
	}
	return data
}

// png returns the bytes of an output's picture, nil if it has none.
func (o Output) png() []byte {
	s, ok := o.Data["image/png"].(string)
	if !ok {
		return nil
	}
	return decodeBase64(s)
}

// diffPictures compares two pictures in base64 by their pixels and says how
// they differ, "" if they look the same.
func diffPictures(want, got string) string {
	if spaces.Replace(want) == spaces.Replace(got) {
		return ""
	}
	w, _, errWant := image.Decode(bytes.NewReader(decodeBase64(want)))
	g, _, errGot := image.Decode(bytes.NewReader(decodeBase64(got)))
	switch {
	case errWant != nil:
		return fmt.Sprintf("the notebook's picture cannot be read: %v", errWant)
	case errGot != nil:
		return fmt.Sprintf("the new picture cannot be read: %v", errGot)
	case w.Bounds().Size() != g.Bounds().Size():
		return fmt.Sprintf("%v pixels became %v", w.Bounds().Size(), g.Bounds().Size())
	}
	differ, total := comparePixels(w, g)
	if float64(differ) <= pixelShare*float64(total) {
		return ""
	}
	return fmt.Sprintf("%d of %d pixels differ (%.2g %%)", differ, total, 100*float64(differ)/float64(total))
}
