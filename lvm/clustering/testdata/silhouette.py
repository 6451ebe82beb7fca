# Silhouettes of k-means-like labels: python silhouette.py > silhouette.json
# The distances come from scipy, by subtraction: scikit-learn's own, by x² − 2xy + y², keep fewer digits.
import json, sys
import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import silhouette_samples

rows = lambda path, cols: np.loadtxt(path, delimiter=",", skiprows=1, usecols=cols)
data = "../../../datasets/data/"
out = {}
for name, x in {"faithful": rows(data + "faithful.csv", (0, 1)), "iris": rows(data + "iris.csv", (0, 1, 2, 3))}.items():
    for k in (2, 3, 7):
        z = np.floor(x[:, 0] * 10).astype(int) * 7 % k
        if k == 7:
            z[5] = 99 # a row alone
        out[f"{name} {k}"] = {"labels": z.tolist(), "samples": silhouette_samples(cdist(x, x), z, metric="precomputed").tolist()}
json.dump(out, sys.stdout)
