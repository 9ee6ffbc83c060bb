#include "core/session/report/report_weights.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <unordered_map>

#include "core/base/count_text.h"
#include "core/base/counted_text.h"
#include "core/session/report/report_blocks.h"

namespace sonde::session {

namespace {

using analysis::StoredKind;
using analysis::StoredTensor;

/// Types of stored tensors by the names that the counts have for them.
std::unordered_map<std::string, std::string> storedTypes(const document::Document& document,
                                                         const graph::InternalGraph& graph) {
    std::unordered_map<std::string, std::string> types;
    const auto text = [](const auto& stored, const std::optional<tensor::Tensor>& value) {
        return (value ? tensor::TypeInfo::tensor(value->dtype(), value->shape()) : stored.type).text();
    };
    for (const graph::ModuleInfo& module : document.modules->modules())
        for (const graph::ParameterInfo& each : module.parameters)
            types.emplace(module.qualname.empty() ? each.name : module.qualname + '.' + each.name,
                          text(each, each.value ? std::optional(*each.value) : std::nullopt));
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId()))
        for (const graph::NodeId output : graph.expr(id).outputs)
            if (const graph::Node& node = graph.node(output); node.constant && node.constant->isTensor())
                types.emplace(node.name, text(node, node.constant->tensor()));
            else if (graph.expr(id).kind == graph::ExprKind::GetAttr) types.emplace(node.name, node.type.text());
    return types;
}

/// Tensors of one type whose names have one beginning, "layer1.0.bn1".
struct TensorRow {
    std::string owner, type, note;
    std::vector<std::string> parameters, buffers;  ///< what follows in their names
    std::int64_t elements = 0, bytes = 0;
    std::size_t count = 1;  ///< modules that have these

    std::size_t tensors() const { return count * (parameters.size() + buffers.size()); }

    /// "weight, bias; buffers: running_mean, running_var".
    std::string text() const {
        std::string text = fmt::format("{}", fmt::join(parameters, ", "));
        if (buffers.empty()) return text;
        return text + (text.empty() ? "" : "; ") + (buffers.size() == 1 ? "buffer: " : "buffers: ") +
               fmt::format("{}", fmt::join(buffers, ", "));
    }
};

/// In the order of their first tensors.
std::vector<TensorRow> tensorRows(const document::Document& document, const ModelInfo& info) {
    const std::unordered_map<std::string, std::string> types = storedTypes(document, *info.graph);
    std::vector<TensorRow> rows;
    std::unordered_map<std::string, std::size_t> known;
    for (const StoredTensor& each : info.counts.tensors) {
        if (each.kind == StoredKind::Constant && !isUnusedTensor(each)) continue;
        const std::string name = joinedText(each.names, 3);
        const std::string note = isTiedParameter(each) ? "tied" : isUnusedTensor(each) ? "unused" : "";
        const auto found = types.find(each.names.front());
        const std::string type = found == types.end() ? std::string() : found->second;
        // Names of one that is tied are told whole.
        const std::size_t dot = each.names.size() > 1 ? std::string::npos : name.rfind('.');
        const std::string owner = dot == std::string::npos ? std::string() : name.substr(0, dot);
        const std::string key = dot == std::string::npos ? name + "\n" : owner + '\n' + type + '\n' + note;
        const auto [at, isNew] = known.try_emplace(key, rows.size());
        if (isNew) rows.push_back({owner, type, note, {}, {}, 0, 0, 1});
        TensorRow& row = rows[at->second];
        (each.kind == StoredKind::Buffer ? row.buffers : row.parameters)
            .push_back(dot == std::string::npos ? name : name.substr(dot + 1));
        row.elements += each.size.elements;
        row.bytes += each.size.bytes;
    }
    return rows;
}

/// What many modules have of one element, as a counter of batches, is one row: "121 modules".
void joinNumbers(std::vector<TensorRow>& rows) {
    constexpr std::size_t kMaxAlike = 8;
    std::unordered_map<std::string, std::vector<std::size_t>> alike;
    const auto keyOf = [](const TensorRow& row) { return row.text() + '\n' + row.type + '\n' + row.note; };
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].elements == 1 && rows[i].tensors() == 1 && !rows[i].owner.empty())
            alike[keyOf(rows[i])].push_back(i);
    std::vector<bool> isJoined(rows.size(), false);
    for (const auto& [key, members] : alike) {
        if (members.size() <= kMaxAlike) continue;
        TensorRow& first = rows[members.front()];
        first.owner = base::countedText(static_cast<std::int64_t>(members.size()), "module");
        first.count = members.size();
        for (std::size_t i = 1; i < members.size(); ++i) {
            first.elements += rows[members[i]].elements;
            first.bytes += rows[members[i]].bytes;
            isJoined[members[i]] = true;
        }
    }
    std::vector<TensorRow> kept;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (!isJoined[i]) kept.push_back(std::move(rows[i]));
    rows = std::move(kept);
}

/// In their order. What is said of the others.
std::string keepLargest(std::vector<TensorRow>& rows) {
    if (rows.size() <= kMaxReportRows) return {};
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return rows[i].bytes; });
    std::int64_t tensors = 0, elements = 0, bytes = 0;
    for (std::size_t i = kMaxReportRows; i < order.size(); ++i) {
        tensors += static_cast<std::int64_t>(rows[order[i]].tensors());
        elements += rows[order[i]].elements;
        bytes += rows[order[i]].bytes;
    }
    order.resize(kMaxReportRows);
    std::ranges::sort(order);
    std::vector<TensorRow> kept;
    for (const std::size_t i : order) kept.push_back(std::move(rows[i]));
    rows = std::move(kept);
    return fmt::format(
        "These are the largest; {} of {} elements and {} more are not listed. `sonde weights` lists all.",
        base::countedText(tensors, "tensor"), base::countText(elements), analysis::bytesText(bytes));
}

}  // namespace

ReportSection weightsSection(const document::Document& document, const ModelInfo& info) {
    ReportSection section{"weights", "Stored tensors", {}};
    ReportTable dtypes{
        "By element type", {{"element type"}, {"tensors", true}, {"elements", true}, {"bytes", true}}, {}, {}};
    for (const DTypeBytes& each : info.byDType)
        dtypes.rows.push_back({std::string(tensor::name(each.dtype)), base::countText(each.tensors),
                               base::countText(each.elements), analysis::bytesText(each.bytes)});
    section.blocks.emplace_back(std::move(dtypes));
    std::vector<TensorRow> rows = tensorRows(document, info);
    ReportTable all{
        "Tensors", {{"module"}, {"tensors"}, {"type of each"}, {"elements", true}, {"bytes", true}, {""}}, {}, {}};
    joinNumbers(rows);
    all.note = keepLargest(rows);
    for (const TensorRow& row : rows)
        all.rows.push_back(
            {row.owner, row.text(), row.type, base::countText(row.elements), analysis::bytesText(row.bytes), row.note});
    section.blocks.emplace_back(std::move(all));
    return section;
}

}  // namespace sonde::session
