"""Digits as pen strokes for training digits.onnx: skeletons with random shapes, and the pen that draws them.

Coordinates are in a box of 1 by 1, y downwards. The strokes of test/drawn.txt are not from here.
"""
import math
import random

from PIL import Image, ImageDraw

FINE = 4  # pixels drawn for one of the picture


def smooth(points, steps=7):
    """A Catmull-Rom curve through the points."""
    p = [points[0]] + points + [points[-1]]
    curve = []
    for i in range(1, len(p) - 2):
        for k in range(steps):
            t = k / steps
            curve.append(tuple(0.5 * (2 * p[i][c] + (p[i + 1][c] - p[i - 1][c]) * t +
                                      (2 * p[i - 1][c] - 5 * p[i][c] + 4 * p[i + 1][c] - p[i + 2][c]) * t * t +
                                      (3 * p[i][c] - p[i - 1][c] - 3 * p[i + 1][c] + p[i + 2][c]) * t ** 3)
                               for c in (0, 1)))
    return curve + [points[-1]]


def arc(cx, cy, rx, ry, start, end, count=14):
    """Part of an ellipse; degrees, 0 to the right, 90 downwards."""
    return [(cx + rx * math.cos(math.radians(start + (end - start) * i / count)),
             cy + ry * math.sin(math.radians(start + (end - start) * i / count))) for i in range(count + 1)]


def u(low, high):
    return random.uniform(low, high)


def chance(p):
    return random.random() < p


def shaken(points, by=0.03):
    return [(x + random.gauss(0, by), y + random.gauss(0, by)) for x, y in points]


def curve(*points, by=0.03):
    return smooth(shaken(list(points), by))


def line(*points, by=0.03):
    return shaken(list(points), by)


def zero():
    start = u(-140, -40)
    turn = random.choice([-1, 1])
    rx = u(0.24, 0.5)
    ring = arc(0.5, 0.5, rx, 0.5, start, start + turn * u(340, 385), 24)
    strokes = [smooth(shaken(ring[::2], 0.015), 3)]
    if chance(0.04):
        strokes.append(line((0.5 + rx * 0.7, 0.15), (0.5 - rx * 0.7, 0.85)))
    return strokes


def one():
    kind = random.random()
    top = (u(0.48, 0.58), 0.0)
    if kind < 0.4:
        return [line(top, (0.5, 1.0), by=0.02)]
    flag = (top[0] - u(0.1, 0.34), u(0.1, 0.34))
    if kind < 0.75:
        return [line(flag, top, (top[0] + u(-0.03, 0.03), 1.0), by=0.015)]
    half = u(0.15, 0.36)
    strokes = [line((top[0], 0.0), (top[0], 1.0), by=0.015), line((top[0] - half, 1.0), (top[0] + half, 1.0), by=0.02)]
    if chance(0.75):
        strokes.append(line(flag, top, by=0.01))
    return strokes


def two():
    left, right = u(0.08, 0.2), u(0.8, 0.95)
    peak = u(0.2, 0.35)
    if chance(0.3):  # a loop at the corner
        return [curve((left, u(0.15, 0.3)), (0.35, 0.02), (0.7, 0.05), (right, peak), (0.62, 0.62), (0.3, 0.93),
                      (0.12, 0.97), (0.08, 0.85), (0.22, 0.78), (0.5, 0.92), (0.75, 0.99), (0.97, 0.9))]
    top = curve((left, u(0.12, 0.32)), (0.28, 0.05), (0.55, 0.0), (right - 0.08, 0.12), (right, peak),
                (0.72, 0.52), (0.4, 0.78), (0.1, 1.0), by=0.025)
    base = line((top[-1]), (u(0.85, 1.0), u(0.93, 1.02)), by=0.01) if chance(0.7) else \
        curve(top[-1], (0.35, 0.93), (0.65, 1.0), (0.98, 0.93), by=0.01)
    return [top + base[1:]]


def three():
    middle = u(0.42, 0.5)
    inner = u(0.3, 0.55)
    low = [(inner + 0.15, middle), (0.8, 0.6), (u(0.82, 0.95), 0.75), (0.72, 0.95), (0.45, 1.0), (u(0.02, 0.2), u(0.82, 0.93))]
    if chance(0.25):  # flat top
        return [line((u(0.08, 0.2), 0.02), (0.85, 0.02), (inner, middle), by=0.015) + smooth(shaken(low, 0.02))]
    high = [(u(0.05, 0.2), u(0.1, 0.22)), (0.4, 0.0), (0.72, 0.08), (u(0.75, 0.88), 0.25), (0.65, 0.4), (inner, middle)]
    return [smooth(shaken(high, 0.025)) + smooth(shaken(low, 0.025))]


def four():
    bar = u(0.55, 0.75)
    stem = u(0.6, 0.78)
    if chance(0.45):  # closed, of one stroke or two
        stroke = line((stem, 0.0), (u(0.02, 0.12), bar), (u(0.9, 1.0), bar + u(-0.04, 0.04)), by=0.02)
        return [stroke, line((stem, u(0.0, 0.04)), (stem + u(-0.04, 0.02), 1.0), by=0.01)]
    left = u(0.05, 0.25)
    first = [(left + u(0.0, 0.2), u(0.0, 0.1)), (left, bar), (u(0.88, 1.0), bar + u(-0.07, 0.05))]
    first = curve(first[0], ((first[0][0] + left) / 2 - 0.01, bar * 0.6), first[1], by=0.02)[:-1] + \
        line(first[1], first[2], by=0.02) if chance(0.75) else curve(*first, by=0.03)
    return [first, line((stem + u(0.0, 0.12), u(-0.02, 0.3)), (stem + u(-0.08, 0.06), 1.0), by=0.02)]


def five():
    left = u(0.1, 0.25)
    shoulder = u(0.38, 0.48)
    bowl = [(left, shoulder + 0.04), (0.45, shoulder - 0.04), (0.78, shoulder + 0.08), (u(0.84, 0.97), 0.68),
            (0.72, 0.93), (0.42, 1.0), (u(0.0, 0.15), u(0.85, 0.95))]
    if chance(0.2):  # like an S
        return [curve((u(0.8, 0.95), u(0.02, 0.1)), (0.45, 0.03), (left, 0.22), (0.4, 0.42), (0.75, 0.58), (0.82, 0.78),
                      (0.5, 0.99), (0.08, 0.9))]
    bowl = smooth(shaken(bowl, 0.025))
    top = (left + u(0.0, 0.08), u(0.0, 0.05))
    end = (u(0.72, 1.0), u(-0.04, 0.05))
    if chance(0.5):
        return [[end, top] + bowl]
    gap = u(0.0, 0.1) if chance(0.4) else 0
    return [[top] + bowl, line((top[0] + gap, top[1] - gap / 3), end, by=0.015)]


def six():
    if chance(0.3):  # straight stem
        join = u(0.55, 0.75)
        return [line((u(0.5, 0.8), 0.0), (0.15, join), by=0.02)[:1] +
                curve((0.15, join), (0.25, 0.95), (0.55, 1.0), (0.85, 0.85), (0.78, 0.6), (0.5, 0.5), (0.18, 0.7))]
    top = u(0.45, 0.58)
    return [curve((u(0.55, 0.9), u(0.0, 0.06)), (0.4, 0.14), (0.18, 0.42), (u(0.05, 0.14), 0.72), (0.25, 0.96),
                  (0.55, 1.0), (0.86, 0.86), (u(0.82, 0.95), 0.68), (0.7, top + 0.03), (0.45, top), (u(0.12, 0.25), 0.72))]


def seven():
    foot = (u(0.2, 0.5), 1.0)
    corner = (u(0.82, 1.0), u(0.0, 0.06))
    start = (u(0.0, 0.14), u(0.0, 0.08))
    stem = line(corner, foot, by=0.01) if chance(0.5) else curve(corner, (0.62, 0.42), (foot[0] + 0.05, 0.75), foot, by=0.02)
    strokes = [[start] + stem] if chance(0.75) else [curve(start, (0.3, 0.08), (0.65, 0.05), corner, by=0.02) + stem]
    if chance(0.2):
        strokes[0].insert(0, (start[0], start[1] + u(0.08, 0.22)))
    if chance(0.35):
        y = u(0.42, 0.6)
        x = corner[0] + (foot[0] - corner[0]) * y
        strokes.append(line((x - u(0.15, 0.35), y + u(-0.03, 0.06)), (x + u(0.15, 0.35), y + u(-0.06, 0.03)), by=0.015))
    return strokes


def eight():
    waist = u(0.42, 0.52)
    rx, big = u(0.2, 0.38), u(0.3, 0.46)
    if chance(0.3):  # two rings
        return [smooth(shaken(arc(0.5, waist / 2, rx, waist / 2, -90, 275, 10), 0.015), 4),
                smooth(shaken(arc(0.5, (1 + waist) / 2, big, (1 - waist) / 2, -90, 275, 10), 0.015), 4)]
    start = (0.5 + rx * u(0.4, 1.0), u(0.04, 0.14))
    end = start if chance(0.6) else (0.5 + rx * u(0.2, 1.1), u(-0.05, 0.16))
    points = [start, (0.5, 0.0), (0.5 - rx, waist * 0.45), (0.5 - rx * 0.5, waist * 0.85), (0.5 + big * 0.55, waist + 0.15),
              (0.5 + big, 0.76), (0.5 + big * 0.5, 0.97), (0.5 - big * 0.4, 0.98), (0.5 - big, 0.78),
              (0.5 - big * 0.6, waist + 0.16), (0.5 + rx * 0.5, waist * 0.8), (0.5 + rx, waist * 0.42), end]
    if chance(0.3):
        points = [(1 - x, y) for x, y in points]
    return [curve(*points, by=0.022)]


def nine():
    low = u(0.42, 0.55)
    rx = u(0.26, 0.4)
    right = 0.52 + rx
    ring = [(right - u(0.0, 0.06), u(0.1, 0.22)), (0.55, 0.0), (0.52 - rx * 0.8, 0.08), (0.52 - rx, low * 0.55), (0.52 - rx * 0.5, low),
            (0.55, low), (right - 0.05, low * 0.65), (right, u(0.06, 0.2))]
    kind = random.random()
    if kind < 0.45:
        tail = line(ring[-1], (u(0.55, 0.95), 1.0), by=0.015)
    elif kind < 0.8:
        tail = curve(ring[-1], (right - 0.01, 0.55), (right - 0.12, 0.9), (0.5, 1.0), (u(0.05, 0.3), u(0.86, 0.97)), by=0.02)
    else:
        tail = curve(ring[-1], (right - 0.02, 0.45), (right - 0.2, 0.75), (u(0.2, 0.5), 1.0), by=0.02)
    return [smooth(shaken(ring, 0.022)) + tail[1:]]


DIGITS = [zero, one, two, three, four, five, six, seven, eight, nine]


def distorted(strokes, slanted=1.0):
    """Waved, slanted, turned, made narrow, and back in the box of 1 by 1, with its height or width filled. `slanted` is
    how much of slant and turn is left."""
    phase, wave = [u(0, 6.3) for _ in range(4)], [random.gauss(0, 0.025) for _ in range(4)]
    slant, turn, narrow = random.gauss(0, 0.18) * slanted, math.radians(random.gauss(0, 6)) * slanted, u(0.5, 1.0)
    c, s = math.cos(turn), math.sin(turn)

    def place(x, y):
        x, y = (x + wave[0] * math.sin(5 * y + phase[0]) + wave[1] * math.sin(7 * x + phase[1]),
                y + wave[2] * math.sin(5 * x + phase[2]) + wave[3] * math.sin(7 * y + phase[3]))
        x = (x - 0.5) * narrow - (y - 0.5) * slant
        return c * x - s * (y - 0.5), s * x + c * (y - 0.5)

    strokes = [[place(x, y) for x, y in stroke] for stroke in strokes]
    xs, ys = [p[0] for s in strokes for p in s], [p[1] for s in strokes for p in s]
    size = max(max(xs) - min(xs), max(ys) - min(ys))
    mx, my = (max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2
    return [[((x - mx) / size + 0.5, (y - my) / size + 0.5) for x, y in stroke] for stroke in strokes]


def drawn(strokes, side, pen, margin):
    """A greyscale picture of side x side pixels: the box is inside of the margin, the pen so many pixels wide."""
    big = side * FINE
    picture = Image.new('L', (big, big))
    draw = ImageDraw.Draw(picture)
    scale, radius = (side - 2 * margin) * FINE, pen * FINE / 2
    for stroke in strokes:
        points = [(x * scale + margin * FINE, y * scale + margin * FINE) for x, y in stroke]
        if len(points) > 1:
            draw.line(points, fill=255, width=max(1, round(2 * radius)))
        for x, y in points:
            draw.ellipse([x - radius, y - radius, x + radius, y + radius], fill=255)
    return picture.resize((side, side), Image.BOX)
