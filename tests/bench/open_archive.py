#!/usr/bin/env python3
"""Sets Sonde's opening of TorchScript archives beside torch.jit.load, alternately in one run, by CPU time of the process.

    open_archive.py build/release/bin/bench_open [ARCHIVE…]     (Debian 12: python3-torch, python3-torchvision)

Without archives ResNet-50 and ViT-B/16 are made, traced and scripted, with random weights. Prints bench_open's rows
"open archive" with two more columns: torch's median and the ratio. The target is 0.15.
"""
import statistics
import subprocess
import sys
import tempfile
import time

import torch

ROUNDS, EACH = 4, 6


def made(folder):
    import torchvision
    torch.manual_seed(0)
    for name in ("resnet50", "vit_b_16"):
        model = getattr(torchvision.models, name)(weights=None).eval()
        torch.jit.save(torch.jit.trace(model, torch.rand(1, 3, 224, 224), check_trace=False), f"{folder}/{name}.trace.pt")
        torch.jit.save(torch.jit.script(model), f"{folder}/{name}.script.pt")
        yield f"{folder}/{name}.trace.pt"
        yield f"{folder}/{name}.script.pt"


def load(path):
    times = []
    for _ in range(EACH):
        start = time.process_time()
        model = torch.jit.load(path)
        times.append((time.process_time() - start) * 1e3)
        del model
    return times


def opened(bench, path):
    out = subprocess.run([bench, "--times", str(EACH), path], capture_output=True, text=True, check=True).stdout
    return out.splitlines()


def main():
    bench, archives = sys.argv[1], sys.argv[2:]
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        for i, path in enumerate(archives or made(folder)):
            load(path)  # warms the file cache
            ours, theirs, lines = [], [], []
            for _ in range(ROUNDS):
                theirs += load(path)
                lines = opened(bench, path)
                ours.append(float(lines[1].split()[4]))
            if i == 0:
                print(f"{lines[0]} {'torch ms':>9} {'ratio':>7}")
            sonde, peer = statistics.median(ours), statistics.median(theirs)
            words = lines[1].split()
            print(f"{'open archive':14} {words[2]:28} {words[3]:>9} {sonde:9.2f} {words[5]:>9} {words[6]:>9} {words[7]:>9} {words[8]:>8} {peer:9.2f} {sonde / peer:7.3f}", flush=True)


main()
