#!/usr/bin/env python3
"""Writes scalars.tsv beside this file: expressions of numbers with the values that Python itself gives them.

Each line is EXPRESSION, KIND (int, float, bool or error) and VALUE, with tabs between them; floats are written so that
they read back as the same number. Whatever leaves int64 is an error in Sonde, which Python's integers never are.
"""
import ast
import operator as op
import os
import random

BINARY = ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "and", "or"]
UNARY = ["-", "+", "~", "not "]
ATOMS = ["-7", "-2", "-0.5", "0", "1", "2", "3", "7", "10", "255", "0.5", "1.5", "2.0", "1e3", ".25", "3.", "True", "False", "9007199254740993"]


class TooWide(Exception):
    pass


def checked(value):
    if isinstance(value, bool) or not isinstance(value, int):
        return value
    if not -(2**63) <= value < 2**63:
        raise TooWide()
    return value


def random_tree(rng, depth):
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(ATOMS)
    if rng.random() < 0.2:
        return (rng.choice(UNARY), random_tree(rng, depth - 1))
    return (random_tree(rng, depth - 1), rng.choice(BINARY), random_tree(rng, depth - 1))


def text_of(tree, rng):
    """Brackets at random, so that precedence decides where there are none."""
    if isinstance(tree, str):
        return tree
    if len(tree) == 2:
        text = tree[0] + text_of(tree[1], rng)
    else:
        text = " ".join([text_of(tree[0], rng), tree[1], text_of(tree[2], rng)])
    return "(" + text + ")" if rng.random() < 0.4 else text


def value_of(node):
    """Python's value of a tree of its own parser, operation by operation."""
    binary = {
        ast.Add: op.add, ast.Sub: op.sub, ast.Mult: op.mul, ast.Div: op.truediv, ast.FloorDiv: op.floordiv,
        ast.Mod: op.mod, ast.BitAnd: op.and_, ast.BitOr: op.or_, ast.BitXor: op.xor,
    }
    compare = {ast.Lt: op.lt, ast.LtE: op.le, ast.Gt: op.gt, ast.GtE: op.ge, ast.Eq: op.eq, ast.NotEq: op.ne}
    unary = {ast.USub: op.neg, ast.UAdd: op.pos, ast.Invert: op.invert, ast.Not: op.not_}
    if isinstance(node, ast.Constant):
        return checked(node.value)
    if isinstance(node, ast.UnaryOp):
        return checked(unary[type(node.op)](value_of(node.operand)))
    if isinstance(node, ast.BinOp):
        left, right = value_of(node.left), value_of(node.right)
        if isinstance(node.op, ast.Pow):
            if not isinstance(left, float) and not isinstance(right, float) and right > 64 and abs(left) > 1:
                raise TooWide()
            result = left**right
            if isinstance(result, complex):
                raise ArithmeticError()
            return checked(result)
        return checked(binary[type(node.op)](left, right))
    if isinstance(node, ast.BoolOp):
        for part in node.values:
            value = value_of(part)
            if bool(value) == isinstance(node.op, ast.Or):
                return value
        return value
    if isinstance(node, ast.Compare):
        left = value_of(node.left)
        for each, right in zip(node.ops, node.comparators):
            right = value_of(right)
            result = compare[type(each)](left, right)
            if not result:
                return result
            left = right
        return result
    raise ValueError(node)


def main():
    rng = random.Random(16)
    seen, lines = set(), []
    while len(lines) < 600:
        text = text_of(random_tree(rng, rng.randint(1, 4)), rng)
        if text in seen or len(text) > 80:
            continue
        seen.add(text)
        try:
            value = value_of(ast.parse(text, mode="eval").body)
            kind, shown = type(value).__name__, repr(value)
        except (TooWide, ZeroDivisionError, TypeError):
            kind, shown = "error", ""
        except (ArithmeticError, OverflowError):
            continue  # complex roots and overflow of floats, which are NaN and infinity here
        except SyntaxError:
            continue
        lines.append("\t".join([text, kind, shown]))
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "scalars.tsv"), "w") as file:
        file.write("\n".join(lines) + "\n")


main()
