"""The Python side of `go run ./bench`.

Reads one JSON object per line and answers each with one. {"arrays": …, "params": …}
loads the inputs of a task; {"run": name} calls the function of that name with
them and answers how long it took and what objective it returned. Only the call
is timed.
"""
import json
import platform
import sys
import time
import warnings

try:
    import numpy as np
    import sklearn
    from sklearn.cluster import KMeans
    from sklearn.mixture import GaussianMixture
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
