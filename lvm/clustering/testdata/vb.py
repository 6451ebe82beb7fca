"""Writes vb.json: variational posteriors after a given number of steps, by scikit-learn.

python -m venv venv && venv/bin/pip install numpy==2.4.6 scikit-learn==1.9.1
venv/bin/python vb.py ../../../datasets/data/iris.csv > vb.json
"""
import csv, json, sys, warnings
import numpy as np
from sklearn.mixture import BayesianGaussianMixture

warnings.simplefilter("ignore")  # every run stops at max_iter on purpose
with open(sys.argv[1]) as f:
    X = np.array([[float(v) for v in row[:4]] for row in list(csv.reader(f))[1:]])
k, d = 3, X.shape[1]


class FromLabels(BayesianGaussianMixture):
    """Starts with row i in component i mod 3."""

    def _initialize_parameters(self, X, random_state, xp=None):
        self._initialize(X, np.eye(k)[np.arange(len(X)) % k])


out = []
for steps in (1, 5, 20):
    m = FromLabels(
        n_components=k, covariance_type="full", tol=0, reg_covar=0, max_iter=steps, weight_concentration_prior_type="dirichlet_distribution",
        weight_concentration_prior=0.5, mean_precision_prior=0.3, mean_prior=np.array([5.0, 3.0, 4.0, 1.0]),
        degrees_of_freedom_prior=6.5, covariance_prior=np.diag([0.5, 0.2, 2.0, 0.5]),
    ).fit(X)
    out.append({
        "steps": steps, "alpha": m.weight_concentration_.tolist(), "kappa": m.mean_precision_.tolist(), "means": m.means_.tolist(),
        "nu": m.degrees_of_freedom_.tolist(), "scales": (m.covariances_ * m.degrees_of_freedom_[:, None, None]).tolist(),
        "logZ": float(m.score(X) * len(X)),
    })
print("[" + ",\n".join(json.dumps(o) for o in out) + "]")
