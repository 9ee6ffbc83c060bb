"""Records the references of tst_captured_reference with sonde_capture.py, where PyTorch is installed (Debian:
python3-torch):

    cd tests/data/capture && python3 - <generate.py

From standard input, because archives of torch.jit.trace hold the paths of all source files on the stack.

NAME.pt is the archive, NAME.npz what the model computed in PyTorch; NAME.broken.pt has one parameter changed.
"""
import os
import sys
import types
import warnings

HERE = os.getcwd()
TESTS = os.path.join(HERE, "..", "..", "capture")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "resources", "capture"))

import torch

import sonde_capture

warnings.simplefilter("ignore")
os.chdir(TESTS)  # as above
models = types.ModuleType("capture_models")
models.__file__ = "capture_models.py"
sys.modules[models.__name__] = models
with open(models.__file__) as source:
    exec(compile(source.read(), models.__file__, "exec"), models.__dict__)


def write(name, model, calls, form, parameter, **options):
    model.eval()
    with torch.no_grad():
        with sonde_capture.record(model, os.path.join(HERE, name + ".npz"), traced=form == "trace", **options):
            for call in calls:
                model(*call)
        for suffix in (".pt", ".broken.pt"):
            archive = torch.jit.script(model) if form == "script" else torch.jit.trace(model, calls[0])
            archive.save(os.path.join(HERE, name + suffix))
            model.get_parameter(parameter).mul_(1.5).add_(0.01)


torch.manual_seed(16)
write("shared", models.Shared(), [(torch.randn(3, 6),), (torch.randn(20, 6),)], "script", "first.fc2.weight",
      max_bytes=400)
write("tagger", models.Tagger(), [(torch.randint(0, 20, (2, 7)),)], "script", "lstm.weight_hh_l1")
write("tagger_traced", models.Tagger(), [(torch.randint(0, 20, (2, 7)),)], "trace", "head.weight")
write("branches", models.Branches(), [(torch.randn(3, 6),), (torch.randn(2, 6),)], "script", "pre.weight")
write("optionals", models.Optionals(), [(torch.randn(2, 4),)], "script", "fc.weight")
