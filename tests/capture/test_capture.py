"""Tests of resources/capture/sonde_capture.py; run by .ci/capture, or by hand:

    SONDE=build/release/bin/sonde python3 tests/capture/test_capture.py

Needs torch and numpy (Debian: python3-torch). Without SONDE the tests that run `sonde check` are skipped; torchvision
adds models to them.
"""
import contextlib
import copy
import json
import os
import subprocess
import sys
import tempfile
import threading
import types
import unittest
import warnings
import zipfile
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "resources", "capture")]

import numpy as np
import torch
from torch import nn

import capture_models as models
import sonde_capture

SONDE = os.environ.get("SONDE")


class CaptureTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.file = self.path("ref.npz")
        torch.manual_seed(1)
        warnings.simplefilter("ignore")
        self.addCleanup(warnings.resetwarnings)

    def path(self, name):
        return os.path.join(self.folder, name)

    def record(self, model, *calls, **options):
        """{key: array} of the file that the calls give."""
        with torch.no_grad(), sonde_capture.record(model, self.file, **options) as self.recorder:
            for call in calls:
                model(*copy.deepcopy(call))
        return self.read()

    def read(self):
        with np.load(self.file) as archive:
            self.index = json.loads(archive[sonde_capture.INDEX])
            return {key: archive[key] for key in archive.files if key != sonde_capture.INDEX}


class TestValues(CaptureTest):
    def test_values_are_those_of_the_formula(self):
        model = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
        x = torch.randn(4, 3)
        values = self.record(model, (x,))
        linear = x.numpy() @ model[0].weight.detach().numpy().T + model[0].bias.detach().numpy()
        self.assertEqual(sorted(values), ["in.input", "node._0", "node._1", "out.out"])
        np.testing.assert_allclose(values["node._0"], linear, atol=1e-6)
        np.testing.assert_array_equal(values["node._1"], np.maximum(values["node._0"], 0))
        np.testing.assert_array_equal(values["out.out"], values["node._1"])
        np.testing.assert_array_equal(values["in.input"], x.numpy())
        self.assertEqual(self.index["nodes"]["_0"], {"qualname": "0", "class": "torch.nn.modules.linear.Linear"})

    def test_calls_are_cases_and_shared_modules_count_up(self):
        values = self.record(models.Shared().eval(), (torch.randn(3, 6),), (torch.randn(2, 6),))
        one = {"in.x", "out.out", "node.sigmoid", "node.mul", "node.stack_0", "node.stack_1", "node.flatten"}
        for call in ("", "_1", "_2"):
            one |= {"node.first_fc1" + call, "node.first_fc2" + call, "node.add" + call}
        one |= {"node.first_act" + call for call in ("", "_1", "_2", "_3", "_4", "_5")}
        self.assertEqual(set(values), one | {"case1." + key for key in one})
        self.assertEqual(values["case1.node.add_2"].shape, (2, 6))
        self.assertEqual(self.index["nodes"]["add_2"]["qualname"], "first")
        self.assertEqual(self.index["cases"], 2)

    def test_values_are_stored_before_they_are_written_to(self):
        model = models.InPlace().eval()
        x = torch.randn(2, 4)
        before = x.numpy().copy()
        with torch.no_grad(), sonde_capture.record(model, self.file) as recorder:
            model(x)
        self.assertFalse(x.any())
        self.assertEqual(recorder.notes, [])
        values = self.read()
        np.testing.assert_array_equal(values["in.x"], before)
        self.assertLess(values["node.norm"].min(), 0)
        np.testing.assert_array_equal(values["node.relu"], np.maximum(values["node.norm"], 0))
        np.testing.assert_array_equal(values["out.out"], values["node.relu"].T + 1)
        self.assertTrue(values["out.out"].flags.c_contiguous)

    def test_structures_and_dtypes(self):
        x = torch.randn(4, 2).t()
        values = self.record(models.Structures(), (x, torch.tensor([True, False]), 3, torch.tensor(2.5)))
        dtypes = {key: str(array.dtype) for key, array in values.items()}
        self.assertEqual(dtypes, {
            "in.x": "float32", "in.flags": "bool", "in.rest_0": "int64", "in.rest_1": "float32",
            "out.out_0_0": "float32", "out.out_0_1_half": "float16", "out.out_0_1_many_0": "bool",
            "out.out_0_1_many_2": "int64", "out.out_1": "bool", "out.out_2": "float32", "out.out_3": "int64",
            "node.inner:.0": "float32", "node.inner:.1.'half'": "float16", "node.inner:.1.'many'.0": "bool",
            "node.inner:.1.'many'.2": "int64"} if self.recorder.notes else dtypes)
        np.testing.assert_array_equal(values["in.x"], x.numpy())
        np.testing.assert_array_equal(values["out.out_2"], x.bfloat16().float().numpy())
        self.assertEqual(int(values["out.out_3"]), 2)

    def test_arguments_by_name_and_defaults(self):
        model = models.Optionals()
        x, mask = torch.randn(2, 4), torch.tensor([1.0, 0, 1, 0])
        with sonde_capture.record(model, self.file) as recorder:
            model(x)
            model(mask=mask, x=x, scale=2.0)
        values = self.read()
        self.assertEqual(recorder.notes, [])
        self.assertEqual({key for key in values if ".in." in "." + key},
                         {"in.x", "case1.in.x", "case1.in.mask", "case1.in.scale"})
        self.assertEqual({key for key in values if key.startswith("out.")}, {"out.mean", "out.peak"})
        np.testing.assert_allclose(values["case1.node.mul_1"], values["case1.node.fc"] * 2 * mask.numpy(), rtol=1e-6)

    def test_masks_and_infinities_agree_with_themselves(self):
        class Masked(nn.Module):
            def forward(self, x, flag):
                mask = x > 0
                return {"mask": mask, "scores": x.masked_fill(mask, float("-inf")), "count": mask.sum()}

        values = self.record(Masked(), (torch.tensor([[1.0, -2.0]]), True))
        self.assertEqual(self.recorder.notes, [])
        np.testing.assert_array_equal(values["out.mask"], [[True, False]])
        np.testing.assert_array_equal(values["node.masked_fill"], [[-np.inf, -2]])
        self.assertEqual((values["out.count"].dtype, bool(values["in.flag"])), (np.int64, True))

    def test_large_values_are_summarised(self):
        model = nn.Sequential(nn.Flatten())
        x = torch.randn(7, 30, 20)
        x[0, 0, 3] = 100
        values = self.record(model, (x,), max_bytes=1000)
        self.assertEqual(set(values), {"in.input"} | {key + suffix for key in ("node._0", "out.out")
                                                      for suffix in (".shape", ".stats", ".head")})
        flat = x.numpy().astype(np.float64)
        np.testing.assert_array_equal(values["node._0.shape"], [7, 600])
        np.testing.assert_allclose(values["node._0.stats"], [flat.mean(), flat.std(), flat.min(), flat.max()])
        np.testing.assert_array_equal(values["node._0.head"], x.numpy().reshape(-1)[:64])
        x[1, 1, 1] = float("nan")
        self.assertTrue(np.isnan(self.record(model, (x,), max_bytes=1000)["out.out.stats"]).all())
        self.assertEqual(self.record(model, (x,), max_bytes=None)["out.out"].shape, (7, 600))

    def test_without_fx_layers_have_their_names(self):
        values = self.record(models.Branches(), (torch.randn(3, 6),))
        self.assertIn("torch.fx cannot trace the model", self.recorder.notes[0])
        steps = {key for key in values if key.startswith("node.step:")}
        self.assertGreaterEqual(len(steps), 2)
        self.assertEqual(set(values) - steps, {
            "in.x", "out.out", "node.pre", "node.post", "node.block_fc1", "node.block_fc2", "node.block:",
            "node.block.act:", "node.block.act:1"})
        self.assertEqual(self.index["notes"], self.recorder.notes)
        self.assertEqual(self.index["nodes"]["block.act:1"]["qualname"], "block.act")

    def test_operations_can_be_left_out(self):
        values = self.record(models.Shared(), (torch.randn(3, 6),), operations=False)
        self.assertFalse([key for key in values if "add" in key])
        self.assertEqual({key for key in values if "first:" in key}, {"node.first:", "node.first:1", "node.first:2"})

    def test_for_a_traced_archive_what_it_names_otherwise_is_left_out(self):
        tokens = torch.randint(0, 20, (2, 7))
        whole = self.record(models.Tagger(), (tokens,))
        self.assertIn("node.lstm.1.0", whole)
        traced = self.record(models.Tagger(), (tokens,), traced=True)
        self.assertEqual({key for key in traced if key.startswith("node.")},
                         {"node.embedding", "node.head", "node.log_softmax"})

    def test_layers_inside_of_layers(self):
        with sonde_capture.record(models.Attention().train(), self.file) as recorder:
            recorder.model(torch.randn(2, 3, 8))
        self.assertTrue({"node.encoder", "node.norm", "node.encoder.linear1:"} <= set(self.read()))

    def test_names_of_inputs_and_outputs(self):
        values = self.record(models.Tagger(), (torch.randint(0, 20, (2, 7)),), input_names=["ids"],
                             output_names=["logits", "h", "c"])
        self.assertTrue({"in.ids", "out.logits", "out.h", "out.c"} <= set(values))
        with self.assertRaisesRegex(ValueError, "output_names has 1 names, and the model has 3 outputs"):
            self.record(models.Tagger(), (torch.randint(0, 20, (2, 7)),), output_names=["logits"])

    def test_other_layouts(self):
        class Layouts(nn.Module):
            def forward(self, x):
                return x.to_sparse(), torch.quantize_per_tensor(x, 0.5, 0, torch.qint8), x.to(torch.complex64).conj()

        x = torch.tensor([[0.0, 1.5], [2.0, 0.0]])
        values = self.record(Layouts(), (x,))
        for name in ("out.out_0", "out.out_1"):
            np.testing.assert_array_equal(values[name], x.numpy())
        self.assertEqual(values["out.out_2"].dtype, np.complex64)


class TestModelIsLeftAlone(CaptureTest):
    def test_state_and_random_numbers(self):
        model, x = models.Counter().train(), torch.randn(2, 4)
        torch.manual_seed(3)
        plain = [model(x), model(x), torch.rand(2)]
        model.count.zero_()
        model.seen.clear()
        torch.manual_seed(3)
        with sonde_capture.record(model, self.file) as recorder:
            recorded = [model(x), model(x)]
        self.assertIn("gives other outputs", recorder.notes[0])
        recorded.append(torch.rand(2))
        for one, other in zip(plain, recorded):
            self.assertTrue(torch.equal(one, other))
        self.assertEqual((int(model.count), len(model.seen)), (2, 2))
        self.assertIs(model.last, recorded[1])
        np.testing.assert_array_equal(self.read()["case1.out.out"], recorded[1].detach().numpy())

    def test_running_statistics_and_gradients(self):
        one = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Tanh()).train()
        other, x = copy.deepcopy(one), torch.randn(5, 4)
        one(x).sum().backward()
        with sonde_capture.record(other, self.file) as recorder:
            other(x).sum().backward()
        self.assertEqual(recorder.notes, [])
        for name, value in one.state_dict().items():
            self.assertTrue(torch.equal(value, other.state_dict()[name]), name)
        self.assertEqual(int(one[1].num_batches_tracked), 1)
        self.assertTrue(torch.equal(one[0].weight.grad, other[0].weight.grad))

    def test_random_layers_have_the_same_numbers_twice(self):
        values = self.record(nn.Sequential(nn.Dropout(0.5), nn.Identity()).train(), (torch.ones(50),))
        self.assertEqual(self.recorder.notes, [])
        np.testing.assert_array_equal(values["node._0"], values["out.out"])

    def test_random_numbers_that_fx_does_not_draw(self):
        class Noisy(nn.Module):
            def forward(self, x):
                return x + torch.rand(2)

        torch.manual_seed(5)
        expected = [torch.rand(2), torch.rand(2)]
        torch.manual_seed(5)
        values = self.record(Noisy(), (torch.zeros(2),))
        np.testing.assert_array_equal(values["out.out"], expected[0])
        self.assertTrue(torch.equal(torch.rand(2), expected[1]))

    def test_weight_norm(self):
        model = nn.Sequential(nn.utils.weight_norm(nn.Linear(3, 3)))
        model(torch.randn(2, 3))
        values = self.record(model, (torch.randn(2, 3),))
        self.assertEqual(self.recorder.notes, [])
        self.assertIn("node._0", values)

    def test_exceptions_leave_nothing(self):
        call = nn.Module.__call__
        model, good, bad = models.Fails(), torch.ones(2, 3), -torch.ones(2, 3)
        with open(self.file, "w") as file:
            file.write("what was there")
        with self.assertRaisesRegex(ValueError, "negative input"):
            self.record(model, (good,), (bad,))
        self.assertIs(nn.Module.__call__, call)
        self.assertEqual(os.listdir(self.folder), ["ref.npz"])
        with open(self.file) as file:
            self.assertEqual(file.read(), "what was there")
        self.assertFalse(any(module._forward_hooks or module._forward_pre_hooks for module in model.modules()))

    def test_a_call_that_failed_is_no_case(self):
        model = models.Fails()
        with sonde_capture.record(model, self.file) as recorder:
            model(torch.ones(1, 3))
            with contextlib.suppress(ValueError):
                model(-torch.ones(2, 3))
            model(torch.ones(3, 3))
        self.assertEqual(recorder.cases, 2)
        self.assertEqual(self.read()["case1.node.fc"].shape, (3, 3))

    def test_nothing_is_written_without_a_call(self):
        with self.assertRaisesRegex(RuntimeError, "the model was not called"):
            with sonde_capture.record(nn.Linear(1, 1), self.file):
                pass
        self.assertEqual(os.listdir(self.folder), [])

    def test_the_same_calls_give_the_same_bytes(self):
        model, x, contents = models.Shared(), torch.randn(3, 6), []
        for _ in range(2):
            self.record(model, (x,))
            with open(self.file, "rb") as file:
                contents.append(file.read())
        self.assertEqual(*contents)
        with zipfile.ZipFile(self.file) as archive:
            self.assertEqual({info.date_time for info in archive.infolist()}, {(1980, 1, 1, 0, 0, 0)})

    def test_tracing_inside_is_no_case(self):
        model, x = models.Shared(), torch.randn(3, 6)
        with sonde_capture.record(model, self.file) as recorder:
            model(x)
            torch.jit.trace(model, x, check_trace=False)
            torch.jit.script(model)
        self.assertEqual(recorder.cases, 1)

    def test_two_at_once_and_other_threads(self):
        one, two = models.Shared(), models.Shared()
        x = torch.randn(2, 6)
        call = nn.Module.__call__
        first = sonde_capture.record(one, self.path("one.npz"))
        second = sonde_capture.record(nn.Sequential(one, two), self.path("two.npz"))
        both = second.model
        first.__enter__()
        second.__enter__()
        both(x)
        thread = threading.Thread(target=lambda: two(x))
        thread.start()
        thread.join()
        first.__exit__(None, None, None)
        both(x)
        second.__exit__(None, None, None)
        self.assertIs(nn.Module.__call__, call)
        self.assertEqual((first.cases, second.cases), (1, 2))

    def test_wrong_usage(self):
        with self.assertRaisesRegex(TypeError, "not a torch.nn.Module"):
            sonde_capture.record(len, self.file)
        with self.assertRaises(OSError):
            with sonde_capture.record(nn.Linear(1, 1), self.path("none/ref.npz")):
                self.fail("the model would run for nothing")

    def test_archives_give_inputs_and_outputs(self):
        model = torch.jit.script(models.Optionals())
        with sonde_capture.record(model, self.file):
            model(torch.ones(2, 4), scale=2.0)
        self.assertEqual(set(self.read()), {"in.x", "in.scale", "out.mean", "out.peak"})


class FakeOnnx(types.ModuleType):
    """What record_onnx() uses of onnx and onnxruntime: y = x + 1, z = [y * 2]."""

    class TensorProto:
        EXTERNAL = 1

    def __init__(self, name, is_external):
        super().__init__(name)
        node = types.SimpleNamespace
        stored = node(data_location=self.TensorProto.EXTERNAL if is_external else 0)
        self.graph = node(node=[node(output=["y", ""]), node(output=["z"])], output=[node(name="z")],
                          initializer=[stored])
        self.opened = None
        self.__version__ = "0"
        self.GraphOptimizationLevel = node(ORT_DISABLE_ALL="none")

    class SessionOptions:
        graph_optimization_level = "all"

    @staticmethod
    def ValueInfoProto(name):
        return types.SimpleNamespace(name=name)

    def load(self, path, load_external_data):
        return types.SimpleNamespace(graph=self.graph, SerializeToString=lambda: b"proto")

    def InferenceSession(self, source, options, providers):
        assert options.graph_optimization_level == "none" and providers == ["CPUExecutionProvider"]
        self.opened = source
        if isinstance(source, str):
            with open(source, "rb") as file:
                assert file.read() == b"proto"
        values = {"y": lambda x: x + 1, "z": lambda x: [np.asarray((x + 1) * 2)]}

        def run(names, feeds):
            assert set(names) == {output.name for output in self.graph.output}
            return [values[name](feeds["x"]) for name in names]

        return types.SimpleNamespace(run=run)


class TestOnnx(CaptureTest):
    def run_fake(self, inputs, is_external=False):
        fake = FakeOnnx("fake", is_external)
        with mock.patch.dict(sys.modules, onnx=fake, onnxruntime=fake):
            sonde_capture.record_onnx(self.path("m.onnx"), inputs, self.file)
        return fake, self.read()

    def test_all_values_of_the_graph(self):
        fake, values = self.run_fake([{"x": np.float32(1.5)}, {"x": torch.ones(2)}])
        self.assertEqual(set(values), {"in.x", "node.y", "out.z.0", "case1.in.x", "case1.node.y", "case1.out.z.0"})
        self.assertEqual((values["in.x"].shape, float(values["out.z.0"])), ((), 5))
        np.testing.assert_array_equal(values["case1.out.z.0"], [4, 4])
        self.assertEqual(fake.opened, b"proto")
        self.assertEqual(self.index["cases"], 2)

    def test_weights_in_other_files_are_found(self):
        fake, _ = self.run_fake({"x": np.ones(2)}, is_external=True)
        self.assertEqual(os.path.dirname(fake.opened), self.folder)
        self.assertEqual(os.listdir(self.folder), ["ref.npz"])

    def test_errors_write_nothing(self):
        with self.assertRaises(KeyError):
            self.run_fake({"other": np.ones(2)})
        with self.assertRaisesRegex(ValueError, "no inputs"):
            self.run_fake([])
        self.assertEqual(os.listdir(self.folder), [])

    def test_missing_packages_are_named(self):
        with mock.patch.dict(sys.modules, onnx=None):
            with self.assertRaisesRegex(ImportError, "needs the packages onnx and onnxruntime"):
                sonde_capture.record_onnx("m.onnx", {}, self.file)


@unittest.skipUnless(SONDE, "SONDE does not name the program")
class TestCheck(CaptureTest):
    """`sonde check` of archives of torch.jit against what was recorded."""

    def check(self, archive):
        """Exit status, and the name of the first node that differs."""
        done = subprocess.run([SONDE, "check", archive, self.file], capture_output=True, text=True)
        first = [line.split("first diverging node: ")[1].split()[0]
                 for line in done.stdout.splitlines() if "first diverging node: " in line]
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.returncode, first[0] if first else None

    def archives(self, model, inputs, forms):
        for form in forms:
            file = self.path(form + ".pt")
            with torch.no_grad():
                (torch.jit.script(model) if form == "script" else
                 torch.jit.trace(model, copy.deepcopy(inputs), check_trace=False)).save(file)
            yield form, file

    def agrees(self, model, inputs, forms=("script", "trace"), broken=(), **options):
        """broken: (parameter, node that is the first to differ if the parameter is another one) …"""
        model.eval()
        for form in forms:
            self.record(model, inputs, traced=form == "trace", **options)
            for _, file in self.archives(model, inputs, [form]):
                self.assertEqual(self.check(file), (0, None), form)
            for parameter, node in broken:
                with torch.no_grad():
                    weight = model.get_parameter(parameter)
                    before = weight.clone()
                    weight.mul_(1.5).add_(0.01)
                    for _, file in self.archives(model, inputs, [form]):
                        self.assertEqual(self.check(file), (1, node), form + " " + parameter)
                    weight.copy_(before)

    def test_shared_modules(self):
        self.agrees(models.Shared(), (torch.randn(3, 6),),
                    broken=[("first.fc2.weight", "first_fc2"), ("stack.0.bias", "stack_0")])

    def test_recurrent_layers(self):
        self.agrees(models.Tagger(), (torch.randint(0, 20, (2, 7)),), broken=[("head.weight", "head")])
        self.agrees(models.Tagger(), (torch.randint(0, 20, (2, 7)),), ["script"],
                    broken=[("lstm.weight_hh_l1", "lstm.0"), ("embedding.weight", "embedding")])

    def test_branches_and_loops(self):
        self.agrees(models.Branches(), (torch.randn(3, 6),), ["script"],
                    broken=[("pre.weight", "pre"), ("post.weight", "post")])
        self.agrees(models.Branches(), (torch.randn(3, 6),), ["trace"], broken=[("block.fc2.weight", "block_fc2")])

    def test_in_place_and_attention(self):
        self.agrees(models.InPlace(), (torch.randn(3, 4),), broken=[("norm.weight", "norm")])
        self.agrees(models.Attention(), (torch.randn(2, 3, 8),), broken=[("encoder.linear1.weight", "encoder")])

    def test_optional_arguments(self):
        self.agrees(models.Optionals(), (torch.randn(2, 4),), ["script"], broken=[("fc.weight", "fc")])

    def test_summaries(self):
        self.agrees(models.Shared(), (torch.randn(40, 6),), broken=[("first.fc2.weight", "first_fc2")], max_bytes=600)

    def test_every_case_is_checked(self):
        model = models.Shared().eval()
        calls = [(torch.randn(n, 6),) for n in (1, 2, 3)]
        self.record(model, *calls)
        for _, file in self.archives(model, calls[0], ["script"]):
            done = subprocess.run([SONDE, "check", file, self.file], capture_output=True, text=True)
            self.assertIn("in 3 cases compared, 0 failed", done.stdout)

    def test_onnx_exports_have_the_outputs(self):
        model, x, file = models.Tagger().eval(), torch.randint(0, 20, (2, 7)), self.path("m.onnx")
        names = dict(input_names=["ids"], output_names=["logits", "h", "c"])
        self.record(model, (x,), **names)
        torch.onnx.export(model, (x,), file, **names)
        self.assertEqual(self.check(file), (0, None))
        with torch.no_grad():
            model.head.weight.mul_(1.5)
        torch.onnx.export(model, (x,), file, **names)
        self.assertEqual(self.check(file)[0], 1)

    def test_torchvision(self):
        try:
            from torchvision import models as vision
        except ImportError:
            self.skipTest("torchvision is missing")
        image = (torch.rand(1, 3, 64, 64),)
        self.agrees(vision.resnet18(num_classes=10), image, broken=[("layer2.1.conv1.weight", "layer2_1_conv1")])
        self.agrees(vision.mobilenet_v3_small(num_classes=10), image)
        self.agrees(vision.densenet121(num_classes=10), image, ["trace"])
        self.agrees(vision.googlenet(num_classes=10, init_weights=True), image, ["script"])
        vit = vision.VisionTransformer(32, 8, 2, 2, 16, 32, num_classes=10)
        nn.init.normal_(vit.heads.head.weight)
        name = "encoder.layers.encoder_layer_1.mlp.0"
        self.agrees(vit, (torch.rand(2, 3, 32, 32),), broken=[(name + ".weight", name.replace(".", "_"))])


if __name__ == "__main__":
    unittest.main()
