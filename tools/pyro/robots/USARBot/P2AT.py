"""A Pioneer P2AT of USARSim: python run.py P2AT, or the robot file of Pyrobot."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'driver'))
from utbot import UTBot


def INIT(**options):
    """Pyrobot calls it to make the robot; options are those of UTBot."""
    return UTBot(**dict({'name': 'Pyro', 'model': 'USARBot.P2AT'}, **options))
