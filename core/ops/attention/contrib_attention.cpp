#include "core/ops/attention/contrib_attention.h"

#include <cmath>
#include <limits>

#include "core/ops/attention/heads.h"
#include "core/ops/support/wide.h"

namespace sonde::ops {

void AttentionMask::check(const Eager& e, std::int64_t batches, std::int64_t heads, std::int64_t queries,
                          std::int64_t keys) const {
    if (mask.defined()) {
        bool fits = false;
        if (mask.rank() == 1)
            fits = mask.dim(0) == batches || mask.dim(0) == 2 * batches || mask.dim(0) == 3 * batches + 2;
        if (mask.rank() == 2) fits = mask.dim(0) == batches && mask.dim(1) == keys;
        if (mask.rank() == 3) fits = mask.dim(0) == batches && mask.dim(1) == queries && mask.dim(2) == keys;
        if (mask.rank() == 4)
            fits = mask.dim(0) == batches && mask.dim(1) == 1 && mask.dim(2) >= past + queries && mask.dim(3) >= keys;
        if (!fits)
            e.fail("the mask " + mask.typeText() + " does not match scores [" + std::to_string(batches) + "," +
                   std::to_string(heads) + "," + std::to_string(queries) + "," + std::to_string(keys) + "]");
    }
    if (bias.defined()) {
        const bool fits = bias.rank() == 4 && (bias.dim(0) == batches || bias.dim(0) == 1) &&
                          (bias.dim(1) == heads || bias.dim(1) == 1) && bias.dim(2) == queries && bias.dim(3) >= keys;
        if (!fits) e.fail("attention_bias " + bias.typeText() + " does not match");
    }
}

void AttentionMask::apply(std::int64_t b, std::int64_t h, std::int64_t query, float* row, std::int64_t keys,
                          std::int64_t batches) const {
    std::int64_t first = 0, end = keys;
    const std::int32_t* line = nullptr;
    if (mask.defined()) {
        const auto* data = mask.data<std::int32_t>();
        if (mask.rank() == 1) {
            end = data[b];
            if (mask.dim(0) == 2 * batches) first = data[batches + b];
        } else if (mask.rank() == 2) {
            line = data + b * keys;
        } else if (mask.rank() == 3) {
            line = data + (b * mask.dim(1) + query) * keys;
        } else {
            line = data + (b * mask.dim(2) + past + query) * mask.dim(3);
        }
    }
    const float* added = nullptr;
    if (bias.defined()) {
        added = bias.data<float>() +
                (((bias.dim(0) == 1 ? 0 : b) * bias.dim(1) + (bias.dim(1) == 1 ? 0 : h)) * bias.dim(2) + query) *
                    bias.dim(3);
    }
    for (std::int64_t j = 0; j < keys; ++j) {
        if (unidirectional && j > past + query) {
            row[j] = -std::numeric_limits<float>::infinity();
            continue;
        }
        if (j < first || j >= end || (line && line[j] == 0)) row[j] += static_cast<float>(hidden);
        if (added) row[j] += added[j];
    }
}

std::pair<Tensor, Tensor> attendHeads(Eager& e, const HeadAttention& attention) {
    const Tensor &q = attention.q, &k = attention.k, &v = attention.v;
    const bool fits = q.rank() == 4 && k.rank() == 4 && v.rank() == 4 && k.dim(0) == q.dim(0) && v.dim(0) == q.dim(0) &&
                      k.dim(3) == q.dim(3) && k.dim(2) == v.dim(2) && k.dim(1) == v.dim(1) && k.dim(1) > 0 &&
                      q.dim(1) % k.dim(1) == 0;
    if (!fits)
        e.fail("queries " + q.typeText() + ", keys " + k.typeText() + " and values " + v.typeText() +
               " are incompatible");
    kernels::AttentionCall<float> call;
    call.batches = q.dim(0), call.heads = q.dim(1), call.keyHeads = k.dim(1), call.queries = q.dim(2),
    call.keys = k.dim(2), call.headSize = q.dim(3), call.valueSize = v.dim(3);
    call.q = headsOf(q.data<float>(), {q.dim(0), q.dim(1), q.dim(2), q.dim(3), false});
    call.k = headsOf(k.data<float>(), {k.dim(0), k.dim(1), k.dim(2), k.dim(3), false});
    call.v = headsOf(v.data<float>(), {v.dim(0), v.dim(1), v.dim(2), v.dim(3), false});
    call.scale = attention.scale != 0 ? attention.scale
                                      : 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(q.dim(3), 1)));
    call.softcap = attention.softcap;
    Tensor y = e.get(Tensor::zeros(DType::Float32, Shape{call.batches, call.queries, call.heads * call.valueSize}));
    call.y = headsOf(y.mutableData<float>(), {call.batches, call.heads, call.queries, call.valueSize, true});
    call.bias = attention.bias;
    Tensor scores;
    if (attention.watchedStep >= 0) {
        scores = e.get(Tensor::zeros(DType::Float32, Shape{call.batches, call.heads, call.queries, call.keys}));
        call.watch = [step = attention.watchedStep, queries = call.queries, keys = call.keys, heads = call.heads,
                      target = scores.mutableData<float>()](std::int64_t b, std::int64_t h, int at, std::int64_t query,
                                                            std::int64_t count, const float* values) {
            if (at == step)
                std::copy(values, values + count * keys, target + ((b * heads + h) * queries + query) * keys);
        };
    }
    kernels::attend(call, e.context().pool());
    return {std::move(y), std::move(scores)};
}

Tensor splitHeads(Eager& e, const Tensor& x, std::int64_t heads, const Tensor& bias, std::int64_t offset) {
    Tensor full = widened(e, x);
    const HeadLayout layout = e.get(headLayoutOf(full, heads));
    if (!layout.packed) e.fail("expects [batch, sequence, hidden], but found " + x.typeText());
    if (bias.defined()) {
        if (bias.rank() != 1 || offset + full.dim(2) > bias.dim(0))
            e.fail("bias " + bias.typeText() + " does not match");
        full = e("add.Tensor", full, widened(e, e.get(bias.sliced(0, offset, full.dim(2)).contiguous())));
    }
    return e.get(unpackedHeads(full, layout));
}

std::int64_t headCount(Eager& e, std::string_view attribute) {
    const std::int64_t heads = e.context().attributes().getInt(attribute, 0);
    if (heads < 1 || heads > 1 << 20) e.fail(std::string(attribute) + " is out of range: " + std::to_string(heads));
    return heads;
}

}  // namespace sonde::ops
