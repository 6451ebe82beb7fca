"""Prints the numbers of TestKMeansReference: python kmeans.py ../../../datasets/data/iris.csv"""
import sys

import numpy as np
from sklearn.cluster import KMeans

x = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1, usecols=range(4))
best = KMeans(3, n_init=100, tol=0, max_iter=1000, random_state=0).fit(x)
print("inertia", repr(best.inertia_), "sizes", np.bincount(best.labels_))
for steps in 1, 2, 5:
    m = KMeans(3, init=x[:3], n_init=1, tol=0, max_iter=steps, algorithm="lloyd").fit(x)
    print(steps, "steps from rows 0, 1, 2:", repr(m.inertia_), m.cluster_centers_.tolist())
