# PageRank of a small web by a linear solve and by networkx:
#   r = delta A' r + (1 - delta)/n, pages without links linking to all.
import networkx as nx
import numpy as np

links = [[], [2], [1], [0, 1], [1, 3, 5], [1, 4], [1, 4], [1, 4], [1, 4], [4], [4]]
n = len(links)
a = np.array([[1 / len(to) if j in to else 0.0 for j in range(n)] if to else [1 / n] * n for to in links])
for delta in (0.85, 0.5, 0.99):
    r = np.linalg.solve(np.eye(n) - delta * a.T, np.full(n, (1 - delta) / n))
    g = nx.DiGraph()
    g.add_nodes_from(range(n))
    g.add_edges_from((i, j) for i, to in enumerate(links) for j in to)
    x = nx.pagerank(g, alpha=delta, tol=1e-15, max_iter=100000)
    assert max(abs(r - [x[i] for i in range(n)])) < 1e-10
    print(delta, ", ".join("%.15g" % v for v in r))
v = np.arange(1, n + 1) / (n * (n + 1) / 2)
a = np.array([[1 / len(to) if j in to else 0.0 for j in range(n)] if to else v for to in links])
print("teleport", ", ".join("%.15g" % x for x in np.linalg.solve(np.eye(n) - 0.85 * a.T, 0.15 * v)))
