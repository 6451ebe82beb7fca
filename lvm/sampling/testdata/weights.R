# Fixed importance weights and what R's loo says about them: weights.csv holds
# the logarithms of the weights of a case per line; psis.csv the k-hat and the
# smoothed logarithms. Run as: Rscript weights.R
library(loo)
set.seed(20240725)
n <- 250
x <- rnorm(n)
cauchy <- rcauchy(n)
cases <- list(
  # target N(0, 1), proposal wider, narrower, much narrower
  wide = {z <- 2 * x; dnorm(z, log = TRUE) - dnorm(z, sd = 2, log = TRUE)},
  narrow = {z <- x / 1.3; dnorm(z, log = TRUE) - dnorm(z, sd = 1 / 1.3, log = TRUE)},
  hopeless = {z <- x / 4; dnorm(z, log = TRUE) - dnorm(z, sd = 1 / 4, log = TRUE)},
  cauchy = dnorm(cauchy, log = TRUE) - dcauchy(cauchy, log = TRUE),
  exponential = rexp(n) * 0.4 - 1000,
  pareto = 0.9 * rexp(n),
  huge = 30 * rexp(n) + 700,
  uniform = log(runif(n)),
  short = 0.5 * rexp(25),
  tiny = 0.5 * rexp(20)
)
lines <- file("weights.csv", "w"); results <- file("psis.csv", "w")
for (name in names(cases)) {
  lw <- as.numeric(sprintf("%.17g", cases[[name]]))
  cat(paste(c(name, sprintf("%.17g", lw)), collapse = ","), "\n", sep = "", file = lines)
  fit <- suppressWarnings(psis(matrix(lw, ncol = 1), r_eff = 1))
  s <- as.vector(weights(fit, log = TRUE, normalize = FALSE))
  cat(paste(c(name, sprintf("%.17g", c(fit$diagnostics$pareto_k, s))), collapse = ","), "\n", sep = "", file = results)
}
close(lines); close(results)
