"""Tests of core/ort with ONNX Runtime; run by .ci/ort, or by hand:

    SONDE=build/release/bin/sonde ORT=libonnxruntime.so python3 tests/ort/test_ort.py

Needs nothing but Python.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "data", "models")
SONDE, ORT = os.environ["SONDE"], os.environ["ORT"]


def sonde(*arguments):
    """Exit status, standard output and standard error."""
    done = subprocess.run([SONDE, *arguments], capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout, done.stderr


def models(*suffixes):
    return sorted(os.path.join(MODELS, name) for name in os.listdir(MODELS) if name.endswith(suffixes))


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def reference(self, model, *more):
        written = self.path("reference.npz")
        status, out, err = sonde("reference", model, "--ort", ORT, "--allow-native", "-o", written, *more)
        self.assertEqual(status, 0, err)
        return written, out


class TestReference(WithFolder):
    def test_every_model_agrees(self):
        for model in models(".onnx", ".trace.pt"):
            with self.subTest(os.path.basename(model)):
                written, _ = self.reference(model)
                status, out, err = sonde("check", model, written)
                self.assertEqual(status, 0, out + err)
                self.assertIn(" 0 failed", out)

    def test_built_in_model(self):
        written, _ = self.reference("zoo:squeezenet1_1")
        status, out, err = sonde("check", "zoo:squeezenet1_1", written)
        self.assertEqual(status, 0, out + err)

    def test_every_node_has_a_value_and_a_time(self):
        written, out = self.reference(os.path.join(MODELS, "resnet18_slim.onnx"), "--times", "--json")
        operations = json.loads(out)["operations"]
        keys = [name[:-len(".npy")] for name in zipfile.ZipFile(written).namelist()]
        self.assertGreater(len(operations), 40)
        for operation in operations:
            self.assertIn("node." + operation["node"], keys)
            self.assertGreater(operation["engine_ns"], 0, operation)
            self.assertGreater(operation["sonde_ns"], 0, operation)

    def test_other_values_are_found(self):
        """The reference of one input is not that of another one."""
        model = os.path.join(MODELS, "resnet18_slim.onnx")
        first, _ = self.reference(model, "--input-data", "#rand(0,1)", "--seed", "1")
        self.assertEqual(sonde("check", model, first, "--input-data", "#rand(5,6)")[0], 1)


class TestPieces(WithFolder):
    """Of one model: what `sonde cut` and `sonde bisect` write runs there, with the same values."""

    MODEL = os.path.join(MODELS, "resnet18_slim.onnx")

    def assert_runs_there(self, piece, values):
        self.assertEqual(sonde("check", piece, values)[0], 0)
        written, _ = self.reference(piece, "--input-data", values)
        status, out, err = sonde("check", piece, written)
        self.assertEqual(status, 0, out + err)

    def test_cut(self):
        piece = self.path("piece.onnx")
        status, _, err = sonde("cut", self.MODEL, "--from", "layer1:", "--to", "layer3:", "-o", piece)
        self.assertEqual(status, 0, err)
        self.assert_runs_there(piece, self.path("piece.npz"))

    def test_engines_agree(self):
        for model in models(".onnx", ".trace.pt"):
            with self.subTest(os.path.basename(model)):
                status, out, err = sonde("bisect", model, "--ort", ORT, "--allow-native", "-o", self.path("p.onnx"))
                self.assertEqual(status, 0, out + err)

    def test_engines_differ(self):
        """With a tolerance of nothing they part somewhere, and the piece is of that operation."""
        piece = self.path("piece.onnx")
        status, out, err = sonde("bisect", self.MODEL, "--ort", ORT, "--allow-native", "--rtol", "0", "--atol", "0",
                                 "--json", "-o", piece)
        self.assertEqual(status, 1, err)
        found = json.loads(out)
        self.assertEqual(len(found["operations"]), 1)
        self.assertEqual(found["runs"], 2)
        self.assert_runs_there(piece, self.path("piece.npz"))


class TestRefusals(WithFolder):
    def test_unknown_operator(self):
        """ONNX Runtime says what it lacks."""
        model = os.path.join(MODELS, "..", "models", "control_flow.onnx")
        with open(model, "rb") as file:
            content = file.read()
        with open(self.path("other.onnx"), "wb") as file:
            file.write(content.replace(b"ReduceSum", b"ReduceSam"))
        status, _, err = sonde("reference", self.path("other.onnx"), "--ort", ORT, "--allow-native", "-o",
                               self.path("r.npz"))
        self.assertEqual(status, 3, err)
        self.assertIn("failed while opening the model", err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
