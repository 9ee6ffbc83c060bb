// Convolutions with weights and activations in blocks of channels (dump.md, "Layouts").

#include <algorithm>
#include <map>

#include "core/base/number_text.h"
#include "core/export/inference/export_passes.h"
#include "core/export/inference/layouts.h"
#include "core/graph/traits.h"
#include "core/ops/support/packing.h"
#include "core/passes/vocabulary.h"

namespace sonde::exporting {

namespace {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;
using operators::Trait;
using passes::KnownTensor;
using passes::Rewrite;
using tensor::Shape;
using tensor::Tensor;
using tensor::TypeInfo;
using tensor::Value;

const char* const kWhy = "in the requested layout";

/// Argument positions of ConvBias and of the three convolutions that it stands for.
constexpr std::size_t kConvBiasInputs = 10;
struct Places {
    std::size_t x, w, bias, z, xScale, xZero, wScale, wZero, yScale, yZero;
};
constexpr std::size_t kNone = 99;
constexpr Places kFused{0, 1, 2, 3, kNone, kNone, kNone, kNone, kNone, kNone};
constexpr Places kInteger{0, 1, kNone, kNone, kNone, 2, kNone, 3, kNone, kNone};
constexpr Places kQuantised{0, 3, 8, kNone, 1, 2, 4, 5, 6, 7};

const Places* placesOf(const Expr& expr) {
    if (expr.op.domain == "sonde" && expr.op.name == "ConvBias" && !expr.attributes.has("w_packing")) return &kFused;
    if (!expr.op.domain.empty()) return nullptr;
    if (expr.op.name == "ConvInteger") return &kInteger;
    return expr.op.name == "QLinearConv" ? &kQuantised : nullptr;
}

/// A node that is packed, and what it is the packed form of.
struct Packed {
    NodeId node;
    std::string packing;
    std::int64_t channels = 0;
    bool isWhole = false;  ///< without padding
};

class Converter {
  public:
    Converter(Rewrite& rewrite, std::string layout)
        : m_rewrite(rewrite), m_graph(rewrite.graph()), m_layout(std::move(layout)) {}

    base::Result<std::size_t> run() {
        std::size_t count = 0;
        for (const graph::BodyId body : m_rewrite.bodies()) {
            m_forms.clear();
            m_padded.clear();
            const std::vector<ExprId> order = m_graph.body(body).order;
            for (const ExprId id : order) {
                if (m_graph.isErased(id)) continue;
                SONDE_ASSIGN(const bool done, convert(id));
                count += done ? 1 : 0;
                if (done) continue;
                SONDE_ASSIGN(const bool followed, follow(id));
                count += followed ? 1 : 0;
            }
        }
        return count;
    }

  private:
    std::optional<KnownTensor> known(const Expr& expr, std::size_t place) const {
        return place == kNone ? std::nullopt : passes::tensorOf(m_graph, passes::argumentOf(expr, place));
    }
    bool isOneNumber(const Expr& expr, std::size_t place) const {
        if (place == kNone || !passes::argumentOf(expr, place)) return true;
        const auto value = known(expr, place);
        return value && value->tensor.numel() == 1;
    }

    std::optional<ConvShape> shapeOf(const Expr& expr, const Places& places) const {
        const auto weight = known(expr, places.w);
        const Argument* input = passes::argumentOf(expr, places.x);
        if (!weight || weight->tensor.rank() != 4 || !input || input->kind != Argument::Kind::Node) return std::nullopt;
        ConvShape conv;
        conv.weights = weight->tensor.shape();
        conv.groups = expr.attributes.getInt("group", 1);
        if (conv.groups < 1 || conv.weights[0] < 1 || conv.weights[0] % conv.groups != 0) return std::nullopt;
        conv.channels = conv.weights[1] * conv.groups;
        const auto& type = m_graph.node(input->node).type;
        if (type.shape && type.shape->size() == 4) {
            conv.height = (*type.shape)[2].value;
            conv.width = (*type.shape)[3].value;
        }
        const auto strides = expr.attributes.getInts("strides", {1, 1}),
                   dilations = expr.attributes.getInts("dilations", {1, 1});
        if (strides.size() != 2 || dilations.size() != 2) return std::nullopt;
        conv.strideH = strides[0];
        conv.strideW = strides[1];
        conv.dilated = dilations[0] != 1 || dilations[1] != 1;
        conv.quantised = &places != &kFused;
        conv.bytesOut = &places == &kQuantised;
        conv.hasSum = places.z != kNone && passes::argumentOf(expr, places.z);
        conv.nonlinearity = expr.attributes.getString("nonlinearity", "");
        const bool hasBias = places.bias != kNone && passes::argumentOf(expr, places.bias);
        conv.canPad = !conv.hasSum && (!hasBias || known(expr, places.bias)) && isOneNumber(expr, places.wScale) &&
                      isOneNumber(expr, places.wZero);
        return conv;
    }

    base::Result<bool> convert(ExprId id) {
        const Expr& expr = m_graph.expr(id);
        const Places* places = placesOf(expr);
        const auto conv = places && expr.outputs.size() == 1 ? shapeOf(expr, *places) : std::nullopt;
        const auto form = conv ? formIn(m_layout, *conv) : std::nullopt;
        if (!form) return false;
        Expr made;
        made.kind = graph::ExprKind::Apply;
        made.op = {"sonde", "ConvBias", 1};
        made.target = "ConvBias";
        made.attributes = expr.attributes;
        if (places != &kFused) made.attributes.set("of", expr.op.name);
        made.attributes.set("w_packing", form->w);
        made.attributes.set("y_packing", form->y);
        if (!form->x.empty()) {
            made.attributes.set("x_packing", form->x);
            made.attributes.set("x_channels", conv->channels);
        }
        made.arguments.assign(kConvBiasInputs, Argument::omitted());
        const std::size_t from[] = {places->x,     places->w,      places->bias,  places->z,      places->xScale,
                                    places->xZero, places->wScale, places->wZero, places->yScale, places->yZero};
        for (std::size_t i = 0; i < kConvBiasInputs; ++i) {
            if (from[i] != kNone && passes::argumentOf(expr, from[i])) made.arguments[i] = expr.arguments[from[i]];
        }
        SONDE_TRY(packConstants(id, *conv, *form, made));
        if (!form->x.empty()) {
            SONDE_ASSIGN(const NodeId x, packed(id, made.arguments[0].node, form->x));
            made.arguments[0] = Argument::of(x);
        }
        if (made.arguments[3].kind == Argument::Kind::Node) {
            SONDE_ASSIGN(const NodeId z, packed(id, made.arguments[3].node, form->y));
            made.arguments[3] = Argument::of(z);
        }
        while (made.arguments.back().kind == Argument::Kind::Omitted) made.arguments.pop_back();
        SONDE_TRY(replace(id, std::move(made),
                          {{},
                           form->y,
                           conv->weights[0],
                           form->paddedTo == conv->weights[0] && hasWholeBlocks(form->y, form->paddedTo)}));
        return true;
    }

    static bool hasWholeBlocks(const std::string& packing, std::int64_t channels) {
        // The size of the block is at the end: "C%8".
        return channels % base::parseNumber<std::int64_t>(std::string_view(packing).substr(packing.rfind('%') + 1))
                              .value_or(1) ==
               0;
    }

    /// Weights and bias, padded to the channels of the form.
    base::Result<void> packConstants(ExprId id, const ConvShape& conv, const ConvForm& form, Expr& made) {
        const KnownTensor weight = *passes::tensorOf(m_graph, &made.arguments[1]);
        Shape wanted = conv.weights;
        if (form.grouped)
            wanted =
                Shape{conv.groups, conv.weights[0] / conv.groups, conv.weights[1], conv.weights[2], conv.weights[3]};
        SONDE_ASSIGN(Tensor plain, weight.tensor.reshaped(wanted));
        if (!form.grouped && form.paddedTo != conv.weights[0]) {
            wanted[0] = form.paddedTo;
            SONDE_ASSIGN(plain, withRows(plain, wanted));
        }
        SONDE_ASSIGN(const ops::Packing packing, ops::Packing::parse(form.w));
        SONDE_ASSIGN(Tensor blocks, packing.pack(plain));
        made.attributes.set("w_extents", std::vector<std::int64_t>(wanted.begin(), wanted.end()));
        made.arguments[1] = Argument::of(constant(id, weight.node, std::move(blocks)));
        const auto bias = passes::tensorOf(m_graph, &made.arguments[2]);
        if (!bias) return {};
        SONDE_ASSIGN(Tensor numbers, bias->tensor.reshaped({conv.weights[0]}));
        SONDE_ASSIGN(numbers, withRows(numbers, {form.paddedTo}));
        SONDE_ASSIGN(numbers, numbers.reshaped({1, form.paddedTo, 1, 1}));
        SONDE_ASSIGN(const ops::Packing channels, ops::Packing::parse(form.y));
        SONDE_ASSIGN(numbers, channels.pack(numbers));
        made.arguments[2] = Argument::of(constant(id, bias->node, std::move(numbers)));
        return {};
    }

    /// The tensor with zeros after it along axis 0.
    static base::Result<Tensor> withRows(const Tensor& tensor, const Shape& wanted) {
        if (tensor.shape() == wanted) return tensor;
        SONDE_ASSIGN(Tensor more, Tensor::zeros(tensor.dtype(), wanted));
        SONDE_ASSIGN(const Tensor source, tensor.contiguous());
        std::copy_n(source.bytes(), source.sizeBytes(), more.mutableBytes());
        return more;
    }

    NodeId constant(ExprId before, NodeId like, Tensor value) {
        const Expr source = m_rewrite.producer(like);
        const NodeId node =
            m_rewrite.constantBefore(before, Value(std::move(value)), m_graph.node(like).name + "_packed", kWhy);
        Expr& made = m_graph.mutableExpr(m_graph.node(node).producer);
        made.isParameter = source.isParameter;
        made.target = source.target;
        made.qualname = source.qualname;
        made.moduleClass = source.moduleClass;
        return node;
    }

    /// The node in blocks: what it came from, or a relayout in front of the expr.
    base::Result<NodeId> packed(ExprId before, NodeId node, const std::string& packing) {
        std::vector<Packed>& forms = m_forms[node];
        for (const Packed& form : forms) {
            if (form.packing == packing) return form.node;
        }
        Expr relayout;
        relayout.kind = graph::ExprKind::Apply;
        relayout.op = {"sonde", "Relayout", 1};
        relayout.target = "Relayout";
        relayout.arguments = {Argument::of(node)};
        relayout.attributes.set("packing", packing);
        const NodeId made = m_rewrite.output(
            m_rewrite.insertBefore(before, std::move(relayout), m_graph.node(node).name + "_packed", kWhy));
        SONDE_TRY(setPackedType(made, m_graph.node(node).type, packing));
        m_forms[node].push_back({made, packing, 0, false});
        return made;
    }

    base::Result<void> setPackedType(NodeId node, const TypeInfo& plain, const std::string& packing) {
        TypeInfo type = TypeInfo::tensor(plain.dtype);
        if (const auto shape = plain.staticShape()) {
            SONDE_ASSIGN(const ops::Packing how, ops::Packing::parse(packing));
            SONDE_ASSIGN(const Shape blocks, how.packedShape(*shape));
            type = TypeInfo::tensor(plain.dtype, blocks);
        }
        m_graph.setType(node, std::move(type));
        return {};
    }

    /// Puts an expr whose result is packed in the place of another one, with the way back after it.
    base::Result<void> replace(ExprId id, Expr made, Packed form) {
        const NodeId old = m_graph.expr(id).outputs.front();
        const std::string name = m_graph.node(old).name;
        const TypeInfo type = m_graph.node(old).type;
        made.outputs.clear();
        made.inputs.clear();
        const ExprId blocks = m_rewrite.insertBefore(id, std::move(made), name + "_packed", kWhy);
        m_rewrite.addOrigins(blocks, id);
        form.node = m_rewrite.output(blocks);
        SONDE_TRY(setPackedType(form.node, type, form.packing));
        Expr back;
        back.kind = graph::ExprKind::Apply;
        back.op = {"sonde", "Relayout", 1};
        back.target = "Relayout";
        back.arguments = {Argument::of(form.node)};
        back.attributes.set("packing", form.packing);
        back.attributes.set("back", std::int64_t{1});
        back.attributes.set("extents", std::vector<std::int64_t>{-1, form.channels, -1, -1});
        const NodeId plain = m_rewrite.output(m_rewrite.insertBefore(id, std::move(back), name + "_plain", kWhy));
        m_graph.setType(plain, type);
        m_rewrite.replace(old, plain, kWhy);
        m_rewrite.erase(id, kWhy);
        (void)m_graph.rename(plain, name);  // free again: what had it is gone
        // What holds padding is read in blocks only by who counts the channels.
        if (form.isWhole) m_forms[plain].push_back(std::move(form));
        else m_padded.insert_or_assign(plain, std::move(form));
        return {};
    }

    base::Result<bool> follow(ExprId id) {
        const Expr& expr = m_graph.expr(id);
        if (!expr.op.domain.empty() || expr.outputs.size() != 1 || expr.arguments.empty()) return false;
        if (graph::traitsOf(expr).opClass == OpClass::Concat) return followConcat(id);
        if (isWindow(expr)) return followWindow(id);
        return followElementwise(id);
    }

    /// A pooling, warping, or a resizing of height and width, of an image: what it does to each channel by itself.
    bool isWindow(const Expr& expr) const {
        const operators::Traits& traits = graph::traitsOf(expr);
        if (traits.is(Trait::KeepsChannels)) return true;
        constexpr int kSameInputs = 11;  // before, Resize had other ones
        if (traits.opClass != OpClass::Resample || expr.op.version < kSameInputs || expr.attributes.has("axes"))
            return false;
        // Scales, or sizes: batch and channels stay.
        const auto scales = known(expr, 2), sizes = known(expr, 3);
        if (scales && scales->tensor.numel() == 4)
            return scales->tensor.toDouble(0) == 1 && scales->tensor.toDouble(1) == 1;
        const auto& x = m_graph.node(expr.inputs.front()).type.shape;
        return sizes && sizes->tensor.numel() == 4 && x && x->size() == 4 &&
               sizes->tensor.toInt64(0) == (*x)[0].value && sizes->tensor.toInt64(1) == (*x)[1].value;
    }

    base::Result<bool> followWindow(ExprId id) {
        const Expr& expr = m_graph.expr(id);
        if (expr.arguments[0].kind != Argument::Kind::Node) return false;
        const NodeId x = expr.arguments[0].node;
        const auto whole = m_forms.find(x);
        auto form = whole == m_forms.end() ? std::optional<Packed>() : wholeForm(whole->second, std::nullopt);
        if (const auto padded = m_padded.find(x); !form && padded != m_padded.end()) form = padded->second;
        const auto shape = m_graph.node(x).type.staticShape();
        if (!form || !shape || shape->rank() != 4) return false;
        form->channels = (*shape)[1];
        Expr made = expr;
        made.op = {"sonde", "Blocked", 1};
        made.target = "Blocked";
        made.attributes.set("of", expr.op.name);
        made.attributes.set("packing", form->packing);
        made.attributes.set("channels", form->channels);
        made.arguments[0] = Argument::of(form->node);
        SONDE_TRY(replace(id, std::move(made), *form));
        return true;
    }

    /// Along the channels, of whole blocks: the blocks one after the other.
    base::Result<bool> followConcat(ExprId id) {
        const Expr& expr = m_graph.expr(id);
        const auto rank = m_graph.node(expr.outputs.front()).type.staticShape();
        const std::int64_t axis = expr.attributes.getInt("axis", 0);
        if (!rank || rank->rank() != 4 || (axis != 1 && axis != -3)) return false;
        std::optional<Packed> form;
        Expr made = expr;
        for (Argument& argument : made.arguments) {
            const auto found = argument.kind == Argument::Kind::Node ? m_forms.find(argument.node) : m_forms.end();
            const auto whole = found == m_forms.end() ? std::optional<Packed>() : wholeForm(found->second, form);
            if (!whole) return false;
            argument = Argument::of(whole->node);
            form = whole;
        }
        // "NCHW -> N C/8 H W C%8": the axis of the blocks.
        const std::string_view axes = std::string_view(form->packing).substr(form->packing.find("-> ") + 3);
        made.attributes.set("axis", std::int64_t{std::count(axes.begin(), axes.begin() + axes.find("C/"), ' ')});
        form->channels = (*rank)[1];
        SONDE_TRY(replace(id, std::move(made), *form));
        return true;
    }

    /// One number for each channel, in blocks as well; none if the constant is anything else.
    base::Result<std::optional<Argument>> packedChannels(ExprId id, const KnownTensor& constant, const Packed& like) {
        const NodeId output = m_graph.expr(id).outputs.front();
        const auto shape = m_graph.node(output).type.staticShape();
        const Tensor& tensor = constant.tensor;
        if (!shape || shape->rank() != 4 || tensor.rank() > 4 || tensor.rank() < 3) return std::optional<Argument>();
        if (tensor.numel() != (*shape)[1] || tensor.dim(tensor.rank() - 3) != (*shape)[1])
            return std::optional<Argument>();
        SONDE_ASSIGN(Tensor numbers, tensor.reshaped({1, (*shape)[1], 1, 1}));
        SONDE_ASSIGN(const ops::Packing packing, ops::Packing::parse(like.packing));
        SONDE_ASSIGN(numbers, packing.pack(numbers));
        return std::optional(Argument::of(this->constant(id, constant.node, std::move(numbers))));
    }

    /// The packing that tensors of one shape are computed in: one that all of them have, or, in nchw32, most of them.
    std::optional<Packed> commonForm(const std::vector<NodeId>& tensors) const {
        std::map<std::string, std::size_t> votes;
        std::optional<Packed> best;
        for (const NodeId node : tensors) {
            const auto forms = m_forms.find(node);
            if (forms == m_forms.end()) continue;
            for (const Packed& form : forms->second) {
                if (!form.isWhole) continue;
                const std::size_t count = ++votes[form.packing];
                if (!best || count > votes[best->packing]) best = form;
            }
        }
        if (!best) return best;
        const std::size_t count = votes[best->packing];
        const bool isEnough = m_layout == "nchw32" ? 2 * count > tensors.size() : count == tensors.size();
        return isEnough ? best : std::nullopt;
    }

    /// An element-wise operator whose tensors are packed, single numbers, or numbers of the channels, is computed on
    /// the blocks.
    base::Result<bool> followElementwise(ExprId id) {
        const Expr& expr = m_graph.expr(id);
        const operators::Traits& traits = graph::traitsOf(expr);
        if (!traits.is(Trait::ElementWise) || traits.is(Trait::Random)) return false;
        Expr made = expr;
        std::vector<Argument*> channelwise, whole;
        std::vector<NodeId> tensors;
        for (Argument& argument : made.arguments) {
            const Value* value = passes::constantOf(m_graph, &argument);
            if (argument.kind == Argument::Kind::Omitted ||
                (value && (!value->isTensor() || value->tensor().numel() == 1)))
                continue;
            if (value) {
                channelwise.push_back(&argument);
                continue;
            }
            const bool sameShape =
                m_graph.node(expr.outputs.front()).type.staticShape() && argument.kind == Argument::Kind::Node &&
                m_graph.node(argument.node).type.staticShape() == m_graph.node(expr.outputs.front()).type.staticShape();
            if (!sameShape) return false;
            whole.push_back(&argument);
            tensors.push_back(argument.node);
        }
        const std::optional<Packed> form = commonForm(tensors);
        if (!form) return false;
        for (std::size_t i = 0; i < whole.size(); ++i) {
            SONDE_ASSIGN(const NodeId node, packed(id, tensors[i], form->packing));
            *whole[i] = Argument::of(node);
        }
        for (Argument* argument : channelwise) {
            const auto constant = passes::tensorOf(m_graph, argument);
            if (!constant) return false;
            SONDE_ASSIGN(const auto packed, packedChannels(id, *constant, *form));
            if (!packed) return false;
            *argument = *packed;
        }
        SONDE_TRY(replace(id, std::move(made), *form));
        return true;
    }

    /// Without padding, and like the form that another operand has.
    static std::optional<Packed> wholeForm(const std::vector<Packed>& forms, const std::optional<Packed>& like) {
        for (const Packed& each : forms) {
            if (each.isWhole && (!like || like->packing == each.packing)) return each;
        }
        return std::nullopt;
    }

    Rewrite& m_rewrite;
    InternalGraph& m_graph;
    std::string m_layout;
    std::map<NodeId, std::vector<Packed>> m_forms;  ///< plain nodes that exist in blocks, too
    std::map<NodeId, Packed> m_padded;              ///< those whose last channels are padding
};

}  // namespace

base::Result<std::size_t> toLayout(Rewrite& rewrite, const std::string& layout) {
    return Converter(rewrite, layout).run();
}

}  // namespace sonde::exporting
