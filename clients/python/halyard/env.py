"""Gymnasium's interface of vector environments over a Client."""

import numpy as np

from .client import Client

try:  # the same class with and without Gymnasium
    import gymnasium
    from gymnasium.spaces import Box
    from gymnasium.vector import VectorEnv as _Base
    from gymnasium.vector.utils import batch_space
except ImportError:
    gymnasium, _Base = None, object

    class Box:
        """As much of gymnasium.spaces.Box as a learner needs."""

        def __init__(self, low, high, dtype=np.float64, seed=None):
            self.low, self.high, self.dtype = np.asarray(low, dtype), np.asarray(high, dtype), np.dtype(dtype)
            self.shape = self.low.shape
            self._random = np.random.default_rng(seed)

        def seed(self, seed=None):
            self._random = np.random.default_rng(seed)
            return [seed]

        def sample(self):
            low, high = np.maximum(self.low, -1e6), np.minimum(self.high, 1e6)
            return self._random.uniform(low, high).astype(self.dtype)

        def contains(self, x):
            x = np.asarray(x)
            return x.shape == self.shape and bool(np.all(x >= self.low) and np.all(x <= self.high))

        def __repr__(self):
            return f"Box({self.low}, {self.high}, {self.shape}, {self.dtype})"

    def batch_space(space, n):
        return Box(np.tile(space.low, (n, 1)), np.tile(space.high, (n, 1)), space.dtype)


class VectorEnv(_Base):
    """num_envs copies of the rig that a Halyard server serves.

    reward(observations, actions) returns an array of rewards and an array of booleans: which copies have terminated. It is given
    the observations after the step. A copy that has terminated, or has taken max_episode_steps, is reset in the next step, as
    Gymnasium's mode "next step" wants it: that step's action is not used, and its reward is 0. What is not known is unknown in
    the observations: NaN, or the number that you choose for it, and never 0 by itself. itself=True steps the served rig, which may be
    real, with num_envs=1. A step whose actions no joint follows, of a disarmed or stopped rig or with a fault in every joint, raises
    Refused with the reason.
    """

    metadata = {"render_modes": [], "autoreset_mode": "next-step"}
    if gymnasium is not None and hasattr(gymnasium.vector, "AutoresetMode"):
        metadata["autoreset_mode"] = gymnasium.vector.AutoresetMode.NEXT_STEP

    def __init__(self, address, num_envs=1, reward=None, max_episode_steps=None, seed=0, actions=(), observations=(), itself=False, timeout=60.0, unknown=np.nan):
        self._client = Client(address, num_envs, seed, actions, observations, itself, timeout)
        self.num_envs, self.render_mode, self.spec, self.closed = num_envs, None, None, False
        self._reward, self._most, self._unknown = reward, max_episode_steps, unknown
        self.single_action_space = _space(self._client.actions)
        self.single_observation_space = _space(self._client.observations)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._steps = np.zeros(num_envs, np.int64)
        self._over = np.zeros(num_envs, bool)

    @property
    def period(self):
        """Seconds of a step."""
        return self._client.period

    @property
    def columns(self):
        """The names of the actions and of the observations, in their order."""
        return [c.name for c in self._client.actions], [c.name for c in self._client.observations]

    def reset(self, *, seed=None, options=None):
        """Resets all copies; copy i gets seed + i, or seed[i]. With options={"reset_mask": array} those alone."""
        which = None if not options else options.get("reset_mask")
        seeds = None
        if seed is not None:
            seeds = np.arange(seed, seed + self.num_envs) if np.isscalar(seed) else np.array([s or 0 for s in seed])
        seen = self._client.reset(which, seeds)
        mask = np.ones(self.num_envs, bool) if which is None else np.asarray(which, bool)
        self._steps[mask], self._over[mask] = 0, False
        return self._known(seen), {}

    def step(self, actions):
        actions = np.array(actions, np.float64).reshape(self.num_envs, len(self._client.actions))
        again = self._over.copy()
        actions[again] = np.nan
        seen = self._client.step(actions)
        if again.any():
            seen = self._client.reset(again, None)
        seen = self._known(seen)
        self._steps[again] = 0
        self._steps[~again] += 1
        rewards, terminated = np.zeros(self.num_envs), np.zeros(self.num_envs, bool)
        if self._reward is not None:
            rewards, terminated = self._reward(seen, np.nan_to_num(actions))
            rewards, terminated = np.where(again, 0.0, rewards), np.asarray(terminated, bool) & ~again
        truncated = np.zeros(self.num_envs, bool) if self._most is None else (self._steps >= self._most) & ~again
        self._over = terminated | truncated
        return seen, rewards, terminated, truncated, {}

    def _known(self, seen):
        return np.where(np.isnan(seen), self._unknown, seen)

    def close(self, **kwargs):
        if not self.closed:
            self._client.close()
            self.closed = True


def _space(columns):
    return Box(np.array([c.low for c in columns]), np.array([c.high for c in columns]), dtype=np.float64)
