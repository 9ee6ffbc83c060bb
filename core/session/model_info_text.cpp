#include <algorithm>
#include <fmt/format.h>

#include "core/base/count_text.h"
#include "core/base/visible_text.h"
#include "core/session/model_info.h"

namespace sonde::session {

namespace {

using tensor::SymbolicSum;

constexpr std::size_t kMaxInfoLines = 20;

/// One line of the summary: a title in the first column, unless it is that of the line before.
class InfoLines {
  public:
    void add(const std::string& title, const std::string& text) {
        m_text += fmt::format("{:12} {}\n", title == m_last ? "" : title, base::visibleText(text));
        m_last = title;
    }
    /// At most kMaxInfoLines of a list.
    template <typename List, typename Text>
    void addAll(const std::string& title, const List& list, Text&& text) {
        std::size_t listed = 0;
        for (const auto& each : list) {
            if (listed++ == kMaxInfoLines) break;
            add(title, text(each));
        }
        if (list.size() > kMaxInfoLines) add(title, fmt::format("and {} more", list.size() - kMaxInfoLines));
    }
    void addRaw(const std::string& text) {
        m_text += text;
        m_last.clear();
    }
    std::string take() { return std::move(m_text); }

  private:
    std::string m_text, m_last;
};

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

std::string storedText(const analysis::StoredSum& sum) {
    std::string text = std::to_string(sum.elements);
    if (sum.tensors > 0)
        text += fmt::format(" in {} tensors, {} of {}", sum.tensors, analysis::bytesText(sum.bytes),
                            analysis::dtypesText(sum));
    return text;
}

void addFile(InfoLines& lines, const document::Document& document, const FileFacts& facts) {
    lines.addRaw(fmt::format("{} ({})\n", base::visibleText(document.title), document.format));
    if (facts.file) {
        lines.add("file size", fmt::format("{} bytes", facts.file->bytes));
        if (!facts.file->sha256.empty()) lines.add("SHA-256", facts.file->sha256);
    }
    lines.addAll("data file", facts.external, [](const ModelFile& file) {
        return fmt::format("{}, {} bytes{}", file.path, file.bytes, file.sha256.empty() ? "" : ", " + file.sha256);
    });
    if (!facts.producer.empty()) lines.add("producer", facts.producer);
    for (const auto& [domain, version] : facts.opsets) lines.add("opset", fmt::format("{} {}", domain, version));
    for (const auto& [key, value] : facts.properties) lines.add(key, value);
    lines.addAll("metadata", facts.metadata, [](const auto& entry) { return entry.first + " = " + entry.second; });
    lines.addAll("function", facts.functions, [](const std::string& name) { return name; });
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
    for (const document::NamedNode& input : document.inputs) lines.add("input", typed(input));
    addDefaults(lines, document);
    for (const document::NamedNode& output : document.outputs) lines.add("output", typed(output));
    lines.addAll("dimension", info.dimensions, [](const analysis::DynamicDimension& dimension) {
        std::string text = fmt::format("{}: {}", dimension.name, fmt::join(dimension.inputs, ", "));
        if (dimension.inputs.empty()) text = dimension.name + ": known after a run only";
        if (!dimension.outputs.empty()) text += fmt::format(" -> {}", fmt::join(dimension.outputs, ", "));
        return text + fmt::format(" ({} values depend on it)", dimension.nodes);
    });
}

void addStored(InfoLines& lines, const document::Document& document, const ModelInfo& info) {
    const analysis::ModelCounts& counts = info.counts;
    lines.add("parameters", storedText(counts.parameters));
    if (counts.unread.elements > 0)
        lines.add("parameters", fmt::format("{} of them are not used by any operation", counts.unread.elements));
    if (counts.parameters.elements == 0) {
        if (const std::size_t computed = analysis::countComputedWeights(*document.graph))
            lines.add("parameters", fmt::format("{} weights are computed in the graph and not stored", computed));
    }
    lines.add("buffers", storedText(counts.buffers));
    lines.add("constants", storedText(counts.constants));
    const auto all = counts.parameters.elements + counts.buffers.elements + counts.constants.elements;
    if (all != counts.parameters.elements) lines.add("stored", fmt::format("{} elements in all of these", all));
    if (info.byDType.size() > 1)
        for (const DTypeBytes& each : info.byDType)
            lines.add("bytes",
                      fmt::format("{} of {} in {} tensors", each.bytes, tensor::name(each.dtype), each.tensors));
    std::vector<const analysis::StoredTensor*> tied, unused;
    for (const analysis::StoredTensor& tensor : counts.tensors) {
        if (isTiedParameter(tensor)) tied.push_back(&tensor);
        if (isUnusedTensor(tensor)) unused.push_back(&tensor);
    }
    const auto names = [](const analysis::StoredTensor* tensor) {
        return fmt::format("{}", fmt::join(tensor->names, " = "));
    };
    lines.addAll("tied", tied, [&](const auto* tensor) { return names(tensor) + ", counted once"; });
    lines.addAll("unused", unused, names);
}

void addCost(InfoLines& lines, const ModelInfo& info) {
    const analysis::CostSum& total = info.cost.total;
    lines.add("cost", "for " + (info.costBasis == "symbolic" ? "any input size" : info.costBasis));
    lines.add("multiply-adds", sumText(total.multiplyAdds));
    lines.add("FLOPs", sumText(total.flops) + ", a multiply-add is 2");
    lines.add("bytes read", sumBytesText(total.bytesRead) + ", written " + sumBytesText(total.bytesWritten));
    if (const auto intensity = total.intensity())
        lines.add("intensity", fmt::format("{:.4g} FLOPs by byte", *intensity));
    std::string activations = sumBytesText(total.activationBytes);
    if (info.cost.peakActivationBytes)
        activations += ", at most " + analysis::bytesText(*info.cost.peakActivationBytes) + " at once";
    lines.add("activations", activations);
    if (!info.cost.notCounted.empty()) {
        std::vector<std::string> ops;
        for (const auto& [op, count] : info.cost.notCounted) ops.push_back(fmt::format("{} {}", count, op));
        lines.add("not counted", fmt::format("{}", fmt::join(ops, ", ")));
    }
    if (info.cost.bytesUnknown > 0)
        lines.add("not counted", fmt::format("bytes of {} operations", info.cost.bytesUnknown));
    lines.addAll("assumed", info.cost.assumptions, [](const std::string& text) { return text; });
    lines.addAll("note", info.notes, [](const std::string& text) { return text; });
}

void addModules(InfoLines& lines, const document::Document& document, const ModelInfo& info, int depth) {
    const auto& modules = document.modules->modules();
    std::size_t width = 6;
    std::vector<std::size_t> listed;
    for (std::size_t i = 0; i < modules.size(); ++i) {
        if (i > 0 && std::ranges::count(modules[i].qualname, '.') >= depth) continue;
        listed.push_back(i);
        width = std::max(width, modules[i].qualname.size());
    }
    lines.addRaw(fmt::format("{:{}}  {:>12}  {:>14}  {:>14}  {:>12}  {:>12}\n", "module", width, "parameters",
                             "multiply-adds", "FLOPs", "bytes", "activations"));
    for (const std::size_t i : listed) {
        const analysis::CostSum& cost = info.cost.ofModule[i];
        SymbolicSum bytes = cost.bytesRead;
        bytes.add(cost.bytesWritten);
        lines.addRaw(fmt::format("{:{}}  {:>12}  {:>14}  {:>14}  {:>12}  {:>12}\n",
                                 i == 0 ? "(all)" : base::visibleText(modules[i].qualname), width,
                                 info.counts.ofModule[i].parameters.elements, cost.multiplyAdds.text(),
                                 cost.flops.text(), bytes.text(), cost.activationBytes.text()));
    }
}

}  // namespace

std::string modelInfoText(const document::Document& document, const ModelInfo& info, int depth) {
    InfoLines lines;
    addFile(lines, document, info.file);
    addValues(lines, document, info);
    addStored(lines, document, info);
    lines.add("modules", std::to_string(document.modules->modules().size()));
    lines.add("nodes", std::to_string(info.summary.nodes));
    lines.add("depth", fmt::format("{} operations on the longest path", info.structure.depth));
    if (info.structure.pathBegin.valid())
        lines.add("depth", "from " + document.graph->node(info.structure.pathBegin).name + " to " +
                               document.graph->node(info.structure.pathEnd).name);
    addCost(lines, info);
    lines.addAll("control flow", info.structure.control, [&](const analysis::ControlFlow& control) {
        const graph::Expr& expr = info.graph->expr(control.expr);
        const std::string name = expr.outputs.empty() ? expr.target : info.graph->node(expr.outputs.front()).name;
        return fmt::format("{} ({})", name, analysis::operatorTitle(expr));
    });
    for (const analysis::OperatorUse& use : info.structure.operators) {
        std::string text = use.domain.empty() ? use.name : use.domain + "::" + use.name;
        if (use.version > 0) text += fmt::format("  (opset {})", use.version);
        if (use.isUnsupported) {
            std::vector<std::string> places;
            for (std::size_t i = 0; i < use.nodes.size() && i < 3; ++i)
                places.push_back(info.graph->node(use.nodes[i]).name);
            text += fmt::format("  (cannot be run: {}{})", fmt::join(places, ", "), use.nodes.size() > 3 ? ", …" : "");
        }
        lines.addRaw(fmt::format("{:>12} {}\n", use.count, base::visibleText(text)));
    }
    if (depth > 0) addModules(lines, document, info, depth);
    return lines.take();
}

}  // namespace sonde::session
