"""Writes gmm.json: mixtures after a given number of EM steps, by scikit-learn.

python -m venv venv && venv/bin/pip install numpy==2.2.6 scikit-learn==1.7.2
venv/bin/python gmm.py ../../../datasets/data/iris.csv > gmm.json
"""
import csv, json, sys, warnings
import numpy as np
from sklearn.mixture import GaussianMixture

warnings.simplefilter("ignore")  # every run stops at max_iter on purpose
with open(sys.argv[1]) as f:
    X = np.array([[float(v) for v in row[:4]] for row in list(csv.reader(f))[1:]])
k, d = 3, X.shape[1]
weights = np.array([0.5, 0.3, 0.2])
means = X[[0, 60, 120]]
var = np.array([0.5, 0.2, 2.0, 0.5])
precisions = {
    "full": np.stack([np.diag(1 / var)] * k),
    "tied": np.diag(1 / var),
    "diag": np.stack([1 / var] * k),
    "spherical": np.full(k, 2.0),
}
out = []
for shape, name in [("full", "full"), ("tied", "tied"), ("diag", "diagonal"), ("spherical", "spherical")]:
    for steps in (1, 5, 20):
        m = GaussianMixture(
            k, covariance_type=shape, tol=0, reg_covar=0, max_iter=steps, init_params="random", random_state=0,
            weights_init=weights, means_init=means, precisions_init=precisions[shape]).fit(X)
        covs = {
            "full": lambda: m.covariances_,
            "tied": lambda: [m.covariances_] * k,
            "diag": lambda: [np.diag(v) for v in m.covariances_],
            "spherical": lambda: [v * np.eye(d) for v in m.covariances_],
        }[shape]()
        out.append({
            "shape": name, "steps": steps, "weights": m.weights_.tolist(), "means": m.means_.tolist(),
            "covs": np.array(covs).tolist(), "logLikelihood": float(m.score(X) * len(X)),
            "bic": float(m.bic(X)), "aic": float(m.aic(X)),
        })
print("[" + ",\n".join(json.dumps(o) for o in out) + "]")
