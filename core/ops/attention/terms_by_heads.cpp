// What an element of com.microsoft's attention of separate queries, keys and values is made of.

#include <algorithm>

#include "core/ops/attention/contrib_attention.h"
#include "core/ops/dependence/heads.h"

namespace sonde::ops {

namespace {

/// Of a past in a buffer that has room for more only some rows count; what is new goes behind them. The rows behind
/// that are kept as they are: they come last where the buffer is the result.
base::Result<void> shareBuffer(const ElementCall& call, dependence::AttendedHeads& heads) {
    const KernelContext& context = call.context;
    if (context.attributes().getInt("past_present_share_buffer", 0) == 0 || heads.keys.size() != 2) return {};
    SONDE_ASSIGN(const std::int64_t past, intOf(context.value(call.op.position("past_sequence_length"))));
    for (std::vector<dependence::HeadRows>* rows : {&heads.keys, &heads.values}) {
        dependence::HeadRows rest = rows->front();
        rows->front().rows = past;
        const std::int64_t kept = past + rows->back().rows;
        rest.rows -= kept, rest.first += kept * rest.row;
        if (call.output != 0) rows->push_back(rest);
    }
    return {};
}

/// Where the operator has its queries, keys and values: in the forms that its kernel takes.
base::Result<dependence::AttendedHeads> headsOfCall(const ElementCall& call) {
    using dependence::HeadRows;
    const KernelContext& context = call.context;
    const std::int64_t heads = std::max<std::int64_t>(context.attributes().getInt("num_heads", 1), 1);
    const std::size_t q = context.position("query"), k = context.position("key"), v = context.position("value");
    const Tensor& query = context.in(q);
    const auto ofStack = [&](std::size_t input, std::int64_t part) {  // [B, S, H, parts, d]
        const Tensor& x = context.in(input);
        HeadRows rows;
        rows.input = input, rows.batches = x.dim(0), rows.rows = x.dim(1), rows.heads = x.dim(2), rows.size = x.dim(4);
        rows.head = x.dim(3) * x.dim(4), rows.row = x.dim(2) * rows.head, rows.batch = x.dim(1) * rows.row;
        rows.first = part * x.dim(4);
        return rows;
    };
    dependence::AttendedHeads found;
    found.isPacked = true;
    std::int64_t hidden = query.dim(2);
    bool hasBias = context.has("bias");
    if (query.rank() == 5) {
        hidden = query.dim(2) * query.dim(4);
        found.queries = ofStack(q, 0), found.keys = {ofStack(q, 1)}, found.values = {ofStack(q, 2)};
    } else if (!context.has(k)) {  // [B, S, 3 * hidden]
        hidden /= 3;
        HeadRows part = dependence::headRows(q, query, heads);
        part.size = part.head = hidden / heads;
        found.queries = part;
        part.first = hidden, found.keys = {part};
        part.first = 2 * hidden, found.values = {part};
    } else {
        found.queries = dependence::headRows(q, query, heads);
        const bool isStack = context.in(k).rank() == 5;
        if (!isStack && !context.has(v)) return opError("values are missing");
        found.keys = {isStack ? ofStack(k, 0) : dependence::headRows(k, context.in(k), heads)};
        found.values = {isStack ? ofStack(k, 1) : dependence::headRows(v, context.in(v), heads)};
        hasBias = hasBias && context.in(k).rank() != 4;  // else what an encoder gave has it
    }
    if (hasBias) {
        for (HeadRows* rows : {&found.keys.front(), &found.values.front()}) rows->bias = context.position("bias");
        found.keys.front().biasFirst = hidden, found.values.front().biasFirst = 2 * hidden;
    }
    for (const auto& [name, rows] : {std::pair("past_key", &found.keys), std::pair("past_value", &found.values)})
        if (context.has(name))
            rows->insert(rows->begin(), dependence::headRows(context.position(name), context.in(name), 0));
    SONDE_TRY(shareBuffer(call, found));
    return found;
}

}  // namespace

base::Result<Dependence> termsByHeads(const ElementCall& call) {
    SONDE_ASSIGN(dependence::AttendedHeads heads, headsOfCall(call));
    if (call.output == 1 || call.output == 2)
        return dependence::presentRows(call, call.output == 1 ? heads.keys : heads.values);
    if (call.output != 0) return opError("scores have no formula");
    SONDE_ASSIGN(const std::vector<Value> results,
                 ops::call(call.op, dependence::callInputs(call), call.context.attributes(), call.op.outputs.size(),
                           call.context.environment(), call.context.version()));
    SONDE_ASSIGN(heads.weights, dependence::softmaxOfScores(results.back().tensor()));
    return dependence::attendedHeads(call, heads);
}

}  // namespace sonde::ops
