"""Cases of weights and caches of few bits: MatMulBnb4, DynamicQuantizeLSTM, QMoE, GroupQueryAttention with a quantised cache."""
import numpy as np
from generate import Const, case

rng = np.random.default_rng(45)


def f(*shape, scale=1.0, dtype=np.float32):
    return np.round(rng.normal(0, scale, shape), 3).astype(dtype)


def bytes_of(*shape):
    return rng.integers(0, 256, shape).astype(np.uint8)


# MatMulBnb4: A, B (two numbers a byte), the largest of each block
for kind in (0, 1):
    for n, k, block in ((5, 32, 16), (3, 64, 32), (6, 48, 16)):
        count = n * k
        case("MatMulBnb4", [f(2, 3, k), Const(bytes_of((count + 1) // 2)), Const(np.abs(f((count - 1) // block + 1)))],
             {"K": k, "N": n, "block_size": block, "quant_type": kind}, tol=1e-4)

# DynamicQuantizeLSTM: X, W, R, B, sequence_lens, initial_h, initial_c, P, scale and zero point of W and of R
for dtype in (np.uint8, np.int8):
    for direction, batch in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
        d, size, hidden = (2 if direction == "bidirectional" else 1), 6, 4
        low, high = (0, 256) if dtype == np.uint8 else (-128, 128)
        w, r = (rng.integers(low, high, (d, rows, 4 * hidden)).astype(dtype) for rows in (size, hidden))
        zero = rng.integers(low // 2 + 60, low // 2 + 70, (d,)).astype(dtype)
        scales = [np.abs(f(d, scale=0.004)) + np.float32(0.002) for _ in range(2)]
        case("DynamicQuantizeLSTM", [f(5, batch, size), Const(w), Const(r), f(d, 8 * hidden, scale=0.2), None, f(d, batch, hidden, scale=0.3), f(d, batch, hidden, scale=0.3), None,
                                     Const(scales[0]), Const(zero), Const(scales[1]), Const(zero)], {"hidden_size": hidden, "direction": direction}, outputs=3, tol=1e-3)
w, r = (rng.integers(-128, 128, (1, rows, 16)).astype(np.int8) for rows in (6, 4))
case("DynamicQuantizeLSTM", [f(4, 2, 6), Const(w), Const(r), None, np.asarray([4, 2], np.int32), None, None, f(1, 12, scale=0.2), Const(np.abs(f(1, 16, scale=0.004)) + np.float32(0.001)),
                             Const(np.zeros((1, 16), np.int8)), Const(np.abs(f(1, 16, scale=0.004)) + np.float32(0.001)), Const(np.zeros((1, 16), np.int8))],
     {"hidden_size": 4, "clip": 0.8}, outputs=3, tol=1e-3)

# QMoE: input, router_probs, fc1 weights, scales and bias, fc2 …, fc3 …, zero points of the three
T, E, K, F = 5, 3, 32, 32
for bits in (4, 8):
    pack = 8 // bits
    for block, name in ((0, "relu"), (0, "silu"), (16, "gelu"), (16, "identity")):
        def scales(rows, columns):
            return np.abs(f(E, rows, scale=0.01)) if block == 0 else np.abs(f(E, rows, columns // block, scale=0.01))
        attrs = {"k": 2, "activation_type": name, "expert_weight_bits": bits}
        if block:
            attrs["block_size"] = block
        case("QMoE", [f(T, K), f(T, E), Const(bytes_of(E, F, K // pack)), Const(scales(F, K)), f(E, F), Const(bytes_of(E, K, F // pack)), Const(scales(K, F)), f(E, K)], attrs, tol=2e-3)
    case("QMoE", [f(T, K), f(T, E), Const(bytes_of(E, 2 * F, K // pack)), Const(np.abs(f(E, 2 * F, scale=0.01))), None, Const(bytes_of(E, K, F // pack)), Const(np.abs(f(E, K, scale=0.01))), None],
         {"k": 1, "activation_type": "swiglu", "swiglu_fusion": 1, "activation_alpha": 1.702, "activation_beta": 1.0, "swiglu_limit": 7.0, "expert_weight_bits": bits, "normalize_routing_weights": 1}, tol=2e-3)
    case("QMoE", [f(T, K), f(T, E), Const(bytes_of(E, F, K // pack)), Const(np.abs(f(E, F, scale=0.01))), None, Const(bytes_of(E, K, F // pack)), Const(np.abs(f(E, K, scale=0.01))), None,
                  None, None, None, Const(bytes_of(E, F // pack)), Const(bytes_of(E, K // pack))], {"k": 2, "activation_type": "relu", "expert_weight_bits": bits}, tol=2e-3)
case("QMoE", [f(T, K), f(T, E), Const(bytes_of(E, F, K // 2)), Const(np.abs(f(E, F, scale=0.01))), None, Const(bytes_of(E, K, F // 2)), Const(np.abs(f(E, K, scale=0.01))), None,
              None, None, None, None, None, None, np.abs(f(T, E))], {"k": 2, "activation_type": "relu"}, tol=2e-3)

# GroupQueryAttention with caches of 8 or 4 bits: query, key, value, past_key, past_value, seqlens_k, total_sequence_length, …, k_scale, v_scale
for bits, per in ((8, "PER_TENSOR"), (8, "PER_CHANNEL"), (4, "PER_TENSOR"), (4, "PER_CHANNEL")):
    for past, rows in ((0, 3), (4, 1)):
        heads, groups, size, batch = 4, 2, 8, 1
        shape = (batch, groups, past, size if bits == 8 else size // 2)
        cache = [bytes_of(*shape) if bits == 4 else rng.integers(-127, 128, shape).astype(np.int8) for _ in range(2)]
        scale = [np.abs(f(*((1,) if per == "PER_TENSOR" else (1, groups, 1, size)), scale=0.02)) + np.float32(0.02 if bits == 8 else 0.2) for _ in range(2)]
        case("GroupQueryAttention", [f(batch, rows, heads * size), f(batch, rows, groups * size), f(batch, rows, groups * size), cache[0], cache[1],
                                     np.asarray([past + rows - 1] * batch, np.int32), np.asarray([past + rows], np.int32), None, None, None, None, None, scale[0], scale[1]],
             {"num_heads": heads, "kv_num_heads": groups, "k_quant_type": per, "v_quant_type": per, "kv_cache_bit_width": bits}, outputs=3, tol=2e-3)
