#include <algorithm>
#include <fmt/format.h>

#include "core/base/counted_text.h"
#include "core/base/one_line.h"
#include "core/graph/missing_data.h"
#include "core/session/info_formulas.h"
#include "core/session/model_info.h"

namespace sonde::session {

namespace {

using analysis::CostPart;
using analysis::CostSum;
using base::countedText;
using graph::Expr;
using graph::ExprId;
using graph::NodeId;
using tensor::SymbolicSum;

constexpr std::size_t kMaxInfoLines = 20;

class InfoLines {
  public:
    void add(const std::string& title, const std::string& text, std::vector<NodeId> nodes = {}) {
        m_lines.push_back({title, text, infoFormula(title), std::move(nodes)});
    }
    /// At most kMaxInfoLines of a list.
    template <typename List, typename Text, typename Nodes>
    void addAll(const std::string& title, const List& list, Text&& text, Nodes&& nodesOf) {
        std::size_t listed = 0;
        for (const auto& each : list) {
            if (listed++ == kMaxInfoLines) break;
            add(title, text(each), nodesOf(each));
        }
        if (list.size() > kMaxInfoLines)
            add(title, fmt::format("and {} more, which `sonde info --json` lists", list.size() - kMaxInfoLines));
    }
    template <typename List, typename Text>
    void addAll(const std::string& title, const List& list, Text&& text) {
        addAll(title, list, text, [](const auto&) { return std::vector<NodeId>(); });
    }
    void add(InfoLine line) { m_lines.push_back(std::move(line)); }
    std::vector<InfoLine> take() { return std::move(m_lines); }

  private:
    std::vector<InfoLine> m_lines;
};

/// All that operations compute, as ModelSummary::nodes counts it, in the order of the program.
std::vector<NodeId> computedNodes(const ModelInfo& info) {
    std::vector<NodeId> nodes;
    for (const ExprId id : info.graph->recursiveOrder(info.graph->mainId()))
        if (const Expr& expr = info.graph->expr(id); analysis::computesValues(expr))
            nodes.insert(nodes.end(), expr.outputs.begin(), expr.outputs.end());
    return nodes;
}

/// The first results of the operations for which `isMeant`, in the order of the program.
template <typename IsMeant>
std::vector<NodeId> nodesWhere(const ModelInfo& info, IsMeant&& isMeant) {
    std::vector<NodeId> nodes;
    for (const ExprId id : info.graph->recursiveOrder(info.graph->mainId()))
        if (const Expr& expr = info.graph->expr(id); !expr.outputs.empty() && isMeant(expr))
            nodes.push_back(expr.outputs.front());
    return nodes;
}

/// Operations that have a part in a sum.
std::vector<NodeId> nodesWith(const ModelInfo& info, SymbolicSum CostSum::*sum) {
    return nodesWhere(info, [&](const Expr& expr) {
        const analysis::ExprCost& cost = info.cost.ofExpr[expr.id.index()];
        return cost.part == CostPart::Counted && (cost.sum.*sum).constant() != 0;
    });
}

std::vector<NodeId> firstOutput(const ModelInfo& info, ExprId id) {
    if (!id.valid() || info.graph->expr(id).outputs.empty()) return {};
    return {info.graph->expr(id).outputs.front()};
}

/// What reads the stored tensors of a kind first.
std::vector<NodeId> readersOf(const ModelInfo& info, analysis::StoredKind kind) {
    std::vector<NodeId> nodes;
    for (const analysis::StoredTensor& tensor : info.counts.tensors)
        if (tensor.kind == kind)
            for (const NodeId node : firstOutput(info, tensor.reader))
                if (nodes.empty() || nodes.back() != node) nodes.push_back(node);
    return nodes;
}

/// "4.089 G (4,089,284,608)", "3,072", "1024*N".
std::string sumText(const SymbolicSum& sum) {
    const auto number = sum.constant();
    if (!number) return sum.text();
    const std::string exact = base::countText(*number);
    constexpr std::pair<double, const char*> kUnits[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}};
    for (const auto& [unit, letter] : kUnits)
        if (static_cast<double>(*number) >= unit)
            return fmt::format("{:.4g} {} ({})", static_cast<double>(*number) / unit, letter, exact);
    return exact;
}

std::string sumBytesText(const SymbolicSum& sum) {
    const auto number = sum.constant();
    return number ? analysis::bytesText(*number) : sum.text() + " bytes";
}

/// What a figure leaves out is said with it: a sum of nothing is no zero.
std::string knownText(bool isKnown, std::size_t leftOut, const std::string& text) {
    if (!isKnown) return "not known";
    return leftOut == 0 ? text
                        : text + ", " + countedText(static_cast<std::int64_t>(leftOut), "operation") + " not counted";
}

std::string storedText(const analysis::StoredSum& sum) {
    std::string text = base::countText(sum.elements);
    if (sum.tensors > 0)
        text += fmt::format(" in {}, {} of {}", countedText(sum.tensors, "tensor"), analysis::bytesText(sum.bytes),
                            analysis::dtypesText(sum));
    return text;
}

/// Data files that cannot be opened, with all that they would be read for.
void addMissing(InfoLines& lines, const document::Document& document) {
    const auto readersOf = [&document](const graph::MissingFile& file) {
        std::vector<NodeId> nodes;
        for (const std::string& name : file.tensors) {
            const NodeId node = document.graph->findNode(name);
            if (!node.valid()) continue;
            for (const ExprId user : document.graph->node(node).users)
                if (const Expr& expr = document.graph->expr(user); !expr.outputs.empty())
                    nodes.push_back(expr.outputs.front());
        }
        return nodes;
    };
    lines.addAll(
        "missing file", graph::missingOf(document.graph),
        [](const graph::MissingFile& file) {
            return fmt::format("{}, {}, {}", file.location, file.reason, file.tensorsText(file.tensors.size()));
        },
        readersOf);
}

void addFile(InfoLines& lines, const document::Document& document, const FileFacts& facts) {
    if (facts.file) {
        lines.add("file size", base::countText(static_cast<std::int64_t>(facts.file->bytes)) + " bytes");
        if (!facts.file->sha256.empty()) lines.add("SHA-256", facts.file->sha256);
    }
    lines.addAll("data file", facts.external, [](const ModelFile& file) {
        return fmt::format("{}, {} bytes{}", file.path, base::countText(static_cast<std::int64_t>(file.bytes)),
                           file.sha256.empty() ? "" : ", " + file.sha256);
    });
    addMissing(lines, document);
    if (!facts.producer.empty()) lines.add("producer", facts.producer);
    for (const auto& [domain, version] : facts.opsets) lines.add("opset", fmt::format("{} {}", domain, version));
    for (const auto& [key, value] : facts.properties) lines.add(key, value);
    lines.addAll("metadata", facts.metadata, [](const auto& entry) { return entry.first + " = " + entry.second; });
    lines.addAll("function", facts.functions, [](const std::string& name) { return name; });
    lines.addAll("doc string", facts.docStrings,
                 [](const auto& entry) { return entry.first + ": " + base::oneLine(entry.second); });
}

/// Inputs that need not be given, and what they are then.
void addDefaults(InfoLines& lines, const document::Document& document) {
    for (const graph::NodeId node : document.graph->inputs()) {
        const graph::Expr& input = document.graph->expr(document.graph->node(node).producer);
        const bool isListed =
            std::ranges::find(document.inputs, node, &document::NamedNode::node) != document.inputs.end();
        const bool isPlain =
            !input.arguments.empty() && input.arguments.front().kind == graph::Argument::Kind::Constant;
        if (!isListed && isPlain)
            lines.add("input", input.target + ": " + input.arguments.front().constant.text() + ", not required");
    }
}

void addValues(InfoLines& lines, const document::Document& document, const ModelInfo& info) {
    const auto typed = [&document](const document::NamedNode& value) {
        return value.name + ": " + document.graph->node(value.node).type.text();
    };
    for (const document::NamedNode& input : document.inputs) lines.add("input", typed(input), {input.node});
    addDefaults(lines, document);
    for (const document::NamedNode& output : document.outputs) lines.add("output", typed(output), {output.node});
    const auto text = [](const analysis::DynamicDimension& dimension) {
        const std::string name =
            dimension.size ? fmt::format("{} = {}", dimension.name, *dimension.size) : dimension.name;
        std::string text = fmt::format("{}: {}", name, fmt::join(dimension.inputs, ", "));
        if (dimension.inputs.empty()) text = name + ": known after a run only";
        if (!dimension.outputs.empty()) text += fmt::format(" -> {}", fmt::join(dimension.outputs, ", "));
        return text + fmt::format(" ({} {} on it)",
                                  countedText(static_cast<std::int64_t>(dimension.nodes.size()), "value"),
                                  dimension.nodes.size() == 1 ? "depends" : "depend");
    };
    lines.addAll("dimension", info.dimensions, text, [](const auto& dimension) { return dimension.nodes; });
}

void addParameters(InfoLines& lines, const ModelInfo& info) {
    const analysis::ModelCounts& counts = info.counts;
    lines.add("parameters", storedText(counts.parameters), readersOf(info, analysis::StoredKind::Parameter));
    if (counts.unread.elements > 0)
        lines.add("parameters",
                  fmt::format("{} of them are not used by any operation", base::countText(counts.unread.elements)));
    if (const analysis::ComputedWeights computed = analysis::computedWeights(*info.graph); computed.count > 0)
        lines.add("parameters", fmt::format("computed in the graph and not stored: {} of {}",
                                            countedText(static_cast<std::int64_t>(computed.count), "weight"),
                                            countedText(computed.elements, "element")));
}

void addStored(InfoLines& lines, const document::Document& document, const ModelInfo& info) {
    const analysis::ModelCounts& counts = info.counts;
    using analysis::StoredKind;
    lines.add("buffers", storedText(counts.buffers), readersOf(info, StoredKind::Buffer));
    lines.add("constants", storedText(counts.constants), readersOf(info, StoredKind::Constant));
    const auto all = counts.parameters.elements + counts.buffers.elements + counts.constants.elements;
    if (all != counts.parameters.elements)
        lines.add("stored", fmt::format("{} element{} in all of these", base::countText(all), all == 1 ? "" : "s"));
    if (info.byDType.size() > 1)
        for (const DTypeBytes& each : info.byDType)
            lines.add("bytes", fmt::format("{} of {} in {}", base::countText(each.bytes), tensor::name(each.dtype),
                                           countedText(each.tensors, "tensor")));
    std::vector<const analysis::StoredTensor*> tied, unused;
    for (const analysis::StoredTensor& tensor : counts.tensors) {
        if (isTiedParameter(tensor)) tied.push_back(&tensor);
        if (isUnusedTensor(tensor)) unused.push_back(&tensor);
    }
    const auto ownerOf = [&document](const analysis::StoredTensor& tensor) {
        return tensor.modules.empty() ? std::string() : document.modules->module(tensor.modules.front()).qualname;
    };
    const auto names = [](const analysis::StoredTensor* tensor) {
        return fmt::format("{}", fmt::join(tensor->names, " = "));
    };
    lines.addAll(
        "tied", tied, [&](const auto* tensor) { return names(tensor) + ", counted once"; },
        [&info](const auto* tensor) { return firstOutput(info, tensor->reader); });
    for (std::size_t i = 0; i < std::min(unused.size(), kMaxInfoLines); ++i)
        lines.add({"unused", names(unused[i]), infoFormula("unused"), {}, false, ownerOf(*unused[i])});
    if (unused.size() > kMaxInfoLines) lines.add("unused", fmt::format("and {} more", unused.size() - kMaxInfoLines));
}

/// What an output sees of an input; and the most that is seen before all of an axis is.
void addFields(InfoLines& lines, const document::Document& document, const ModelInfo& info) {
    struct Field {
        std::string text;
        std::vector<NodeId> nodes;
    };
    std::vector<Field> texts;
    for (const document::NamedNode& input : document.inputs) {
        const std::string shape = document.graph->node(input.node).type.shapeText();
        for (const document::NamedNode& output : document.outputs) {
            const std::string field = analysis::fieldText(info.fields, output.node, input.node);
            if (!field.empty())
                texts.push_back(
                    {fmt::format("{} depends on {} of {} {}", output.name, field, input.name, shape), {output.node}});
        }
        for (std::size_t i = 0; i < info.fields.axes().size(); ++i) {
            const graph::NodeId most = info.fields.largest(i), all = info.fields.firstWhole(i);
            if (info.fields.axes()[i].input != input.node || !all.valid() || !most.valid()) continue;
            const std::int64_t size = info.fields.of(most, i).size;
            if (size < 2) continue;  // windows of one are no windows
            texts.push_back(
                {fmt::format("{} axis {}: up to {} at {}, all from {} on", input.name, info.fields.axes()[i].axis, size,
                             info.graph->node(most).name, info.graph->node(all).name),
                 {most, all}});
        }
    }
    lines.addAll(
        "field", texts, [](const Field& field) { return field.text; }, [](const Field& field) { return field.nodes; });
    if (info.fields.isPartial()) lines.add("field", "further inputs are not followed");
}

void addCost(InfoLines& lines, const ModelInfo& info) {
    const analysis::CostSum& total = info.cost.total;
    lines.add("cost", "for " + (info.costBasis == "symbolic" ? "any input size" : info.costBasis));
    lines.add("multiply-adds",
              knownText(total.hasMultiplyAdds(), total.unknownMultiplyAdds, sumText(total.multiplyAdds)),
              nodesWith(info, &CostSum::multiplyAdds));
    lines.add("FLOPs", knownText(total.hasFlops(), total.unknownFlops, sumText(total.flops) + ", a multiply-add is 2"),
              nodesWith(info, &CostSum::flops));
    lines.add("bytes read",
              knownText(total.hasBytes(), total.unknownBytes,
                        sumBytesText(total.bytesRead) + ", written " + sumBytesText(total.bytesWritten)),
              nodesWith(info, &CostSum::bytesRead));
    std::string activations = knownText(total.hasActivations(), 0, sumBytesText(total.activationBytes));
    if (info.cost.peakActivationBytes)
        activations += ", at most " + analysis::bytesText(*info.cost.peakActivationBytes) + " at once";
    lines.add("activations", activations, nodesWith(info, &CostSum::activationBytes));
    if (const auto intensity = total.intensity())
        lines.add("intensity", fmt::format("{:.4g} FLOPs by byte", *intensity), nodesWith(info, &CostSum::flops));
}

/// What the figures of the cost leave out or take for granted.
void addCostRemarks(InfoLines& lines, const ModelInfo& info) {
    if (!info.cost.notCounted.empty()) {
        std::vector<std::string> ops;
        for (const auto& [op, count] : info.cost.notCounted) ops.push_back(fmt::format("{} {}", count, op));
        std::vector<NodeId> nodes;
        for (const ExprId id : info.cost.notCountedExprs)
            for (const NodeId node : firstOutput(info, id)) nodes.push_back(node);
        lines.add("not counted", fmt::format("{}", fmt::join(ops, ", ")), std::move(nodes));
    }
    if (info.cost.bytesUnknown > 0)
        lines.add("not counted",
                  "bytes of " + countedText(static_cast<std::int64_t>(info.cost.bytesUnknown), "operation"));
    lines.addAll("assumed", info.cost.assumptions, [](const std::string& text) { return text; });
    lines.addAll("note", info.notes, [](const std::string& text) { return text; });
}

/// Depth, path and what decides at run time.
void addStructure(InfoLines& lines, const document::Document& document, const ModelInfo& info) {
    lines.add("modules", base::countText(static_cast<std::int64_t>(document.modules->modules().size())));
    lines.add("nodes", base::countText(info.summary.nodes), computedNodes(info));
    const std::vector<NodeId>& path = info.structure.path;
    std::string depth =
        countedText(static_cast<std::int64_t>(info.structure.depth), "operation") + " on the longest path";
    if (!info.structure.control.empty()) depth += "; a branch or a loop is one, whatever is in it";
    lines.add("depth", depth, path);
    if (!path.empty())
        lines.add("depth", "from " + info.graph->node(path.front()).name + " to " + info.graph->node(path.back()).name,
                  path);
    addFields(lines, document, info);
}

void addOperators(InfoLines& lines, const ModelInfo& info) {
    lines.addAll(
        "control flow", info.structure.control,
        [&](const analysis::ControlFlow& control) {
            const Expr& expr = info.graph->expr(control.expr);
            const std::string name = expr.outputs.empty() ? expr.target : info.graph->node(expr.outputs.front()).name;
            return fmt::format("{} ({})", name, analysis::operatorTitle(expr));
        },
        [&](const analysis::ControlFlow& control) { return firstOutput(info, control.expr); });
    for (const analysis::OperatorUse& use : info.structure.operators) {
        std::string text = use.domain.empty() ? use.name : use.domain + "::" + use.name;
        if (use.version > 0) text += fmt::format("  (opset {})", use.version);
        if (use.isUnsupported) {
            std::vector<std::string> places;
            for (std::size_t i = 0; i < use.nodes.size() && i < 3; ++i)
                places.push_back(info.graph->node(use.nodes[i]).name);
            text += fmt::format("  (cannot be run: {}{})", fmt::join(places, ", "), use.nodes.size() > 3 ? ", …" : "");
        }
        lines.add({base::countText(use.count), text, infoFormula("operator"), use.nodes, true});
    }
}

}  // namespace

std::vector<InfoLine> modelInfoLines(const document::Document& document, const ModelInfo& info) {
    InfoLines lines;
    lines.add("", fmt::format("{} ({})", document.title, document.format));
    // What people look for first is in sight in a small panel.
    addParameters(lines, info);
    addCost(lines, info);
    addValues(lines, document, info);
    addFile(lines, document, info.file);
    addStored(lines, document, info);
    addStructure(lines, document, info);
    addCostRemarks(lines, info);
    addOperators(lines, info);
    return lines.take();
}

}  // namespace sonde::session
