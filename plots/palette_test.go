package plots

import (
	"encoding/csv"
	"errors"
	"image/color"
	"math"
	"os"
	"strconv"
	"testing"

	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/vg/draw"
)

func TestPublishedColours(t *testing.T) {
	file, err := os.Open("testdata/colours.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	maps := map[string][]color.Color{
		"viridis":   Viridis().Palette(256).Colors(),
		"cividis":   Cividis().Palette(256).Colors(),
		"okabe_ito": make([]color.Color, 8),
	}
	for k, i := range order {
		maps["okabe_ito"][i] = OkabeIto().Colors()[k]
	}
	if len(rows) != 1+10+10+8 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows[1:] {
		var n [4]int
		for i := range n {
			if n[i], err = strconv.Atoi(row[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		want := color.NRGBA{uint8(n[1]), uint8(n[2]), uint8(n[3]), 255}
		if got := maps[row[0]][n[0]]; got != want {
			t.Errorf("%s[%d] = %v, want %v", row[0], n[0], got, want)
		}
	}
}

func TestColorMap(t *testing.T) {
	m := Ramp(color.White, color.Black)
	m.SetMin(-1)
	m.SetMax(3)
	for v, want := range map[float64]uint8{-1: 255, 1: 128, 3: 0} {
		if c, err := m.At(v); err != nil || c != (color.NRGBA{want, want, want, 255}) {
			t.Errorf("At(%v) = %v, %v; want grey %d", v, c, err, want)
		}
	}
	for v, want := range map[float64]error{-1.1: palette.ErrUnderflow, 3.1: palette.ErrOverflow, math.NaN(): palette.ErrNaN} {
		if _, err := m.At(v); !errors.Is(err, want) {
			t.Errorf("At(%v): %v, want %v", v, err, want)
		}
	}
	m.SetAlpha(0.5)
	if c, _ := m.At(3); c != (color.NRGBA{0, 0, 0, 128}) {
		t.Errorf("with alpha 0.5: %v", c)
	}
	if n := len(m.Palette(1).Colors()); n != 1 {
		t.Errorf("Palette(1) has %d colours", n)
	}
}

// lab returns a colour in CIELAB (D65), for which distances are about how different
// colours look: 2 is just noticeable.
func lab(lin [3]float64) [3]float64 {
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	r, g, b := lin[0], lin[1], lin[2]
	x := f((0.4124564*r + 0.3575761*g + 0.1804375*b) / 0.95047)
	y := f(0.2126729*r + 0.7151522*g + 0.0721750*b)
	z := f((0.0193339*r + 0.1191920*g + 0.9503041*b) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func linear(c color.NRGBA) [3]float64 {
	f := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return [3]float64{f(c.R), f(c.G), f(c.B)}
}

// blindness holds how colours in linear RGB look without one kind of cone: Machado,
// Oliveira and Fernandes (2009), "A physiologically-based model for simulation of
// color vision deficiency", severity 1.
var blindness = map[string][3][3]float64{
	"none":         {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// closest returns the least distance between two of the colours for the readers for
// whom it is least.
func closest(cs ...color.NRGBA) float64 {
	least := math.Inf(1)
	for _, m := range blindness {
		see := func(c color.NRGBA) [3]float64 {
			v := linear(c)
			var w [3]float64
			for i := range w {
				w[i] = min(max(m[i][0]*v[0]+m[i][1]*v[1]+m[i][2]*v[2], 0), 1)
			}
			return lab(w)
		}
		for i, a := range cs {
			for _, b := range cs[:i] {
				p, q := see(a), see(b)
				least = min(least, math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2]))
			}
		}
	}
	return least
}

func TestColourBlindSafe(t *testing.T) {
	var cs []color.NRGBA
	for k := range 8 {
		cs = append(cs, Color(k))
	}
	// 15 is seven times what is just noticeable; all categories also differ in shape
	// and dashes.
	if d := closest(cs...); d < 15 {
		t.Errorf("two categories are %.1f apart for some readers, want at least 15", d)
	}
	if d := closest(cs[:2]...); d < 50 {
		t.Errorf("the first two categories are %.1f apart for some readers, want at least 50", d)
	}
	// Control: the red, green and brown that matplotlib puts into its default cycle.
	if d := closest(color.NRGBA{0xd6, 0x27, 0x28, 255}, color.NRGBA{0x2c, 0xa0, 0x2c, 255}, color.NRGBA{0x8c, 0x56, 0x4b, 255}); d > 15 {
		t.Errorf("red, green and brown are %.1f apart for all readers: the check sees nothing", d)
	}
}

func TestLightnessGrows(t *testing.T) {
	for name, m := range map[string]palette.ColorMap{"viridis": Viridis(), "cividis": Cividis()} {
		last := -1.0
		for i, c := range m.Palette(32).Colors() {
			l := lab(linear(c.(color.NRGBA)))[0]
			if l <= last {
				t.Errorf("%s: colour %d of 32 has lightness %.1f after %.1f", name, i, l, last)
			}
			last = l
		}
	}
}

func TestCategoriesDiffer(t *testing.T) {
	type look struct {
		c     color.Color
		shape int
	}
	index := func(g draw.GlyphDrawer) int {
		for i, s := range shapes {
			if p, ok := s.(polygon); ok {
				if q, ok := g.(polygon); ok && &p[0] == &q[0] {
					return i
				}
			} else if g == s {
				return i
			}
		}
		return -1
	}
	seen := map[look]int{}
	for k := range 64 {
		g := Glyph(k)
		l := look{g.Color, index(g.Shape)}
		if j, ok := seen[l]; ok {
			t.Errorf("categories %d and %d look the same", j, k)
		}
		seen[l] = k
	}
	if Color(-1) != grey || Glyph(-1).Color != color.Color(grey) {
		t.Error("no category is not grey")
	}
}
