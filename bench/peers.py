"""The Python side of `go run ./bench`.

Reads one JSON object per line and answers each with one. {"arrays": …, "params": …}
loads the inputs of a task; {"run": name} calls the function of that name with
them and answers how long it took and what objective it returned. Only the call
is timed.
"""
import json
import math
import platform
import sys
import time
import warnings

try:
    import numpy as np
    import sklearn
    from sklearn.cluster import KMeans
    from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
except ImportError as e:
    print(json.dumps({"Error": f"{e} in {sys.executable}; try: {sys.executable} -m pip install -r bench/requirements.txt"}))
    sys.exit()

warnings.filterwarnings("ignore")  # that a fit has not converged is the point


def kmeans(a, p):
    m = KMeans(len(a["start"]), init=a["start"], n_init=1, max_iter=int(p["iterations"]), tol=0, algorithm="lloyd")
    return m.fit(a["x"]).inertia_


def gmm(a, p):
    x, start = a["x"], a["start"]
    k, d = start.shape
    shape = ["full", "tied", "diag", "spherical"][int(p["shape"])]
    precisions = {"full": np.stack([np.eye(d)] * k), "tied": np.eye(d), "diag": np.ones((k, d)), "spherical": np.ones(k)}
    m = GaussianMixture(k, covariance_type=shape, tol=0, reg_covar=0, max_iter=int(p["iterations"]), init_params="random_from_data",
                        weights_init=np.full(k, 1 / k), means_init=start, precisions_init=precisions[shape])
    return m.fit(x).lower_bound_ * len(x)


class Labelled(BayesianGaussianMixture):
    """A variational mixture that starts from labels."""

    def _initialize_parameters(self, x, random_state, xp=None):
        self._initialize(x, np.eye(self.n_components)[self.labels])


def vb(a, p):
    k = int(p["k"])
    m = Labelled(n_components=k, covariance_type="full", tol=0, reg_covar=0, max_iter=int(p["iterations"]),
                 weight_concentration_prior_type="dirichlet_distribution", weight_concentration_prior=p["alpha"] / k,
                 mean_prior=a["mean"][0], mean_precision_prior=p["kappa"],
                 degrees_of_freedom_prior=p["nu"], covariance_prior=a["scale"])
    m.labels = a["labels"][:, 0].astype(int)
    m.fit(a["x"])
    return m.weight_concentration_ @ (m.means_ ** 2).sum(1)


class Cluster:
    """Sufficient statistics of the rows of one cluster, and what follows from them."""

    def __init__(self, prior):
        self.prior, self.n = prior, 0
        self.sum, self.square = np.zeros(prior.d), np.zeros((prior.d, prior.d))
        self.refresh()

    def change(self, x, sign):
        self.n += sign
        self.sum = self.sum + sign * x
        self.square = self.square + sign * np.outer(x, x)
        self.refresh()

    def refresh(self):
        """Posterior, and from it the Student t density of the next row."""
        p, d = self.prior, self.prior.d
        kappa, nu = p.kappa + self.n, p.nu + self.n
        self.m = (p.kappa * p.mean + self.sum) / kappa
        psi = p.scale + self.square + p.kappa * np.outer(p.mean, p.mean) - kappa * np.outer(self.m, self.m)
        self.chol = np.linalg.cholesky(psi)
        self.log_det = 2 * np.log(np.diag(self.chol)).sum()
        self.whiten = np.linalg.inv(self.chol) * math.sqrt(kappa / (kappa + 1))
        self.power = (nu + 1) / 2
        self.base = (math.lgamma((nu + 1) / 2) - math.lgamma((nu + 1 - d) / 2)
                     + d / 2 * math.log(kappa / (kappa + 1) / math.pi) - self.log_det / 2)

    def marginal(self):
        p, d = self.prior, self.prior.d
        nu = p.nu + self.n
        gammas = sum(math.lgamma((nu - j) / 2) - math.lgamma((p.nu - j) / 2) for j in range(d))
        return (gammas - self.n * d / 2 * math.log(math.pi) + p.nu / 2 * p.log_det - nu / 2 * self.log_det
                + d / 2 * math.log(p.kappa / (p.kappa + self.n)))


class Prior:
    def __init__(self, a, p):
        self.mean, self.scale, self.d = a["mean"][0], a["scale"], a["x"].shape[1]
        self.kappa, self.nu = p["kappa"], p["nu"]
        self.log_det = np.linalg.slogdet(self.scale)[1]


def dp(a, p):
    """Neal's Algorithm 3. The clusters in use come first, an empty one is last."""
    x, z, alpha, prior = a["x"], a["labels"][:, 0].astype(int), p["alpha"], Prior(a, p)
    rng, n = np.random.default_rng(1), len(x)
    clusters = []
    for k in range(z.max() + 1):
        rows, c = x[z == k], Cluster(prior)
        c.n, c.sum, c.square = len(rows), rows.sum(0), rows.T @ rows
        c.refresh()
        clusters.append(c)
    clusters.append(Cluster(prior))

    def stack():
        return [np.array([getattr(c, f) for c in clusters]) for f in ("m", "whiten", "power", "base")] + [
            np.log([c.n or alpha for c in clusters])]

    def put(tables, k):
        c = clusters[k]
        for table, v in zip(tables, (c.m, c.whiten, c.power, c.base, math.log(c.n or alpha))):
            table[k] = v

    tables = stack()
    total = 0.0
    for _ in range(int(p["sweeps"])):
        for i, row in enumerate(x):
            own = clusters[z[i]]
            own.change(row, -1)
            if own.n == 0:
                del clusters[z[i]]
                z[z > z[i]] -= 1
                tables = stack()
            else:
                put(tables, z[i])
            m, whiten, power, base, log_size = tables
            y = (whiten @ (row - m)[:, :, None])[:, :, 0]
            logp = log_size + base - power * np.log1p((y * y).sum(1))
            q = np.exp(logp - logp.max()).cumsum()
            k = int(np.searchsorted(q, rng.random() * q[-1]))
            clusters[k].change(row, +1)
            z[i] = k
            if k == len(clusters) - 1:
                clusters.append(Cluster(prior))
                tables = stack()
            else:
                put(tables, k)
        sizes = [c.n for c in clusters[:-1]]
        total += sum(c.marginal() for c in clusters[:-1]) + len(sizes) * math.log(alpha) + sum(map(math.lgamma, sizes)) + (
            math.lgamma(alpha) - math.lgamma(alpha + n))
    return total / p["sweeps"]


def load(request):
    arrays = {}
    for name, f in request["arrays"].items():
        arrays[name] = np.fromfile(f["Path"], "<f8").reshape(f["Rows"], f["Cols"])
    return arrays, request["params"]


def main():
    print(json.dumps({"Versions": f"Python {platform.python_version()}, scikit-learn {sklearn.__version__}, numpy {np.__version__}"}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        answer = {}
        try:
            if "run" in request:
                start = time.perf_counter()
                objective = globals()[request["run"]](arrays, params)
                answer = {"Seconds": time.perf_counter() - start, "Objective": float(objective)}
            else:
                arrays, params = load(request)
        except Exception as e:
            answer = {"Error": f"{type(e).__name__}: {e}"}
        print(json.dumps(answer), flush=True)


main()
