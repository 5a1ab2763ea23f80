"""A window that draws the ranges of a device from above: ranges.View(robot.sonar[0]).run()."""

try:
    import tkinter as tk
except ImportError:  # Python 2
    import Tkinter as tk


class View(object):
    def __init__(self, device, size=400, update=None):
        self.device, self.size, self.update = device, size, update
        self.window = tk.Tk()
        self.window.title(device.title)
        self.canvas = tk.Canvas(self.window, width=size, height=size, background='white')
        self.canvas.pack()

    def lines(self):
        """The rays as x, y of their ends, pixels: ahead is up."""
        scale = self.size / 2.0 / self.device.maxvalueraw
        middle = self.size / 2.0
        for v in self.device:
            x, y = v.geometry[:2]
            hx, hy, _ = v.hit
            yield middle - y * scale, middle - x * scale, middle - hy * scale, middle - hx * scale

    def draw(self):
        if self.update:
            self.update()
        self.canvas.delete('all')
        for line in self.lines():
            self.canvas.create_line(*line)
        self.window.after(100, self.draw)

    def run(self):
        self.draw()
        self.window.mainloop()
