#!/usr/bin/env python3
"""Trains words.onnx, a small character transformer that completes English words. Run by hand, never by the build.

    apt-get install python3-torch python3-onnx libopenblas0 wamerican
    ./train.py                  two minutes on one core

Data: the words of /usr/share/dict/american-english (Debian package wamerican) that have 3 to 20 letters from a to z.
A word is held out of training if the CRC-32 of its first five letters ends in one of 5 of 100 values: words with the
same beginning are held out together, so that no held-out word is an inflection of a trained one.
Writes words.onnx, vocab.txt, test/held-out.txt (500 of the held-out words) and test/logits.txt (what PyTorch gives).
"""
import math
import os
import random
import time
import zlib

import onnx
import torch
import torch.nn.functional as F
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
TOKENS = '.abcdefghijklmnopqrstuvwxyz'  # '.' ends a word
CONTEXT = 32
SEED = 19


class Attention(nn.Module):
    """Written out, with a module for each step, so that everything can be looked at."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.size = heads, dim // heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.softmax = nn.Softmax(dim=-1)
        self.projection = nn.Linear(dim, dim)
        self.rows = 1  # a plain number: the exported shapes are constants

    def split(self, x):  # [N,T,D] to [N,heads,T,D/heads]
        return x.view(self.rows, -1, self.heads, self.size).transpose(1, 2)

    def forward(self, x, mask):
        scores = self.split(self.query(x)) @ self.split(self.key(x)).transpose(2, 3)
        weights = self.softmax(scores * (1 / math.sqrt(self.size)) + mask)
        mixed = (weights @ self.split(self.value(x))).transpose(1, 2)
        return self.projection(mixed.reshape(self.rows, -1, self.heads * self.size))


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attention = Attention(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.ReLU(), nn.Linear(4 * dim, dim))

    def forward(self, x, mask):
        x = x + self.attention(self.norm1(x), mask)
        return x + self.mlp(self.norm2(x))


class Positions(nn.Module):
    """A learned vector for each position, [T,D]."""

    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(CONTEXT, dim) * 0.02)

    def forward(self, tokens):
        return self.weight[:tokens.shape[1]]


class CausalMask(nn.Module):
    """[T,T], added to the scores: 0 where a position may look, a large negative number at what comes after it."""

    def __init__(self):
        super().__init__()
        self.register_buffer('mask', torch.triu(torch.full((CONTEXT, CONTEXT), -1e4), diagonal=1))

    def forward(self, tokens):
        return self.mask[:tokens.shape[1], :tokens.shape[1]]


class Completer(nn.Module):
    def __init__(self, dim=64, heads=4, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(len(TOKENS), dim)
        self.positions = Positions(dim)
        self.mask = CausalMask()
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, len(TOKENS))

    def forward(self, tokens):
        x = self.embedding(tokens) + self.positions(tokens)
        mask = self.mask(tokens)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


def set_rows(model, rows):
    for module in model.modules():
        if isinstance(module, Attention):
            module.rows = rows


def is_held_out(word):
    return zlib.crc32(word[:5].encode()) % 100 < 5


def read_words():
    with open('/usr/share/dict/american-english', encoding='utf-8') as file:
        words = [line.strip() for line in file]
    words = [w for w in words if 3 <= len(w) <= 20 and all('a' <= c <= 'z' for c in w)]
    return [w for w in words if not is_held_out(w)], [w for w in words if is_held_out(w)]


def ids(text):
    return [TOKENS.index(c) for c in text]


def batches(words, rows, steps):
    """Rows of words in random order, joined by '.'; half of them begin with one."""
    for _ in range(steps):
        batch = []
        for _ in range(rows):
            text = random.choice(['', '.'])
            while len(text) < CONTEXT + 1:
                text += random.choice(words) + '.'
            batch.append(ids(text[:CONTEXT + 1]))
        yield torch.tensor(batch)


@torch.no_grad()
def measure(model, words):
    """Next-character top-1 and perplexity: after each letter of a word, its end included."""
    right, count, loss = 0, 0, 0.0
    for length in sorted(set(map(len, words))):
        same = [word for word in words if len(word) == length]
        set_rows(model, len(same))
        target = torch.tensor([ids(word[1:] + '.') for word in same])
        logits = model(torch.tensor([ids(word) for word in same]))
        right += int((logits.argmax(-1) == target).sum())
        loss += float(F.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction='sum'))
        count += target.numel()
    return right / count, math.exp(loss / count)


def train(model, words, steps, rows=32, peak=3e-3):
    parameters = [{'params': [p for p in model.parameters() if p.dim() > 1], 'weight_decay': 0.01},
                  {'params': [p for p in model.parameters() if p.dim() < 2], 'weight_decay': 0.0}]
    optimizer = torch.optim.AdamW(parameters, lr=peak, betas=(0.9, 0.98))
    started = time.time()
    set_rows(model, rows)
    for step, batch in enumerate(batches(words, rows, steps)):
        warm, done = min(1, (step + 1) / 200), step / steps
        for group in optimizer.param_groups:
            group['lr'] = peak * warm * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * done)))
        logits = model(batch[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 250 == 0:
            print('step %d loss %.3f, %.0f s' % (step, loss.item(), time.time() - started), flush=True)


def export(model, path):
    set_rows(model, 1)
    torch.onnx.export(model, (torch.tensor([ids('inter')]),), path, opset_version=17, input_names=['tokens'],
                      output_names=['logits'], dynamic_axes={'tokens': {1: 'T'}, 'logits': {1: 'T'}})
    file = onnx.load(path)
    file.graph.name = 'words'
    # A linear layer's weight was transposed by the export and lost its name: give it the name of its module.
    names = {}
    for node in file.graph.node:
        for i, name in enumerate(node.input):
            if name.startswith('onnx::MatMul_'):
                parts = node.name.split('/')[1:-1]
                names[name] = '.'.join(p for i, p in enumerate(parts)
                                       if i + 1 == len(parts) or not parts[i + 1].startswith(p + '.')) + '.weight_t'
                node.input[i] = names[name]
    for tensor in file.graph.initializer:
        tensor.name = names.get(tensor.name, tensor.name)
    for entry in [('author', 'trained for Sonde'), ('data', 'wamerican (SCOWL)')]:
        file.metadata_props.add(key=entry[0], value=entry[1])
    onnx.checker.check_model(file)
    onnx.save(file, path)


@torch.no_grad()
def write_logits(model, path):
    set_rows(model, 1)
    with open(path, 'w') as file:
        file.write('# What PyTorch gives for some beginnings: the text, then the logits of what follows it.\n')
        for text in ['i', 'inter', 'qu', 'transformatio', 'red.gree', 'abcdefghijklmnopqrstuvwxyz.abcde']:
            file.write(' '.join([text] + ['%.6g' % v for v in model(torch.tensor([ids(text)]))[0, -1].tolist()]) + '\n')


def main():
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    random.seed(SEED)
    trained, held_out = read_words()
    print(len(trained), 'words,', len(held_out), 'held out')
    model = Completer()
    print(sum(p.numel() for p in model.parameters()), 'parameters')
    train(model, trained, int(os.environ.get('STEPS', '2000')))
    model.eval()
    print('all %d held-out words: top-1 %.4f, perplexity %.3f' % (len(held_out), *measure(model, held_out)))
    os.makedirs(os.path.join(HERE, 'test'), exist_ok=True)
    sample = sorted(random.sample(held_out, 500))
    print('500 of them: top-1 %.4f, perplexity %.3f' % measure(model, sample))
    with open(os.path.join(HERE, 'test', 'held-out.txt'), 'w') as file:
        file.write('\n'.join(sample) + '\n')
    with open(os.path.join(HERE, 'vocab.txt'), 'w') as file:
        file.write('\n'.join(TOKENS) + '\n')
    export(model, os.path.join(HERE, 'words.onnx'))
    write_logits(model, os.path.join(HERE, 'test', 'logits.txt'))


if __name__ == '__main__':
    main()
