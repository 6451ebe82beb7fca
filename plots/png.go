package plots

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// DPI is the resolution of PNG pictures in dots per inch.
const DPI = 96

func render(s sheet) (*image.RGBA, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	w, h := s.size()
	c := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(DPI))
	s.Draw(draw.New(c))
	return c.Image().(*image.RGBA), nil
}

// EncodePNG returns img as a small PNG. Pictures of few colours, as plots are,
// become paletted, with small changes to the rarest colours if there are more than
// 256.
func EncodePNG(img *image.RGBA) ([]byte, error) {
	var out image.Image = img
	if p := paletted(img); p != nil {
		out = p
	}
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestCompression}
	err := enc.Encode(&b, out)
	return b.Bytes(), err
}

// paletted returns img in 256 colours or fewer, or nil if that would show: if more
// than one pixel in a hundred changes by more than 8 in a channel.
func paletted(img *image.RGBA) *image.Paletted {
	counts := map[color.RGBA]int{}
	for i := 0; i < len(img.Pix); i += 4 {
		counts[rgba(img.Pix[i:])]++
	}
	pal := mostFrequent(counts)
	if len(pal) > 256 {
		// Half of the palette goes to the most frequent colours, which keeps flat areas
		// exactly as they are, half to the most frequent groups of the others: colours
		// that agree in five leading bits.
		rest := map[color.RGBA]int{}
		for _, c := range pal[128:] {
			rest[color.RGBA{c.R&^7 | 4, c.G&^7 | 4, c.B&^7 | 4, c.A}] += counts[c]
		}
		groups := mostFrequent(rest)
		pal = append(pal[:128:128], groups[:min(128, len(groups))]...)
	}
	index := make(map[color.RGBA]uint8, len(counts))
	changed := 0
	for c, n := range counts {
		i := nearest(pal, c)
		index[c] = uint8(i)
		if d := diff(pal[i], c); max(d[0], d[1], d[2], d[3]) > 8 {
			changed += n
		}
		if 100*changed > len(img.Pix)/4 {
			return nil
		}
	}
	out := image.NewPaletted(img.Rect, nil)
	for _, c := range pal {
		out.Palette = append(out.Palette, c)
	}
	for i := range out.Pix {
		out.Pix[i] = index[rgba(img.Pix[4*i:])]
	}
	return out
}

// mostFrequent sorts colours by falling count.
func mostFrequent(counts map[color.RGBA]int) []color.RGBA {
	return slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(counts[b]-counts[a],
			cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B), cmp.Compare(a.A, b.A))
	})
}

func nearest(pal []color.RGBA, c color.RGBA) int {
	best, least := 0, 1<<30
	for i, p := range pal {
		d := diff(p, c)
		if sq := d[0]*d[0] + d[1]*d[1] + d[2]*d[2] + d[3]*d[3]; sq < least {
			best, least = i, sq
		}
	}
	return best
}

func diff(a, b color.RGBA) (d [4]int) {
	for i, v := range [4][2]uint8{{a.R, b.R}, {a.G, b.G}, {a.B, b.B}, {a.A, b.A}} {
		d[i] = max(int(v[0])-int(v[1]), int(v[1])-int(v[0]))
	}
	return d
}

func rgba(p []uint8) color.RGBA { return color.RGBA{p[0], p[1], p[2], p[3]} }
