"""What the client must do, against a running "halyard serve pendulum --listen batch=ADDRESS": python3 test_client.py ADDRESS"""

import sys

import numpy as np

from halyard import Client, Refused, VectorEnv


def refused(f):
    try:
        f()
    except Refused as e:
        return e
    raise AssertionError("want a refusal")


address = sys.argv[1]

# Seeds: the same twice, others elsewhere; single copies are reset.
with Client(address, 3, seed=5) as c:
    assert c.period == 0.01 and c.actions[0].name == "joint/position" and c.actions[0].unit == "rad", c.actions
    start = c.reset()
    run = [c.step(np.full((3, 1), 0.2)) for _ in range(20)]
    assert np.array_equal(c.reset(), start) and len(set(start[:, 0])) == 3, start
    assert all(np.array_equal(c.step(np.full((3, 1), 0.2)), r) for r in run)
    again = c.reset([True, False, False], [6, 0, 0])
    assert again[0, 0] == start[1, 0] and np.array_equal(again[1:], run[-1][1:]), (again, start)
    assert "Client" not in str(c.observations)
assert "want one of joint/position" in str(refused(lambda: Client(address, 1, actions=["elbow"])))
assert "want 1..4096" in str(refused(lambda: Client(address, 0)))

# The vector environment: spaces, episodes, resets in the next step.
over = lambda seen, actions: (seen[:, 0], seen[:, 0] > 0.15)
env = VectorEnv(address, 4, reward=over, max_episode_steps=30, observations=["joint/position", "joint/velocity"])
assert env.single_observation_space.shape == (2,) and env.action_space.shape == (4, 1) and env.action_space.contains(np.zeros((4, 1)))
seen, info = env.reset(seed=11)
assert seen.shape == (4, 2) and info == {}
steps = np.zeros(4, int)
ended = np.zeros(4, bool)
goal = np.array([[1.0], [1.0], [-1.0], [-1.0]])
for _ in range(60):
    seen, rewards, terminated, truncated, _ = env.step(goal)
    assert np.all(rewards[ended] == 0), "the step after an end resets"
    steps = np.where(ended, 0, steps + 1)
    ended = terminated | truncated
    assert not terminated[2:].any() and np.array_equal(truncated[2:], steps[2:] == 30), (truncated, steps)
    assert np.all(seen[terminated, 0] > 0.15)
first, _ = env.reset(seed=11)
assert np.array_equal(first, env.reset(seed=11)[0])
env.close()

# What is not known is NaN, or what the caller chooses, and never 0 by itself.
env = VectorEnv(address, 2)
assert np.isnan(env._known(np.array([np.nan, 1.0]))[0]) and VectorEnv(address, 1, unknown=-7)._known(np.array([np.nan]))[0] == -7
env.close()
print("all good")
