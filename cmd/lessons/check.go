package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/latent-lessons/latent/internal/jupyter"
)

func setupCheck(flags *flag.FlagSet) func(context.Context, *app, []string) error {
	var o runOptions
	o.declare(flags)
	return func(ctx context.Context, a *app, patterns []string) error {
		dir := filepath.Join(a.root, jupyter.StateDir, "check")
		return a.execute(ctx, o, patterns, func(ctx context.Context, r *jupyter.Runner, l lesson, nb *jupyter.Notebook) (string, error) {
			_, diffs, err := r.Check(ctx, l.path, nb)
			if err != nil {
				return "", err
			}
			if len(diffs) == 0 {
				return "same outputs", nil
			}
			report, err := jupyter.Report(diffs, dir, strings.ReplaceAll(l.name, "/", "-"))
			if err != nil {
				return "", err
			}
			return "", errors.New(l.path + ": the outputs are not those in the notebook\n" + report +
				fmt.Sprintf("If the new ones are right: go run ./cmd/lessons run -w %s", l.name))
		})
	}
}
