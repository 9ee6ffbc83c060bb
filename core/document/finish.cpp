#include "core/document/finish.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "core/analysis/infer.h"
#include "core/base/mapped_file.h"
#include "core/document/fitting_sizes.h"
#include "core/ops/registry/registry.h"

namespace sonde::document {

void findUnknownOperators(Document& document) {
    const graph::InternalGraph& graph = *document.graph;
    struct Use {
        graph::ExprId first;
        std::size_t count = 0;
        bool knownName = false;
    };
    std::map<std::string, Use> unknown;
    const ops::Registry& registry = ops::Registry::all();
    for (graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        const graph::Expr& expr = graph.expr(id);
        if (expr.op.name.empty() || expr.kind == graph::ExprKind::Constant) continue;
        const ops::OpDef* op = registry.find(expr.op.domain, expr.op.name, expr.op.version);
        if (op && op->kernel) continue;
        const bool knownName = registry.knows(expr.op.domain, expr.op.name);
        std::string title = expr.op.domain.empty() ? expr.op.name : expr.op.domain + "::" + expr.op.name;
        if (knownName) title += " of version " + std::to_string(expr.op.version);
        Use& use = unknown[title];
        if (use.count++ == 0) use.first = id;
    }
    for (const auto& [title, use] : unknown) {
        const graph::Expr& expr = graph.expr(use.first);
        const std::string node = expr.outputs.empty() ? expr.name : graph.node(expr.outputs.front()).name;
        document.diagnostics.push_back({base::Severity::Warning,
                                        "operator " + title + " is not known: " + std::to_string(use.count) +
                                            (use.count == 1 ? " node" : " nodes") + " cannot be run",
                                        "node '" + node + "'", "the nodes before it can be run: set end points"});
    }
}

namespace {

/// Bools and the integers that shapes and indices are made of; and whatever is small: sizes, scales, limits.
bool isSmallOrIndex(const tensor::Tensor& tensor) {
    using tensor::DType;
    constexpr std::size_t kSmallBytes = 4096;
    const DType dtype = tensor.dtype();
    return dtype == DType::Bool || dtype == DType::Int32 || dtype == DType::Int64 ||
           tensor.storage()->sizeBytes() <= kSmallBytes;
}

/// Kernels check shapes and indices once and use them later. A file that is overwritten meanwhile must not come in
/// between, so those are copied from it; weights stay mapped. What shared memory in the file shares the copy.
class OwnedIndices {
  public:
    /// The tensor on memory of its own; nothing if it may stay where it is.
    std::optional<tensor::Tensor> of(const tensor::Tensor& tensor) {
        if (!tensor.defined() || tensor.dtype() == tensor::DType::String || !isSmallOrIndex(tensor))
            return std::nullopt;
        if (!base::MappedFile::at(tensor.storage()->data())) return std::nullopt;
        std::shared_ptr<tensor::Storage>& copy = m_copies[tensor.storage().get()];
        if (!copy) {
            auto owned = tensor::Storage::allocate(tensor.storage()->sizeBytes());
            if (!owned) return std::nullopt;  // a run will say so
            std::memcpy((*owned)->mutableData(), tensor.storage()->data(), tensor.storage()->sizeBytes());
            copy = tensor::Storage::view((*owned)->data(), (*owned)->sizeBytes(), *owned);
            m_originals.push_back(tensor.storage());
        }
        return tensor::Tensor::onStorage(tensor.dtype(), tensor.shape(), tensor.strides(), copy,
                                         tensor.offsetElements());
    }
    bool empty() const { return m_copies.empty(); }

  private:
    std::map<const tensor::Storage*, std::shared_ptr<tensor::Storage>> m_copies;
    std::vector<std::shared_ptr<const tensor::Storage>> m_originals;  ///< alive, so that no address comes again
};

/// In the graph, and where modules register the same tensors: one memory stays one.
void ownIndices(graph::InternalGraph& graph, std::shared_ptr<const graph::ModuleTree>& modules) {
    OwnedIndices copies;
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const auto& constant = graph.node(graph::NodeId(i)).constant;
        if (!constant || !constant->isTensor()) continue;
        if (auto owned = copies.of(constant->tensor()))
            graph.setConstant(graph::NodeId(i), tensor::Value(std::move(*owned)));
    }
    if (!modules || copies.empty()) return;
    auto changed = std::make_shared<graph::ModuleTree>(*modules);
    for (std::size_t i = 0; i < changed->modules().size(); ++i) {
        for (graph::ParameterInfo& parameter : changed->mutableModule(i).parameters) {
            if (!parameter.value) continue;
            if (auto owned = copies.of(*parameter.value)) parameter.value = std::move(*owned);
        }
    }
    modules = std::move(changed);
}

}  // namespace

void finish(Document& document, graph::InternalGraph graph, const base::WorkContext& work) {
    work.report("inferring shapes");
    ownIndices(graph, document.modules);
    analysis::inferTypes(graph, document.diagnostics);
    document.graph = std::make_shared<const graph::InternalGraph>(std::move(graph));
    (void)fittingSizes(document.graph);  // here and not where inputs are first shown
}

std::uint64_t fingerprintOf(std::span<const std::byte> content) {
    constexpr std::size_t kPart = std::size_t{1} << 20;
    std::uint64_t hash = 0xcbf29ce484222325u;
    const auto add = [&hash](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3u; };
    // Eight bytes at a time: byte by byte it took a tenth of the time to open a file.
    const auto addAll = [&add](std::span<const std::byte> part) {
        for (; part.size() >= sizeof(std::uint64_t); part = part.subspan(sizeof(std::uint64_t))) {
            std::uint64_t word = 0;
            std::memcpy(&word, part.data(), sizeof word);
            add(word);
        }
        for (std::byte byte : part) add(std::to_integer<std::uint64_t>(byte));
    };
    add(content.size());
    const std::span<const std::byte> head = content.first(std::min(content.size(), kPart));
    const std::span<const std::byte> tail = content.last(std::min(content.size() - head.size(), kPart));
    addAll(head);
    addAll(tail);
    return hash ^ hash >> 32;  // a word's upper bits only reach upper bits: bring them down
}

}  // namespace sonde::document
