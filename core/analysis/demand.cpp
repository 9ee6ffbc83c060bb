#include "core/analysis/demand.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "core/ops/registry/registry.h"

namespace sonde::analysis {

using graph::Argument;
using graph::Body;
using graph::Expr;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Dim;
using tensor::DType;
using tensor::TypeInfo;
using tensor::Value;

namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kOpen = -1;
constexpr std::size_t kHighestRank = 16;
constexpr int kDeepest = 200;

/// What is wanted of one value.
struct Demand {
    DType dtype = DType::Undefined;
    std::optional<std::size_t> rank;
    Ints front, back;  ///< extents by axis; counted from the last one
    std::size_t least = 0, most = kHighestRank + 1;  ///< what the rank may be where it is not said
};

void put(Ints& extents, std::size_t at, std::int64_t extent) {
    if (at >= kHighestRank || extent < 0) return;
    if (extents.size() <= at) extents.resize(at + 1, kOpen);
    if (extents[at] == kOpen) extents[at] = extent;
}

/// What was there first stays: a model that wants two things at once cannot be run anyway.
void add(Demand& demand, const Demand& more) {
    if (demand.dtype == DType::Undefined) demand.dtype = more.dtype;
    if (!demand.rank) demand.rank = more.rank;
    demand.least = std::max(demand.least, more.least);
    demand.most = std::min(demand.most, more.most);
    for (std::size_t i = 0; i < more.front.size(); ++i) put(demand.front, i, more.front[i]);
    for (std::size_t i = 0; i < more.back.size(); ++i) put(demand.back, i, more.back[i]);
}

/// Of a value with `more` dimensions more, without its extents.
Demand rankShifted(const Demand& demand, int more) {
    const auto shifted = [more](std::size_t rank) { return static_cast<std::size_t>(std::max<std::int64_t>(static_cast<std::int64_t>(rank) + more, 0)); };
    Demand result;
    result.dtype = demand.dtype;
    if (demand.rank) result.rank = shifted(*demand.rank);
    result.least = shifted(demand.least);
    result.most = std::min(shifted(demand.most), kHighestRank + 1);
    return result;
}

/// What holds if either is wanted.
Demand common(const Demand& a, const Demand& b) {
    Demand result;
    if (a.dtype == b.dtype) result.dtype = a.dtype;
    if (a.rank == b.rank) result.rank = a.rank;
    for (std::size_t i = 0; i < std::min(a.front.size(), b.front.size()); ++i) put(result.front, i, a.front[i] == b.front[i] ? a.front[i] : kOpen);
    for (std::size_t i = 0; i < std::min(a.back.size(), b.back.size()); ++i) put(result.back, i, a.back[i] == b.back[i] ? a.back[i] : kOpen);
    result.least = std::min(a.rank.value_or(a.least), b.rank.value_or(b.least));
    result.most = std::max(a.rank.value_or(a.most), b.rank.value_or(b.most));
    return result;
}

Demand withoutType(Demand demand) {
    demand.dtype = DType::Undefined;
    return demand;
}

/// All extents from the front; of a demand with a rank.
std::vector<Dim> dimsOf(const Demand& demand) {
    std::vector<Dim> dims(*demand.rank);
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (i < demand.front.size() && demand.front[i] != kOpen) dims[i] = Dim::of(demand.front[i]);
        const std::size_t back = dims.size() - 1 - i;
        if (!dims[i].known() && back < demand.back.size() && demand.back[back] != kOpen) dims[i] = Dim::of(demand.back[back]);
    }
    return dims;
}

/// One extent of the value, by an axis that may count from the end.
void putAxis(Demand& demand, std::int64_t axis, std::int64_t extent) {
    if (axis >= 0) put(demand.front, static_cast<std::size_t>(axis), extent);
    else if (axis > -static_cast<std::int64_t>(kHighestRank)) put(demand.back, static_cast<std::size_t>(-axis - 1), extent);
}

bool isOneOf(std::string_view name, std::span<const std::string_view> names) { return std::ranges::find(names, name) != names.end(); }

// Operators of ATen without overload and the underscore of their in-place form. `x` is the first argument of each.

/// y has x's shape and dtype.
constexpr std::string_view kSame[] = {
    "relu", "relu6", "gelu", "silu", "sigmoid", "tanh", "hardswish", "hardsigmoid", "hardtanh", "elu", "leaky_relu", "celu", "selu", "mish", "softplus",
    "dropout", "feature_dropout", "alpha_dropout", "contiguous", "clone", "detach", "alias", "softmax", "log_softmax", "abs", "neg", "exp", "log", "sqrt",
    "rsqrt", "square", "clamp", "clamp_min", "clamp_max", "group_norm", "instance_norm", "channel_shuffle", "flip", "prelu", "logit", "erf", "sin", "cos"};
/// y has x's shape.
constexpr std::string_view kSameShape[] = {"to", "type_as", "float", "double", "half", "add", "sub", "mul", "div", "pow", "rsub"};
/// y has x's rank, batch and channels.
constexpr std::string_view kSameChannels[] = {
    "max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d",
    "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d", "max_pool2d_with_indices", "upsample_nearest1d", "upsample_nearest2d",
    "upsample_nearest3d", "upsample_bilinear2d", "upsample_bicubic2d", "upsample_linear1d", "upsample_trilinear3d"};
/// y has x's rank.
constexpr std::string_view kSameRank[] = {"slice", "narrow", "constant_pad_nd", "pad", "reflection_pad2d", "replication_pad2d", "reflection_pad1d", "replication_pad1d",
                                          "roll", "repeat_interleave", "cumsum", "pixel_shuffle", "pixel_unshuffle"};
/// Weights [K, C / groups, …] behind x.
constexpr std::string_view kConvolutions[] = {"conv1d", "conv2d", "conv3d", "_convolution", "convolution", "_convolution_mode"};
/// Weights [C, K / groups, …] behind x.
constexpr std::string_view kTransposed[] = {"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"};
constexpr std::string_view kRecurrent[] = {"lstm", "gru", "rnn_tanh", "rnn_relu"};

class Demands {
  public:
    explicit Demands(InternalGraph& graph) : m_graph(graph), m_demands(graph.nodeCount()) {}

    std::vector<NodeId> inputs() {
        collect(m_graph.main(), 0);
        std::vector<NodeId> changed;
        for (NodeId input : m_graph.inputs()) {
            if (wantsDemand(input) && setType(input)) changed.push_back(input);
        }
        return changed;
    }

  private:
    bool wantsDemand(NodeId input) const {
        const graph::Node& node = m_graph.node(input);
        const bool hasDefault = !m_graph.expr(node.producer).arguments.empty();
        return !hasDefault && !node.type.shape && node.type.dtype == DType::Undefined && (!node.type.kind || node.type.isTensor());
    }

    bool setType(NodeId input) {
        Demand demand = m_demands[input.index()];
        if (!demand.rank && demand.least == demand.most) demand.rank = demand.most;
        if (!demand.rank && demand.dtype == DType::Undefined) return false;
        m_graph.setType(input, TypeInfo::tensor(demand.dtype, demand.rank ? std::optional(dimsOf(demand)) : std::nullopt));
        return true;
    }

    /// Users come behind what they use: backwards, all that is wanted of an output is known before its expr is looked at.
    void collect(const Body& body, int depth) {
        if (depth > kDeepest) return;
        for (auto id = body.order.rbegin(); id != body.order.rend(); ++id) {
            const Expr& expr = m_graph.expr(*id);
            if (expr.op.name.empty() && !expr.bodies.empty()) collectCall(expr, depth);
            else if (expr.op.name == "If" && expr.bodies.size() == 2) collectBranches(expr, depth);
            else if (expr.op.domain == "aten") collectOperator(expr);
            else if (expr.op.domain == "prim") collectPlain(expr);
        }
    }

    /// A called module: what is wanted of its result goes in, what is wanted of its inputs comes out.
    void collectCall(const Expr& expr, int depth) {
        const Body& body = m_graph.body(expr.bodies.front());
        if (expr.outputs.size() == 1 && body.result.kind == Argument::Kind::Node) want(body.result, of(expr));
        collect(body, depth + 1);
        for (std::size_t i = 0; i < body.inputs.size() && i < expr.inputs.size(); ++i) want(expr.inputs[i], of(body.inputs[i]));
    }

    /// Only what both branches want is wanted whatever happens.
    void collectBranches(const Expr& expr, int depth) {
        std::array<std::unordered_map<std::size_t, Demand>, 2> wanted;
        for (const std::size_t branch : {0, 1}) {
            const Body& body = m_graph.body(expr.bodies[branch]);
            std::vector<Demand> results;
            for (std::size_t i = 0; i < body.outputs.size() && i < expr.outputs.size(); ++i) results.push_back(of(expr.outputs[i]));
            m_branches.emplace_back();
            for (std::size_t i = 0; i < results.size(); ++i) want(body.outputs[i], results[i]);
            collect(body, depth + 1);
            wanted[branch] = std::move(m_branches.back());
            m_branches.pop_back();
        }
        for (const auto& [node, demand] : wanted[0]) {
            if (const auto found = wanted[1].find(node); found != wanted[1].end()) want(NodeId(node), common(demand, found->second));
        }
        for (std::size_t i = 0; i < expr.outputs.size(); ++i) wantBatch(expr, i);
    }

    /// if x.dim() != 3: x = x.unsqueeze(0): a batch is not changed.
    void wantBatch(const Expr& expr, std::size_t output) {
        for (const std::size_t branch : {0, 1}) {
            const Body &same = m_graph.body(expr.bodies[branch]), &other = m_graph.body(expr.bodies[1 - branch]);
            if (output >= same.outputs.size() || output >= other.outputs.size()) continue;
            const Expr& maker = m_graph.expr(m_graph.node(other.outputs[output]).producer);
            const bool makesBatch = maker.body == other.id && maker.op.name == "unsqueeze" && !maker.arguments.empty() &&
                                    maker.arguments.front().kind == Argument::Kind::Node && maker.arguments.front().node == same.outputs[output];
            if (makesBatch) want(same.outputs[output], of(expr.outputs[output]));
        }
    }

    // ---- Operators of ATen ----

    void collectOperator(const Expr& expr) {
        if (expr.arguments.empty() || expr.outputs.empty()) return;
        std::string_view name = std::string_view(expr.op.name).substr(0, expr.op.name.find('.'));
        if (name.size() > 1 && name.ends_with('_')) name.remove_suffix(1);
        const Argument& x = expr.arguments.front();
        const Demand result = of(expr);
        const bool hasNumber = expr.arguments.size() < 2 || isNumber(expr.arguments[1]);
        if (isOneOf(name, kConvolutions)) wantConvolved(expr, name, false);
        else if (isOneOf(name, kTransposed)) wantConvolved(expr, name, true);
        else if (isOneOf(name, kRecurrent) && expr.op.name.ends_with(".input")) wantRecurrent(expr);
        else if (name == "linear") wantLinear(expr, result);
        else if (name == "layer_norm") wantNormed(expr, result);
        else if (name == "batch_norm" || name == "native_batch_norm") wantBatchNormed(expr, result);
        else if (name == "embedding") wantIndices(expr, result);
        else if (name == "_native_multi_head_attention") wantAttended(expr);
        else if (isOneOf(name, kSame)) want(x, result);
        else if (isOneOf(name, kSameShape) && (hasNumber || name == "to" || name == "type_as")) want(x, withoutType(result));
        else if (isOneOf(name, kSameShape)) wantBroadcast(expr, result);
        else if (expr.op.name == "size.int") wantExtent(expr);
        else if (expr.op.name == "size") wantUnpacked(expr);
        else if (isOneOf(name, kSameChannels)) wantPooled(x, name, result);
        else if (isOneOf(name, kSameRank)) want(x, rankShifted(result, 0));
        else if (name == "permute") wantPermuted(expr, result);
        else if (name == "transpose") wantTransposed(expr, result);
        else if (name == "cat") wantJoined(x, result);
        else if (name == "unsqueeze") want(x, rankShifted(result, -1));
        else if (name == "select") want(x, rankShifted(result, 1));
        else if (name == "bmm" || name == "baddbmm") want(x, {DType::Undefined, 3, {}, {}});
    }

    /// Neither side has more dimensions than the result.
    void wantBroadcast(const Expr& expr, const Demand& result) {
        Demand demand;
        demand.most = result.rank.value_or(result.most);
        for (std::size_t i = 0; i < 2 && i < expr.arguments.size(); ++i) want(expr.arguments[i], demand);
    }

    /// size(x, i): there is such a dimension.
    void wantExtent(const Expr& expr) {
        const auto axis = integer(argument(expr, "dim"));
        if (!axis || *axis < -static_cast<std::int64_t>(kHighestRank) || *axis >= static_cast<std::int64_t>(kHighestRank)) return;
        Demand demand;
        demand.least = static_cast<std::size_t>(*axis < 0 ? -*axis : *axis + 1);
        want(expr.arguments.front(), demand);
    }

    /// n, t, c = x.size(): all extents are taken, in order, right where the size is asked for.
    void wantUnpacked(const Expr& expr) {
        const std::vector<graph::ExprId>& users = m_graph.node(expr.outputs.front()).users;
        if (users.size() < 2 || users.size() > kHighestRank) return;
        const std::vector<graph::ExprId>& order = m_graph.body(expr.body).order;
        auto at = std::ranges::find(order, expr.id);
        for (std::size_t i = 0; i < users.size(); ++i) {
            const Expr& user = m_graph.expr(users[i]);
            if (++at == order.end() || *at != user.id || user.op.name != "getitem" || user.arguments.size() != 2) return;
            if (integer(user.arguments[1]) != static_cast<std::int64_t>(i)) return;
        }
        want(expr.arguments.front(), {DType::Undefined, users.size(), {}, {}});
    }

    void wantConvolved(const Expr& expr, std::string_view name, bool transposed) {
        const auto weight = shapeOf(argument(expr, "weight"));
        if (!weight || weight->size() < 3) return;
        const std::optional<std::int64_t> groups = integer(argument(expr, "groups"));
        if (name == "_convolution" || name == "convolution") {
            const Value flag = valueOf(argument(expr, "transposed"));
            if (!flag.isNumber()) return;
            transposed = flag.number() != 0;
        }
        Demand demand{dtypeOf(argument(expr, "weight")), weight->size(), {}, {}};
        if (transposed) put(demand.front, 1, (*weight)[0]);
        else if (groups && *groups > 0 && *groups < (std::int64_t{1} << 31) && (*weight)[1] < (std::int64_t{1} << 31)) put(demand.front, 1, (*weight)[1] * *groups);
        want(expr.arguments.front(), demand);
    }

    /// x [N, L, I] with states [layers, N, H]; of rank 2 both are a single sequence.
    void wantRecurrent(const Expr& expr) {
        Demand demand;
        const Argument states = argument(expr, "hx"), weights = argument(expr, "params");
        const Argument* state = states.items.empty() ? &states : &states.items.front();
        demand.rank = rankOf(*state);
        if (!weights.items.empty()) {
            if (const auto weight = shapeOf(weights.items.front()); weight && weight->size() == 2) put(demand.back, 0, (*weight)[1]);
            demand.dtype = dtypeOf(weights.items.front());
        }
        want(expr.arguments.front(), demand);
    }

    void wantLinear(const Expr& expr, const Demand& result) {
        const auto weight = shapeOf(argument(expr, "weight"));
        if (!weight || weight->size() != 2) return;
        Demand demand = rankShifted(result, 0);
        demand.dtype = dtypeOf(argument(expr, "weight"));
        demand.back = {(*weight)[1]};
        for (std::size_t i = 0; result.rank && i + 1 < *result.rank && i < result.front.size(); ++i) put(demand.front, i, result.front[i]);
        want(expr.arguments.front(), demand);
    }

    void wantNormed(const Expr& expr, const Demand& result) {
        Demand demand = result;
        Ints extents = integers(argument(expr, "normalized_shape"));
        std::ranges::reverse(extents);
        for (std::size_t i = 0; i < extents.size(); ++i) put(demand.back, i, extents[i]);
        if (demand.dtype == DType::Undefined) demand.dtype = dtypeOf(argument(expr, "weight"));
        want(expr.arguments.front(), demand);
    }

    void wantBatchNormed(const Expr& expr, const Demand& result) {
        Demand demand = result;
        for (const std::string_view name : {"weight", "running_mean"}) {
            if (const auto channels = shapeOf(argument(expr, name)); channels && channels->size() == 1) put(demand.front, 1, channels->front());
            if (demand.dtype == DType::Undefined) demand.dtype = dtypeOf(argument(expr, name));
        }
        want(expr.arguments.front(), demand);
    }

    /// embedding(weight, indices): one row for each index.
    void wantIndices(const Expr& expr, const Demand& result) {
        Demand demand = rankShifted(result, -1);
        demand.dtype = DType::Int64;
        for (std::size_t i = 0; demand.rank && i < *demand.rank && i < result.front.size(); ++i) put(demand.front, i, result.front[i]);
        want(argument(expr, "indices"), demand);
    }

    /// Queries, keys and values [N, L, E].
    void wantAttended(const Expr& expr) {
        const auto width = integer(argument(expr, "embed_dim"));
        Demand demand{dtypeOf(argument(expr, "qkv_weight")), 3, {}, {width.value_or(kOpen)}};
        for (std::size_t i = 0; i < 3 && i < expr.arguments.size(); ++i) want(expr.arguments[i], demand);
    }

    void wantPooled(const Argument& x, std::string_view name, const Demand& result) {
        Demand demand{result.dtype, result.rank, {}, {}};
        // Enlarging takes batches alone; pooling a single sample as well.
        if (name.starts_with("upsample")) demand.rank = static_cast<std::size_t>(name[name.size() - 2] - '0') + 2;
        for (std::size_t i = 0; demand.rank && i < 2 && i < result.front.size(); ++i) put(demand.front, i, result.front[i]);
        want(x, demand);
    }

    void wantPermuted(const Expr& expr, const Demand& result) {
        const Ints order = integers(argument(expr, "dims"));
        if (order.empty()) return;
        Demand demand{result.dtype, order.size(), {}, {}};
        Demand ranked = result;
        ranked.rank = order.size();
        const std::vector<Dim> dims = dimsOf(ranked);
        for (std::size_t i = 0; i < order.size(); ++i) putAxis(demand, order[i], dims[i].value);
        want(expr.arguments.front(), demand);
    }

    void wantTransposed(const Expr& expr, const Demand& result) {
        const auto a = integer(argument(expr, "dim0")), b = integer(argument(expr, "dim1"));
        Demand demand{result.dtype, result.rank, {}, {}};
        if (result.rank && a && b) {
            std::vector<Dim> dims = dimsOf(result);
            const auto one = tensor::normalizedAxis(*a, dims.size()), other = tensor::normalizedAxis(*b, dims.size());
            if (!one || !other) return;
            std::swap(dims[*one], dims[*other]);
            for (std::size_t i = 0; i < dims.size(); ++i) put(demand.front, i, dims[i].value);
        }
        want(expr.arguments.front(), demand);
    }

    void wantJoined(const Argument& list, const Demand& result) {
        for (const Argument& item : list.items) want(item, {DType::Undefined, result.rank, {}, {}});
    }

    // ---- Plain values ----

    /// n, c, h, w = x.size(); assert x.dim() == 4; assert x.size(2) == 32; if x.dim() != 4: raise
    void collectPlain(const Expr& expr) {
        const std::string_view name = expr.op.name;
        if (expr.arguments.empty()) return;
        if (name == "ListUnpack" || name == "TupleUnpack") {
            const Expr* size = producerOf(expr.arguments.front());
            if (size && isShape(*size)) want(size->arguments.front(), {DType::Undefined, expr.outputs.size(), {}, {}});
        } else if (name == "getattr" && isShape(expr)) {
            wantUnpacked(expr);
        } else if (name == "_assert") {
            collectAsserted(expr.arguments.front(), true, 0);
        } else if ((name == "add" || name == "sub" || name == "mul" || name == "truediv") && expr.arguments.size() == 2 && isNumber(expr.arguments[1])) {
            const Demand result = of(expr);
            want(expr.arguments.front(), withoutType(result));
        }
    }

    void collectAsserted(const Argument& condition, bool holds, int depth) {
        const Expr* expr = producerOf(condition);
        if (!expr || depth > 8 || expr->op.domain != "prim" || expr->arguments.empty()) return;
        const std::string_view name = expr->op.name;
        if (name == "not_") {
            collectAsserted(expr->arguments.front(), !holds, depth + 1);
        } else if (name == (holds ? "eq" : "ne") && expr->arguments.size() == 2) {
            for (const std::size_t side : {0, 1}) wantEqual(expr->arguments[side], integer(expr->arguments[1 - side]));
        }
    }

    /// dim(x), x.ndim, size(x, i), x.shape[i]
    void wantEqual(const Argument& number, std::optional<std::int64_t> value) {
        const Expr* expr = producerOf(number);
        if (!expr || !value || *value < 0 || expr->arguments.empty()) return;
        Demand demand;
        if (expr->op.domain == "aten" && expr->op.name == "dim") {
            if (*value > static_cast<std::int64_t>(kHighestRank)) return;
            demand.rank = static_cast<std::size_t>(*value);
            want(expr->arguments.front(), demand);
        } else if (expr->op.domain == "aten" && expr->op.name == "size.int") {
            putAxis(demand, integer(argument(*expr, "dim")).value_or(kHighestRank), *value);
            want(expr->arguments.front(), demand);
        } else if (expr->op.domain == "prim" && expr->op.name == "getitem" && expr->arguments.size() == 2) {
            const Expr* size = producerOf(expr->arguments.front());
            if (!size || !isShape(*size)) return;
            putAxis(demand, integer(expr->arguments[1]).value_or(kHighestRank), *value);
            want(size->arguments.front(), demand);
        }
    }

    bool isShape(const Expr& expr) const {
        if (expr.arguments.empty()) return false;
        if (expr.op.domain == "aten") return expr.op.name == "size";
        const Value name = expr.arguments.size() > 1 ? valueOf(expr.arguments[1]) : Value();
        return expr.op.domain == "prim" && expr.op.name == "getattr" && name.kind() == tensor::ValueKind::String && name.toString() == "shape";
    }

    // ---- Arguments ----

    Demand of(NodeId node) const {
        Demand demand = m_demands[node.index()];
        for (const auto& branch : m_branches) {
            if (const auto found = branch.find(node.index()); found != branch.end()) add(demand, found->second);
        }
        return demand;
    }
    Demand of(const Expr& expr) const { return of(expr.outputs.front()); }
    void want(NodeId node, const Demand& demand) { add(m_branches.empty() ? m_demands[node.index()] : m_branches.back()[node.index()], demand); }
    void want(const Argument& value, const Demand& demand) {
        if (value.kind == Argument::Kind::Node) want(value.node, demand);
    }

    const Expr* producerOf(const Argument& value) const {
        return value.kind == Argument::Kind::Node ? &m_graph.expr(m_graph.node(value.node).producer) : nullptr;
    }

    /// By the name of the schema: given by position, by name, or the default.
    static Argument argument(const Expr& expr, std::string_view name) {
        const auto keyword = std::ranges::find_if(expr.keywords, [&](const auto& given) { return given.first == name; });
        if (keyword != expr.keywords.end()) return keyword->second;
        const ops::OpDef* op = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
        if (!op) return {};
        const auto parameter = std::ranges::find(op->parameters, name, &ops::Parameter::name);
        if (parameter == op->parameters.end()) return {};
        const auto at = static_cast<std::size_t>(parameter - op->parameters.begin());
        if (at < expr.arguments.size()) return expr.arguments[at];
        return parameter->fallback ? Argument::of(*parameter->fallback) : Argument{};
    }

    Value valueOf(const Argument& value) const {
        if (value.kind == Argument::Kind::Constant) return value.constant;
        if (value.kind != Argument::Kind::Node) return {};
        return m_graph.node(value.node).constant.value_or(Value());
    }
    std::optional<std::int64_t> integer(const Argument& value) const {
        const Value known = valueOf(value);
        return known.kind() == tensor::ValueKind::Int ? std::optional(known.toInt()) : std::nullopt;
    }
    /// Empty unless all are known.
    Ints integers(const Argument& value) const {
        Ints result;
        if (value.kind == Argument::Kind::List || value.kind == Argument::Kind::Tuple) {
            for (const Argument& item : value.items) {
                const auto one = integer(item);
                if (!one) return {};
                result.push_back(*one);
            }
            return result;
        }
        const Value known = valueOf(value);
        if (!known.isListLike()) return {};
        for (const Value& item : known.items()) {
            if (item.kind() != tensor::ValueKind::Int) return {};
            result.push_back(item.toInt());
        }
        return result;
    }
    /// A number, or a tensor without dimensions: it changes no shape.
    bool isNumber(const Argument& value) const {
        const Value known = valueOf(value);
        return known.isNumber() || (known.isTensor() && known.tensor().rank() == 0);
    }

    TypeInfo typeOf(const Argument& value) const {
        const Value known = valueOf(value);
        if (!known.isNone()) return TypeInfo::of(known);
        return value.kind == Argument::Kind::Node ? m_graph.node(value.node).type : TypeInfo();
    }
    std::optional<Ints> shapeOf(const Argument& value) const {
        const auto shape = typeOf(value).staticShape();
        if (!shape) return std::nullopt;
        return Ints(shape->begin(), shape->end());
    }
    DType dtypeOf(const Argument& value) const { return typeOf(value).dtype; }
    /// Of a constant, or of zeros by the length of their size.
    std::optional<std::size_t> rankOf(const Argument& value) const {
        if (const TypeInfo type = typeOf(value); type.shape) return type.shape->size();
        const Expr* expr = producerOf(value);
        if (!expr || expr->op.domain != "aten" || expr->op.name != "zeros" || expr->arguments.empty() || expr->arguments.front().items.empty()) return std::nullopt;
        return expr->arguments.front().items.size();
    }

    InternalGraph& m_graph;
    std::vector<Demand> m_demands;  ///< by node
    std::vector<std::unordered_map<std::size_t, Demand>> m_branches;  ///< what the branches want that are being looked at
};

}  // namespace

std::vector<NodeId> demandInputTypes(InternalGraph& graph) { return Demands(graph).inputs(); }

}  // namespace sonde::analysis
