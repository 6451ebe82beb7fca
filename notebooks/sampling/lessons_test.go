package sampling_test

import (
	"testing"

	"github.com/latent-lessons/latent/internal/jupyter/lessontest"
)

func TestLessons(t *testing.T) { lessontest.Chapter(t) }
