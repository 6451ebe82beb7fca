"""The Python side of `go run ./bench/sampling`.

Reads one JSON object per line, {"Name": …, "Seed": …, "N": …}, runs the function
of that name and answers with one: the seconds that its work took, what it took to
compile and warm up before, and the file with its draws. Compiling and warming up
are not part of the work.
"""
import json
import os
import platform
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")

try:
    import arviz
    import blackjax
    import jax
    import jax.numpy as jnp
    import numpy as np
    import numpyro
    from numpyro.infer import NUTS
except ImportError as e:
    print(json.dumps({"Error": f"{e} in {sys.executable}; try: {sys.executable} -m pip install -r bench/sampling/requirements.txt"}))
    sys.exit()

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")
folder = sys.argv[1]


def timed(f, *args):
    start = time.perf_counter()
    r = jax.block_until_ready(f(*args))
    return r, time.perf_counter() - start


# Random-walk Metropolis on a Gaussian in two dimensions, as one writes it with numpy.
P = np.linalg.inv([[1, 0.8], [0.8, 1]])
SCALE = 1.2


def walk_plain(seed, n):
    def logp(x):
        return -0.5 * x @ P @ x

    rng = np.random.default_rng(seed)

    def run():
        x, draws = np.zeros(2), np.empty((n, 2))
        lx = logp(x)
        for i in range(n):
            y = x + SCALE * rng.standard_normal(2)
            ly = logp(y)
            if np.log(rng.random()) < ly - lx:
                x, lx = y, ly
            draws[i] = x
        return draws

    draws, t = timed(run)
    return draws, t, 0


# The same by someone who knows what is slow: noise drawn in blocks, scalars in the loop.
def walk_tuned(seed, n):
    a, b, c = float(P[0, 0]), float(P[0, 1]), float(P[1, 1])
    rng = np.random.default_rng(seed)

    def run():
        steps = (SCALE * rng.standard_normal((n, 2))).tolist()
        logs = np.log(rng.random(n)).tolist()
        x0 = x1 = lx = 0.0
        draws = []
        for (e0, e1), u in zip(steps, logs):
            y0, y1 = x0 + e0, x1 + e1
            ly = -0.5 * (a * y0 * y0 + 2 * b * y0 * y1 + c * y1 * y1)
            if u < ly - lx:
                x0, x1, lx = y0, y1, ly
            draws.append((x0, x1))
        return np.array(draws)

    draws, t = timed(run)
    return draws, t, 0


# Targets of the No-U-Turn sampler: the log density and its dimension.
Y = jnp.array([28.0, 8, -3, 7, -1, 1, 18, 12])
SIGMA = jnp.array([15.0, 10, 16, 11, 9, 11, 10, 18])


def schools(x):  # (μ, log τ, η), θ = μ + τη
    mu, tau, eta = x[0], jnp.exp(x[1]), x[2:]
    prior = -(mu**2) / 50 + x[1] - jnp.log1p(tau**2 / 25) - 0.5 * jnp.sum(eta**2)
    return prior - 0.5 * jnp.sum(((Y - mu - tau * eta) / SIGMA) ** 2)


D, RHO = 100, 0.9
Q = jnp.linalg.inv(RHO ** jnp.abs(jnp.subtract.outer(jnp.arange(D), jnp.arange(D))))


def full(x):  # by the precision as a full matrix
    return -0.5 * x @ (Q @ x)


def banded(x):  # by its three diagonals
    r = x[1:] - RHO * x[:-1]
    return -0.5 * (x[0] ** 2 + jnp.sum(r * r) / (1 - RHO**2))


TARGETS = {"schools": (schools, 10), "full": (full, D), "banded": (banded, D)}
compiled = {}  # what jit made of each target and metric, for the later turns


def blackjax_nuts(seed, n, target, dense):
    logp, d = TARGETS[target]
    first = ("b", target, dense) not in compiled
    if first:
        adaptation = blackjax.window_adaptation(blackjax.nuts, logp, is_mass_matrix_diagonal=not dense, target_acceptance_rate=0.8)
        step = blackjax.nuts.build_kernel()

        def draw(state, parameters, key):
            def body(s, k):
                s, info = step(k, s, logp, **parameters)
                return s, (s.position, info.num_integration_steps)

            return jax.lax.scan(body, state, jax.random.split(key, n))[1]

        compiled["b", target, dense] = jax.jit(lambda key: adaptation.run(key, jnp.zeros(d), num_steps=1000)[0]), jax.jit(draw)
    adapt, draw = compiled["b", target, dense]
    keys = jax.random.split(jax.random.PRNGKey(seed), 2)

    def warm():
        state, parameters = adapt(keys[0])
        parameters = {k: jnp.asarray(parameters[k]) for k in ("step_size", "inverse_mass_matrix")}
        if first:
            jax.block_until_ready(draw(state, parameters, keys[0]))
        return state, parameters

    (state, parameters), before = timed(warm)
    (draws, steps), t = timed(draw, state, parameters, keys[1])
    return draws, t, before, steps.sum()


# MCMC.run compiles its loop anew at each call, so the loop here is our own.
def numpyro_nuts(seed, n, target, dense):
    logp, d = TARGETS[target]
    first = ("n", target, dense) not in compiled
    if first:
        kernel = NUTS(potential_fn=lambda x: -logp(x), dense_mass=bool(dense), target_accept_prob=0.8)

        def start(key):
            return kernel.init(key, 1000, jnp.zeros(d), (), {})

        start(jax.random.PRNGKey(0))  # sets the kernel up

        def steps(state, count):
            def body(s, _):
                s = kernel.sample(s, (), {})
                return s, (s.z, s.num_steps)

            return jax.lax.scan(body, state, length=count)

        compiled["n", target, dense] = jax.jit(lambda key: steps(start(key), 1000)[0]), jax.jit(lambda state: steps(state, n)[1])
    adapt, draw = compiled["n", target, dense]

    def warm():
        state = adapt(jax.random.PRNGKey(seed))
        if first:
            jax.block_until_ready(draw(state))
        return state

    state, before = timed(warm)
    (draws, steps), t = timed(draw, state)
    return draws, t, before, steps.sum()


def choice(seed, n, k):
    rng = np.random.default_rng(seed)
    p = 1 / np.arange(1, k + 1)
    p /= p.sum()
    draws, t = timed(lambda: rng.choice(k, n, p=p))
    return draws[:, None], t, 0


# Diagnostics of the draws in a file: chains × draws × quantities.
def summary(seed, n, shape, kind):
    x = np.fromfile(os.path.join(folder, "chains.f64"), "<f8").reshape(shape)
    data = arviz.from_dict({"x": x})
    table, t = timed(lambda: arviz.summary(data, kind=kind, round_to="none"))
    return table[["ess_bulk", "ess_tail", "r_hat"]].to_numpy(), t, 0


def main():
    versions = [f"Python {platform.python_version()}"] + [f"{m.__name__} {m.__version__}" for m in (np, jax, blackjax, numpyro, arviz)]
    print(json.dumps({"Versions": ", ".join(versions)}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            draws, t, before, *steps = globals()[request["Name"]](request["Seed"], request["N"], **(request["Args"] or {}))
            draws = np.ascontiguousarray(draws, "<f8")
            with tempfile.NamedTemporaryFile(dir=folder, suffix=".f64", delete=False) as f:
                draws.tofile(f)
            answer = {"Seconds": t, "Before": before, "Path": f.name, "Cols": draws.shape[1], "Gradients": int(steps[0]) if steps else 0}
        except Exception as e:
            answer = {"Error": f"{type(e).__name__}: {e}"}
        print(json.dumps(answer), flush=True)


main()
