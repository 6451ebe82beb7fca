// Command bench runs Latent and its peers in the Python stack on the same data,
// from the same start, for the same number of iterations, turn by turn in one
// run, and prints the ratios of their times.
//
//	go run ./bench [-python python3] [-run regexp] [-rounds 7]
//
// It needs Python with the packages of bench/requirements.txt. A case is a Go
// function that returns tasks, in the list below, and a Python function of the
// task's name in peers.py.
package main

import (
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"
)

var cases = []func() []task{kmeansTasks, gmmTasks, vbTasks, dpTasks}

// A task is one computation that both sides do.
type task struct {
	Name   string // of the Python function
	Title  string // of the row in the table
	Arrays map[string]*mat.Dense
	Params map[string]float64

	// Run does the work and returns its objective, which is compared with that
	// of the peer.
	Run func() (objective float64, err error)

	// Tolerance is how far the objectives may differ, relative to their size.
	Tolerance float64
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	python := flag.String("python", "python3", "Python `interpreter` with the packages of bench/requirements.txt")
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
	dir, err := os.MkdirTemp("", "latent-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	peers, err := startPeers(python, dir)
	if err != nil {
		return err
	}
	defer peers.stop()

	fmt.Printf("%s, %d threads, %s; %s\n\n", processor(), runtime.GOMAXPROCS(0), runtime.Version(), peers.versions)
	fmt.Println("| task | Latent | peer | ratio | one thread / all | objectives differ by |")
	fmt.Println("|---|---|---|---|---|---|")
	agree := true
	for _, c := range cases {
		for _, t := range c() {
			if !match.MatchString(t.Title) {
				continue
			}
			r, err := measure(t, peers, rounds)
			if err != nil {
				return fmt.Errorf("%s: %w", t.Title, err)
			}
			verdict := ""
			if !(r.difference <= t.Tolerance) {
				verdict, agree = " **TOO MUCH**", false
			}
			fmt.Printf("| %s | %s | %s | %.2f (%.2f–%.2f) | %.2f | %.1e%s |\n", t.Title, milliseconds(r.own), milliseconds(r.peer),
				median(r.ratios), slices.Min(r.ratios), slices.Max(r.ratios), median(r.scaling), r.difference, verdict)
		}
	}
	if !agree {
		return fmt.Errorf("the objectives do not agree")
	}
	return nil
}

type result struct {
	own, peer       time.Duration // medians
	ratios, scaling []float64     // of each round
	difference      float64       // of the objectives, relative
}

// settle is how long the threads of a turn get to fall asleep: those of OpenMP
// and OpenBLAS spin for a while after their work, at the cost of whose turn it is.
const settle = 300 * time.Millisecond

// measure lets both sides take turns. The first round warms caches and pages
// and does not count.
func measure(t task, peers *peers, rounds int) (result, error) {
	if err := peers.send(t); err != nil {
		return result{}, err
	}
	own := func() (float64, float64, error) {
		start := time.Now()
		objective, err := t.Run()
		return time.Since(start).Seconds(), objective, err
	}
	theirs := func() (float64, float64, error) { return peers.run(t.Name) }
	var r result
	var ours, peer []float64
	for round := range rounds + 1 {
		time.Sleep(settle)
		all, objective, err := turn(own)
		if err != nil {
			return result{}, err
		}
		threads := runtime.GOMAXPROCS(1)
		one, _, err := turn(own)
		runtime.GOMAXPROCS(threads)
		if err != nil {
			return result{}, err
		}
		time.Sleep(settle)
		other, want, err := turn(theirs)
		if err != nil {
			return result{}, err
		}
		if round == 0 {
			r.difference = math.Abs(objective-want) / math.Abs(want)
			continue
		}
		ours, peer = append(ours, all), append(peer, other)
		r.ratios = append(r.ratios, other/all)
		r.scaling = append(r.scaling, one/all)
	}
	r.own, r.peer = seconds(median(ours)), seconds(median(peer))
	return r, nil
}

// turn returns how many seconds f takes, the mean of as many calls as fill half a
// second: the first of them pays for pages and caches gone cold.
func turn(f func() (seconds, objective float64, err error)) (mean, objective float64, err error) {
	var total, calls float64
	for total < 0.5 {
		s, o, err := f()
		if err != nil {
			return 0, 0, err
		}
		total, calls, objective = total+s, calls+1, o
	}
	return total / calls, objective, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * 1e9) }

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1e3) }

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
