#include "core/session/load_and_run/inspection.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/analysis/tensor_stats.h"
#include "core/base/number_text.h"
#include "core/base/visible_text.h"
#include "core/io/npz/npy.h"

namespace sonde::session {

namespace {

using graph::Expr;
using graph::ExprId;
using graph::NodeId;
using tensor::Tensor;
using tensor::Value;

constexpr std::int64_t kMaxPrinted = 5;

std::string operatorText(const Expr& expr) { return expr.op.name.empty() ? expr.target : expr.op.name; }

/// "[0.5, 2, ...]".
std::string headText(const Value& value) {
    if (!value.isTensor()) return base::visibleText(value.text());
    const Tensor& tensor = value.tensor();
    std::string text = "[";
    for (std::int64_t i = 0; i < std::min(tensor.numel(), kMaxPrinted); ++i)
        text += (i ? ", " : "") + tensor.elementText(i, 4);
    return base::visibleText(text + (tensor.numel() > kMaxPrinted ? ", ...]" : "]"));
}

/// Of the finite elements; the deviation is that of a sample.
std::string statsText(const Tensor& tensor) {
    const analysis::TensorStats stats = analysis::tensorStats(tensor);
    const auto count = static_cast<double>(stats.finiteCount());
    if (count == 0) return fmt::format("nan {} inf {}", stats.nanCount, stats.infCount);
    const auto number = [](double value) { return base::roundedText(value, 3); };
    const double squares = stats.mean * stats.mean + stats.deviation * stats.deviation;
    const std::string deviation =
        count > 1 ? number(stats.deviation * std::sqrt(count / (count - 1))) : std::string("N/A");
    std::string text = fmt::format("min={} max={} mean={} l2={} sd={}", number(stats.minimum), number(stats.maximum),
                                   number(stats.mean), number(std::sqrt(squares)), deviation);
    if (stats.nanCount + stats.infCount > 0) text += fmt::format(" nan={} inf={}", stats.nanCount, stats.infCount);
    return text;
}

/// "[0,2,1]" of an element by its row-major index.
std::string indexText(std::int64_t index, const tensor::Shape& shape) {
    std::vector<std::int64_t> at(shape.rank());
    for (std::size_t axis = shape.rank(); axis-- > 0; index /= shape[axis]) at[axis] = index % shape[axis];
    return tensor::Shape(std::move(at)).text();
}

base::Result<void> makeFolder(const std::string& path) {
    if (path.empty()) return {};
    std::error_code code;
    std::filesystem::create_directories(path, code);
    if (code) return base::runError("the folder cannot be made: " + code.message(), path);
    return {};
}

}  // namespace

Inspection::Inspection(const LoadAndRunOptions& options, std::shared_ptr<const graph::InternalGraph> graph,
                       const std::vector<NodeId>& outputs)
    : m_options(options), m_graph(std::move(graph)), m_outputs(outputs.begin(), outputs.end()) {
    for (std::size_t i = 0; i < m_graph->nodeCount(); ++i) {
        const graph::Node& node = m_graph->node(NodeId(i));
        if (node.constant) m_heads[node.id] = headText(*node.constant);
    }
}

base::Result<std::unique_ptr<Inspection>> Inspection::make(const LoadAndRunOptions& options,
                                                           std::shared_ptr<const graph::InternalGraph> graph,
                                                           const std::vector<NodeId>& outputs) {
    std::unique_ptr<Inspection> made(new Inspection(options, std::move(graph), outputs));
    for (const std::string* folder : {&options.binIoDump, &options.binOutDump}) SONDE_TRY(makeFolder(*folder));
    if (options.ioDump.empty()) return made;
    made->m_text.open(options.ioDump, std::ios::binary);
    if (!made->m_text) return base::runError("the file cannot be written", options.ioDump);
    return made;
}

bool Inspection::looksAtFirstRuns() const {
    return looksAtAllRuns() || m_options.range > 0 || !m_options.staticMemoryInfo.empty() || m_text.is_open() ||
           !m_options.binIoDump.empty() || !m_options.binOutDump.empty();
}

void Inspection::begin(std::size_t caseIndex, bool isFirst, std::span<const Value> inputs) {
    m_case = caseIndex;
    m_isFirst = isFirst;
    m_count = 0;
    m_bytes.clear();
    if (isFirst) m_before.clear();
    if (isFirst && m_text.is_open()) m_text << "==== case " << caseIndex << '\n';
    const std::vector<NodeId>& nodes = m_graph->inputs();
    for (std::size_t i = 0; i < nodes.size() && i < inputs.size(); ++i) {
        m_heads[nodes[i]] = headText(inputs[i]);
        // An output may be an input as it is.
        if (isFirst && !inputs[i].isNone() && m_outputs.contains(nodes[i]))
            store(m_options.binOutDump, nodes[i], inputs[i]);
    }
    for (const NodeId output : m_outputs) {
        const auto& constant = m_graph->node(output).constant;
        if (isFirst && constant) store(m_options.binOutDump, output, *constant);
    }
}

base::Result<void> Inspection::end() {
    if (m_error) return *m_error;
    m_text.flush();
    if (m_text.is_open() && !m_text) return base::runError("the file cannot be written", m_options.ioDump);
    return {};
}

void Inspection::exprFinished(ExprId id, std::span<const Value> outputs, std::int64_t) {
    const Expr& expr = m_graph->expr(id);
    if (expr.kind == graph::ExprKind::Output) return;  // what it returns was looked at when it was computed
    for (std::size_t i = 0; i < outputs.size() && i < expr.outputs.size(); ++i) {
        const NodeId node = expr.outputs[i];
        const Value& value = outputs[i];
        if (m_isFirst) {
            describe(expr, node, value);
            store(m_options.binIoDump, node, value);
            if (m_outputs.contains(node)) store(m_options.binOutDump, node, value);
        }
        if (!value.isTensor()) continue;
        m_bytes[node] = static_cast<std::int64_t>(value.tensor().sizeBytes());
        checkRange(node, value.tensor());
        checkRepetition(node, value.tensor());
    }
}

void Inspection::checkRange(NodeId node, const Tensor& value) {
    if (!(m_options.range > 0) || !tensor::isFloating(value.dtype()) || m_outOfRange.contains(node)) return;
    for (std::int64_t i = 0; i < value.numel(); ++i) {
        const double element = value.toDouble(i);
        if (std::abs(element) < m_options.range) continue;
        m_outOfRange.insert(node);
        m_violations.push_back(fmt::format("float value out of range: {} value={} range={} index={}/{}",
                                           base::visibleText(m_graph->node(node).name), base::roundedText(element, 6),
                                           base::roundedText(m_options.range, 6), indexText(i, value.shape()),
                                           value.shape().text()));
        return;
    }
}

/// Values have the numbers in which they are computed; what a loop computes again is another one.
void Inspection::checkRepetition(NodeId node, const Tensor& value) {
    const std::size_t number = m_count++;
    if (!m_options.varCheck || number < m_options.varCheck->first) return;
    if ((number - m_options.varCheck->first) % m_options.varCheck->interval != 0) return;
    if (m_isFirst) {
        // The memory is used again as soon as this returns.
        if (auto copy = value.clone()) m_before[number] = std::move(*copy);
        return;
    }
    const auto before = m_before.find(number);
    if (before == m_before.end() || tensor::identical(before->second, value)) return;
    m_violations.push_back(fmt::format("the value #{} changed between runs: {} {}", number,
                                       base::visibleText(m_graph->node(node).name), value.typeText()));
    m_before.erase(before);
}

void Inspection::describe(const Expr& expr, NodeId node, const Value& value) {
    if (!m_text.is_open()) return;
    m_text << fmt::format("var{} produced: name={} layout={} owner_opr={}{{{}}} opr{}\n deps:\n", node.index(),
                          base::visibleText(m_graph->node(node).name), value.typeText(),
                          base::visibleText(expr.name.empty() ? expr.target : expr.name), operatorText(expr),
                          expr.id.index());
    for (std::size_t i = 0; i < expr.inputs.size(); ++i) {
        const auto known = m_heads.find(expr.inputs[i]);
        m_text << fmt::format("  [i{}]var{}: {}\n", i, expr.inputs[i].index(),
                              known == m_heads.end() ? std::string("<unknown>") : known->second);
    }
    const std::string head = headText(value);
    m_text << " val: " << head << (value.isTensor() ? ' ' + statsText(value.tensor()) : std::string()) << '\n';
    m_heads[node] = head;
}

void Inspection::store(const std::string& folder, NodeId node, const Value& value) {
    if (folder.empty() || !value.isTensor() || m_error) return;
    const auto path = std::filesystem::path(folder) / fmt::format("run{}-var{}.npy", m_case, node.index());
    if (auto written = io::writeNpyFile(path, value.tensor()); !written) m_error = std::move(written).error();
}

}  // namespace sonde::session
