#!/usr/bin/env python3
"""Writes the archives and reference values of this folder: models that change tensors in place through parts of them.

Run where PyTorch 1.13 is installed. Each model is scripted, and traced unless its name is in SCRIPT_ONLY.
MODEL.npz holds two cases: inputs and what PyTorch computes.
"""
import io
import os
import sys
import warnings
import zipfile
from typing import Dict, List

import numpy as np
import torch
from torch import Tensor, nn

warnings.filterwarnings('ignore')


class Column(nn.Module):
    def forward(self, x: Tensor):
        y = x.clone()
        y[:, 0] = 1.5
        y[1:3, 2:] += x[0:2, 1:3]
        y[..., -1] = x[:, 1] * 2
        return y, y.sum(0)


class Mask(nn.Module):
    def forward(self, x: Tensor):
        y = x * 1
        y[x > 0.5] = 0.
        y[:, 1][x[:, 2] > 0] = -1.
        y[torch.tensor([0, 2])] *= 3
        return y


class Chain(nn.Module):
    def forward(self, x: Tensor):
        y = x.clone()
        first = y[0]
        part = first[1:]
        part.mul_(2)
        before = y + 0
        first.add_(1)
        y.sub_(0.5)
        return y, first, part, before


class Views(nn.Module):
    def forward(self, x: Tensor):
        y = x.clone()
        y.view(2, 2, -1)[0].fill_(7)
        y.t()[1].add_(x[:, 0])
        y.permute(1, 0)[2:].mul_(0.5)
        y.unsqueeze(1).transpose(0, 2)[0, 0].zero_()
        y.diagonal().add_(10)
        return y


class Parts(nn.Module):
    def forward(self, x: Tensor):
        y = x.clone()
        a, b = y.chunk(2, 1)
        a.add_(100)
        b.copy_(a)
        rows = y.unbind(0)
        rows[1].mul_(-1)
        c, d = y.split([1, 3], 0)
        d.sub_(c)
        return y, a, b


class BaseChanges(nn.Module):
    """The base is written after the view was made."""
    def forward(self, x: Tensor):
        y = x + 0
        view = y[1:, :2]
        flat = y.view(-1)
        y.mul_(3)
        z = view + 1
        y[2] = 5
        return z, view, flat, y


class Windows(nn.Module):
    """The mask of shifted windows: regions are numbered and compared."""
    def forward(self, x: Tensor):
        h, w, size, shift = 8, 8, 4, 2
        img_mask = x.new_zeros((h, w))
        h_slices = ((0, -size), (-size, -shift), (-shift, None))
        w_slices = ((0, -size), (-size, -shift), (-shift, None))
        count = 0
        for hs in h_slices:
            for ws in w_slices:
                img_mask[hs[0]:hs[1], ws[0]:ws[1]] = count
                count += 1
        windows = img_mask.view(h // size, size, w // size, size)
        windows = windows.permute(0, 2, 1, 3).reshape(4, size * size)
        mask = windows.unsqueeze(1) - windows.unsqueeze(2)
        mask = mask.masked_fill(mask != 0, float(-100.0)).masked_fill(mask == 0, float(0.0))
        return mask + x.sum()


class Inplace(nn.Module):
    """A module that changes what it is given."""
    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU(inplace=True)
        self.scale = Scale()

    def forward(self, x: Tensor):
        y = x - 0.5
        z = self.relu(y[1:])
        w = self.scale(y)
        return y, z, w


class Scale(nn.Module):
    def forward(self, x: Tensor):
        x[:, :2] *= 10
        return x.sum()


class Flat(nn.Module):
    """Reshapes of tensors whose elements lie in order are views, contiguous() is the tensor itself."""
    def forward(self, x: Tensor):
        y = x * 2
        y.reshape(-1)[3] = 9.
        y.flatten().mul_(0.5)
        row = y[1].contiguous()
        row.add_(1)
        y[2:].reshape(2, 2, 2)[0].fill_(-4)
        z = torch.zeros(2, 6)
        z.reshape(3, 4)[1].add_(y.ravel()[:4])
        y.unsqueeze(0).flatten(1)[0, 5:7].zero_()
        parts = y.split(2)
        parts[1].reshape(-1).sub_(0.25)
        return y, row, z, y.reshape(2, 8)


class LoopRows(nn.Module):
    """Rows are written in a loop whose length only a run knows."""
    def forward(self, x: Tensor):
        y = torch.zeros_like(x)
        total = x.new_zeros(1)
        for i in range(x.size(0)):
            y[i] = x[i] * i
            if bool(x[i, 0] > 0.5):
                y[i, 1:] = -1.
                total += x[i, 1]
        return y, total


class Box:
    def __init__(self, start: Tensor):
        self.sum = start
        self.count = 0

    def add(self, value: Tensor):
        self.sum = self.sum + value
        self.count += 1


class LoopState(nn.Module):
    """A dict, a list and an object change in a loop that depends on the data."""
    def forward(self, x: Tensor):
        seen: Dict[str, Tensor] = {'low': x[0], 'high': x[0]}
        latest: List[Tensor] = [x[0], x[0]]
        box = Box(x[0] * 0)
        i = 0
        while bool(box.sum.sum() < 6) and i < x.size(0):
            row = x[i]
            if bool(row.sum() > 2):
                seen['high'] = seen['high'] + row
                box.add(row)
            else:
                seen['low'] = row
            latest[0] = latest[1]
            latest[1] = row
            box.add(row * 0.5)
            i += 1
        return seen['low'], seen['high'], latest[0], latest[1], box.sum, torch.tensor([box.count])


MODELS = [Column, Mask, Chain, Views, Parts, BaseChanges, Windows, Inplace, Flat, LoopRows, LoopState]
SCRIPT_ONLY = {'LoopRows', 'LoopState'}


def snake(name):
    return ''.join('_' + c.lower() if c.isupper() else c for c in name).lstrip('_')


def save(module, path):
    """Without what has the time or the place of the making in it."""
    buffer = io.BytesIO()
    torch.jit.save(module, buffer)
    with zipfile.ZipFile(buffer) as made, zipfile.ZipFile(path, 'w', zipfile.ZIP_STORED) as out:
        for info in made.infolist():
            if info.filename.endswith('.debug_pkl') and '--debug' not in sys.argv:
                continue
            out.writestr(zipfile.ZipInfo(info.filename), made.read(info.filename))


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    for kind in MODELS:
        torch.manual_seed(3)
        model, name = kind().eval(), snake(kind.__name__)
        x = torch.rand(4, 4)
        entries = {}
        for case, value in enumerate([x, torch.rand(4, 4)]):
            given = value.clone()
            outputs = model(given)
            if torch.is_tensor(outputs):
                outputs = {'out': outputs}
            else:
                outputs = {'out_%d' % i: y for i, y in enumerate(outputs)}
            prefix = 'case%d.' % case if case else ''
            entries[prefix + 'in.x'] = value.numpy()
            for key, y in outputs.items():
                entries[prefix + 'out.' + key] = y.detach().numpy().copy()
        np.savez(os.path.join(here, name + '.npz'), **entries)
        save(torch.jit.script(model), os.path.join(here, name + '.script.pt'))
        if kind.__name__ not in SCRIPT_ONLY:
            save(torch.jit.trace(model, (x.clone(),), check_trace=False), os.path.join(here, name + '.trace.pt'))
            print(name, 'trace equal:', [torch.equal(a, b) for a, b in zip(model(x.clone()), torch.jit.load(os.path.join(here, name + '.trace.pt'))(x.clone()))])


main()
