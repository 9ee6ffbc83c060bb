#!/usr/bin/env python3
"""Writes small pictures of every format beside this file, and pixels.json with what Pillow decodes them to (RGB)."""
import json
import pathlib

import numpy as np
from PIL import Image

here = pathlib.Path(__file__).parent
rng = np.random.default_rng(7)
y, x = np.mgrid[0:6, 0:9]
rgb = np.stack([x * 28, y * 45, (x + y) * 15], -1).astype(np.uint8)
rgb[2:4, 3:6] = rng.integers(0, 256, size=(2, 3, 3))
color, grey = Image.fromarray(rgb), Image.fromarray(rgb).convert("L")
color.save(here / "color.jpg", quality=85)
color.save(here / "color_444.jpg", quality=95, subsampling=0)
color.save(here / "progressive.jpg", quality=85, progressive=True)
grey.save(here / "grey.jpg", quality=85)
color.convert("CMYK").save(here / "cmyk.jpg", quality=95)
color.save(here / "lossy.webp", quality=80)
color.save(here / "lossless.webp", lossless=True)
color.save(here / "plain.tif")
color.save(here / "lzw.tif", compression="tiff_lzw")
color.save(here / "deflate.tif", compression="tiff_adobe_deflate")
grey.save(here / "grey.tif")
color.save(here / "color.jp2", irreversible=False)
grey.save(here / "grey.jp2", irreversible=False)
color.save(here / "color.png")
color.save(here / "color.bmp")
color.convert("P", palette=Image.ADAPTIVE).save(here / "color.gif")
color.save(here / "color.ppm")
grey.save(here / "grey.pgm")
color.convert("1").save(here / "black.pbm")
(here / "text.ppm").write_text("P3\n# by hand\n2 2 4\n4 0 0  0 4 0\n0 0 4  2 2 2\n")
(here / "text.pgm").write_text("P2 3 1 15 0 8 15\n")
(here / "text.pbm").write_text("P1\n4 2\n0110\n1 0 0 1\n")
pixels = {}
for path in sorted(here.iterdir()):
    if path.suffix in (".py", ".json"):
        continue
    # Pillow reads text PNM only in newer versions.
    by_hand = {"text.ppm": [[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [128, 128, 128]]], "text.pgm": [[[0] * 3, [136] * 3, [255] * 3]],
               "text.pbm": [[[255] * 3, [0] * 3, [0] * 3, [255] * 3], [[0] * 3, [255] * 3, [255] * 3, [0] * 3]]}
    pixels[path.name] = by_hand.get(path.name) or np.array(Image.open(path).convert("RGB")).tolist()
(here / "pixels.json").write_text("{\n" + ",\n".join(json.dumps(k) + ": " + json.dumps(v, separators=(",", ":")) for k, v in pixels.items()) + "\n}\n")
