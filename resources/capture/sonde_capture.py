# Copyright The Sonde developers
# SPDX-License-Identifier: Apache-2.0
"""Stores what a model computes in Python as a reference file for Sonde.

    import sonde_capture
    with sonde_capture.record(model, "ref.npz"):
        model(x)

    $ sonde check model.pt ref.npz

One file, to be copied beside your own code. record() needs torch (1.13 or 2.x) and numpy, record_onnx() needs onnx,
onnxruntime and numpy.

Keys of the .npz, as `sonde check` reads them:

    in.NAME                    input, by the name of forward's parameter
    out.NAME                   output: "out", "out_0", "out_1_0" in tuples, KEY in dicts
    node.NODE                  value of an operation of torch.fx ("layer1_0_conv1", "add_1"); where torch.fx cannot trace
                               the model, of the layers of torch.nn that are called once, by the same names
    node.QUALNAME:             output of a module that no NODE stands for ("encoder.block:"); of its second call and so on
                               node.QUALNAME:1 …
    node.NODE.0, node.NODE.'k' parts of tuples, lists and dicts
    KEY.shape, .stats, .head   instead of a value of more than max_bytes: shape, (mean, population std, min, max), first
                               64 elements
    case1.in.NAME, …           the second call of the model, and so on

The member sonde_capture.json of the archive names the module and its class for every node, and says what is missing.
"""
import builtins
import copy
import dis
import inspect
import json
import keyword
import os
import re
import sys
import threading
import warnings
import zipfile
from collections import Counter
from collections.abc import Mapping

import numpy as np

try:
    import torch
    from torch import fx
except ImportError:  # record_onnx() works without
    torch = fx = None

__all__ = ["record", "record_onnx"]

MAX_BYTES = 16 << 20  # of one value; larger ones are stored as .shape, .stats and .head
HEAD = 64             # elements of .head
INDEX = "sonde_capture.json"


# --- values as arrays -------------------------------------------------------------------------------------------------


def _tensor_array(tensor):
    """A tensor of any device, layout and dtype; what numpy has no dtype for (bfloat16, float8) as float32."""
    tensor = tensor.detach()
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    tensor = tensor.cpu().resolve_conj().resolve_neg()
    if tensor.is_floating_point() and tensor.dtype not in (torch.float16, torch.float32, torch.float64):
        tensor = tensor.float()
    return tensor.numpy()


def _is_number(value):
    return isinstance(value, (bool, int, float, complex, np.generic))


def _as_array(value):
    """The array of a tensor, a number, or a list of numbers such as a size; None for everything else."""
    if torch is not None and isinstance(value, torch.Tensor):
        array = _tensor_array(value)
    elif isinstance(value, np.ndarray) or _is_number(value):
        array = np.asarray(value)
    elif isinstance(value, (list, tuple)) and value and all(_is_number(item) for item in value):
        array = np.asarray(value)
    else:
        return None
    return array if array.dtype.kind in "biufc" else None


def _parts(value, key):
    """(key, array) of a value and, in structures, of its parts. Keys of dicts are in quotes, as `sonde check` has them."""
    array = _as_array(value)
    if array is not None:
        yield key, array
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _parts(item, "%s.%s" % (key, "'%s'" % name if isinstance(name, str) else name))
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from _parts(item, "%s.%d" % (key, i))


def _named_outputs(value, name="out"):
    """(name, array) of the outputs, named as Sonde names those of an archive of torch.jit."""
    array = _as_array(value)
    if array is not None:
        yield name, array
    elif isinstance(value, Mapping):
        for i, (key, item) in enumerate(value.items()):
            part = key if isinstance(key, str) else str(i)
            is_alone = name == "out" and isinstance(key, str)
            yield from _named_outputs(item, part if is_alone else name + "_" + part)
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from _named_outputs(item, "%s_%d" % (name, i))


def _statistics(array):
    """float64: mean, population standard deviation, min, max. In pieces, so that large values need little memory."""
    flat = array.reshape(-1)
    pieces = [flat[i:i + (1 << 20)] for i in range(0, flat.size, 1 << 20)]
    with np.errstate(all="ignore"):
        mean = sum(piece.sum(dtype=np.float64) for piece in pieces) / flat.size
        squares = sum(np.square(piece.astype(np.float64) - mean).sum() for piece in pieces)
        return np.array([mean, np.sqrt(squares / flat.size), flat.min(), flat.max()], dtype=np.float64)


def _entries(key, array, max_bytes):
    """The arrays to store for one value: copies, since the model may write to the memory later."""
    if max_bytes is None or array.nbytes <= max_bytes or array.size <= HEAD:
        return {key: np.array(array, order="C", copy=True)}
    array = np.asarray(array, order="C")
    summary = {key + ".shape": np.asarray(array.shape, dtype=np.int64)}
    if array.dtype.kind != "c":  # complex numbers have no minimum
        summary[key + ".stats"] = _statistics(array)
        summary[key + ".head"] = array.reshape(-1)[:HEAD].copy()
    return summary


# --- the file ---------------------------------------------------------------------------------------------------------


class _Archive:
    """An .npz that is under its name only when it is complete. Members are not compressed: Sonde maps them."""

    def __init__(self, path):
        self._path = os.fspath(path)
        self._temporary = "%s.%d.tmp" % (self._path, os.getpid())
        self._zip = zipfile.ZipFile(self._temporary, "w", zipfile.ZIP_STORED, allowZip64=True)

    def add(self, values):
        for key, array in values.items():
            with self._zip.open(zipfile.ZipInfo(key + ".npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)

    def commit(self, **index):
        index = dict({"format": "sonde-capture", "version": 1}, **index)
        self._zip.writestr(zipfile.ZipInfo(INDEX), json.dumps(index, indent=1))
        self._zip.close()
        os.replace(self._temporary, self._path)

    def discard(self):
        try:
            self._zip.close()
        finally:
            if os.path.exists(self._temporary):
                os.remove(self._temporary)


# --- torch.fx: the operations between the modules ---------------------------------------------------------------------

if fx is not None:

    class _Unpacked:
        """Iteration of torch 1.13's proxies finds the calling instruction by a rule that Python 3.11 broke."""

        def __iter__(self):
            frame = sys._getframe(1)
            for instruction in dis.get_instructions(frame.f_code):
                if instruction.offset == frame.f_lasti and instruction.opname == "UNPACK_SEQUENCE":
                    return (self[i] for i in range(instruction.argval))
            return self.tracer.iter(self)

    class _Proxy(_Unpacked, fx.Proxy):
        def __getattr__(self, name):
            return _Attribute(self, name)

    class _Attribute(_Unpacked, fx.proxy.Attribute):
        pass

    _NEEDS_OWN_PROXY = sys.version_info >= (3, 11) and torch.__version__.startswith("1.")

    class _Tracer(fx.Tracer):
        """Notes the module that each operation is from, and the modules whose results are nodes."""

        def __init__(self, concrete):
            super().__init__()
            self.concrete = concrete  # arguments that are no tensors: branches on them are those of this call
            self.origins = {}         # name of a node → qualname
            self.covered = set()      # qualnames
            self._path = [""]

        def proxy(self, node):
            return _Proxy(node, self) if _NEEDS_OWN_PROXY else super().proxy(node)

        def create_proxy(self, kind, target, *args, **kwargs):
            proxy = super().create_proxy(kind, target, *args, **kwargs)
            self.origins[proxy.node.name] = self._path[-1]
            return self.concrete[target] if kind == "placeholder" and target in self.concrete else proxy

        def call_module(self, m, forward, args, kwargs):
            self._path.append(self.path_of_module(m))
            try:
                result = super().call_module(m, forward, args, kwargs)
            finally:
                qualname = self._path.pop()
            found = []
            fx.node.map_aggregate(result, lambda item: found.append(isinstance(item, fx.Proxy)))
            if found and all(found):
                self.covered.add(qualname)
            return result

    class _Interpreter(fx.Interpreter):
        """Hands over every value as it is when its node has run, before a later node writes to it."""

        def __init__(self, module, keep):
            super().__init__(module)
            self._keep = keep

        def run_node(self, n):
            value = super().run_node(n)
            if n.op not in ("placeholder", "output"):  # these are in.NAME and out.NAME
                self._keep(n, value)
            return value


def _replica(model):
    """A copy with the same parameters and its own buffers and attributes: tracing and running it changes nothing of the
    model."""
    memo = {id(parameter): parameter for parameter in model.parameters()}
    for module in model.modules():
        for value in vars(module).values():
            if isinstance(value, torch.Tensor) and value.grad_fn is not None:
                memo[id(value)] = value  # deepcopy refuses computed tensors, as the weight of weight_norm
    return copy.deepcopy(model, memo)


def _cloned(value):
    """Structures of tensors, copied before the model may write to them."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_cloned(item) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_cloned(item) for item in value)
    return {key: _cloned(item) for key, item in value.items()} if isinstance(value, dict) else value


def _random_state():
    return torch.get_rng_state(), torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None


def _set_random_state(state):
    torch.set_rng_state(state[0])
    if state[1] is not None:
        torch.cuda.set_rng_state_all(state[1])


def _agree(one, other):
    """Whether two results are the same, as far as parallel sums are."""
    one, other = list(_parts(one, "")), list(_parts(other, ""))
    if [(key, a.shape, a.dtype) for key, a in one] != [(key, a.shape, a.dtype) for key, a in other]:
        return False
    for (_, a), (_, b) in zip(one, other):
        finite = np.abs(a[np.isfinite(a)])
        if not np.allclose(a, b, rtol=0, atol=1e-3 * float(finite.max()) if finite.size else 0, equal_nan=True):
            return False
    return True


def _first_line(error):
    text = str(error).strip().split("\n")[0]
    return "%s: %s" % (type(error).__name__, text) if text else type(error).__name__


# --- record -----------------------------------------------------------------------------------------------------------


class _Names:
    """The names that torch.fx gives to calls of modules: "layer1_0_relu"; "layer1_0_relu_1" if that is taken."""

    def __init__(self, used):
        self._used = set(used)

    def make(self, qualname):
        text = re.sub("[^0-9a-zA-Z_]+", "_", qualname)
        text = "_" + text if text[0].isdigit() else text
        match = re.match(r"(.*)_(\d+)$", text)
        base, number = (match.group(1), int(match.group(2))) if match else (text, 0)
        name = "%s_%d" % (base, number) if match else text
        while name in self._used or keyword.iskeyword(name) or hasattr(builtins, name):
            number += 1
            name = "%s_%d" % (base, number)
        self._used.add(name)
        return name


class _Call:
    """One call of a module inside a call of the model."""

    def __init__(self, qualname, is_node, parts):
        self.qualname = qualname
        self.is_node = is_node  # a layer of torch.nn that is not part of another one: a node of torch.fx
        self.parts = parts      # {path into the value and suffix: array}


_recorders = []  # in use; the innermost last
_recorders_lock = threading.Lock()
_module_call = None  # torch.nn.Module.__call__ while there are none


def _recorded_call(module, *args, **kwargs):
    """torch.nn.Module.__call__ while something is recorded. No hook is put on the model."""

    def through(waiting):
        if not waiting:
            return _module_call(module, *args, **kwargs)
        return waiting[-1]._around(module, args, kwargs, lambda: through(waiting[:-1]))

    return through(list(_recorders))


class _Recorder:
    """See record(). Attributes for the caller: cases (how many calls are stored), notes (what is missing and why)."""

    def __init__(self, model, path, options):
        self.model = model
        self.path = path
        self.cases = 0
        self.notes = []
        self._max_bytes, self._operations, self._traced, self._input_names, self._output_names = options
        self._archive = None
        self._qualnames = {}  # by id of the module
        self._leaves = set()  # ids of layers that torch.fx does not look into
        self._graphs = {}     # (graph, tracer) or None, by the arguments that are no tensors
        self._nodes = {}      # for the index
        self._thread = None   # where the model's call runs
        self._calls = []
        self._depth_in_leaf = 0

    def __enter__(self):
        global _module_call
        tracer = fx.Tracer()
        for qualname, module in self.model.named_modules():
            self._qualnames[id(module)] = qualname
            if qualname and tracer.is_leaf_module(module, qualname):
                self._leaves.add(id(module))
        self._archive = _Archive(self.path)  # now: a folder that does not exist is told before the model runs
        with _recorders_lock:
            if not _recorders:
                _module_call, torch.nn.Module.__call__ = torch.nn.Module.__call__, _recorded_call
            _recorders.append(self)
        return self

    def __exit__(self, kind, error, trace):
        with _recorders_lock:
            _recorders.remove(self)
            if not _recorders:
                torch.nn.Module.__call__ = _module_call
        if kind is not None or self.cases == 0:
            self._archive.discard()
            if kind is None:
                raise RuntimeError("the model was not called inside the with statement: %s is not written" % self.path)
            return False
        self._archive.commit(torch=torch.__version__, model=_class_name(self.model), cases=self.cases,
                             notes=self.notes, nodes=self._nodes)
        for note in self.notes:
            warnings.warn("sonde_capture: " + note, stacklevel=2)
        return False

    def _note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    # calls of modules

    def _around(self, module, args, kwargs, call):
        qualname = self._qualnames.get(id(module))
        is_elsewhere = self._thread is not None and self._thread != threading.get_ident()
        if qualname is None or is_elsewhere or torch.jit.is_tracing():
            return call()
        if self._thread is None:
            return self._run_case(args, kwargs, call) if module is self.model else call()
        is_leaf = id(module) in self._leaves
        is_node = is_leaf and self._depth_in_leaf == 0
        self._depth_in_leaf += is_leaf
        try:
            value = call()
        finally:
            self._depth_in_leaf -= is_leaf
        if qualname:
            self._calls.append(_Call(qualname, is_node, self._kept(value, self._traced and is_node)))
        return value

    def _kept(self, value, tensors_only=False):
        """The arrays of a value, by the path into it and their suffix."""
        if tensors_only and not isinstance(value, torch.Tensor):
            return {}
        try:
            return {key: entry for path, array in _parts(value, "")
                    for key, entry in _entries(path, array, self._max_bytes).items()}
        except (RuntimeError, TypeError, NotImplementedError) as error:
            self._note("values that have no array are missing (%s)" % _first_line(error))
            return {}

    def _run_case(self, args, kwargs, call):
        arguments = self._arguments(args, kwargs)
        values = self._inputs(arguments)
        replay = self._prepare(args, kwargs)
        self._calls, self._depth_in_leaf = [], 0
        self._thread = threading.get_ident()
        try:
            result = call()
        finally:
            self._thread = None
        values.update(self._outputs(result))
        operations = self._operation_values(replay, result) if replay else None
        values.update(self._module_values(arguments) if operations is None else operations)
        prefix = "case%d." % self.cases if self.cases else ""
        self._archive.add({prefix + key: array for key, array in values.items()})
        self.cases += 1
        self._calls = []
        return result

    # inputs and outputs

    def _arguments(self, args, kwargs):
        """What was given, by the names of forward's parameters."""
        if isinstance(self.model, torch.jit.ScriptModule):
            names = [argument.name for argument in self.model.forward.schema.arguments][1:]
            return dict(zip(names, args), **kwargs)
        signature = inspect.signature(self.model.forward)
        arguments = {}
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            kind = signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                arguments.update(("%s_%d" % (name, i), item) for i, item in enumerate(value))
            elif kind is inspect.Parameter.VAR_KEYWORD:
                arguments.update(value)
            else:
                arguments[name] = value
        return arguments

    def _inputs(self, arguments):
        """Whole, whatever their size: the model is run on them."""
        parts = [part for name, value in arguments.items() for part in _parts(value, name)]
        names = _renamed([key for key, _ in parts], self._input_names, "input_names", "inputs")
        return {"in." + name: np.array(array, order="C", copy=True) for name, (_, array) in zip(names, parts)}

    def _outputs(self, result):
        parts = list(_named_outputs(result))
        names = _renamed([name for name, _ in parts], self._output_names, "output_names", "outputs")
        return {key: entry for name, (_, array) in zip(names, parts)
                for key, entry in _entries("out." + name, array, self._max_bytes).items()}

    # operations: the graph of torch.fx, run a second time on a copy

    def _prepare(self, args, kwargs):
        """What the second run needs of the state before the first one; None if torch.fx cannot trace the model."""
        if not self._operations or isinstance(self.model, torch.jit.ScriptModule):
            return None
        before = _random_state()
        try:
            signature = inspect.signature(self.model.forward)
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            concrete = {name: value for name, value in bound.arguments.items()
                        if value is None or isinstance(value, (bool, int, float, str))}
            key = repr(sorted(concrete.items()))
            if key not in self._graphs:
                self._graphs[key] = None
                tracer = _Tracer(concrete)
                self._graphs[key] = (tracer.trace(_replica(self.model)), tracer)
            if self._graphs[key] is None:
                return None
            arguments = []
            for name, value in bound.arguments.items():
                is_rest = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
                arguments += value if is_rest else [value]
            return self._graphs[key], _replica(self.model), _cloned(arguments), before
        except Exception as error:  # whatever the code of the model does with a proxy, or a copy of it with itself
            self._note("torch.fx cannot trace the model (%s): values of modules only" % _first_line(error))
            return None
        finally:
            _set_random_state(before)  # tracing draws the numbers that no proxy stands for

    def _operation_values(self, replay, result):
        (graph, tracer), replica, arguments, before = replay
        kept, vague = {}, set()

        def keep(node, value):
            kept[node.name] = self._kept(value, self._traced)
            if self._traced and not isinstance(value, torch.Tensor):
                vague.add(_counted(node))

        after = _random_state()
        try:
            _set_random_state(before)
            again = _Interpreter(fx.GraphModule(replica, graph), keep).run(*arguments)
        except Exception as error:
            self._note("the graph of torch.fx does not run (%s): values of modules only" % _first_line(error))
            return None
        finally:
            _set_random_state(after)
        if not _agree(result, again):
            self._note("the graph of torch.fx gives other outputs than the model: values of modules only")
            return None
        values = {}
        for node in graph.nodes:
            if node.name in kept and _counted(node) not in vague:
                values.update(self._stored(node.name, tracer.origins.get(node.name, ""), kept[node.name]))
        values.update(self._unnamed_values(tracer.covered))
        return values

    # modules alone

    def _module_values(self, arguments):
        """Layers that are called once have the names that torch.fx would give them. Of others Sonde counts the calls in
        branches and loops anew, and a name might be another call's."""
        names, values = _Names(arguments), {}
        counts = Counter(call.qualname for call in self._calls)
        named = {call.qualname: names.make(call.qualname)
                 for call in self._calls if call.is_node and counts[call.qualname] == 1}
        for call in self._calls:
            if call.qualname in named:
                values.update(self._stored(named[call.qualname], call.qualname, call.parts))
        values.update(self._unnamed_values(named))
        return values

    def _unnamed_values(self, named):
        """Of all modules that are not in `named`, by their qualnames."""
        values, counts = {}, Counter()
        for call in self._calls:
            if call.qualname not in named:
                name = "%s:%s" % (call.qualname, counts[call.qualname] or "")
                values.update(self._stored(name, call.qualname, call.parts))
                counts[call.qualname] += 1
        return values

    def _stored(self, name, qualname, parts):
        self._nodes[name] = {"qualname": qualname, "class": _class_name(self.model.get_submodule(qualname))}
        return {"node." + name + key: array for key, array in parts.items()}


def _counted(node):
    """What the names of a kind of operations begin with ("getitem" of "getitem_3"); of others the name."""
    return re.sub(r"_\d+$", "", node.name) if node.op in ("call_function", "call_method") else node.name


def _class_name(module):
    return "%s.%s" % (type(module).__module__, type(module).__qualname__)


def _renamed(names, given, option, what):
    if given is not None and len(given) != len(names):
        raise ValueError("%s has %d names, and the model has %d %s: %s" % (option, len(given), len(names), what,
                                                                           ", ".join(names)))
    return names if given is None else given


def record(model, path, *, max_bytes=MAX_BYTES, operations=True, traced=False, input_names=None, output_names=None):
    """Context manager: stores every call of `model` inside the with statement in the .npz `path`.

    model         a torch.nn.Module in Python. Of a module of torch.jit only inputs and outputs are seen
    max_bytes     larger values are stored as .shape, .stats and .head; None: all are stored whole. Inputs always are
    operations    False: values of modules only. Otherwise, if torch.fx can trace the model, its graph is run after each
                  call, on a copy with the same parameters, random numbers and inputs
    traced        True: the file is for an archive of torch.jit.trace(), which flattens tuples inside and takes sizes for
                  constants. What it names differently is left out: layers that return tuples (LSTM), sizes, and
                  operations whose names are counted together with those
    input_names, output_names   as in torch.onnx.export(), to compare with an ONNX file that has such names

    The file is written at the end of the with statement, and not if an exception leaves that; a call that failed with an
    exception which was caught inside is left out. Compile the model outside. Errors: RuntimeError if the model was not
    called; OSError if the file cannot be written; ValueError if there are more or fewer inputs or outputs than names.
    What is missing is a warning, and in the `notes` of the object that `with … as` gives.
    """
    if torch is None:
        raise ImportError("sonde_capture.record needs torch: https://pytorch.org, or Debian's python3-torch")
    if isinstance(model, (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)):
        model = model.module
    if not isinstance(model, torch.nn.Module):
        raise TypeError("model is a %s, not a torch.nn.Module" % type(model).__name__)
    if hasattr(model, "_orig_mod"):
        raise TypeError("of a compiled model the modules are not called: record the one given to torch.compile()")
    return _Recorder(model, path, (max_bytes, operations, traced, input_names, output_names))


# --- ONNX Runtime -----------------------------------------------------------------------------------------------------


def record_onnx(model, inputs, path, *, max_bytes=MAX_BYTES):
    """Runs the ONNX file `model` in ONNX Runtime, without its optimisations, and stores every value of the main graph.

    inputs      {name: array}, or a list of these: one for each case. Arrays of numpy or tensors of torch
    max_bytes   see record()

    Values inside branches and loops are not outputs of the graph and are not stored. Errors: ImportError without onnx
    and onnxruntime; ValueError without inputs; those of ONNX Runtime; OSError.
    """
    try:
        import onnx
        import onnxruntime
    except ImportError as error:
        raise ImportError("sonde_capture.record_onnx needs the packages onnx and onnxruntime (%s)" % error) from error
    cases = [inputs] if isinstance(inputs, Mapping) else list(inputs)
    if not cases:
        raise ValueError("there are no inputs: %s is not written" % path)
    proto = onnx.load(os.fspath(model), load_external_data=False)
    outputs = [output.name for output in proto.graph.output]
    nodes = [name for node in proto.graph.node for name in node.output if name and name not in outputs]
    proto.graph.output.extend([onnx.ValueInfoProto(name=name) for name in nodes])
    session = _session_of(onnxruntime, onnx, proto, os.fspath(model))
    archive = _Archive(path)
    try:
        for i, case in enumerate(cases):
            prefix = "case%d." % i if i else ""
            feeds = {name: np.array(_as_array(value), order="C") for name, value in case.items()}
            archive.add({prefix + "in." + name: array for name, array in feeds.items()})
            keys = ["out." + name for name in outputs] + ["node." + name for name in nodes]
            for key, value in zip(keys, session.run(outputs + nodes, feeds)):
                for part, array in _parts(value, prefix + key):
                    archive.add(_entries(part, array, max_bytes))
    except BaseException:
        archive.discard()
        raise
    archive.commit(onnxruntime=onnxruntime.__version__, model=os.path.basename(os.fspath(model)), cases=len(cases),
                   notes=[], nodes={})


def _session_of(onnxruntime, onnx, proto, path):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    providers = ["CPUExecutionProvider"]
    if not any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in proto.graph.initializer):
        return onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=providers)
    beside = "%s.%d.tmp" % (path, os.getpid())  # weights in files of their own are found beside the model only
    try:
        with open(beside, "wb") as file:
            file.write(proto.SerializeToString())
        return onnxruntime.InferenceSession(beside, options, providers=providers)
    finally:
        if os.path.exists(beside):
            os.remove(beside)
