# BIC of Gaussian mixtures over K and shape, by mclust: Rscript choose.R
# R 4.2.2 and mclust 6.0.0 (Debian 12: r-base-core, r-cran-mclust).
suppressMessages(library(mclust))
tight <- emControl(tol = c(1e-12, 1e-12), itmax = c(1e5, 1e5))
shapes <- c("VVV", "EEE", "VVI", "VII") # full, tied, diagonal, spherical
for (name in c("faithful", "iris")) {
  x <- if (name == "faithful") faithful else iris[, 1:4]
  b <- mclustBIC(x, G = 1:6, modelNames = shapes, control = tight, verbose = FALSE)
  cat(name, "−BIC\n")
  print(-round(unclass(b)[, ], 3))
}

# The likelihood-ratio test of one component against two.
set.seed(1)
b <- mclustBootstrapLRT(faithful, modelName = "VVV", nboot = 99, maxG = 1, verbose = FALSE)
cat(sprintf("faithful VVV, 1 against 2: statistic %.6f, p %.2f\n", b$obs, b$p.value))
