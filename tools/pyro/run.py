"""Runs a robot with a wandering brain and without Pyrobot: python run.py [--port 3000] [--seconds 20] [--world FILE]."""

import argparse
import os
import sys
import time

try:
    from configparser import ConfigParser
except ImportError:  # Python 2
    from ConfigParser import ConfigParser

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, 'robots', 'USARBot'))
sys.path.insert(0, os.path.join(HERE, 'robots', 'driver'))


def wander(robot, seconds):
    """Drives about without touching; returns the steps, the way and the nearest range, m."""
    steps, way, nearest = 0, 0.0, float('inf')
    x, y = robot.x, robot.y
    turning = 0.4
    end = time.time() + seconds
    while time.time() < end:
        robot.update()
        front, left, right = [min(v.distance('M') for v in robot.range[g]) for g in ('front', 'front-left', 'front-right')]
        nearest = min([nearest] + [v.distance('M') for v in robot.range['all']])
        if front < 0.5 or min(left, right) < 0.25:
            robot.move(0, turning)
        else:
            turning = 0.4 if left > right else -0.4
            robot.move(0.5 * min(1.0, front), max(-0.2, min(0.2, 0.3 * (left - right))))
        way += ((robot.x - x) ** 2 + (robot.y - y) ** 2) ** 0.5
        x, y, steps = robot.x, robot.y, steps + 1
        time.sleep(0.05)
    return steps, way, nearest


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--robot', default='P2AT')
    parser.add_argument('--world', default=os.path.join(HERE, 'worlds', 'USARSim.py', 'yellow.ini'))
    parser.add_argument('--port', type=int)
    parser.add_argument('--seconds', type=float, default=20.0)
    args = parser.parse_args()
    world = ConfigParser()
    if not world.read(args.world):
        parser.error('world %s: not found' % args.world)
    location = [float(v) for v in world.get('Server', 'Location').split(',')]
    port = args.port or world.getint('Server', 'Port')
    robot = __import__(args.robot).INIT(host=world.get('Server', 'IP'), port=port, location=location)
    try:
        steps, way, nearest = wander(robot, args.seconds)
    finally:
        robot.disconnect()
    print('steps %d way %.2f m nearest %.2f m sonars %d rays %d' %
          (steps, way, nearest, len(robot.sonar[0]), len(robot.laser[0]) if robot.laser else 0))


if __name__ == '__main__':
    main()
