// What an element of com.microsoft's attention of grouped queries is made of.

#include <algorithm>

#include "core/ops/attention/contrib_attention.h"
#include "core/ops/dependence/heads.h"
#include "core/ops/dependence/region.h"

namespace sonde::ops {

namespace {

using dependence::HeadPlace;
using dependence::HeadRows;

/// The new rows of queries, keys and values, and those of the cache.
struct Group {
    HeadRows queries, keys, values, pastKeys, pastValues;
    bool hasPast = false;
    std::int64_t heads = 1, keyHeads = 1, rows = 1, longest = 1;
    std::vector<std::int64_t> past;  ///< rows of each batch in the cache

    static base::Result<Group> of(const ElementCall& call) {
        const KernelContext& context = call.context;
        const Attributes& attributes = context.attributes();
        for (const std::string_view type : {"k_quant_type", "v_quant_type"})
            if (attributes.getString(type, "NONE") != "NONE") return opError("a quantised cache has no formula");
        Group group;
        group.heads = attributes.getInt("num_heads", 1), group.keyHeads = attributes.getInt("kv_num_heads", 1);
        const std::size_t q = context.position("query");
        const Tensor& query = context.in(q);
        if (query.rank() != 3 || group.heads < 1 || group.keyHeads < 1) return opError("the queries do not match");
        group.rows = query.dim(1);
        if (context.has("key")) {
            group.queries = dependence::headRows(q, query, group.heads);
            group.keys = dependence::headRows(context.position("key"), context.in("key"), group.keyHeads);
            group.values = dependence::headRows(context.position("value"), context.in("value"), group.keyHeads);
        } else {  // all in one, [B, S, (heads + 2 * keyHeads) * size]
            HeadRows part = dependence::headRows(q, query, group.heads + 2 * group.keyHeads);
            part.heads = group.heads, group.queries = part;
            part.heads = group.keyHeads;
            part.first = group.heads * part.size, group.keys = part;
            part.first += group.keyHeads * part.size, group.values = part;
        }
        group.hasPast = context.has("past_key") && context.has("past_value");
        if (group.hasPast) {
            group.pastKeys = dependence::headRows(context.position("past_key"), context.in("past_key"), 0);
            group.pastValues = dependence::headRows(context.position("past_value"), context.in("past_value"), 0);
        }
        SONDE_ASSIGN(group.longest, intOf(context.value(call.op.position("total_sequence_length"))));
        SONDE_ASSIGN(const std::vector<std::int64_t> lengths, intsOf(context.value(call.op.position("seqlens_k"))));
        for (const std::int64_t length : lengths)
            group.past.push_back(group.longest == group.rows ? 0 : length + 1 - group.rows);
        if (static_cast<std::int64_t>(group.past.size()) != query.dim(0)) return opError("the lengths do not match");
        return group;
    }

    /// Where row `at.row` of the cache and what is new lies; nothing beyond both.
    std::optional<std::pair<const HeadRows*, HeadPlace>> rowOf(bool isKey, HeadPlace at) const {
        const std::int64_t before = past[static_cast<std::size_t>(at.batch)];
        if (at.row < before) {
            if (!hasPast) return std::nullopt;
            return std::pair(isKey ? &pastKeys : &pastValues, at);
        }
        at.row -= before;
        if (at.row >= rows) return std::nullopt;
        return std::pair(isKey ? &keys : &values, at);
    }
};

/// Rows that the weights follow from: they have none themselves.
base::Result<void> addRow(Dependence& made, const ElementCall& call, const HeadRows& rows, HeadPlace at,
                          std::string_view name) {
    const std::uint32_t part = made.listPart(name);
    for (at.place = 0; at.place < rows.size; ++at.place) {
        const std::int64_t element = rows.element(at);
        if (element >= call.context.in(rows.input).numel()) return opError("the heads do not match");
        dependence::addElement(made, part, call, rows.input, element);
        made.terms.back().weight = 0;
    }
    return {};
}

base::Result<Dependence> keptRow(const ElementCall& call, const Group& group, bool isKey) {
    const Attributes& attributes = call.context.attributes();
    if (isKey && (attributes.getInt("do_rotary", 0) != 0 || call.context.has("k_norm_weight")))
        return opError("keys that are rotated or normalised have no formula");
    const HeadPlace at = dependence::headRows(0, call.result, 0).placeOf(call.element);
    const auto row = group.rowOf(isKey, at);
    if (!row) return dependence::constantElement(0);
    const std::int64_t element = row->first->element(row->second);
    return dependence::sourceElement(call, row->first->input, 0, element,
                                     call.context.in(row->first->input).toDouble(element));
}

}  // namespace

base::Result<Dependence> termsByGroups(const ElementCall& call) {
    SONDE_ASSIGN(const Group group, Group::of(call));
    if (call.output == 1 || call.output == 2) return keptRow(call, group, call.output == 1);
    if (call.output != 0) return opError("scores have no formula");
    Attributes attributes = call.context.attributes();
    attributes.set("qk_output", std::int64_t{2});  // behind the softmax
    SONDE_ASSIGN(const std::vector<Value> results, ops::call(call.op, dependence::callInputs(call), attributes, 4,
                                                             call.context.environment(), call.context.version()));
    const Tensor& weights = results.back().tensor();
    const HeadPlace at = dependence::headRows(0, call.result, group.heads).placeOf(call.element);
    const std::int64_t keys = weights.dim(weights.rank() - 1), ownHead = at.head / (group.heads / group.keyHeads),
                       line = ((at.batch * group.heads + at.head) * group.rows + at.row) * keys;
    SONDE_TRY(dependence::checkTerms(keys * (group.values.size + 1) + group.queries.size));
    Dependence made;
    made.formula = "sum(w * v)";
    const std::uint32_t part = made.listPart("v", "w");
    for (std::int64_t key = 0; key < keys; ++key) {
        const double weight = weights.toDouble(line + key);
        if (weight == 0) continue;  // masked
        const auto row = group.rowOf(false, {at.batch, ownHead, key, at.place});
        if (!row) continue;
        dependence::addElement(made, part, call, row->first->input, row->first->element(row->second));
        made.terms.back().weight = weight;
        const auto scored = group.rowOf(true, {at.batch, ownHead, key, 0});
        if (scored) SONDE_TRY(addRow(made, call, *scored->first, scored->second, "key"));
    }
    SONDE_TRY(addRow(made, call, group.queries, {at.batch, at.head, at.row, 0}, "query"));
    return made;
}

}  // namespace sonde::ops
