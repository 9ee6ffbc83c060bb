// ATen's layers in one call: transformer layers, cells, packed sequences, normalisations with their moments.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/ops/dependence/rules.h"
#include "core/ops/support/eager.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

using Ints = std::vector<std::int64_t>;

// ---- Transformer layers

/// (src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu, norm_first, eps, norm weights
/// and biases, feed-forward weights and biases, mask, mask_type). Vaswani et al. 2017, figure 1, left.
EagerResult encoderLayer(Eager& e) {
    Tensor x = e.tensor("src");
    const bool first = e.flag("norm_first");
    const Ints width{e.integer("embed_dim")};
    const auto normed = [&](const Tensor& y, Name weight, Name bias) {
        return e("layer_norm", y, width, e.value(weight), e.value(bias), e.number("eps"));
    };
    const auto attended = [&](const Tensor& y) {
        return e("_native_multi_head_attention", y, y, y, e.value("embed_dim"), e.value("num_heads"),
                 e.value("qkv_weight"), e.value("qkv_bias"), e.value("proj_weight"), e.value("proj_bias"),
                 e.value("mask"), false, true, e.value("mask_type"));
    };
    const auto fed = [&](const Tensor& y) {
        const Tensor hidden = e("linear", y, e.value("ffn_weight_1"), e.value("ffn_bias_1"));
        return e("linear", e(e.flag("use_gelu") ? "gelu" : "relu", hidden), e.value("ffn_weight_2"),
                 e.value("ffn_bias_2"));
    };
    if (first) {
        x = e("add.Tensor", x, attended(normed(x, "norm_weight_1", "norm_bias_1")));
        return e("add.Tensor", x, fed(normed(x, "norm_weight_2", "norm_bias_2")));
    }
    x = normed(e("add.Tensor", x, attended(x)), "norm_weight_1", "norm_bias_1");
    return normed(e("add.Tensor", x, fed(x)), "norm_weight_2", "norm_bias_2");
}

// ---- Cells: one step for a batch

/// x·W_ihᵀ + b_ih and h·W_hhᵀ + b_hh, cut into gates.
std::pair<std::vector<Tensor>, std::vector<Tensor>> gates(Eager& e, const Tensor& x, const Tensor& h,
                                                          std::int64_t count) {
    const auto cut = [&](const Tensor& y) {
        if (y.rank() == 0 || y.dim(y.rank() - 1) % count != 0) e.fail("the weights of a cell are incompatible");
        const std::size_t axis = y.rank() - 1;
        const std::int64_t size = y.dim(axis) / count;
        std::vector<Tensor> list;
        for (std::int64_t i = 0; i < count; ++i) list.push_back(y.sliced(axis, i * size, size));
        return list;
    };
    return {cut(e("linear", x, e.value("w_ih"), e.value("b_ih"))),
            cut(e("linear", h, e.value("w_hh"), e.value("b_hh")))};
}

EagerResult lstmCell(Eager& e) {
    const std::vector<Tensor> state = e.tensors("hx");
    if (state.size() != 2) e.fail("an LSTM cell has two states");
    const auto [a, b] = gates(e, e.tensor("input"), state[0], 4);
    const auto gate = [&, &a = a, &b = b](std::size_t i, const char* function) {
        return e(function, e("add.Tensor", a[i], b[i]));
    };
    const Tensor c = e("add.Tensor", e("mul.Tensor", gate(1, "sigmoid"), state[1]),
                       e("mul.Tensor", gate(0, "sigmoid"), gate(2, "tanh")));
    return std::vector<Value>{Value(e("mul.Tensor", gate(3, "sigmoid"), e("tanh", c))), Value(c)};
}

EagerResult gruCell(Eager& e) {
    const Tensor h = e.tensor("hx");
    const auto [a, b] = gates(e, e.tensor("input"), h, 3);
    const Tensor reset = e("sigmoid", e("add.Tensor", a[0], b[0])), update = e("sigmoid", e("add.Tensor", a[1], b[1]));
    const Tensor fresh = e("tanh", e("add.Tensor", a[2], e("mul.Tensor", reset, b[2])));
    return e("add.Tensor", fresh, e("mul.Tensor", update, e("sub.Tensor", h, fresh)));
}

EagerResult plainCell(Eager& e, const char* function) {
    const auto [a, b] = gates(e, e.tensor("input"), e.tensor("hx"), 1);
    return e(function, e("add.Tensor", a[0], b[0]));
}

// ---- Packed sequences: all first steps, then all second ones …, longest sequence first

Ints lengthsOf(Eager& e, const Tensor& batchSizes) {
    Ints lengths;
    std::int64_t before = -1;
    for (std::int64_t t = 0; t < batchSizes.numel(); ++t) {
        const std::int64_t n = batchSizes.toInt64(t);
        if (n < 1 || (before >= 0 && n > before) || n > 100'000'000)
            e.fail("the batch sizes of packed sequences must fall");
        if (before < 0) lengths.assign(static_cast<std::size_t>(n), 0);
        for (std::int64_t i = 0; i < n; ++i) ++lengths[static_cast<std::size_t>(i)];
        before = n;
    }
    return lengths;
}

/// Rows of packed data that belong to one sequence.
Tensor rowsOf(Eager& e, const Tensor& data, const Tensor& batchSizes, std::int64_t sequence, std::int64_t length) {
    Ints rows;
    std::int64_t start = 0;
    for (std::int64_t t = 0; t < length; ++t) {
        rows.push_back(start + sequence);
        start += batchSizes.toInt64(t);
    }
    return e("index_select", data, 0, Tensor::of<std::int64_t>({length}, rows));
}

/// Sequences of different length as packed data.
Tensor packedOf(Eager& e, const std::vector<Tensor>& sequences, const Tensor& batchSizes) {
    std::vector<Tensor> rows;
    for (std::int64_t t = 0; t < batchSizes.numel(); ++t) {
        for (std::int64_t n = 0; n < batchSizes.toInt64(t); ++n)
            rows.push_back(sequences[static_cast<std::size_t>(n)].selected(0, t));
    }
    return e("stack", rows);
}

EagerResult packPadded(Eager& e) {
    Tensor x = e.tensor("input");
    if (x.rank() < 2) e.fail("expected padded sequences, not " + x.typeText());
    if (!e.flag("batch_first")) x = x.transposed(0, 1);
    const Tensor lengths = e.as(e.tensor("lengths"), DType::Int64);
    if (lengths.rank() != 1 || lengths.numel() != x.dim(0) || lengths.numel() == 0)
        e.fail("expected a length for each sequence");
    std::vector<Tensor> sequences;
    Ints sizes;
    for (std::int64_t n = 0; n < lengths.numel(); ++n) {
        const std::int64_t length = lengths.toInt64(n);
        if (length < 1 || length > x.dim(1) || (n > 0 && length > lengths.toInt64(n - 1)))
            e.fail("lengths must fall, between 1 and the padded one");
        sequences.push_back(x.selected(0, n));
        if (n == 0) sizes.assign(static_cast<std::size_t>(length), 0);
        for (std::int64_t t = 0; t < length; ++t) ++sizes[static_cast<std::size_t>(t)];
    }
    const Tensor batchSizes = Tensor::of<std::int64_t>({static_cast<std::int64_t>(sizes.size())}, sizes);
    return std::vector<Value>{Value(packedOf(e, sequences, batchSizes)), Value(batchSizes)};
}

EagerResult padPacked(Eager& e) {
    const Tensor data = e.tensor("data"), batchSizes = e.as(e.tensor("batch_sizes"), DType::Int64);
    const Ints lengths = lengthsOf(e, batchSizes);
    const std::int64_t steps =
        std::max(batchSizes.numel(), e.has("total_length") ? e.integer("total_length") : std::int64_t{-1});
    std::int64_t rows = 0;
    for (std::int64_t length : lengths) rows += length;
    if (data.rank() < 1 || data.dim(0) != rows || steps > 100'000'000)
        e.fail("batch sizes do not match " + data.typeText());
    std::vector<Tensor> sequences;
    for (std::size_t n = 0; n < lengths.size(); ++n) {
        const Tensor own = rowsOf(e, data, batchSizes, static_cast<std::int64_t>(n), lengths[n]);
        Ints padding(2 * own.rank(), 0);
        padding.back() = steps - lengths[n];
        sequences.push_back(e("constant_pad_nd", own, padding, e.value("padding_value")));
    }
    const Tensor padded = e("stack", sequences, e.flag("batch_first") ? 0 : 1);
    return std::vector<Value>{Value(padded),
                              Value(Tensor::of<std::int64_t>({static_cast<std::int64_t>(lengths.size())}, lengths))};
}

/// (data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional): each sequence by itself.
EagerResult recurrentPacked(Eager& e, const char* name, std::size_t stateCount) {
    const Tensor data = e.tensor("data"), batchSizes = e.as(e.tensor("batch_sizes"), DType::Int64);
    const Ints lengths = lengthsOf(e, batchSizes);
    std::int64_t rows = 0;
    for (std::int64_t length : lengths) rows += length;
    if (data.rank() != 2 || data.dim(0) != rows) e.fail("batch sizes do not match " + data.typeText());
    const std::vector<Tensor> states =
        e.value("hx").isListLike() ? e.tensors("hx") : std::vector<Tensor>{e.tensor("hx")};
    if (states.size() < stateCount) e.fail("a recurrent layer lacks a state");
    std::vector<Tensor> sequences;
    std::vector<std::vector<Tensor>> last(stateCount);
    for (std::size_t n = 0; n < lengths.size(); ++n) {
        const auto at = static_cast<std::int64_t>(n);
        std::vector<Tensor> own;
        for (std::size_t i = 0; i < stateCount; ++i) {
            if (states[i].rank() != 3 || states[i].dim(1) <= at) e.fail("the states do not match the batch");
            own.push_back(e.get(states[i].sliced(1, at, 1).contiguous()));
        }
        const Tensor x = rowsOf(e, data, batchSizes, at, lengths[n]).unsqueezed(1);
        const Value hx = e.value("hx").isListLike() ? Eager::Argument::listOf(own) : Value(own.front());
        const std::vector<Value> results =
            e.all("aten", name,
                  {Value(x), hx, e.value("params"), e.value("has_biases"), e.value("num_layers"), e.value("dropout"),
                   e.value("train"), e.value("bidirectional"), Value::ofBool(false)},
                  {}, 1 + stateCount);
        sequences.push_back(results[0].tensor().selected(1, 0));
        for (std::size_t i = 0; i < stateCount; ++i) last[i].push_back(results[1 + i].tensor());
    }
    std::vector<Value> outputs{Value(packedOf(e, sequences, batchSizes))};
    for (const std::vector<Tensor>& list : last) outputs.emplace_back(e("cat", list, 1));
    return outputs;
}

// ---- Normalisations that give their moments too

EagerResult layerNormWithMoments(Eager& e) {
    const Tensor x = e.tensor("input");
    const std::size_t count = e.integers("normalized_shape").size();
    if (count > x.rank()) e.fail("normalized_shape does not match " + x.typeText());
    Ints axes;
    for (std::size_t i = x.rank() - count; i < x.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    const Tensor y =
        e("layer_norm", x, e.value("normalized_shape"), e.value("weight"), e.value("bias"), e.value("eps"));
    const Tensor mean = e("mean.dim", x, axes, true), variance = e("var.dim", x, axes, false, true);
    return std::vector<Value>{Value(y), Value(mean), Value(e("rsqrt", e("add.Scalar", variance, e.number("eps"))))};
}

EagerResult groupNormWithMoments(Eager& e) {
    const Tensor x = e.tensor("input");
    const std::int64_t n = e.integer("N"), groups = e.integer("group");
    const Tensor y = e("group_norm", x, groups, e.value("weight"), e.value("bias"), e.number("eps"));
    if (n < 1 || groups < 1 || x.numel() % (n * groups) != 0) e.fail("groups do not match " + x.typeText());
    const Tensor rows = e.reshape(x, Shape{n, groups, x.numel() / (n * groups)});
    const Tensor variance = e("var.dim", rows, Ints{2}, false);
    return std::vector<Value>{Value(y), Value(e("mean.dim", rows, Ints{2})),
                              Value(e("rsqrt", e("add.Scalar", variance, e.number("eps"))))};
}

/// (input, weight, bias, running_mean, running_var, training, momentum, eps): also mean and 1/√(var + ε) of the batch
/// while training, else two empty tensors.
EagerResult batchNormWithMoments(Eager& e) {
    const Tensor x = e.tensor("input");
    const Value mean = e.optional("running_mean"), variance = e.optional("running_var");
    const bool training = e.flag("training");
    const Tensor y = e("batch_norm", x, e.value("weight"), e.value("bias"), mean, variance, training,
                       e.value("momentum"), e.value("eps"), false);
    if (!training) {
        const Tensor nothing = e.get(Tensor::zeros(x.dtype(), Shape{0}));
        return std::vector<Value>{Value(y), Value(nothing), Value(nothing)};
    }
    Ints axes;
    for (std::size_t i = 0; i < x.rank(); ++i) {
        if (i != 1) axes.push_back(static_cast<std::int64_t>(i));
    }
    const Tensor spread = e("var.dim", x, axes, false);
    return std::vector<Value>{Value(y), Value(e("mean.dim", x, axes)),
                              Value(e("rsqrt", e("add.Scalar", spread, e.number("eps"))))};
}

/// x / √(mean of squares + eps) · weight over the last dimensions; eps is the dtype's precision if it is left out.
EagerResult rmsNorm(Eager& e) {
    const Tensor x = e.tensor("input");
    const std::size_t count = e.integers("normalized_shape").size();
    if (count > x.rank()) e.fail("normalized_shape does not match " + x.typeText());
    Ints axes;
    for (std::size_t i = x.rank() - count; i < x.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    double eps = x.dtype() == DType::Float64    ? 0x1p-52
                 : x.dtype() == DType::Float16  ? 0x1p-10
                 : x.dtype() == DType::BFloat16 ? 0x1p-7
                                                : 0x1p-23;
    if (e.has("eps")) eps = e.number("eps");
    const Tensor y = e("mul.Tensor", x, e("rsqrt", e("add.Scalar", e("mean.dim", e("square", x), axes, true), eps)));
    return e.has("weight") ? e("mul.Tensor", y, e.tensor("weight")) : y;
}

/// Norms over all dimensions but one.
Tensor normExcept(Eager& e, const Tensor& v, std::int64_t power, std::int64_t dim) {
    if (dim == -1) return e("norm.Scalar", v, power);
    Ints axes;
    const std::size_t kept = e.axisOf(dim, v.rank());
    for (std::size_t i = 0; i < v.rank(); ++i) {
        if (i != kept) axes.push_back(static_cast<std::int64_t>(i));
    }
    return e("norm.ScalarOpt_dim", v, power, axes, true);
}

void defineNorms(Registry& registry) {
    registry.add(eagerRow(
        "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
        "layer_norm with mean and 1/√(var + ε)", kNorm, layerNormWithMoments, inferSame));
    registry.add(eagerRow(
        "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int group, float eps) -> (Tensor, Tensor, Tensor)",
        "group_norm with mean and 1/√(var + ε)", kNorm, groupNormWithMoments, inferSame));
    for (
        std::string_view schema :
        {"native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
         "_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)"}) {
        registry.add(eagerRow(schema, "batch_norm with mean and 1/√(var + ε)", kNorm, batchNormWithMoments, inferSame));
    }
    registry.add(eagerRow(
        "_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
        "batch_norm of this batch", kNorm, batchNormWithMoments, inferSame));
    registry.add(
        eagerRow("rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
                 "x divided by its root mean square over the last axes", kNorm, rmsNorm, inferSame));
    registry.add(eagerRow(
        "norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor", "norms over all dimensions but one", kNorm,
        [](Eager& e) -> EagerResult { return normExcept(e, e.tensor("v"), e.integer("pow"), e.integer("dim")); }));
    registry.add(eagerRow("_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", "g·v / ‖v‖ (Salimans, Kingma 2016)",
                          kNorm, [](Eager& e) -> EagerResult {
                              return e(
                                  "mul.Tensor", e.tensor("v"),
                                  e("div.Tensor", e.tensor("g"), normExcept(e, e.tensor("v"), 2, e.integer("dim"))));
                          }));
    registry.add(eagerRow(
        "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", "slices held below a norm", kNorm,
        [](Eager& e) -> EagerResult {
            const Tensor x = e.tensor("self");
            Ints axes;
            const std::size_t kept = e.axis("dim", x.rank());
            for (std::size_t i = 0; i < x.rank(); ++i) {
                if (i != kept) axes.push_back(static_cast<std::int64_t>(i));
            }
            const Tensor norm = e("norm.ScalarOpt_dim", x, e.value("p"), axes, true);
            const Tensor factor = e("div.Tensor", e.number("maxnorm"), e("add.Scalar", norm, 1e-7));
            return e("where.self", e("gt.Scalar", norm, e.number("maxnorm")), e("mul.Tensor", x, factor), x);
        },
        inferSame));
}

void defineRecurrent(Registry& registry) {
    registry.add(eagerRow(
        "lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> (Tensor, Tensor)",
        "one step of long short-term memory", kLayer, lstmCell));
    registry.add(eagerRow(
        "gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
        "one step of a gated recurrent unit", kLayer, gruCell));
    registry.add(eagerRow(
        "rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
        "one step of a recurrent layer with tanh", kLayer, [](Eager& e) { return plainCell(e, "tanh"); }));
    registry.add(eagerRow(
        "rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
        "one step of a recurrent layer with max(x, 0)", kLayer, [](Eager& e) { return plainCell(e, "relu"); }));
    registry.add(eagerRow(
        "lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor, Tensor)",
        "long short-term memory on packed sequences", kLayer,
        [](Eager& e) { return recurrentPacked(e, "lstm.input", 2); }));
    registry.add(eagerRow(
        "gru.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)",
        "gated recurrent unit on packed sequences", kLayer,
        [](Eager& e) { return recurrentPacked(e, "gru.input", 1); }));
    registry.add(eagerRow(
        "rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)",
        "recurrent layer with tanh on packed sequences", kLayer,
        [](Eager& e) { return recurrentPacked(e, "rnn_tanh.input", 1); }));
    registry.add(eagerRow(
        "rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)",
        "recurrent layer with max(x, 0) on packed sequences", kLayer,
        [](Eager& e) { return recurrentPacked(e, "rnn_relu.input", 1); }));
    registry.add(eagerRow("_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor, Tensor)",
                          "sequences of different length without their padding", Category::Tensor, packPadded));
    registry.add(eagerRow(
        "_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Scalar padding_value, int total_length) -> (Tensor, Tensor)",
        "packed sequences with padding", Category::Tensor, padPacked));
}

}  // namespace

void define_aten_layers(Registry& registry) {
    registry.add(eagerRow(
        "_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, bool use_gelu, bool norm_first, float eps, "
        "Tensor norm_weight_1, Tensor norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2, Tensor ffn_weight_1, Tensor ffn_bias_1, Tensor ffn_weight_2, Tensor ffn_bias_2, Tensor? mask=None, "
        "int? mask_type=None) -> Tensor",
        "one layer of a transformer encoder", Category::Attention, encoderLayer, inferSame));
    defineRecurrent(registry);
    defineNorms(registry);
    explain("aten", "native_layer_norm", dependence::layerNormalised);
    explain("aten", "rms_norm", dependence::rootMeanSquareNormalised);
    explain("aten", "norm_except_dim", dependence::normed, "except");
    explain("aten", "_weight_norm", dependence::weightNormed);
    explain("aten", "renorm", dependence::heldBelowNorm);
    explain("aten", "native_group_norm", dependence::groupNormalised);
    explain("aten", "native_batch_norm _native_batch_norm_legit", dependence::batchNormalised);
}

}  // namespace sonde::ops
