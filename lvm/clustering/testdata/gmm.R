# Mixtures at convergence, by mclust: Rscript gmm.R
# R 4.2.2 and mclust 6.0.0 (Debian 12: r-base-core, r-cran-mclust).
suppressMessages(library(mclust))
tight <- emControl(tol = c(1e-14, 1e-14), itmax = c(1e6, 1e6))
report <- function(name, x, k, shape) {
  m <- Mclust(x, G = k, modelNames = shape, control = tight, verbose = FALSE)
  # mclust's BIC and ICL have the other sign
  cat(sprintf("%s %s ln p %.6f  ν %d  BIC %.6f  ICL %.6f\n", name, shape, m$loglik, m$df, -m$bic, -icl(m)))
  m
}
f <- report("faithful", faithful, 2, "VVV")
print(f$parameters, digits = 9)
for (shape in c("VVV", "EEE", "VVI", "VII")) report("iris", iris[, 1:4], 3, shape)

# VVI stops in a local maximum. From the species it climbs to a higher one.
higher <- me(iris[, 1:4], "VVI", unmap(iris$Species), control = tight)
cat(sprintf("iris VVI from the species: ln p %.6f\n", higher$loglik))
