"""Cases of the attention operators: masks, biases, past and present, packed inputs, groups, rotation, windows, experts."""
import numpy as np
from generate import Const, case, i32, i64, normals

rng = np.random.default_rng(13)
f = normals(rng)


def tables(length, half):
    """cos and sin of angles as rotary embeddings have them."""
    angle = np.arange(length)[:, None] / 10.0 ** (np.arange(half) / half)
    return np.round(np.cos(angle), 4).astype(np.float32), np.round(np.sin(angle), 4).astype(np.float32)


# Attention: input [B, S, hidden], weights [hidden, 3·hidden], bias, mask_index, past, attention_bias
B, S, H, D = 2, 3, 2, 4
hidden = H * D
x, w, b = f(B, S, 6), f(6, 3 * hidden, scale=0.5), f(3 * hidden)
heads = {"num_heads": H}
case("Attention", [x, w, b], heads)
case("Attention", [x, w], heads, run_as=[x, w, np.zeros(3 * hidden, np.float32)])
case("Attention", [x, w, b], {**heads, "unidirectional": 1})
case("Attention", [x, w, b, i32(3, 2)], heads)
case("Attention", [x, w, b, i32(3, 2, 1, 0)], heads)
case("Attention", [x, w, b, i32(1, 1, 0, 1, 0, 0).reshape(B, S)], heads)
case("Attention", [x, w, b, i32(0, 0, 0, 1, 1, 1).reshape(B, S)], heads)
case("Attention", [x, w, b, rng.integers(0, 2, (B, S, S)).astype(np.int32)], heads)
square = rng.integers(0, 2, (B, 1, 5, 5)).astype(np.int32)
case("Attention", [x, w, b, square], heads, run_as=[x, w, b, square[:, 0, :S, :S].copy()])
case("Attention", [x, w, b, i32(1, 1, 0, 1, 1, 1).reshape(B, S)], {**heads, "mask_filter_value": -1.5})
case("Attention", [x, w, b, i32(1, 1, 0, 1, 1, 1).reshape(B, S)], {**heads, "unidirectional": 1, "scale": 0.3})
case("Attention", [x, w, b, None, None, f(B, H, S, S)], heads)
case("Attention", [x, w, b, None, None, f(1, 1, S, S)], heads)
past = f(2, B, H, 2, D)
case("Attention", [x, w, b, None, past], heads, outputs=2)
case("Attention", [x, w, b, None, past], {**heads, "unidirectional": 1}, outputs=2)
case("Attention", [x, w, b, i32(1, 1, 0, 1, 1, 1, 1, 1, 1, 0).reshape(B, 5), past], {**heads, "unidirectional": 1}, outputs=2)
case("Attention", [x, w, b], {**heads, "unidirectional": 1}, outputs=2)
case("Attention", [x, f(6, 8 + 8 + 4), f(20)], {**heads, "qkv_hidden_sizes": [8, 8, 4]})

# MultiHeadAttention: query, key, value, bias, key_padding_mask, attention_bias, past_key, past_value
L = 4
q, k, v = f(B, S, hidden), f(B, L, hidden), f(B, L, 6)
case("MultiHeadAttention", [q, k, v], heads)
case("MultiHeadAttention", [q, k, v], {**heads, "scale": 0.2})
case("MultiHeadAttention", [q, k, v, f(8 + 8 + 6)], heads)
case("MultiHeadAttention", [q, k, v, None, i32(4, 2)], heads)
case("MultiHeadAttention", [q, k, v, None, i32(1, 1, 0, 1, 1, 0, 0, 0).reshape(B, L)], heads)
case("MultiHeadAttention", [q, k, v, None, rng.integers(0, 2, (B, S, L)).astype(np.int32)], heads)
case("MultiHeadAttention", [q, k, v, None, None, f(B, H, S, L)], heads)
case("MultiHeadAttention", [q, k, v, None, None, f(1, H, S, L)], heads)
case("MultiHeadAttention", [q, k[:, :S], v[:, :S], None, None, None], {**heads, "unidirectional": 1})
packed = f(B, S, H, 3, D)
case("MultiHeadAttention", [packed], heads, run_as=[packed[:, :, :, i].reshape(B, S, hidden) for i in range(3)])
packed, bias = f(B, L, H, 2, D), f(3 * hidden)
case("MultiHeadAttention", [q, packed], heads, run_as=[q] + [packed[:, :, :, i].reshape(B, L, hidden) for i in range(2)])
case("MultiHeadAttention", [q, packed, None, bias], heads, run_as=[q] + [packed[:, :, :, i].reshape(B, L, hidden) for i in range(2)] + [bias])
case("MultiHeadAttention", [q, f(B, H, L, D), f(B, H, L, D)], heads)
case("MultiHeadAttention", [q, f(B, H, L, D), f(B, H, L, D), f(3 * hidden)], heads)
case("MultiHeadAttention", [q, k[:, :S], f(B, S, hidden), None, None, None, f(B, H, 2, D), f(B, H, 2, D)], heads, outputs=3)
case("MultiHeadAttention", [q, k[:, :S], f(B, S, hidden), f(3 * hidden), None, f(B, H, S, S + 2), f(B, H, 2, D), f(B, H, 2, D)], {**heads, "unidirectional": 1}, outputs=3)
case("MultiHeadAttention", [q[:, :1], k[:, :1], f(B, 1, hidden), None, i32(1, 0, 1, 1, 1, 1).reshape(B, 3), None, f(B, H, 2, D), f(B, H, 2, D)], heads, outputs=3)
case("MultiHeadAttention", [q, k, v], heads, outputs=[True, True, True])
case("MultiHeadAttention", [q, k, v], heads, outputs=[True, False, False, True], types={3: "f32"})
case("MultiHeadAttention", [f(1, 2, 4, dtype=np.float16), f(1, 3, 4, dtype=np.float16), f(1, 3, 4, dtype=np.float16)], {"num_heads": 1})

# DecoderMaskedMultiHeadAttention: one token. query, key, value, mask, attention_bias, past_key, past_value, …, bias
one = [f(B, 1, hidden), f(B, 1, hidden), f(B, 1, hidden)]
room = [f(B, H, 6, D), f(B, H, 6, D)]
shared = {**heads, "past_present_share_buffer": 1}
case("DecoderMaskedMultiHeadAttention", one + [None, None] + room + [i32(3)], shared, outputs=3)
case("DecoderMaskedMultiHeadAttention", one + [i32(1, 0, 1, 1, 1, 1, 0, 1).reshape(B, 4), f(B, H, 1, 4)] + room + [i32(3), None, None, f(3 * hidden)], shared, outputs=3)
case("DecoderMaskedMultiHeadAttention", [one[0], f(B, H, L, D), f(B, H, L, D)], heads)
case("DecoderMaskedMultiHeadAttention", one + [None, None] + room + [i32(5)], {**shared, "scale": 0.3, "output_qk": 1}, outputs=4, types={3: "f32"})

# RotaryEmbedding: input, position_ids, cos, sin
cos, sin = tables(8, 2)
case("RotaryEmbedding", [f(2, 3, 8), i64(0, 1, 2, 4, 5, 6).reshape(2, 3), cos, sin], {"num_heads": 0})
case("RotaryEmbedding", [f(2, 3, 8), i64(2), cos, sin], {"interleaved": 1})
case("RotaryEmbedding", [f(2, 2, 3, 4), i64(1), cos, sin])
case("RotaryEmbedding", [f(1, 3, 12), i64(0), cos, sin], {"num_heads": 2, "rotary_embedding_dim": 4})
case("RotaryEmbedding", [f(1, 2, 3, 6), i64(3, 2, 1).reshape(1, 3), cos, sin], {"num_heads": 2, "rotary_embedding_dim": 4, "interleaved": 1})
case("RotaryEmbedding", [f(2, 3, 8, dtype=np.float16), i64(1), cos.astype(np.float16), sin.astype(np.float16)])

# GroupQueryAttention: query, key, value, past_key, past_value, seqlens_k, total_sequence_length, cos, sin, position_ids, attention_bias, head_sink
KV, H = 2, 4


def gqa(batch, new, past, lengths, attrs=None, extra=(), packed=False, rotary=False, outputs=3, dtype=np.float32, room=None):
    D = 16 if rotary else 8  # rotation wants multiples of 16
    query, key, value = f(batch, new, H * D, dtype=dtype), f(batch, new, KV * D, dtype=dtype), f(batch, new, KV * D, dtype=dtype)
    if packed:
        query, key, value = np.concatenate([query, key, value], -1), None, None
    caches = [f(batch, KV, room or past, D, dtype=dtype) for _ in range(2)] if past or room else [None, None]
    angles = [t.astype(dtype) for t in tables(16, D // 2)] if rotary else [None, None]
    total = np.asarray(past + new, np.int32)
    case("GroupQueryAttention", [query, key, value, *caches, i32(*[n - 1 for n in lengths]), total, *angles, *extra],
         {"num_heads": H, "kv_num_heads": KV, **(attrs or {}), **({"do_rotary": 1} if rotary else {})}, outputs=outputs)


gqa(2, 3, 0, (3, 3))
gqa(2, 1, 4, (5, 5))
gqa(1, 2, 3, (5,))
gqa(2, 3, 0, (3, 3), {"scale": 0.2, "softcap": 5.0})
gqa(2, 5, 0, (5, 5), {"local_window_size": 2})
gqa(2, 1, 6, (7, 7), {"local_window_size": 3})
gqa(2, 3, 0, (3, 3), rotary=True)
gqa(2, 1, 4, (5, 5), rotary=True)
gqa(2, 1, 4, (5, 3), rotary=True)
gqa(2, 3, 0, (3, 3), {"rotary_interleaved": 1}, rotary=True)
gqa(2, 3, 0, (3, 3), packed=True)
gqa(2, 1, 4, (5, 5), packed=True, rotary=True)
gqa(2, 1, 4, (5, 3))
gqa(1, 4, 0, (3,))
gqa(2, 3, 0, (3, 3), {"smooth_softmax": 1})
gqa(2, 3, 0, (3, 3), extra=[None, f(2, H, 3, 3)])
gqa(2, 1, 4, (5, 5), extra=[None, f(1, 1, 1, 5)])
gqa(2, 3, 0, (3, 3), extra=[None, None, f(H)])
gqa(1, 2, 3, (5,), extra=[i64(3, 4).reshape(1, 2)], rotary=True)
gqa(1, 3, 0, (3,), {"qk_output": 1}, outputs=4)
gqa(1, 3, 0, (3,), {"qk_output": 2}, outputs=4)
gqa(1, 3, 0, (3,), {"causal": 0})
gqa(1, 1, 4, (5,), dtype=np.float16)
gqa(1, 1, 2, (3,), room=6)

# QAttention: input, weights, bias, scales, mask_index, zero points, past
H, D = 2, 4
for a, b in ((np.uint8, np.uint8), (np.uint8, np.int8)):
    info = np.iinfo(b)
    x = rng.integers(0, 256, (2, 3, 6)).astype(a)
    w = rng.integers(info.min, info.max + 1, (6, 24)).astype(b)
    base = [x, w, f(24), np.float32(0.01).reshape(()), np.float32(0.005).reshape(())]
    zeros = [np.asarray(120, a), np.asarray(5, b)]
    case("QAttention", base + [None] + zeros, {"num_heads": H}, tol=1e-4)
    case("QAttention", base + [i32(3, 2)] + zeros, {"num_heads": H}, tol=1e-4)
    case("QAttention", base[:4] + [np.abs(f(24)) * np.float32(0.01) + np.float32(0.001), None, zeros[0], rng.integers(0, 9, 24).astype(b)], {"num_heads": H, "unidirectional": 1}, tol=1e-4)
    case("QAttention", base + [None] + zeros + [f(2, 2, H, 2, D)], {"num_heads": H, "unidirectional": 1}, outputs=2, tol=1e-4)

# MoE: input, router_probs, fc1 weights and bias, fc2 weights and bias, fc3 weights and bias
E, T, N, M = 4, 5, 6, 8
x, router = f(T, N), f(T, E)
fc1, b1, fc2, b2 = f(E, M, N, scale=0.5), f(E, M), f(E, N, M, scale=0.5), f(E, N)
for activation in ("relu", "gelu", "silu", "identity"):
    case("MoE", [x, router, fc1, b1, fc2, b2], {"k": 2, "activation_type": activation}, tol=1e-4)
case("MoE", [x.reshape(1, T, N), router, fc1, None, fc2, None], {"k": 1, "activation_type": "relu"}, tol=1e-4)
case("MoE", [x, router, fc1, b1, fc2, b2], {"k": 2, "activation_type": "relu", "normalize_routing_weights": 1}, tol=1e-4)
pairs, bias = f(E, 2 * M, N, scale=0.5), f(E, 2 * M)
swiglu = {"k": 2, "activation_type": "swiglu", "swiglu_fusion": 1, "activation_alpha": 1.702, "activation_beta": 1.0, "swiglu_limit": 1.5}
case("MoE", [x, router, pairs, bias, fc2, b2], swiglu, tol=1e-4)
case("MultiHeadAttention", [q, k, v, None, i32(4, 2), f(B, 2, S, L)], {"num_heads": 2}, outputs=[True, False, False, True], types={3: "f32"})
gqa(1, 3, 0, (3,), {"qk_output": 1, "softcap": 2.0}, extra=[None, f(1, 2, 3, 3)], outputs=4)
