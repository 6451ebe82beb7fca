"""Writes agreement.json: agreement indices by scikit-learn, assignments by scipy."""
import json
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

rng = np.random.default_rng(20260101)
cases = []


def labels(name, a, b):
    cases.append(dict(name=name, a=[int(v) for v in a], b=[int(v) for v in b],
                      ari=adjusted_rand_score(a, b),
                      nmi=normalized_mutual_info_score(a, b, average_method="arithmetic")))


labels("equal", [0, 0, 1, 1, 2], [0, 0, 1, 1, 2])
labels("renamed", [0, 0, 1, 1, 2], [7, 7, 3, 3, 5])
labels("noise label", [-1, -1, 0, 0, 1, 1], [0, -1, 0, 0, 1, -1])
labels("one group against singles", [0, 0, 0, 0], [0, 1, 2, 3])
labels("one group twice", [0, 0, 0], [4, 4, 4])
labels("singles twice", [0, 1, 2], [5, 3, 1])
labels("one row", [0], [3])
labels("crossed", [0, 0, 1, 1], [0, 1, 0, 1])
labels("none", [], [])
labels("unrelated", rng.integers(4, size=60), rng.integers(3, size=60))
a = rng.integers(5, size=80)
labels("related", a, np.where(rng.random(80) < 0.8, (a + 2) % 5, rng.integers(5, size=80)))
for shape in (12, 12), (7, 15), (15, 7), (40, 40):
    cost = np.round(rng.random(shape), 4)
    r, c = linear_sum_assignment(cost)
    cases.append(dict(name="cost %d by %d" % shape, cost=cost.tolist(), assignmentCost=float(cost[r, c].sum())))
with open("agreement.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
