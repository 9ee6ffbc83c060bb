"""Small models of the forms that people write, with inputs: torch and numpy only."""
from collections import namedtuple
from typing import Dict, Optional, Tuple

import torch
from torch import nn


class Block(nn.Module):
    """A residual block whose activation is called twice."""

    def __init__(self, width):
        super().__init__()
        self.fc1 = nn.Linear(width, width)
        self.fc2 = nn.Linear(width, width)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.fc2(self.act(self.fc1(x))) + x)


class Shared(nn.Module):
    """One block under two names, called three times; a bare function between."""

    def __init__(self):
        super().__init__()
        self.first = Block(6)
        self.again = self.first
        self.stack = nn.Sequential(nn.Linear(6, 6), nn.Tanh())

    def forward(self, x):
        x = self.first(x)
        x = torch.sigmoid(self.again(x)) * 2
        return self.first(self.stack(x)).flatten(1)


class Tagger(nn.Module):
    """An LSTM that returns a tuple of tuples."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.lstm = nn.LSTM(8, 5, num_layers=2, batch_first=True)
        self.head = nn.Linear(5, 3)

    def forward(self, tokens):
        y, (h, c) = self.lstm(self.embedding(tokens))
        return torch.log_softmax(self.head(y), -1), (h, c)


class Branches(nn.Module):
    """A branch and a loop on the data: torch.fx cannot trace it."""

    def __init__(self):
        super().__init__()
        self.pre = nn.Linear(6, 6)
        self.block = Block(6)
        self.step = nn.Linear(6, 6)
        self.post = nn.Linear(6, 6)

    def forward(self, x):
        x = self.pre(x)
        if bool(x.sum() > -1e9):
            x = self.block(x)
        steps = int(x.abs().sum()) % 2 + 2
        for _ in range(steps):
            x = torch.tanh(self.step(x))
        return self.post(x)


class Optionals(nn.Module):
    """Arguments that are no tensors, and a dict of outputs."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, mask: Optional[torch.Tensor] = None, scale: float = 1.0) -> Dict[str, torch.Tensor]:
        y = self.fc(x) * scale
        if mask is not None:
            y = y * mask
        return {"mean": y.mean(1), "peak": y.amax(1)}


class InPlace(nn.Module):
    """Writes to what it returned from a module before, and to its input."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        y = self.relu(self.norm(x))
        y.add_(1)
        x.zero_()
        return y.t()


Pair = namedtuple("Pair", "left right")


class Structures(nn.Module):
    """Modules that return named tuples, dicts and None; inputs of many dtypes and layouts."""

    class Inner(nn.Module):
        def forward(self, x):
            return Pair(x + 1, {"half": x.half(), "many": [x > 0, None, x.long()]})

    def __init__(self):
        super().__init__()
        self.inner = Structures.Inner()

    def forward(self, x, flags, *rest):
        pair = self.inner(x)
        return pair, flags, x.to(torch.bfloat16), len(rest)


class Fails(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        y = self.fc(x)
        if bool((x < 0).any()):
            raise ValueError("negative input")
        return y


class Counter(nn.Module):
    """State in a buffer and in Python, and random numbers."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))
        self.fc = nn.Linear(4, 4)
        self.dropout = nn.Dropout(0.5)
        self.last = None
        self.seen = []

    def forward(self, x):
        self.count += 1
        self.last = self.dropout(self.fc(x)) * self.count
        self.seen.append(self.last)
        return self.last


class Attention(nn.Module):
    """A layer of torch.nn with layers in it."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        return self.norm(self.encoder(x))
