#include "core/document/fitting_sizes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "core/analysis/requirements.h"
#include "core/analysis/typed_for.h"
#include "core/base/current_stop.h"
#include "core/graph/traits.h"
#include "core/io/inputs/agreement.h"
#include "core/io/inputs/input_info.h"

namespace sonde::document {

using graph::InternalGraph;
using graph::NodeId;
using tensor::Dim;
using tensor::Shape;
using tensor::TypeInfo;

namespace {

constexpr std::size_t kMaxOperations = 20'000, kMaxInferred = 200'000;  ///< of a graph, of all tries together
constexpr std::size_t kMaxSymbols = 8;
constexpr std::int64_t kMaxGrown = 1 << 15, kMaxElements = 1 << 24;

/// Sizes by the symbols of open dimensions.
using Sizes = std::map<std::string, std::int64_t>;

class SizeSearch {
  public:
    explicit SizeSearch(const InternalGraph& graph)
        : m_graph(graph), m_triesLeft(kMaxInferred / std::max<std::size_t>(graph.exprCount(), 1)) {}

    std::vector<tensor::DimSizeHints> search() {
        if (!readInputs() || m_usual.empty() || m_usual.size() > kMaxSymbols) return {};
        const std::size_t refusals = count(m_usual);
        m_least = refusals;
        // What is refused whatever the sizes are is no reason to look for others.
        if (refusals == 0) return {};
        tryAlone();
        if (m_least > 0) tryTogether(m_usual);
        if (m_least >= refusals || base::stopRequested()) return {};
        return hints();
    }

  private:
    /// False if nothing is open.
    bool readInputs() {
        bool isOpen = false;
        for (const NodeId input : m_graph.inputs()) {
            const TypeInfo& type = m_graph.node(input).type;
            m_infos.push_back({m_graph.node(input).name, type});
            if (!type.isTensor() || !type.shape) continue;
            for (const Dim& dim : *type.shape) isOpen = isOpen || !dim.known();
        }
        if (!isOpen || m_graph.exprCount() > kMaxOperations) return false;
        const auto usual = analysis::usualDimSizes(m_graph);
        for (std::size_t i = 0; i < m_infos.size(); ++i) m_infos[i].usual = usual[i];
        io::agreeOnSymbols(m_infos);
        for (const io::InputInfo& info : m_infos) {
            if (!info.type.isTensor() || !info.type.shape) continue;
            const Shape shape = io::usualShape(info.type, info.usual);
            for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
                const Dim& dim = (*info.type.shape)[axis];
                if (dim.known() || dim.symbol.empty()) continue;
                m_usual.emplace(dim.symbol, shape[axis]);
                if (axis == 0) m_first.insert(dim.symbol);
            }
        }
        return true;
    }

    std::vector<TypeInfo> typesWith(const Sizes& sizes) const {
        std::vector<TypeInfo> types;
        for (const io::InputInfo& info : m_infos) {
            TypeInfo type = info.type;
            if (type.isTensor() && type.shape)
                for (Dim& dim : *type.shape)
                    if (const auto size = sizes.find(dim.symbol); !dim.known() && size != sizes.end())
                        dim = Dim::of(size->second);
            types.push_back(std::move(type));
        }
        return types;
    }

    /// How many operators refuse what these sizes give them.
    std::size_t count(const Sizes& sizes) const {
        base::Diagnostics findings;
        const InternalGraph typed = analysis::typedForTypes(m_graph, typesWith(sizes), findings);
        std::size_t refusals = findings.size();
        for (const graph::ExprId expr : typed.recursiveOrder(typed.mainId())) refusals += isTooSmall(typed, expr);
        return refusals;
    }

    /// Windows that are larger than what they slide over give nothing; a run refuses them.
    static bool isTooSmall(const InternalGraph& typed, graph::ExprId id) {
        using operators::OpClass;
        const graph::Expr& expr = typed.expr(id);
        const OpClass is = graph::traitsOf(expr).opClass;
        if (is != OpClass::Conv && is != OpClass::MaxPool && is != OpClass::AveragePool) return false;
        const auto isEmpty = [&typed](NodeId node) {
            const TypeInfo& type = typed.node(node).type;
            return type.isTensor() && type.shape && std::ranges::find(*type.shape, Dim::of(0)) != type.shape->end();
        };
        return std::ranges::any_of(expr.outputs, isEmpty) && std::ranges::none_of(expr.inputs, isEmpty);
    }

    bool isReasonable(const Sizes& sizes) const {
        for (const TypeInfo& type : typesWith(sizes)) {
            std::int64_t elements = 1;
            for (const Dim& dim : type.isTensor() && type.shape ? *type.shape : std::vector<Dim>()) {
                if (dim.known() && dim.value > kMaxElements / std::max<std::int64_t>(elements, 1)) return false;
                if (dim.known()) elements *= dim.value;
            }
        }
        return true;
    }

    /// Takes the sizes if fewer operators refuse them; the smallest ones of several that are as good.
    void attempt(const Sizes& sizes) {
        if (m_least == 0 || m_triesLeft == 0 || base::stopRequested() || !isReasonable(sizes)) return;
        --m_triesLeft;
        const std::size_t refusals = count(sizes);
        if (refusals >= m_least) return;
        m_least = refusals;
        m_best = sizes;
    }

    /// A length before a batch.
    void tryAlone() {
        for (const bool isFirst : {false, true})
            for (std::int64_t size = 2; size <= kMaxGrown; size *= 2)
                for (const auto& [symbol, usual] : m_usual) {
                    if (size <= usual || m_first.contains(symbol) != isFirst) continue;
                    Sizes sizes = m_usual;
                    sizes[symbol] = size;
                    attempt(sizes);
                }
    }

    void tryTogether(const Sizes& usual) {
        for (const bool withFirst : {false, true})
            for (std::int64_t size = 2; size <= kMaxGrown; size *= 2) {
                Sizes sizes = usual;
                for (auto& [symbol, each] : sizes)
                    if (withFirst || !m_first.contains(symbol)) each = std::max(each, size);
                attempt(sizes);
            }
    }

    std::vector<tensor::DimSizeHints> hints() const {
        std::vector<tensor::DimSizeHints> all;
        for (const io::InputInfo& info : m_infos) {
            tensor::DimSizeHints hints = info.usual;
            const bool hasShape = info.type.isTensor() && info.type.shape;
            if (hasShape) hints.resize(info.type.shape->size());
            for (std::size_t axis = 0; hasShape && axis < hints.size(); ++axis)
                if (const auto size = m_best.find((*info.type.shape)[axis].symbol); size != m_best.end())
                    hints[axis].likely = size->second;
            all.push_back(std::move(hints));
        }
        return all;
    }

    const InternalGraph& m_graph;
    std::vector<io::InputInfo> m_infos;  ///< in the order of graph.inputs()
    Sizes m_usual, m_best;
    std::set<std::string> m_first;  ///< those of first dimensions, which are mostly batches
    std::size_t m_least = 0;        ///< refusals so far
    std::size_t m_triesLeft;
};

/// What was worked out for graphs that are still there.
struct KeptSizes {
    std::mutex mutex;
    std::vector<std::pair<std::weak_ptr<const InternalGraph>, std::vector<tensor::DimSizeHints>>> all;
};

}  // namespace

std::vector<tensor::DimSizeHints> fittingSizes(const std::shared_ptr<const InternalGraph>& graph) {
    static KeptSizes kept;
    {
        const std::lock_guard lock(kept.mutex);
        std::erase_if(kept.all, [](const auto& each) { return each.first.expired(); });
        for (const auto& [of, sizes] : kept.all)
            if (of.lock() == graph) return sizes;
    }
    std::vector<tensor::DimSizeHints> sizes = SizeSearch(*graph).search();
    if (base::stopRequested()) return sizes;
    const std::lock_guard lock(kept.mutex);
    kept.all.emplace_back(graph, sizes);
    return sizes;
}

}  // namespace sonde::document
