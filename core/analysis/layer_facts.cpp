#include "core/analysis/layer_facts.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <optional>
#include <unordered_map>

#include "core/analysis/call_arguments.h"
#include "core/analysis/model_summary.h"
#include "core/graph/main_layer.h"
#include "core/graph/traits.h"
#include "core/operators/names.h"

namespace sonde::analysis {

using graph::Argument;
using graph::Expr;
using graph::InternalGraph;
using tensor::TypeInfo;
using Size = std::optional<std::int64_t>;
using Sizes = std::vector<std::int64_t>;

namespace {

constexpr const char* kArrow = "\u2192";
constexpr const char* kTimes = "\u00d7";

/// "7×7"; equal sizes once if `isBrief`.
std::string sizesText(const Sizes& sizes, bool isBrief) {
    const bool isOne = isBrief && std::ranges::all_of(sizes, [&](auto size) { return size == sizes.front(); });
    std::string text;
    for (const std::int64_t size : sizes) {
        if (isOne && !text.empty()) break;
        if (!text.empty()) text += kTimes;
        text += std::to_string(size);
    }
    return text;
}

/// A dimension, counted from the end if negative.
Size dim(const TypeInfo& type, std::int64_t axis) {
    if (!type.shape) return std::nullopt;
    const auto rank = static_cast<std::int64_t>(type.shape->size());
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
    const tensor::Dim& found = (*type.shape)[static_cast<std::size_t>(axis)];
    return found.known() ? Size(found.value) : std::nullopt;
}

std::size_t rank(const TypeInfo& type) { return type.shape ? type.shape->size() : 0; }

/// What the rows of the table read of a call, and what they found.
class LayerReader {
  public:
    LayerReader(const InternalGraph& graph, const Expr& expr) : m_graph(graph), m_arguments(graph, expr) {}

    const InternalGraph& graph() const { return m_graph; }
    const Expr& expr() const { return m_arguments.expr(); }
    bool isAten() const { return expr().op.domain == "aten"; }
    TypeInfo type(std::size_t position) const { return m_arguments.type(position); }
    /// Of an argument that is a weight: nothing is known of others.
    TypeInfo weight(std::size_t position) const {
        const Argument* const found = m_arguments.argument(position);
        const bool isStored = found && found->kind == Argument::Kind::Node && graph::isWeight(m_graph, found->node);
        return isStored ? type(position) : TypeInfo();
    }
    /// Of the first tensors in a list.
    TypeInfo typeInList(std::size_t position, std::size_t index) const {
        const Argument* const list = m_arguments.argument(position);
        if (!list || index >= list->items.size() || list->items[index].kind != Argument::Kind::Node) return {};
        return m_graph.node(list->items[index].node).type;
    }

    /// An argument of ATen or an attribute of ONNX; either name may be empty.
    Sizes sizes(std::string_view argument, std::string_view attribute) const {
        if (!isAten()) return expr().attributes.getInts(attribute);
        return CallArguments::integers(m_arguments.named(argument)).value_or(Sizes());
    }
    Size size(std::string_view argument, std::string_view attribute) const {
        if (isAten()) return CallArguments::integer(m_arguments.named(argument));
        return expr().attributes.has(attribute) ? Size(expr().attributes.getInt(attribute, 0)) : std::nullopt;
    }
    std::string word(std::string_view argument, std::string_view attribute) const {
        if (!isAten()) return expr().attributes.getString(attribute, "");
        const tensor::Value value = m_arguments.named(argument);
        return value.kind() == tensor::ValueKind::String ? value.toString() : std::string();
    }
    /// A float, as it is written.
    std::string number(std::string_view argument, std::string_view attribute) const {
        const tensor::Value value = isAten() ? m_arguments.named(argument) : tensor::Value();
        if (value.kind() == tensor::ValueKind::Float) return fmt::format("{:g}", value.toFloat());
        if (const tensor::AttributeValue* found = isAten() ? nullptr : expr().attributes.find(attribute))
            if (const double* given = std::get_if<double>(found)) return fmt::format("{:g}", *given);
        return {};
    }

    void add(std::string name, std::string value, std::string brief = {}) {
        if (!value.empty()) facts.push_back({std::move(name), std::move(value), std::move(brief)});
    }
    void add(std::string name, Size value, std::string_view before = {}, Size usual = {}) {
        if (value)
            add(std::move(name), std::to_string(*value),
                value == usual ? std::string() : fmt::format("{}{}", before, *value));
    }
    void add(std::string name, const Sizes& sizes, std::string_view before, std::int64_t usual) {
        if (sizes.empty()) return;
        const bool isUsual = std::ranges::all_of(sizes, [&](auto size) { return size == usual; });
        add(std::move(name), sizesText(sizes, false),
            isUsual ? std::string() : std::string(before) + sizesText(sizes, true));
    }
    /// in → out
    void addFlow(Size in, Size out, const char* what) {
        if (!in && !out) return;
        const auto text = [](Size size) { return size ? std::to_string(*size) : std::string("?"); };
        const std::string brief = text(in) + kArrow + text(out);
        if (in) add(fmt::format("{} in", what), text(in), out ? std::string() : brief);
        if (out) add(fmt::format("{} out", what), text(out), brief);
    }
    /// ONNX gives begins, then ends.
    void addPadding() {
        Sizes pads = sizes("padding", "pads");
        std::string named = word("padding", "auto_pad");
        if (!isAten() && named == "NOTSET") named.clear();
        if (!named.empty()) {
            std::ranges::transform(named, named.begin(), [](unsigned char c) { return std::tolower(c); });
            return add("Padding", named, "p " + named);
        }
        const std::size_t half = pads.size() / 2;
        if (isAten() || pads.size() % 2 != 0) return add("Padding", pads, "p", 0);
        const Sizes begins(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(half));
        const Sizes ends(pads.begin() + static_cast<std::ptrdiff_t>(half), pads.end());
        if (begins == ends) return add("Padding", begins, "p", 0);
        const std::string both = sizesText(begins, true) + "," + sizesText(ends, true);
        add("Padding", sizesText(begins, false) + " before, " + sizesText(ends, false) + " after", "p" + both);
    }

    std::vector<LayerFact> facts;

  private:
    const InternalGraph& m_graph;
    CallArguments m_arguments;
};

void convolve(LayerReader& layer, std::size_t weightAt, bool isTransposed) {
    const TypeInfo weight = layer.type(weightAt);
    const std::int64_t groups = layer.size("groups", "group").value_or(1);
    const Size first = dim(weight, 0), second = dim(weight, 1);
    std::int64_t all = 0;
    const bool isKnown = second && !__builtin_mul_overflow(*second, groups, &all);
    const Size grouped = isKnown ? Size(all) : std::nullopt;
    layer.addFlow(isTransposed ? first : grouped, isTransposed ? grouped : first, "Channels");
    Sizes kernel;
    for (std::size_t i = 2; i < rank(weight); ++i)
        if (const Size size = dim(weight, static_cast<std::int64_t>(i))) kernel.push_back(*size);
    if (kernel.empty() && !layer.isAten()) kernel = layer.sizes("", "kernel_shape");
    layer.add("Kernel", kernel, "k", -1);
    layer.add("Stride", layer.sizes("stride", "strides"), "s", 1);
    layer.addPadding();
    layer.add("Dilation", layer.sizes("dilation", "dilations"), "d", 1);
    layer.add("Groups", Size(groups), "g", 1);
}

void convolution(LayerReader& layer) { convolve(layer, 1, false); }
void transposedConvolution(LayerReader& layer) { convolve(layer, 1, true); }
void quantizedConvolution(LayerReader& layer) { convolve(layer, 3, false); }
void eitherConvolution(LayerReader& layer) { convolve(layer, 1, layer.size("transposed", "").value_or(0) != 0); }

/// `weight` is [in, out], or [out, in] if it is transposed.
void product(LayerReader& layer, const TypeInfo& weight, bool isTransposed) {
    if (rank(weight) < 2) return;
    layer.addFlow(dim(weight, isTransposed ? -1 : -2), dim(weight, isTransposed ? -2 : -1), "Features");
}

void linear(LayerReader& layer) { product(layer, layer.weight(1), true); }
void gemm(LayerReader& layer) { product(layer, layer.weight(1), layer.size("", "transB").value_or(0) != 0); }
void quantizedGemm(LayerReader& layer) { product(layer, layer.weight(3), layer.size("", "transB").value_or(0) != 0); }
void addedProduct(LayerReader& layer) { product(layer, layer.weight(2), false); }
void quantizedProduct(LayerReader& layer) { product(layer, layer.weight(3), false); }
void matrixProduct(LayerReader& layer) { product(layer, layer.weight(1), layer.size("", "transB").value_or(0) != 0); }
void packedProduct(LayerReader& layer) {
    layer.addFlow(layer.size("", "K"), layer.size("", "N"), "Features");
    layer.add("Bits", layer.size("", "bits"), "int");
}

void pool(LayerReader& layer) {
    const Sizes kernel = layer.sizes("kernel_size", "kernel_shape");
    Sizes stride = layer.sizes("stride", "strides");
    // Where none is given PyTorch's windows do not overlap, and ONNX's move by one.
    if (stride.empty() && layer.isAten()) stride = kernel;
    layer.add("Kernel", kernel, "k", -1);
    layer.add("Stride", stride, "s", 1);
    layer.addPadding();
    layer.add("Dilation", layer.sizes("dilation", "dilations"), "d", 1);
}

void adaptivePool(LayerReader& layer) {
    const Sizes size = layer.sizes("output_size", "");
    if (!size.empty()) layer.add("Output size", sizesText(size, false), kArrow + sizesText(size, false));
}

void features(LayerReader& layer, Size count, const char* what) {
    layer.add(what, count);
    layer.add("Epsilon", layer.number("eps", "epsilon"));
}

void batchNorm(LayerReader& layer) {
    // (input, weight, bias, mean, variance) and (X, scale, B, mean, var): affine or not, its statistics are there.
    const Size statistics = dim(layer.type(3), 0);
    features(layer, statistics ? statistics : dim(layer.type(1), 0), "Features");
    layer.add("Momentum", layer.number("momentum", "momentum"));
}

void layerNorm(LayerReader& layer) {
    const Sizes shape = layer.sizes("normalized_shape", "");
    if (shape.empty()) return features(layer, dim(layer.type(1), -1), "Features");
    layer.add("Features", shape, "", -1);
    layer.add("Epsilon", layer.number("eps", ""));
}

void skipNorm(LayerReader& layer) { features(layer, dim(layer.type(2), -1), "Features"); }
void channelNorm(LayerReader& layer) { features(layer, dim(layer.type(1), 0), "Channels"); }

void groupNorm(LayerReader& layer) {
    const Size channels = dim(layer.type(layer.isAten() ? 2 : 1), 0), input = dim(layer.type(0), 1);
    features(layer, input ? input : channels, "Channels");
    const Size groups = layer.size("num_groups", "num_groups");
    layer.add("Groups", groups ? groups : layer.size("", "groups"), "g");
}

void embedding(LayerReader& layer) {
    const Size rows = dim(layer.weight(0), 0), size = dim(layer.weight(0), 1);
    if (!rows || !size) return;
    layer.add("Rows", std::to_string(*rows), fmt::format("{}{}{}", *rows, kTimes, *size));
    layer.add("Features", std::to_string(*size));
}

/// A table of numbers that is stored: what is gathered from other tensors is no embedding.
void gather(LayerReader& layer) {
    const bool isTable = rank(layer.weight(0)) == 2 && tensor::isFloating(layer.weight(0).dtype) &&
                         layer.size("", "axis").value_or(0) == 0;
    if (isTable) embedding(layer);
}

void addRecurrent(LayerReader& layer, Size in, Size hidden, Size layers, bool isTwoWay) {
    layer.addFlow(in, hidden, "Features");
    if (layers) layer.add("Layers", std::to_string(*layers), *layers > 1 ? fmt::format("{} layers", *layers) : "");
    layer.add("Direction", isTwoWay ? "both ways" : "one way", isTwoWay ? "bidirectional" : "");
}

/// ONNX: W[directions, gates·hidden, in]. ATen: the weights of all layers in a list, those of inputs [gates·hidden, in]
/// and of states [gates·hidden, hidden] first.
void recurrent(LayerReader& layer) {
    if (!layer.isAten())
        return addRecurrent(layer, dim(layer.type(1), 2), layer.size("", "hidden_size"), std::nullopt,
                            layer.word("", "direction") == "bidirectional");
    const Size in = dim(layer.typeInList(2, 0), 1);
    addRecurrent(layer, in ? in : dim(layer.type(0), -1), dim(layer.typeInList(2, 1), 1), layer.size("num_layers", ""),
                 layer.size("bidirectional", "").value_or(0) != 0);
}

void addHeads(LayerReader& layer, Size heads, Size keyHeads, Size headSize) {
    if (!heads) return;
    layer.add("Heads", std::to_string(*heads), fmt::format("{} heads", *heads));
    if (keyHeads && *keyHeads != *heads)
        layer.add("Key and value heads", std::to_string(*keyHeads), fmt::format("{} kv", *keyHeads));
    if (headSize) layer.add("Head size", std::to_string(*headSize), kTimes + std::to_string(*headSize));
}

void attention(LayerReader& layer) {
    const Size heads = layer.size("", "num_heads"), keys = layer.size("", "kv_num_heads");
    addHeads(layer, heads ? heads : layer.size("", "q_num_heads"), keys, std::nullopt);
}
Size headsBefore(const InternalGraph& graph, const Expr& attention, Size headSize);

/// [batch, heads, positions, size], or [batch · heads, positions, size]
void scaledAttention(LayerReader& layer) {
    if (rank(layer.type(0)) == 4) addHeads(layer, dim(layer.type(0), 1), dim(layer.type(1), 1), dim(layer.type(0), 3));
    if (rank(layer.type(0)) == 3)
        addHeads(layer, headsBefore(layer.graph(), layer.expr(), dim(layer.type(2), -1)), std::nullopt,
                 dim(layer.type(0), -1));
}
void nativeAttention(LayerReader& layer) {
    const Size heads = layer.size("num_head", ""), size = layer.size("embed_dim", "");
    addHeads(layer, heads, std::nullopt, heads && size && *heads > 0 ? Size(*size / *heads) : std::nullopt);
}

void softmax(LayerReader& layer) {
    Size axis = layer.size("dim", "axis");
    if (!axis && !layer.isAten()) axis = layer.expr().op.version < 13 ? 1 : -1;
    layer.add("Dim", axis, "dim ");
}
void join(LayerReader& layer) { layer.add("Dim", layer.size("dim", "axis"), "dim "); }
void dropout(LayerReader& layer) {
    const std::string p = layer.number("p", "ratio");
    layer.add("Probability", p, "p " + p);
}
void shuffle(LayerReader& layer) {
    const Size factor = layer.size("upscale_factor", "blocksize");
    if (factor) layer.add("Factor", std::to_string(*factor), kTimes + std::to_string(*factor));
}

struct Row {
    std::string_view domain;  ///< "": ai.onnx
    std::string_view names;   ///< separated by spaces, without overloads
    std::string_view kind;    ///< how a module with this layer is told
    void (*read)(LayerReader&);
};

constexpr Row kRows[] = {
    {"aten", "conv1d conv2d conv3d _convolution_mode", "Conv", convolution},
    {"aten", "conv_transpose1d conv_transpose2d conv_transpose3d", "ConvTranspose", transposedConvolution},
    {"aten", "_convolution convolution", "Conv", eitherConvolution},
    {"aten", "linear", "Linear", linear},
    {"aten", "addmm baddbmm", "Linear", addedProduct},
    {"aten", "matmul mm bmm", "Linear", matrixProduct},
    {"aten", "embedding embedding_bag", "Embedding", embedding},
    {"aten", "batch_norm native_batch_norm", "BatchNorm", batchNorm},
    {"aten", "layer_norm native_layer_norm rms_norm", "Norm", layerNorm},
    {"aten", "group_norm", "GroupNorm", groupNorm},
    {"aten", "instance_norm", "InstanceNorm", channelNorm},
    {"aten", "max_pool1d max_pool2d max_pool3d max_pool2d_with_indices", "MaxPool", pool},
    {"aten", "avg_pool1d avg_pool2d avg_pool3d", "AvgPool", pool},
    {"aten", "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d", "AdaptiveAvgPool", adaptivePool},
    {"aten", "adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d", "AdaptiveMaxPool", adaptivePool},
    {"aten", "lstm", "LSTM", recurrent},
    {"aten", "gru", "GRU", recurrent},
    {"aten", "rnn_tanh rnn_relu", "RNN", recurrent},
    {"aten", "scaled_dot_product_attention _scaled_dot_product_attention", "Attention", scaledAttention},
    {"aten", "_native_multi_head_attention", "Attention", nativeAttention},
    {"aten", "softmax _softmax log_softmax", "Softmax", softmax},
    {"aten", "cat concat stack", "Concat", join},
    {"aten", "dropout", "Dropout", dropout},
    {"aten", "pixel_shuffle", "PixelShuffle", shuffle},
    {"", "Conv ConvInteger", "Conv", convolution},
    {"", "ConvTranspose", "ConvTranspose", transposedConvolution},
    {"", "QLinearConv", "Conv", quantizedConvolution},
    {"", "Gemm", "Linear", gemm},
    {"", "MatMul MatMulInteger", "Linear", matrixProduct},
    {"", "QLinearMatMul", "Linear", quantizedProduct},
    {"", "Gather", "Embedding", gather},
    {"", "BatchNormalization", "BatchNorm", batchNorm},
    {"", "LayerNormalization RMSNormalization SimplifiedLayerNormalization", "Norm", layerNorm},
    {"", "InstanceNormalization", "InstanceNorm", channelNorm},
    {"", "GroupNormalization", "GroupNorm", groupNorm},
    {"", "MaxPool", "MaxPool", pool},
    {"", "AveragePool", "AvgPool", pool},
    {"", "LpPool", "LpPool", pool},
    {"", "LSTM", "LSTM", recurrent},
    {"", "GRU", "GRU", recurrent},
    {"", "RNN", "RNN", recurrent},
    {"", "Attention", "Attention", attention},
    {"", "Softmax LogSoftmax", "Softmax", softmax},
    {"", "Concat", "Concat", join},
    {"", "DepthToSpace SpaceToDepth", "PixelShuffle", shuffle},
    {"com.microsoft", "FusedConv NhwcFusedConv", "Conv", convolution},
    {"com.microsoft", "FusedGemm", "Linear", gemm},
    {"com.microsoft", "QGemm", "Linear", quantizedGemm},
    {"com.microsoft", "FusedMatMul DynamicQuantizeMatMul MatMulIntegerToFloat", "Linear", matrixProduct},
    {"com.microsoft", "MatMulNBits", "Linear", packedProduct},
    {"com.microsoft", "Attention MultiHeadAttention GroupQueryAttention", "Attention", attention},
    {"com.microsoft", "SimplifiedLayerNormalization", "Norm", layerNorm},
    {"com.microsoft", "SkipLayerNormalization SkipSimplifiedLayerNormalization", "Norm", skipNorm},
    {"com.microsoft", "GroupNorm", "GroupNorm", groupNorm},
};

/// By domain and name, "aten conv2d".
const std::unordered_map<std::string, const Row*>& rowsByName() {
    static const auto rows = [] {
        std::unordered_map<std::string, const Row*> made;
        for (const Row& row : kRows)
            for (std::string_view rest = row.names; !rest.empty();) {
                const std::size_t space = std::min(rest.find(' '), rest.size());
                made.emplace(fmt::format("{} {}", row.domain, rest.substr(0, space)), &row);
                rest.remove_prefix(std::min(space + 1, rest.size()));
            }
        return made;
    }();
    return rows;
}

const Row* rowOf(const Expr& expr) {
    if (expr.op.name.empty()) return nullptr;
    const bool isOnnx = expr.op.domain.empty() || expr.op.domain == "ai.onnx";
    std::string key = isOnnx ? std::string() : expr.op.domain;
    key += ' ';
    key += expr.op.domain == "aten" ? operators::withoutOverload(expr.op.name) : std::string_view(expr.op.name);
    const auto found = rowsByName().find(key);
    return found == rowsByName().end() ? nullptr : found->second;
}

std::string joined(const std::vector<LayerFact>& facts) {
    std::string text;
    for (const LayerFact& fact : facts) {
        if (fact.brief.empty()) continue;
        if (!text.empty()) text += ' ';
        text += fact.brief;
    }
    return text;
}

/// "Conv2dNormActivation" begins with Conv, "LayerNorm" ends with Norm.
bool tells(std::string_view moduleClass, std::string_view kind) {
    moduleClass.remove_prefix(std::min(moduleClass.find_last_of('.') + 1, moduleClass.size()));
    return moduleClass.find(kind) != std::string_view::npos;
}

Size featuresIn(const InternalGraph& graph, const Expr& expr) {
    for (const LayerFact& fact : layerFacts(graph, expr))
        if (fact.name == "Features in") return std::stoll(fact.value);
    return std::nullopt;
}

/// Of attention whose batch and heads are one dimension: the features that the layer behind it takes, by those of a
/// head. Where `headSize` is not known they are the last dimension of what the probabilities are multiplied with.
Size headsBefore(const InternalGraph& graph, const Expr& attention, Size headSize) {
    constexpr int kMaxSteps = 12;
    const bool isSizeKnown = headSize.has_value();
    const Expr* step = &attention;
    for (int i = 0; i < kMaxSteps; ++i) {
        if (step->outputs.empty() || graph.node(step->outputs.front()).users.empty()) return std::nullopt;
        step = &graph.expr(graph.node(step->outputs.front()).users.front());
        const graph::ExprId inside = graph::mainLayerOf(graph, *step);
        const Expr& layer = inside.valid() ? graph.expr(inside) : *step;
        // Another attention would ask the one behind it, and so on through the whole model.
        if (const Row* const row = rowOf(layer); row && row->read == scaledAttention) return std::nullopt;
        if (!graph::traitsOf(layer).is(operators::Trait::Multiplies)) continue;
        const Size features = featuresIn(graph, layer);
        if (!features && !isSizeKnown) headSize = dim(graph.node(step->outputs.front()).type, -1);
        else if (features)
            return headSize && *headSize > 0 && *features % *headSize == 0 ? Size(*features / *headSize) : std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

std::vector<LayerFact> layerFacts(const InternalGraph& graph, const Expr& expr) {
    const Row* const row = rowOf(expr);
    if (!row) return {};
    LayerReader reader(graph, expr);
    row->read(reader);
    return std::move(reader.facts);
}

std::string layerBrief(const InternalGraph& graph, const Expr& expr) { return joined(layerFacts(graph, expr)); }

std::string moduleBrief(const InternalGraph& graph, const Expr& layer, std::string_view moduleClass) {
    const Row* const row = rowOf(layer);
    if (!row) return {};
    if (graph::traitsOf(layer).opClass == operators::OpClass::Softmax) {
        const TypeInfo scores = layer.inputs.empty() ? TypeInfo() : graph.node(layer.inputs.front()).type;
        Size heads = rank(scores) == 4 ? dim(scores, 1) : std::nullopt;
        if (!heads) heads = headsBefore(graph, layer, std::nullopt);
        return heads ? fmt::format("{} heads", *heads) : std::string();
    }
    const std::string brief = layerBrief(graph, layer);
    const bool isTold = brief.empty() || row->read == scaledAttention || tells(moduleClass, row->kind);
    return isTold ? brief : fmt::format("{} {}", row->kind, brief);
}

std::vector<LayerFact> weightFacts(const InternalGraph& graph, const Expr& expr) {
    const ops::OpDef* const op = definitionOf(expr);
    std::vector<LayerFact> facts;
    const auto add = [&](std::string_view name, const Argument& argument) {
        argument.forEachNode([&](graph::NodeId id) {
            const graph::Node& node = graph.node(id);
            const graph::ExprKind kind = graph.expr(node.producer).kind;
            if (kind != graph::ExprKind::Constant && kind != graph::ExprKind::GetAttr) return;
            facts.push_back({name.empty() ? node.name : std::string(name), node.type.text(), {}});
        });
    };
    for (std::size_t i = 0; i < expr.arguments.size(); ++i) {
        std::string_view name;
        if (op && i < op->parameters.size()) name = op->parameters[i].name;
        else if (op && i < op->inputs.size()) name = op->inputs[i].name;
        add(name, expr.arguments[i]);
    }
    for (const auto& [name, argument] : expr.keywords) add(name, argument);
    return facts;
}

}  // namespace sonde::analysis
