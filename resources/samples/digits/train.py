#!/usr/bin/env python3
"""Trains digits.onnx, which reads a digit that one draws. Run by hand, never by the build.

    apt-get install python3-torch python3-onnx python3-pil python3-sklearn fonts-...   (FONTS below names the packages)
    ./train.py                  about 10 minutes on one core

Training data is made here: pen strokes (pen.py) and digits of fonts, thin and thick, large and small, anywhere in
the picture; a part of them is counted in blocks of 4x4 and enlarged again, as the digits of scikit-learn were.
Evaluated on scikit-learn's digits and on test/drawn.txt, of which nothing is trained on.
Writes digits.onnx, digits.labels.txt, test/uci-digits.png, test/uci-digits.txt, test/logits.txt and the sample's picture.
"""
import glob
import math
import os
import random
import tempfile
import time

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from PIL import Image, ImageDraw, ImageFont
from torch import nn

import pen

HERE = os.path.dirname(os.path.abspath(__file__))
SEED = 19
SIDE = 28
FONTS = {
    'fonts-breip': 'truetype/breip/*', 'fonts-dkg-handwriting': 'truetype/fifthhorseman/*',
    'fonts-femkeklaver': 'truetype/femkeklaver/*', 'fonts-humor-sans': 'truetype/humor-sans/*',
    'fonts-sjfonts': 'truetype/sjfonts/*', 'fonts-kristi': 'truetype/kristi/*',
    'fonts-tlwg-purisa-ttf': 'truetype/tlwg/Purisa*', 'fonts-ecolier-court': 'truetype/ecolier-court/*',
    'fonts-rufscript': 'truetype/rufscript/*', 'fonts-tomsontalks': 'truetype/tomsontalks/*',
    'fonts-comic-neue': 'opentype/comic-neue/*', 'fonts-dancingscript': 'opentype/dancingscript/*',
    'fonts-bwht': 'opentype/bwht/*', 'fonts-sil-andika': 'truetype/andika/*', 'fonts-liberation': 'truetype/liberation/*',
    'fonts-dejavu-core': 'truetype/dejavu/*', 'fonts-lato': 'truetype/lato/*', 'fonts-cantarell': 'opentype/cantarell/*',
    'fonts-quicksand': 'truetype/quicksand/*', 'fonts-comfortaa': 'truetype/comfortaa/*',
    'fonts-tuffy': 'truetype/tuffy/*', 'fonts-smc-chilanka': 'opentype/malayalam/Chilanka*',
    'fonts-routed-gothic': 'truetype/routed-gothic/*', 'fonts-osifont': 'truetype/osifont/*',
    'fonts-nanum-extra': 'truetype/nanum/Nanum[BP]*', 'fonts-cabin': 'opentype/cabin/*', 'fonts-play': 'truetype/play/*',
    'fonts-jura': 'opentype/jura/*', 'fonts-dosis': 'opentype/dosis/*', 'fonts-opendyslexic': 'opentype/opendyslexic/*',
}


class Stage(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, 3, padding=1)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        return self.pool(self.relu(self.conv(x)))


class Classifier(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.hidden = nn.Linear(features, hidden)
        self.relu = nn.ReLU()
        self.dropout = nn.Dropout(0.2)
        self.output = nn.Linear(hidden, classes)

    def forward(self, x):
        return self.output(self.dropout(self.relu(self.hidden(torch.flatten(x, 1)))))


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.stage1 = Stage(1, 8)
        self.stage2 = Stage(8, 24)
        self.stage3 = Stage(24, 48)
        self.classifier = Classifier(48 * 3 * 3, 64, 10)

    def forward(self, image):
        return self.classifier(self.stage3(self.stage2(self.stage1(image))))


# --- training data --------------------------------------------------------------------------------------------------

def placed(picture):
    """Anywhere in 28 x 28; the picture is at most that large."""
    full = Image.new('L', (SIDE, SIDE))
    w, h = picture.size
    full.paste(picture, (random.randint(min(0, SIDE - w), max(0, SIDE - w)), random.randint(min(0, SIDE - h), max(0, SIDE - h))))
    return full


def in_blocks(picture):
    """Of a picture of 32 x 32: black or white, counted in blocks of 4 x 4, and as counts are seen (enlarged())."""
    bits = (np.asarray(picture) > 127).reshape(8, 4, 8, 4).sum((1, 3))
    return enlarged(bits[None])[0]


def enlarged(counts):
    """[N,8,8] of counts 0 to 16 to [N,28,28] of 0 to 1: bilinear to 20 x 20, and 4 pixels around."""
    x = torch.tensor(np.asarray(counts), dtype=torch.float32)[:, None] / 16
    x = F.interpolate(x, size=(20, 20), mode='bilinear', align_corners=False)
    return F.pad(x, (4, 4, 4, 4))[:, 0].numpy()


def pen_picture(digit):
    strokes = pen.distorted(pen.DIGITS[digit]())
    side = random.randint(16, 28)
    width = random.uniform(0.045, 0.15) * side
    return np.asarray(placed(pen.drawn(strokes, side, width, width / 2 + 0.3)), dtype=np.float32) / 255


def block_picture(digit):
    width = random.uniform(2.2, 5.5)
    return in_blocks(pen.drawn(pen.distorted(pen.DIGITS[digit]()), 32, width, width / 2 - 0.5))


def stretched_block_picture(digit):
    """The same of a digit that is nearly upright, fills the height and is stretched in width, pen and all: a narrow one
    becomes thick."""
    width = random.uniform(2.8, 7)
    picture = pen.drawn(pen.distorted(pen.DIGITS[digit](), 0.4), 64, 2 * width, width)
    picture = picture.crop(picture.getbbox())
    wide = picture.width * 32 / picture.height * random.uniform(1, 3)
    wide = max(2, round(min(wide, 32 * random.uniform(0.35, 1))))
    full = Image.new('L', (32, 32))
    full.paste(picture.resize((wide, 32), Image.BOX if wide < picture.width else Image.BILINEAR), ((32 - wide) // 2, 0))
    return in_blocks(full)


def font_files():
    found = []
    for package, pattern in FONTS.items():
        files = [f for f in sorted(glob.glob('/usr/share/fonts/' + pattern)) if f.endswith(('.ttf', '.otf'))]
        if not files:
            raise SystemExit('no fonts of ' + package)
        found += random.sample(files, min(6, len(files)))
    return found


def font_picture(path, digit, side, sizes={}):
    font = sizes.setdefault(path, ImageFont.truetype(path, 96))
    box = font.getbbox(str(digit))
    glyph = Image.new('L', (box[2] - box[0], box[3] - box[1]))
    ImageDraw.Draw(glyph).text((-box[0], -box[1]), str(digit), fill=255, font=font)
    room = side - 2
    scale = room / max(glyph.size)
    w, h = [max(1, round(s * scale)) for s in glyph.size]
    picture = Image.new('L', (side, side))
    picture.paste(glyph.resize((w, h), Image.BOX if scale < 0.5 else Image.BILINEAR), ((side - w) // 2, (side - h) // 2))
    return picture


def training_pictures(pens, blocks, font_rounds):
    pictures, labels = [], []
    for i in range(pens + blocks):
        pictures.append(pen_picture(i % 10) if i < pens else block_picture(i % 10))
        labels.append(i % 10)
    for path in font_files():
        for i in range(10 * font_rounds):
            if i % 20 < 10:
                picture = np.asarray(placed(font_picture(path, i % 10, random.randint(16, 28))), dtype=np.float32) / 255
            else:
                picture = in_blocks(font_picture(path, i % 10, 32))
            pictures.append(picture)
            labels.append(i % 10)
    return torch.tensor(np.stack(pictures))[:, None], torch.tensor(labels)


def second_pictures(pens, blocks):
    """Ones, sevens and nines are twice as many: they become like others when they are stretched."""
    pictures = [pen_picture(i % 10) for i in range(pens)]
    labels = [i % 10 for i in range(pens)]
    for i in range(blocks):
        labels.append([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 7, 9][i % 13])
        pictures.append(stretched_block_picture(labels[-1]))
    return torch.tensor(np.stack(pictures))[:, None], torch.tensor(labels)


def distorted(x):
    """A batch turned, scaled, sheared, moved, waved, darkened, blurred and with noise, each at random."""
    n = len(x)
    turn, grow, shear = torch.randn(n) * 0.09, torch.exp(torch.randn(n) * 0.09), torch.randn(n) * 0.07
    stretch = torch.exp(torch.randn(n) * 0.07)
    c, s = torch.cos(turn), torch.sin(turn)
    theta = torch.stack([torch.stack([c * grow * stretch, s * grow + shear, torch.randn(n) * 0.07], 1),
                         torch.stack([-s * grow, c * grow / stretch, torch.randn(n) * 0.07], 1)], 1)
    grid = F.affine_grid(theta, list(x.shape), align_corners=False)
    wave = F.interpolate(torch.randn(n, 2, 4, 4) * 0.045, size=(SIDE, SIDE), mode='bicubic', align_corners=True)
    x = F.grid_sample(x, grid + wave.permute(0, 2, 3, 1), align_corners=False)
    blurred = F.avg_pool2d(x, 3, 1, 1, count_include_pad=True)
    x = torch.lerp(x, blurred, torch.rand(n, 1, 1, 1) * (torch.rand(n, 1, 1, 1) < 0.3))
    x = x * (1 - 0.5 * torch.rand(n, 1, 1, 1) * (torch.rand(n, 1, 1, 1) < 0.4))
    x = x + torch.randn_like(x) * 0.08 * torch.rand(n, 1, 1, 1) * (torch.rand(n, 1, 1, 1) < 0.3)
    return x.clamp(0, 1)


def train(model, pictures, labels, epochs, rows=64, peak=2e-3):
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak, weight_decay=0.02)
    steps = epochs * (len(labels) // rows)
    step, started = 0, time.time()
    for epoch in range(epochs):
        order = torch.randperm(len(labels))
        for first in range(0, len(labels) - rows + 1, rows):
            rate = peak * min(1, (step + 1) / 200) * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * step / steps)))
            for group in optimizer.param_groups:
                group['lr'] = rate
            chosen = order[first:first + rows]
            loss = F.cross_entropy(model(distorted(pictures[chosen])), labels[chosen], label_smoothing=0.03)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
        print('epoch %d loss %.3f, %.0f s' % (epoch + 1, loss.item(), time.time() - started), flush=True)


# --- evaluation -----------------------------------------------------------------------------------------------------

def uci_digits():
    from sklearn.datasets import load_digits
    digits = load_digits()
    return digits.images.astype(np.uint8), digits.target


def drawn_digits():
    """test/drawn.txt: a digit a line, then its strokes; see there."""
    pictures, labels = [], []
    with open(os.path.join(HERE, 'test', 'drawn.txt')) as file:
        for line in file:
            if line.strip() and not line.startswith('#'):
                digit, strokes = line.split(':')
                labels.append(int(digit))
                pictures.append(stroked([[tuple(map(float, p.split(','))) for p in s.split()] for s in strokes.split(';')]))
    return np.stack(pictures), np.array(labels)


def stroked(strokes, width=2.2):
    """[28,28] of 0 to 1: lines between points of a field of 100 x 100; a pixel is the part of it that the pen covers,
    as told by the distance of its centre from the nearest line."""
    y, x = np.mgrid[0:SIDE, 0:SIDE] + 0.5
    nearest = np.full((SIDE, SIDE), np.inf)
    for stroke in strokes:
        points = [(px * SIDE / 100, py * SIDE / 100) for px, py in stroke]
        for (ax, ay), (bx, by) in zip(points, points[1:]):
            dx, dy = bx - ax, by - ay
            t = np.clip(((x - ax) * dx + (y - ay) * dy) / max(dx * dx + dy * dy, 1e-9), 0, 1)
            nearest = np.minimum(nearest, np.hypot(x - ax - t * dx, y - ay - t * dy))
    return np.clip(0.5 + width / 2 - nearest, 0, 1).astype(np.float32)


@torch.no_grad()
def predictions(model, pictures):
    return model(torch.tensor(pictures)[:, None]).argmax(1).numpy()


def write_tests(model, images, targets, drawn):
    columns = 60
    rows = -(-len(images) // columns)
    sheet = np.zeros((rows * 8, columns * 8), np.uint8)
    for i, image in enumerate(images):
        y, x = divmod(i, columns)
        sheet[y * 8:y * 8 + 8, x * 8:x * 8 + 8] = image * 15
    Image.fromarray(sheet).save(os.path.join(HERE, 'test', 'uci-digits.png'), optimize=True)
    with open(os.path.join(HERE, 'test', 'uci-digits.txt'), 'w') as file:
        for i in range(0, len(targets), columns):
            file.write(''.join(map(str, targets[i:i + columns])) + '\n')
    with open(os.path.join(HERE, 'test', 'logits.txt'), 'w') as file, torch.no_grad():
        file.write('# What PyTorch gives for every tenth line of drawn.txt: its index from 0, then the logits.\n')
        for i in range(0, len(drawn), 10):
            file.write(' '.join([str(i)] + ['%.6g' % v for v in model(torch.tensor(drawn[i:i + 1])[:, None])[0].tolist()]) + '\n')


def export(model, path):
    torch.onnx.export(model, (torch.zeros(1, 1, SIDE, SIDE),), path, opset_version=17, input_names=['image'],
                      output_names=['logits'], dynamic_axes={'image': {0: 'N'}, 'logits': {0: 'N'}})
    file = onnx.load(path)
    file.graph.name = 'digits'
    file.metadata_props.add(key='author', value='trained for Sonde')
    file.metadata_props.add(key='input', value='28x28, white strokes on black, pixel / 255')
    onnx.checker.check_model(file)
    onnx.save(file, path)


def report(model, images, targets, drawn, digits):
    found = predictions(model, enlarged(images))
    print("scikit-learn's digits: %d of %d, %.4f" % ((found == targets).sum(), len(targets), (found == targets).mean()))
    confused = {}
    for a, b in zip(targets, found):
        if a != b:
            confused[int(a), int(b)] = confused.get((int(a), int(b)), 0) + 1
    print('  ', sorted(confused.items(), key=lambda item: -item[1])[:12])
    found = predictions(model, drawn)
    print('drawn digits: %d of %d' % ((found == digits).sum(), len(digits)),
          [(i, int(digits[i]), int(found[i])) for i in range(len(digits)) if found[i] != digits[i]])


def main():
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    random.seed(SEED)
    scale = float(os.environ.get('SCALE', '1'))
    started = time.time()
    pictures, labels = training_pictures(int(24000 * scale), int(18000 * scale), max(2, int(10 * scale)))
    print(len(labels), 'pictures, %.0f s' % (time.time() - started), flush=True)
    model = Digits()
    print(sum(p.numel() for p in model.parameters()), 'parameters')
    train(model, pictures, labels, int(os.environ.get('EPOCHS', '4')))
    torch.save(model.state_dict(), os.path.join(tempfile.gettempdir(), 'digits-first.pt'))
    finish(model, scale)


def finish(model, scale=1.0):
    """The second part of the training, and what is written."""
    torch.manual_seed(SEED + 1)
    random.seed(SEED + 1)
    pictures, labels = second_pictures(int(6000 * scale), int(13000 * scale))
    print(len(labels), 'pictures', flush=True)
    train(model, pictures, labels, 2, peak=1e-3)
    model.eval()
    images, targets = uci_digits()
    drawn, digits = drawn_digits()
    report(model, images, targets, drawn, digits)
    write_tests(model, images, targets, drawn)
    with open(os.path.join(HERE, 'digits.labels.txt'), 'w') as file:
        file.write('\n'.join('zero one two three four five six seven eight nine'.split()) + '\n')
    Image.fromarray((drawn[30] * 255).round().astype(np.uint8)).save(os.path.join(HERE, 'three.png'), optimize=True)
    export(model, os.path.join(HERE, 'digits.onnx'))


if __name__ == '__main__':
    main()
