// Command lessons opens, executes and checks the lessons of Latent.
//
//	lessons                     list the lessons and the commands
//	lessons lab [pattern]       open the lessons in JupyterLab
//	lessons run [pattern …]     execute lessons with GoNB, without Jupyter
//	lessons check [pattern …]   execute lessons and compare with what is in them
//	lessons kernel              register the Go kernel for your own Jupyter or VS Code
//
// A pattern is a lesson (clustering/01-kmeans), a chapter (clustering/...), a
// name without its number (kmeans) or a path; none means all lessons.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/latent-lessons/latent/internal/jupyter"
)

// A command is a subcommand of lessons.
type command struct {
	name, args, about string
	// setup declares flags and returns what to do with the arguments left.
	setup func(*flag.FlagSet) func(context.Context, *app, []string) error
}

var commands = []command{
	{"lab", "[pattern]", "open the lessons in JupyterLab", setupLab},
	{"run", "[pattern …]", "execute lessons with GoNB, without Jupyter", setupRun},
	{"check", "[pattern …]", "execute lessons and compare with the outputs in them", setupCheck},
	{"kernel", "", "register the Go kernel for your own Jupyter or VS Code", setupKernel},
}

// app is what all commands share.
type app struct {
	root           string // of the repository
	stdout, stderr io.Writer
}

// usageError is a mistake on the command line; it ends with status 2. An empty
// message has been told already.
type usageError struct{ msg string }

func (e usageError) Error() string { return e.msg }

// errReported says that everything has been told already.
var errReported = errors.New("failed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments; it returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := dispatch(ctx, args, stdout, stderr)
	var usage usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errReported):
		return 1
	case errors.As(err, &usage):
		if usage.msg != "" {
			fmt.Fprintln(stderr, "lessons:", usage.msg)
		}
		return 2
	case jupyter.Interrupted(err):
		fmt.Fprintln(stderr, "lessons: interrupted")
		return 130
	}
	fmt.Fprintln(stderr, "lessons:", err)
	return 1
}

func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 && (args[0] == "-h" || args[0] == "-help" || args[0] == "--help" || args[0] == "help") {
		args = nil
	}
	var chosen *command
	if len(args) > 0 {
		var names []string
		for i := range commands {
			names = append(names, commands[i].name)
			if commands[i].name == args[0] {
				chosen = &commands[i]
			}
		}
		if chosen == nil {
			return usageError{fmt.Sprintf("no command %q%s", args[0], didYouMean(args[0], names))}
		}
	}
	wd, err := os.Getwd()
	if err != nil {
		return err
	}
	root, err := jupyter.FindRoot(wd)
	if err != nil {
		return err
	}
	a := &app{root: root, stdout: stdout, stderr: stderr}
	if chosen == nil {
		return a.list()
	}
	flags := flag.NewFlagSet(chosen.name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	do := chosen.setup(flags)
	flags.Usage = func() {
		fmt.Fprintf(stderr, "usage: lessons %s\n%s\n", strings.TrimSpace(chosen.name+" [flags] "+chosen.args), chosen.about)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return usageError{}
	}
	if chosen.args == "" && flags.NArg() > 0 {
		return usageError{fmt.Sprintf("%s takes no arguments, got %q", chosen.name, flags.Args())}
	}
	return do(ctx, a, flags.Args())
}
