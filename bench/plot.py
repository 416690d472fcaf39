# SPDX-License-Identifier: Apache-2.0
"""Plots as SVG: groups of bars, and points and lines on linear or logarithmic
axes."""

import html
import math
import sys

sys.dont_write_bytecode = True

COLORS = ("#4878a8", "#e08030", "#50a060", "#a05090", "#888888", "#b03030")
WIDTH, HEIGHT = 860, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 56, 70


def number(value):
    """A label of an axis."""
    if value and not 0.001 <= abs(value) < 100000:
        exponent = math.floor(math.log10(abs(value)))
        if value == 10.0 ** exponent:
            return f"1e{exponent}"
    return f"{value:g}"


class Linear:
    """From values to 0..1, with round ticks.  It begins at 0, or at the
    least value if that is below."""

    def __init__(self, values, name):
        self.name = name
        low, high = min(0, *values), max(0, *values)
        step = nice_step((high - low) or 1)
        self.low = low
        first, last = math.ceil(low / step), max(math.ceil(high / step), 1)
        self.high = last * step
        self.ticks = [round(i * step, 10) for i in range(first, last + 1)]

    def place(self, value):
        return (value - self.low) / (self.high - self.low)


class Log:
    """The same for decades; all values are above zero."""

    def __init__(self, values, name):
        self.name = name
        self.low = math.floor(math.log10(min(values)))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)
        every = -(-(self.high - self.low) // 10)
        self.ticks = [10.0 ** e
                      for e in range(self.low, self.high + 1, every)]

    def place(self, value):
        return (math.log10(value) - self.low) / (self.high - self.low)


def nice_step(width):
    """1, 2 or 5 times a power of ten, for about six ticks."""
    step = 10.0 ** math.floor(math.log10(width / 6))
    return next(step * k for k in (1, 2, 5, 10) if width / (step * k) <= 7)


class Canvas:
    def __init__(self, title, legend):
        self.parts = []
        self.text(WIDTH / 2, 20, title, anchor="middle", size=15)
        at = LEFT
        for label, color in zip(legend, COLORS):
            self.rect(at, 31, 11, 11, color)
            self.text(at + 16, 41, label)
            at += 40 + 7 * len(label)

    def x(self, fraction):
        return LEFT + fraction * (WIDTH - LEFT - RIGHT)

    def y(self, fraction):
        return HEIGHT - BOTTOM - fraction * (HEIGHT - TOP - BOTTOM)

    def text(self, x, y, text, anchor="start", size=12, turn=0):
        turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" '
            f'text-anchor="{anchor}"{turned}>{html.escape(text)}</text>'
        )

    def rect(self, x, y, width, height, color):
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}" fill="{color}"/>'
        )

    def dot(self, x, y, color):
        self.parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{color}" '
            'fill-opacity="0.6"/>'
        )

    def line(self, x1, y1, x2, y2, color):
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'stroke="{color}"/>'
        )

    def polyline(self, points, color):
        at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(
            f'<polyline points="{at}" fill="none" stroke="{color}" '
            'stroke-width="1.6"/>'
        )

    def left_axis(self, axis):
        for tick in axis.ticks:
            y = self.y(axis.place(tick))
            self.line(self.x(0), y, self.x(1), y, "#ddd")
            self.text(self.x(0) - 6, y + 4, number(tick), anchor="end")
        self.text(16, (TOP + HEIGHT - BOTTOM) / 2, axis.name,
                  anchor="middle", turn=-90)

    def lower_axis(self, axis):
        for tick in axis.ticks:
            x = self.x(axis.place(tick))
            self.line(x, self.y(0), x, self.y(1), "#ddd")
            self.text(x, self.y(0) + 17, number(tick), anchor="middle")
        self.text(WIDTH / 2, HEIGHT - 20, axis.name, anchor="middle")

    def svg(self):
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
            f'height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
            'font-family="sans-serif">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
            *self.parts,
            "</svg>",
        ]) + "\n"


def bars(title, axis_name, names, series):
    """A group of bars per name.  `series` maps a label to one value per
    name."""
    canvas = Canvas(title, series)
    axis = Linear([v for values in series.values() for v in values],
                  axis_name)
    canvas.left_axis(axis)
    group = 1 / len(names)
    width = group * 0.8 / len(series)
    zero = canvas.y(axis.place(0))
    for i, name in enumerate(names):
        start = i * group + group * 0.1
        for k, (values, color) in enumerate(zip(series.values(), COLORS)):
            x = canvas.x(start + k * width)
            y = canvas.y(axis.place(values[i]))
            canvas.rect(x, min(y, zero), canvas.x(width) - canvas.x(0),
                        abs(zero - y), color)
        canvas.text(canvas.x((i + 0.5) * group), canvas.y(0) + 14, name,
                    anchor="end", turn=-35)
    canvas.line(canvas.x(0), zero, canvas.x(1), zero, "#000")
    return canvas.svg()


def points(title, x_axis, y_axis, series, diagonal=False):
    """One dot per (x, y).  `series` maps a label to points; `diagonal` draws
    x = y."""
    canvas = Canvas(title, series)
    canvas.left_axis(y_axis)
    canvas.lower_axis(x_axis)
    if diagonal:
        low = max(x_axis.ticks[0], y_axis.ticks[0])
        high = min(x_axis.ticks[-1], y_axis.ticks[-1])
        canvas.line(canvas.x(x_axis.place(low)), canvas.y(y_axis.place(low)),
                    canvas.x(x_axis.place(high)),
                    canvas.y(y_axis.place(high)), "#000")
    for values, color in zip(series.values(), COLORS):
        for x, y in values:
            canvas.dot(canvas.x(x_axis.place(x)), canvas.y(y_axis.place(y)),
                       color)
    return canvas.svg()


def lines(title, x_axis, y_axis, series):
    """A line per series, which maps a label to points with x ascending.  It
    goes up where there is a point and is level between."""
    canvas = Canvas(title, ())
    canvas.left_axis(y_axis)
    canvas.lower_axis(x_axis)
    right = canvas.x(1)
    for i, (label, values) in enumerate(series.items()):
        color = f"hsl({i * 360 // len(series)}, 65%, {40 + i % 3 * 8}%)"
        path, last = [], None
        for x, y in values:
            at = canvas.x(x_axis.place(x)), canvas.y(y_axis.place(y))
            if last:
                path.append((at[0], last[1]))
            path.append(at)
            last = at
        canvas.polyline(path + [(right, last[1])], color)
        canvas.rect(LEFT + 8, TOP + 4 + 15 * i, 10, 4, color)
        canvas.text(LEFT + 22, TOP + 10 + 15 * i, label, size=11)
    return canvas.svg()
