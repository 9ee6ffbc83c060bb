#!/usr/bin/env python3
"""Writes onnx_dtypes.tsv from docs/Changelog.md of github.com/onnx/onnx: what each version of each operator of ai.onnx may be
given.

    python3 onnx_dtypes.py Changelog.md > onnx_dtypes.tsv

A line: operator, since, then each input as NAME:VARIABLE:NUMBERS and, behind "->", each output likewise. NUMBERS are those of
TensorProto.DataType with commas, S for sequences, optionals and maps; VARIABLE is the letter of the type constraint or
empty for a fixed type.
"""
import re
import sys

CODES = {"float": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "string": 8, "bool": 9, "float16": 10, "double": 11, "uint32": 12, "uint64": 13,
         "complex64": 14, "complex128": 15, "bfloat16": 16, "float8e4m3fn": 17, "float8e4m3fnuz": 18, "float8e5m2": 19, "float8e5m2fnuz": 20, "uint4": 21, "int4": 22,
         "float4e2m1": 23, "float8e8m0": 24, "uint2": 25, "int2": 26}


def section(body, title):
    found = re.search(r"^#### %s[^\n]*\n(.*?)(?=^####|\Z)" % title, body, re.M | re.S)
    return found.group(1) if found else ""


def formals(text, constraints):
    result = []
    for name, variable in re.findall(r"<dt><tt>([^<]+)</tt>(?: \([^)]*\))* : ([^<]*)</dt>", text):
        types = constraints.get(variable, variable)
        codes = sorted({CODES[t] for t in re.findall(r"(?<!\w)tensor\((\w+)\)", re.sub(r"(seq|optional|map)\((?:[^()]|\([^()]*\))*\)", "", types)) if t in CODES})
        other = ["S"] if re.search(r"seq\(|optional\(|map\(", types) else []
        result.append("%s:%s:%s" % (name, variable if variable in constraints else "", ",".join([str(c) for c in codes] + other)))
    return result


def main():
    parts = re.split(r'^### <a name="(\w+)-(\d+)"></a>(.*)$', open(sys.argv[1]).read(), flags=re.M)
    for i in range(1, len(parts), 4):
        op, since, title, body = parts[i:i + 4]
        if "deprecated" in title.lower() or "**This version of the operator has been deprecated" in body:
            continue
        constraints = dict(re.findall(r"<dt><tt>([^<]+)</tt> : ([^\n]*?)</dt>", section(body, "Type Constraints")))
        inputs, outputs = formals(section(body, "Inputs"), constraints), formals(section(body, "Outputs"), constraints)
        print("\t".join([op, since] + inputs + ["->"] + outputs))


if __name__ == "__main__":
    main()
