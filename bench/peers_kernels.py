"""Kernels against numpy and scipy on the same machine, in turn, and the ratios.

    python -m venv v && v/bin/pip install numpy==2.4.6 scipy==1.17.1
    v/bin/python bench/peers_kernels.py [threads [rounds]]

Each round times one case here and then in Go, in a few samples each; a case's figure is its
best sample, so that what else runs on the machine counts as little as possible. Both sides
may use as many processors as there are threads, 2 by default; the elementwise functions
use one. The report is bench/KERNELS.md.
"""

import os
import re
import subprocess
import sys
import tempfile
import time

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 2
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
SAMPLES = 4
BEST = "avx512/float64" if "avx512f" in open("/proc/cpuinfo").read() else "avx2/float64"
os.environ["OPENBLAS_NUM_THREADS"] = str(THREADS)  # before numpy is imported

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
# Elementwise functions of a million numbers, against package math and numpy.
VECTOR = {
    "exp": np.exp,
    "log": np.log,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "softplus": lambda x: np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0),
}
MILLION = 1_000_000


def calls_per_sample(flops):
    """Calls that take some 60 ms: long enough for both processors to wake up, and short
    enough to fall between disturbances."""
    return max(1, round(60e-3 * 100e9 / flops))


def time_python(f, calls):
    start = time.perf_counter()
    for _ in range(calls):
        f()
    return (time.perf_counter() - start) / calls


def time_go(binary, name, calls, samples, threads=THREADS):
    pattern = "/".join(f"^{part}$" for part in ("Benchmark" + name).split("/"))
    out = subprocess.run(
        [binary, "-test.run", "^$", "-test.bench", pattern, "-test.benchtime", f"{calls}x", "-test.count", str(samples)],
        capture_output=True, text=True, check=True, env={**os.environ, "GOMAXPROCS": str(threads)},
    ).stdout
    return min(float(ns) for ns in re.findall(r"\s([\d.]+) ns/op", out)) / 1e9


def main():
    with tempfile.TemporaryDirectory() as tmp:
        binary = os.path.join(tmp, "kernels.test")
        subprocess.run(["go", "test", "-c", "-o", binary, "./lvm/internal/kernels"], check=True)
        ours = {}
        print("| case | numpy GFLOP/s | ours | ours / numpy |\n|---|---|---|---|")
        for name, flops, make in CASES:
            f, calls = make(), calls_per_sample(flops)
            theirs, mine = [], []
            for _ in range(ROUNDS):
                time_python(f, 1)  # wake its threads
                theirs += [time_python(f, calls) for _ in range(SAMPLES)]
                mine.append(time_go(binary, name, calls, SAMPLES))
            ours[name] = min(mine)
            print(f"| {name} | {flops / min(theirs) / 1e9:.1f} | {flops / min(mine) / 1e9:.1f} | {min(theirs) / min(mine):.2f} |", flush=True)
        print("\n| case | gonum's time / ours |\n|---|---|")
        for name, same in GONUM.items():
            theirs = min(time_go(binary, name, 1, 2) for _ in range(ROUNDS))
            print(f"| {name} | {theirs / ours[same]:.1f} |", flush=True)
        for n in (512, 1024, 2048):
            print(f"\nSGEMM over DGEMM, n = {n}: {ours[f'Gemm/float64/{n}'] / ours[f'Gemm/float32/{n}']:.2f}")
        print("\n| a million float64, one core | ns each | math's time / ours | numpy's time / ours |\n|---|---|---|---|")
        x = 10 * rng.random(MILLION)
        for name, f in VECTOR.items():
            times = []
            for _ in range(ROUNDS):
                go = [time_go(binary, f"Vector/{name}/n={MILLION}/{path}", 10, SAMPLES, threads=1) for path in (BEST, "math")]
                times.append(go + [min(time_python(lambda: f(x), 5) for _ in range(SAMPLES))])
            mine, math, numpy = np.min(times, axis=0)
            print(f"| {name} | {mine / MILLION * 1e9:.2f} | {math / mine:.1f} | {numpy / mine:.1f} |", flush=True)


main()
