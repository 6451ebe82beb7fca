// Command sampling runs the samplers and diagnostics of lvm/sampling and their
// peers in the Python stack on the same targets and data, turn by turn in one
// run, and prints the ratios of what they produce in a second.
//
//	go run ./bench/sampling [-python python3] [-run regexp] [-rounds 7]
//
// It needs Python with the packages of bench/sampling/requirements.txt. The
// report is bench/SAMPLING.md.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"time"
)

// A duel is one task for both sides, who take turns with a new seed each time.
type duel struct {
	title string
	name  string         // of the Python function
	args  map[string]any // and what it takes besides seed and n
	n     int            // draws of the peer
	ours  func(seed uint64) (turn, error)

	measures []measure

	// disagree returns by how much two turns differ, and atMost is how much they may.
	disagree func(ours, theirs [][]float64) float64
	atMost   float64
}

// A measure is the amount of something useful in the draws of a turn, columns × draws.
type measure struct {
	unit string
	of   func(draws [][]float64) float64
}

// turn is what one side did in one go.
type turn struct {
	seconds   float64
	before    float64     // seconds to compile and warm up, not part of the above
	draws     [][]float64 // columns × draws
	gradients int
	note      string
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench/sampling: ")
	python := flag.String("python", "python3", "Python `interpreter` with the packages of bench/sampling/requirements.txt")
	pattern := flag.String("run", "", "run only the tasks whose title matches this `regexp`")
	rounds := flag.Int("rounds", 7, "how many `times` each side takes its turn")
	flag.Parse()
	if err := run(*python, *pattern, *rounds); err != nil {
		log.Fatal(err)
	}
}

func run(python, pattern string, rounds int) error {
	match, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	if rounds < 1 {
		return fmt.Errorf("%d rounds: there must be one", rounds)
	}
	dir, err := os.MkdirTemp("", "latent-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := startPeer(python, dir)
	if err != nil {
		return err
	}
	defer p.stop()

	fmt.Printf("%s, %d threads, %s; %s\n\n", processor(), runtime.GOMAXPROCS(0), runtime.Version(), p.versions)
	fmt.Println("| task | in a second | Latent | peer | ratio, median (range) | of the best turns | rounds | they differ by |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	agree := true
	var notes []string
	start := time.Now()
	for _, d := range duels(dir) {
		if !match.MatchString(d.title) {
			continue
		}
		r, err := fight(d, p, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", d.title, err)
		}
		verdict := ""
		if !(r.differ <= d.atMost) {
			verdict, agree = " **TOO MUCH**", false
		}
		title := d.title
		for i, m := range d.measures {
			fmt.Printf("| %s | %s | %.3g | %.3g | **%.1f** (%.1f–%.1f) | %.1f | %d | %.2g%s |\n", title, m.unit, median(r.ours[i]), median(r.theirs[i]),
				median(r.ratios[i]), slices.Min(r.ratios[i]), slices.Max(r.ratios[i]), slices.Max(r.ours[i])/slices.Max(r.theirs[i]), len(r.ratios[i]), r.differ, verdict)
			title = ""
		}
		notes = append(notes, fmt.Sprintf("- %s: %s", d.title, r.notes))
	}
	fmt.Printf("\nIn all %.0f s. Times of one turn, median of the rounds:\n\n", time.Since(start).Seconds())
	for _, n := range notes {
		fmt.Println(n)
	}
	if !agree {
		return fmt.Errorf("the two sides do not agree")
	}
	return nil
}

// result holds the rates of each measure in each round.
type result struct {
	ours, theirs, ratios [][]float64
	differ               float64 // the median of the rounds
	notes                string
}

// fight lets both sides take turns. The first round warms caches and pages and
// does not count, except that the peer tells how long it took to compile.
func fight(d duel, p *peer, rounds int) (result, error) {
	k := len(d.measures)
	r := result{make([][]float64, k), make([][]float64, k), make([][]float64, k), 0, ""}
	var ourTime, theirTime, ourWarm, theirWarm, ourGrads, theirGrads, differ []float64
	compile := 0.0
	for round := range rounds + 1 {
		seed := uint64(round + 1)
		runtime.GC()
		ours, err := d.ours(seed)
		if err != nil {
			return r, err
		}
		theirs, err := p.ask(d.name, seed, d.n, d.args)
		if err != nil {
			return r, err
		}
		if round == 0 {
			compile = theirs.before
			continue
		}
		for i, m := range d.measures {
			a, b := m.of(ours.draws)/ours.seconds, m.of(theirs.draws)/theirs.seconds
			r.ours[i], r.theirs[i], r.ratios[i] = append(r.ours[i], a), append(r.theirs[i], b), append(r.ratios[i], a/b)
		}
		differ = append(differ, d.disagree(ours.draws, theirs.draws))
		ourTime, theirTime = append(ourTime, ours.seconds), append(theirTime, theirs.seconds)
		ourWarm, theirWarm = append(ourWarm, ours.before), append(theirWarm, theirs.before)
		ourGrads, theirGrads = append(ourGrads, float64(ours.gradients)), append(theirGrads, float64(theirs.gradients))
		r.notes = ours.note
	}
	r.differ = median(differ)
	r.notes = fmt.Sprintf("%.3g s against %.3g s%s", median(ourTime), median(theirTime), r.notes)
	if compile > 0 {
		r.notes += fmt.Sprintf("; %.0f gradients against %.0f; before that, not counted: ours warmed up in %.2g s, the peer compiled and warmed up in %.2g s the first time and %.2g s later",
			median(ourGrads), median(theirGrads), median(ourWarm), compile, median(theirWarm))
	}
	return r, nil
}

// timed returns how many seconds f takes.
func timed(f func() error) (float64, error) {
	start := time.Now()
	err := f()
	return time.Since(start).Seconds(), err
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// processor returns the name of the processor where the system tells it.
func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	if m := regexp.MustCompile(`model name\s*:\s*(.*)`).FindSubmatch(info); m != nil {
		return string(m[1])
	}
	if out, err := exec.Command("sysctl", "-n", "machdep.cpu.brand_string").Output(); err == nil {
		return string(out[:max(0, len(out)-1)])
	}
	return runtime.GOARCH
}
