// sum / count -> mean, and a reduction over flattened image axes -> global pooling (dump.md, "Fusions").

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/export/inference/export_passes.h"
#include "core/passes/shared_memory.h"
#include "core/passes/vocabulary.h"

namespace sonde::exporting {

namespace {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;
using passes::Family;
using passes::Rewrite;
using tensor::Shape;
using tensor::Tensor;
using tensor::TypeInfo;
using tensor::Value;

/// The reductions of ONNX take their axes as an input from this version on, but for ReduceSum, which does from 13 on.
constexpr int kMeanHasAxesInput = 18;

/// A reduction over known axes.
struct Reduction {
    NodeId x;
    std::vector<std::size_t> axes;  ///< in order
    bool keepsDims = false;
    bool isOverAll = false;  ///< without axes
};

class GrainFuser {
  public:
    explicit GrainFuser(Rewrite& rewrite) : m_rewrite(rewrite), m_graph(rewrite.graph()), m_memory(rewrite.graph()) {}

    base::Result<std::size_t> run() {
        std::size_t count = 0;
        for (const graph::BodyId body : m_rewrite.bodies()) {
            for (const ExprId id : std::vector<ExprId>(m_graph.body(body).order)) {
                if (!m_graph.isErased(id) && toMean(id)) ++count;
            }
            for (const ExprId id : std::vector<ExprId>(m_graph.body(body).order)) {
                if (!m_graph.isErased(id) && toPooling(id)) ++count;
            }
        }
        return count;
    }

  private:
    /// The operation may be taken apart: one result, no writes to what it reads and gives.
    bool isPlain(const Expr& expr) const {
        if (expr.kind == graph::ExprKind::Input || expr.outputs.size() != 1 || !expr.bodies.empty() ||
            expr.arguments.empty() || passes::mutates(expr))
            return false;
        return std::ranges::none_of(expr.inputs, [&](NodeId node) { return m_memory.isWritten(node); }) &&
               !m_memory.isWritten(expr.outputs.front());
    }

    std::optional<std::vector<std::int64_t>> integersOf(const Argument* argument) const {
        if (!argument) return std::nullopt;
        const Value* value = passes::constantOf(m_graph, argument);
        if (argument->kind == Argument::Kind::List || argument->kind == Argument::Kind::Tuple) {
            std::vector<std::int64_t> all;
            for (const Argument& item : argument->items) {
                const auto number = passes::intOf(m_graph, &item);
                if (!number) return std::nullopt;
                all.push_back(*number);
            }
            return all;
        }
        if (!value) return std::nullopt;
        std::vector<std::int64_t> all;
        if (value->kind() == tensor::ValueKind::Int) return std::vector<std::int64_t>{value->toInt()};
        if (value->isTensor() && tensor::isInteger(value->tensor().dtype())) {
            for (std::int64_t i = 0; i < value->tensor().numel(); ++i) all.push_back(value->tensor().toInt64(i));
            return all;
        }
        if (!value->isListLike()) return std::nullopt;
        for (const Value& item : value->items()) {
            if (item.kind() != tensor::ValueKind::Int) return std::nullopt;
            all.push_back(item.toInt());
        }
        return all;
    }

    std::optional<Reduction> reductionOf(const Expr& expr) const {
        if (!isPlain(expr) || expr.arguments[0].kind != Argument::Kind::Node) return std::nullopt;
        Reduction made;
        made.x = expr.arguments[0].node;
        const TypeInfo& type = m_graph.node(made.x).type;
        if (!type.isTensor() || !type.shape || !tensor::isFloating(type.dtype)) return std::nullopt;
        std::optional<std::vector<std::int64_t>> axes;
        if (passes::familyOf(expr) == Family::Onnx) {
            if (expr.attributes.getInt("noop_with_empty_axes", 0) != 0) return std::nullopt;
            made.keepsDims = expr.attributes.getInt("keepdims", 1) != 0;
            const Argument* given = passes::argumentOf(expr, 1);
            const bool isGiven = given && given->kind != Argument::Kind::Omitted;
            axes = isGiven ? integersOf(given) : expr.attributes.getInts("axes");
        } else {
            const bool hasAxes = expr.op.name.find("dim") != std::string::npos;
            const Argument* dtype = passes::argumentOf(expr, hasAxes ? 3 : 1, "dtype");
            const Value* none = dtype ? passes::constantOf(m_graph, dtype) : nullptr;
            if (dtype && !(none && none->isNone())) return std::nullopt;
            made.keepsDims = hasAxes && passes::boolOf(m_graph, passes::argumentOf(expr, 2, "keepdim"), false);
            const Argument* given = hasAxes ? passes::argumentOf(expr, 1, "dim") : nullptr;
            const Value* open = given ? passes::constantOf(m_graph, given) : nullptr;
            axes = !hasAxes || (open && open->isNone()) ? std::vector<std::int64_t>() : integersOf(given);
        }
        if (!axes) return std::nullopt;
        made.isOverAll = axes->empty();
        if (made.isOverAll)
            for (std::size_t i = 0; i < type.shape->size(); ++i) axes->push_back(static_cast<std::int64_t>(i));
        for (const std::int64_t axis : *axes) {
            const auto known = tensor::normalizedAxis(axis, type.shape->size());
            if (!known) return std::nullopt;
            made.axes.push_back(*known);
        }
        std::ranges::sort(made.axes);
        return made;
    }

    /// How many elements each sum has, if that is the same whatever the size of the batch.
    std::optional<double> countOf(const Reduction& sum, Family family) const {
        double count = 1;
        for (const std::size_t axis : sum.axes) {
            const tensor::Dim& dim = (*m_graph.node(sum.x).type.shape)[axis];
            // Of a traced model the first size is that of the example.
            if (!dim.known() || dim.value == 0 || (axis == 0 && family != Family::Onnx)) return std::nullopt;
            count *= static_cast<double>(dim.value);
        }
        return count;
    }

    /// x.size(axis) for the one axis of the sum, x.numel() for all.
    bool isCount(const Argument& argument, const Reduction& sum) const {
        if (argument.kind != Argument::Kind::Node) return false;
        const Expr& expr = m_rewrite.producer(argument.node);
        if (expr.op.domain != "aten" || expr.arguments.empty() || expr.arguments[0].kind != Argument::Kind::Node ||
            expr.arguments[0].node != sum.x)
            return false;
        if (expr.op.name == "numel") return sum.axes.size() == m_graph.node(sum.x).type.shape->size();
        const auto axis = passes::intOf(m_graph, passes::argumentOf(expr, 1, "dim"));
        return expr.op.name == "size.int" && axis && sum.axes.size() == 1 &&
               tensor::normalizedAxis(*axis, m_graph.node(sum.x).type.shape->size()) == sum.axes.front();
    }

    bool toMean(ExprId id) {
        const Expr& expr = m_graph.expr(id);
        const OpClass opClass = passes::opClassOf(expr);
        if ((opClass != OpClass::Div && opClass != OpClass::Mul) || !isPlain(expr) || expr.arguments.size() != 2 ||
            !expr.keywords.empty())
            return false;
        const bool isSwapped = opClass == OpClass::Mul && passes::scalarOf(m_graph, &expr.arguments[0]).has_value();
        const Argument &value = expr.arguments[isSwapped ? 1 : 0], &count = expr.arguments[isSwapped ? 0 : 1];
        if (value.kind != Argument::Kind::Node || !m_rewrite.hasOneUse(value.node)) return false;
        const Expr& source = m_rewrite.producer(value.node);
        if (passes::opClassOf(source) != OpClass::Sum || source.body != expr.body) return false;
        const auto sum = reductionOf(source);
        if (!sum) return false;
        const Family family = passes::familyOf(expr);
        bool fits = opClass == OpClass::Div && isCount(count, *sum);
        const auto number = passes::scalarOf(m_graph, &count), size = countOf(*sum, family);
        if (number && size) {
            // A factor is the nearest float32 to 1 / count, or nearer.
            constexpr double kRounding = std::numeric_limits<float>::epsilon();
            fits = opClass == OpClass::Div ? *number == *size : std::abs(*number * *size - 1) <= kRounding;
        }
        if (!fits || m_graph.node(value.node).type.dtype != m_graph.node(expr.outputs.front()).type.dtype) return false;
        const ExprId sumId = source.id;
        replaceBy(id, meanOf(source, *sum, id), kSum);
        m_rewrite.erase(sumId, kSum);
        return true;
    }

    Expr meanOf(const Expr& source, const Reduction& sum, ExprId before) {
        Expr made = likeIt(source);
        std::vector<std::int64_t> axes(sum.axes.begin(), sum.axes.end());
        if (passes::familyOf(source) != Family::Onnx) {
            tensor::ValueList dims;
            for (const std::int64_t axis : axes) dims.push_back(Value::ofInt(axis));
            made.op = {"aten", "mean.dim", source.op.version};
            made.target = "mean";
            made.arguments = {Argument::of(sum.x), Argument::of(Value::list(std::move(dims))),
                              Argument::of(Value::ofBool(sum.keepsDims)), Argument::of(Value())};
            if (sum.isOverAll) {
                made.op.name = "mean";
                made.arguments = {Argument::of(sum.x), Argument::of(Value())};
            }
            return made;
        }
        made.op = {source.op.domain, "ReduceMean", source.op.version};
        made.target = "ReduceMean";
        made.arguments = {Argument::of(sum.x)};
        made.attributes.set("keepdims", std::int64_t{sum.keepsDims ? 1 : 0});
        if (sum.isOverAll) return made;
        if (source.op.version < kMeanHasAxesInput) {
            made.attributes.set("axes", std::move(axes));
            return made;
        }
        const Tensor list = Tensor::of<std::int64_t>(Shape{static_cast<std::int64_t>(axes.size())}, axes);
        made.arguments.push_back(Argument::of(
            m_rewrite.constantBefore(before, Value(list), m_graph.node(source.outputs.front()).name + "_axes", kSum)));
        return made;
    }

    /// x [N, C, D…] if the node is [N, C, product of D…].
    NodeId imageBehind(NodeId flat) const {
        const Expr& expr = m_rewrite.producer(flat);
        if (passes::opClassOf(expr) != OpClass::Reshape || !isPlain(expr) ||
            expr.arguments[0].kind != Argument::Kind::Node)
            return {};
        const NodeId x = expr.arguments[0].node;
        const auto &wide = m_graph.node(x).type.shape, &narrow = m_graph.node(flat).type.shape;
        if (!wide || !narrow || wide->size() < 4 || narrow->size() != 3) return {};
        if (passes::familyOf(expr) != Family::Onnx && wide->size() != 4) return {};
        std::int64_t pixels = 1;
        for (std::size_t i = 2; i < wide->size(); ++i) {
            if (!(*wide)[i].known()) return {};
            pixels *= (*wide)[i].value;
        }
        const bool isSame = (*wide)[1].known() && (*wide)[0] == (*narrow)[0] && (*wide)[1] == (*narrow)[1] &&
                            ((*wide)[0].known() || !(*wide)[0].symbol.empty());
        return isSame && (*narrow)[2] == tensor::Dim::of(pixels) ? x : NodeId();
    }

    bool toPooling(ExprId id) {
        const Expr& expr = m_graph.expr(id);
        const bool isOnnx = passes::familyOf(expr) == Family::Onnx;
        const bool isMean = passes::opClassOf(expr) == OpClass::Mean;
        const bool isMax = isOnnx && expr.op.name == "ReduceMax";
        if (!isMean && !isMax) return false;
        const auto reduction = reductionOf(expr);
        if (!reduction || reduction->axes != std::vector<std::size_t>{2}) return false;
        const NodeId flat = reduction->x, x = imageBehind(flat);
        if (!x.valid() || !m_rewrite.hasOneUse(flat)) return false;
        const auto& image = *m_graph.node(x).type.shape;
        std::vector<tensor::Dim> dims(image.size(), tensor::Dim::of(1));
        dims[0] = image[0];
        dims[1] = image[1];
        const Expr source = expr;
        Expr pool = likeIt(source), back = likeIt(source);
        const char* const name = !isOnnx ? "adaptive_avg_pool2d" : isMax ? "GlobalMaxPool" : "GlobalAveragePool";
        pool.op = {source.op.domain, name, source.op.version};
        pool.target = name;
        pool.arguments = {Argument::of(x)};
        if (!isOnnx) pool.arguments.push_back(Argument::of(Value::list({Value::ofInt(1), Value::ofInt(1)})));
        const std::string base = m_graph.node(source.outputs.front()).name;
        const NodeId pooled = m_rewrite.output(m_rewrite.insertBefore(id, std::move(pool), base + "_pool", kPool));
        m_graph.setType(pooled, TypeInfo::tensor(m_graph.node(x).type.dtype, std::move(dims)));
        // [N, C, 1 …] as [N, C] or [N, C, 1].
        if (!isOnnx) {
            back.op = {"aten", "flatten.using_ints", source.op.version};
            back.target = "flatten";
            back.arguments = {Argument::of(pooled), Argument::of(Value::ofInt(reduction->keepsDims ? 2 : 1)),
                              Argument::of(Value::ofInt(-1))};
        } else if (reduction->keepsDims) {
            back.op = {source.op.domain, "Reshape", source.op.version};
            back.target = "Reshape";
            const NodeId shape =
                m_rewrite.constantBefore(id, Value(Tensor::of<std::int64_t>({3}, {0, 0, 1})), base + "_shape", kPool);
            back.arguments = {Argument::of(pooled), Argument::of(shape)};
        } else {
            back.op = {source.op.domain, "Flatten", source.op.version};
            back.target = "Flatten";
            back.arguments = {Argument::of(pooled)};
        }
        const ExprId reshape = m_graph.node(flat).producer;
        replaceBy(id, std::move(back), kPool);
        if (m_graph.node(flat).users.empty()) m_rewrite.erase(reshape, kPool);
        return true;
    }

    static Expr likeIt(const Expr& source) {
        Expr made;
        made.kind = source.kind;
        made.scope = source.scope;
        made.qualname = source.qualname;
        made.moduleClass = source.moduleClass;
        made.source = source.source;
        return made;
    }

    /// Under the name of what it stands for.
    void replaceBy(ExprId id, Expr made, const char* why) {
        const NodeId old = m_graph.expr(id).outputs.front();
        const std::string name = m_graph.node(old).name;
        const TypeInfo type = m_graph.node(old).type;
        const ExprId now = m_rewrite.insertBefore(id, std::move(made), name + "_fused", why);
        m_rewrite.addOrigins(now, id);
        const NodeId node = m_rewrite.output(now);
        m_graph.setType(node, type);
        m_rewrite.replace(old, node, why);
        m_rewrite.erase(id, why);
        (void)m_graph.rename(node, name);  // free again: what had it is gone
    }

    static constexpr const char* kSum = "a sum divided by the count of its elements is a mean";
    static constexpr const char* kPool = "a mean over the image is a global pooling";

    Rewrite& m_rewrite;
    InternalGraph& m_graph;
    passes::SharedMemory m_memory;
};

}  // namespace

base::Result<std::size_t> fuseGrain(Rewrite& rewrite) { return GrainFuser(rewrite).run(); }

}  // namespace sonde::exporting
