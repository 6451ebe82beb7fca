"""Kernels against numpy and scipy on the same machine, in turn, and the ratios.

    python -m venv v && v/bin/pip install numpy==2.4.6 scipy==1.17.1
    v/bin/python bench/peers_kernels.py [rounds]

Each round times one case here and in Go, one after the other; a case's figure is the best
of its rounds, so that what else runs on the machine counts as little as possible. Both
sides may use THREADS processors.
"""

import os
import re
import subprocess
import sys
import tempfile
import time

THREADS = "2"
os.environ["OPENBLAS_NUM_THREADS"] = THREADS  # before numpy is imported

import numpy as np
import scipy.linalg

rng = np.random.default_rng(1)


def square(n, dtype=np.float64):
    return rng.standard_normal((n, n)).astype(dtype)


def covariance(n):
    a = square(n)
    return a.T @ a / n + np.eye(n)


def gemm(m, n, k, dtype=np.float64):
    a = rng.standard_normal((m, k)).astype(dtype)
    b = rng.standard_normal((k, n)).astype(dtype)
    c = np.empty((m, n), dtype)
    return lambda: np.dot(a, b, out=c)


def gram(n, d, centred=False):
    x = rng.standard_normal((n, d))
    if not centred:
        return lambda: x.T @ x
    mean, w = rng.standard_normal(d), rng.standard_normal(n)

    def f():
        y = x - mean
        return (y * w[:, None]).T @ y

    return f


def trsm(m, n):
    a = np.tril(square(m)) / m + 2 * np.eye(m)
    b = rng.standard_normal((m, n))
    return lambda: scipy.linalg.solve_triangular(a, b, lower=True, check_finite=False)


def cholesky(n):
    a = covariance(n)
    return lambda: np.linalg.cholesky(a)


def eigen(n):
    a = covariance(n)
    return lambda: np.linalg.eigh(a)


# Go benchmark, flops, the same with numpy.
CASES = [(f"Gemm/float64/{n}", 2 * n**3, lambda n=n: gemm(n, n, n)) for n in (64, 512, 1024, 2048)]
CASES += [(f"Gemm/float32/{n}", 2 * n**3, lambda n=n: gemm(n, n, n, np.float32)) for n in (512, 1024, 2048)]
CASES += [
    ("Gemm/float64/skinny", 2 * 100_000 * 64 * 16, lambda: gemm(100_000, 16, 64)),
    ("Gram/plain/50000x256", 50_000 * 256**2, lambda: gram(50_000, 256)),
    ("Gram/plain/100000x16", 100_000 * 16**2, lambda: gram(100_000, 16)),
    ("Gram/centred-weighted/50000x256", 50_000 * 256**2, lambda: gram(50_000, 256, True)),
    ("Gram/centred-weighted/100000x16", 100_000 * 16**2, lambda: gram(100_000, 16, True)),
    ("Trsm/1000x1000", 1000**3, lambda: trsm(1000, 1000)),
    ("Cholesky/2000", 2000**3 / 3, lambda: cholesky(2000)),
    ("Eigen/all/100", 4 * 100**3 / 3, lambda: eigen(100)),
    ("Eigen/all/600", 4 * 600**3 / 3, lambda: eigen(600)),
]
# gonum, against ours.
GONUM = {
    "Gonum/Gemm/512": "Gemm/float64/512",
    "Gonum/Gemm/1024": "Gemm/float64/1024",
    "Gonum/Gemm/2048": "Gemm/float64/2048",
    "Gonum/Eigen/600": "Eigen/all/600",
}


def time_python(f, seconds=0.25):
    """Seconds per call: the mean over as many calls as fit, as Go's benchmarks count."""
    calls, start = 0, time.perf_counter()
    while calls == 0 or time.perf_counter() - start < seconds:
        f()
        calls += 1
    return (time.perf_counter() - start) / calls


def time_go(binary, name, seconds=0.25):
    pattern = "/".join(f"^{part}$" for part in ("Benchmark" + name).split("/"))
    out = subprocess.run(
        [binary, "-test.run", "^$", "-test.bench", pattern, "-test.benchtime", f"{seconds}s"],
        capture_output=True, text=True, check=True, env={**os.environ, "GOMAXPROCS": THREADS},
    ).stdout
    return float(re.search(r"\s([\d.]+) ns/op", out).group(1)) / 1e9


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    with tempfile.TemporaryDirectory() as tmp:
        binary = os.path.join(tmp, "kernels.test")
        subprocess.run(["go", "test", "-c", "-o", binary, "./lvm/internal/kernels"], check=True)
        ours = {}
        print("| case | numpy GFLOP/s | ours | ours / numpy |\n|---|---|---|---|")
        for name, flops, make in CASES:
            f = make()
            f()  # its threads and pages
            theirs, mine = [], []
            for _ in range(rounds):
                theirs.append(time_python(f))
                mine.append(time_go(binary, name))
            ours[name] = min(mine)
            print(f"| {name} | {flops / min(theirs) / 1e9:.1f} | {flops / min(mine) / 1e9:.1f} | {min(theirs) / min(mine):.2f} |", flush=True)
        print("\n| case | ours / gonum |\n|---|---|")
        for name, same in GONUM.items():
            theirs, mine = [], [ours[same]]
            for _ in range(max(2, rounds // 2)):
                theirs.append(time_go(binary, name))
                mine.append(time_go(binary, same))
            print(f"| {name} | {min(theirs) / min(mine):.1f} |", flush=True)
        for n in (512, 1024, 2048):
            print(f"\nSGEMM over DGEMM, n = {n}: {ours[f'Gemm/float64/{n}'] / ours[f'Gemm/float32/{n}']:.2f}")


main()
