"""Halyard's client for learning: many copies of a robot, stepped at once, and the robot itself through the same interface.

    from halyard import VectorEnv
    env = VectorEnv("127.0.0.1:45460", num_envs=64, reward=my_reward)

Needs numpy alone. Where Gymnasium is installed, VectorEnv is one of its vector environments.
"""

from .client import Client, Refused
from .env import Box, VectorEnv

__all__ = ["Box", "Client", "Refused", "VectorEnv"]
