"""Learns to swing a weak pendulum up and to hold it there, with numpy alone, in a minute on two cores.

    halyard serve clients/python/examples/swingup.yaml
    python3 clients/python/examples/swingup.py

A policy of 41 numbers is searched by the cross-entropy method: 128 are tried at a time, each from two starts, and the best ten
say where to look next. It prints a line a generation, and in the end how well the chosen policy does from starts it has not met.
"""

import argparse
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import numpy as np

from halyard import VectorEnv

POLICIES, STARTS, STEPS, HIDDEN, TORQUE = 128, 2, 250, 8, 0.5
COPIES = POLICIES * STARTS
SIZE = 3 * HIDDEN + HIDDEN + HIDDEN + 1


def act(policies, seen):
    """The torque of each copy by its own policy: a layer of tanh over sine, cosine and speed."""
    angle, speed = seen[:, 0], seen[:, 1]
    x = np.stack([np.sin(angle), np.cos(angle), speed / 8], 1)
    w, b = policies[:, : 3 * HIDDEN].reshape(-1, 3, HIDDEN), policies[:, 3 * HIDDEN : 4 * HIDDEN]
    v, c = policies[:, 4 * HIDDEN : 5 * HIDDEN], policies[:, 5 * HIDDEN]
    h = np.tanh(np.einsum("ni,nij->nj", x, w) + b)
    return TORQUE * np.tanh(np.einsum("nj,nj->n", h, v) + c)


def upright(seen, actions):
    """1 upright and at rest, -1 hanging."""
    reward = -np.cos(seen[:, 0]) - 0.01 * seen[:, 1] ** 2 - 0.1 * actions[:, 0] ** 2
    return reward, np.zeros(len(seen), bool)


def play(env, policies, seed):
    """What each policy earns a step, over an episode, and how upright each copy was in its last second."""
    seen, _ = env.reset(seed=seed)
    earned, end = np.zeros(len(policies)), np.zeros(len(policies))
    for n in range(STEPS):
        seen, reward, _, _, _ = env.step(act(policies, seen)[:, None])
        earned += reward
        if n >= STEPS - 50:
            end -= np.cos(seen[:, 0]) / 50
    return earned / STEPS, end


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--address", default="127.0.0.1:45460")
    p.add_argument("--generations", type=int, default=60)
    p.add_argument("--seed", type=int, default=1)
    o = p.parse_args()
    env = VectorEnv(o.address, COPIES, reward=upright, actions=["swing/torque"], observations=["swing/position", "swing/velocity"])
    random = np.random.default_rng(o.seed)
    mean, spread = np.zeros(SIZE), np.full(SIZE, 2.0)
    began = time.time()
    for generation in range(o.generations):
        policies = mean + spread * random.standard_normal((POLICIES, SIZE))
        earned, end = play(env, np.repeat(policies, STARTS, 0), 1 + generation * COPIES)
        earned = earned.reshape(POLICIES, STARTS).mean(1)
        best = policies[np.argsort(-earned)[:10]]
        mean, spread = best.mean(0), best.std(0) + 0.6 * 0.94**generation
        print(f"{generation:3d}  best {earned.max():6.3f}  mean {earned.mean():6.3f}  upright {end.max():6.3f}  {time.time() - began:5.1f} s", flush=True)
    # The best of the last generation, each from 32 starts; then the best of those from starts that none has met.
    tried = np.concatenate([mean[None], best])[: COPIES // 32]
    earned, _ = play(env, np.repeat(tried, COPIES // len(tried), 0), 1_000_000)
    chosen = tried[np.argmax(earned.reshape(len(tried), -1).mean(1))]
    earned, end = play(env, np.tile(chosen, (COPIES, 1)), 2_000_000)
    rate = COPIES * STEPS * (generation + 3) / (time.time() - began)
    print(f"the chosen policy from {COPIES} new starts: upright {end.mean():.3f} in the last second, {(end > 0.95).mean():.0%} of them over 0.95; {rate:.0f} steps/s")
    env.close()
    return 0 if end.mean() > 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
