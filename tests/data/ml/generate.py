#!/usr/bin/env python3
"""Writes cases.jsonl: calls of ai.onnx.ml's operators and what ONNX Runtime gives for them.

    NODE_PATH=FOLDER/node_modules ./generate.py > cases.jsonl

needs python3-onnx, python3-numpy and node with the package onnxruntime-node in FOLDER. A line: op, version, attributes
({"i": int}, {"f": float}, {"s": text}, {"is"}, {"fs"}, {"ss"}: lists, {"t": tensor}), in, out (tensors t, s, v; null: not
compared).

What is left out because ONNX Runtime 1.30 does not do what the specification says: base values of targets that no leaf of
a row has a weight for (not added); labels of two classes that both have weights (0 and 1 instead of the model's labels, and
not the larger score); two base values of two classes; sets with members that are no positive integers.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RUN = r"""
const ort = require('onnxruntime-node'), fs = require('fs');
const kinds = {f32: 'float32', f64: 'float64', i64: 'int64', i32: 'int32', str: 'string'};
const typed = {f32: Float32Array, f64: Float64Array, i32: Int32Array};
const names = Object.fromEntries(Object.entries(kinds).map(([a, b]) => [b, a]));
const numberOf = v => v === 'nan' ? NaN : v;
(async () => {
  for (const job of JSON.parse(fs.readFileSync(process.argv[1]))) {
    try {
      const session = await ort.InferenceSession.create(job.model, {logSeverityLevel: 4});
      const feeds = {};
      job.in.forEach((x, i) => {
        const data = x.t === 'str' ? x.v : x.t === 'i64' ? BigInt64Array.from(x.v.map(BigInt)) : typed[x.t].from(x.v.map(numberOf));
        feeds[session.inputNames[i]] = new ort.Tensor(kinds[x.t], data, x.s);
      });
      const results = await session.run(feeds);
      const out = session.outputNames.map(n => results[n]).map(y => ({t: names[y.type], s: y.dims,
        v: Array.from(y.data, v => typeof v === 'bigint' ? Number(v) : Number.isFinite(v) || typeof v === 'string' ? v : Number.isNaN(v) ? 'nan' : v > 0 ? 'inf' : '-inf')}));
      console.log(JSON.stringify(out));
    } catch (problem) { console.log(JSON.stringify({error: String(problem)})); }
  }
})();
"""
TYPES = {"f32": (np.float32, TensorProto.FLOAT), "f64": (np.float64, TensorProto.DOUBLE), "i64": (np.int64, TensorProto.INT64),
         "i32": (np.int32, TensorProto.INT32), "str": (object, TensorProto.STRING)}
rng = np.random.default_rng(4)
jobs = []


def plain(array, kind):
    values = [v if kind == "str" else "nan" if v != v else float("%.9g" % v) if kind == "f32" else v.item() for v in array.reshape(-1)]
    return {"t": kind, "s": list(array.shape), "v": values}


def case(op, version, inputs, outputs, ignored=(), runtime=None, **attributes):
    """inputs: (kind, array) pairs; outputs: kinds; runtime: attributes that ONNX Runtime needs in place of the real ones."""
    arrays = [(kind, np.asarray(array, dtype=TYPES[kind][0])) for kind, array in inputs]
    told, given = {}, {}
    for name, value in attributes.items():
        if isinstance(value, tuple):
            kind, array = value[0], np.asarray(value[1], dtype=np.uint8 if value[0] == "u8" else TYPES[value[0]][0])
            told[name], given[name] = {"t": plain(array, kind)}, numpy_helper.from_array(array, name)
            continue
        if isinstance(value, np.ndarray):
            value = value.astype(np.float32).reshape(-1).tolist() if value.dtype.kind == "f" else value.reshape(-1).tolist()
        first = value[0] if isinstance(value, list) else value
        key = "i" if isinstance(first, int) else "f" if isinstance(first, float) else "s"
        if isinstance(value, list) and key == "f":
            told[name], given[name] = {"fs": ["nan" if v != v else v for v in value]}, value
            continue
        if value != value:
            told[name], given[name] = {"f": "nan"}, value
            continue
        told[name], given[name] = {key + ("s" if isinstance(value, list) else ""): value}, value
    given.update(runtime or {})
    node = helper.make_node(op, ["x%d" % i for i in range(len(arrays))], ["y%d" % i for i in range(len(outputs))], domain="ai.onnx.ml", **given)
    graph = helper.make_graph([node], op, [helper.make_tensor_value_info("x%d" % i, TYPES[k][1], a.shape) for i, (k, a) in enumerate(arrays)],
                              [helper.make_tensor_value_info("y%d" % i, TYPES[k][1], None) for i, k in enumerate(outputs)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("ai.onnx.ml", version), helper.make_opsetid("", 16)], ir_version=8)
    jobs.append(({"op": op, "version": version, "attributes": told, "in": [plain(a, k) for k, a in arrays]}, model, ignored))


# ---- trees


def tree(tree_id, depth, features, modes):
    """Nodes of one full tree, [id, feature, value, mode, true, false], numbered level by level."""
    nodes = []
    for i in range(2 ** depth - 1):
        nodes.append([tree_id, i, int(rng.integers(features)), float(np.float32(round(rng.normal(), 2))), modes[int(rng.integers(len(modes)))], 2 * i + 1, 2 * i + 2])
    for i in range(2 ** depth - 1, 2 ** (depth + 1) - 1):
        nodes.append([tree_id, i, 0, 0.0, "LEAF", 0, 0])
    return nodes


def forest(trees, depth, features, modes=("BRANCH_LEQ",), missing=False, as_tensor=False):
    nodes = [node for t in range(trees) for node in tree(t, depth, features, modes)]
    columns = list(zip(*nodes))
    made = dict(nodes_treeids=list(columns[0]), nodes_nodeids=list(columns[1]), nodes_featureids=list(columns[2]),
                nodes_modes=list(columns[4]), nodes_truenodeids=list(columns[5]), nodes_falsenodeids=list(columns[6]))
    made["nodes_values_as_tensor" if as_tensor else "nodes_values"] = ("f64", columns[3]) if as_tensor else list(columns[3])
    if missing:
        made["nodes_missing_value_tracks_true"] = [int(rng.integers(2)) for _ in nodes]
    leaves = [(n[0], n[1]) for n in nodes if n[4] == "LEAF"]
    return made, leaves


def features(rows, columns, holes=False):
    x = rng.normal(size=(rows, columns)).round(2).astype(np.float32)
    if holes:
        x[rng.random(x.shape) < 0.3] = np.nan
    return x


def regressor(targets=1, dtype="f32", missing=False, as_tensor=False, base=None, modes=("BRANCH_LEQ",), version=3, trees=3, **more):
    nodes, leaves = forest(trees, 2, 4, modes, missing, as_tensor)
    ids = [int(rng.integers(targets)) for _ in leaves]
    if base and targets > 1:
        leaves, ids = leaves * targets, [t for t in range(targets) for _ in leaves]
    weights = [float(np.float32(rng.normal())) for _ in leaves]
    if more.get("post_transform") == "PROBIT":
        weights = [abs(w) % 1 / trees for w in weights]
    made = dict(target_treeids=[t for t, _ in leaves], target_nodeids=[n for _, n in leaves], target_ids=ids, n_targets=targets, **nodes, **more)
    made["target_weights_as_tensor" if as_tensor else "target_weights"] = ("f64", weights) if as_tensor else weights
    if base:
        made["base_values_as_tensor" if as_tensor else "base_values"] = ("f64", base) if as_tensor else base
    x = features(6, 4, missing)
    if dtype in ("i64", "i32"):
        x = (x * 2).astype(np.int64)
    case("TreeEnsembleRegressor", version, [(dtype, x)], ["f32"], **made)


ALL_MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
for aggregate in ("SUM", "AVERAGE", "MIN", "MAX"):
    regressor(aggregate_function=aggregate)
    regressor(targets=3, aggregate_function=aggregate, base=[0.5, -1.0, 2.0])
    regressor(aggregate_function=aggregate, base=[0.25])
for mode in ALL_MODES:
    regressor(modes=(mode,), missing=True)
regressor(modes=ALL_MODES, missing=True, targets=2, trees=5)
regressor(dtype="f64", as_tensor=True, base=[1.5])
regressor(version=1)
for transform in ("LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"):
    regressor(targets=3, post_transform=transform, **({"base": [0.25, 0.125, 0.5]} if transform == "PROBIT" else {}))
regressor(post_transform="PROBIT", base=[0.125])


def classifier(labels, positive=False, one=None, dtype="f32", base=None, transform="NONE", trees=3, version=3, as_tensor=False, **more):
    nodes, leaves = forest(trees, 2, 4, ("BRANCH_LEQ", "BRANCH_GT"), False, as_tensor)
    weights = [float(np.float32(rng.normal())) for _ in leaves]
    if positive:
        weights = [abs(w) % 1 / trees for w in weights]
    ids = [one if one is not None else int(rng.integers(len(labels))) for _ in leaves]
    both = len(labels) == 2 and one is None
    if both:  # every leaf speaks about both classes
        leaves, ids, weights = leaves * 2, [0] * len(leaves) + [1] * len(leaves), weights + weights[::-1]
    made = dict(class_treeids=[t for t, _ in leaves], class_nodeids=[n for _, n in leaves], class_ids=ids, post_transform=transform, **nodes, **more)
    made["class_weights_as_tensor" if as_tensor else "class_weights"] = ("f64", weights) if as_tensor else weights
    if base:
        made["base_values_as_tensor" if as_tensor else "base_values"] = ("f64", base) if as_tensor else base
    texts = isinstance(labels[0], str)
    made["classlabels_strings" if texts else "classlabels_int64s"] = labels
    case("TreeEnsembleClassifier", version, [(dtype, features(6, 4))], ["str" if texts else "i64", "f32"], ignored=[0] if both else [], **made)


for transform in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"):
    classifier([3, 5, 9], transform=transform)
    classifier(["a", "b", "c"], transform=transform, base=[0.5, -0.5, 0.25], version=1)
    for positive in (False, True):
        for one in (0, 1, None):
            classifier([7, 8], transform=transform, positive=positive, one=one)
    classifier(["no", "yes"], transform=transform, one=0, base=[0.25])
classifier([1, 2, 3], dtype="f64", as_tensor=True)
classifier([4, 6, 8], trees=1)


# ONNX Runtime takes 1 for LOGISTIC and 2 for SOFTMAX; the specification has them the other way round.
def ensemble(dtype="f32", targets=1, transform=0, aggregate=1, missing=False):
    splits, modes, ids, true, false, true_leaf, false_leaf, track, members, weights, targetids = [], [], [], [], [], [], [], [], [], [], []
    roots = []
    for _ in range(3):
        root = len(splits)
        roots.append(root)
        for i in range(3):
            mode = int(rng.integers(7))
            modes.append(mode)
            ids.append(int(rng.integers(1, 3)) if mode == 6 else int(rng.integers(4)))
            splits.append(float(np.float32(round(rng.normal(), 1))))
            track.append(int(rng.integers(2)))
            if mode == 6:
                members += [float(v) for v in rng.choice(5, size=2, replace=False) + 1] + [float("nan")]
            for child, leaf in ((true, true_leaf), (false, false_leaf)):
                if i == 0:
                    child.append(root + 1 + (leaf is false_leaf))
                    leaf.append(0)
                else:
                    child.append(len(weights))
                    leaf.append(1)
                    weights.append(float(np.float32(rng.normal())))
                    targetids.append(int(rng.integers(targets)))
    x = features(7, 4, missing)
    x[:, 1:3] = rng.integers(1, 6, size=(7, 2))
    case("TreeEnsemble", 5, [(dtype, x)], [dtype], nodes_splits=(dtype, splits), nodes_modes=("u8", modes), nodes_featureids=ids,
         nodes_truenodeids=true, nodes_falsenodeids=false, nodes_trueleafs=true_leaf, nodes_falseleafs=false_leaf, tree_roots=roots,
         leaf_weights=(dtype, weights), leaf_targetids=targetids, membership_values=(dtype, members), n_targets=targets,
         aggregate_function=aggregate, post_transform=transform, runtime={"post_transform": {1: 2, 2: 1}.get(transform, transform)}, **({"nodes_missing_value_tracks_true": track} if missing else {}))


for dtype in ("f32", "f64"):
    for aggregate in range(4):
        ensemble(dtype, 2, 0, aggregate)
for transform in (1, 2, 3):
    ensemble("f32", 3, transform)
ensemble("f32", 2, missing=True)
ensemble("f32")

# ---- support vector machines

PARAMETERS = [0.5, 0.25, 3.0]
for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
    for one_class in (0, 1):
        case("SVMRegressor", 1, [("f32", features(5, 3))], ["f32"], coefficients=rng.normal(size=4), support_vectors=rng.normal(size=(4, 3)),
             kernel_type=kernel, kernel_params=PARAMETERS, n_supports=4, rho=[0.125], one_class=one_class)
case("SVMRegressor", 1, [("f32", features(5, 3))], ["f32"], coefficients=rng.normal(size=3), rho=[0.5], kernel_type="LINEAR", kernel_params=PARAMETERS)


def svm(labels, kernel="RBF", probabilities=False, transform="NONE", dtype="f32"):
    classes = len(labels)
    per_class = [2, 3, 2, 1][:classes]
    total, pairs = sum(per_class), classes * (classes - 1) // 2
    made = dict(coefficients=rng.normal(size=(classes - 1, total)), support_vectors=rng.normal(size=(total, 3)), vectors_per_class=per_class,
                kernel_type=kernel, kernel_params=PARAMETERS, rho=rng.normal(size=pairs) / 4, post_transform=transform)
    if probabilities:
        made.update(prob_a=-1 - rng.random(pairs), prob_b=rng.normal(size=pairs) / 8)
    texts = isinstance(labels[0], str)
    made["classlabels_strings" if texts else "classlabels_ints"] = labels
    case("SVMClassifier", 1, [(dtype, features(6, 3))], ["str" if texts else "i64", "f32"], **made)


for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
    svm([0, 1], kernel)
    svm(["x", "y", "z"], kernel)
for transform in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"):
    svm([0, 1], transform=transform)
    svm([3, 4, 5], transform=transform)
    svm([0, 1], probabilities=True, transform=transform)
    svm(["p", "q", "r", "s"], probabilities=True, transform=transform)
svm([0, 1, 2], dtype="f64", probabilities=True)
for labels in ([4, 5], [1, 2, 3]):
    case("SVMClassifier", 1, [("f32", features(6, 3))], ["i64", "f32"], coefficients=rng.normal(size=(len(labels), 3)), rho=[0.25], classlabels_ints=labels, kernel_params=PARAMETERS)

# ---- linear models

for transform in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"):
    case("LinearClassifier", 1, [("f32", features(5, 3))], ["i64", "f32"], coefficients=rng.normal(size=(3, 3)), intercepts=rng.normal(size=3),
         classlabels_ints=[10, 20, 30], post_transform=transform)
    case("LinearClassifier", 1, [("f32", features(5, 3))], ["str", "f32"], coefficients=rng.normal(size=(2, 3)), intercepts=rng.normal(size=2),
         classlabels_strings=["n", "p"], post_transform=transform)
    case("LinearRegressor", 1, [("f32", features(5, 3))], ["f32"], coefficients=rng.normal(size=(2, 3)), intercepts=rng.normal(size=2), targets=2,
         post_transform=transform)
    case("LinearClassifier", 1, [("f32", features(5, 3))], ["i64", "f32"], coefficients=rng.normal(size=3), intercepts=rng.normal(size=1),
         classlabels_ints=[0, 1], post_transform=transform)
case("LinearRegressor", 1, [("f32", features(5, 3))], ["f32"], coefficients=rng.normal(size=3))

# ---- features

for dtype in ("f32", "f64", "i32", "i64"):
    x = features(3, 4) * (10 if dtype[0] == "i" else 1)
    case("Scaler", 1, [(dtype, x)], ["f32"], offset=[0.5, -1.0, 2.0, 0.0], scale=[2.0, 0.5, 1.0, -1.0])
    case("Scaler", 1, [(dtype, x)], ["f32"], offset=[0.5], scale=[2.0])
    for norm in ("MAX", "L1", "L2"):
        case("Normalizer", 1, [(dtype, np.where(np.arange(3)[:, None] == 1, 0, x))], ["f32"], norm=norm)
    if dtype in ("f32", "i32"):
        case("Binarizer", 1, [(dtype, x)], [dtype], threshold=0.25) if dtype == "f32" else None
case("Imputer", 1, [("f32", [[1, np.nan, 3], [np.nan, 5, 6]])], ["f32"], imputed_value_floats=[7.0, 8.0, 9.0], replaced_value_float=float("nan"))
case("Imputer", 1, [("f32", [[1, -1, 3], [-1, 5, 6]])], ["f32"], imputed_value_floats=[7.5], replaced_value_float=-1.0)
case("Imputer", 1, [("i64", [[1, -1, 3], [-1, 5, -1]])], ["i64"], imputed_value_int64s=[7, 8, 9], replaced_value_int64=-1)
case("OneHotEncoder", 1, [("i64", [3, 5, 9, 4])], ["f32"], cats_int64s=[5, 9, 3])
case("OneHotEncoder", 1, [("f32", [[3], [5], [9]])], ["f32"], cats_int64s=[5, 9, 3], zeros=0)
case("OneHotEncoder", 1, [("str", [["b", "c"], ["a", "z"]])], ["f32"], cats_strings=["a", "b", "c"])
case("FeatureVectorizer", 1, [("f32", features(3, 2)), ("f32", features(3, 1))], ["f32"], inputdimensions=[2, 1])
case("FeatureVectorizer", 1, [("f32", features(3, 3)), ("f32", features(3, 1))], ["f32"], inputdimensions=[2, 3])
case("FeatureVectorizer", 1, [("i64", [[1], [2]]), ("i64", [[3, 4], [5, 6]])], ["f32"], inputdimensions=[1, 2])
case("CategoryMapper", 1, [("str", [["cat", "dog"], ["cow", "cat"]])], ["i64"], cats_strings=["cat", "dog"], cats_int64s=[10, 20], default_int64=-7)
case("CategoryMapper", 1, [("i64", [10, 20, 30])], ["str"], cats_strings=["cat", "dog"], cats_int64s=[10, 20], default_string="?")
case("LabelEncoder", 1, [("str", ["b", "a", "z"])], ["i64"], classes_strings=["a", "b"], default_int64=-3)
case("LabelEncoder", 1, [("i64", [1, 0, 5])], ["str"], classes_strings=["a", "b"], default_string="none")
case("LabelEncoder", 2, [("i64", [1, 0, 5])], ["f32"], keys_int64s=[1, 5], values_floats=[0.5, 2.5], default_float=-1.0)
case("LabelEncoder", 4, [("f32", [1, np.nan, 5])], ["str"], keys_floats=[1.0, float("nan")], values_strings=["one", "hole"], default_string="other")
case("LabelEncoder", 4, [("f64", [1, 2, 3])], ["i64"], keys_tensor=("f64", [1, 2]), values_tensor=("i64", [10, 20]), default_tensor=("i64", [99]))
case("ArrayFeatureExtractor", 1, [("f32", features(3, 4)), ("i64", [2, 0])], ["f32"])
case("ArrayFeatureExtractor", 1, [("f32", features(2, 3)[0]), ("i64", [2])], ["f32"])

with tempfile.TemporaryDirectory() as folder:
    listed = []
    for number, (line, model, _) in enumerate(jobs):
        path = os.path.join(folder, "%d.onnx" % number)
        onnx.save(model, path)
        listed.append({"model": path, "in": line["in"]})
    job_file = os.path.join(folder, "jobs.json")
    with open(job_file, "w") as stream:
        json.dump(listed, stream)
    answers = subprocess.run(["node", "-e", RUN, job_file], check=True, capture_output=True, text=True).stdout.splitlines()
for (line, _, ignored), answer in zip(jobs, answers):
    result = json.loads(answer)
    if isinstance(result, dict):
        print(line["op"], line["version"], {k: v for k, v in line["attributes"].items() if len(str(v)) < 60}, result["error"], file=sys.stderr)
        continue
    for y in result:
        if y["t"] == "f32":
            y["v"] = [v if isinstance(v, str) else float("%.7g" % v) for v in y["v"]]
    line["out"] = [None if i in ignored else y for i, y in enumerate(result)]
    print(json.dumps(line, separators=(",", ":"), ensure_ascii=False))
