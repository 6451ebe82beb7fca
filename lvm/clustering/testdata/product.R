# Mixtures of Bernoulli and of Poisson distributions at convergence, by flexmix: Rscript product.R
# R 4.2.2 and flexmix 2.3-18 (Debian 12: r-base-core, r-cran-flexmix).
suppressMessages(library(flexmix))
tight <- list(tolerance = 1e-15, iter.max = 1e5, minprior = 0)
report <- function(name, x, driver, labels, k) {
  m <- flexmix(x ~ 1, k = k, cluster = labels, model = driver, control = tight)
  cat(sprintf("%s: ln p %.9f  ν %d  BIC %.6f  AIC %.6f\n", name, m@logLik, m@df, BIC(m), AIC(m)))
  print(prior(m), digits = 10)
  print(t(parameters(m)), digits = 10)
}
d <- as.matrix(read.csv(gzfile("../../../datasets/data/digits8x8.csv.gz"), header = FALSE))
inner <- as.vector(outer(2:5, 8 * (2:5), "+")) + 1 # columns 2 to 5 of rows 2 to 5, from 0
report("digits", (d[1:600, inner] > 7) + 0, FLXMCmvbinary(), d[1:600, 65] %% 3 + 1, 3)
report("iris in mm", as.matrix(round(10 * iris[, 1:4])), FLXMCmvpois(), as.integer(iris$Species), 3)
