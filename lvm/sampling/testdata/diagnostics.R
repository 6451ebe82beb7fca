# Makes chains.csv and diagnostics.csv. Run in this directory: Rscript diagnostics.R
suppressMessages({library(posterior); library(coda)})
set.seed(1)
ar <- function(n, phi, start = 0) {
  x <- numeric(n); s <- start
  for (i in 1:n) { s <- phi * s + rnorm(1); x[i] <- s }
  x
}
metropolis <- function(n, scale) {
  x <- numeric(n); s <- 0
  for (i in 1:n) { p <- s + scale * rnorm(1); if (log(runif(1)) < (s^2 - p^2) / 2) s <- p; x[i] <- s }
  x
}
cases <- list(
  normal      = round(matrix(rnorm(4 * 200), 200), 4),
  ar          = round(sapply(1:4, function(i) ar(200, 0.7)), 4),
  odd         = round(sapply(1:3, function(i) ar(151, 0.5)), 4),
  antithetic  = round(sapply(1:4, function(i) ar(200, -0.7)), 4),
  verynegative = round(sapply(1:2, function(i) ar(100, -0.98)), 4),
  metropolis  = round(sapply(1:4, function(i) metropolis(200, 6)), 4),
  cauchy      = round(matrix(rcauchy(4 * 150), 150), 3),
  shifted     = round(sapply(1:4, function(i) rnorm(100, mean = (i == 4))), 4),
  scaled      = round(sapply(1:4, function(i) rnorm(100, sd = 1 + 3 * (i == 4))), 4),
  trend       = round(sapply(1:2, function(i) rnorm(100) + (1:100) / 25), 4),
  slow        = round(sapply(1:2, function(i) ar(1500, 0.999)), 2),
  single      = round(matrix(ar(300, 0.4)), 4),
  integers    = matrix(as.numeric(rpois(4 * 100, 2)), 100),
  binary      = matrix(as.numeric(runif(4 * 100) < 0.3), 100),
  stuckone    = cbind(round(rnorm(100), 4), rep(0.5, 100)),
  stuckboth   = cbind(rep(0.1, 50), rep(0.3, 50)),
  constant    = matrix(0.1, 40, 4),
  tiny        = matrix(rnorm(4 * 60), 60) * 1e-18,
  large       = round(matrix(1e6 + rnorm(4 * 60), 60), 4),
  nan         = {m <- round(matrix(rnorm(80), 40), 4); m[7, 2] <- NaN; m},
  inf         = {m <- round(matrix(rnorm(160), 40), 4); m[7, 2] <- Inf; m},
  mostlyinf   = {m <- matrix(Inf, 40, 2); m[1:5, ] <- round(rnorm(10), 4); m}
)
for (n in 1:14) cases[[paste0("short", n)]] <- round(matrix(rnorm(2 * n), n), 4)

number <- function(x) ifelse(is.na(x), "NaN", ifelse(is.infinite(x), ifelse(x > 0, "+Inf", "-Inf"), sprintf("%.17g", x)))
quiet <- function(e) tryCatch(suppressWarnings(as.numeric(e)), error = function(e) NA)
chains <- file("chains.csv", "w"); out <- file("diagnostics.csv", "w")
first <- TRUE
for (name in names(cases)) {
  x <- cases[[name]]
  for (j in 1:ncol(x)) {
    v <- sprintf(if (name == "tiny") "%.17g" else "%.4f", x[, j])
    v <- ifelse(is.finite(x[, j]), if (name == "tiny") v else sub("\\.?0+$", "", v), ifelse(is.nan(x[, j]), "NaN", "+Inf"))
    writeLines(paste(c(name, v), collapse = ","), chains)
  }
  r <- list(
    rhat = quiet(rhat(x)), rhat_basic = quiet(rhat_basic(x)), ess_bulk = quiet(ess_bulk(x)), ess_tail = quiet(ess_tail(x)),
    ess_mean = quiet(ess_mean(x)), ess_sd = quiet(ess_sd(x)),
    ess_q10 = quiet(ess_quantile(x, 0.1)), ess_q50 = quiet(ess_quantile(x, 0.5)), ess_q100 = quiet(ess_quantile(x, 1)),
    mcse_mean = quiet(mcse_mean(x)), mcse_sd = quiet(mcse_sd(x)), mcse_q5 = quiet(mcse_quantile(x, 0.05)), mcse_q50 = quiet(mcse_quantile(x, 0.5)),
    mean = quiet(mean(x)), sd = quiet(posterior::sd(as.vector(x))), median = quiet(median(x)), mad = quiet(posterior::mad(as.vector(x))),
    q5 = quiet(quantile2(as.vector(x), 0.05)), q95 = quiet(quantile2(as.vector(x), 0.95)),
    geweke = quiet(geweke.diag(mcmc(x[, 1]))$z))
  if (first) writeLines(paste(c("case", names(r)), collapse = ","), out)
  first <- FALSE
  writeLines(paste(c(name, sapply(r, number)), collapse = ","), out)
}
close(chains); close(out)
cat(R.version.string, "posterior", as.character(packageVersion("posterior")), "coda", as.character(packageVersion("coda")), "\n")
