#!/usr/bin/env python3
"""Makes starting corpora for the fuzz targets of the fixtures: make_corpus.py MODELS OUT (tests/data/models, a new folder).

OUT/pickle, OUT/torchscript_source, OUT/torchscript_archive, OUT/onnx, OUT/npz, OUT/input_spec, OUT/data_files, OUT/session_file, OUT/name_lines,
OUT/output_choices, OUT/lesson. Names are hashes of the
content. Big weights are cut: what the readers decide on lies in the first bytes.
"""
import hashlib
import io
import json
import pathlib
import sys
import wave
import zipfile

SPECS = ["a.npy", "photo.png", "x:a.npy;mask:#rand(0,1)", "#rand(0,255,1,3,224,224)", "#rand(0,1,...)", "#rand(-1.5,1e3,2,...)",
         "#zeros", "file.npz", "file.npz#case1", "@list.txt", "x:#zeros;mask:#zeros", "x:#rand(0,1,1,3,4,4);mask:#rand(0,9,2)",
         "#draw(white|60,1,2,3,4|e120,-5,50)", "x:#draw(black)+noise(0.5,7);mask:[1,2]", "#zeros+noise(1e-3)", ""]
TABLES = [b"1,2,3\n-4.5e1,0,6\n", b"a;b\r\n1;2\r\n", b"\xef\xbb\xbf\"a, \"\"b\"\"\",c\n\"1\",nan\n", b"1\t2\n3\tinf", b"1,2,"]
NAMES = [b"[PAD]\n[UNK]\nthe\n##ing\n", b"<s>\n\xe2\x96\x81the\nt\n</s>", b"\xc4\xa0the\n\xc3\x83\n\xc2\xa9\n<|endoftext|>", b" \na\nb\r\n\n",
         b"\xef\xbb\xbftench, Tinca tinca\ncaf\xc3\xa9\n", b"{0: 'tench',\n 1: 'goldfish'}", b"\xff\xfea\0", b"caf\xe9\n"]
CHOICES = [b'[{"name": "y", "form": "classes", "labels": "l.txt", "options": "top=3,sample=1"}]', b"a=boxes:xyxy,normalised,score=4,class=5+",
           b'[{"name": "d", "form": "boxes", "vocabulary": "v.txt", "options": "cxcywh,pixels,transposed,first=1,score=s,class=none,threshold=0.25"}]',
           b"auto:rows,yxyx", b"cat\ndog\n", b'["cat", "dog"]',
           b'{"0": ["n01440764", "tench"], "2": "goldfish"}', b'{"id2label": {"0": "cat"}, "label2id": {"cat": 0}}', b'{"dog": 1, "cat": 0}']
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}
WORDS = {"type": "WordLevel", "unk_token": "u", "vocab": {"u": 0, "a": 1, "\u2581a": 2}}
TOKENIZERS = [
    {"added_tokens": [{"id": 9, "content": "<s>", "lstrip": True, "rstrip": True, "single_word": True, "normalized": True, "special": True}],
     "pre_tokenizer": BYTES, "decoder": BYTES, "post_processor": {"type": "RobertaProcessing", "cls": ["<s>", 9], "sep": ["<s>", 9]},
     "padding": {"direction": "Left", "pad_id": 9, "pad_token": "<s>"}, "truncation": {"direction": "Left"},
     "model": {"type": "BPE", "vocab": {"H": 1, "e": 2, "l": 3, "He": 4, "ll": 5, "Hell": 6}, "merges": ["H e", "l l", ["He", "ll"]]}},
    {"normalizer": {"type": "BertNormalizer", "lowercase": True, "strip_accents": None}, "pre_tokenizer": {"type": "BertPreTokenizer"},
     "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "C", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 1}}],
                        "special_tokens": {"C": {"id": "C", "ids": [7]}}},
     "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
     "model": {"type": "WordPiece", "unk_token": "[UNK]", "max_input_chars_per_word": 9, "vocab": {"[UNK]": 0, "w": 1, "##or": 2, "##l": 3, "##d": 4}}},
    {"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "StripAccents"}, {"type": "Lowercase"}, {"type": "Strip"},
                    {"type": "Prepend", "prepend": "\u2581"}, {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]},
     "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"Regex": "\u2581"}, "content": " "}, {"type": "ByteFallback"},
                 {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}, {"type": "BPEDecoder", "suffix": "</w>"}]},
     "model": {"type": "BPE", "unk_token": "u", "fuse_unk": True, "byte_fallback": True, "continuing_subword_prefix": "", "end_of_word_suffix": "</w>",
               "ignore_merges": True, "vocab": {"u": 0, "a": 1, "<0xC3>": 2, "d</w>": 3}, "merges": []}},
    {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Punctuation", "behavior": "MergedWithNext"},
                       {"type": "Digits", "individual_digits": True}, {"type": "Split", "behavior": "Contiguous", "invert": True,
                        "pattern": {"Regex": "(?i:a)|\\p{N}{1,3}|\\s+(?!\\S)|\\s+"}}, {"type": "Metaspace", "replacement": "\u2581"}]},
     "decoder": {"type": "Metaspace", "replacement": "\u2581"}, "model": WORDS},
    {"pre_tokenizer": {"type": "Whitespace"}, "model": WORDS}]
VOCABULARIES = [b"[PAD]\n[UNK]\n[CLS]\n[SEP]\nhe\n##ll\n##o\n", b"<unk>\na\nb\n \n", b"hello\nworld\n,\n<unk>\n", b'["a", "b", "\\n"]',
                b'{"a": 5, "b": 7}', b"a\nb\n\0ab,16,plain,words,cased"]
LESSONS = [b"# T\n\n## S\n\ntext {{1 + 2}} and {{log(0.0)}}\n",
           b"# T\n\n```sonde\nbind c: first kind convolution | a thing\nmaybe d: last query op:add and rank>=2 after $c\nbind m: module a.*\n"
           b"bind i: input 0 of $c\n```\n\n## S\n\n{{name $c}} {{shape $i}}\n```sonde\nrun\nselect $c\nset $i[0] = 0\nedit $i scale 2\n"
           b"focus $c 3\nshow table\nformula $c[0, 1]\n```\n",
           b"# T\n## S\n```question\nask: a\nb\nanswer: 1 / 3\ntolerance: 2 %\nbecause: c\n```\n"
           b"```question\nask: q\n[ ] a\n[x] b\n```\n```question\nask: q\nnode: kind residual\n```\n```c\nx\n```\n"]
NODE = {"name": "fc", "qualname": "fc", "identity": "fc\tfc"}
SESSION = {
    "format": "sonde-session", "version": 1,
    "model": {"path": "x.onnx", "sha256": "0" * 64, "bytes": 12, "format": "ONNX", "leaves": ["A"], "concrete": ["n=1"], "flatten": True,
              "groups": False, "passes": ["p"], "weights": "w.npz", "example": "x:a.npy", "tracer": "robust"},
    "input_data": {"spec": "x:a.npy;y:#zeros", "image": "bgr"}, "seed": 3,
    "inputs": [{"name": "x", "source": "photo.png", "image": "imagenet", "resize": False}],
    "watch_points": [NODE], "end_points": [NODE], "watch_groups": [{"kind": "call", "text": "a", "call": 1}],
    "watch_policy": {"keep": "full", "budget_bytes": 9, "sample": 2},
    "expressions": [{"text": "max(fc)", "enabled": True, "pin": NODE}],
    "breakpoints": [{"at": "fc", "if": "has_nan(fc)", "enabled": False, "qualname": "fc", "ignored": 2}, {"at": "nan", "log": "fc"}],
    "notes": [{"node": NODE, "text": "a\nb"}], "accepted": [NODE],
    "comparison": {"tolerances": {"float32": 1e-3, "rtol": 0.1, "atol": 0.2}, "references": ["r.npz"]},
    "view": {"camera": "1 2"}, "other": [{"a": None}]}
LARGEST = 60_000  # bytes of one corpus file
LARGEST_ARCHIVE = 16_000  # each run packs, parses and reads all of it: small ones make the fuzzer many times as fast


def put(folder, data):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


def archive(path, out):
    packed = []
    with zipfile.ZipFile(path) as records:
        for entry in records.infolist():
            data = records.read(entry)
            name = entry.filename.split("/", 1)[1]
            if name.endswith(".pkl") and len(data) <= LARGEST:
                put(out / "pickle", data)
            if name.endswith(".debug_pkl"):
                continue
            if name.endswith(".py"):
                put(out / "torchscript_source", data)
            if name.startswith(("data/", "constants/")):
                data = data[:256]
            packed.append(b"=== " + name.encode() + b"\n" + data + b"\n")
    text = b"".join(packed)
    if len(text) <= LARGEST_ARCHIVE:
        put(out / "torchscript_archive", text)
    if path.stat().st_size <= LARGEST_ARCHIVE:
        put(out / "torchscript_archive", path.read_bytes())


def arrays(path, out):
    with zipfile.ZipFile(path) as source:
        small = [entry for entry in source.infolist() if entry.file_size < 300][:6]
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            target = io.BytesIO()
            with zipfile.ZipFile(target, "w", method) as made:
                for entry in small:
                    made.writestr(entry.filename, source.read(entry))
            put(out / "npz", target.getvalue())
        for entry in small:
            put(out / "npz", source.read(entry))


def recording(channels, width, out):
    target = io.BytesIO()
    with wave.open(target, "wb") as made:
        made.setnchannels(channels)
        made.setsampwidth(width)
        made.setframerate(8000)
        made.writeframes(bytes(range(96)))
    put(out / "data_files", target.getvalue())


def main(models, out):
    for path in sorted(models.iterdir()):
        if path.suffix == ".pt" and zipfile.is_zipfile(path):
            archive(path, out)
        elif path.suffix == ".pt":
            put(out / "pickle", path.read_bytes()[:LARGEST])
        elif path.suffix == ".npz":
            arrays(path, out)
        elif path.suffix == ".onnx" and path.stat().st_size <= LARGEST:
            put(out / "onnx", path.read_bytes())
    for spec in SPECS:
        put(out / "input_spec", spec.encode())
    for channels, width in ((1, 1), (1, 2), (2, 2), (2, 3), (1, 4)):
        recording(channels, width, out)
    for text in TABLES:
        put(out / "data_files", text)
    for text in NAMES:
        put(out / "name_lines", text)
    for text in CHOICES:
        put(out / "output_choices", text)
    for tokenizer in TOKENIZERS:
        put(out / "tokenizer", json.dumps(tokenizer).encode())
    for vocabulary in VOCABULARIES:
        put(out / "tokenizer", vocabulary)
    for text in LESSONS:
        put(out / "lesson", text)
    put(out / "session_file", json.dumps(SESSION).encode())
    for key in SESSION:
        put(out / "session_file", json.dumps({k: SESSION[k] for k in ("format", "version", "model", key)}).encode())


main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
